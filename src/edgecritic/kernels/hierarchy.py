"""Segments of a hierarchy of contours on a grid of twice the size, and how they join as a threshold rises.

The hierarchy has 2·rows + 1 by 2·columns + 1 cells: pixel (r, c) is cell (2r + 1, 2c + 1), the cells between
are contours. Where all pixels are on, every other cell that is on touches pixels, and any two cells that
touch, diagonally or not, share one. So components of cells are components of pixels that contour cells join:
a cell on a side two pixels, a cell on a corner four, or two at the frame.
"""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import inlined, kernel
from edgecritic.kernels.arrays import Float64s, Int32s, Int64s

__all__ = ["find_leaves", "join", "number_rows"]


@inlined
def root_of(parent: Int32s, node: int) -> int:
    """Return the root of a node, and shorten the way to it."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@inlined
def unite(parent: Int32s, first: int, second: int) -> bool:
    """Join the trees of two nodes under the smaller root; tell whether they were two."""
    one = root_of(parent, first)
    other = root_of(parent, second)
    if one == other:
        return False
    if one < other:
        parent[other] = one
    else:
        parent[one] = other
    return True


@inlined
def level_of(value: float, thresholds: Float64s) -> int:
    """Return the place of the first threshold ≥ value; the number of thresholds if there is none."""
    low = 0
    high = thresholds.size
    while low < high:
        middle = (low + high) >> 1
        if thresholds[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def touched(r: int, c: int, rows: int, columns: int) -> tuple[int, int, int]:
    """Return the first pixel that a cell touches, and the steps to the others on its right and below."""
    top = max((r - 1) >> 1, 0)
    left = max((c - 1) >> 1, 0)
    below = min(r >> 1, rows - 1) - top
    right = min(c >> 1, columns - 1) - left
    return top * columns + left, right, below * columns


@kernel
def find_leaves(hierarchy: Float64s, thresholds: Float64s) -> tuple[Int32s, int, Int32s, Int32s, Int64s]:
    """Find the segments at the lowest threshold, and which of them touch at each of the others.

    Returns
    -------
    leaf : (rows · columns,)
        The segment of every pixel, numbered in raster order.
    leaves : int
    first, second : (joins,)
        Leaves that contour cells join, by level.
    bounds : (thresholds + 1,)
        The joins of threshold k are at ``bounds[k] : bounds[k + 1]``; there are none of the lowest.
    """
    rows = hierarchy.shape[0] // 2
    columns = hierarchy.shape[1] // 2
    levels = thresholds.size
    lowest = thresholds[0]
    parent = np.empty(rows * columns, dtype=np.int32)
    for pixel in range(parent.size):
        parent[pixel] = pixel
    counts = np.zeros(levels + 2, dtype=np.int64)
    for r in range(2 * rows + 1):
        for c in range(0, 2 * columns + 1, 1 + (r & 1)):
            value = hierarchy[r, c]
            here, right, down = touched(r, c, rows, columns)
            if value > lowest:
                level = level_of(value, thresholds)
                counts[level + 1] += 3 if right and down else 1
            else:
                unite(parent, here, here + right + down)
                if right and down:
                    unite(parent, here, here + right)
                    unite(parent, here, here + down)
    leaf = np.empty(rows * columns, dtype=np.int32)
    leaves = 0
    for pixel in range(leaf.size):
        root = root_of(parent, pixel)
        if root == pixel:
            leaf[pixel] = leaves
            leaves += 1
        else:
            leaf[pixel] = leaf[root]
    bounds = counts[: levels + 1].copy()
    for level in range(levels):
        bounds[level + 1] += bounds[level]
    first = np.empty(bounds[levels], dtype=np.int32)
    second = np.empty(bounds[levels], dtype=np.int32)
    place = bounds.copy()
    for r in range(2 * rows + 1):
        for c in range(0, 2 * columns + 1, 1 + (r & 1)):
            value = hierarchy[r, c]
            if value > lowest:
                level = level_of(value, thresholds)
                if level < levels:
                    here, right, down = touched(r, c, rows, columns)
                    at = place[level]
                    first[at] = leaf[here]
                    second[at] = leaf[here + right + down]
                    at += 1
                    if right and down:
                        first[at] = leaf[here]
                        second[at] = leaf[here + right]
                        first[at + 1] = leaf[here]
                        second[at + 1] = leaf[here + down]
                        at += 2
                    place[level] = at
    return leaf, leaves, first, second, bounds


@kernel
def join(parent: Int32s, first: Int32s, second: Int32s) -> int:
    """Join pairs of nodes; return how many trees there are less."""
    joined = 0
    for at in range(first.size):
        if unite(parent, first[at], second[at]):
            joined += 1
    return joined


@kernel
def number_rows(parent: Int32s, row: Int64s, target: Int64s) -> int:
    """Number the trees of all nodes from 0 on; return how many there are.

    `row`, the old number of every node, becomes the new one; `target` tells the new number of every old one.
    """
    rows = 0
    for node in range(parent.size):
        root = root_of(parent, node)
        old = row[node]
        if root == node:
            row[node] = rows
            rows += 1
        else:
            row[node] = row[root]
        target[old] = row[node]
    return rows
