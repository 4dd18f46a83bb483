"""How many pairs the exact matching has, for many pairs of pixel lists at several tolerances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgecritic.assignment.graph import outlier_cost
from edgecritic.assignment.solver import MOST_LINKS, too_many_links
from edgecritic.inputs import Indices
from edgecritic.kernels.assign import bid_for_all, solve
from edgecritic.kernels.cardinality import enlarge, excess_cost, plain_excess, shortened
from edgecritic.kernels.grid import Grid, Neighbourhood, longest
from edgecritic.kernels.links import Links, links_of_rows
from edgecritic.kernels.search import new_search
from edgecritic.kernels.state import ALONE, FAR, State, new_state

__all__ = ["PairCounter"]

_SCALE = 2
_RESERVE = 40  # bids stop at this part of the cost of staying alone, so that prices leave room for the proof


class PairCounter:
    """Counts the pairs that the strategy ``exact`` would make, without making them.

    Parameters
    ----------
    grid : Grid
        With the margin of `around`.
    around : Neighbourhood
        The ball of the largest tolerance.
    tolerances : sequence of float
        Ascending.
    spacing : tuple of float

    Notes
    -----
    ``exact`` minimises the sum of the costs c plus ow for every candidate that stays alone. Let C(k) be the
    least cost of k pairs, and K the largest number of pairs there is. C is convex, so ``exact`` has K pairs
    if C(K) − C(K − 1) ≤ ow. Take any matching M of K pairs and a cheapest one N of K − 1. As M cannot be
    enlarged, they differ by one alternating way that enlarges N, and by others that do not change its size.
    Take any prices v ≤ 0 of the columns, and u = min (c − v) over the links of a row. On the links of N,
    c ≥ u + v; so the way, which stays in one connected part of the links, costs no more than the largest u
    and Σ (c − u − v) over the links of M in that part. Where this is within ow, counting K is enough, and
    quick: the matching of one tolerance is where that of the next begins. Tried are v = 0 and the prices of a
    few bids. Where neither helps the problem is solved.

    Examples
    --------
    >>> from edgecritic.kernels.grid import ball
    >>> around = ball(2.0, (1.0, 1.0))
    >>> grid = Grid.around((4, 5), around.radii)
    >>> counter = PairCounter(grid, around, [1.0, 2.0], (1.0, 1.0))
    >>> counter.count(grid.flatten(np.array([0, 1, 19])), grid.flatten(np.array([5, 6, 7, 17])))
    [2, 3]
    """

    def __init__(
        self, grid: Grid, around: Neighbourhood, tolerances: Sequence[float], spacing: tuple[float, ...]
    ) -> None:
        self._steps = grid.flat_offsets(around.offsets)
        self._numbers = np.arange(self._steps.size, dtype=np.int64)
        self._costs = around.costs
        self._below = [int(np.count_nonzero(around.distances <= longest(t))) for t in tolerances]
        self._alone = [outlier_cost(t, spacing) for t in tolerances]
        self._number_at = np.full(grid.size, -1, dtype=np.int32)

    def count(self, one: Indices, other: Indices) -> list[int]:
        """Return the number of pairs for every tolerance; the maps are given as flat grid indices."""
        rows, columns = (one, other) if one.size <= other.size else (other, one)
        self._number_at[columns] = np.arange(columns.size, dtype=np.int32)
        links = Links(*links_of_rows(rows, self._number_at, self._steps, self._numbers, MOST_LINKS))
        self._number_at[columns] = -1
        if links.start[-1] < 0:
            raise too_many_links()
        row_mate = np.full(rows.size, ALONE, dtype=np.int32)
        column_mate = np.full(columns.size, ALONE, dtype=np.int32)
        found = []
        for below, alone in zip(self._below, self._alone, strict=True):
            pairs = int(enlarge(links, below, row_mate, column_mate))
            if plain_excess(links, below, row_mate, self._costs) > alone:
                near = shortened(links, below, self._costs)
                pairs = self._prove_or_solve(near, columns.size, pairs, alone)
            found.append(pairs)
        return found

    def _prove_or_solve(self, links: Links, columns: int, most: int, alone: int) -> int:
        """Return the number of pairs, which is `most` if bids can prove it."""
        rows = links.start.size - 1
        state = _new_state(rows, columns, alone // _RESERVE)
        bid_for_all(links, state)
        mate = np.maximum(state.rows.mate, ALONE)
        enlarge(links, int(FAR), mate, state.columns.mate)
        if excess_cost(links, mate, state.columns.price, _SCALE) <= _SCALE * alone:
            return most
        state = _new_state(rows, columns, alone)
        solve(links, state, new_search(max(rows, columns)))
        return int(np.count_nonzero(state.rows.mate >= 0))


def _new_state(rows: int, columns: int, alone: int) -> State:
    """Make a problem in which the larger of two matchings of equal cost wins: staying alone costs ½ more."""
    return new_state(
        np.full(rows, _SCALE * alone + 1, dtype=np.int64), np.zeros(columns, dtype=np.int64), _SCALE
    )
