"""Distance and area based matching against SciPy's transforms and dilations, and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.ndimage import binary_dilation, distance_transform_edt

from edgecritic.errors import InputError
from edgecritic.matching import match
from edgecritic.matching.area import match_area

pytestmark = pytest.mark.kernels


def example():
    """The worked example: a line of eight pixels, and a broken one with a stray pixel."""
    truth, candidate = np.zeros((10, 12), bool), np.zeros((10, 12), bool)
    truth[4, 2:10] = True
    candidate[4, 2:5] = candidate[5, 5:8] = candidate[1, 10] = True
    return candidate, truth


@st.composite
def pairs(draw):
    shape = draw(hnp.array_shapes(min_dims=2, max_dims=3, max_side=7))
    maps = [draw(hnp.arrays(bool, shape)) for _ in range(2)]
    spacing = draw(st.tuples(*[st.sampled_from([0.5, 1.0, 1.6])] * len(shape)))
    tolerance = draw(st.sampled_from([0, 0.5, 1, math.sqrt(2), 2.5, 3.2, 9]))
    return *maps, spacing, tolerance


def far(source, target, spacing, tolerance):
    """Count the pixels of source that have no pixel of target within the tolerance, pair by pair."""
    sizes = np.asarray(spacing)
    first, second = np.argwhere(source) * sizes, np.argwhere(target) * sizes
    apart = np.sqrt(((first[:, None] - second[None]) ** 2).sum(axis=-1))
    return int((apart.min(axis=1, initial=np.inf) > tolerance + 1e-9).sum())


@pytest.mark.parametrize(
    "strategy, tolerance, counts, f",
    [
        ("distance", 1, (6, 1, 2), 0.8),
        ("distance", 2.5, (6, 1, 0), 0.923077),
        ("distance", 5, (7, 0, 0), 1.0),
        ("area", 1, (17, 8, 9), 0.666667),
        ("area", 2.5, (49, 14, 7), 0.823529),
        ("area", 5, (116, 1, 0), 0.995708),
    ],
)
def test_worked_example(strategy, tolerance, counts, f):
    found = match(*example(), strategy=strategy, tolerance=tolerance)
    assert (found.tp, found.fp, found.fn) == counts
    assert found.f() == pytest.approx(f, abs=5e-7)


@settings(max_examples=80)
@given(pairs())
def test_distance_against_all_pairs(case):
    candidate, truth, spacing, tolerance = case
    found = match(candidate, truth, strategy="distance", tolerance=tolerance, spacing=spacing)
    misses = far(truth, candidate, spacing, tolerance)
    assert (found.fp, found.fn) == (far(candidate, truth, spacing, tolerance), misses)
    assert found.tp + found.fp == candidate.sum()
    assert found.matched_truth.sum() == truth.sum() - misses
    share = match(candidate, truth, strategy="distance(recall=gt)", tolerance=tolerance, spacing=spacing)
    if truth.any():
        assert share.recall == pytest.approx(1 - misses / truth.sum())


@pytest.mark.parametrize("tolerance", [1, 4.3, 30])
def test_distance_against_scipy(tolerance):
    """Small tolerances are looked up, large ones go by the transform."""
    rng = np.random.default_rng(7)
    candidate, truth = rng.random((2, 160, 120)) < 0.004
    found = match(candidate, truth, strategy="distance", tolerance=tolerance)
    assert np.array_equal(found.matched_candidate, candidate & (distance_transform_edt(~truth) <= tolerance))
    assert np.array_equal(found.matched_truth, truth & (distance_transform_edt(~candidate) <= tolerance))


def ball_element(element, spacing, tolerance):
    radii = [math.floor(tolerance / size + 1e-9) for size in spacing]
    steps = np.meshgrid(
        *[np.arange(-r, r + 1) * s for r, s in zip(radii, spacing, strict=True)], indexing="ij"
    )
    if element == "square":
        return np.ones(steps[0].shape, bool)
    long = sum(step**2 for step in steps) <= tolerance**2 + 1e-9
    return long & (sum(step != 0 for step in steps) <= 1) if element == "cross" else long


@settings(max_examples=80)
@given(pairs(), st.sampled_from(["disk", "square", "cross"]))
def test_area_against_dilation(case, element):
    candidate, truth, spacing, tolerance = case
    structure = ball_element(element, spacing, tolerance)
    first, second = binary_dilation(candidate, structure), binary_dilation(truth, structure)
    found = match(candidate, truth, strategy=f"area(element={element})", tolerance=tolerance, spacing=spacing)
    expected = ((first & second).sum(), (first & ~second).sum(), (second & ~first).sum())
    assert (found.tp, found.fp, found.fn) == expected
    assert np.array_equal(found.matched_candidate, candidate & second)
    assert np.array_equal(found.matched_truth, truth & first)
    given_element = match_area(candidate, truth, structure)
    assert (given_element.tp, given_element.fp, given_element.fn) == expected


def test_area_of_a_lopsided_element():
    candidate, truth = example()
    structure = np.array([[0, 0, 0], [0, 1, 1], [0, 0, 0]])
    found = match_area(candidate, truth, structure)
    # The truth covers columns 2 … 10 of row 4, the candidate columns 2 … 5 of it and six pixels elsewhere.
    assert (found.tp, found.fp, found.fn) == (4, 6, 5)
    assert found.tolerance is None


@pytest.mark.parametrize("strategy", ["distance", "distance(recall=gt)", "area", "area(element=cross)"])
def test_ends_of_the_scale(strategy):
    candidate, truth = example()
    empty = np.zeros_like(truth)
    assert match(truth, truth, strategy=strategy, tolerance=2).f() == 1
    assert match(empty, empty, strategy=strategy, tolerance=2).f() == 1
    for pair in ((empty, truth), (candidate, empty)):
        found = match(*pair, strategy=strategy, tolerance=2)
        assert (found.precision, found.recall, found.f()) == (0, 0, 0)


@settings(max_examples=40)
@given(pairs())
def test_f_is_symmetric_where_it_should_be(case):
    candidate, truth, spacing, tolerance = case
    for strategy in ("distance(recall=gt)", "area"):
        there = match(candidate, truth, strategy=strategy, tolerance=tolerance, spacing=spacing)
        back = match(truth, candidate, strategy=strategy, tolerance=tolerance, spacing=spacing)
        assert there.f() == pytest.approx(back.f())


def test_confusion_recall_is_not_symmetric():
    candidate, truth = example()
    f = [
        match(*pair, strategy="distance", tolerance=2.5).f()
        for pair in ((candidate, truth), (truth, candidate))
    ]
    assert f[0] != pytest.approx(f[1])


def test_options_are_checked():
    candidate, truth = example()
    with pytest.raises(InputError, match="'confusion' or 'gt'"):
        match(candidate, truth, strategy="distance(recall=other)")
    with pytest.raises(InputError, match="'disk', 'square' or 'cross'"):
        match(candidate, truth, strategy="area(element=star)")
    with pytest.raises(InputError, match="2 dimensions"):
        match_area(candidate, truth, np.ones((3, 3, 3)))
