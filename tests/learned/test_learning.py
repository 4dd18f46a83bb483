"""Colours, textons, regression, models, and Pb as a detector that learns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from edgecritic.detectors import detect
from edgecritic.detectors.base import bind
from edgecritic.detectors.picture import as_picture
from edgecritic.errors import DataError, InputError
from edgecritic.learned import Model, fit, load_model, save_model, trainables
from edgecritic.learned.base import Marks, photo_hash
from edgecritic.learned.colours import lab
from edgecritic.learned.logistic import fit_best_view, fit_logistic
from edgecritic.learned.models import shipped
from edgecritic.learned.pb import _samples
from edgecritic.learned.textons import _filters, cluster, filter_responses, nearest

RNG = np.random.default_rng(6)


def scene(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return a photo of two colours with noise, and the boundary between them."""
    rng = np.random.default_rng(seed)
    photo = np.zeros((40, 60, 3))
    photo[:, :25] = (0.2, 0.3, 0.6)
    photo[:, 25:] = (0.8, 0.6, 0.3)
    photo[10:30, 40:] = (0.3, 0.7, 0.4)
    truth = np.zeros((40, 60), bool)
    truth[:, 25] = truth[10:30, 40] = truth[10, 40:] = truth[30, 40:] = True
    return np.clip(photo + 0.03 * rng.normal(size=photo.shape), 0, 1), truth


def test_lab_is_that_of_scikit_image() -> None:
    color = pytest.importorskip("skimage.color")
    photo = RNG.random((7, 9, 3))
    found = np.stack(lab([photo[..., i] for i in range(3)]), axis=-1)
    np.testing.assert_allclose(found, color.rgb2lab(photo), atol=0.05)
    grey = lab([photo[..., 0]])[0]
    np.testing.assert_allclose(grey, color.rgb2lab(np.repeat(photo[..., :1], 3, axis=2))[..., 0], atol=0.01)


def test_filters_have_mean_zero_and_absolute_sum_one() -> None:
    for number, bank in enumerate(_filters(2.0)):
        parts = (bank.real, bank.imag) if number < 6 else (bank.real,)
        for part in parts:
            assert abs(part.sum()) < 1e-5
            assert np.abs(part).sum() == pytest.approx(1, abs=1e-5)


def test_the_odd_filter_is_the_hilbert_transform_of_the_even_one() -> None:
    """By the definition: the analytic signal of SciPy on a long line."""
    from scipy.signal import hilbert
    from scipy.special import dawsn

    u = np.arange(-400, 400) / 8
    even = (u * u - 1) * np.exp(-u * u / 2)
    odd = 2 / np.sqrt(np.pi) * ((u * u - 1) * dawsn(u / np.sqrt(2)) - u / np.sqrt(2))
    np.testing.assert_allclose(odd, hilbert(even).imag, atol=2e-3)


def test_responses_are_a_plain_convolution() -> None:
    from scipy.ndimage import convolve

    image = RNG.random((12, 15)).astype(np.float32)
    found = filter_responses(image, 1.0)
    for number, bank in enumerate(_filters(1.0)):
        expected = convolve(image, bank.real, mode="reflect")
        np.testing.assert_allclose(found[..., 2 * number], expected, atol=1e-5)


def test_nearest_and_clusters() -> None:
    vectors = RNG.random((500, 4)).astype(np.float32)
    centres = cluster(vectors, 7, seed=3)
    distance = ((vectors[:, None] - centres[None]) ** 2).sum(axis=2)
    labels = nearest(vectors, centres)
    np.testing.assert_array_equal(labels, distance.argmin(axis=1))
    for number in range(7):  # at rest every centre is the mean of its vectors
        np.testing.assert_allclose(centres[number], vectors[labels == number].mean(axis=0), atol=1e-5)
    np.testing.assert_array_equal(centres, cluster(vectors, 7, seed=3))


def test_regression_is_the_optimum_that_scipy_finds() -> None:
    from scipy.optimize import minimize

    features = RNG.normal(size=(300, 2))
    truth = RNG.random(300) < 1 / (1 + np.exp(-(0.5 + features @ [1.5, -0.7])))
    importance = RNG.random(300) + 0.5

    def loss(weights: np.ndarray) -> float:
        values = weights[0] + features @ weights[1:]
        return float(importance @ (np.logaddexp(0, values) - truth * values))

    expected = minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-8}).x
    np.testing.assert_allclose(fit_logistic(features, truth, importance), expected, atol=1e-4)


def test_the_best_view_recovers_known_weights() -> None:
    """The truth is drawn by the best of eight views; as many observations as make the error small."""
    known = np.array([-4.0, 5.0, 3.0])
    features = RNG.random((60_000, 8, 2)) ** 3
    best = (features @ known[1:]).argmax(axis=1)
    chance = 1 / (1 + np.exp(-(known[0] + (features @ known[1:])[np.arange(60_000), best])))
    found = fit_best_view(features, RNG.random(60_000) < chance, np.ones(60_000))
    np.testing.assert_allclose(found, known, atol=0.15)
    with pytest.raises(InputError, match="one kind only"):
        fit_best_view(features[:5], np.zeros(5, bool), np.ones(5))


def test_same_photos_same_seed_same_digest(tmp_path: Path) -> None:
    photo, truth = scene()
    first = fit({"a": photo}, {"a": truth})
    assert first.digest == fit({"a": photo}, {"a": [truth, truth]}).digest
    assert first.digest != fit({"a": photo}, {"a": truth}, seed=1).digest
    save_model(tmp_path / "m.json", first)
    assert load_model(tmp_path / "m.json") == first
    found = detect(scene(5)[0], f"pb(model='{tmp_path / 'm.json'}')")
    columns = found.thin[15:25].argmax(axis=1)
    assert (np.abs(columns - 24.5) < 2).any()
    assert first.digest[:12] in found.detector
    with pytest.raises(InputError, match="asks for the model"):
        detect(photo, f"pb(model='{tmp_path / 'm.json'}', digest='abc')")


def test_weights_of_labels() -> None:
    """Weights of one change nothing; labels that weigh half are as likely as half as many."""
    photo, truth = scene()
    plain = fit({"a": photo}, {"a": truth})
    even = fit({"a": photo}, {"a": truth}, weight={"a": np.ones(truth.shape)})
    assert even.digest == plain.digest
    half = fit({"a": photo}, {"a": truth}, weight={"a": np.full(truth.shape, 0.5)})
    first, second = (one.parameters["weights"]["texture"]["beta"] for one in (plain, half))
    assert second[0] < first[0]
    # The same pixels are drawn; each label stands for its weight, the background for itself.
    weight = np.where(truth, RNG.random(truth.shape), 7.0)
    marks = {"plain": Marks(truth), "weighted": Marks(truth, weight=weight)}
    centres = load_model(shipped("pb")).parameters["textons"]
    found = _samples(as_picture(photo), marks, centres, 3)
    np.testing.assert_array_equal(found["plain:cues"], found["weighted:cues"])
    ratio = found["weighted:importance"] / found["plain:importance"]
    on = found["plain:truth"]
    np.testing.assert_allclose(ratio[on], weight[truth])  # all 100 labels, in raster order
    np.testing.assert_array_equal(ratio[~on], 1)
    for wrong in (np.ones((3, 3)), np.full(truth.shape, -1.0), np.full(truth.shape, np.nan)):
        with pytest.raises(InputError, match="weights of a"):
            fit({"a": photo}, {"a": truth}, weight={"a": wrong})


def test_learning_refuses_what_it_cannot_use() -> None:
    photo, truth = scene()
    for photos, labels in (({}, {}), ({"a": photo}, {}), ({"a": photo}, {"a": truth[:5]})):
        with pytest.raises(InputError):
            fit(photos, labels)
    with pytest.raises(InputError):
        fit({"a": photo}, {"a": np.zeros_like(truth)})


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "edgecritic model 1"}', "not json"])
def test_files_that_are_no_model(tmp_path: Path, text: str) -> None:
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(DataError, match="no model"):
        load_model(tmp_path / "m.json")


def test_a_changed_model_is_refused(tmp_path: Path) -> None:
    content = json.loads(shipped("pb").read_text())
    content["parameters"]["weights"]["brightness"]["beta"][0] += 1
    (tmp_path / "m.json").write_text(json.dumps(content))
    with pytest.raises(DataError, match="damaged or changed"):
        load_model(tmp_path / "m.json")
    save_model(tmp_path / "o.json", Model(detector="other", parameters={}, labels="all", seed=0, photos={}))
    with pytest.raises(InputError, match="not of pb"):
        detect(scene()[0], f"pb(model='{tmp_path / 'o.json'}')")


def test_the_shipped_model() -> None:
    model = load_model(shipped("pb"))
    assert len(model.photos) == 200
    assert len(model.parameters["textons"]) == 64
    assert all(beta > 0 for beta in model.parameters["weights"]["brightness+colour+texture"]["beta"][1:])
    assert bind("pb").id.options["digest"] == model.digest[:12]
    assert "pb" in trainables.names()


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
@pytest.mark.parametrize("colour", [False, True])
def test_depths_of_photos(dtype: type, colour: bool) -> None:
    photo = np.round(scene()[0] * 255).astype(np.uint8)
    image = photo if colour else photo[..., 0]
    scaled = {np.uint8: image, np.uint16: image.astype(np.uint16) * 257}
    given = scaled.get(dtype, (image / 255).astype(dtype))
    found, expected = detect(given, "pb"), detect(image, "pb")
    np.testing.assert_allclose(found.strength, expected.strength, atol=2e-3)
    assert found.posterior is not None
    assert ((found.posterior >= 0) & (found.posterior <= 1)).all()
    assert found.orientation is not None
    assert (np.abs(found.orientation) <= np.pi / 2 + 1e-6).all()


def test_grey_cues_scale_and_size() -> None:
    photo = scene()[0]
    grey = detect(photo, "pb", colour="luminance")
    np.testing.assert_allclose(grey.strength, detect(photo @ [0.299, 0.587, 0.114], "pb").strength, atol=1e-3)
    posterior = detect(photo, "pb", scale="posterior")
    np.testing.assert_array_equal(posterior.strength, posterior.posterior)
    alias, cues = detect(photo, "pb(model=default_grey)"), detect(photo, "pb(cues='texture+brightness')")
    np.testing.assert_array_equal(alias.strength, cues.strength)
    assert "diagonal of 30 pixels" in detect(photo, "pb(largest=30)").notes[0]
    assert detect(photo, "pb").notes == ()
    vertical = detect(photo, "pb").orientation
    assert vertical is not None
    assert vertical[3, 25] == pytest.approx(0, abs=1e-6)


def test_flat_and_tiny_images() -> None:
    assert not detect(np.full((30, 40, 3), 0.4), "pb").strength.any()
    for shape in ((1, 1), (1, 7), (2, 2), (3, 3, 3)):
        assert detect(RNG.random(shape), "pb").strength.shape == shape[:2]


@pytest.mark.parametrize(
    ("image", "options", "message"),
    [
        (np.full((9, 9), 7.0), {}, "from 0 to 1"),
        (np.full((9, 9), -0.5), {}, "from 0 to 1"),
        (np.zeros((9, 9)), {"cues": "colour"}, "grey"),
        (np.zeros((9, 9)), {"cues": "smell"}, "cues must be"),
        (np.zeros((9, 9)), {"scale": "log"}, "scale"),
        (np.zeros((9, 9)), {"largest": -1}, "largest"),
        (np.zeros((9, 9)), {"spacing": (1, 2)}, "square"),
        (np.zeros((9, 9)), {"model": 3}, "model must be"),
    ],
)
def test_what_pb_refuses(image: np.ndarray, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        detect(image, "pb", **options)  # type: ignore[arg-type]


def test_a_photo_is_known_in_grey_and_at_other_depths() -> None:
    photo = RNG.integers(0, 256, (20, 30, 3), dtype=np.uint8)
    same = (photo / 255, photo.astype(np.uint16) * 257, photo @ [0.299, 0.587, 0.114] / 255)
    assert {photo_hash(as_picture(one)) for one in same} == {photo_hash(as_picture(photo))}
    assert photo_hash(as_picture(photo)) != photo_hash(as_picture(255 - photo))
