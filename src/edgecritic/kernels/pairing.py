"""Greedy pairing inside a window: the Efficient Pairing Strategy and the closest distance match.

Pixels are flat indices of a padded grid (`edgecritic.kernels.grid`). What lies in a cell is one bit, so that
large volumes stay in the cache; what else is known of a missed pixel is kept by its rank in raster order.

While a zone is emptied: `free` holds the detections without a miss, `still` the misses without a detection,
counts[rank] is the number of free detections that an open miss has in this zone, and every open miss with a
positive number is in the rank set of that number and in no other. A zone has less than 2¹⁵ steps.
"""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Bytes, Int16s, Int32s, Int64s, UInt32s

__all__ = ["pair_by_scarcity", "pair_closest"]

_BLOCK = 5
"""Cells are grouped by 2⁵ = 32 to find the rank of a miss from its cell."""

_FAN = 5
"""A word of a rank set holds 2⁵ = 32 bits."""

# 2 is a primitive root of 37, so the remainder tells the powers of two apart.
_BIT_OF_REMAINDER = np.zeros(37, dtype=np.int64)
for _bit in range(32):
    _BIT_OF_REMAINDER[(1 << _bit) % 37] = _bit


def pair_by_scarcity(
    misses: Int64s,
    detections: Int64s,
    size: int,
    steps: Int64s,
    zone_ends: Int64s,
) -> Int64s:
    """Pair misses with detections zone by zone, the miss with the fewest detections left first.

    In each zone the miss with the smallest positive number of free detections is paired with the first
    of them in the order of `steps`, and the numbers are counted anew; ties go to the lowest flat index.

    Every number n of detections has its own set of misses: a tree of 32-bit words over the ranks, in which
    the lowest rank is found, put in or taken out in log₃₂ steps. A pairing changes the numbers of at most
    one zone of misses, so that the work grows like (misses + detections) × window.

    Parameters
    ----------
    misses, detections : (n,) and (m,) int64
        Flat indices in raster order; no cell is in both.
    size : int
        Number of cells of the padded grid.
    steps : (k,) int64
        Flat offsets, zone after zone, without the zero offset.
    zone_ends : (zones,) int64
        The end of each zone in `steps`.

    Returns
    -------
    (n,) int64
        The flat index of each miss's detection, −1 where there is none.
    """
    partner = np.full(misses.size, -1, dtype=np.int64)
    if misses.size == 0 or detections.size == 0 or steps.size == 0:
        return partner
    starts = _tree(misses.size)
    widest = int(np.diff(zone_ends, prepend=0).max())
    _pair_zones(
        misses,
        _bits(size, detections),
        _bits(size, misses),
        np.empty((size >> _BLOCK) + 1, dtype=np.int32),
        steps,
        zone_ends,
        np.zeros((widest + 1) * int(starts[-1]), dtype=np.uint32),
        starts,
        partner,
    )
    return partner


def pair_closest(
    truth: Int64s,
    detections: Int64s,
    size: int,
    steps: Int64s,
    exclusive: bool,
) -> Int64s:
    """Give every truth pixel, in raster order, the first detection in the order of `steps`.

    Parameters
    ----------
    truth, detections : (n,) and (m,) int64
        Flat indices in raster order; a cell may be in both.
    size : int
        Number of cells of the padded grid.
    steps : (k,) int64
        Flat offsets in the order in which they are tried, the zero offset included.
    exclusive : bool
        Whether a detection can be given away only once.

    Returns
    -------
    (n,) int64
        The flat index of each truth pixel's detection, −1 where there is none.
    """
    partner = np.full(truth.size, -1, dtype=np.int64)
    _take_closest(truth, _bits(size, detections), steps, exclusive, partner)
    return partner


def _bits(size: int, cells: Int64s) -> Bytes:
    """Return a set of cells, one bit for each."""
    bits = np.zeros((size >> 3) + 1, dtype=np.uint8)
    _mark(bits, cells)
    return bits


def _tree(ranks: int) -> Int64s:
    """Return where each level of a rank set starts, leaves first, and the size of the whole."""
    starts = [0]
    width = ranks
    while width > 1 or len(starts) == 1:
        width = (width + 31) >> _FAN
        starts.append(starts[-1] + width)
    return np.array(starts, dtype=np.int64)


@kernel
def _mark(bits: Bytes, cells: Int64s) -> None:
    for cell in cells:
        bits[cell >> 3] |= np.uint8(1 << (cell & 7))


@kernel
def _holds(bits: Bytes, cell: int) -> bool:
    return bool((bits[cell >> 3] >> (cell & 7)) & 1)


@kernel
def _drop(bits: Bytes, cell: int) -> None:
    bits[cell >> 3] &= np.uint8(255 - (1 << (cell & 7)))


@kernel
def _take_closest(truth: Int64s, free: Bytes, steps: Int64s, exclusive: bool, partner: Int64s) -> None:
    for rank in range(truth.size):
        for step in steps:
            cell = truth[rank] + step
            if _holds(free, cell):
                partner[rank] = cell
                if exclusive:
                    _drop(free, cell)
                break


@kernel
def _pair_zones(
    misses: Int64s,
    free: Bytes,
    still: Bytes,
    blocks: Int32s,
    steps: Int64s,
    zone_ends: Int64s,
    words: UInt32s,
    starts: Int64s,
    partner: Int64s,
) -> None:
    _index_blocks(misses, blocks)
    counts = np.zeros(misses.size, dtype=np.int16)
    open_ranks = np.empty(misses.size, dtype=np.int32)
    for rank in range(misses.size):
        open_ranks[rank] = rank
    left = misses.size
    begin = 0
    for end in zone_ends:
        zone = steps[begin:end]
        begin = end
        left = _count_zone(misses, free, zone, counts, words, starts, partner, open_ranks, left)
        _empty_zone(misses, free, still, blocks, zone, counts, words, starts, partner)


@kernel
def _index_blocks(misses: Int64s, blocks: Int32s) -> None:
    """Note the first rank of every block that holds a miss."""
    last = -1
    for rank in range(misses.size):
        block = misses[rank] >> _BLOCK
        if block != last:
            blocks[block] = rank
            last = block


@kernel
def _count_zone(
    misses: Int64s,
    free: Bytes,
    zone: Int64s,
    counts: Int16s,
    words: UInt32s,
    starts: Int64s,
    partner: Int64s,
    open_ranks: Int32s,
    left: int,
) -> int:
    """Count the detections of every open miss, put the misses into the sets, and return how many are open."""
    kept = 0
    for i in range(left):
        rank = open_ranks[i]
        if partner[rank] >= 0:
            continue
        open_ranks[kept] = rank
        kept += 1
        miss = misses[rank]
        count = 0
        for step in zone:
            count += _holds(free, miss + step)
        if count > 0:
            counts[rank] = count
            _put_in(words, starts, count, rank)
    return kept


@kernel
def _empty_zone(
    misses: Int64s,
    free: Bytes,
    still: Bytes,
    blocks: Int32s,
    zone: Int64s,
    counts: Int16s,
    words: UInt32s,
    starts: Int64s,
    partner: Int64s,
) -> None:
    """Pair until no open miss has a detection in this zone."""
    most = zone.size
    count = 1
    while count <= most:
        if _is_empty(words, starts, count):
            count += 1
            continue
        rank = _lowest(words, starts, count)
        _take_out(words, starts, count, rank)
        miss = misses[rank]
        found = miss
        for step in zone:
            if _holds(free, miss + step):
                found = miss + step
                break
        partner[rank] = found
        _drop(still, miss)
        _drop(free, found)
        for step in zone:
            if _holds(still, found - step):
                other = _rank_of(misses, blocks, found - step)
                fewer = counts[other] - 1
                counts[other] = fewer
                _take_out(words, starts, fewer + 1, other)
                if fewer > 0:
                    _put_in(words, starts, fewer, other)
                    count = min(count, fewer)


@kernel
def _rank_of(misses: Int64s, blocks: Int32s, cell: int) -> int:
    rank = int(blocks[cell >> _BLOCK])
    while misses[rank] != cell:
        rank += 1
    return rank


@kernel
def _is_empty(words: UInt32s, starts: Int64s, count: int) -> bool:
    return bool(words[(count + 1) * starts[-1] - 1] == 0)


@kernel
def _lowest(words: UInt32s, starts: Int64s, count: int) -> int:
    base = count * starts[-1]
    rank = 0
    for level in range(starts.size - 2, -1, -1):
        word = np.int64(words[base + starts[level] + rank])
        rank = (rank << _FAN) + _BIT_OF_REMAINDER[(word & -word) % 37]
    return rank


@kernel
def _put_in(words: UInt32s, starts: Int64s, count: int, rank: int) -> None:
    base = count * starts[-1]
    for level in range(starts.size - 1):
        place = base + starts[level] + (rank >> _FAN)
        word = np.int64(words[place])
        words[place] = word | (1 << (rank & 31))
        if word != 0:
            break
        rank >>= _FAN


@kernel
def _take_out(words: UInt32s, starts: Int64s, count: int, rank: int) -> None:
    base = count * starts[-1]
    for level in range(starts.size - 1):
        place = base + starts[level] + (rank >> _FAN)
        word = np.int64(words[place]) & ~(1 << (rank & 31))
        words[place] = word
        if word != 0:
            break
        rank >>= _FAN
