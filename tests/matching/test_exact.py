"""The exact solver against SciPy's dense assignment, and its dynamic form against fresh solves."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import edgecritic
from edgecritic.assignment.dynamic import ExactState, match_truths, sweep_truths
from edgecritic.assignment.pixel_lists import PixelMatcher
from edgecritic.assignment.solver import MOST_LINKS, empty_state, placed, salt, solved
from edgecritic.errors import InputError
from edgecritic.kernels.grid import Grid
from edgecritic.kernels.hashing import salts, scatter
from edgecritic.kernels.links import Links
from edgecritic.maps.walk import Changes

pytestmark = pytest.mark.kernels

MANY = settings(max_examples=20 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 400)


@st.composite
def problems(draw, ndim=None):
    """A random candidate, truth, spacing and tolerance."""
    ndim = draw(st.sampled_from([2, 3])) if ndim is None else ndim
    shape = tuple(draw(st.integers(1, 8 if ndim == 2 else 5)) for _ in range(ndim))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    density = draw(st.sampled_from([0.05, 0.2, 0.4, 0.7]))
    other = draw(st.sampled_from([0.05, 0.2, 0.4, 0.7]))
    spacing = tuple(draw(st.sampled_from([1.0, 1.0, 0.5, 2.5])) for _ in range(ndim))
    tolerance = draw(st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.5, 4.3]))
    return rng.random(shape) < density, rng.random(shape) < other, spacing, tolerance


def dense_optimum(candidate, truth, spacing, tolerance):
    """Cost and cardinality by SciPy on the full matrix with one dummy column per candidate."""
    rows, columns = np.argwhere(candidate), np.argwhere(truth)
    smallest = min(spacing)
    distances = np.sqrt((((rows[:, None] - columns[None]) * np.array(spacing)) ** 2).sum(axis=-1))
    alone = max(1, int(np.ceil(round(1e4 * tolerance / smallest, 6))))
    matrix = np.full((len(rows), len(columns) + len(rows)), 10**9, dtype=np.int64)
    within = distances <= tolerance * (1 + 1e-9)
    matrix[:, : len(columns)][within] = np.floor(100 * distances / smallest + 0.5)[within]
    matrix[np.arange(len(rows)), len(columns) + np.arange(len(rows))] = alone
    first, second = linear_sum_assignment(matrix)
    return int(matrix[first, second].sum()), int(np.count_nonzero(second < len(columns)))


def cost_of(matching, spacing, tolerance):
    smallest = min(spacing)
    alone = max(1, int(np.ceil(round(1e4 * tolerance / smallest, 6))))
    return int(np.floor(100 * matching.distances / smallest + 0.5).sum()) + alone * matching.fp


@MANY
@given(problems())
def test_cost_and_cardinality_equal_the_dense_assignment(problem):
    candidate, truth, spacing, tolerance = problem
    found = edgecritic.match(candidate, truth, tolerance=tolerance, spacing=spacing)
    assert (cost_of(found, spacing, tolerance), found.tp) == dense_optimum(
        candidate, truth, spacing, tolerance
    )
    assert found.fp == candidate.sum() - found.tp
    assert found.fn == truth.sum() - found.tp
    assert np.all(found.distances <= tolerance * (1 + 1e-9))
    for side, mask, matched in ((0, candidate, found.matched_candidate), (1, truth, found.matched_truth)):
        where = tuple(found.pairs[:, side].T)
        assert mask[where].all()
        assert len({tuple(pixel) for pixel in found.pairs[:, side]}) == found.tp
        assert np.array_equal(np.argwhere(matched), np.unique(found.pairs[:, side], axis=0))


@settings(max_examples=20)
@given(problems(), st.sampled_from([3, 5]))
def test_a_window_reaches_its_corners(problem, window):
    candidate, truth, spacing, _ = problem
    found = edgecritic.match(candidate, truth, strategy=f"exact(window={window})", spacing=spacing)
    slow = edgecritic.match(candidate, truth, strategy=f"hungarian(window={window})", spacing=spacing)
    corner = window // 2 * np.sqrt(np.sum(np.square(spacing)))
    assert found.tp == slow.tp
    assert cost_of(found, spacing, corner) == cost_of(slow, spacing, corner)


@MANY
@given(problems(), st.integers(0, 2**32 - 1))
def test_after_any_changes_the_state_equals_a_fresh_solve(problem, seed):
    candidate, truth, spacing, tolerance = problem
    rng = np.random.default_rng(seed)
    state = ExactState(truth, tolerance=tolerance, spacing=spacing)
    present = np.zeros_like(candidate)
    for step in range(6):
        wanted = candidate if step == 5 else rng.random(candidate.shape) < rng.random()
        added = rng.permutation(np.flatnonzero(wanted & ~present))
        removed = rng.permutation(np.flatnonzero(present & ~wanted))
        state.update(added=added, removed=removed)
        present = wanted
        fresh = edgecritic.match(present, truth, tolerance=tolerance, spacing=spacing)
        assert state.matches == fresh.tp
        assert state.cost == cost_of(fresh, spacing, tolerance)
        assert np.array_equal(state.matched_candidate, fresh.matched_candidate)
        assert state.matched_pixels == fresh.matched_candidate.sum()
        assert np.array_equal(state.matched_truths[0], fresh.matched_truth)
        assert np.array_equal(state.present, present)


@pytest.mark.parametrize("far_truths", [0, 1, 4])
@pytest.mark.parametrize("far_candidates", [0, 1, 4])
def test_either_side_may_look_for_partners(far_candidates, far_truths):
    """Which side is linked depends on how many pixels of each are near the other; the answer does not."""
    candidate, truth = np.zeros((2, 12, 40), dtype=bool)
    candidate[1:4, 5] = truth[2, 6:8] = True
    candidate[8:10, 20] = truth[7:11, 21] = True
    candidate[0, 30 : 30 + far_candidates] = truth[11, 30 : 30 + far_truths] = True
    for first, second in ((candidate, truth), (truth, candidate)):
        found = edgecritic.match(first, second, tolerance=2)
        state = ExactState(second, tolerance=2)
        state.update(added=np.flatnonzero(first))
        assert found.tp == 4
        assert np.array_equal(found.matched_candidate, state.matched_candidate)
        assert np.array_equal(found.matched_truth, state.matched_truths[0])


@settings(max_examples=30)
@given(problems(), st.integers(0, 2**32 - 1))
def test_the_order_of_insertion_does_not_matter(problem, seed):
    candidate, truth, spacing, tolerance = problem
    rng = np.random.default_rng(seed)
    whole = edgecritic.match(candidate, truth, tolerance=tolerance, spacing=spacing)
    state = ExactState(truth, tolerance=tolerance, spacing=spacing, universe=candidate)
    for pixel in rng.permutation(np.flatnonzero(candidate)):
        state.update(added=pixel)
    assert np.array_equal(state.matched_candidate, whole.matched_candidate)
    assert np.array_equal(state.matched_truths[0], whole.matched_truth)


@settings(max_examples=30)
@given(problems(), st.integers(0, 2**32 - 1))
def test_several_truths_are_matched_each_for_itself(problem, seed):
    candidate, truth, spacing, tolerance = problem
    rng = np.random.default_rng(seed)
    truths = [truth, rng.random(truth.shape) < 0.3, np.zeros_like(truth)]
    options = {"tolerance": tolerance, "spacing": spacing}
    state = ExactState(truths, **options)
    before = rng.random(candidate.shape) < 0.5
    changes = (
        Changes.of([np.flatnonzero(before), np.flatnonzero(candidate & ~before)]),
        Changes.of([np.zeros(0, int), np.flatnonzero(before & ~candidate)]),
    )
    counts = state.sweep(*changes)
    at_once, pixels, places = sweep_truths(truths, *changes, **options)
    np.testing.assert_array_equal(at_once, counts)
    assert pixels == sum(map(np.count_nonzero, truths))
    assert places == np.count_nonzero(np.any(truths, axis=0))
    for row, present in zip(counts, (before, candidate), strict=True):
        single = [edgecritic.match(present, one, tolerance=tolerance, spacing=spacing) for one in truths]
        assert row[0] == sum(found.tp for found in single)
        assert row[1] == np.count_nonzero(np.any([found.matched_candidate for found in single], axis=0))
    assert state.cost == sum(cost_of(found, spacing, tolerance) for found in single)
    hit, matched = match_truths(candidate, truths, **options)
    assert np.array_equal(hit, np.any([found.matched_candidate for found in single], axis=0))
    for mask, same, found in zip(state.matched_truths, matched, single, strict=True):
        assert np.array_equal(mask, found.matched_truth)
        assert np.array_equal(same, found.matched_truth)


@pytest.mark.parametrize("byte", [2, 3, 128, 255])
@pytest.mark.parametrize("shape", [(9, 11), (5, 6, 7)])
def test_what_is_true_may_be_any_byte(shape, byte):
    rng = np.random.default_rng(byte)
    truths = [rng.random(shape) < share for share in (0.2, 0.5, 1.0)]
    odd = [(byte * one.astype(np.uint8)).view(np.bool_) for one in truths]
    pixels = rng.permutation(truths[0].size)[: truths[0].size // 2]
    steps = Changes.of([pixels[::2], pixels[1::2]]), Changes.of([[], pixels[:4]])
    expected, *numbers = sweep_truths(truths, *steps, tolerance=2)
    found, *same = sweep_truths(odd, *steps, tolerance=2)
    np.testing.assert_array_equal(found, expected)
    assert same == numbers
    candidate = rng.random(shape) < 0.3
    hit, matched = match_truths((byte * candidate.astype(np.uint8)).view(np.bool_), odd, tolerance=2)
    known, several = match_truths(candidate, truths, tolerance=2)
    assert np.array_equal(hit, known)
    assert np.array_equal(matched, several)


@pytest.mark.parametrize("shape", [(7, 9), (20, 5, 18)])
def test_the_pixels_of_a_map_are_placed_in_a_grid(shape):
    mask = np.random.default_rng(3).random(shape) < 0.3
    grid = Grid.around(shape, (2,) * len(shape))
    raster, flat = placed(grid, mask)
    assert sorted(raster) == np.flatnonzero(mask).tolist()
    assert len(shape) == 3 or np.array_equal(raster, np.flatnonzero(mask))
    assert np.array_equal(grid.raster(flat), raster)


def test_truths_have_salts_of_their_own_and_empty_ones_have_one_too():
    """Beside whole numbers of any length: what is left of them after the last 64 bits is cut."""

    def twin(pixels):
        total = 0
        for pixel in pixels:
            product = (pixel + 1) * 0xBF58476D1CE4E5B9 % 2**64
            total ^= product ^ product >> 29
        return total >> 2

    random = np.random.default_rng(4)
    parts = [
        random.integers(0, 2**most, size) for size, most in ((400, 28), (0, 1), (500, 40), (1, 9), (0, 1))
    ]
    start = np.cumsum([0, *map(len, parts)])
    expected = [twin(part.tolist()) for part in parts]
    assert salts(np.concatenate(parts), start).tolist() == expected
    assert [salt(part) for part in parts] == expected
    assert len(set(expected)) == 4


def test_threads_give_the_same_answer():
    rng = np.random.default_rng(5)
    truth = rng.random((80, 90)) < 0.1
    maps = [rng.random((80, 90)) < 0.12 for _ in range(8)]
    alone = [edgecritic.match(one, truth, tolerance=4).pairs for one in maps]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda one: edgecritic.match(one, truth, tolerance=4).pairs, maps))
    assert all(np.array_equal(first, second) for first, second in zip(alone, together, strict=True))


def test_without_compilation_the_answer_is_the_same():
    code = (
        "import numpy as np, edgecritic, sys\n"
        "rng = np.random.default_rng(9)\n"
        "a, b = rng.random((24, 30)) < .2, rng.random((24, 30)) < .2\n"
        "sys.stdout.write(repr(edgecritic.match(a, b, tolerance=3).pairs.tolist()))\n"
    )
    answers = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_DISABLE_JIT": flag},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for flag in ("0", "1")
    ]
    assert answers[0] == answers[1] != "[]"


def test_cardinality_yields_to_chains_longer_than_a_hundred_tolerances():
    """A row of n pixels shifted by one is matched anew only while that costs at most one outlier."""
    for n, matched in ((99, 99), (100, 100), (101, 100)):
        truth = np.zeros((3, n + 2), bool)
        candidate = truth.copy()
        truth[1, 1 : n + 1] = True
        candidate[1, 0:n] = True
        found = edgecritic.match(candidate, truth, tolerance=1)
        assert found.tp == matched


def all_matchings(costs):
    """Yield (total cost of the pairs, number of pairs) of every one-to-one matching of a small matrix."""
    if not costs:
        yield 0, 0
        return
    for total, pairs in all_matchings(costs[1:]):
        yield total, pairs
    for column in [column for column, cost in enumerate(costs[0]) if cost is not None]:
        others = [[*row[:column], None, *row[column + 1 :]] for row in costs[1:]]
        for total, pairs in all_matchings(others):
            yield total + costs[0][column], pairs + 1


@pytest.mark.parametrize("seed", range(60))
def test_of_all_cheapest_matchings_one_with_the_most_pairs_is_taken(seed):
    """Costs so small that another pair often costs exactly what it saves."""
    rng = np.random.default_rng(seed)
    alone = int(rng.integers(1, 4))
    size = rng.integers(1, 5, 2)
    costs = [[int(cost) if cost < 4 else None for cost in row] for row in rng.integers(0, 6, size)]
    best = min((total + alone * (size[0] - pairs), -pairs) for total, pairs in all_matchings(costs))

    sorted_rows = [sorted((cost, at) for at, cost in enumerate(row) if cost is not None) for row in costs]
    links = Links(
        np.cumsum([0, *map(len, sorted_rows)]),
        np.array([at for row in sorted_rows for _, at in row], dtype=np.int32),
        np.array([cost for row in sorted_rows for cost, _ in row], dtype=np.int32),
    )
    state = solved(links, 16, np.arange(size[0]), np.arange(size[1]), alone, 0)
    paid = [costs[row][column] if column >= 0 else alone for row, column in enumerate(state.rows.mate)]
    assert (sum(paid), -np.count_nonzero(state.rows.mate >= 0)) == best


def test_values_of_the_worked_example(worked_example):
    candidate, truth = worked_example
    for tolerance, hits, score in ((1, 6, 0.8), (2.5, 6, 0.8), (5, 7, 0.933333)):
        found = edgecritic.match(candidate, truth, tolerance=tolerance)
        assert found.tp == hits
        assert found.f() == pytest.approx(score, abs=1e-6)


@pytest.mark.parametrize("shape", [(6, 7), (4, 5, 6)])
def test_empty_maps(shape):
    empty, full = np.zeros(shape, bool), np.ones(shape, bool)
    both = edgecritic.match(empty, empty)
    assert (both.tp, both.fp, both.fn, both.precision, both.recall) == (0, 0, 0, 1.0, 1.0)
    assert edgecritic.match(empty, full).recall == 0
    assert edgecritic.match(full, empty).precision == 0
    assert edgecritic.match(full, full, tolerance=2).f() == 1


def test_what_does_not_fit_is_refused():
    small = np.ones((40, 40, 40), bool)
    with pytest.raises(InputError, match="tolerance of 1000"):
        edgecritic.match(small, small, tolerance=1000)
    with pytest.raises(InputError, match="64-bit"):
        empty_state(2**20, np.zeros(1, int), np.zeros(1, int), 2**40, 0)


@pytest.mark.parametrize(("cost", "fits"), [(2**26 - 1, True), (2**26, False)])
def test_prices_of_60_bits_hold_hashes_of_12_bits_or_are_refused(cost, fits):
    """22 bits hold the sum over 2²⁰ pixels on both sides, which leaves 26 for the cost."""
    with nullcontext() if fits else pytest.raises(InputError, match="64-bit"):
        empty_state(2**20, np.zeros(1, int), np.zeros(1, int), cost, 0)


def test_as_many_links_as_fill_2_gib_are_taken():
    link = np.dtype(np.int32).itemsize * 2  # the pixel at its end, and its cost
    assert MOST_LINKS * link == 2 * 1024**3


def test_misuse_of_the_state_is_refused():
    state = ExactState(np.eye(4, dtype=bool), tolerance=1)
    state.update(added=[0, 5])
    for wrong in (
        {"added": [5]},
        {"removed": [6]},
        {"added": [1, 1]},
        {"added": [16]},
        {"added": [-1]},
        {"added": [-1, 3]},
        {"added": [1.5]},
        {"added": "x"},
    ):
        with pytest.raises(InputError):
            state.update(**wrong)
    assert state.matches == 2
    with pytest.raises(InputError, match="not in the universe"):
        ExactState(np.eye(4, dtype=bool), tolerance=1, universe=np.eye(4, dtype=bool)).update(added=[0, 1])
    with pytest.raises(InputError, match="universe"):
        ExactState(np.eye(4, dtype=bool), universe=np.eye(3, dtype=bool))
    with pytest.raises(InputError, match="not both"):
        ExactState(np.eye(4, dtype=bool), tolerance=1, window=3)


def test_hashes_are_distinct_and_within_their_bits():
    values = -scatter(np.arange(2**16), 16, 0x7F4A7C15, 0)
    assert values.min() == 0
    assert values.max() == 2**16 - 1
    assert np.unique(values).size == 2**16


@pytest.mark.data
def test_real_boundaries_match_like_the_dense_assignment(data):
    from scipy.io import loadmat

    truth = loadmat(data / "bsds500/groundTruth/val/101085.mat")["groundTruth"][0]
    first, second = (truth[k]["Boundaries"][0, 0].astype(bool) for k in (0, 1))
    found = edgecritic.match(first, second)
    slow = edgecritic.match(first, second, strategy="hungarian")
    assert found.tp == slow.tp
    assert cost_of(found, (1, 1), found.tolerance) == cost_of(slow, (1, 1), slow.tolerance)


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow without the compiler")
@pytest.mark.parametrize(("shape", "tolerance"), [((60, 60), 4), ((300, 300), 2), ((12, 40, 40), 1.5)])
def test_large_and_crowded_maps(shape, tolerance):
    """Whole problems begin with bidding, changes do not; they must agree on many rivals too."""
    rng = np.random.default_rng(1)
    candidate, truth = rng.random(shape) < 0.5, rng.random(shape) < 0.3
    found = edgecritic.match(candidate, truth, tolerance=tolerance)
    state = ExactState(truth, tolerance=tolerance, universe=candidate)
    state.update(added=np.flatnonzero(candidate))
    costs = np.floor(100 * found.distances + 0.5).astype(int).sum() + state.outlier_cost * found.fp
    assert (found.tp, costs) == (state.matches, state.cost)
    np.testing.assert_array_equal(found.matched_candidate, state.matched_candidate)
    np.testing.assert_array_equal(found.matched_truth, state.matched_truths[0])


@pytest.mark.parametrize("densities", [(0.1, 0.4), (0.4, 0.1), (0.2, 0.2), (0.0, 0.3), (0.3, 0.0)])
def test_lists_of_pixels_are_matched_as_maps_are(densities):
    """Whichever side has more pixels."""
    rng = np.random.default_rng(7)
    candidate, truth = (rng.random((20, 25)) < density for density in densities)
    matcher = PixelMatcher((20, 25), 2.5, (1.0, 1.5))
    lists = [np.flatnonzero(mask) for mask in (candidate, truth)]
    found = matcher.match(*(matcher.place(pixels) for pixels in lists))
    whole = edgecritic.match(candidate, truth, tolerance=2.5, spacing=(1.0, 1.5))
    for pixels, matched, expected in zip(
        lists, found, (whole.matched_candidate, whole.matched_truth), strict=True
    ):
        np.testing.assert_array_equal(matched, expected.ravel()[pixels])


def test_a_matcher_of_lists_may_be_used_again_and_again():
    """Its memory grows, and nothing of one matching is left for the next."""
    rng = np.random.default_rng(8)
    matcher = PixelMatcher((20, 25), 2.5, (1.0, 1.0))
    for densities in rng.random((12, 2)) * 0.5:
        candidate, truth = (rng.random((20, 25)) < density for density in densities)
        lists = [np.flatnonzero(mask) for mask in (candidate, truth)]
        found, wanted = matcher.match(*(matcher.place(pixels) for pixels in lists))
        whole = edgecritic.match(candidate, truth, tolerance=2.5)
        np.testing.assert_array_equal(found, whole.matched_candidate.ravel()[lists[0]])
        np.testing.assert_array_equal(wanted, whole.matched_truth.ravel()[lists[1]])
