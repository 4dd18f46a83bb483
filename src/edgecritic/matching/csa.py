"""Cost-scaling assignment of OR-Tools: a peer of ``exact`` with the same optimum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.assignment.graph import Graph, build_graph
from edgecritic.errors import EdgeCriticError, needs_extra
from edgecritic.matching.base import Matching, Pair, strategy

__all__ = ["csa"]


@strategy(
    "csa",
    one_to_one=True,
    reach="either",
    reference="Goldberg & Kennedy 1995; OR-Tools",
)
def csa(pair: Pair, *, window: int | None = None, remove_hits: bool = False) -> Matching:
    """Assign optimally with the cost-scaling solver of OR-Tools, on the sparse graph of pairs within reach.

    Minimises Σ round(100·distance) + ow·(unmatched candidate pixels) with ow = ceil(10⁴·tolerance), all in
    units of the smallest pixel side. The solver wants a perfect assignment. So each candidate pixel i has
    an own dummy truth at cost ow, each truth pixel j an own dummy candidate at cost 0, and for every
    possible pair (i, j) the dummies of i and j can take each other at cost 0. Of two optima the one with more
    pairs is taken (the half cost unit that decides it cannot change the total).

    Parameters
    ----------
    pair : Pair
        The maps and the tolerance.
    window : int, optional
        Side of a square or cubic window in pixels, odd, in place of the tolerance; the tolerance in the
        price ow is then the length of its longest offset.
    remove_hits : bool
        Whether pixels set in both maps are matched with themselves beforehand.

    Returns
    -------
    Matching

    Raises
    ------
    MissingExtraError
        If OR-Tools is not installed.

    References
    ----------
    A. V. Goldberg, R. Kennedy: An efficient cost scaling algorithm for the assignment problem,
    Mathematical Programming 71, 1995.

    Examples
    --------
    >>> from edgecritic import match
    >>> match([[0, 1, 0, 1, 0]], [[1, 0, 1, 0, 0]], strategy="csa", tolerance=1).tp  # doctest: +SKIP
    2
    """
    solver = cost_scaling_solver()
    graph = build_graph(pair, window=window, remove_hits=remove_hits)
    return Matching.from_pairs(pair, *graph.pixels(*assign_by_cost_scaling(graph, solver)))


def cost_scaling_solver() -> Any:
    """Return a new solver of OR-Tools."""
    with needs_extra("the strategy csa", "csa"):
        from ortools.graph.python.linear_sum_assignment import SimpleLinearSumAssignment
    return SimpleLinearSumAssignment()


def assign_by_cost_scaling(graph: Graph, solver: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the matched rows and columns of a graph."""
    n, m = graph.candidates.size, graph.truths.size
    own_row, own_column = np.arange(n), np.arange(m)
    left = np.concatenate([graph.rows, own_row, n + own_column, n + graph.columns])
    right = np.concatenate([graph.columns, m + own_row, own_column, m + graph.rows])
    costs = np.zeros(left.size, dtype=np.int64)
    costs[: graph.rows.size] = 2 * graph.costs
    costs[graph.rows.size : graph.rows.size + n] = 2 * graph.outlier_cost + 1
    solver.add_arcs_with_cost(left.astype(np.int32), right.astype(np.int32), costs)
    status = solver.solve()
    if status != solver.OPTIMAL:
        raise EdgeCriticError(
            f"OR-Tools found no assignment (status {status})", remedy="use the strategy exact"
        )
    mates = np.array([solver.right_mate(row) for row in range(n)], dtype=np.int64)
    matched = np.flatnonzero(mates < m)
    return matched, mates[matched]
