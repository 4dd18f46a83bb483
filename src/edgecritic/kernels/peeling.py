"""Thinning of a whole map by the two-subiteration rule of Guo and Hall, on 64 pixels at once.

A row of the grid is a row of words, a bit for every cell from the lowest bit on. The margin of the grid,
which is never set, keeps the ends of rows apart: beside the last word of a row may lie that of the next.
"""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import inlined, kernel
from edgecritic.kernels.arrays import Bytes, Int32s, UInt64s
from edgecritic.kernels.grid import Grid
from edgecritic.kernels.windows import lowest_bit, rest_of

__all__ = ["NEVER", "empty_rows", "first_cell", "flip_cell", "peel", "removable", "thin_pixels"]

NEVER = 2**30
"""The removal time of a pixel that thinning keeps."""

_ONE = np.uint64(1)
_LAST = np.uint64(63)


def empty_rows(grid: Grid) -> UInt64s:
    """Return the words of a grid, and one more beside the last."""
    return np.zeros(grid.padded[0] * ((grid.padded[1] + 63) >> 6) + 1, dtype=np.uint64)


@inlined
def flip_cell(bits: UInt64s, cell: int | np.int64, row: int | np.int64) -> None:
    """Turn the bit of a cell."""
    line = cell // row
    column = cell - line * row
    bits[line * ((row + 63) >> 6) + (column >> 6)] ^= _ONE << np.uint64(column & 63)


@inlined
def _at_least_two(a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64) -> np.uint64:
    return (a & b) | (c & d) | ((a | b) & (c | d))


@inlined
def removable(
    north_west: np.uint64,
    north: np.uint64,
    north_east: np.uint64,
    west: np.uint64,
    here: np.uint64,
    east: np.uint64,
    south_west: np.uint64,
    south: np.uint64,
    south_east: np.uint64,
    second: bool,
) -> np.uint64:
    """Return which pixels of a word a sub-iteration deletes, by the rules of `deletion_table`.

    Given are the word and those around it.
    """
    x1 = here >> _ONE | east << _LAST
    x2 = north >> _ONE | north_east << _LAST
    x3 = north
    x4 = north << _ONE | north_west >> _LAST
    x5 = here << _ONE | west >> _LAST
    x6 = south << _ONE | south_west >> _LAST
    x7 = south
    x8 = south >> _ONE | south_east << _LAST
    c1, c2, c3, c4 = ~x1 & (x2 | x3), ~x3 & (x4 | x5), ~x5 & (x6 | x7), ~x7 & (x8 | x1)
    once = (c1 ^ c2 ^ c3 ^ c4) & ~(c1 & c2 | c3 & c4)
    a1, a2, a3, a4 = x1 | x2, x3 | x4, x5 | x6, x7 | x8
    b1, b2, b3, b4 = x2 | x3, x4 | x5, x6 | x7, x8 | x1
    enough = _at_least_two(a1, a2, a3, a4) & _at_least_two(b1, b2, b3, b4)
    all_round = a1 & a2 & a3 & a4 & b1 & b2 & b3 & b4
    kept = x5 & (x6 | x7 | ~x4) if second else x1 & (x2 | x3 | ~x8)
    return np.uint64(here & once & enough & ~all_round & ~kept)


@inlined
def _removable_at(bits: UInt64s, word: int | np.int64, width: int | np.int64, second: bool) -> np.uint64:
    """Return which pixels of the word of this number a sub-iteration deletes."""
    above, below = word - width, word + width
    return removable(
        bits[above - 1],
        bits[above],
        bits[above + 1],
        bits[word - 1],
        bits[word],
        bits[word + 1],
        bits[below - 1],
        bits[below],
        bits[below + 1],
        second,
    )


@inlined
def first_cell(word: int | np.int64, row: int | np.int64) -> int | np.int64:
    """Return the cell of a word's lowest bit."""
    width = (row + 63) >> 6
    line = word // width
    return line * row + 64 * (word - line * width)


@kernel
def peel(bits: UInt64s, times: Int32s, row: int, timed: bool) -> None:
    """Thin the map of `bits` until nothing changes; fill in the removal times of what is deleted if `timed`.

    After each rule has seen every word once, it looks only at words beside those that lost pixels since its
    last turn.
    """
    width = (row + 63) >> 6
    last = bits.size - 1 - width
    gone = np.empty(bits.size, dtype=np.uint64)
    seen = np.zeros(bits.size, dtype=np.int32)
    older, newer, found = (
        np.empty(bits.size, dtype=np.int32),
        np.empty(bits.size, dtype=np.int32),
        np.empty(bits.size, dtype=np.int32),
    )
    n_older = n_newer = turn = 0
    while turn < 2 or n_older + n_newer > 0:
        turn += 1
        second = turn & 1 == 0
        size = 0
        if turn <= 2:
            for word in range(width, last):
                if bits[word] != 0:
                    gone[word] = _removable_at(bits, word, width, second)
                    found[size] = word
                    size += int(gone[word] != 0)
        else:
            for at in range(n_older + n_newer):
                centre = older[at] if at < n_older else newer[at - n_older]
                for start in (centre - width - 1, centre - 1, centre + width - 1):
                    for word in range(start, start + 3):
                        if seen[word] != turn and bits[word] != 0:
                            seen[word] = turn
                            gone[word] = _removable_at(bits, word, width, second)
                            found[size] = word
                            size += int(gone[word] != 0)
        for at in range(size):
            left = gone[found[at]]
            bits[found[at]] &= ~left
            if timed:
                first = first_cell(found[at], row)
                while left != 0:
                    times[first + lowest_bit(left)] = turn
                    left = rest_of(left)
        older, newer, found = newer, found, older
        n_older, n_newer = n_newer, size


@kernel
def thin_pixels(on: Bytes, bits: UInt64s, row: int) -> Int32s:
    """Return the removal time of every cell of the flat map `on`, whose rows have length `row`.

    `bits` must be empty (`empty_rows`) and is used up.
    """
    times = np.zeros(on.size, dtype=np.int32)
    for cell in range(on.size):
        if on[cell]:
            times[cell] = NEVER
            flip_cell(bits, cell, row)
    peel(bits, times, row, True)
    return times
