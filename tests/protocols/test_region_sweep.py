"""The region benchmark: published outputs, and hierarchies cut and judged anew at every threshold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage
from scipy.io import loadmat

import edgecritic
from edgecritic.errors import InputError
from edgecritic.measures import score
from edgecritic.protocols.region_summary import summarise_regions
from edgecritic.protocols.regions import Regions, sweep_hierarchy, sweep_segmentations

pytestmark = pytest.mark.kernels

FIVE = edgecritic.get_protocol("bsds-regions").with_changes("five", thresholds=5)


def labels_of(path):
    return [one["Segmentation"][0, 0] for one in loadmat(path)["groundTruth"][0]]


def cut(hierarchy, threshold):
    """The segmentation at a threshold by SciPy's labelling of the whole grid."""
    return ndimage.label(hierarchy <= threshold, np.ones((3, 3)))[0][1::2, 1::2]


def judged_singly(segmentations, truths, mask=None):
    """Covering, precision, PRI, VOI per segmentation, and the best covering over all, region by region."""
    on = np.ones(truths[0].shape, bool) if mask is None else mask
    seen = [truth[on][None] for truth in truths]
    rows, ever = [], {}
    for whole in segmentations:
        segmentation = whole[on][None]
        found = score(segmentation, seen, ["pri", "voi"])
        covered = explained = 0.0
        overlap = {}
        for person, truth in enumerate(seen):
            for region in np.unique(truth):
                for segment in np.unique(segmentation):
                    both = (truth == region) & (segmentation == segment)
                    either = (truth == region) | (segmentation == segment)
                    overlap[person, region, segment] = both.sum() / either.sum()
        for person, truth in enumerate(seen):
            for region, size in zip(*np.unique(truth, return_counts=True), strict=True):
                best = max(v for (p, r, _), v in overlap.items() if (p, r) == (person, region))
                covered += size * best
                ever[person, region] = max(ever.get((person, region), 0), size * best)
        for segment, size in zip(*np.unique(segmentation, return_counts=True), strict=True):
            explained += size * max(v for (_, _, s), v in overlap.items() if s == segment)
        pixels = segmentation.size
        rows.append([covered / (pixels * len(seen)), explained / pixels, found["pri"], found["voi"]])
    return np.array(rows), sum(ever.values())


def numbers_of(found: Regions):
    return np.column_stack([found.covering, found.counts.precision, found.pri, found.voi])


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_a_hierarchy_equals_single_segmentations(seed, masked):
    """Any strengths between the pixels: corners need not agree with the sides that meet there."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 6, 2)
    hierarchy = rng.choice([0, 0.1, 0.2, 1 / 3, 0.5, 0.7, 0.9, 1], 2 * shape + 1)
    hierarchy[1::2, 1::2] = rng.choice([0, 0.1])
    truths = [rng.integers(0, 4, shape) for _ in range(rng.integers(1, 4))]
    mask = rng.random(shape) < 0.8 if masked else None
    if mask is not None:
        mask[0, 0] = True
    found = sweep_hierarchy(hierarchy, truths, protocol=FIVE, mask=mask)
    segmentations = [cut(hierarchy, threshold) for threshold in FIVE.threshold_values()]
    expected, best = judged_singly(segmentations, truths, mask)
    np.testing.assert_allclose(numbers_of(found), expected, atol=1e-12)
    assert found.best == pytest.approx(best, abs=1e-9)
    again = sweep_segmentations(segmentations, truths, mask=mask)
    np.testing.assert_allclose(numbers_of(again), expected, atol=1e-12)
    assert again.best == pytest.approx(best, abs=1e-9)
    assert Regions.from_dict(found.as_dict()) == found


@pytest.mark.data
@pytest.mark.parametrize("name", ["101085", "86000"])
def test_a_real_hierarchy_equals_single_segmentations(data, name):
    hierarchy = loadmat(data / f"bsds500/ucm2/val/{name}.mat")["ucm2"]
    truths = labels_of(data / f"bsds500/groundTruth/val/{name}.mat")
    found = sweep_hierarchy(hierarchy, truths)
    thresholds = found.counts.thresholds
    ids = ["covering", "pri", "voi"]
    for place in (0, 4, 11, 19, 28, 45, 98):
        plain = score(cut(hierarchy, thresholds[place]), truths, ids)
        ours = [found.covering[place], found.pri[place], found.voi[place]]
        assert ours == pytest.approx([plain[name] for name in ids], abs=1e-9)


@pytest.mark.data
@pytest.mark.parametrize("test", ["test_1", "test_4", "test_5"])
def test_published_outputs(data, test):
    home = data / "bsds_bench"
    found = {}
    for path in sorted((home / "groundTruth").iterdir(), key=lambda path: int(path.stem)):
        truths = labels_of(path)
        if test == "test_1":
            hierarchy = loadmat(home / "ucm2" / path.name)["ucm2"]
            found[path.stem] = sweep_hierarchy(hierarchy, truths, protocol=FIVE)
        else:
            found[path.stem] = sweep_segmentations(loadmat(home / "segs" / path.name)["segs"][0], truths)
    summary = summarise_regions(found)
    covering, pri, voi = summary.covering, summary.pri, summary.voi

    def near(name, rows):  # the files are made of sums that were rounded to six digits: see the classic files
        expected = np.loadtxt(home / test / name)
        np.testing.assert_allclose(np.reshape(rows, expected.shape), expected, rtol=5e-6)

    near("eval_cover.txt", [covering.threshold, covering.ods, covering.ois, covering.best])
    near("eval_cover_th.txt", np.column_stack([summary.thresholds, summary.covering_curve]))
    near("eval_RI_VOI.txt", [pri.threshold, pri.ods, pri.ois, voi.threshold, voi.ods, voi.ois])
    near("eval_RI_VOI_thr.txt", np.column_stack([summary.thresholds, summary.pri_curve, summary.voi_curve]))


def test_more_segments_and_regions_than_a_full_table_could_hold():
    hierarchy = np.full((601, 401), 0.5)
    hierarchy[1::2, 1::2] = 0
    truth = np.arange(300 * 200).reshape(300, 200)
    found = sweep_hierarchy(hierarchy, [truth, truth])
    assert found.covering[[0, 48]].tolist() == [1, 1]
    assert found.covering[[49, 98]] == pytest.approx(1 / truth.size)
    assert found.pri[[0, 98]].tolist() == [1, 0]
    assert found.voi[[0, 98]] == pytest.approx([0, np.log2(truth.size)])


GOOD = np.zeros((5, 7))


def two_images():
    truth = np.array([[1, 1, 2, 2]])
    whole, halves, quarters = np.ones((1, 4), int), truth, np.array([[1, 2, 3, 4]])
    return {
        "a": sweep_segmentations([whole, halves, quarters], truth),
        "b": sweep_segmentations([whole, quarters, quarters], truth),
    }


def test_numbers_of_two_images_by_hand():
    """One segment covers half of each half, quarters too; 4 of 6 pairs agree with quarters, 2 with one."""
    found = summarise_regions(two_images())
    assert found.covering_curve == pytest.approx([0.5, 0.75, 0.5])
    assert found.pri_curve == pytest.approx([2 / 6, (1 + 4 / 6) / 2, 4 / 6])
    assert found.voi_curve == pytest.approx([1, 0.5, 1])
    assert (found.covering.ods, found.covering.ois, found.covering.threshold) == pytest.approx(
        (0.75, 0.75, 2)
    )
    assert (found.pri.ods, found.pri.ois, found.pri.threshold) == pytest.approx((5 / 6, 5 / 6, 2))
    assert (found.voi.ods, found.voi.ois, found.voi.threshold) == pytest.approx((0.5, 0.5, 2))
    assert found.covering.best == pytest.approx(0.75)
    first, second = found.rows()
    assert first == {"name": "a", "threshold": 2, "recall": 1, "precision": 1, "pri": 1, "voi": 0}
    assert second == pytest.approx(
        {"name": "b", "threshold": 1, "recall": 0.5, "precision": 0.5, "pri": 4 / 6, "voi": 1}
    )


def test_one_segmentation_has_no_threshold_to_choose():
    truth = np.array([[1, 1, 2, 2]])
    found = summarise_regions({"a": sweep_segmentations([truth], truth)})
    for one, best in ((found.covering, 1), (found.pri, 1), (found.voi, 0)):
        assert (one.ods, one.ois, one.threshold) == (best, best, 1)
    assert found.covering.best == 1


def test_a_summary_of_regions_tells_all_three_measures():
    lines = str(summarise_regions(two_images())).splitlines()
    assert [line.split()[0] for line in lines] == ["covering", "PRI", "VOI"]
    assert [line.split("ODS ")[1][:6] for line in lines] == ["0.7500", "0.8333", "0.5000"]
    assert "best 0.7500" in lines[0]
    assert "best" not in lines[1] + lines[2]


def test_a_summary_of_regions_is_drawn_over_the_thresholds():
    found = summarise_regions(two_images())
    axes = found.plot()
    assert [line.get_label() for line in axes.lines] == ["covering", "PRI", "VOI"]
    for line, curve in zip(axes.lines, (found.covering_curve, found.pri_curve, found.voi_curve), strict=True):
        assert line.get_xdata().tolist() == [1, 2, 3]
        assert line.get_ydata().tolist() == curve.tolist()
    assert len({line.get_color() for line in axes.lines}) == 3
    assert axes.get_ylim()[0] == 0
    assert "2 images" in repr(found)
    assert "VOI 0.5000" in repr(found)
    assert "1 image," in repr(summarise_regions({"a": two_images()["a"]}))


@pytest.mark.parametrize(
    ("hierarchy", "truth", "message"),
    [
        (np.zeros((4, 7)), np.zeros((2, 3), int), "twice the size"),
        (np.zeros((1, 7)), np.zeros((0, 3), int), "twice the size"),
        (np.zeros((5, 7, 3)), np.zeros((2, 3), int), "twice the size"),
        (np.full((5, 7), np.nan), np.zeros((2, 3), int), "finite"),
        (np.full((5, 7), 0.5), np.zeros((2, 3), int), "lowest threshold"),
        (GOOD, np.zeros((3, 2), int), "same shape"),
        (GOOD, np.zeros((2, 3)), "integer labels"),
        (GOOD, [], "no label map"),
    ],
)
def test_bad_hierarchies_are_refused(hierarchy, truth, message):
    with pytest.raises(InputError, match=message):
        sweep_hierarchy(hierarchy, truth)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_one_strength_that_is_no_number_is_refused(odd):
    hierarchy = np.zeros((5, 9))
    hierarchy[2, 4] = odd
    with pytest.raises(InputError, match="finite"):
        sweep_hierarchy(hierarchy, np.ones((2, 4), int))


def test_bad_segmentations_masks_and_images_are_refused():
    truth = np.zeros((2, 3), int)
    with pytest.raises(InputError, match="at least one"):
        sweep_segmentations([], truth)
    with pytest.raises(InputError, match="one shape"):
        sweep_segmentations([truth, truth.T], truth)
    for mask in (np.zeros((2, 3), bool), np.ones((3, 2), bool)):
        with pytest.raises(InputError, match="mask"):
            sweep_hierarchy(GOOD, truth, mask=mask)
    with pytest.raises(InputError, match="at least one"):
        summarise_regions({})
    one, two = (sweep_segmentations([truth] * count, truth) for count in (1, 2))
    with pytest.raises(InputError, match="same thresholds"):
        summarise_regions({"a": one, "b": two})


def test_a_protocol_of_regions_has_no_tolerance():
    with pytest.raises(InputError, match="judges regions"):
        edgecritic.sweep(np.zeros((4, 5)), np.eye(4, 5, dtype=bool), protocol="bsds-regions")
    with pytest.raises(InputError, match="no tolerance"):
        FIVE.with_changes("six", tolerance=2)
    with pytest.raises(InputError, match="boundaries, regions"):
        FIVE.with_changes("six", judges="colours")
    assert "regions" in str(FIVE)


def test_regions_tell_their_best_figures():
    """Two halves, found at every threshold below that of the line between them."""
    line = np.zeros((9, 9))
    line[:, 4] = 0.6
    halves = np.repeat([[0, 0, 1, 1]], 4, axis=0)
    found = sweep_hierarchy(line, [halves])
    assert str(found) == "99 thresholds; best covering 1.0000, PRI 1.0000, VOI 0.0000"
