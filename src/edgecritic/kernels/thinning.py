"""Thinning by the two-subiteration rule of Guo and Hall, at once and for maps that grow.

A flat grid with a margin of at least one pixel, which is never set, is thinned. Neighbours are numbered as in
the paper, anticlockwise from the east: E, NE, N, NW, W, SW, S, SE; bit i of a neighbourhood's code is set if
neighbour i (from 0) is. The code of a pixel that is off is 0, which no sub-iteration deletes.

Whatever the order in which pixels come, `grow` leaves the removal times that `thin_pixels` finds at once.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Bytes, Int32s, Int64s
from edgecritic.kernels.grid import Grid

__all__ = ["NEVER", "Growth", "deletion_table", "neighbour_steps", "thin_pixels", "start_growth", "grow"]

NEVER = 2**30
"""The removal time of a pixel that thinning keeps."""

_THIN, _TOUCHED = 1, 2

_PATIENCE = 6
"""A step goes pixel by pixel as long as it takes less than one judgement for every 6 pixels of the map."""

_EFFORT = 2
"""The least number of judgements that a new pixel is expected to take."""

_DENSE = 16
"""Pixels are put into raster order, which is quicker to walk, if more than one cell in 16 is on."""


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


@kernel
def _peel(times: Int32s, codes: Bytes, pixels: Int64s, removed: Int64s, steps: Int64s, table: Bytes) -> int:
    """Thin the map of `pixels`: fill in their removal times and return how many are removed.

    `codes` must hold the neighbourhoods of the pixels, and elsewhere 0, which is never deleted; it is used
    up. `removed` is work space as long as `pixels`. After each rule has seen every pixel once, it looks
    only at neighbours of what was removed since its last turn.
    """
    n = pixels.size
    end, later = 0, n
    for k in range(n):
        p = pixels[n - 1 - k]
        hit = table[codes[p]]
        times[p] = NEVER
        if hit & 1:
            times[p] = 1
            codes[p] = 0
            removed[end] = p
            end += 1
        elif hit:
            later -= 1
            removed[later] = p
    start, middle = 0, 0
    turn = 0
    while turn < 2 or end > start:
        for k in range(middle, end):
            for i in range(8):
                codes[removed[k] + steps[i]] &= np.uint8(255 ^ (1 << ((i + 4) & 7)))
        turn += 1
        rule = np.uint8(1 << (turn & 1))
        fresh = end
        if turn == 1:
            for k in range(later, n):
                p = removed[k]
                if table[codes[p]] & rule:
                    times[p] = 2
                    codes[p] = 0
                    removed[fresh] = p
                    fresh += 1
        for k in range(start, end):
            for i in range(8):
                p = removed[k] + steps[i]
                if table[codes[p]] & rule:
                    times[p] = turn + 1
                    codes[p] = 0
                    removed[fresh] = p
                    fresh += 1
        start, middle, end = middle, end, fresh
    return end


@kernel
def _neighbourhood_codes(on: Bytes, row: int, codes: Bytes) -> None:
    """Fill in the neighbourhood code of every pixel that is on, 0 elsewhere; rows have length `row`."""
    n = on.size - 2 * row - 2
    above, here, below, out = on, on[row:], on[2 * row :], codes[row + 1 :]
    for k in range(n):
        out[k] = here[k + 1] * (
            here[k + 2]
            | above[k + 2] << 1
            | above[k + 1] << 2
            | above[k] << 3
            | here[k] << 4
            | below[k] << 5
            | below[k + 1] << 6
            | below[k + 2] << 7
        )


@kernel
def thin_pixels(on: Bytes, pixels: Int64s, steps: Int64s, table: Bytes) -> Int32s:
    """Return the removal time of every cell of the flat map `on`, whose pixels are `pixels`."""
    codes = np.zeros(on.size, dtype=np.uint8)
    times = np.zeros(on.size, dtype=np.int32)
    _neighbourhood_codes(on, steps[6], codes)
    _peel(times, codes, pixels, np.empty(pixels.size, dtype=np.int64), steps, table)
    return times


class Growth(NamedTuple):
    """The thinning of a map to which pixels are added.

    Sub-iteration s (from 0) makes map B(s + 1) of B(s), and a pixel that is gone stays gone. So all maps of
    the chain are told by one number per pixel: its removal time, the smallest s with the pixel not in
    B(s). It is 0 for a pixel that was never there and `NEVER` for a pixel of the thin map.

    Attributes
    ----------
    times : int32, one per cell of the grid
        Removal times.
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
    pixels : int64, one per cell
        The first ``total[0]`` entries are the pixels of the map in the order of their coming.
    codes, work : uint8, one per cell
        The neighbourhoods of the map, and work space.
    total : (2,) int64
        The number of pixels of the map; how many judgements a new pixel is expected to take.
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
    pixels: Int64s
    codes: Bytes
    work: Bytes
    total: Int64s
    gained: Int64s
    lost: Int64s
    steps: Int64s
    table: Bytes


def start_growth(grid: Grid) -> Growth:
    """Return the state of an empty map on a 2-D grid whose margin is at least 1.

    Of every two sub-iterations one removes a pixel or all is done: no removal time exceeds twice the
    number of pixels.
    """
    size = grid.size
    return Growth(
        times=np.zeros(size, dtype=np.int32),
        due=np.full(size, NEVER, dtype=np.int32),
        first=np.zeros(2 * size + 2, dtype=np.int32),
        after=np.empty(size, dtype=np.int32),
        before=np.empty(size, dtype=np.int32),
        flags=np.zeros(size, dtype=np.uint8),
        touched=np.empty(size, dtype=np.int64),
        pixels=np.empty(size, dtype=np.int64),
        codes=np.zeros(size, dtype=np.uint8),
        work=np.empty(size, dtype=np.uint8),
        total=np.array([0, _EFFORT], dtype=np.int64),
        gained=np.empty(size, dtype=np.int64),
        lost=np.empty(size, dtype=np.int64),
        steps=neighbour_steps(grid),
        table=deletion_table(),
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
def _add(added: Int64s, times: Int32s, pixels: Int64s, codes: Bytes, total: Int64s, steps: Int64s) -> int:
    """Put new pixels into the map, at first as pixels that stay, and return how many are new."""
    n = total[0]
    for p in added:
        if times[p] == 0:
            times[p] = NEVER
            pixels[n] = p
            n += 1
            for i in range(8):
                codes[p + steps[i]] |= np.uint8(1 << ((i + 4) & 7))
    fresh = int(n - total[0])
    total[0] = n
    return fresh


@kernel
def _rethin(
    times: Int32s, pixels: Int64s, codes: Bytes, work: Bytes, touched: Int64s, steps: Int64s, table: Bytes
) -> int:
    """Find all removal times anew and list every pixel as touched."""
    if pixels.size * _DENSE > times.size:
        n = 0
        for p in range(times.size):
            if times[p] > 0:
                pixels[n] = p
                n += 1
    for k in range(codes.size):
        work[k] = codes[k] if times[k] > 0 else 0
    _peel(times, work, pixels, touched, steps, table)
    for k in range(pixels.size):
        touched[k] = pixels[k]
    return pixels.size


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
    """Correct the removal times after the new pixels `fresh`; return how many pixels are touched.

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
    touched, pixels, codes, work, total, gained, lost, steps, table = growth[6:]
    fresh = _add(added, times, pixels, codes, total, steps)
    if fresh == 0:
        return 0, 0
    n = total[0]
    n_touched = -1
    patience = n // _PATIENCE
    if fresh * total[1] < patience:
        new = pixels[n - fresh : n]
        n_touched, spent = _retime(
            new, patience, times, due, first, after, before, flags, touched, steps, table
        )
        total[1] = max(_EFFORT, spent // fresh) if n_touched >= 0 else 4 * spent // fresh
    else:
        total[1] = max(_EFFORT, total[1] - total[1] // 8)
    if n_touched < 0:
        n_touched = _rethin(times, pixels[:n], codes, work, touched, steps, table)
    return _changes(touched[:n_touched], times, flags, gained, lost)


@kernel
def _changes(touched: Int64s, times: Int32s, flags: Bytes, gained: Int64s, lost: Int64s) -> tuple[int, int]:
    """List what the thin map gained and lost, and return how many pixels these are."""
    n_gained, n_lost = 0, 0
    for p in touched:
        was, now = flags[p] & _THIN, times[p] == NEVER
        flags[p] = _THIN if now else 0
        if now and not was:
            gained[n_gained] = p
            n_gained += 1
        elif was and not now:
            lost[n_lost] = p
            n_lost += 1
    return n_gained, n_lost
