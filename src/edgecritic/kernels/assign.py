"""The exact one-to-one matching of all rows at once, and the two steps that keep it optimal under changes.

See `edgecritic.kernels.state` for the problem and its prices. Here a column that is alone may be *owed* in
the middle of an update: its row was removed, so its price is below its cost of staying alone, and `settle`
has not looked at it yet. `add` and `settle` are one search each, from a new row or from an owed column, and
the matching of what they have looked at is optimal after each.
"""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Bools, Int32s
from edgecritic.kernels.links import Links, from_columns
from edgecritic.kernels.search import Search, find_end
from edgecritic.kernels.state import ABSENT, ALONE, FAR, Side, State

__all__ = ["add", "bid_for_all", "settle", "solve"]

_MOST_BIDS = 8  # of a row and those it drives out, before a search takes over
_MANY_VISITS = 12  # of all searches, per row: more than on maps of edges, so two steps may be quicker
_FEW_VISITS = 3  # per row: two steps are worth it if the first needs no more
_FEWER = 4  # so many times fewer rows must be left without a column in the first step


@kernel
def add(links: Links, state: State, search: Search, new: int) -> int:
    """Bring the row `new` into the problem and make the matching optimal again.

    Return the row that stays alone because of it (it may be `new` itself), or `ALONE` if there is none.
    """
    state.rows.price[new] = 0  # no price of a column is above 0, so no reduced cost is below
    end_row, end_column = find_end(links, state.rows, state.columns, state.scale, search, new)
    return end_row if end_column == ALONE else ALONE


@kernel
def settle(links: Links, state: State, search: Search, owed: int) -> int:
    """Offer the column `owed`, which lost its row, to the rows around it; the mirror image of `add`.

    Return the row that is no longer alone, or `ALONE` if there is none.
    """
    _, end_row = find_end(links, state.columns, state.rows, state.scale, search, owed)
    return end_row


@kernel
def _bid(links: Links, state: State, new: int) -> int:
    """Let a row, and those it drives out, bid for columns a few times.

    A bidder takes its cheapest column and raises that column's price until its second choice is as
    good. Return the row that is left without a column, or `ALONE` if there is none.
    """
    start, other, cost = links.start, links.other, links.cost
    row_mate, row_price, row_alone = state.rows.mate, state.rows.price, state.rows.alone
    column_mate, column_price = state.columns.mate, state.columns.price
    scale = state.scale
    row = new
    for _ in range(_MOST_BIDS):
        first = row_alone[row]
        second = FAR
        column = ALONE
        for link in range(start[row], start[row + 1]):
            scaled = cost[link] * scale
            if scaled >= second:
                break
            value = scaled - column_price[other[link]]
            if value < first:
                second = first
                first = value
                column = other[link]
            elif value < second:
                second = value
        row_mate[row] = column
        if column == ALONE:
            row_price[row] = first
            return ALONE
        column_price[column] -= second - first
        row_price[row] = second
        loser = column_mate[column]
        column_mate[column] = row
        if loser == ALONE:
            return ALONE
        row_mate[loser] = ABSENT
        row = loser
    return row


@kernel
def _nearest_first(links: Links) -> Int32s:
    """Return the rows that have links, those with the cheapest link first."""
    start, cost = links.start, links.cost
    count = start.size - 1
    largest = 0
    for row in range(count):
        if start[row + 1] > start[row]:
            largest = max(largest, cost[start[row]])
    place = np.zeros(largest + 2, dtype=np.int64)
    for row in range(count):
        if start[row + 1] > start[row]:
            place[cost[start[row]] + 1] += 1
    for step in range(largest + 1):
        place[step + 1] += place[step]
    order = np.empty(place[largest + 1], dtype=np.int32)
    for row in range(count):
        if start[row + 1] > start[row]:
            cheapest = cost[start[row]]
            order[place[cheapest]] = row
            place[cheapest] += 1
    return order


@kernel
def bid_for_all(links: Links, state: State) -> Bools:
    """Let all rows bid, in an order that makes rivals rare; say which rows are left without a column."""
    mate, price, alone = state.rows.mate, state.rows.price, state.rows.alone
    for row in range(mate.size):
        mate[row] = ALONE
        price[row] = alone[row]
    order = _nearest_first(links)
    for row in order:
        mate[row] = ABSENT
    waiting = np.zeros(mate.size, dtype=np.bool_)
    for row in order:
        loser = _bid(links, state, row)
        if loser != ALONE:
            waiting[loser] = True
    return waiting


@kernel
def _add_waiting(
    links: Links, state: State, search: Search, waiting: Bools, first: int, most_visits: int | np.int64
) -> int:
    """Add waiting rows, from `first` on, until the searches have visited many nodes; return the next row."""
    search.visits[0] = 0
    for row in range(first, waiting.size):
        if search.visits[0] > most_visits:
            return row
        if waiting[row]:
            add(links, state, search, row)
    return int(waiting.size)


@kernel
def _solve_in_two_steps(
    links: Links, state: State, search: Search, most_waiting: int, most_visits: int
) -> bool:
    """Solve the problem without the hashes in its prices first, then with them; say whether that was quick.

    On dense regular maps very many ways have equal costs. With hashes a search looks through all of them for
    the one free column with the best hash; without, any free column will do, and bids leave fewer rows
    without a column. Then all prices move by the largest hash, which leaves room for the others, and whoever
    is alone is looked at once more.
    """
    rows, columns, scale = state.rows, state.columns, state.scale
    alone = np.empty_like(rows.alone)
    for row in range(alone.size):
        alone[row] = rows.alone[row] // scale * scale
    rough = State(
        Side(np.empty_like(rows.mate), np.empty_like(rows.price), alone, rows.price_limit),
        Side(
            np.full_like(columns.mate, ALONE),
            np.zeros_like(columns.price),
            np.zeros_like(columns.alone),
            columns.price_limit,
        ),
        scale,
    )
    waiting = bid_for_all(links, rough)
    left = 0
    for row in range(waiting.size):
        left += waiting[row]
    if left > most_waiting or _add_waiting(links, rough, search, waiting, 0, most_visits) < waiting.size:
        return False
    lowest = columns.alone[0]
    for column in range(columns.alone.size):
        lowest = min(lowest, columns.alone[column])
    room = -lowest
    for row in range(rows.mate.size):
        rows.mate[row] = rough.rows.mate[row]
        rows.price[row] = rough.rows.price[row] + room
    for column in range(columns.mate.size):
        columns.mate[column] = rough.columns.mate[column]
        columns.price[column] = rough.columns.price[column] - room
    for row in range(rows.mate.size):
        if rows.mate[row] == ALONE:
            add(links, state, search, row)
    column_links = from_columns(links, columns.mate.size)
    for column in range(columns.mate.size):
        if columns.mate[column] == ALONE and columns.price[column] < columns.alone[column]:
            settle(column_links, state, search, column)
    return True


def solve(links: Links, state: State, search: Search) -> None:
    """Bring all rows into an empty problem.

    Most rows find their column by bidding; the others are added by searches, in the order of their numbers
    because neighbours share memory. If these visit many nodes, it is tried to solve the problem in two steps.
    Not a kernel, so that the two steps, which few problems need, are compiled only for them.
    """
    rows = state.rows.mate.size
    waiting = bid_for_all(links, state)
    row = _add_waiting(links, state, search, waiting, 0, _MANY_VISITS * rows)
    if row < rows:
        few = int(np.count_nonzero(waiting)) // _FEWER
        if not _solve_in_two_steps(links, state, search, few, _FEW_VISITS * rows):
            _add_waiting(links, state, search, waiting, row, int(FAR))
