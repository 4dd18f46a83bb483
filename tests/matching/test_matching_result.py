"""The result of a matching, and what all strategies have in common."""

from __future__ import annotations

import dataclasses
import importlib
import json
import math
import pickle

import numpy as np
import pytest

from edgecritic.errors import InputError, UnknownNameError
from edgecritic.figures import FALSE_ALARM, HIT, MISS
from edgecritic.ids import Id
from edgecritic.matching import Matching, Pair, match, strategies

WHITE = (255, 255, 255)
AXES = ("plane", "row", "column")


@pytest.fixture
def small() -> Matching:
    """Three hits, one of them moved by one pixel; two false alarms; one miss."""
    candidate, truth = np.zeros((5, 8), bool), np.zeros((5, 8), bool)
    truth[2, 0:3] = truth[4, 7] = True
    candidate[2, 0:2] = candidate[1, 2] = candidate[0, 6:8] = True
    return match(candidate, truth, tolerance=1)


def test_masks_are_made_once_and_cannot_be_written(small):
    for name, side in (("matched_candidate", 0), ("matched_truth", 1)):
        mask = getattr(small, name)
        assert getattr(small, name) is mask
        assert not mask.flags.writeable
        np.testing.assert_array_equal(np.argwhere(mask), np.unique(small.pairs[:, side], axis=0))
    assert not hasattr(Matching, "matched_truth")  # no default: a strategy must say it


def test_counts_ratios_and_masks(small):
    assert (small.tp, small.fp, small.fn) == (3, 2, 1)
    assert small.precision == pytest.approx(3 / 5)
    assert small.recall == pytest.approx(3 / 4)
    assert small.matched_candidate.sum() == small.matched_truth.sum() == 3
    assert not (small.matched_candidate & ~small.candidate).any()
    assert not (small.matched_truth & ~small.truth).any()


def test_pairs_and_distances(small):
    assert small.pairs.tolist() == [[[1, 2], [2, 2]], [[2, 0], [2, 0]], [[2, 1], [2, 1]]]
    assert small.distances.tolist() == [1, 0, 0]
    assert small.mean_distance == pytest.approx(1 / 3)


def test_rows_are_the_pairs_or_the_counts(small):
    names = ("candidate_row", "candidate_column", "truth_row", "truth_column", "distance")
    expected = [(1, 2, 2, 2, 1), (2, 0, 2, 0, 0), (2, 1, 2, 1, 0)]
    assert small.rows() == [dict(zip(names, row, strict=True)) for row in expected]
    volume = np.zeros((2, 3, 4), bool)
    volume[1, 2, 3] = True
    (row,) = match(volume, volume).rows()
    assert list(row) == [f"{side}_{axis}" for side in ("candidate", "truth") for axis in AXES] + ["distance"]
    assert list(row.values()) == [1, 2, 3, 1, 2, 3, 0]
    (counts,) = match(small.candidate, small.truth, strategy="distance", tolerance=1).rows()
    assert (counts["tp"], counts["fp"], counts["fn"]) == (3, 2, 1)


def test_the_fullest_plane_of_a_volume_is_drawn(small):
    axes = small.plot()
    assert axes.get_title() == "3 hits, 2 false alarms, 1 misses"
    np.testing.assert_array_equal(axes.images[0].get_array(), small.overlay())
    volume = np.zeros((3, 4, 5), bool)
    volume[0, 0, 0] = volume[2, 1:3, 1] = True
    found = match(volume, volume)
    axes = found.plot()
    assert axes.get_title() == "plane 2 of a volume with 3 hits, 0 false alarms, 0 misses"
    np.testing.assert_array_equal(axes.images[0].get_array(), found.overlay()[2])


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [(0.5, 2 * 0.6 * 0.75 / 1.35), (1, 0.6), (0, 0.75), (0.25, 1 / (0.25 / 0.6 + 0.75 / 0.75))],
)
def test_f_weighs_precision_by_alpha(small, alpha, expected):
    assert small.f(alpha) == pytest.approx(expected)


@pytest.mark.parametrize("alpha", [-0.1, 1.1, math.nan])
def test_f_refuses_other_weights(small, alpha):
    with pytest.raises(InputError, match="alpha must lie in"):
        small.f(alpha)


def test_overlay_has_one_colour_per_kind(small):
    picture = small.overlay()
    assert picture.shape == (5, 8, 3)
    assert picture.dtype == np.uint8
    assert tuple(picture[2, 0]) == HIT
    assert tuple(picture[1, 2]) == tuple(picture[2, 2]) == HIT
    assert tuple(picture[0, 6]) == FALSE_ALARM
    assert tuple(picture[4, 7]) == MISS
    assert tuple(picture[3, 3]) == WHITE


def test_overlay_on_a_photo(small):
    photo = np.linspace(0, 1, 40).reshape(5, 8)
    picture = small.overlay(photo)
    bright = small.overlay(np.round(photo * 255).astype(np.uint8))
    assert tuple(picture[4, 7]) == MISS
    assert picture[3, 3, 0] == picture[3, 3, 1] == picture[3, 3, 2]
    assert picture[0, 0, 0] < picture[3, 7, 0]
    assert np.abs(picture.astype(int) - bright).max() <= 1
    for grey in (2, 128, 255):  # of 255: half of the light, and half of what the photo has
        assert small.overlay(np.full((5, 8), grey))[3, 3, 0] == int(128 + 127 * grey / 255)
    with pytest.raises(InputError, match="background must have the maps' shape"):
        small.overlay(photo.T)


def test_overlay_of_a_volume():
    volume = np.zeros((2, 3, 4), bool)
    volume[1, 2, 3] = True
    picture = match(volume, volume).overlay()
    assert picture.shape == (2, 3, 4, 3)
    assert tuple(picture[1, 2, 3]) == HIT


def test_as_dict_is_ready_for_json(small):
    found = json.loads(json.dumps(small.as_dict()))
    counts = ["tp", "fp", "fn"]
    assert list(found) == [
        "strategy",
        "tolerance",
        *counts,
        "precision",
        "recall",
        "f",
        "mean_distance",
        "judged",
    ]
    assert found["strategy"] == "exact"
    assert found["tolerance"] == 1
    assert found["f"] == pytest.approx(small.f())


def test_text_is_one_line(small):
    assert str(small) == ("exact within 1 px: 3 hits, 2 false alarms, 1 misses; P 0.6000  R 0.7500  F 0.6667")


def test_a_result_is_frozen(small):
    with pytest.raises(dataclasses.FrozenInstanceError):
        small.tp = 7


@pytest.mark.parametrize("name", strategies.names())
@pytest.mark.parametrize("shape", [(6, 7), (3, 6, 7)], ids=["2-D", "3-D"])
def test_equal_maps_agree(name, shape):
    some = np.random.default_rng(5).random(shape) < 0.2
    found = match(some, some, strategy=name)
    assert (found.fp, found.fn) == (0, 0)
    assert found.precision == found.recall == found.f() == 1
    np.testing.assert_array_equal(found.matched_candidate, some)
    np.testing.assert_array_equal(found.matched_truth, some)


@pytest.mark.parametrize("name", strategies.names())
@pytest.mark.parametrize("shape", [(6, 7), (3, 6, 7)], ids=["2-D", "3-D"])
def test_empty_maps(name, shape):
    empty, some = np.zeros(shape, bool), np.zeros(shape, bool)
    some[..., 2, 1:5] = True
    both = match(empty, empty, strategy=name)
    assert (both.tp, both.fp, both.fn, both.precision, both.recall, both.f()) == (0, 0, 0, 1, 1, 1)
    for found in (match(empty, some, strategy=name), match(some, empty, strategy=name)):
        assert (found.tp, found.precision, found.recall, found.f()) == (0, 0, 0, 0)
        assert found.mean_distance is None


@pytest.mark.parametrize("name", strategies.names())
def test_one_to_one_strategies_give_pairs_and_use_every_pixel_once(name):
    rng = np.random.default_rng(8)
    candidate, truth = rng.random((12, 14)) < 0.3, rng.random((12, 14)) < 0.3
    found = match(candidate, truth, strategy=name, **({} if windowed(name) else {"tolerance": 2}))
    assert (found.pairs is not None) == (found.distances is not None)
    if not strategies.get(name).info.one_to_one:
        assert (found.mean_distance is None) == (name != "validation")
        return
    first, second = found.pairs[:, 0], found.pairs[:, 1]
    assert len(np.unique(first, axis=0)) == len(np.unique(second, axis=0)) == found.tp > 0
    assert candidate[tuple(first.T)].all()
    assert truth[tuple(second.T)].all()
    np.testing.assert_allclose(found.distances, np.linalg.norm(first - second, axis=1))
    assert found.tp + found.fp == candidate.sum()
    assert found.tp + found.fn == truth.sum()


@pytest.mark.parametrize("name", strategies.names())
def test_a_plane_is_a_volume_of_one_plane(name):
    rng = np.random.default_rng(9)
    candidate, truth = rng.random((9, 11)) < 0.3, rng.random((9, 11)) < 0.3
    options = {} if windowed(name) else {"tolerance": 2}
    flat = match(candidate, truth, strategy=name, **options)
    thick = match(candidate[None], truth[None], strategy=name, **options)
    assert (flat.tp, flat.fp, flat.fn, flat.recall) == (thick.tp, thick.fp, thick.fn, thick.recall)


def windowed(name: str) -> bool:
    return strategies.get(name).info.reach == "window"


def test_the_tolerance_may_be_part_of_the_id():
    line = np.zeros((5, 9), bool)
    line[2] = True
    one = match(np.roll(line, 2, axis=0), line, strategy="exact(tolerance=2)")
    assert (one.strategy, one.tolerance, one.tp) == ("exact", 2, 9)
    share = match(np.roll(line, 2, axis=0), line, strategy=Id("exact", (("relative_tolerance", 0.1),)))
    assert share.tolerance == pytest.approx(0.1 * math.hypot(5, 9))
    with pytest.raises(InputError, match="tolerance is given twice"):
        match(line, line, strategy="exact(tolerance=2)", tolerance=2)
    with pytest.raises(InputError, match="not both"):
        match(line, line, strategy="exact(tolerance=2)", relative_tolerance=0.1)


def test_windows_take_no_tolerance():
    line = np.eye(5, dtype=bool)
    assert match(line, line, strategy="exact(window=5)").tolerance is None
    assert match(line, line, strategy="eps(window=7)").strategy == "eps(window=7)"
    for name in ("eps", "exact(window=5)"):
        with pytest.raises(InputError, match="leave the tolerance out"):
            match(line, line, strategy=name, tolerance=2)


def test_unknown_strategies_and_parameters():
    line = np.eye(5, dtype=bool)
    with pytest.raises(UnknownNameError, match="did you mean 'exact'"):
        match(line, line, strategy="exakt")
    with pytest.raises(InputError, match="did you mean 'window'"):
        match(line, line, strategy="eps(windw=5)")


@pytest.mark.parametrize("spacing", [2.0, (2.0, 2.0)])
def test_distances_are_in_units_of_spacing(spacing):
    line = np.zeros((7, 9), bool)
    line[3] = True
    moved = np.roll(line, 1, axis=0)
    assert match(moved, line, tolerance=1.9, spacing=spacing).tp == 0
    found = match(moved, line, tolerance=2, spacing=spacing)
    assert (found.tp, found.mean_distance) == (9, 2.0)


def test_a_pair_knows_its_dimensions():
    line = np.eye(5, dtype=bool)
    pair = Pair(line, line, (1.0, 1.0), 1.5)
    assert pair.ndim == 2
    found = Matching.from_pairs(pair, np.arange(0), np.arange(0))
    assert (found.tolerance, found.spacing) == (1.5, None)  # not of a window, and in pixels


def test_a_result_does_not_follow_what_happens_to_its_inputs():
    candidate = np.zeros((4, 6), bool)
    candidate[1, 1:4] = True
    truth = candidate.copy()
    found = match(candidate, truth, tolerance=1)
    picture = found.overlay()
    candidate[:] = True
    truth[:] = False
    np.testing.assert_array_equal(found.overlay(), picture)
    assert candidate.flags.writeable
    for array in (found.candidate, found.matched_truth, found.pairs, found.distances):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("share", [0.001, 0.2])
@pytest.mark.parametrize("strategy", ["exact", "distance"])
def test_large_maps_are_kept_whether_they_have_few_pixels_or_many(share, strategy, monkeypatch):
    """Few pixels are kept as indices; what is shown is the map all the same."""
    from edgecritic.matching import result

    monkeypatch.setattr(result, "_LARGE", 1000)
    candidate, truth = np.random.default_rng(0).random((2, 60, 80)) < share
    given = candidate.copy()
    found = match(candidate, truth, tolerance=2, strategy=strategy)
    assert (vars(found)["candidate"].dtype == np.bool_) == (share > 1 / 8)
    candidate[:] = True
    copy = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(found.candidate, given)
    assert copy == found
    assert not found.candidate.flags.writeable
    assert found.fp == np.count_nonzero(given & ~found.matched_candidate)


def test_pairs_in_any_order_become_those_in_raster_order():
    maps = np.ones((2, 3, 5), bool)
    pair = Pair(maps[0], maps[1], (1.0, 1.0), 9.0)
    candidate, truth = np.array([7, 1, 4]), np.array([2, 3, 9])
    found = Matching.from_pairs(pair, candidate, truth)
    expected = [[0, 1, 0, 3], [0, 4, 1, 4], [1, 2, 0, 2]]  # of 1 and 3, 4 and 9, 7 and 2 in rows of five
    assert found.pairs.reshape(3, 4).tolist() == expected
    candidate[:] = truth[:] = 0  # a strategy may use its arrays again
    assert np.flatnonzero(found.matched_candidate).tolist() == [1, 4, 7]
    assert np.flatnonzero(found.matched_truth).tolist() == [2, 3, 9]
    in_order = Matching.from_pairs(pair, rows := np.array([1, 4, 7]), np.array([2, 3, 9]))
    rows[:] = 0
    assert np.flatnonzero(in_order.matched_candidate).tolist() == [1, 4, 7]


def test_maps_of_numbers_are_no_indices(small):
    """Only what has one dimension is a list of pixels."""
    changed = dataclasses.replace(small, candidate=small.candidate.astype(np.uint8))
    np.testing.assert_array_equal(changed.candidate, small.candidate)


def test_results_can_be_pickled_and_compared_without_an_error(small):
    copy = pickle.loads(pickle.dumps(small))
    assert str(copy) == str(small)
    np.testing.assert_array_equal(copy.pairs, small.pairs)
    assert copy == small
    assert dataclasses.replace(copy, tolerance=2.0) != small
    assert len({small, copy}) == 1


@pytest.mark.parametrize("name", strategies.names())
def test_a_strategy_can_be_called_under_its_name(name):
    """What registers a function hands it back."""
    function = strategies.get(name).function
    assert getattr(importlib.import_module(function.__module__), name) is function


def test_text_has_pixels_only_without_spacing():
    one = np.eye(5)
    assert " px" in str(match(one, one, tolerance=1))
    assert " px" not in str(match(one, one, tolerance=1, spacing=0.5))
    assert match(one, one, spacing=0.5).spacing == (0.5, 0.5)
    assert match(one, one).spacing is None


def test_a_background_must_be_finite(small):
    with pytest.raises(InputError, match="NaN"):
        small.overlay(np.full(small.truth.shape, np.nan))


@pytest.mark.parametrize("strategy", ["exact", "eps", "validation"])
def test_coordinates_of_pairs_are_made_when_they_are_asked_for(strategy):
    random = np.random.default_rng(8)
    candidate, truth = random.random((2, 6, 7, 8)) < 0.2
    found = match(candidate, truth, strategy=strategy)
    assert vars(found)["pairs"].shape == (2, found.distances.size)
    first, second = found.pairs[:, 0], found.pairs[:, 1]
    assert candidate[tuple(first.T)].all()
    assert truth[tuple(second.T)].all()
    assert np.allclose(np.linalg.norm(first - second, axis=1), found.distances)
    assert found.pairs.flags.c_contiguous
    assert not found.pairs.flags.writeable
    assert found.pairs is found.pairs
