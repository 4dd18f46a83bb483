"""Edits of a label map: strokes, pieces and specks.

A map has one byte of levels and one of marks per pixel, both (rows, columns). A pixel is on if its mark is
`ADDED`, or if it is `FREE` and its level is at least `least`, which is 1 or more. The cost of each kernel
grows with the pixels that it visits; only `remove_specks` and `show` look at the whole map.
"""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import inlined, kernel
from edgecritic.kernels.arrays import Bools, Bytes, Int32s, Int64s

__all__ = [
    *("ADDED", "FREE", "REMOVED"),
    *("ERASE", "REVEAL", "SET", "UNSET"),
    *("brush", "cut_out", "draw", "fill_runs", "find_runs"),
    *("remove_piece", "remove_segment", "remove_specks", "show"),
]

FREE, ADDED, REMOVED = 0, 1, 2
ERASE, REVEAL, SET, UNSET = 0, 1, 2, 3

_ON, _FOUND, _JUNCTION, _BESIDE = 1, 2, 4, 8
_TILE = 16


@kernel
def _is_on(marks: Bytes, levels: Bytes, least: int, row: int, column: int) -> bool:
    mark = marks[row, column]
    return bool(mark == ADDED or (mark == FREE and levels[row, column] >= least))


@kernel
def show(marks: Bytes, levels: Bytes, least: int, on: Bools) -> None:
    """Fill `on`."""
    for row in range(marks.shape[0]):
        for column in range(marks.shape[1]):
            mark = marks[row, column]
            on[row, column] = (mark == ADDED) | ((mark == FREE) & (levels[row, column] >= least))


@kernel
def fill_runs(marks: Bytes, runs: Int64s) -> None:
    """Add the runs start, length, start, length, … of the flat map and remove all other pixels."""
    marks[:] = REMOVED
    for at in range(0, runs.size, 2):
        for place in range(runs[at], runs[at] + runs[at + 1]):
            marks[place] = ADDED


@kernel
def find_runs(on: Bools, runs: Int64s) -> int:
    """Write the runs start, length, start, length, … of a flat map; return how many numbers there are.

    One number more than `runs` can hold is returned if there are too many.
    """
    count, start = 0, -1
    for place in range(on.size + 1):
        here = place < on.size and on[place]
        if here and start < 0:
            start = place
        elif start >= 0 and not here:
            if count + 2 > runs.size:
                return runs.size + 1
            runs[count], runs[count + 1] = start, place - start
            count, start = count + 2, -1
    return count


@inlined
def _slope(x: int, y: int, x1: int, y1: int) -> tuple[int, int, int, int]:
    """Return the steps and the lengths of a line along both axes; the length down is negative."""
    return (1 if x < x1 else -1), (1 if y < y1 else -1), abs(x1 - x), -abs(y1 - y)


@inlined
def _next(x: int, y: int, error: int, slope: tuple[int, int, int, int]) -> tuple[int, int, int]:
    """Return the next pixel of a line by Bresenham's rule, and its error."""
    step_x, step_y, across, down = slope
    twice = 2 * error
    if twice >= down:
        error += down
        x += step_x
    if twice <= across:
        error += across
        y += step_y
    return x, y, error


@kernel
def draw(marks: Bytes, points: Int64s) -> None:
    """Add the straight lines between points x, y, x, y, … by Bresenham's rule."""
    marks[points[1], points[0]] = ADDED
    for at in range(2, points.size, 2):
        x, y, x1, y1 = points[at - 2], points[at - 1], points[at], points[at + 1]
        slope = _slope(x, y, x1, y1)
        error = slope[2] + slope[3]
        while x != x1 or y != y1:
            x, y, error = _next(x, y, error, slope)
            marks[y, x] = ADDED


@kernel
def _touch(marks: Bytes, levels: Bytes, act: int, value: int, row: int, start: int, stop: int) -> None:
    """Do to the pixels of a row what `brush` does."""
    for column in range(start, stop):
        if act == ERASE:
            marks[row, column] = REMOVED
        elif act == REVEAL:
            if levels[row, column] >= value:
                marks[row, column] = ADDED
        elif act == SET:
            marks[row, column] |= np.uint8(value)
        else:
            marks[row, column] &= np.uint8(255 - value)


@kernel
def brush(marks: Bytes, levels: Bytes, act: int, value: int, points: Int64s, reach: Int32s) -> None:
    """Touch the disks around the same lines; `reach` is half the width of each row of a disk.

    `ERASE` removes all pixels, `REVEAL` adds those whose level reaches `value`; `SET` and `UNSET` do so with
    the bits `value` of any array in place of the marks. Along one straight line the disks leave no gap
    within a row, so each row is touched once, from the first pixel to the last, without the disk at the
    start, which the line before has touched.
    """
    height, width = marks.shape
    rows = reach.size
    radius = rows // 2
    first = np.empty(height + rows, dtype=np.int32)
    last = np.empty(height + rows, dtype=np.int32)
    for at in range(0, max(points.size - 2, 2), 2):
        to = min(at + 2, points.size - 2)
        x, y, x1, y1 = points[at], points[at + 1], points[to], points[to + 1]
        top, bottom = min(y, y1), max(y, y1) + rows
        for row in range(top, bottom):
            first[row], last[row] = width, -1
        slope = _slope(x, y, x1, y1)
        error = slope[2] + slope[3]
        while True:
            for row in range(rows):
                first[y + row] = min(first[y + row], np.int32(x - reach[row]))
                last[y + row] = max(last[y + row], np.int32(x + reach[row]))
            if x == x1 and y == y1:
                break
            x, y, error = _next(x, y, error, slope)
        for row in range(max(top - radius, 0), min(bottom - radius, height)):
            start, stop = max(first[row + radius], 0), min(last[row + radius] + 1, width)
            if at and abs(row - points[at + 1]) <= radius:
                half = reach[row - points[at + 1] + radius]
                _touch(marks, levels, act, value, row, start, min(points[at] - half, stop))
                start = max(start, points[at] + half + 1)
            _touch(marks, levels, act, value, row, start, stop)


@kernel
def _cut(marks: Bytes, levels: Bytes, row: int, start: int, stop: int) -> None:
    """Remove what is on, or could be, in columns of a row: without branches, so many at once."""
    for column in range(start, stop):
        mark = marks[row, column]
        gone = (mark == ADDED) | (levels[row, column] > 0)
        marks[row, column] = REMOVED if gone else mark


@kernel
def _sort(values: Int64s) -> None:
    """Sort by Shell's method, which is short to compile."""
    gap = 1
    while gap < values.size:
        gap = 3 * gap + 1
    while gap > 1:
        gap //= 3
        for at in range(gap, values.size):
            value, place = values[at], at
            while place >= gap and values[place - gap] > value:
                values[place] = values[place - gap]
                place -= gap
            values[place] = value


@kernel
def cut_out(marks: Bytes, levels: Bytes, points: Int64s) -> None:
    """Remove what is on, or could be by its level, inside the closed line through points and on it.

    A side from (x, y) down to (x1, y1) crosses the rows y ≤ row < y1, at ⌈x + (row − y)·(x1 − x)/(y1 − y)⌉; a
    pixel is inside if an odd number of sides cross its row at or left of it.
    """
    height, count = marks.shape[0], points.size
    first = np.zeros(height + 1, dtype=np.int64)
    for at in range(0, count, 2):
        y, y1 = points[at + 1], points[(at + 3) % count]
        for row in range(min(y, y1), max(y, y1)):
            first[row + 1] += 1
    for row in range(height):
        first[row + 1] += first[row]
    crossings = np.empty(first[height], dtype=np.int64)
    used = np.zeros(height, dtype=np.int64)
    for at in range(0, count, 2):
        x, y, x1, y1 = points[at], points[at + 1], points[(at + 2) % count], points[(at + 3) % count]
        slope = _slope(x, y, x1, y1)
        error = slope[2] + slope[3]
        across, down = x, y
        while across != x1 or down != y1:
            across, down, error = _next(across, down, error, slope)
            _cut(marks, levels, down, across, across + 1)
        if y > y1:
            x, y, x1, y1 = x1, y1, x, y
        for row in range(y, y1):
            crossings[first[row] + used[row]] = x - (y - row) * (x1 - x) // (y1 - y)
            used[row] += 1
    _cut(marks, levels, points[1], points[0], points[0] + 1)
    for row in range(height):
        here = crossings[first[row] : first[row + 1]]
        _sort(here)
        for at in range(0, here.size, 2):
            _cut(marks, levels, row, here[at], here[at + 1])


@kernel
def remove_piece(marks: Bytes, levels: Bytes, least: int, x: int, y: int) -> None:
    """Remove the 8-connected pixels around one that is on, run by run."""
    height, width = marks.shape
    waiting, count = np.empty(1024, dtype=np.int32), 1
    waiting[0] = y * width + x
    while count:
        count -= 1
        row, column = divmod(waiting[count], width)
        if not _is_on(marks, levels, least, row, column):
            continue
        start = column
        while start > 0 and _is_on(marks, levels, least, row, start - 1):
            start -= 1
        stop = column + 1
        while stop < width and _is_on(marks, levels, least, row, stop):
            stop += 1
        for at in range(start, stop):
            marks[row, at] = REMOVED
        left, right = max(0, start - 1), min(width, stop + 1)
        if count + 3 * (right - left) > waiting.size:
            waiting = _doubled(waiting, 3 * (right - left))
        for other in range(max(row - 1, 0), min(row + 2, height)):
            before = False
            for at in range(left, right):
                here = _is_on(marks, levels, least, other, at)
                if here and not before:
                    waiting[count] = other * width + at
                    count += 1
                before = here


@kernel
def _doubled(values: Int32s, more: int) -> Int32s:
    larger = np.empty(2 * values.size + more, dtype=np.int32)
    for i in range(values.size):
        larger[i] = values[i]
    return larger


@kernel
def remove_segment(marks: Bytes, levels: Bytes, least: int, x: int, y: int) -> None:
    """Remove the 8-connected pixels around one that is on, as far as the junctions.

    There is no way either between two pixels that both touch a junction. What a pixel is, is found out
    for a tile at a time when the way comes near it; the flags have a margin of one pixel. Pixels that touch
    no junction are followed run by run, and have the flag `_FOUND` from when their run is.
    """
    height, width = marks.shape
    wide = width + 2
    flags = np.zeros((height + 2) * wide, dtype=np.uint8)
    known = np.zeros(((height - 1) // _TILE + 1, (width - 1) // _TILE + 1), dtype=np.bool_)
    work = np.zeros((2, _TILE + 4, _TILE + 4), dtype=np.uint8)
    waiting, count = np.empty(1024, dtype=np.int32), 1
    waiting[0] = (y + 1) * wide + x + 1
    _know(marks, levels, least, y, x, flags, known, work)
    if flags[waiting[0]] & (_JUNCTION | _BESIDE):
        flags[waiting[0]] |= _FOUND
    while count:
        count -= 1
        at = waiting[count]
        plain = not flags[at] & (_JUNCTION | _BESIDE)
        if flags[at] & _JUNCTION or (plain and flags[at] & _FOUND):
            continue
        row = at // wide - 1
        start, stop = at, at + 1
        if plain:
            while _is_plain(flags[start - 1]):
                start -= 1
            while _is_plain(flags[stop]):
                stop += 1
            for place in range(start, stop):
                flags[place] |= _FOUND
        first, last = start % wide - 1, (stop - 1) % wide - 1
        for other in range(max(row - 1, 0), min(row + 2, height)):
            for tile in range(max(first - 1, 0) // _TILE, min(last + 1, width - 1) // _TILE + 1):
                _know(marks, levels, least, other, tile * _TILE, flags, known, work)
        if count + 3 * (stop - start + 2) > waiting.size:
            waiting = _doubled(waiting, 3 * (stop - start + 2))
        for shift in range(-wide, wide + 1, wide):
            before = False
            for place in range(start - 1 + shift, stop + 1 + shift):
                flag = flags[place]
                here = flag & (_ON | _FOUND | _JUNCTION | _BESIDE) == _ON
                if here and not before:
                    waiting[count] = place
                    count += 1
                elif plain and flag & (_ON | _FOUND | _JUNCTION) == _ON and flag & _BESIDE:
                    flags[place] |= _FOUND
                    waiting[count] = place
                    count += 1
                before = here
    for index in range(known.size):
        top, left = index // known.shape[1] * _TILE, index % known.shape[1] * _TILE
        if not known[top // _TILE, left // _TILE]:
            continue
        for row in range(top, min(top + _TILE, height)):
            for column in range(left, min(left + _TILE, width)):
                if flags[(row + 1) * wide + column + 1] & _FOUND:
                    marks[row, column] = REMOVED


@kernel
def _is_plain(flag: int) -> bool:
    """Tell whether a pixel is on, touches no junction and was not found yet."""
    return flag & (_ON | _FOUND | _JUNCTION | _BESIDE) == _ON


@kernel
def _know(
    marks: Bytes, levels: Bytes, least: int, y: int, x: int, flags: Bytes, known: Bools, work: Bytes
) -> None:
    """Fill the flags of the tile of a pixel: on, a junction, beside one.

    A junction is on and has three or more changes from off to on around it.
    """
    if known[y // _TILE, x // _TILE]:
        return
    known[y // _TILE, x // _TILE] = True
    height, width = marks.shape
    top, left = y // _TILE * _TILE, x // _TILE * _TILE
    on, meets = work[0], work[1]
    work[:] = 0
    lit, junctions = 0, 0
    for row in range(max(top - 2, 0), min(top + _TILE + 2, height)):
        for column in range(max(left - 2, 0), min(left + _TILE + 2, width)):
            mark = marks[row, column]
            here = (mark == ADDED) | ((mark == FREE) & (levels[row, column] >= least))
            on[row - top + 2, column - left + 2] = here
            lit += here
    if lit < on.size:
        for i in range(1, _TILE + 3):
            for j in range(1, _TILE + 3):
                if on[i, j]:
                    a, b, c, d = on[i - 1, j - 1], on[i - 1, j], on[i - 1, j + 1], on[i, j + 1]
                    e, f, g, h = on[i + 1, j + 1], on[i + 1, j], on[i + 1, j - 1], on[i, j - 1]
                    changes = int(a < b) + int(b < c) + int(c < d) + int(d < e)
                    changes += int(e < f) + int(f < g) + int(g < h) + int(h < a)
                    meets[i, j] = changes >= 3
                    junctions += meets[i, j]
    for i in range(2, min(_TILE, height - top) + 2):
        for j in range(2, min(_TILE, width - left) + 2):
            flag = on[i, j] * _ON | meets[i, j] * _JUNCTION
            if junctions:
                near = meets[i - 1, j - 1] | meets[i - 1, j] | meets[i - 1, j + 1] | meets[i, j - 1]
                near |= meets[i, j + 1] | meets[i + 1, j - 1] | meets[i + 1, j] | meets[i + 1, j + 1]
                flag |= near * _BESIDE
            flags[(top + i - 1) * (width + 2) + left + j - 1] = flag


@kernel
def remove_specks(marks: Bytes, levels: Bytes, least: int, size: int) -> None:
    """Remove every 8-connected piece of fewer than `size` pixels: runs of rows, joined where they touch.

    A run has the number of the piece above it, or a new one; where it joins two pieces, the later number
    gets the earlier one as its parent, which keeps the pixels of both. Few numbers are in use at a time,
    whatever the map.
    """
    height = marks.shape[0]
    ends = np.empty(_count_runs(marks, levels, least) * 2 + 2, dtype=np.int32)
    piece = np.empty(ends.size // 2, dtype=np.int32)
    parent = np.empty(ends.size // 2, dtype=np.int32)
    pixels = np.empty(ends.size // 2, dtype=np.int32)
    first = np.empty(height + 1, dtype=np.int64)
    above, here, pieces = 0, 0, 0
    for row in range(height):
        first[row] = here
        stop = here + _runs(marks[row], levels[row], least, ends[2 * here :])
        other = above
        for run in range(here, stop):
            start, end = ends[2 * run], ends[2 * run + 1]
            while other < here and ends[2 * other + 1] < start:
                other += 1
            mine, touching = -1, other
            while touching < here and ends[2 * touching] <= end:
                if piece[touching] != mine:
                    root = _root(parent, piece[touching])
                    if mine < 0:
                        mine = root
                    elif root != mine:
                        low, high = min(root, mine), max(root, mine)
                        parent[high] = low
                        pixels[low] += pixels[high]
                        mine = low
                touching += 1
            if mine < 0:
                mine = pieces
                parent[mine], pixels[mine] = mine, 0
                pieces += 1
            piece[run] = mine
            pixels[mine] += end - start
            other = max(other, touching - 1)
        above, here = here, stop
    first[height] = here
    for number in range(pieces):
        parent[number] = parent[parent[number]]  # the root: parents have lower numbers, and these are done
    for row in range(height):
        for run in range(first[row], first[row + 1]):
            if pixels[parent[piece[run]]] < size:
                for column in range(ends[2 * run], ends[2 * run + 1]):
                    marks[row, column] = REMOVED


@kernel
def _root(parent: Int32s, piece: int) -> int:
    while parent[piece] != piece:
        parent[piece] = parent[parent[piece]]
        piece = parent[piece]
    return piece


@kernel
def _count_runs(marks: Bytes, levels: Bytes, least: int) -> int:
    count = 0
    for row in range(marks.shape[0]):
        for column in range(marks.shape[1]):
            mark = marks[row, column]
            here = (mark == ADDED) | ((mark == FREE) & (levels[row, column] >= least))
            if column:
                past = marks[row, column - 1]
                was = (past == ADDED) | ((past == FREE) & (levels[row, column - 1] >= least))
                count += here & (not was)
            else:
                count += here
    return count


@kernel
def _runs(marks: Bytes, levels: Bytes, least: int, ends: Int32s) -> int:
    """Write start, end, start, end, … of the runs of a row; return how many there are.

    A place is written for every pixel and kept where the row changes: no branch has to be guessed.
    """
    count, before = 0, 0
    for column in range(marks.size):
        mark = marks[column]
        here = int(mark == ADDED) | (int(mark == FREE) & int(levels[column] >= least))
        ends[count] = column
        count += here ^ before
        before = here
    ends[count] = marks.size
    return (count + before) >> 1
