"""Thinning of maps, whole ones and such that grow, by the two-subiteration rule of Guo and Hall.

A flat grid with a margin of at least one pixel, which is never set, is thinned. Neighbours are numbered as in
the paper, anticlockwise from the east: E, NE, N, NW, W, SW, S, SE; bit i of a neighbourhood's code is set if
neighbour i (from 0) is. The code of a pixel that is off is 0, which no sub-iteration deletes.

Whatever the order in which pixels come, `grow` leaves the thin map that `edgecritic.kernels.peeling` finds
at once.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Bytes, Int32s, Int64s, UInt64s
from edgecritic.kernels.grid import Grid
from edgecritic.kernels.peeling import NEVER, first_cell, flip_cell, peel, removable
from edgecritic.kernels.windows import lowest_bit, rest_of

__all__ = ["Growth", "deletion_table", "grow", "neighbour_steps", "new_growth", "slim_rows", "start_growth"]

_THIN, _TOUCHED = 1, 2

_PATIENCE = 6
"""A step goes pixel by pixel as long as it takes less than one judgement for every 6 pixels of the map."""

_WORTH_TIMING = 4
"""A step must be so many times smaller to bring removal times up to date, which takes longest of all."""

_MANY = 8
"""All words are looked at until fewer than one of so many changes; then those beside others that changed."""

_EFFORT = 2
"""The least number of judgements that a new pixel is expected to take."""


@functools.cache
def deletion_table() -> Bytes:
    """Return for every neighbourhood code which sub-iterations delete the pixel.

    Bit 0 stands for the first one, bit 1 for the second. With neighbours x1 … x8 (bit i − 1 of the code
    is xi) a pixel is deleted if

    - G1: exactly one i in 1 … 4 has x(2i−1) = 0 and (x(2i) = 1 or x(2i+1) = 1),
    - G2: 2 ≤ min(n1, n2) ≤ 3, n1 = Σ x(2k−1) or x(2k), n2 = Σ x(2k) or x(2k+1),
    - G3: not (x1 and (x2 or x3 or not x8)) in the first sub-iteration,
      not (x5 and (x6 or x7 or not x4)) in the second one.
    """
    codes = np.arange(256)
    x = [(codes >> (i % 8)) & 1 == 1 for i in range(9)]
    crossings = sum((~x[i] & (x[i + 1] | x[i + 2])).astype(int) for i in (0, 2, 4, 6))
    first = sum((x[i] | x[i + 1]).astype(int) for i in (0, 2, 4, 6))
    second = sum((x[i + 1] | x[i + 2]).astype(int) for i in (0, 2, 4, 6))
    fewest = np.minimum(first, second)
    simple = (crossings == 1) & (fewest >= 2) & (fewest <= 3)
    even = simple & ~((x[1] | x[2] | ~x[7]) & x[0])
    odd = simple & ~((x[5] | x[6] | ~x[3]) & x[4])
    table: Bytes = (even + 2 * odd).astype(np.uint8)
    return table


def neighbour_steps(grid: Grid) -> Int64s:
    """Return the flat steps to the eight neighbours in the order of `deletion_table`."""
    row = grid.strides[0]
    return np.array([1, 1 - row, -row, -row - 1, -1, row - 1, row, row + 1], dtype=np.int64)


class Growth(NamedTuple):
    """The thinning of a map to which pixels are added.

    Sub-iteration s (from 0) makes map B(s + 1) of B(s), and a pixel that is gone stays gone. So all maps of
    the chain are told by one number per pixel: its removal time, the smallest s with the pixel not in
    B(s). It is 0 for a pixel that was never there and `NEVER` for a pixel of the thin map.

    Attributes
    ----------
    times : int32, one per cell of the grid
        Removal times, unless they are out of date; in any case 0 where no pixel is.
    due : int32, one per cell
        The s at which a waiting pixel must be judged again; `NEVER` if it does not wait.
    first : int32
        The first pixel that waits for each s, 0 for none.
    after, before : int32, one per cell
        Doubly linked lists of the pixels that wait for the same s.
    flags : uint8, one per cell
        Bit 0: in the thin map after the last step. Bit 1: listed in `touched`.
    touched : int64, one per cell
        Work space: the pixels whose place in the thin map is in doubt.
    fresh : int64, one per cell
        Work space: the pixels that a step adds.
    bits, slim : uint64
        The map and the thin map, see `edgecritic.kernels.peeling`.
    total : (3,) int64
        The number of pixels of the map; how many judgements a new pixel is expected to take; whether the
        removal times are out of date.
    gained, lost : int64, one per cell
        The first entries are the result of the last step.
    steps, table : arrays
        See `neighbour_steps` and `deletion_table`.
    """

    times: Int32s
    due: Int32s
    first: Int32s
    after: Int32s
    before: Int32s
    flags: Bytes
    touched: Int64s
    fresh: Int64s
    bits: UInt64s
    slim: UInt64s
    total: Int64s
    gained: Int64s
    lost: Int64s
    steps: Int64s
    table: Bytes


def start_growth(grid: Grid) -> Growth:
    """Return the state of an empty map on a 2-D grid whose margin is at least 1."""
    lines, row = grid.padded
    return new_growth(lines, row, neighbour_steps(grid), deletion_table())


@kernel
def new_growth(lines: int, row: int, steps: Int64s, table: Bytes) -> Growth:
    """Make the state of an empty map on a grid of so many lines, each of `row` cells.

    Of every two sub-iterations one removes a pixel or all is done: no removal time exceeds twice the
    number of pixels.
    """
    size = lines * row
    words = lines * ((row + 63) >> 6) + 1
    due = np.empty(size, dtype=np.int32)
    for cell in range(size):
        due[cell] = NEVER
    total = np.zeros(3, dtype=np.int64)
    total[1] = _EFFORT
    return Growth(
        np.zeros(size, dtype=np.int32),
        due,
        np.zeros(2 * size + 2, dtype=np.int32),
        np.empty(size, dtype=np.int32),
        np.empty(size, dtype=np.int32),
        np.zeros(size, dtype=np.uint8),
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.int64),
        np.zeros(words, dtype=np.uint64),
        np.zeros(words, dtype=np.uint64),
        total,
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.int64),
        steps,
        table,
    )


@kernel
def _removal_time(times: Int32s, p: int, start: int, limit: int, steps: Int64s, table: Bytes) -> int:
    """Return when pixel p is removed, given its neighbours' times and that it is in B(start)."""
    s = start
    while s < limit:
        code = 0
        change = NEVER
        for i in range(8):
            time = times[p + steps[i]]
            if time > s:
                code |= 1 << i
                change = min(change, time)
        hit = table[code]
        if hit >> (s & 1) & 1:
            return s + 1
        s = s + 1 if hit else change
    return NEVER


@kernel
def _wait(p: int, s: int, due: Int32s, first: Int32s, after: Int32s, before: Int32s) -> int:
    """Let pixel p wait for s, unless it waits for an earlier one; return how many more wait."""
    if due[p] <= s:
        return 0
    more = 1
    if due[p] < NEVER:
        more = 0
        if before[p]:
            after[before[p]] = after[p]
        else:
            first[due[p]] = after[p]
        if after[p]:
            before[after[p]] = before[p]
    head = first[s]
    if head:
        before[head] = p
    after[p] = head
    before[p] = 0
    first[s] = p
    due[p] = s
    return more


@kernel
def _add(added: Int64s, times: Int32s, fresh: Int64s, bits: UInt64s, row: int) -> int:
    """Put new pixels into the map, at first as pixels that stay; list them, and return how many are new."""
    size = 0
    for p in added:
        if times[p] == 0:
            times[p] = NEVER
            flip_cell(bits, p, row)
            fresh[size] = p
            size += 1
    return size


@kernel
def _strip(bits: UInt64s, gone: UInt64s, width: int, second: bool) -> int:
    """Make one sub-iteration of the whole map; return how many words lost pixels.

    `bits` has one word more before the first. All neighbours are read from arrays that begin with them, which
    lets the processor look at several words at once. `gone` is work space, a word for each that is looked at.
    """
    nw, n, ne = bits, bits[1:], bits[2:]
    w, here, e = bits[width:], bits[width + 1 :], bits[width + 2 :]
    sw, s, se = bits[2 * width :], bits[2 * width + 1 :], bits[2 * width + 2 :]
    changed = 0
    for i in range(gone.size):
        gone[i] = removable(nw[i], n[i], ne[i], w[i], here[i], e[i], sw[i], s[i], se[i], second)
        changed += gone[i] != 0
    for i in range(gone.size):
        here[i] &= ~gone[i]
    return changed


@kernel
def _stripped(bits: UInt64s, row: int) -> UInt64s:
    """Return a copy of the map after the first sub-iterations: an even number, until few words change."""
    width = (row + 63) >> 6
    left = np.zeros(bits.size + 1, dtype=np.uint64)
    gone = np.empty(left.size - 2 * width - 2, dtype=np.uint64)
    for word in range(bits.size):
        left[word + 1] = bits[word]
    while _strip(left, gone, width, False) + _strip(left, gone, width, True) > gone.size // _MANY:
        pass
    return left[1:]


@kernel
def slim_rows(bits: UInt64s, row: int) -> UInt64s:
    """Return the thin map of a map, both as words; see `edgecritic.kernels.peeling`."""
    left = _stripped(bits, row)
    peel(left, np.empty(0, dtype=np.int32), row, False)
    return left


@kernel
def _rethin(times: Int32s, bits: UInt64s, slim: UInt64s, touched: Int64s, row: int, timed: bool) -> int:
    """Thin the map anew, with removal times if `timed`; list what comes or goes; return how many."""
    if timed:
        for p in range(times.size):
            times[p] = NEVER if times[p] > 0 else 0
        left = bits.copy()
        peel(left, times, row, True)
    else:
        left = slim_rows(bits, row)
    n_touched = 0
    for word in range(bits.size):
        differs = left[word] ^ slim[word]
        if differs != 0:
            first = first_cell(word, row)
            while differs != 0:
                touched[n_touched] = first + lowest_bit(differs)
                n_touched += 1
                differs = rest_of(differs)
    return n_touched


@kernel
def _retime(
    fresh: Int64s,
    patience: int,
    times: Int32s,
    due: Int32s,
    first: Int32s,
    after: Int32s,
    before: Int32s,
    flags: Bytes,
    touched: Int64s,
    steps: Int64s,
    table: Bytes,
) -> tuple[int, int]:
    """Correct the removal times after the new pixels `fresh`; return how many pixels come or go.

    Waiting pixels are judged in the order of s: what B(s) holds is then final, and a pixel's time is
    changed when it is found to go, or to stay, at s. Times beyond that are guesses that a later
    change of a neighbour will correct. Gives up, and returns −1, after `patience` judgements. The second
    number returned is that of judgements.
    """
    limit = first.size - 1
    waiting = 0
    n_touched = 0
    spent = 0
    for p in fresh:
        flags[p] = _TOUCHED
        touched[n_touched] = p
        n_touched += 1
        for i in range(9):
            q = p + steps[i] if i < 8 else p
            if times[q] > 0:
                waiting += _wait(q, 0, due, first, after, before)
    s = 0
    while waiting > 0:
        p = first[s]
        if p == 0:
            s += 1
            continue
        first[s] = after[p]
        if after[p]:
            before[after[p]] = 0
        due[p] = NEVER
        waiting -= 1
        if spent == patience:
            continue
        spent += 1
        old = times[p]
        new = _removal_time(times, p, s, limit, steps, table)
        if new == old:
            continue
        since = min(old, new)
        if since > s + 1:
            waiting += _wait(p, since - 1, due, first, after, before)
            continue
        times[p] = new
        if not flags[p] & _TOUCHED and (new == NEVER or old == NEVER):
            flags[p] |= _TOUCHED
            touched[n_touched] = p
            n_touched += 1
        for i in range(8):
            q = p + steps[i]
            if times[q] > since:
                waiting += _wait(q, since, due, first, after, before)
    n_touched = _doubtless(touched[:n_touched], times, flags)
    return -1 if spent == patience else n_touched, spent


@kernel
def grow(growth: Growth, added: Int64s) -> tuple[int, int]:
    """Add pixels and return how many pixels the thin map gained and lost.

    `added` holds flat indices; pixels that are there already are passed over. The changed pixels are the
    first entries of ``growth.gained`` and ``growth.lost``. The cost goes with the number of removal times
    that change, and is at most little more than that of thinning the map anew, which is done when
    much changes, or has changed in the last steps.
    """
    times, due, first, after, before, flags = growth[:6]
    touched, fresh, bits, slim, total, gained, lost, steps, table = growth[6:]
    row = steps[6]
    new = fresh[: _add(added, times, fresh, bits, row)]
    if new.size == 0:
        return 0, 0
    total[0] += new.size
    n_touched = -1
    patience = total[0] // _PATIENCE
    little = new.size * total[1] * (_WORTH_TIMING if total[2] else 1) < patience
    if little and not total[2]:
        n_touched, spent = _retime(
            new, patience, times, due, first, after, before, flags, touched, steps, table
        )
        total[1] = max(_EFFORT, spent // new.size) if n_touched >= 0 else 4 * spent // new.size
    else:
        total[1] = max(_EFFORT, total[1] - total[1] // 8)
    if n_touched < 0:
        n_touched = _rethin(times, bits, slim, touched, row, little)
        total[2] = not little
    return _turn(touched[:n_touched], flags, slim, gained, lost, row)


@kernel
def _doubtless(touched: Int64s, times: Int32s, flags: Bytes) -> int:
    """Keep those of the touched pixels that come or go by their removal times, and return how many."""
    size = 0
    for p in touched:
        flags[p] &= _THIN
        touched[size] = p
        size += int((times[p] == NEVER) != (flags[p] == _THIN))
    return size


@kernel
def _turn(
    turned: Int64s, flags: Bytes, slim: UInt64s, gained: Int64s, lost: Int64s, row: int
) -> tuple[int, int]:
    """Let pixels come to the thin map that were not there, and those go that were; return how many."""
    n_gained, n_lost = 0, 0
    for p in turned:
        flags[p] ^= _THIN
        flip_cell(slim, p, row)
        if flags[p]:
            gained[n_gained] = p
            n_gained += 1
        else:
            lost[n_lost] = p
            n_lost += 1
    return n_gained, n_lost
