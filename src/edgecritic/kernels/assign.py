"""The exact one-to-one matching of all rows at once, and the two steps that keep it optimal under changes.

See `edgecritic.kernels.state` for the problem and its prices. Here a column that is alone may be *owed* in
the middle of an update: its row was removed, so its price is below its cost of staying alone, and `settle`
has not looked at it yet. `add` and `settle` are one search each, from a new row or from an owed column, and
the matching of what they have looked at is optimal after each.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Bools, Int32s, Int64s
from edgecritic.kernels.auction import MANY_ROWS, bid, hold_auction
from edgecritic.kernels.links import Links, from_columns
from edgecritic.kernels.search import Search, find_end, new_search
from edgecritic.kernels.state import ABSENT, ALONE, FAR, Side, State, new_state

__all__ = ["add", "settle", "solve", "solve_by_auction"]

_MOST_BIDS = 4  # of a row and those it drives out, before a search takes over
_FEW_VISITS = 30_000  # of all searches together: sooner than an auction, which may have to be compiled
_VISITS_OF_ROW = 1  # beyond these: a large problem whose searches visit more is looked at
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
def _add_waiting(
    links: Links, state: State, waiting: Bools, first: int, most_visits: int | np.int64
) -> tuple[int, int]:
    """Add waiting rows from `first` on until the searches have visited many nodes.

    Return the next row and the number of visits.
    """
    search = new_search(max(state.rows.mate.size, state.columns.mate.size))
    for row in range(first, waiting.size):
        if search.visits[0] > most_visits:
            return row, search.visits[0]
        if waiting[row]:
            add(links, state, search, row)
    return waiting.size, search.visits[0]


@kernel
def _bid_and_add(links: Links, state: State, most_visits: int | np.int64) -> tuple[Bools, int, int]:
    """Let absent rows bid, then add those that wait; return which waited, and then as `_add_waiting`.

    Rows without links stay alone.
    """
    mate = state.rows.mate
    waiting = np.zeros(mate.size, dtype=np.bool_)
    for row in range(mate.size):
        if mate[row] != ABSENT or waiting[row]:
            continue
        if links.start[row + 1] == links.start[row]:
            mate[row] = ALONE
            state.rows.price[row] = state.rows.alone[row]
            continue
        last = bid(links, state, row, _MOST_BIDS)
        waiting[last] = mate[last] == ABSENT
    done, visits = _add_waiting(links, state, waiting, 0, most_visits)
    return waiting, done, visits


@kernel
def _settle_owed(links: Links, state: State) -> None:
    """Settle all columns that are owed; `links` are those of the columns."""
    columns = state.columns
    search = new_search(max(state.rows.mate.size, columns.mate.size))
    for column in range(columns.mate.size):
        if columns.mate[column] == ALONE and columns.price[column] < columns.alone[column]:
            settle(links, state, search, column)


def solve_by_auction(links: Links, state: State) -> None:
    """Solve a whole problem from the prices of an auction on, whatever the state was before."""
    columns = state.columns.mate.size
    if state.rows.mate.size < MANY_ROWS:
        hold_auction(links, state)
        _bid_and_add(links, state, FAR)
        column_links = from_columns(links, columns)
    else:
        with ThreadPoolExecutor(1) as beside:
            made = beside.submit(from_columns, links, columns)
            hold_auction(links, state)
            _bid_and_add(links, state, FAR)
        column_links = made.result()
    _settle_owed(column_links, state)


def solve(links: Links, alone_rows: Int64s, alone_columns: Int64s, scale: int) -> State:
    """Return the optimum of a problem; see `edgecritic.kernels.state`.

    Most rows find their column by bidding; the others are added by searches, in the order of their numbers
    because neighbours share memory. If these visit many nodes, the problem is solved by an auction.
    Not a kernel, so that the auction, which few problems need, is compiled only for them.
    """
    rows = alone_rows.size
    most = _FEW_VISITS + _VISITS_OF_ROW * rows
    *arrays, limit, waiting, done, visits = _begin(*links, alone_rows, alone_columns, scale, most)
    mate, price, column_mate, column_price = arrays
    columns = Side(column_mate, column_price, alone_columns, np.int64(0))
    state = State(Side(mate, price, alone_rows, limit), columns, np.int64(scale))
    if _GOING_WELL * rows <= done < rows:
        done, _ = _add_waiting(links, state, waiting, done, _MANY_VISITS_OF_ROW * rows - visits)
    if done < rows:
        solve_by_auction(links, state)
    return state


@kernel
def _begin(
    start: Int64s,
    other: Int32s,
    cost: Int32s,
    alone_rows: Int64s,
    alone_columns: Int64s,
    scale: int,
    most: int,
) -> tuple[Any, ...]:
    """Make the state and bring rows in; arrays that stand alone pass between kernels and Python sooner."""
    state = new_state(alone_rows, alone_columns, scale)
    waiting, done, visits = _bid_and_add(Links(start, other, cost), state, most)
    rows, columns = state.rows, state.columns
    return rows.mate, rows.price, columns.mate, columns.price, rows.price_limit, waiting, done, visits
