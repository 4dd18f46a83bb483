"""The cells around a pixel as runs of bits: which of up to 64 cells are set is one word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from edgecritic.kernels._jit import inlined, instruction
from edgecritic.kernels.arrays import Bools, Int64s, UInt64s
from edgecritic.kernels.grid import Grid, Neighbourhood

__all__ = [
    *("Windows", "bits_of", "count_bits", "is_set", "lowest_bit", "nearest_set", "rest_of", "take_around"),
    *("toggle", "window", "windows_of"),
]

_WIDTH = 64
_ONE = np.uint64(1)
_LAST = np.uint64(63)


class Windows(NamedTuple):
    """A neighbourhood cut along the last axis into runs of up to 64 cells, those with the nearest cell first.

    Offsets have the numbers of the neighbourhood, the nearest first. There are several levels, each of
    which has the offsets whose number lies below a limit.

    Attributes
    ----------
    step : (runs,) int64
        From a pixel to the first cell of the run, on the flat grid.
    number : (runs, 64) int64
        Of the offset to each cell.
    least : (runs,) int64
        The least number of a run.
    mask : (levels, runs) uint64
        A bit for every cell that a level has.
    used : (levels,) int64
        How many of the runs a level has cells in; the others come after these.
    """

    step: Int64s
    number: Int64s
    least: Int64s
    mask: UInt64s
    used: Int64s


def windows_of(grid: Grid, around: Neighbourhood, below: Sequence[int]) -> Windows:
    """Cut a neighbourhood for a grid with such a margin at least; `below` are the limits of the levels."""
    last = around.offsets[:, -1] + around.radii[-1]
    origin = grid.flat_offsets(around.offsets) - last % _WIDTH
    step, first, run = np.unique(origin, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    row, bit = place[run.reshape(-1)], last % _WIDTH
    number = np.zeros((order.size, _WIDTH), dtype=np.int64)
    number[row, bit] = np.arange(last.size)
    mask = np.zeros((len(below), order.size), dtype=np.uint64)
    for level, limit in enumerate(below):
        np.bitwise_or.at(mask[level], row[:limit], _ONE << bit[:limit].astype(np.uint64))
    used = [np.count_nonzero(first < limit) for limit in below]
    return Windows(step[order], number, first[order], mask, np.array(used, dtype=np.int64))


def bits_of(cells: Bools) -> UInt64s:
    """Return the cells of a grid as bits, with room for a window at the last cell."""
    words = np.zeros(cells.size // _WIDTH + 2, dtype="<u8")
    packed = np.packbits(cells, bitorder="little")
    words.view(np.uint8)[: packed.size] = packed
    return words.astype(np.uint64, copy=False)


@inlined
def toggle(bits: UInt64s, cell: int | np.int64) -> None:
    """Set the bit of a cell that is not set, or clear it."""
    bits[cell >> 6] ^= _ONE << np.uint64(cell & 63)


@inlined
def is_set(bits: UInt64s, cell: int | np.int64) -> bool:
    """Tell whether the bit of a cell is set."""
    return bool((bits[cell >> 6] >> np.uint64(cell & 63)) & _ONE)


@inlined
def window(bits: UInt64s, first: int | np.int64) -> np.uint64:
    """Return the 64 bits from the cell `first` on."""
    shift = np.uint64(first & 63)
    word = np.uint64(first >> 6)
    return np.uint64((bits[word] >> shift) | ((bits[word + _ONE] << _ONE) << (_LAST - shift)))


@instruction("cttz")
def lowest_bit(word: np.uint64) -> np.int64:
    """Return the place of the lowest bit of a word that is not 0."""
    return np.int64(int(word ^ rest_of(word)).bit_length() - 1)


@inlined
def rest_of(word: np.uint64) -> np.uint64:
    """Return a word that is not 0 without its lowest bit."""
    return word & (word - _ONE)


@instruction("ctpop")
def count_bits(word: np.uint64) -> np.int64:
    """Return how many bits of a word are set."""
    return np.int64(int(word).bit_count())


@inlined
def nearest_set(
    bits: UInt64s, here: int | np.int64, step: Int64s, number: Int64s, least: Int64s, mask: UInt64s
) -> np.int64:
    """Return the first cell around `here` whose bit is set, or −1; `mask` is that of a level."""
    best = number.size
    found = np.int64(-1)
    for run in range(mask.size):
        if least[run] >= best:
            break
        first = here + step[run]
        word = window(bits, first) & mask[run]
        while word != 0:
            place = lowest_bit(word)
            word = rest_of(word)
            if number[run, place] < best:
                best = number[run, place]
                found = first + place
    return found


@inlined
def take_around(
    bits: UInt64s, here: int | np.int64, step: Int64s, mask: UInt64s, cells: Int64s, count: int
) -> int:
    """Clear the bits around `here` and append their cells to `cells`, which are `count`; return how many are.

    `mask` is that of a level.
    """
    for run in range(mask.size):
        first = here + step[run]
        word = window(bits, first) & mask[run]
        while word != 0:
            cell = first + lowest_bit(word)
            word = rest_of(word)
            toggle(bits, cell)
            cells[count] = cell
            count += 1
    return count
