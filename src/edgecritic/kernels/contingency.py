"""Tables of shared pixels: segments against the regions of truths, sparse, and merged row by row.

A table has a row per segment and a column per region of any truth. It is three arrays: the entries of row
u are at ``starts[u] : starts[u + 1]`` of `columns` and `shared`, each column once, in no particular order.
"""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Float64s, Int32s, Int64s

__all__ = ["count_shared", "merge_rows", "judge_table"]


@kernel
def count_shared(segments: Int32s, rows: int, truths: Int32s, columns: int) -> tuple[Int64s, Int32s, Int32s]:
    """Count the pixels that segments share with regions.

    Parameters
    ----------
    segments : (pixels,)
        The row of every pixel.
    truths : (truths, pixels)
        The column of every pixel in each truth.
    """
    first = np.zeros(rows + 1, dtype=np.int64)
    for pixel in range(segments.size):
        first[segments[pixel] + 1] += 1
    for row in range(rows):
        first[row + 1] += first[row]
    order = np.empty(segments.size, dtype=np.int64)
    place = first.copy()
    for pixel in range(segments.size):
        order[place[segments[pixel]]] = pixel
        place[segments[pixel]] += 1
    found = np.empty(truths.size, dtype=np.int32)
    shared = np.empty(truths.size, dtype=np.int32)
    starts = np.zeros(rows + 1, dtype=np.int64)
    entry = np.zeros(columns, dtype=np.int64)
    size = 0
    for row in range(rows):
        for truth in range(truths.shape[0]):
            begin = size
            for at in range(first[row], first[row + 1]):
                column = truths[truth, order[at]]
                known = entry[column]
                if known < begin or known >= size or found[known] != column:
                    entry[column] = size
                    found[size] = column
                    shared[size] = 1
                    size += 1
                else:
                    shared[known] += 1
        starts[row + 1] = size
    return starts, found[:size].copy(), shared[:size].copy()


@kernel
def merge_rows(
    starts: Int64s, columns: Int32s, shared: Int32s, target: Int64s, rows: int, width: int
) -> tuple[Int64s, Int32s, Int32s]:
    """Return the table of `rows` rows and `width` columns whose row ``target[u]`` takes in row u."""
    old = starts.size - 1
    first = np.full(rows, -1, dtype=np.int64)
    following = np.full(old, -1, dtype=np.int64)
    for row in range(old - 1, -1, -1):
        following[row] = first[target[row]]
        first[target[row]] = row
    found = np.empty(columns.size, dtype=np.int32)
    sums = np.empty(columns.size, dtype=np.int32)
    bounds = np.zeros(rows + 1, dtype=np.int64)
    entry = np.zeros(width, dtype=np.int64)
    size = 0
    for new in range(rows):
        begin = size
        row = first[new]
        while row >= 0:
            for at in range(starts[row], starts[row + 1]):
                column = columns[at]
                known = entry[column]
                if known < begin or known >= size or found[known] != column:
                    entry[column] = size
                    found[size] = column
                    sums[size] = shared[at]
                    size += 1
                else:
                    sums[known] += shared[at]
            row = following[row]
        bounds[new + 1] = size
    return bounds, found[:size].copy(), sums[:size].copy()


@kernel
def judge_table(
    starts: Int64s, columns: Int32s, shared: Int32s, sizes: Int64s, truth_of: Int32s, best: Float64s
) -> tuple[float, float, Int64s, Float64s]:
    """Sum up a table; rows without a pixel do not count.

    Parameters
    ----------
    sizes : (columns,)
        Pixels of every region.
    truth_of : (columns,)
        Number of the truth that a region belongs to, in ascending order.
    best : (columns,)
        Filled with the best |R ∩ S| / |R ∪ S| of every region.

    Returns
    -------
    covered, explained : float
        Σ |R|·best over regions, Σ |S|·best over segments.
    squares : (1 + truths,) int64
        Σ n² of the segments' sizes, then of the entries of every truth.
    logs : (1 + truths,) float64
        Σ n·log2 n of the same.
    """
    truths = truth_of[-1] + 1
    squares = np.zeros(1 + truths, dtype=np.int64)
    logs = np.zeros(1 + truths, dtype=np.float64)
    best[:] = 0
    explained = 0.0
    for row in range(starts.size - 1):
        size = np.int64(0)
        for at in range(starts[row], starts[row + 1]):
            if truth_of[columns[at]] == 0:
                size += shared[at]
        if size == 0:
            continue
        squares[0] += size * size
        logs[0] += size * np.log2(size)
        most = 0.0
        for at in range(starts[row], starts[row + 1]):
            column = columns[at]
            count = np.int64(shared[at])
            truth = 1 + truth_of[column]
            squares[truth] += count * count
            logs[truth] += count * np.log2(count)
            overlap = count / (size + sizes[column] - count)
            best[column] = max(best[column], overlap)
            most = max(most, overlap)
        explained += size * most
    covered = 0.0
    for column in range(sizes.size):
        covered += sizes[column] * best[column]
    return covered, explained, squares, logs
