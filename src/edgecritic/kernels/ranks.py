"""How near the nearest pixel of a map is, counted in offsets, and how many bits two maps share."""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Int64s, UInt16s, UInt32s, UInt64s
from edgecritic.kernels.windows import count_bits

__all__ = ["Ranks", "by_rank", "near_pixels", "nearest_ranks", "shared_bits"]

Ranks = UInt16s | UInt32s
"""Narrow where they can be: as many as the grid has cells are kept of every map."""


@kernel
def nearest_ranks(cells: int, pixels: Int64s, steps: Int64s, ranks: Ranks) -> Ranks:
    """Return for every cell of a grid the rank of its distance from the nearest pixel.

    `steps` are flat offsets sorted by length and `ranks` the numbers of the first offsets of equal length.
    Cells that no offset reaches have the number of offsets, which the type of `ranks` must hold. The farthest
    are written first: the nearest stay.
    """
    found = np.full(cells, steps.size, dtype=ranks.dtype)
    for step in range(steps.size - 1, -1, -1):
        rank = ranks[step]
        for pixel in pixels:
            found[pixel + steps[step]] = rank
    return found


@kernel
def near_pixels(pixels: Int64s, ranks: Ranks, below: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    """Return the pixels whose rank lies below the last limit, their ranks, and how many lie below each.

    `ranks` are those of all cells.
    """
    last = below.size - 1
    sizes = np.zeros_like(below)
    near, near_ranks = np.empty_like(pixels), np.empty_like(pixels)
    count = 0
    for pixel in pixels:
        rank = np.int64(ranks[pixel])
        if rank < below[last]:
            near[count] = pixel
            near_ranks[count] = rank
            count += 1
            for level in range(below.size):
                sizes[level] += rank < below[level]
    return near[:count], near_ranks[:count], sizes


@kernel
def by_rank(pixels: Int64s, ranks: Int64s, below: int) -> Int64s:
    """Return pixels, whose ranks lie below a limit, in the order of these; of equal rank in their order."""
    place = np.zeros(below + 1, dtype=np.int64)
    for rank in ranks:
        place[rank + 1] += 1
    for rank in range(below):
        place[rank + 1] += place[rank]
    found = np.empty_like(pixels)
    for n in range(pixels.size):
        found[place[ranks[n]]] = pixels[n]
        place[ranks[n]] += 1
    return found


@kernel
def shared_bits(one: UInt64s, two: UInt64s) -> Int64s:
    """Return for every row of two tables of words how many bits are set in both."""
    counts = np.zeros(one.shape[0], dtype=np.int64)
    for row in range(one.shape[0]):
        for word in range(one.shape[1]):
            counts[row] += count_bits(one[row, word] & two[row, word])
    return counts
