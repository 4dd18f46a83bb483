"""How many pairs the exact matching has, for many pairs of pixel lists at several tolerances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from edgecritic.assignment.graph import outlier_cost
from edgecritic.assignment.solver import link_numbered
from edgecritic.inputs import BoolArray, Indices
from edgecritic.kernels.arrays import Int64s, UInt64s
from edgecritic.kernels.assign import solve
from edgecritic.kernels.cardinality import (
    Prices,
    bid,
    enlarge,
    excess_cost,
    exchange,
    new_board,
    part_excess,
    place_columns,
    plain_excess,
)
from edgecritic.kernels.grid import Grid, Neighbourhood, longest
from edgecritic.kernels.links import number_cells
from edgecritic.kernels.ranks import Ranks, by_rank, near_pixels, nearest_ranks
from edgecritic.kernels.state import ALONE
from edgecritic.kernels.windows import bits_of, windows_of

__all__ = ["Located", "PairCounter", "Reached"]

_EXCHANGES = 3  # how often rows may exchange columns before more is tried
_RESERVE = 40  # bids stop at this part of the cost of staying alone, so that prices leave room for the proof


class Located(NamedTuple):
    """A map on a grid.

    Attributes
    ----------
    pixels : flat indices
    ranks : (cells,) uint16 or uint32
        How near the map is to every cell of the grid: the number of the first offset that is as long.
    cells, bits : bool and uint64
        Whether a cell is a pixel of the map, as an array of cells and of bits.
    """

    pixels: Indices
    ranks: Ranks
    cells: BoolArray
    bits: UInt64s


class Reached(NamedTuple):
    """The pixels of a map within the largest tolerance of another, their ranks, and their number at each."""

    pixels: Indices
    ranks: Indices
    sizes: Indices


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
    quick: the matching of one tolerance is where that of the next begins. Tried are v = 0, for all parts
    together and for each, also with rows and columns exchanged, then the same of a cheaper M in which rows
    have exchanged columns, and then the prices of a few bids. Where
    nothing helps the problem is solved.

    Examples
    --------
    >>> from edgecritic.kernels.grid import ball
    >>> around = ball(2.0, (1.0, 1.0))
    >>> grid = Grid.around((4, 5), around.radii)
    >>> counter = PairCounter(grid, around, [1.0, 2.0], (1.0, 1.0))
    >>> maps = np.zeros((2, 4, 5), bool)
    >>> maps[0].flat[[0, 1, 19]] = maps[1].flat[[5, 6, 7, 17]] = True
    >>> one, other = (counter.locate(mask) for mask in maps)
    >>> counter.count(one, other, counter.reached(one, other), counter.reached(other, one))
    [2, 3]
    """

    def __init__(
        self, grid: Grid, around: Neighbourhood, tolerances: Sequence[float], spacing: tuple[float, ...]
    ) -> None:
        self._grid = grid
        self._steps = grid.flat_offsets(around.offsets)
        first = np.searchsorted(around.distances, around.distances)
        few = first.size < 2**16
        self._numbers: Ranks = first.astype(np.uint16) if few else first.astype(np.uint32)
        self._costs = around.costs
        self._below = np.array([np.count_nonzero(around.distances <= longest(t)) for t in tolerances])
        self._alone = [outlier_cost(t, spacing) for t in tolerances]
        self._near = windows_of(grid, around, self._below.tolist())
        self._board = new_board(grid)
        farthest = int(self._steps.max())
        self._step_cost = np.zeros(2 * farthest + 1, dtype=np.int64)
        self._step_cost[self._steps + farthest] = self._costs
        self._number_of = np.full(2 * farthest + 1, self._steps.size, dtype=np.int64)
        self._number_of[self._steps + farthest] = np.arange(self._steps.size)

    def locate(self, mask: BoolArray) -> Located:
        """Find how near a map is to every cell."""
        pixels, cells = self._grid.locate(mask), self._grid.embed(mask)
        ranks = nearest_ranks(self._grid.size, pixels, self._steps, self._numbers)
        return Located(pixels, ranks, cells, bits_of(cells))

    def reached(self, one: Located, other: Located) -> Reached:
        """Return the pixels of one map that lie near the other."""
        return Reached(*near_pixels(one.pixels, other.ranks, self._below))

    def count(self, one: Located, other: Located, near_other: Reached, near_one: Reached) -> list[int]:
        """Return the number of pairs for every tolerance.

        Given are two maps, and the pixels of each that the other reaches.
        """
        if near_other.pixels.size > near_one.pixels.size:
            one, other, near_other, near_one = other, one, near_one, near_other
        rows, columns = by_rank(near_other.pixels, near_other.ranks, self._below[-1]), near_one.pixels
        place_columns(self._board, columns, other.bits)
        mate = np.full(rows.size, ALONE, dtype=np.int64)
        prices = Prices(self._costs, self._step_cost, other.ranks, one.ranks)
        found = []
        for level, alone in enumerate(self._alone):
            within = rows[: near_other.sizes[level]]
            pairs = int(enlarge(within, self._near, level, self._board, mate))
            room = alone - int(self._costs[self._below[level] - 1])
            proved = self._is_cheap(within, one.bits, level, mate, prices, room)
            if not proved and not self._prove(within, columns, other.bits, level, mate):
                pairs = self._solve(within, columns, level)
            found.append(pairs)
        return found

    def _is_cheap(
        self, rows: Indices, bits: UInt64s, level: int, mate: Int64s, prices: Prices, room: int
    ) -> bool:
        """Tell whether the matching is cheap enough without prices, once it was made cheaper if need be."""
        for left in range(_EXCHANGES, -1, -1):
            if plain_excess(rows, mate, prices) <= room:
                return True
            if part_excess(rows, bits, mate, self._near, level, self._board, prices) <= room:
                return True
            if left > 0:
                below = int(self._below[level])
                exchange(rows, self._near, level, below, self._board, mate, self._costs, self._number_of)
        return False

    def _prove(self, rows: Indices, columns: Indices, bits: UInt64s, level: int, mate: Int64s) -> bool:
        """Make the matching anew with bids; tell whether the prices prove that the last pair is worth it."""
        board, alone = self._board, self._alone[level]
        place_columns(board, columns, bits)
        mate[:] = ALONE
        bid(rows, columns, self._near, level, board, mate, self._costs, alone // _RESERVE)
        enlarge(rows, self._near, level, board, mate)
        return bool(excess_cost(rows, columns, self._near, level, board, mate, self._costs) <= alone)

    def _solve(self, rows: Indices, columns: Indices, level: int) -> int:
        numbered = number_cells(self._grid.size, columns)
        links = link_numbered(rows, numbered, self._near, level, self._steps, self._costs)
        # Staying alone costs ½ more, so that the larger of two matchings of equal cost wins.
        alone = np.full(rows.size, 2 * self._alone[level] + 1, dtype=np.int64)
        state = solve(links, alone, np.zeros(columns.size, dtype=np.int64), 2)
        return int(np.count_nonzero(state.rows.mate >= 0))
