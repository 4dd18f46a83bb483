"""The best of many line patterns at every edge pixel, by counting in parallel on the bits of words."""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Bools, Float64s, Int64s, UInt64s

__all__ = ["likeness_steps", "widest_gap"]


@kernel
def _best_overlap(cover: UInt64s, near: Int64s, count: int) -> int:
    """Return the largest number of the window's pixels `near` that one pattern contains.

    Every pattern is one bit of a row of machine words; ``cover[o]`` says which patterns contain the window's
    pixel `o`. Adding these rows, with one word of sums per binary digit (carries ripple upwards), counts the
    overlap with all patterns of a word at once. An overlap has no more than four digits.
    """
    best = 0
    for word in range(cover.shape[1]):
        ones = twos = fours = eights = np.uint64(0)
        for at in range(count):
            carry = cover[near[at], word]
            rest = ones & carry
            ones ^= carry
            carry = twos & rest
            twos ^= rest
            rest = fours & carry
            fours ^= carry
            eights |= rest
        alive = ~np.uint64(0)
        most = 0
        for digit, sums in ((8, eights), (4, fours), (2, twos), (1, ones)):
            if alive & sums != np.uint64(0):
                alive &= sums
                most += digit
        best = max(best, most)
    return best


@kernel
def likeness_steps(
    judged: Bools,
    gained_start: Int64s,
    gained: Int64s,
    lost_start: Int64s,
    lost: Int64s,
    offsets: Int64s,
    cover: UInt64s,
    side: int,
) -> tuple[Float64s, Int64s]:
    """Sum over the pixels of a map that changes the best cosine between the window and a line pattern.

    Only windows in which a pixel came or went are looked at anew; sums are made in the order of the cells, so
    that they do not depend on the steps that led to a map.

    Parameters
    ----------
    judged : flat bool array of the cells of the grid
        Whose pixels are summed; the margin of the grid is as wide as half a window.
    gained_start, gained, lost_start, lost
        Step k brings the cells ``gained[gained_start[k] : gained_start[k + 1]]`` and takes others away.
    offsets : step in flat index to every pixel of the window
    cover : (len(offsets), words) uint64
        See `_best_overlap`.
    side : side of the window, which is also the number of pixels of a pattern: at most 15

    Returns
    -------
    sums, counts
        After every step the sum and the number of pixels.
    """
    steps = gained_start.size - 1
    sums = np.zeros(steps, dtype=np.float64)
    counts = np.zeros(steps, dtype=np.int64)
    on = np.zeros(judged.size, dtype=np.bool_)
    value = np.zeros(judged.size, dtype=np.float64)
    seen = np.full(judged.size, -1, dtype=np.int64)
    near = np.empty(offsets.size + 1, dtype=np.int64)
    for step in range(steps):
        for at in range(lost_start[step], lost_start[step + 1]):
            on[lost[at]] = False
        for at in range(gained_start[step], gained_start[step + 1]):
            on[gained[at]] = True
        for cells, first, last in (
            (lost, lost_start[step], lost_start[step + 1]),
            (gained, gained_start[step], gained_start[step + 1]),
        ):
            for at in range(first, last):
                for o in range(offsets.size):
                    cell = cells[at] + offsets[o]
                    if on[cell] and judged[cell] and seen[cell] != step:
                        seen[cell] = step
                        inside = 0
                        for k in range(offsets.size):
                            near[inside] = k
                            inside += on[cell + offsets[k]]
                        value[cell] = _best_overlap(cover, near, inside) / np.sqrt(side * inside)
        for cell in range(on.size):
            if on[cell] and judged[cell]:
                sums[step] += value[cell]
                counts[step] += 1
    return sums, counts


@kernel
def widest_gap(
    plane: Bools,
    before: Int64s,
    count: int,
    low_rows: Float64s,
    high_rows: Float64s,
    low_columns: Float64s,
    high_columns: Float64s,
) -> float:
    """Return how far the share of pixels before a corner is from the product of its coordinates, at most.

    `plane` adds to the pixels before each corner, `before`, which is (rows + 1, columns + 1) and holds those
    of earlier planes. In a cell the share is constant, and the product runs from low to high.
    """
    rows, columns = plane.shape
    line = np.zeros(columns + 1, dtype=np.int64)
    gap = -1.0
    for i in range(rows + 1):
        if i > 0:
            running = 0
            for j in range(columns):
                running += plane[i - 1, j]
                line[j + 1] += running
        low, high = low_rows[i], high_rows[i]
        for j in range(columns + 1):
            before[i, j] += line[j]
            share = before[i, j] / count
            gap = max(gap, share - low * low_columns[j], high * high_columns[j] - share)
    return gap
