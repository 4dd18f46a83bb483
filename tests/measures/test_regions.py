"""Region measures: the benchmark's published outputs, scikit-image, and small cases by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from edgecritic.errors import InputError
from edgecritic.measures import score
from edgecritic.measures.regions import covering, overlaps, pri, voi

labels = arrays(np.int32, (4, 5), elements=st.integers(0, 3))


@pytest.fixture(scope="module")
def published(data):
    """Region measures of the five example segmentations at five levels, and the truths' sizes."""
    from scipy.io import loadmat

    root = data / "bsds_bench"
    found = []
    for path in sorted((root / "segs").glob("*.mat"), key=lambda path: int(path.stem)):
        segmentations = loadmat(path)["segs"][0]
        truth = loadmat(root / "groundTruth" / path.name)["groundTruth"][0]
        maps = [annotator["Segmentation"][0, 0] for annotator in truth]
        ids = ["pri", "voi", "covering"]
        found.append([[score(each, maps, ids)[name] for name in ids] for each in segmentations])
        found[-1].append(len(maps) * maps[0].size)
    sizes = np.array([row.pop() for row in found], dtype=float)
    return np.array(found), sizes


@pytest.mark.data
@pytest.mark.parametrize("test", ["test_1", "test_4", "test_5"])
def test_published_rand_index_and_variation_of_information(published, data, test):
    values, _ = published
    expected = np.loadtxt(data / "bsds_bench" / test / "eval_RI_VOI_thr.txt")
    np.testing.assert_allclose(values[:, :, 0].mean(axis=0), expected[:, 1], atol=2e-6)
    np.testing.assert_allclose(values[:, :, 1].mean(axis=0), expected[:, 2], atol=1e-5)
    best = np.loadtxt(data / "bsds_bench" / test / "eval_RI_VOI.txt")
    assert values[:, :, 0].max(axis=1).mean() == pytest.approx(best[2], abs=2e-6)
    assert values[:, :, 1].min(axis=1).mean() == pytest.approx(best[5], abs=1e-5)


@pytest.mark.data
@pytest.mark.parametrize("test", ["test_1", "test_4", "test_5"])
def test_published_covering(published, data, test):
    values, sizes = published
    pooled = (values[:, :, 2] * sizes[:, None]).sum(axis=0) / sizes.sum()
    levels = np.loadtxt(data / "bsds_bench" / test / "eval_cover_th.txt")
    np.testing.assert_allclose(pooled, levels[:, 1], atol=2e-6)
    images = np.loadtxt(data / "bsds_bench" / test / "eval_cover_img.txt")
    np.testing.assert_allclose(values[:, :, 2].max(axis=1), images[:, 2], atol=2e-6)
    np.testing.assert_array_equal(values[:, :, 2].argmax(axis=1), _level(images[:, 1]))


def _level(thresholds):
    return np.round(thresholds * 6 if thresholds.max() < 1 else thresholds).astype(int) - 1


@given(labels, labels)
@settings(max_examples=60)
def test_rand_index_by_counting_pairs(first, second):
    a, b = first.ravel(), second.ravel()
    upper = np.triu_indices(a.size, 1)
    alike = (a[:, None] == a)[upper] == (b[:, None] == b)[upper]
    assert pri(first, second) == pytest.approx(alike.mean(), abs=1e-12)


@given(labels, labels)
@settings(max_examples=60)
def test_variation_of_information_of_scikit_image(first, second):
    peer = pytest.importorskip("skimage.metrics")
    expected = sum(peer.variation_of_information(first, second))
    assert voi(first, second) == pytest.approx(expected, abs=1e-12)


@given(labels, labels)
@settings(max_examples=60)
def test_covering_by_definition(first, second):
    total = 0.0
    for region in np.unique(second):
        truth = second == region
        best = max(
            (truth & (first == own)).sum() / (truth | (first == own)).sum() for own in np.unique(first)
        )
        total += truth.sum() * best
    assert covering(first, second) == pytest.approx(total / second.size, abs=1e-12)


def test_identical_segmentations_are_best_whatever_the_labels():
    first = np.array([[1, 1, 2], [3, 3, 2]])
    other = np.array([[7, 7, 0], [5, 5, 0]], dtype=np.uint8)
    found = score(first, other, ["pri", "voi", "covering"])
    assert (found["pri"], found["voi"], found["covering"]) == (1.0, 0.0, 1.0)


def test_rounding_does_not_make_information_negative():
    rng = np.random.default_rng(0)
    for regions in range(2, 40):
        first = rng.integers(0, regions, (9, 11))
        assert 0 <= voi(first, rng.permutation(regions)[first]) < 1e-12


def test_a_mask_is_a_map_of_two_labels():
    mask, labels = np.eye(4, dtype=bool), np.arange(16).reshape(4, 4) // 5
    for function in (pri, voi, covering):
        assert function(mask, labels) == function(mask.astype(np.uint8), labels)
        assert function(labels, mask) == function(labels, mask.astype(np.uint8))


def test_several_truths_are_averaged():
    first = np.array([[1, 1, 2, 2]])
    truths = [np.array([[1, 1, 2, 2]]), np.array([[1, 1, 1, 1]])]
    for function in (pri, voi, covering):
        each = [function(first, truth) for truth in truths]
        assert function(first, truths) == pytest.approx((each[0] + each[1]) / 2)
    assert covering(first, truths) == pytest.approx((1 + 0.5) / 2)
    assert score(first, truths, "covering")["covering"] == pytest.approx(covering(first, truths))


def test_labels_of_volumes_and_labels_far_apart():
    rng = np.random.default_rng(2)
    first, second = rng.integers(0, 3, (2, 3, 4, 5))
    flat = first.reshape(3, 20), second.reshape(3, 20)
    spread = np.array([-(2**62), 7, 2**62])
    for function in (pri, voi, covering):
        assert function(first, second) == function(*flat)
        assert function(spread[first], second) == pytest.approx(function(first, second), abs=1e-12)
    assert pri(np.array([[5]]), np.array([[2]])) == 1  # no pair of pixels, none judged otherwise


@pytest.mark.parametrize(
    ("segmentation", "truth", "message"),
    [
        (np.zeros((2, 3), int), np.zeros((3, 2), int), "same shape"),
        (np.zeros((2, 3)), np.zeros((2, 3), int), "integer labels"),
        (np.zeros(3, int), np.zeros(3, int), "2 or 3 dimensions"),
        (np.zeros((2, 3), int), [], "no label map"),
        (np.zeros((0, 3), int), np.zeros((0, 3), int), "2 or 3 dimensions"),
        (np.zeros((1, 1, 1, 2), int), np.zeros((1, 1, 1, 2), int), "2 or 3 dimensions"),
    ],
)
def test_bad_label_maps_are_refused(segmentation, truth, message):
    with pytest.raises(InputError, match=message):
        pri(segmentation, truth)


def test_regions_and_edges_do_not_mix():
    with pytest.raises(InputError, match="one kind"):
        score(np.eye(3, dtype=int), np.eye(3, dtype=int), ["pri", "fom"])


def test_more_regions_than_a_full_table_could_hold():
    """200 × 200 single pixels against as many: 1.6·10⁹ pairs of regions, of which 40,000 share a pixel."""
    single = np.random.default_rng(4).permutation(40_000).reshape(200, 200)
    found = score(
        single, [single[::-1].copy(), np.arange(40_000).reshape(200, 200)], ["pri", "voi", "covering"]
    )
    assert (found["pri"], found["voi"], found["covering"]) == (1.0, 0.0, 1.0)
    whole = np.zeros_like(single)
    found = score(single, whole, ["pri", "voi", "covering"])
    assert found["pri"] == 0
    assert found["voi"] == pytest.approx(np.log2(40_000), abs=1e-12)
    assert found["covering"] == pytest.approx(1 / 40_000, abs=1e-12)
    assert covering(whole, single) == pytest.approx(1 / 40_000, abs=1e-12)


@pytest.mark.parametrize("regions", [2, 40, 3000])
def test_overlaps_of_scikit_image(regions):
    peer = pytest.importorskip("skimage.metrics")
    table = pytest.importorskip("skimage.metrics._contingency_table").contingency_table
    rng = np.random.default_rng(regions)
    first, second = rng.integers(0, regions, (2, 60, 70))
    expected = table(second, first).toarray()
    expected = expected[expected.any(axis=1)][:, expected.any(axis=0)]
    found = overlaps(first, second)[0]
    ours = np.zeros((found.truth_sizes.size, found.sizes.size))
    ours[found.truth_region, found.region] = found.shared
    assert np.allclose(ours, expected)
    assert np.array_equal(found.sizes, np.unique(first, return_counts=True)[1])
    assert np.array_equal(found.truth_sizes, np.unique(second, return_counts=True)[1])
    # scikit-image's Rand error is 1 − 2·both / (pairs of one + pairs of the other), over the pairs of pixels.
    both, one, other = (
        float((sizes * (sizes - 1) // 2).sum()) for sizes in (found.shared, found.sizes, found.truth_sizes)
    )
    assert 1 - 2 * both / (one + other) == pytest.approx(
        peer.adapted_rand_error(second, first, ignore_labels=())[0]
    )
    assert voi(first, second) == pytest.approx(sum(peer.variation_of_information(first, second)), abs=1e-10)
