"""What `score`, `score_alone` and `sweep` give back beside the values."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from edgecritic.errors import InputError, UndefinedMeasureWarning
from edgecritic.ids import Id
from edgecritic.measures import Scores, compare, curves, score, score_alone
from edgecritic.measures.evidence import Single
from edgecritic.measures.scoring import as_maps, render

TRUTH = np.zeros((8, 10), dtype=bool)
TRUTH[3, 2:8] = True
LOWER = np.roll(TRUTH, 2, axis=0)
NOTHING = np.zeros_like(TRUTH)


def test_values_cannot_be_changed():
    found = score(TRUTH, LOWER, "dice")
    with pytest.raises(ValueError, match="read-only"):
        found.annotators[0, 0] = 1
    assert len(found) == 1


def test_json_of_one_truth_and_of_several():
    assert score(LOWER, TRUTH, "hausdorff").as_dict() == {
        "scores": {"hausdorff": 2},
        "judged": {"dimensions": 2, "shape": list(TRUTH.shape), "spacing": None},
    }
    assert score(LOWER, [TRUTH, LOWER], ["hausdorff", "dice"]).as_dict() == {
        "scores": {"hausdorff": 1, "dice": 0.5},
        "best": {"hausdorff": 0, "dice": 1},
        "annotators": [{"hausdorff": 2, "dice": 0}, {"hausdorff": 0, "dice": 1}],
        "judged": {"dimensions": 2, "shape": list(TRUTH.shape), "spacing": None},
    }


def test_the_best_is_by_measure_and_direction():
    found = Scores(
        measures=("a", "b", "c"),
        better=("lower", "higher", "lower"),
        families=("x",) * 3,
        annotators=np.array([[3.0, 1.0, 5.0], [2.0, 4.0, 6.0]]),
    )
    assert found.best == {"a": 2, "b": 4, "c": 5}
    assert found.mean == {"a": 2.5, "b": 2.5, "c": 5.5}


@pytest.mark.parametrize("number", [1, 2, 3])
def test_bad_truths_are_named(number):
    truths = [TRUTH] * (number - 1) + [TRUTH * 0.3]
    name = "truth" if number == 1 else rf"truths\[{number - 1}\]"
    with pytest.raises(InputError, match=f"^{name} must be binary"):
        score(TRUTH, truths, "dice")


def test_table_of_several_truths():
    lines = str(score(LOWER, [TRUTH, LOWER], ["hausdorff", "dice"])).splitlines()
    assert [line.split() for line in lines] == [
        ["distances", "mean", "best"],
        ["hausdorff", "↓", "1", "0"],
        ["confusion", "mean", "best"],
        ["dice", "↑", "0.5", "1"],
    ]
    assert {line.index("mean") for line in lines[::2]} == {lines[1].index("1"), lines[3].index("0.5")}


def test_table_as_wide_as_the_longest_name():
    shown = render(["a", "bb"], ["lower", "higher"], ["a long family"] * 2, {"": {"a": 1, "bb": 1 / 3}})
    family, first, second = shown.splitlines()
    assert family == "a long family"
    assert (first.split(), second.split()) == (["a", "↓", "1"], ["bb", "↑", "0.333333"])
    assert first.index("1") == second.index("0.3")


def test_ids_may_be_objects_and_repeats_are_dropped():
    found = score(TRUTH, LOWER, [Id("dice"), "dice", "baddeley(k=1)"])
    assert found.measures == ("dice", "baddeley(k=1)")
    assert found[Id("dice")] == 0


def test_lists_of_numbers_are_one_map():
    assert len(as_maps([[0, 1], [1, 0]])) == 1
    assert len(as_maps([[[0, 1], [1, 0]], [[0, 1], [1, 0]]])) == 2
    assert len(as_maps((TRUTH, LOWER, TRUTH))) == 3
    assert len(as_maps([TRUTH, [0, 1]])) == 1


def warnings_of(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call()
    return found, [str(item.message) for item in caught if item.category is UndefinedMeasureWarning]


@pytest.mark.parametrize(
    ("call", "side"),
    [
        (lambda: score(NOTHING, TRUTH, ["dice", "entropy", "hausdorff"]), "the candidate has"),
        (lambda: score(NOTHING, TRUTH, ["entropy", "equilibrium"]), "the candidate has"),
        (lambda: score(NOTHING, [TRUTH, LOWER], ["entropy", "dice"]), "the candidate has"),
        (lambda: score(NOTHING, [TRUTH, LOWER], ["entropy"]), "the candidate has"),
        (lambda: score(TRUTH, [NOTHING, NOTHING], ["entropy", "dice"]), "the truth has"),
        (lambda: score(NOTHING, NOTHING, ["dice", "f"]), "both maps have"),
        (
            lambda: curves(TRUTH * 0.5, TRUTH, ["entropy", "dice"], thresholds=[0.2, 0.7, 0.8]),
            "the candidate has",
        ),
        (lambda: curves(TRUTH * 0.5, TRUTH, "entropy", thresholds=[0.2, 0.7, 0.8]), "the candidate has"),
        (lambda: curves(TRUTH * 0.5 + LOWER * 0.2, NOTHING, "dice", thresholds=[0.1, 0.4]), "the truth has"),
        (lambda: score_alone(NOTHING), "the candidate has"),
    ],
)
def test_one_warning_that_names_the_empty_side(call, side):
    _, told = warnings_of(call)
    assert len(told) == 1
    assert told[0].startswith(f"{side} no edge pixels")


@pytest.mark.parametrize(
    "call",
    [
        lambda: score(TRUTH, LOWER, ["entropy", "dice"]),
        lambda: score(TRUTH, NOTHING, ["entropy"]),
        lambda: score(NOTHING, NOTHING, ["dice", "entropy"], on_degenerate="nan"),
        lambda: curves(TRUTH * 0.5, TRUTH, ["entropy", "dice"], thresholds=[0.2, 0.3]),
    ],
)
def test_no_warning_where_nothing_is_empty_or_nan_is_wanted(call):
    assert warnings_of(call)[1] == []


def test_measures_of_single_maps_keep_the_policy():
    found = score(NOTHING, NOTHING, ["entropy", "dice"], on_degenerate="nan")
    assert all(math.isnan(value) for value in found.mean.values())
    with pytest.warns(UndefinedMeasureWarning, match="the candidate has no edge pixels"):
        missed = score(NOTHING, TRUTH, ["entropy", "dice", "hd95"], on_degenerate="nan")
    assert math.isnan(missed["entropy"])
    assert (missed["dice"], missed["hd95"]) == (0, pytest.approx(math.hypot(*TRUTH.shape)))
    with pytest.raises(InputError, match="entropy is not defined: the candidate has no edge pixels"):
        score(NOTHING, TRUTH, "entropy", on_degenerate="raise")
    with pytest.raises(InputError, match="dice is not defined: both maps have no edge pixels"):
        score(NOTHING, NOTHING, "dice", on_degenerate="raise")


@pytest.mark.parametrize(
    "call",
    [
        score_alone,
        lambda mask, **more: score(mask, TRUTH, "dice", **more),
        lambda mask, **more: curves(mask * 0.5, TRUTH, "dice", **more),
    ],
)
def test_unknown_policies(call):
    with pytest.raises(InputError, match="on_degenerate must be"):
        call(TRUTH, on_degenerate="zero")


@pytest.mark.parametrize(("distance", "value"), [(None, math.hypot(8, 10)), (0, 0), (3.5, 3.5), (7, 7)])
def test_distance_to_an_empty_map(distance, value):
    with pytest.warns(UndefinedMeasureWarning):
        assert score(NOTHING, TRUTH, "hausdorff", empty_distance=distance)["hausdorff"] == pytest.approx(
            value
        )
    with pytest.warns(UndefinedMeasureWarning):
        curve = curves(TRUTH * 0.5, TRUTH, "hausdorff", thresholds=[0.5, 0.6], empty_distance=distance)
    np.testing.assert_allclose(curve["hausdorff"], [0, value])


@pytest.mark.parametrize("distance", [-1, math.nan, "far"])
def test_impossible_distances_to_an_empty_map(distance):
    with pytest.raises(InputError, match="empty_distance"):
        compare(TRUTH, LOWER, empty_distance=distance)


def test_thresholds_of_a_sweep():
    strength = np.where(TRUTH, 0.6, np.where(LOWER, 0.3, 0))
    found = curves(strength, TRUTH, ["dice", "omega"], thresholds=[0.3, 0.31, 0.6, 0])
    np.testing.assert_array_equal(found.counts, [12, 6, 6, 12])
    np.testing.assert_allclose(found["dice"], [12 / 18, 1, 1, 12 / 18])
    assert found.best() == {"dice": (0.31, 1.0), "omega": (0.3, 0.0)}
    with pytest.warns(UndefinedMeasureWarning):
        np.testing.assert_array_equal(curves(strength, TRUTH, "omega", thresholds=2).thresholds, [0, 1])


def test_a_sweep_has_101_thresholds_unless_told_otherwise():
    found = curves(TRUTH * 1.0, TRUTH, "dice")
    np.testing.assert_allclose(found.thresholds, np.arange(101) / 100)
    assert (found.counts == TRUTH.sum()).all()


def test_the_best_of_undefined_values_is_undefined():
    found = curves(TRUTH * 0.5, NOTHING, "dice", thresholds=[0.8, 0.9], on_degenerate="nan")
    threshold, value = found.best()["dice"]
    assert threshold == 0.8
    assert math.isnan(value)
    with warnings.catch_warnings(action="ignore"):
        some = curves(TRUTH * 0.5, NOTHING, "dice", thresholds=[0.8, 0.5], on_degenerate="nan")
    assert some.best() == {"dice": (0.5, 0.0)}


def test_planes_of_one_voxel_are_images():
    assert Single(TRUTH[None]).squeezed.shape == TRUTH.shape
    assert Single(TRUTH[:, None]).plane("x").shape == TRUTH.shape
    assert Single(np.ones((1, 6), dtype=bool)).squeezed.shape == (1, 6)
    assert Single(np.ones((2, 6, 2), dtype=bool)).squeezed.shape == (2, 6, 2)
