"""The graph of all pairs within reach, with the integer costs that the assignment strategies minimise."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.assignment.pair import Pair
from edgecritic.assignment.reach import reach_of
from edgecritic.errors import InputError
from edgecritic.kernels.grid import Grid, Neighbourhood

__all__ = ["Graph", "build_graph", "near_pairs", "outlier_cost"]


class Graph(NamedTuple):
    """Which candidate pixels reach which truth pixels.

    Attributes
    ----------
    candidates, truths : (n,) and (m,) int64
        Raster indices of the pixels that reach at least one pixel of the other map.
    rows, columns : (edges,) int64
        Ends of every edge, as places in `candidates` and `truths`.
    costs : (edges,) int64
        round(100 · distance / smallest spacing).
    outlier_cost : int
        The price of a candidate pixel that stays alone.
    hits : (k,) int64
        Raster indices of the pixels that were matched with themselves beforehand.
    """

    candidates: NDArray[np.int64]
    truths: NDArray[np.int64]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    costs: NDArray[np.int64]
    outlier_cost: int
    hits: NDArray[np.int64]

    def pixels(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the raster indices of matched places in the graph, after those of the hits."""
        return (
            np.concatenate([self.hits, self.candidates[rows]]),
            np.concatenate([self.hits, self.truths[columns]]),
        )


def outlier_cost(limit: float, spacing: tuple[float, ...]) -> int:
    """Return ceil(10⁴ · limit / smallest spacing), at least 1 so that an exact hit is always worth it.

    Examples
    --------
    >>> outlier_cost(2.5, (1.0, 1.0))
    25000
    """
    return max(1, math.ceil(10_000 * limit / min(spacing)))


def build_graph(pair: Pair, *, window: Any = None, remove_hits: Any = False) -> Graph:
    """Link every candidate pixel with the truth pixels within its tolerance or window.

    With `remove_hits` the pixels set in both maps are matched beforehand and take no part.

    Examples
    --------
    >>> import numpy as np
    >>> candidate, truth = np.array([[0, 1, 0, 0]], bool), np.array([[1, 0, 1, 1]], bool)
    >>> graph = build_graph(Pair(candidate, truth, (1.0, 1.0), 1.0))
    >>> graph.candidates[graph.rows].tolist(), graph.truths[graph.columns].tolist(), graph.costs.tolist()
    ([1, 1], [0, 2], [100, 100])
    """
    if not isinstance(remove_hits, bool):
        raise InputError(f"remove_hits must be True or False, got {remove_hits!r}")
    hood, limit = reach_of(pair, window)
    candidate, truth = pair.candidate, pair.truth
    hits = np.zeros(0, dtype=np.int64)
    if remove_hits:
        both = candidate & truth
        hits = np.flatnonzero(both)
        candidate, truth = candidate & ~both, truth & ~both
    found, wanted = np.flatnonzero(candidate), np.flatnonzero(truth)
    grid = Grid.around(candidate.shape, hood.radii)
    rows, columns, costs = near_pairs(grid, hood, grid.flatten(found), grid.flatten(wanted))
    kept_rows, rows = np.unique(rows, return_inverse=True)
    kept_columns, columns = np.unique(columns, return_inverse=True)
    return Graph(
        found[kept_rows], wanted[kept_columns], rows, columns, costs, outlier_cost(limit, pair.spacing), hits
    )


def near_pairs(
    grid: Grid, hood: Neighbourhood, rows: NDArray[np.int64], columns: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return both ends, as places among `rows` and `columns`, and the cost of every pair within reach.

    Rows and columns are flat indices of the grid. Pairs come in the order of the offsets, then of the rows.
    """
    column_at = np.full(grid.size, -1, dtype=np.int32)
    column_at[columns] = np.arange(columns.size, dtype=np.int32)
    firsts, seconds, costs = [], [], []
    for step, cost in zip(grid.flat_offsets(hood.offsets), hood.costs, strict=True):
        there = column_at[rows + step]
        row = np.flatnonzero(there >= 0)
        firsts.append(row)
        seconds.append(there[row].astype(np.int64))
        costs.append(np.full(row.size, cost, dtype=np.int64))
    return np.concatenate(firsts), np.concatenate(seconds), np.concatenate(costs)
