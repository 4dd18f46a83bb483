"""The Hungarian assignment: a slow truth for the quick strategies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edgecritic.assignment.graph import Graph, build_graph
from edgecritic.errors import InputError
from edgecritic.matching.base import Matching, Pair, strategy

__all__ = ["hungarian"]

MOST_BYTES = 1 << 30
"""Largest cost matrix of one connected group of pixels."""


@strategy(
    "hungarian",
    one_to_one=True,
    reach="either",
    reference="Kuhn 1955; with ghost pixels: Liu & Haralick 2002, Pattern Recognition 35(10)",
)
def hungarian(pair: Pair, *, window: int | None = None, remove_hits: bool = False) -> Matching:
    """Assign optimally with dense cost matrices, one per connected group of pixels.

    Minimises Σ round(100·distance) + ow·(unmatched candidate pixels) with ow = ceil(10⁴·tolerance), all in
    units of the smallest pixel side: as many pairs as possible, then the shortest ones, as ``exact`` does. Of
    two optima the one with more pairs is taken (the half cost unit that decides it cannot change the total).
    The unmatched pixels are those that Liu and Haralick pair with ghost pixels, and a pair beyond the
    tolerance is their artificially long one: the assignment becomes one of two equally large sets.

    Parameters
    ----------
    pair : Pair
        The maps and the tolerance.
    window : int, optional
        Side of a square or cubic window in pixels, odd, in place of the tolerance; the tolerance in the
        price ow is then the length of its longest offset.
    remove_hits : bool
        Whether pixels set in both maps are matched with themselves beforehand, as in comparisons with
        ``eps``.

    Returns
    -------
    Matching

    Raises
    ------
    InputError
        If a connected group of pixels needs a cost matrix of more than 1 GiB.

    References
    ----------
    H. W. Kuhn: The Hungarian method for the assignment problem, Naval Research Logistics Quarterly 2, 1955.
    G. Liu, R. M. Haralick: Optimal matching problem in detection and recognition performance evaluation,
    Pattern Recognition 35 (10), 2002.

    Examples
    --------
    >>> from edgecritic import match
    >>> found = match([[0, 1, 0, 1, 0]], [[1, 0, 1, 0, 0]], strategy="hungarian", tolerance=1)
    >>> found.tp, found.mean_distance
    (2, 1.0)
    """
    graph = build_graph(pair, window=window, remove_hits=remove_hits)
    return Matching.from_pairs(pair, *graph.pixels(*_assign(graph)))


def _assign(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    group = _groups(graph)
    order = np.argsort(group, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(group[order])) + 1, order.size)
    rows, columns = [], []
    begin = 0
    for end in ends:
        edges = order[begin:end]
        begin = end
        row, column = _assign_group(
            graph.rows[edges], graph.columns[edges], 2 * (graph.costs[edges] - graph.outlier_cost) - 1
        )
        rows.append(row)
        columns.append(column)
    return np.concatenate(rows), np.concatenate(columns)


def _groups(graph: Graph) -> NDArray[np.int32]:
    """Return for every edge the connected group to which it belongs."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n, m = graph.candidates.size, graph.truths.size
    links = coo_matrix(
        (np.ones(graph.rows.size, bool), (graph.rows, n + graph.columns)), shape=(n + m, n + m)
    )
    labels: NDArray[np.int32] = connected_components(links, directed=False)[1]
    return labels[graph.rows]


def _assign_group(
    rows: NDArray[np.int64], columns: NDArray[np.int64], gains: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the edges of least total; gains are < 0, and no edge means 0: the pixel stays alone."""
    from scipy.optimize import linear_sum_assignment

    if rows.size == 1:
        return rows, columns
    row_names, row = np.unique(rows, return_inverse=True)
    column_names, column = np.unique(columns, return_inverse=True)
    _check_size(row_names.size, column_names.size)
    matrix = np.zeros((row_names.size, column_names.size))
    linked = np.zeros(matrix.shape, dtype=np.bool_)
    matrix[row, column] = gains
    linked[row, column] = True
    first, second = linear_sum_assignment(matrix)
    real = linked[first, second]
    return row_names[first[real]], column_names[second[real]]


def _check_size(rows: int, columns: int) -> None:
    if 8 * rows * columns > MOST_BYTES:
        raise InputError(
            f"hungarian would need {rows} × {columns} costs ({8 * rows * columns / 2**30:.1f} GiB) "
            "for one connected group of pixels, and the limit is 1 GiB",
            remedy="use the strategy exact, which has the same optimum, or a smaller tolerance",
        )
