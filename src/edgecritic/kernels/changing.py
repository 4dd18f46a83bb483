"""The exact one-to-one matchings with several maps, kept optimal while candidate pixels come and go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgecritic.kernels._jit import inlined, kernel
from edgecritic.kernels.arrays import Bools, Int32s, Int64s, UInt64s, prefetch
from edgecritic.kernels.auction import bid
from edgecritic.kernels.hashing import Hashing, mix, salts
from edgecritic.kernels.links import Groups, Links, Placed, WebOfLinks, link_found, sort_groups
from edgecritic.kernels.search import Search, find_end, new_search
from edgecritic.kernels.state import ABSENT, ALONE, Side, State, new_state
from edgecritic.kernels.windows import count_bits

__all__ = ["Changing", "all_absent", "link_absent", "new_changing", "sweep", "sweep_maps", "sweep_steps"]

_MOST_BIDS = 2  # of a row and those it drives out, before a search takes over

_SOON = 4  # rows ahead: the memory of a row is there when its turn comes

_ASKS_TOO_MUCH = -(2**61)
"""The price of an absent row: no way goes to it, and a search need not ask who its mate is."""


class Changing(NamedTuple):
    """A problem that changes, and the counts that are kept of it.

    `present` tells which pixels are candidates, `partners` how many of a pixel's rows are matched, and
    `counts` is (matched rows, pixels with a partner).
    """

    web: WebOfLinks
    state: State
    present: Bools
    partners: Int32s
    counts: Int64s


@kernel
def new_changing(web: WebOfLinks, state: State, pixels: int) -> Changing:
    """Make the problem in which none of so many pixels is present."""
    price = state.rows.price
    for row in range(price.size):
        price[row] = _ASKS_TOO_MUCH
    present, partners = np.zeros(pixels, dtype=np.bool_), np.zeros(pixels, dtype=np.int32)
    return Changing(web, state, present, partners, np.zeros(2, dtype=np.int64))


@kernel
def link_absent(
    found: Int64s,
    maps: int,
    shape: tuple[int, ...],
    radii: tuple[int, ...],
    offsets: Int64s,
    step_cost: Int64s,
    most_links: int,
    hashing: Hashing,
) -> tuple[Changing, Placed]:
    """Make the problem of the pixels of 2-D maps, see `link_found`, none of which is present."""
    web, placed = link_found(found, maps, shape, radii, offsets, step_cost, most_links)
    return all_absent(web, placed, hashing), placed


@kernel
def all_absent(web: WebOfLinks, placed: Placed, hashing: Hashing) -> Changing:
    """Make the problem of placed pixels, none of which is present."""
    alone_rows = np.empty(web.pixel_of.size, dtype=np.int64)
    salted = salts(placed.columns, placed.map_start)
    for map_number in range(salted.size):
        for row in range(web.row_start[map_number], web.row_start[map_number + 1]):
            alone_rows[row] = placed.pixels[web.pixel_of[row]] + salted[map_number]
    alone_columns = np.empty(placed.columns.size, dtype=np.int64)
    mix(alone_rows, alone_rows, hashing.bits, hashing.candidate_factor, hashing.most_candidate)
    mix(placed.columns, alone_columns, hashing.bits, hashing.truth_factor, hashing.most_truth)
    return new_changing(web, new_state(alone_rows, alone_columns, hashing.scale), placed.pixels.size)


@inlined
def _prefetch_rows(links: Links, rows: Side, pixel_of: Int32s, new: Int32s, at: int) -> None:
    """Fetch where the links of a row that comes soon begin, and the links of one that comes sooner."""
    if at + 2 * _SOON < new.size:
        later = np.uint64(new[at + 2 * _SOON])
        prefetch(links.start, later)
        prefetch(rows.alone, later)
        prefetch(rows.price, later)
        prefetch(rows.mate, later)
        prefetch(pixel_of, later)
        first = np.uint64(links.start[new[at + _SOON]])
        prefetch(links.other, first)
        prefetch(links.cost, first)


@inlined
def _update(
    problem: Changing,
    search: Search,
    offers: Search,
    removed: Int32s,
    added: Int32s,
    owed: Int32s,
    turns: Int32s,
    size: int,
) -> int:
    """Take rows out and bring rows in; the matching is optimal again at the end.

    New rows are brought in before the columns that lost their rows are settled: a row that moved by a
    pixel then simply takes over the column of its predecessor. All bid, in the order of their numbers because
    neighbours share memory; then those that are left without a place search for one.

    Behind the first `size` entries of `turns` comes the pixel of every row that is matched now, and ~pixel
    of every row that no longer is (a new one that finds no place in the end may come twice); returned is the
    new size. `search` is the memory of searches for columns, `offers` of those for rows; `owed` is work
    space, and so is `added` at last.
    """
    pixel_of = problem.web.pixel_of
    rows, columns, scale = problem.state
    owed_count = 0
    for row in removed:
        column = rows.mate[row]
        rows.mate[row] = ABSENT
        rows.price[row] = _ASKS_TOO_MUCH
        if column >= 0:
            turns[size] = ~pixel_of[row]
            size += 1
            columns.mate[column] = ALONE
            owed[owed_count] = column
            owed_count += 1
    waiting = 0
    for at in range(added.size):
        row = added[at]
        _prefetch_rows(problem.web.rows, rows, pixel_of, added, at)
        last = bid(problem.web.rows, problem.state, row, _MOST_BIDS)
        if last != row or rows.mate[row] != ALONE:
            turns[size] = pixel_of[row]
            size += 1
        if rows.mate[last] == ABSENT:
            added[waiting] = last
            waiting += 1
        elif last != row and rows.mate[last] == ALONE:
            turns[size] = ~pixel_of[last]
            size += 1
    for at in range(waiting):
        row = added[at]
        rows.price[row] = 0  # no price of a column is above 0, so no reduced cost is below
        loser, column = find_end(problem.web.rows, rows, columns, scale, search, row)
        if column == ALONE:
            turns[size] = ~pixel_of[loser]
            size += 1
    for at in range(owed_count):
        column = owed[at]
        if columns.mate[column] == ALONE and columns.price[column] < columns.alone[column]:
            _, winner = find_end(problem.web.columns, columns, rows, scale, offers, column)
            if winner != ALONE:
                turns[size] = pixel_of[winner]
                size += 1
    return size


@kernel
def _rows_of(pixels: Groups, row_at: Int32s) -> Groups:
    """Return the rows that the pixels of every step have in one map."""
    start = np.zeros(pixels.start.size, dtype=np.int64)
    rows = np.empty(pixels.members.size, dtype=np.int32)
    size = 0
    for step in range(start.size - 1):
        for at in range(pixels.start[step], pixels.start[step + 1]):
            rows[size] = row_at[pixels.members[at]]
            size += rows[size] >= 0
        start[step + 1] = size
    return Groups(start, rows[:size])


@kernel
def _in_order(rows: Groups, first: int, last: int) -> Groups:
    """Sort the rows of every step, numbered from `first` to `last` − 1."""
    keys = np.empty(rows.members.size, dtype=np.int32)
    for at in range(keys.size):
        keys[at] = rows.members[at] - first
    return sort_groups(rows, keys, last - first)


@kernel
def _follow(
    problem: Changing, gained: Groups, lost: Groups, row_at: Int32s, turns: Int32s, start: Int64s
) -> None:
    """Follow all steps with one map after the other, whose memory is near then, and note the turns.

    Those of map m at step k are turns[start[m · steps + k]] … turns[start[m · steps + k + 1] − 1]. `row_at`
    is work space.
    """
    web = problem.web
    steps = gained.start.size - 1
    owed = np.empty(lost.members.size, dtype=np.int32)
    search = new_search(problem.state.columns.mate.size)
    offers = new_search(problem.state.rows.mate.size if lost.members.size > 0 else 0)
    size = 0
    for map_number in range(web.row_start.size - 1):
        row_at[:] = -1
        for row in range(web.row_start[map_number], web.row_start[map_number + 1]):
            row_at[web.pixel_of[row]] = row
        new = _in_order(_rows_of(gained, row_at), web.row_start[map_number], web.row_start[map_number + 1])
        gone = _rows_of(lost, row_at)
        for step in range(steps):
            removed = gone.members[gone.start[step] : gone.start[step + 1]]
            added = new.members[new.start[step] : new.start[step + 1]]
            size = _update(problem, search, offers, removed, added, owed, turns, size)
            start[map_number * steps + step + 1] = size


def sweep(problem: Changing, gained: Groups, lost: Groups) -> Int64s:
    """Bring and take the pixels of one step after the other; return the counts after each step."""
    turns = np.empty(_most_turns(problem.web, gained, lost), dtype=np.int32)
    row_at = np.empty(problem.present.size, dtype=np.int32)
    return sweep_steps(problem, gained, lost, row_at, turns)


@inlined
def _most_turns(web: WebOfLinks, gained: Groups, lost: Groups) -> int:
    """Return how many there may be.

    A new row drives out one other at the most; the column of a lost one finds one other at the most.
    """
    return 2 * (web.row_start.size - 1) * (gained.members.size + lost.members.size)


@kernel
def sweep_steps(problem: Changing, gained: Groups, lost: Groups, row_at: Int32s, turns: Int32s) -> Int64s:
    """Do the work of `sweep`, with the space that it needs."""
    present, partners, now = problem.present, problem.partners, problem.counts
    steps = gained.start.size - 1
    maps = problem.web.row_start.size - 1
    start = np.zeros(maps * steps + 1, dtype=np.int64)
    _follow(problem, gained, lost, row_at, turns, start)
    counts = np.empty((steps, 2), dtype=np.int64)
    for step in range(steps):
        for at in range(lost.start[step], lost.start[step + 1]):
            present[lost.members[at]] = False
        for at in range(gained.start[step], gained.start[step + 1]):
            present[gained.members[at]] = True
        for part in range(step, maps * steps, steps):
            for at in range(start[part], start[part + 1]):
                change = 1 if turns[at] >= 0 else -1
                pixel = max(turns[at], ~turns[at])
                before = partners[pixel]
                partners[pixel] = before + change
                now[0] += change
                now[1] += int(before + change > 0) - int(before > 0)
        counts[step, 0] = now[0]
        counts[step, 1] = now[1]
    return counts


@kernel
def _set_pixels(flat: Bools, words: UInt64s) -> Int64s:
    """Return where maps are set; `words` are the same bytes, eight together, most of which are 0.

    Bytes of what is set may have any bits: there is space for as many pixels as there are bits.
    """
    count = 0
    for word in words:
        count += int(count_bits(word))
    found = np.empty(count + 1, dtype=np.int64)
    size = 0
    for at in range(words.size):
        if words[at] != 0:
            for pixel in range(8 * at, 8 * at + 8):
                found[size] = pixel
                size += int(flat[pixel])
    return found[:size]


@kernel
def _numbered(start: Int64s, pixels: Int64s, number: Int32s) -> Groups:
    """Return the numbers of the pixels of every step."""
    members = np.empty(pixels.size, dtype=np.int32)
    for at in range(pixels.size):
        members[at] = number[pixels[at]]
    return Groups(start, members)


@kernel
def sweep_maps(
    flat: Bools,
    words: UInt64s,
    maps: int,
    shape: tuple[int, ...],
    radii: tuple[int, ...],
    offsets: Int64s,
    step_cost: Int64s,
    most_links: int,
    hashing: Hashing,
    gained_start: Int64s,
    gained: Int64s,
    lost_start: Int64s,
    lost: Int64s,
) -> tuple[Int64s, Int64s, Int64s, int, int]:
    """Match a candidate that gains and loses pixels with several 2-D maps, in one go.

    Parameters
    ----------
    flat, words
        The maps one below the other, and the same bytes as words. The first, which the candidate's pixels
        come into, and what is behind the last need not be set.
    maps, shape, radii, offsets, step_cost, most_links
        As for `edgecritic.kernels.links.link_found`.
    hashing
        As for `all_absent`.
    gained_start, gained, lost_start, lost
        Raster indices, step by step.

    Returns
    -------
    counts : (steps, 2) array
        As of `sweep`; without a step if there are too many links.
    hit : int64 array
        Raster indices of the candidate's pixels that have a partner in the end.
    matched : int64 array
        Pixels of `flat` that have one in the end.
    pixels, places : int
        How many pixels all maps but the candidate have, and in how many places they are.
    """
    size = shape[0] * shape[1]
    for pixel in range(size):
        flat[pixel] = False
    for pixel in range(maps * size, flat.size):
        flat[pixel] = False
    for pixel in gained:
        flat[pixel] = True
    found = _set_pixels(flat, words)
    problem, placed = link_absent(found, maps, shape, radii, offsets, step_cost, most_links, hashing)
    if problem.web.rows.other.size > most_links:
        return np.empty((0, 2), dtype=np.int64), found[:0], found[:0], 0, 0
    new = _numbered(gained_start, gained, placed.number)
    gone = _numbered(lost_start, lost, placed.number)
    turns = np.empty(_most_turns(problem.web, new, gone), dtype=np.int32)
    counts = sweep_steps(problem, new, gone, np.empty(placed.pixels.size, dtype=np.int32), turns)
    first = placed.pixels.size
    hit = np.empty(first + 1, dtype=np.int64)
    hits = 0
    for at in range(first):
        hit[hits] = placed.pixels[at]
        hits += int(problem.partners[at] > 0)
    mate = problem.state.columns.mate
    matched = np.empty(mate.size + 1, dtype=np.int64)
    matches = 0
    for at in range(mate.size):
        matched[matches] = found[first + at]
        matches += int(mate[at] >= 0)
    places = _count_places(placed.columns, flat[:size])
    return counts, hit[:hits], matched[:matches], mate.size, places


@kernel
def _count_places(pixels: Int64s, seen: Bools) -> int:
    """Return how many different pixels there are; `seen` is work space."""
    for pixel in pixels:
        seen[pixel] = False
    places = 0
    for pixel in pixels:
        places += int(not seen[pixel])
        seen[pixel] = True
    return places
