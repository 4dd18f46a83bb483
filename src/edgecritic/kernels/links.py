"""Which pixels lie near each other: the sparse graph on which one-to-one matchings are found."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgecritic.kernels._jit import inlined, kernel
from edgecritic.kernels.arrays import Int32s, Int64s, UInt64s
from edgecritic.kernels.windows import Windows, count_bits, lowest_bit, rest_of, toggle, window

__all__ = [
    *("Groups", "Links", "Numbered", "Placed", "WebOfLinks"),
    *("count_reached", "from_columns", "link_found", "link_maps", "links_of_rows", "number_cells"),
    "sort_groups",
]

_ONE = np.uint64(1)


class Links(NamedTuple):
    """The links of every node: those of node n are at start[n] … start[n + 1] − 1, cheapest first."""

    start: Int64s
    other: Int32s
    cost: Int32s


class Groups(NamedTuple):
    """Numbers in groups: group g has members[start[g]] … members[start[g + 1] − 1]."""

    start: Int64s
    members: Int32s


class WebOfLinks(NamedTuple):
    """The links between pixels that may become candidates (rows) and the pixels of several maps (columns).

    A pixel has one row for every map that it can reach, so that every row has a link. The rows of map m are
    row_start[m] … row_start[m + 1] − 1, in the order of their pixels; the pixel of a row is pixel_of[row].
    """

    rows: Links
    columns: Links
    pixel_of: Int32s
    row_start: Int64s


class Placed(NamedTuple):
    """Where the pixels that may become candidates and those of several maps are.

    Attributes
    ----------
    pixels, columns : int64 arrays
        Raster indices; the columns of map m are ``columns[map_start[m] : map_start[m + 1]]``.
    map_start : int64 array
    number : int32 array
        The number of every pixel of the map that may become a candidate, −1 for the others.
    """

    pixels: Int64s
    columns: Int64s
    map_start: Int64s
    number: Int32s


class Numbered(NamedTuple):
    """Cells of a grid that have a number each.

    Attributes
    ----------
    bits : uint64
        A bit for every cell of the grid, set where it has a number.
    before : (words,) int32
        How many bits are set in the words before each.
    number : int32
        The numbers, in the order of the cells.
    """

    bits: UInt64s
    before: Int32s
    number: Int32s


@inlined
def _place(bits: UInt64s, before: Int32s, cell: int | np.int64) -> np.int64:
    """Return how many of the numbered cells come before this one."""
    word = np.uint64(cell >> 6)
    below = bits[word] & ((_ONE << np.uint64(cell & 63)) - _ONE)
    return np.int64(before[word] + count_bits(below))


@kernel
def number_cells(size: int, cells: Int64s) -> Numbered:
    """Number cells, each of which is named once, of a grid of `size` cells: 0, 1, … in the given order."""
    bits = np.zeros((size >> 6) + 2, dtype=np.uint64)
    for cell in cells:
        toggle(bits, cell)
    before = np.empty(bits.size, dtype=np.int32)
    total = 0
    for word in range(bits.size):
        before[word] = total
        total += int(count_bits(bits[word]))
    number = np.empty(cells.size, dtype=np.int32)
    for at in range(cells.size):
        number[_place(bits, before, cells[at])] = at
    return Numbered(bits, before, number)


def links_of_rows(
    rows: Int64s,
    columns: Numbered,
    near: Windows,
    level: int,
    steps: Int64s,
    step_cost: Int64s,
    most_links: int,
) -> Links | None:
    """Link every row to the columns around it; return nothing if there are more than `most_links` links.

    `rows` are flat grid positions, `steps` the flat offsets sorted by `step_cost`, which `near` has as runs
    of bits. The numbers of the offsets to columns are noted as bits, which puts them in order.
    """
    enough = most_links + steps.size
    capacity = min(max(1024, 16 * rows.size), enough)
    start = np.empty(rows.size + 1, dtype=np.int64)
    start[0] = row = 0
    other, cost = np.empty(capacity, dtype=np.int32), np.empty(capacity, dtype=np.int32)
    while True:
        row = _link_until_full(rows, row, columns, near, level, steps, step_cost, start, other, cost)
        size = int(start[row])
        if size > most_links:
            return None
        if row == rows.size:
            return Links(start, other[:size], cost[:size])
        capacity = min(capacity + capacity // 2 + steps.size, enough)
        other = _with_room(other[:size], capacity)
        cost = _with_room(cost[:size], capacity)


def _with_room(array: Int32s, capacity: int) -> Int32s:
    longer = np.empty(capacity, dtype=np.int32)
    longer[: array.size] = array
    return longer


@kernel
def _link_until_full(
    rows: Int64s,
    row: int,
    columns: Numbered,
    near: Windows,
    level: int,
    steps: Int64s,
    step_cost: Int64s,
    start: Int64s,
    other: Int32s,
    cost: Int32s,
) -> int:
    """Link rows from `row` on while there is room for all that the next may have; return the next."""
    bits, before, number = columns
    first, offset_at = near.step, near.number
    mask = near.mask[level, : near.used[level]]
    noted = np.zeros((steps.size >> 6) + 1, dtype=np.uint64)
    size = start[row]
    while row < rows.size and size + steps.size <= other.size:
        here = rows[row]
        for run in range(mask.size):
            word = window(bits, here + first[run]) & mask[run]
            while word != 0:
                step = offset_at[run, np.uint64(lowest_bit(word))]
                word = rest_of(word)
                noted[np.uint64(step >> 6)] |= _ONE << np.uint64(step & 63)
        for part in range(noted.size):
            word = noted[part]
            noted[part] = 0
            while word != 0:
                step = np.uint64(64 * part + lowest_bit(word))
                word = rest_of(word)
                other[size] = number[np.uint64(_place(bits, before, here + steps[step]))]
                cost[size] = step_cost[step]
                size += 1
        row += 1
        start[row] = size
    return row


@kernel
def count_reached(links: Links, columns: int) -> int:
    """Return how many of so many columns have a link."""
    reached = np.zeros(columns, dtype=np.bool_)
    for column in links.other:
        reached[column] = True
    count = 0
    for column in range(columns):
        count += int(reached[column])
    return count


@kernel
def _sorted_by(keys: Int32s, count: int, first: Int32s, second: Int32s) -> tuple[Int64s, Int32s, Int32s]:
    """Put two arrays in the order of their keys 0 … count − 1, equal keys in the given order."""
    start = np.zeros(count + 1, dtype=np.int64)
    for key in keys:
        start[key + 1] += 1
    for key in range(count):
        start[key + 1] += start[key]
    place = start[:-1].copy()
    sorted_first = np.empty(keys.size, dtype=np.int32)
    sorted_second = np.empty(keys.size, dtype=np.int32)
    for at in range(keys.size):
        where = place[keys[at]]
        place[keys[at]] += 1
        sorted_first[where] = first[at]
        sorted_second[where] = second[at]
    return start, sorted_first, sorted_second


@kernel
def sort_groups(groups: Groups, keys: Int32s, count: int) -> Groups:
    """Sort the members of every group by their keys 0 … count − 1, equal keys in the given order."""
    numbers = np.empty(groups.members.size, dtype=np.int32)
    for group in range(groups.start.size - 1):
        for at in range(groups.start[group], groups.start[group + 1]):
            numbers[at] = group
    _, members, numbers = _sorted_by(keys, count, groups.members, numbers)
    start, members, _ = _sorted_by(numbers, groups.start.size - 1, members, numbers)
    return Groups(start, members)


@kernel
def from_columns(links: Links, columns: int) -> Links:
    """Return the same links, sorted by their other end."""
    begin = np.zeros(columns + 2, dtype=np.int64)  # of column c at c + 1, which moves to that of the next one
    for column in links.other:
        begin[column + 2] += 1
    for column in range(columns):
        begin[column + 2] += begin[column + 1]
    other = np.empty(links.other.size, dtype=np.int32)
    cost = np.empty(links.other.size, dtype=np.int32)
    for row in range(links.start.size - 1):
        for link in range(links.start[row], links.start[row + 1]):
            column = links.other[link]
            place = begin[column + 1]
            other[place] = row
            cost[place] = links.cost[link]
            begin[column + 1] += 1
    start = begin[: columns + 1]
    most = 0
    for column in range(columns):
        most = max(most, start[column + 1] - start[column])
    spare = np.empty((2, most), dtype=np.int64)
    for column in range(columns):
        _sort_by_cost(
            other[start[column] : start[column + 1]], cost[start[column] : start[column + 1]], spare
        )
    return Links(start, other, cost)


@kernel
def _sort_by_cost(other: Int32s, cost: Int32s, spare: Int64s) -> None:
    """Sort the few links of one node; those of one cost keep their order.

    The place of a link is the number of those before it, which vectors count without a branch.
    """
    size = np.uint64(cost.size)
    order, ends = spare[0], spare[1]
    for at in range(size):
        order[at] = (np.int64(cost[at]) << 32) + np.int64(at)
        ends[at] = other[at]
    for at in range(size):
        mine = order[at]
        place = 0
        for beside in range(size):
            place += order[beside] < mine
        other[np.uint64(place)] = ends[at]
        cost[np.uint64(place)] = mine >> 32


@kernel
def _near_pairs(
    columns: Int64s, map_start: Int64s, pixel_at: Int32s, steps: Int64s, step_cost: Int64s, most_links: int
) -> tuple[Int32s, Int32s, Int32s, Int64s]:
    """List pixel, column and cost of all links, map by map and the cheapest first, and where maps begin.

    What lies a step from a column is written down in any case, and stays if it is a pixel: the processor
    would often guess wrong whether it is. No index counts from the end, so none has a sign.
    """
    capacity = max(1024, 12 * columns.size)
    pixel_end = np.empty(capacity, dtype=np.int32)
    column_end = np.empty(capacity, dtype=np.int32)
    cost = np.empty(capacity, dtype=np.int32)
    begin = np.zeros(map_start.size, dtype=np.int64)
    size = 0
    for map_number in range(map_start.size - 1):
        first, last = map_start[map_number], map_start[map_number + 1]
        for step in range(steps.size):
            if size > most_links:
                break
            if size + last - first > capacity:
                capacity += capacity // 2 + columns.size
                pixel_end = _longer(pixel_end, size, capacity)
                column_end = _longer(column_end, size, capacity)
                cost = _longer(cost, size, capacity)
            before = size
            for column in range(np.uint64(first), np.uint64(last)):
                pixel = pixel_at[np.uint64(columns[column] - steps[step])]
                pixel_end[np.uint64(size)] = pixel
                column_end[np.uint64(size)] = column
                size += pixel >= 0
            for at in range(before, size):
                cost[at] = step_cost[step]
        begin[map_number + 1] = size
    return pixel_end[:size], column_end[:size], cost[:size], begin


@kernel
def _number_rows(pixel_end: Int32s, begin: Int64s, pixels: int) -> tuple[Int32s, Int64s]:
    """Turn the pixels of links into rows, those of a map in the order of their pixels: neighbours are near.

    Returned are the pixel of every row, and where the rows of each map begin.
    """
    pixel_of = np.empty(min(pixel_end.size, pixels * (begin.size - 1)), dtype=np.int32)
    row_start = np.zeros(begin.size, dtype=np.int64)
    number = np.empty(pixels, dtype=np.int32)
    rows = 0
    for map_number in range(begin.size - 1):
        for pixel in range(pixels):
            number[pixel] = -1
        for at in range(begin[map_number], begin[map_number + 1]):
            number[pixel_end[at]] = 0
        for pixel in range(pixels):
            if number[pixel] == 0:
                number[pixel] = rows
                pixel_of[rows] = pixel
                rows += 1
        for at in range(begin[map_number], begin[map_number + 1]):
            pixel_end[at] = number[pixel_end[at]]
        row_start[map_number + 1] = rows
    return pixel_of[:rows].copy(), row_start


@kernel
def _longer(array: Int32s, size: int, capacity: int) -> Int32s:
    longer = np.empty(capacity, dtype=np.int32)
    for at in range(size):  # copying a slice takes two seconds to compile
        longer[at] = array[at]
    return longer


@kernel
def link_maps(
    columns: Int64s,
    map_start: Int64s,
    pixel_at: Int32s,
    pixels: int,
    steps: Int64s,
    step_cost: Int64s,
    most_links: int,
) -> WebOfLinks:
    """Link the pixels of several maps to the pixels that may become candidates.

    Parameters
    ----------
    columns, map_start
        Flat positions of the pixels of all maps, one map after the other; map m has
        columns[map_start[m] : map_start[m + 1]].
    pixel_at, pixels
        The grid of pixel numbers (−1 where none may appear) and their number.
    steps, step_cost
        Flat offsets sorted by cost; with every offset its opposite is one too.
    most_links
        Beyond so many links the rest is left out.
    """
    row_end, column_end, cost, begin = _near_pairs(columns, map_start, pixel_at, steps, step_cost, most_links)
    pixel_of, row_start = _number_rows(row_end, begin, pixels)
    return WebOfLinks(
        Links(*_sorted_by(row_end, pixel_of.size, column_end, cost)),
        Links(*_sorted_by(column_end, columns.size, row_end, cost)),
        pixel_of,
        row_start,
    )


@kernel
def link_found(
    found: Int64s,
    maps: int,
    shape: tuple[int, ...],
    radii: tuple[int, ...],
    offsets: Int64s,
    step_cost: Int64s,
    most_links: int,
) -> tuple[WebOfLinks, Placed]:
    """Link the pixels of 2-D maps, the first of which are those that may become candidates.

    Parameters
    ----------
    found, maps
        Raster indices of the pixels that are set, in ascending order, as if so many maps were one below the
        other.
    shape, radii
        Of a map, and how far offsets reach along its axes.
    offsets, step_cost, most_links
        As for `link_maps`, but (row, column).
    """
    lines, line = shape
    size = lines * line
    row = line + 2 * radii[1]
    begin = np.empty(maps + 1, dtype=np.int64)
    raster = np.empty(found.size, dtype=np.int64)
    flat = np.empty(found.size, dtype=np.int64)
    begun = first = 0  # the maps that have begun, and the first pixel of the line
    margins = 0
    for at in range(found.size):
        while found[at] >= begun * size:
            first, margins = begun * size, radii[0] * row + radii[1]
            begin[begun] = at
            begun += 1
        while found[at] >= first + line:
            first += line
            margins += 2 * radii[1]
        raster[at] = found[at] - (begun - 1) * size
        flat[at] = raster[at] + margins
    for map_number in range(begun, maps + 1):
        begin[map_number] = found.size
    count = begin[1]
    map_start = np.empty(maps, dtype=np.int64)
    for map_number in range(maps):
        map_start[map_number] = begin[map_number + 1] - count
    number = np.empty(size, dtype=np.int32)
    for pixel in range(size):
        number[pixel] = -1
    pixel_at = np.empty((lines + 2 * radii[0]) * row, dtype=np.int32)
    for cell in range(pixel_at.size):
        pixel_at[cell] = -1
    for at in range(count):
        number[raster[at]] = at
        pixel_at[flat[at]] = at
    steps = np.empty(step_cost.size, dtype=np.int64)
    for step in range(steps.size):
        steps[step] = offsets[step, 0] * row + offsets[step, 1]
    web = link_maps(flat[count:], map_start, pixel_at, count, steps, step_cost, most_links)
    return web, Placed(raster[:count], raster[count:], map_start, number)
