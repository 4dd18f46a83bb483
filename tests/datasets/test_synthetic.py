"""The synthetic data set keeps the rules it states."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from edgecritic.datasets import synthetic
from edgecritic.datasets.cases import find_cases
from edgecritic.datasets.doctor import diagnose
from edgecritic.datasets.files import read_image
from edgecritic.datasets.shapes import SHAPES, polygon, rim
from edgecritic.errors import InputError, UnknownNameError


def thin_gradient(image):
    """Return where the [-1 0 1] gradient is largest along its direction, and larger than at outer corners."""
    padded = np.pad(image, 2, mode="edge")
    down, right = padded[2:, 1:-1] - padded[:-2, 1:-1], padded[1:-1, 2:] - padded[1:-1, :-2]
    size = np.hypot(down, right)
    away = np.maximum(abs(down), abs(right))
    step = np.stack([down, right]) / np.where(away == 0, 1, away)
    place = np.indices(size.shape).astype(float)
    ahead = ndimage.map_coordinates(size, place + step, order=1)
    behind = ndimage.map_coordinates(size, place - step, order=1)
    kept = (size > 0.75) & (size > behind + 1e-9) & (size >= ahead - 1e-9)
    return kept[1:-1, 1:-1]


@pytest.mark.parametrize("shape", ["square", "disk", "triangle"])
def test_the_gradient_recovers_the_truth(shape):
    drawn = synthetic.scene(5, size=(80, 80), shapes=[shape], count=1)
    assert drawn.truth.sum() > 20
    assert np.array_equal(thin_gradient(drawn.image), drawn.truth)


@pytest.mark.parametrize("seed", range(4))
def test_the_truth_is_exactly_the_half_grey_pixels(seed):
    drawn = synthetic.scene(seed)
    assert set(np.unique(drawn.image)) == {0.0, 0.5, 1.0}
    assert np.array_equal(drawn.truth, drawn.image == 0.5)
    white = drawn.image == 1
    cross = ndimage.generate_binary_structure(2, 1)
    assert np.array_equal(drawn.truth, ndimage.binary_dilation(white, cross) & ~white)
    assert ndimage.label(white)[1] >= 7


def test_rim_equals_scipy_in_every_dimension():
    rng = np.random.default_rng(0)
    for shape in ((7, 9), (5, 6, 4), (1, 4)):
        mask = rng.random(shape) < 0.2
        assert np.array_equal(rim(mask), ndimage.binary_dilation(mask) & ~mask)


def test_polygon_equals_matplotlib():
    path = pytest.importorskip("matplotlib.path")
    corners = np.array([[1.2, 2.1], [8.7, 4.4], [5.1, 5.3], [7.3, 9.2], [2.4, 8.6]])
    y, x = np.mgrid[:11, :11].astype(float)
    inside = path.Path(corners).contains_points(np.stack([y.ravel(), x.ravel()], axis=1)).reshape(11, 11)
    assert np.array_equal(polygon(y, x, corners), inside)


@pytest.mark.parametrize("shape", list(SHAPES))
def test_each_shape_is_drawn(shape):
    drawn = synthetic.scene(1, size=(64, 64), shapes=[shape], count=1)
    assert 0 < drawn.truth.sum() < 400


def test_hidden_edges_are_no_truth():
    drawn = synthetic.scene(3, overlap=True, count=30)
    assert (
        np.array_equal(np.unique(drawn.image[~drawn.truth]), [0, 1])
        or not drawn.truth[drawn.image == 1].any()
    )
    inside = ndimage.binary_erosion(drawn.image == 1, iterations=2)
    assert not drawn.truth[inside].any()


def test_options_change_the_image_not_the_truth():
    plain = synthetic.scene(4, size=(60, 70))
    for options in ({"ramp": 0.3}, {"texture": 0.2}, {"blur": 1.0}, {"snr": 5.0}):
        other = synthetic.scene(4, size=(60, 70), **options)
        assert np.array_equal(other.truth, plain.truth), options
        assert not np.array_equal(other.image, plain.image), options
    assert synthetic.scene(4, colour=True).image.shape == (160, 200, 3)
    assert len(np.unique(synthetic.scene(4, grey=True).image)) > 5


@pytest.mark.parametrize("snr", [3.3, 4.0, 20.0])
def test_noise_has_the_asked_ratio(snr):
    image = synthetic.scene(1, size=(300, 300)).image
    noise = synthetic.add_noise(image, snr) - image
    assert 10 * np.log10(image.var() / noise.var()) == pytest.approx(snr, abs=0.1)
    peak = synthetic.add_noise(image, snr, reference="peak") - image
    assert 10 * np.log10(np.ptp(image) ** 2 / peak.var()) == pytest.approx(snr, abs=0.1)


def test_annotators_shift_omit_and_add():
    truth = synthetic.scene(2).truth
    same = synthetic.annotators(truth, 2, shift=0, omit=0, add=0)
    assert all(np.array_equal(found, truth) for found in same)
    assert not any(found.any() for found in synthetic.annotators(truth, 2, omit=1, add=0))
    kept = [found.sum() / truth.sum() for found in synthetic.annotators(truth, 40, shift=0, omit=0.3, add=0)]
    assert np.mean(kept) == pytest.approx(0.7, abs=0.05)
    more = [found.sum() / truth.sum() for found in synthetic.annotators(truth, 10, shift=0, omit=0, add=0.2)]
    assert 1.1 < np.mean(more) <= 1.2
    far = ndimage.distance_transform_edt(~truth)
    moved = synthetic.annotators(truth, 10, shift=1, omit=0, add=0)
    distances = np.concatenate([far[found] for found in moved])
    assert 0.3 < distances.mean() < 1.5


def test_annotators_of_volumes_and_of_nothing():
    volume = synthetic.phantom("ball", 16).truth
    assert synthetic.annotators(volume, 2)[1].shape == (16, 16, 16)
    assert not synthetic.annotators(np.zeros((5, 5), bool), 2)[0].any()
    with pytest.raises(InputError, match="omit"):
        synthetic.annotators(volume, omit=2)


@pytest.mark.parametrize("kind", ["ball", "tube", "gyroid"])
def test_phantoms(kind):
    drawn = synthetic.phantom(kind, (24, 28, 32), seed=1)
    solid = drawn.image == 1
    assert np.array_equal(drawn.truth, ndimage.binary_dilation(solid) & ~solid)
    assert 0.02 < solid.mean() < 0.7
    assert not np.array_equal(drawn.truth, synthetic.phantom(kind, (24, 28, 32), seed=2).truth)


def test_everything_is_a_function_of_the_seed():
    first, second = synthetic.dataset(3, 1), synthetic.dataset(3, 1)
    for a, b in zip(first, second, strict=True):
        assert a.id == b.id
        assert np.array_equal(a.image, b.image)
        assert all(np.array_equal(x, y) for x, y in zip(a.truths, b.truths, strict=True))
    assert not np.array_equal(first[0].image, synthetic.dataset(1, 2)[0].image)


def test_simulated_detectors_differ_as_named():
    drawn = synthetic.scene(6)
    maps = {name: synthetic.detect(drawn.image, name) for name in synthetic.DETECTORS}
    near = ndimage.distance_transform_edt(~drawn.truth) <= 2
    share = {name: found[near].sum() / found.sum() for name, found in maps.items()}
    assert share["good"] > 0.95
    assert share["noisy"] < 0.8
    assert (maps["thick"] > 0.3).sum() > 3 * (maps["good"] > 0.3).sum()
    assert all(found.min() >= 0 and found.max() == 1 for found in maps.values())


@pytest.mark.parametrize("form", ["mat", "png"])
def test_written_files_are_healthy(tmp_path, form):
    root = synthetic.write(tmp_path / "s", 2, truth=form)
    dataset = find_cases(root / "predictions/good", root / "truth", images=root / "images")
    assert [case.id for case in dataset] == ["synthetic-1", "synthetic-2"]
    expected = synthetic.dataset(2)
    for case, made in zip(dataset, expected, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(case.load_truths(), made.truths, strict=True))
        assert abs(read_image(case.image) - np.clip(made.image, 0, 1)).max() < 0.002
    assert diagnose(root / "predictions/good", root / "truth", images=root / "images").ok


def test_wrong_names_and_sizes():
    for wrong in (
        lambda: synthetic.scene(shapes=["heart"]),
        lambda: synthetic.phantom("cube"),
        lambda: synthetic.detect(np.zeros((9, 9)), "best"),
    ):
        with pytest.raises(UnknownNameError, match="known:"):
            wrong()
    for wrong in (lambda: synthetic.scene(size=(4, 4)), lambda: synthetic.phantom(size=(3, 3))):
        with pytest.raises(InputError, match="at least"):
            wrong()
