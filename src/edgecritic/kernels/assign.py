"""The exact one-to-one matching of all rows at once, and the two steps that keep it optimal under changes.

See `edgecritic.kernels.state` for the problem and its prices. Here a column that is alone may be *owed* in
the middle of an update: its row was removed, so its price is below its cost of staying alone, and `settle`
has not looked at it yet. `add` and `settle` are one search each, from a new row or from an owed column, and
the matching of what they have looked at is optimal after each.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Bools, Int32s
from edgecritic.kernels.auction import MANY_ROWS, cheapest_two, hold_auction
from edgecritic.kernels.links import Links, from_columns
from edgecritic.kernels.search import Search, find_end
from edgecritic.kernels.state import ABSENT, ALONE, FAR, State

__all__ = ["add", "settle", "solve", "solve_by_auction"]

_MOST_BIDS = 8  # of a row and those it drives out, before a search takes over
_FEW_VISITS = 30_000  # of all searches together: sooner than an auction, which may have to be compiled
_VISITS_OF_ROW = 2  # beyond these: a large problem whose searches visit more is looked at
_GOING_WELL = 0.4  # of the rows are done by then: the searches may go on
_MANY_VISITS_OF_ROW = 16  # as long as an auction takes


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
    row_mate, row_price, row_alone = state.rows.mate, state.rows.price, state.rows.alone
    column_mate, column_price = state.columns.mate, state.columns.price
    row = new
    for _ in range(_MOST_BIDS):
        column, first, second = cheapest_two(links, column_price, state.scale, row, row_alone[row])
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
def _take_out(links: Links, state: State) -> Int32s:
    """Take the rows that have links out of the problem, and return them; the others stay alone."""
    mate, price, alone = state.rows.mate, state.rows.price, state.rows.alone
    rows = np.empty(mate.size, dtype=np.int32)
    count = 0
    for row in range(mate.size):
        mate[row] = ALONE
        price[row] = alone[row]
        if links.start[row + 1] > links.start[row]:
            mate[row] = ABSENT
            rows[count] = row
            count += 1
    return rows[:count]


@kernel
def _add_waiting(
    links: Links, state: State, search: Search, waiting: Bools, first: int, most_visits: int | np.int64
) -> int:
    """Add waiting rows from `first` on until the searches have visited many nodes; return the next row."""
    for row in range(first, waiting.size):
        if search.visits[0] > most_visits:
            return row
        if waiting[row]:
            add(links, state, search, row)
    return int(waiting.size)


@kernel
def _bid_and_add(
    links: Links, state: State, search: Search, order: Int32s, most_visits: int | np.int64
) -> tuple[Bools, int]:
    """Let rows bid, then add those that wait; return which waited, and the next row as `_add_waiting`."""
    waiting = np.zeros(state.rows.mate.size, dtype=np.bool_)
    for row in order:
        loser = _bid(links, state, row)
        if loser != ALONE:
            waiting[loser] = True
    search.visits[0] = 0
    return waiting, _add_waiting(links, state, search, waiting, 0, most_visits)


@kernel
def _settle_owed(links: Links, state: State, search: Search) -> None:
    """Settle all columns that are owed; `links` are those of the columns."""
    columns = state.columns
    for column in range(columns.mate.size):
        if columns.mate[column] == ALONE and columns.price[column] < columns.alone[column]:
            settle(links, state, search, column)


def solve_by_auction(links: Links, state: State, search: Search) -> None:
    """Solve a whole problem from the prices of an auction on, whatever the state was before."""
    left = hold_auction(links, state)
    columns = state.columns.mate.size
    if state.rows.mate.size < MANY_ROWS:
        _bid_and_add(links, state, search, left, FAR)
        column_links = from_columns(links, columns)
    else:
        with ThreadPoolExecutor(1) as beside:
            made = beside.submit(from_columns, links, columns)
            _bid_and_add(links, state, search, left, FAR)
        column_links = made.result()
    _settle_owed(column_links, state, search)


def solve(links: Links, state: State, search: Search) -> None:
    """Bring all rows into an empty problem.

    Most rows find their column by bidding; the others are added by searches, in the order of their numbers
    because neighbours share memory. If these visit many nodes, the problem is solved by an auction.
    Not a kernel, so that the auction, which few problems need, is compiled only for them.
    """
    rows = state.rows.mate.size
    most = _FEW_VISITS + _VISITS_OF_ROW * rows
    waiting, done = _bid_and_add(links, state, search, _take_out(links, state), most)
    if _GOING_WELL * rows <= done < rows:
        done = _add_waiting(links, state, search, waiting, done, _MANY_VISITS_OF_ROW * rows)
    if done < rows:
        solve_by_auction(links, state, search)
