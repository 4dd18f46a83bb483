"""What every detector must do, odd images, detectors from elsewhere, and proposals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage as ndi

from edgecritic.datasets.write import write_map
from edgecritic.detectors import Detection, detect, detectors
from edgecritic.detectors.base import bind
from edgecritic.detectors.external import FolderDetector, FunctionDetector
from edgecritic.errors import DataError, InputError, UnknownNameError

NAMES = [
    "anisotropic",
    "canny",
    "central",
    "half_gaussian",
    "log",
    "prewitt",
    "roberts",
    "sobel",
    "steerable",
]
VOLUMES = ["canny", "central", "log", "prewitt", "sobel"]
RNG = np.random.default_rng(2)


def test_the_registry_knows_them() -> None:
    assert detectors.names() == sorted([*NAMES, "pb"])  # which learns, see tests/learned
    assert [entry.name for entry in detectors if 3 in entry.info.ndim] == VOLUMES
    for entry in detectors:
        assert entry.summary
        assert entry.info.reference
        assert bind(entry.name).id.name == entry.name
        assert entry.info.model is not None or str(bind(entry.name)) == entry.name


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.uint16, np.int16, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("channels", [None, 1, 3, 4])
def test_all_kinds_of_images(name: str, dtype: type, channels: int | None) -> None:
    shape = (12, 14) if channels is None else (12, 14, channels)
    image = RNG.integers(0, 2 if dtype is bool else 200, shape).astype(dtype)
    image.flags.writeable = False
    found = detect(image, name)
    assert found.strength.shape == found.thin.shape == (12, 14)
    assert found.strength.min() >= 0
    assert found.strength.max() == 1
    assert np.isin(found.thin, [0, *found.strength[found.thin > 0]]).all()
    assert found.orientation is not None
    assert found.orientation.shape == (12, 14)
    assert np.isfinite(found.orientation).all()
    assert not found.thin[[0, -1]].any()
    assert not found.thin[:, [0, -1]].any()


@pytest.mark.parametrize("name", NAMES)
def test_units_and_offsets_do_not_count(name: str) -> None:
    image = RNG.integers(0, 200, (13, 15), dtype=np.uint8)
    found = detect(image, name)
    for other in (image / 255, image.astype(np.uint16) * 257):
        twin = detect(other, name)
        np.testing.assert_allclose(twin.strength, found.strength, atol=1e-9)
        assert twin.maximum == pytest.approx(found.maximum)
    np.testing.assert_allclose(detect(image / 255.0 + 40, name).strength, found.strength, atol=1e-7)
    np.testing.assert_allclose(detect(1 - image / 255, name).strength, found.strength, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1), (2, 2), (3, 3)])
def test_tiny_images(name: str, shape: tuple[int, int]) -> None:
    found = detect(RNG.random(shape), name)
    assert found.strength.shape == shape
    assert found.maximum == 0 or found.strength.max() == 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [0, 0.1, 1 / 3, 1e6, -7.7])
def test_constant_images_have_no_edges(name: str, value: float) -> None:
    for channels in ((), (3,)):
        found = detect(np.full((20, 21, *channels), value), name)
        assert found.maximum == 0
        assert not found.strength.any()
        assert not found.binary(0).any()


@pytest.mark.parametrize("name", VOLUMES)
def test_volumes(name: str) -> None:
    ball = np.zeros((16, 17, 18))
    ball[np.sum((np.indices(ball.shape) - 8) ** 2, axis=0) < 25] = 1
    found = detect(ball, name)
    assert found.orientation is not None
    assert found.orientation.shape == (3, 16, 17, 18)
    surface = found.binary(0.3)
    distance = np.sqrt(np.sum((np.argwhere(surface) - 8) ** 2, axis=1))
    assert distance.size > 50
    assert np.abs(distance - 4.7).max() < 1.8
    for axes in ((1, 0, 2), (2, 1, 0)):
        turned = detect(ball.transpose(axes), name)
        np.testing.assert_allclose(turned.strength, found.strength.transpose(axes), atol=1e-12)
    assert detect(np.zeros((1, 1, 5)), name, kind="volume").maximum == 0


@pytest.mark.parametrize(
    "image, message",
    [
        (np.full((4, 4), np.nan), "NaN or infinite"),
        (np.array([[1.0, np.inf]]), "NaN or infinite"),
        (np.zeros((0, 4)), "no pixels"),
        (np.zeros((4, 4), complex), "numbers"),
        (np.array([["a"]]), "numbers"),
        (np.zeros(4), "rows, columns"),
        (np.zeros((4, 4, 2)), "volume of few columns"),
        (np.zeros((2, 4, 4, 3)), "rows, columns"),
        (np.full((4, 4), 1e200), "rescale"),
        (np.full((4, 4), 1e-200), "rescale"),
    ],
)
def test_bad_images_are_refused_in_words(image: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        detect(image, "sobel")


@pytest.mark.parametrize(
    "name, options, message",
    [
        ("canny(sigma=0)", {}, "sigma must be > 0"),
        ("canny", {"sigma": "big"}, "sigma must be a finite number"),
        ("canny", {"smooth": -1}, "smooth must be ≥ 0"),
        ("canny(sigma=2)", {"sigma": 3}, "given twice"),
        ("canny(scale=2)", {}, "no parameter 'scale'"),
        ("canny(sigma=9999)", {}, "at most 1000 pixels"),
        ("steerable(order=2)", {}, "order must be one of"),
        ("sobel(style=octave)", {}, "style must be one of"),
        ("sobel", {"kind": "batch"}, "kind must be"),
        ("sobel", {"colour": "hsv"}, "colour must be"),
        ("roberts", {"kind": "volume", "image": np.zeros((3, 3, 3))}, "these do: canny"),
    ],
)
def test_bad_parameters_are_refused_in_words(name: str, options: dict[str, object], message: str) -> None:
    image = options.pop("image", np.eye(5))
    with pytest.raises(InputError, match=message):
        detect(image, name, **options)  # type: ignore[arg-type]


def test_unknown_detectors_have_neighbours() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'sobel'"):
        detect(np.eye(4), "sobbel")


def test_functions_are_detectors() -> None:
    image = RNG.random((9, 10))

    def magnitude(picture: np.ndarray, gain: float = 1.0) -> np.ndarray:
        return np.clip(gain * ndi.gaussian_gradient_magnitude(picture, 1), 0, 1)

    found = detect(image, magnitude, gain=0.5)
    assert found.detector == "magnitude"
    np.testing.assert_array_equal(found.strength, magnitude(image, 0.5))
    np.testing.assert_array_equal(found.thin, found.strength)
    thinned = detect(image, FunctionDetector(magnitude, name="mine", recipe="hed"))
    assert thinned.detector == "mine"
    assert np.count_nonzero(thinned.thin) < np.count_nonzero(thinned.strength)
    own = detect(image, lambda picture: detect(picture, "sobel"))
    assert isinstance(own, Detection)
    with pytest.raises(InputError, match="shape"):
        detect(image, lambda picture: picture[1:])
    with pytest.raises(InputError, match=r"\[0, 1\]"):
        detect(image, lambda picture: picture * 9)


def test_folders_are_detectors(tmp_path: Path) -> None:
    truth = np.eye(6, dtype=bool)
    write_map(tmp_path / "a.png", truth)
    write_map(tmp_path / "b.npy", np.full((6, 6), 0.25))
    folder = FolderDetector(tmp_path, name="saved")
    assert folder.names() == ["a", "b"]
    found = detect(np.zeros((6, 6, 3)), folder, name="a")
    assert found.detector == "saved"
    np.testing.assert_array_equal(found.binary(0.5), truth)
    with pytest.raises(InputError, match="shape"):
        detect(np.zeros((5, 6)), folder, name="b")
    with pytest.raises(DataError, match="no map called 'c'"):
        detect(np.zeros((6, 6)), folder, name="c")
    with pytest.raises(InputError, match="give name="):
        detect(np.zeros((6, 6)), folder)
    with pytest.raises(InputError, match="no parameters"):
        detect(np.zeros((6, 6)), folder, name="a", sigma=1)
