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

The hashes of the columns take no part: their prices begin at the lowest cost of staying alone, and steps are
whole units of cost. So what costs the same stays equal, as on regular maps, where any of very many ways will
do; with hashes in the prices a search would look through all of them for the best.
"""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import inlined, kernel
from edgecritic.kernels.arrays import Int32s, Int64s
from edgecritic.kernels.links import Links
from edgecritic.kernels.state import ABSENT, ALONE, FAR, State

__all__ = ["cheapest_two", "hold_auction"]

_ROUNDS = 3
_FIRST_STEP = 8  # bits less than the cost of staying alone: about half the longest link
_FINER = 3  # bits, from one round to the next
_RAISED = 5  # steps, after a round


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


@kernel
def hold_auction(links: Links, state: State) -> Int32s:
    """Give columns to rows, and to both the prices that `edgecritic.kernels.state` asks for.

    Returned are the rows that are absent, in the order of their numbers. Columns that are alone may be owed.
    """
    rows, columns, scale = state.rows, state.columns, state.scale
    highest = columns.alone.min()
    count = rows.mate.size
    bidders = np.empty(count, dtype=np.int32)
    for row in range(count):
        rows.mate[row] = ABSENT
        bidders[row] = count - 1 - row  # the last bids first
    for column in range(columns.mate.size):
        columns.mate[column] = ALONE
        columns.price[column] = highest
    step = max(np.int64(1), (rows.price_limit // scale) >> _FIRST_STEP)
    for left in range(_ROUNDS - 1, -1, -1):
        _bid_in_turn(links, state, step * scale, bidders, count)
        if left > 0:
            for column in range(columns.mate.size):
                columns.price[column] = min(highest, columns.price[column] + _RAISED * step * scale)
        step = max(np.int64(1), step >> _FINER) if left > 0 else np.int64(0)
        count = _give_up(links, state, step * scale, bidders)
    return bidders[:count]


@kernel
def _bid_in_turn(links: Links, state: State, step: np.int64, bidders: Int32s, count: int) -> None:
    """Let bidders, and those they drive out, bid until each has a column or stays alone.

    Who was driven out bids next: the links that it looks at are near in memory.
    """
    mate, alone = state.rows.mate, state.rows.alone
    column_mate, price = state.columns.mate, state.columns.price
    while count > 0:
        count -= 1
        row = bidders[count]
        column, first, second = cheapest_two(links, price, state.scale, row, alone[row])
        mate[row] = column
        if column == ALONE:
            continue
        price[column] -= min(second - first + step, alone[row] - first)
        loser = column_mate[column]
        column_mate[column] = row
        if loser != ALONE:
            mate[loser] = ABSENT
            bidders[count] = loser
            count += 1


@kernel
def _give_up(links: Links, state: State, slack: np.int64, bidders: Int32s) -> int:
    """Take out the rows whose place costs more than `slack` above their best one; return how many.

    Prices of rows become what their best place costs.
    """
    start, other, cost = links.start, links.other, links.cost
    mate, alone, scale = state.rows.mate, state.rows.alone, state.scale
    column_mate, price = state.columns.mate, state.columns.price
    count = 0
    for row in range(mate.size):
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
    return count
