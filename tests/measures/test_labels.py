"""Labels in one pass: each has the values of its own masks, wherever it lies and whatever is ignored."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import edgecritic
from edgecritic.errors import InputError
from edgecritic.measures import measures, score
from edgecritic.measures.label_maps import Label, LabelMap, Labels, as_labels
from edgecritic.measures.labels import score_labels, worst_labels
from edgecritic.measures.scoring import choose, worst_values

PAIRWISE = [entry.name for entry in measures if entry.info.needs not in ("candidate", "segmentation")]
MORE = [
    *PAIRWISE,
    "entropy",
    "hd95(surface=subvoxel)",
    "f(strategy=exact)",
    "boundary_iou(dilation=0.2)",
    "lesion_dice(rule=brats-met)",
]


def blobs(seed, shape=(14, 18), labels=3):
    """Boxes of a few labels, some of them at the border of the image, one pixel thin, or covered."""
    rng = np.random.default_rng(seed)
    array = np.zeros(shape, np.int16)
    for label in range(1, labels + 1):
        corner = [rng.integers(0, n - 1) for n in shape]
        sides = rng.integers(1, 6, len(shape))
        array[tuple(slice(at, at + side) for at, side in zip(corner, sides, strict=True))] = label
    return array


@pytest.mark.parametrize("shape", [(14, 18), (6, 9, 8)])
def test_every_measure_has_the_value_of_the_whole_image(shape):
    spacing = (2.0, 1.0, 0.5)[: len(shape)]
    ids = [name for name in MORE if name != "cldice" or len(shape) == 2]
    for seed in range(4):
        first, second = blobs(seed, shape), blobs(seed + 1 if seed else 0, shape)
        with warnings.catch_warnings(action="ignore"):
            found = score_labels(first, second, ids, spacing=spacing)
            for one in found.maps:
                number = int(one.label.name)
                expected = score(first == number, second == number, ids, spacing=spacing)
                assert one.scores.mean == pytest.approx(expected.mean, nan_ok=True), (seed, number)


def test_a_thin_label_of_a_volume_stays_a_volume():
    first, second = np.zeros((2, 5, 9, 9), np.uint8)
    first[2, 2:7, 2:7] = 1
    second[2, 3:8, 2:7] = 1
    masks = first == 1, second == 1
    assert score_labels(first, second, "assd")["1"]["assd"] == score(*masks, "assd")["assd"]


def test_ignored_pixels_count_nowhere():
    truth = np.array([[1, 1, 0, 0, 9, 9], [1, 1, 0, 0, 9, 9]])
    candidate = np.array([[1, 0, 0, 1, 1, 1], [1, 1, 0, 0, 0, 2]])
    found = score_labels(candidate, truth, "dice", labels=Labels(wanted=None, ignore=9))
    assert found.present == (1, 2)
    assert found.maps[0].counts.as_dict() == {"tp": 3, "fp": 1, "fn": 1, "tn": 3}
    assert found["1"]["dice"] == 2 * 3 / (4 + 4)
    assert found.maps[1].absent  # what is left of it lies in the ignored region
    with pytest.raises(InputError, match="is ignored"):
        score_labels(candidate, truth, "dice", labels=Labels(wanted=as_labels(9).wanted, ignore=9))


def test_labels_in_one_map_or_in_none():
    with pytest.warns(UserWarning, match="no edge pixels"):  # what was missed keeps its value, and is said
        found = score_labels(
            [[1, 0, 0]], [[0, 2, 0]], ["dice", "hd95"], labels=[1, 2, 3], on_degenerate="nan"
        )
    assert found["1"]["dice"] == found["2"]["dice"] == 0
    assert [one.empty for one in found.maps] == ["truth", "candidate", "both"]
    assert [one.absent for one in found.maps] == [False, False, True]
    assert math.isnan(found["3"]["dice"])
    assert found.rows()[2] == {"label": "3", "empty": "both", "dice": None, "hd95": None}
    with pytest.warns(UserWarning, match="no edge pixels"):
        counted = score_labels([[1, 0, 0]], [[0, 2, 0]], "dice", labels=3, absent="value")
    assert counted["3"]["dice"] == 1
    with pytest.raises(InputError, match="was not judged"):
        found["4"]


def test_several_truths():
    candidate, truths = np.array([[1, 1, 2, 0]]), [np.array([[1, 0, 2, 0]]), np.array([[1, 1, 0, 0]])]
    with pytest.warns(UserWarning, match="the truth has no edge pixels"):
        found = score_labels(candidate, truths, "jaccard")
    assert found["1"].annotators.tolist() == [[0.5], [1.0]]
    assert found["2"]["jaccard"] == 0.5
    assert found.maps[0].counts is None


def test_tolerance_of_a_label_wins():
    candidate, truth = np.zeros((2, 9, 9), int)
    candidate[2, 2:7], truth[4, 2:7] = 1, 1
    labels = Labels.from_toml("[labels.a]\nvalue = 1\ntolerance = 2\n[labels.b]\nvalue = [1, 2]\n")
    found = score_labels(candidate, truth, ["nsd", "dice"], labels=labels, tolerance=1)
    assert (found["a"]["nsd"], found["b"]["nsd"]) == (1, 0)
    assert [row["tolerance"] for row in found.rows()] == [2, None]
    strict = Labels.from_toml("[labels.a]\nvalue = 1\ntolerance = 0\n")
    assert score_labels(candidate, truth, "nsd", labels=strict, tolerance=2)["a"]["nsd"] == 0


@pytest.mark.parametrize(("shape", "told"), [((5, 3), True), ((3, 4), False), ((4, 3), False)])
def test_a_map_that_lies_on_its_side_is_told(shape, told):
    with pytest.raises(InputError, match="same shape") as refused:
        score_labels(np.ones(shape, int), np.ones((3, 5), int), "dice", labels=as_labels([1]))
    assert ("lies on its side" in str(refused.value)) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[labels", "no TOML"),
        ("", "names no label"),
        ("labels = 3", "names no label"),
        ("[labels]\na = 1", "must be a table"),
        ("[labels.a]\nvalue = 1.5", "whole number"),
        ("[labels.a]\nvalue = 0", "background"),
        ("[labels.a]\nvalue = []", "has no number"),
        ("[labels.a]\nvalue = 1\ntolerance = -1", "number ≥ 0"),
        ("ignored = 1\n[labels.a]\nvalue = 1", "no entry 'ignored'"),
        ("ignore = true\n[labels.a]\nvalue = 1", "whole number"),
    ],
)
def test_bad_files_of_labels(text, told):
    with pytest.raises(InputError, match=told):
        Labels.from_toml(text)


@pytest.mark.parametrize(
    ("array", "told"),
    [
        (np.array([[0.5, 1.0]]), "whole numbers"),
        (np.array([[np.nan, 1.0]]), "NaN"),
        (np.array([["a"]]), "whole numbers"),
        (np.zeros((2, 2, 2, 2), int), "2 or 3 dimensions"),
        (np.zeros((0, 3), int), "2 or 3 dimensions"),
    ],
)
def test_what_is_no_label_map(array, told):
    with pytest.raises(InputError, match=told):
        LabelMap(array)


def test_measures_of_whole_label_maps_are_refused():
    with pytest.raises(InputError, match="voi judges all labels"):
        score_labels([[1, 2]], [[1, 2]], ["dice", "voi"])


def test_shapes_must_agree():
    with pytest.raises(InputError, match=r"\(2, 3\) and \(3, 2\)"):
        score_labels(np.zeros((2, 3), int), np.zeros((3, 2), int), "dice")


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from([0, 1, 2, 7, -3, 255, 70000]), min_size=12, max_size=12),
    st.sampled_from(["int32", "int64", "float64", "uint32", "uint64"]),
    st.sampled_from("CF"),
)
def test_boxes_hold_all_pixels_of_a_label(numbers, dtype, order):
    array = np.array(np.abs(numbers) if dtype[0] == "u" else numbers).astype(dtype).reshape(2, 3, 2)
    found = LabelMap(np.asarray(array, order=order)).boxes
    assert set(found) == set(array.ravel().tolist()) - {0}
    for number, box in found.items():
        places = np.argwhere(array == number)
        assert [(side.start, side.stop) for side in box] == list(
            zip(places.min(0), places.max(0) + 1, strict=True)
        )


def test_worst_values_of_labels():
    chosen = choose(["dice", "hd95", "fom_star", "gamma"], ())
    found = worst_labels([np.array([[1, 1, 0, 0]] * 3)], chosen, labels=as_labels([1, 2]), spacing=(2, 1))
    assert found.missing
    assert list(found["1"].mean.values()) == [0, math.hypot(6, 4), 1, math.inf]
    assert all(map(math.isnan, found["2"].mean.values()))
    assert found.maps[0].counts.fn == 6


def test_public_name():
    found = edgecritic.score_labels([[1, 1, 0, 2]], [[1, 0, 0, 2]], "dice", labels="all")
    assert "1      0.666667" in str(found)
    assert found.as_dict()["labels"]["2"]["scores"] == {"dice": 1.0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("hd95", 50.0),
        ("hd95(surface=mesh)", 50.0),
        ("hausdorff", 50.0),
        ("dk", 50.0),  # sees false alarms only: 0 where all is missed
        ("lesion_hd95", 50.0),
        ("lesion_hd95(rule=panoptica)", 50.0),
        *((f"lesion_hd95(rule=brats-{name})", 374.0) for name in ("gli", "men", "met")),  # the rule's miss
        ("hd95(compat=deepmind)", math.inf),  # surface-distance: compute_robust_hausdorff of a missed object
        ("hd95(compat=monai)", 50.0),  # NaN there, which no mean counts
        ("hd95(compat=medpy)", 50.0),  # refused there
        ("dice", 0.0),
        ("volume_difference", math.inf),
    ],
)
def test_a_missing_case_is_never_better_than_a_missed_object(text, value):
    assert worst_values([measures.bind(text)], 50.0) == [value]


@pytest.mark.parametrize(
    "options", [{"measures": "hd95(compat=medpy)"}, {"measures": "dice", "on_degenerate": "raise"}]
)
def test_what_is_refused_names_its_label(options):
    with pytest.raises(InputError, match=r"^label spleen: "):
        score_labels([[1, 0, 0]], [[1, 0, 2]], labels={"liver": 1, "spleen": 2}, **options)


@pytest.mark.parametrize("ids", ["nsd(tolerance=1)", ["nsd(tolerance=1)"], iter(["nsd(tolerance=1)"])])
def test_a_tolerance_that_is_named_wins_over_that_of_a_label_also_if_it_is_the_default(ids):
    truth = np.zeros((20, 20), int)
    truth[5:12, 5:12] = 1
    wide = Labels(wanted=(Label(name="a", values=(1,), tolerance=5.0),))
    moved = np.roll(truth, 3, axis=0)
    found = score_labels(moved, truth, ids, labels=wide).maps[0].scores.annotators[0, 0]
    assert found == score(moved == 1, truth == 1, "nsd(tolerance=1)")["nsd"] < 1
    assert score_labels(moved, truth, "nsd", labels=wide)["a"]["nsd"] == 1
