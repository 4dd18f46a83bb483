"""An auction that finds good prices for problems in which most searches would be long.

Where rows are crowded over a wide stretch, prices have to fall over all of it, and a search for a free column
runs through all of it, again for every row. In an auction (Bertsekas 1988) a row looks at its own links only:
it takes its cheapest column and lowers that column's price until its second choice is cheaper by one *step*.
Large steps carry a crowd far in few bids, small ones end near the optimum; so there are several rounds, each
with smaller steps, which begin with the prices of the one before.

A round only lowers prices, and one with large steps lowers some too far. So all prices are raised by a few
steps after it. After the last round every row that does not have one of its cheapest columns gives it up.
Searches bring these rows back (see `edgecritic.kernels.assign`), and they are short, because the prices are
almost those of the optimum.

Where thick maps lie beside each other, chains of rows that drive each other out are so long that prices fall
to the cost of staying alone on the way, and rows give up although there are free columns at the end. Columns
are left that nobody has, at prices far too low, and each would need a long search. Much larger steps in the
beginning avoid that, but take more bids elsewhere; so then the auction is held once more, with those.

On large problems two halves of the rows bid at the same time, without those between the halves, which might
want a column of both. These are left for the next turn, for which the halves are cut elsewhere.

The hashes of the columns take no part: their prices begin at the lowest cost of staying alone, and steps are
whole units of cost. So what costs the same stays equal, as on regular maps, where any of very many ways will
do; with hashes in the prices a search would look through all of them for the best.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from edgecritic.kernels._jit import inlined, kernel
from edgecritic.kernels.arrays import Bytes, Int32s, Int64s, prefetch
from edgecritic.kernels.links import Links
from edgecritic.kernels.state import ABSENT, ALONE, FAR, State

__all__ = ["MANY_ROWS", "bid", "cut_in_halves", "hold_auction"]

MANY_ROWS = 50_000
"""So many are worth more than one thread."""

_PLANS = (3, 8), (5, 4)
"""Rounds, and the first step in bits less than the cost of staying alone; 8 is half the longest link."""

_MANY_OWED = 64  # one of so many columns, after which the next plan is tried
_FINER = 3  # bits, from one round to the next
_RAISED = 5  # steps, after a round
_FEW_BIDS_OF_ROW = 2  # of regular maps, which halves would spoil
_TURNS = 50  # a few rows that fight for long do so in both halves at once, and take fewer bids
_FEW_BIDDERS = 4
_BETWEEN = np.uint8(2)
_NOBODY = np.uint8(3)


@inlined
def cheapest_two(
    links: Links, prices: Int64s, scale: np.int64, row: int, alone: np.int64
) -> tuple[np.int32, np.int64, np.int64]:
    """Return the cheapest column of a row, what it costs, and what the second choice does.

    To stay alone (`ALONE`) is one of the choices. Prices are taken off costs. Without branches, which the
    processor would guess wrong.
    """
    other, cost = links.other, links.cost
    first, second, column = alone, FAR, np.int32(ALONE)
    for link in range(np.uint64(links.start[row]), np.uint64(links.start[row + 1])):
        scaled = cost[link] * scale
        if scaled >= second:
            break
        value = scaled - prices[np.uint64(other[link])]
        second = min(second, max(first, value))
        column = other[link] if value < first else column
        first = min(first, value)
    return column, first, second


@inlined
def bid(links: Links, state: State, new: int, most: int) -> int:
    """Let a new row, and those it drives out, bid for columns at most so many times; return the last of them.

    A bidder takes its cheapest column and raises that column's price until its second choice is as good. The
    last one is `ABSENT` if it was driven out and still needs a place.
    """
    rows, columns = state.rows, state.columns
    row = new
    for _ in range(most):
        column, first, second = cheapest_two(links, columns.price, state.scale, row, rows.alone[row])
        rows.mate[row] = column
        if column == ALONE:
            rows.price[row] = first
            break
        columns.price[column] -= second - first
        rows.price[row] = second
        loser = columns.mate[column]
        columns.mate[column] = row
        if loser == ALONE:
            break
        rows.mate[loser] = ABSENT
        row = loser
    return row


def hold_auction(links: Links, state: State) -> None:
    """Give columns to rows, and to both the prices that `edgecritic.kernels.state` asks for.

    Some rows are absent in the end, and columns that are alone may be owed.
    """
    columns, halves = state.columns, None
    for rounds, first_step in _PLANS:
        halves = _hold_rounds(links, state, rounds, first_step, halves)
        owed = np.count_nonzero((columns.mate == ALONE) & (columns.price < columns.alone.min()))
        # Rows that gave up their place in the end come back: one of these columns is for each of them.
        owed -= np.count_nonzero(state.rows.mate == ABSENT)
        if owed * _MANY_OWED <= columns.mate.size:
            break


def _hold_rounds(
    links: Links, state: State, rounds: int, first_step: int, halves: list[Bytes] | None
) -> list[Bytes] | None:
    """Hold so many rounds of an auction; return the halves of the rows if they were needed."""
    rows, scale = state.rows.mate.size, state.scale
    everyone = np.zeros(rows, dtype=np.uint8)
    bidders = _open(state)
    step = max(np.int64(1), (state.rows.price_limit // scale) >> first_step)
    if rows >= MANY_ROWS:
        left = _bid_in_turn(links, state, step * scale, bidders, everyone, 0, _FEW_BIDS_OF_ROW * rows)
        bidders = bidders[:left]
        if left > 0 and halves is None:
            halves = cut_in_halves(links, state.columns.mate.size)
    for rounds_left in range(rounds - 1, -1, -1):
        bid_in_turn = partial(_bid_in_turn, links, state, step * scale)
        bid_in_turn(_bid_in_halves(bid_in_turn, state, bidders, halves or []), everyone, 0, FAR)
        raised = _RAISED * step if rounds_left > 0 else np.int64(0)
        step = max(np.int64(1), step >> _FINER) if rounds_left > 0 else np.int64(0)
        bidders = _give_up(links, state, raised * scale, step * scale)
    return halves


def cut_in_halves(links: Links, columns: int) -> list[Bytes]:
    """Cut the rows in two, at a quarter and three quarters, and in the middle.

    When halves are first asked for, the rows in front have bid, and most that are left are often beyond the
    middle: so the first cut shares them out better.
    """
    with ThreadPoolExecutor(2) as crew:
        return list(crew.map(partial(_half_of_rows, links, columns), (1, 0)))


def _bid_in_halves(
    bid_in_turn: Callable[[Int32s, Bytes, int, np.int64], int],
    state: State,
    bidders: Int32s,
    halves: list[Bytes],
) -> Int32s:
    """Let the halves of the rows bid at the same time, cut in two places in turn; return who is left.

    The outcome does not depend on who is quicker.
    """
    with ThreadPoolExecutor(2) as crew:
        for half_of in halves * _TURNS:
            own = half_of[bidders]
            work = [crew.submit(bid_in_turn, bidders[own == half], half_of, half, FAR) for half in (0, 1)]
            for half in work:
                half.result()
            bidders = np.flatnonzero(state.rows.mate == ABSENT)[::-1].astype(np.int32)
            if bidders.size < _FEW_BIDDERS:
                break
    return bidders


@kernel
def _half_of_rows(links: Links, columns: int, shift: int) -> Bytes:
    """Return 0 or 1 for the rows of each half, `_BETWEEN` for those that may want a column of both.

    Neighbours have near numbers, so that few are between. Cuts are moved by `shift` quarters.
    """
    start, other = links.start, links.other
    rows = start.size - 1
    half_of = np.empty(rows, dtype=np.uint8)
    wanted_by = np.full(columns, _NOBODY, dtype=np.uint8)
    for row in range(rows):
        half = np.uint8(((4 * row // rows + shift) >> 1) & 1)
        half_of[row] = half
        for link in range(start[row], start[row + 1]):
            known = wanted_by[other[link]]
            wanted_by[other[link]] = half if known in (_NOBODY, half) else _BETWEEN
    for row in range(rows):
        for link in range(start[row], start[row + 1]):
            if wanted_by[other[link]] == _BETWEEN:
                half_of[row] = _BETWEEN
    return half_of


@kernel
def _open(state: State) -> Int32s:
    """Take all rows out and make all prices equal; return the bidders."""
    rows, columns = state.rows, state.columns
    highest = columns.alone.min()
    for column in range(columns.mate.size):
        columns.mate[column] = ALONE
        columns.price[column] = highest
    count = rows.mate.size
    bidders = np.empty(count, dtype=np.int32)
    for row in range(count):
        rows.mate[row] = ABSENT
        bidders[row] = count - 1 - row  # the last bids first
    return bidders


@kernel
def _bid_in_turn(
    links: Links,
    state: State,
    step: np.int64,
    bidders: Int32s,
    half_of: Bytes,
    half: int,
    most: int | np.int64,
) -> int:
    """Let bidders, and those of the same half that they drive out, bid until each has a place.

    Who was driven out bids after the next one: the links that it looks at are near in memory, and are fetched
    meanwhile. After `most` bids this ends. Returned is how many are left, in front of the bidders.
    """
    mate, alone = state.rows.mate, state.rows.alone
    column_mate, price = state.columns.mate, state.columns.price
    count = bidders.size
    while count > 0 and most > 0:
        most -= 1
        count -= 1
        row = bidders[count]
        following = bidders[max(count - 1, 0)]
        links_follow = np.uint64(links.start[following])
        prefetch(links.other, links_follow)
        prefetch(links.cost, links_follow)
        column, first, second = cheapest_two(links, price, state.scale, row, alone[row])
        mate[row] = column
        if column == ALONE:
            continue
        price[column] -= min(second - first + step, alone[row] - first)
        loser = column_mate[column]
        column_mate[column] = row
        if loser != ALONE:
            mate[loser] = ABSENT
            if half_of[loser] == half:
                prefetch(links.start, np.uint64(loser))
                prefetch(alone, np.uint64(loser))
                bidders[count] = following
                bidders[max(count - 1, 0)] = loser
                count += 1
    return count


def _give_up(links: Links, state: State, raised: np.int64, slack: np.int64) -> Int32s:
    """Raise prices, and take out the rows whose place costs more than `slack` above their best one.

    Returned are these rows. Prices of rows become what their best place costs.
    """
    _raise_prices(state, raised)
    rows = state.rows.mate.size
    if rows < MANY_ROWS:
        return _give_up_part(links, state, slack, 0, rows)
    with ThreadPoolExecutor(2) as crew:
        parts = crew.map(partial(_give_up_part, links, state, slack), (0, rows // 2), (rows // 2, rows))
        return np.concatenate(list(parts))


@kernel
def _raise_prices(state: State, raised: np.int64) -> None:
    """Raise the prices of columns, to the lowest cost of staying alone at the most."""
    price = state.columns.price
    highest = state.columns.alone.min()
    for column in range(price.size):
        price[column] = min(highest, price[column] + raised)


@kernel
def _give_up_part(links: Links, state: State, slack: np.int64, first: int, last: int) -> Int32s:
    """Take out the rows from `first` to `last` − 1 that give up, as `_give_up` says.

    Threads may do this to different rows at once: each changes these rows and their own columns only.
    """
    start, other, cost = links.start, links.other, links.cost
    mate, alone, scale = state.rows.mate, state.rows.alone, state.scale
    column_mate, price = state.columns.mate, state.columns.price
    bidders = np.empty(last - first, dtype=np.int32)
    count = 0
    for row in range(first, last):
        column = mate[row]
        best = paid = alone[row]
        for link in range(start[row], start[row + 1]):
            value = cost[link] * scale - price[other[link]]
            if other[link] == column:
                paid = value
            best = min(best, value)
        state.rows.price[row] = best
        if paid > best + slack:
            if column != ALONE:
                column_mate[column] = ALONE
            mate[row] = ABSENT
            bidders[count] = row
            count += 1
    return bidders[:count]
