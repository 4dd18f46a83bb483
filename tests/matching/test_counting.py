"""The number of pairs of the exact matching, counted without making it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from edgecritic.assignment import counting
from edgecritic.assignment.counting import PairCounter
from edgecritic.kernels.cardinality import enlarge
from edgecritic.kernels.grid import Grid, ball
from edgecritic.kernels.links import Links
from edgecritic.kernels.ranks import nearest_ranks, shared_bits
from edgecritic.matching import match

pytestmark = pytest.mark.kernels


def counts(one: np.ndarray, other: np.ndarray, tolerances: list[float]) -> list[int]:
    around = ball(tolerances[-1], (1.0, 1.0))
    grid = Grid.around(one.shape, around.radii)
    return PairCounter(grid, around, tolerances, (1.0, 1.0)).count(grid.locate(one), grid.locate(other))


@settings(max_examples=25)
@given(*[arrays(np.bool_, (9, 13), elements=st.booleans()) for _ in range(2)])
def test_counts_are_those_of_the_exact_matching(one, other):
    tolerances = [1.0, 2.5, 4.0]
    exact = [match(one, other, tolerance=t).tp for t in tolerances]
    assert counts(one, other, tolerances) == counts(other, one, tolerances) == exact


def test_a_chain_that_costs_too_much_is_not_made(monkeypatch):
    """A row of n pixels moved by one: n pairs exist, but cost n pixels more than n − 1; at most 100·t."""
    solved = []
    real = counting.solve
    monkeypatch.setattr(counting, "solve", lambda *given: solved.append(1) or real(*given))
    for n, pairs in ((90, 90), (100, 100), (101, 100), (150, 149)):
        one, other = np.zeros((2, 3, 160), bool)
        one[1, :n] = other[1, 1 : n + 1] = True
        assert counts(one, other, [1.0]) == [pairs] == [match(one, other, tolerance=1).tp]
    assert solved, "no case has needed the solver, so none has tested when it is called"


@settings(max_examples=40)
@given(arrays(np.bool_, (7, 8), elements=st.booleans()))
def test_the_largest_matching_has_the_size_of_scipys(table):
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rows, columns = np.nonzero(table)
    start = np.searchsorted(rows, np.arange(8)).astype(np.int64)
    cost = ((3 * rows + 5 * columns) % 4).astype(np.int32)
    for row in range(7):
        cost[start[row] : start[row + 1]].sort()
    links = Links(start, columns.astype(np.int32), cost)
    mates = np.full(7, -1, np.int32), np.full(8, -1, np.int32)
    for below in (2, 4):
        kept = table.copy()
        kept[rows[cost >= below], columns[cost >= below]] = False
        size = enlarge(links, below, *mates)
        found = maximum_bipartite_matching(csr_array(kept.astype(int)), perm_type="column")
        assert size == np.count_nonzero(found >= 0) == np.count_nonzero(mates[0] >= 0)
        for row in np.flatnonzero(mates[0] >= 0):
            assert kept[row, mates[0][row]]
            assert mates[1][mates[0][row]] == row


@settings(max_examples=25)
@given(arrays(np.bool_, (6, 9), elements=st.booleans()))
def test_ranks_are_those_of_scipys_distances(mask):
    from scipy.ndimage import distance_transform_edt

    around = ball(3.0, (1.0, 1.0))
    grid = Grid.around(mask.shape, around.radii)
    numbers = np.searchsorted(around.distances, around.distances).astype(np.uint16)
    ranks = nearest_ranks(grid.size, grid.locate(mask), grid.flat_offsets(around.offsets), numbers)
    inside = ranks.reshape(grid.padded)[3:-3, 3:-3]
    far = np.full(mask.shape, np.inf) if not mask.any() else distance_transform_edt(~mask)
    assert np.array_equal(inside == around.distances.size, far > 3)
    near = inside < around.distances.size
    assert np.allclose(around.distances[inside[near]], far[near])


def test_shared_bits_are_counted_row_by_row():
    one, two = np.random.default_rng(3).integers(0, 2, (2, 4, 320)).astype(bool)
    words = [np.packbits(table, axis=1).view(np.uint64) for table in (one, two)]
    assert shared_bits(*words).tolist() == (one & two).sum(axis=1).tolist()
