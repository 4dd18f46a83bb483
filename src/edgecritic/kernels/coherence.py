"""What neighbouring pixels say about a match: windows along a map, misfit of fragments, medians."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Bools, Float64s, Int32s, Int64s
from edgecritic.kernels.links import Links

__all__ = ["Edge", "kept_links", "medians", "raise_misfit", "splat"]


class Edge(NamedTuple):
    """The pixels of one map on a grid.

    Attributes
    ----------
    flat : (n,) int64
        Their flat positions.
    number_at : (cells,) int32
        The number of the pixel in each cell, −1 where there is none.
    around : int64
        Flat steps to the direct and diagonal neighbours.
    """

    flat: Int64s
    number_at: Int32s
    around: Int64s


@kernel
def splat(cells: int, pixels: Int64s, steps: Int64s, lengths: Int64s, far: int) -> Int64s:
    """Return for every cell the length of the shortest of the `steps`, sorted by length, from a pixel to it.

    Cells that no step reaches have `far`. The longest are written first, so that the shortest stay.
    """
    found = np.full(cells, far, dtype=np.int64)
    for step in range(steps.size - 1, -1, -1):
        for pixel in pixels:
            found[pixel + steps[step]] = lengths[step]
    return found


@kernel
def _window(edge: Edge, root: int, reach: int, stamp: Int32s, queue: Int32s, depth: Int32s) -> int:
    """Put the pixels within `reach` steps of `root` along the map into `queue`; return their number."""
    queue[0] = root
    depth[0] = 0
    stamp[root] = root
    count = 1
    at = 0
    while at < count:
        if depth[at] < reach:
            here = edge.flat[queue[at]]
            for step in edge.around:
                other = edge.number_at[here + step]
                if other >= 0 and stamp[other] != root:
                    stamp[other] = root
                    queue[count] = other
                    depth[count] = depth[at] + 1
                    count += 1
        at += 1
    return count


@kernel
def raise_misfit(
    edge: Edge, start: Int64s, link: Int64s, step: Int64s, distance: Int64s, reach: int, misfit: Float64s
) -> None:
    """Raise the misfit of links to the mean distance of a fragment laid onto the other map.

    Pixel n has the links link[start[n]] … link[start[n + 1] − 1]. For link l the pixels around n, moved by
    step[l], are looked up in `distance`, whole numbers so that no order of summing matters.
    """
    stamp = np.full(edge.flat.size, -1, dtype=np.int32)
    queue, depth = np.empty_like(stamp), np.empty_like(stamp)
    for pixel in range(edge.flat.size):
        if start[pixel] == start[pixel + 1]:
            continue
        count = _window(edge, pixel, reach, stamp, queue, depth)
        for at in range(start[pixel], start[pixel + 1]):
            total = np.int64(0)
            for member in range(count):
                total += distance[edge.flat[queue[member]] + step[link[at]]]
            misfit[link[at]] = max(misfit[link[at]], total / count)


@kernel
def medians(edge: Edge, matched: Bools, offsets: Int64s, reach: int) -> Int64s:
    """Return twice the component-wise median of the offsets of matched pixels around every pixel.

    Where nothing around is matched the offset is 0. Of an even number the two middle ones are added.
    """
    found = np.zeros_like(offsets)
    stamp = np.full(edge.flat.size, -1, dtype=np.int32)
    queue, depth = np.empty_like(stamp), np.empty_like(stamp)
    values = np.empty(edge.flat.size, dtype=np.int64)
    for pixel in range(edge.flat.size):
        count = _window(edge, pixel, reach, stamp, queue, depth)
        for axis in range(offsets.shape[1]):
            size = 0
            for member in range(count):
                if matched[queue[member]]:
                    value = offsets[queue[member], axis]
                    hole = size
                    while hole > 0 and values[hole - 1] > value:
                        values[hole] = values[hole - 1]
                        hole -= 1
                    values[hole] = value
                    size += 1
            if size > 0:
                found[pixel, axis] = values[(size - 1) // 2] + values[size // 2]
    return found


@kernel
def kept_links(start: Int64s, other: Int32s, cost: Int64s, keep: Bools) -> Links:
    """Return the links to keep with their costs, the cheapest of every row first."""
    kept_start = np.empty_like(start)
    kept_other = np.empty_like(other)
    kept_cost = np.empty(other.size, dtype=np.int32)
    size = 0
    for row in range(start.size - 1):
        kept_start[row] = size
        for link in range(start[row], start[row + 1]):
            if keep[link]:
                hole = size
                while hole > kept_start[row] and kept_cost[hole - 1] > cost[link]:
                    kept_other[hole] = kept_other[hole - 1]
                    kept_cost[hole] = kept_cost[hole - 1]
                    hole -= 1
                kept_other[hole] = other[link]
                kept_cost[hole] = cost[link]
                size += 1
    kept_start[start.size - 1] = size
    return Links(kept_start, kept_other[:size], kept_cost[:size])
