"""The largest one-to-one matching, whatever its cost, and how far its cost can be from the least.

Rows and columns are cells of a grid; the links of a row are the columns in the windows around it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgecritic.kernels._jit import inlined, kernel
from edgecritic.kernels.arrays import Int32s, Int64s, UInt64s
from edgecritic.kernels.grid import Grid
from edgecritic.kernels.ranks import Ranks
from edgecritic.kernels.state import ALONE, FAR
from edgecritic.kernels.windows import (
    Windows,
    bits_of,
    is_set,
    lowest_bit,
    nearest_set,
    rest_of,
    take_around,
    toggle,
    window,
)

__all__ = [
    "Board",
    "bid",
    "enlarge",
    "excess_cost",
    "exchange",
    "new_board",
    "part_excess",
    "place_columns",
    "plain_excess",
    "Prices",
]

_MOST_BIDS = 8  # of a row and those it drives out


class Board(NamedTuple):
    """The columns on a grid, and who has them.

    Attributes
    ----------
    there : bits of the columns; in the middle of a search those that it has not seen
    free : bits of the columns without a row
    owner : (cells,) int32
        The row of a column, or `ALONE`.
    price : (cells,) int64
        Of the columns; not above 0.
    via, total : (cells,) int32 and int64
        Scratch memory.
    """

    there: UInt64s
    free: UInt64s
    owner: Int32s
    price: Int64s
    via: Int32s
    total: Int64s


def new_board(grid: Grid) -> Board:
    """Make a board without columns."""
    nothing = bits_of(np.zeros(grid.size, dtype=np.bool_))
    return Board(
        there=nothing,
        free=nothing.copy(),
        owner=np.full(grid.size, ALONE, dtype=np.int32),
        price=np.zeros(grid.size, dtype=np.int64),
        via=np.empty(grid.size, dtype=np.int32),
        total=np.empty(grid.size, dtype=np.int64),
    )


@kernel
def place_columns(board: Board, columns: Int64s, bits: UInt64s) -> None:
    """Let the board have these columns, given as cells and as bits, all of them free."""
    for word in range(bits.size):
        board.there[word] = board.free[word] = bits[word]
    for column in columns:
        board.owner[column] = ALONE


@kernel
def enlarge(rows: Int64s, near: Windows, level: int, board: Board, mate: Int64s) -> int:
    """Make a matching as large as the offsets of a level allow; return its size.

    `mate` is the column, a flat cell, of every row, or `ALONE`; with `board` it holds a matching over such
    offsets, and both are changed. Rows take their nearest free column where they can; every other row
    searches, breadth first, for a way that alternates between free and matched links and ends at a free
    column. Columns that a search without success has seen lead nowhere in later searches either, and are
    not looked at again.
    """
    step, number, least = near.step, near.number, near.least
    mask = near.mask[level, : near.used[level]]
    there, free, owner, via = board.there, board.free, board.owner, board.via
    size = 0
    for row in range(rows.size):
        if mate[row] == ALONE:
            column = nearest_set(free, rows[row], step, number, least, mask)
            if column != ALONE:
                toggle(free, column)
                owner[column] = row
                mate[row] = column
        size += mate[row] != ALONE
    queue = np.empty(rows.size, dtype=np.int32)
    seen = np.empty(rows.size, dtype=np.int64)
    kept = 0  # so many of those seen are not looked at again
    for root in range(rows.size):
        if mate[root] != ALONE:
            continue
        queue[0] = root
        waiting, at, count, end = 1, 0, kept, np.int64(ALONE)
        while at < waiting and end == ALONE:
            row = queue[at]
            at += 1
            end = nearest_set(free, rows[row], step, number, least, mask)
            if end != ALONE:
                via[end] = row
                break
            known = count
            count = take_around(there, rows[row], step, mask, seen, count)
            for place in range(known, count):
                via[seen[place]] = row
                queue[waiting] = owner[seen[place]]
                waiting += 1
        if end == ALONE:
            kept = count
            continue
        size += 1
        toggle(free, end)
        _flip(owner, via, mate, root, end)
        for place in range(kept, count):
            toggle(there, seen[place])
    for place in range(kept):
        toggle(there, seen[place])
    return size


@inlined
def _flip(owner: Int32s, via: Int32s, mate: Int64s, root: int, end: int | np.int64) -> None:
    """Change mates along the way from the row `root` to the column `end`."""
    column = end
    while True:
        row = via[column]
        left = mate[row]
        mate[row] = column
        owner[column] = row
        if row == root:
            break
        column = left


@kernel
def exchange(
    rows: Int64s,
    near: Windows,
    level: int,
    below: int,
    board: Board,
    mate: Int64s,
    of_number: Int64s,
    number_of: Int64s,
) -> None:
    """Let rows take nearer columns that are free, and two rows exchange theirs, where that costs less.

    As many rows have a column as before. `below` is the limit of the level, `of_number` the cost of each
    offset, and `number_of` its number by flat step; the step 0 is in the middle, and a step that is no offset
    has a number beyond all limits.
    """
    there, free, owner = board.there, board.free, board.owner
    step, number, least = near.step, near.number, near.least
    mask, middle = near.mask[level, : near.used[level]], number_of.size // 2
    for row in range(rows.size):
        if mate[row] == ALONE:
            continue
        own = number_of[mate[row] - rows[row] + middle]
        for run in range(mask.size):
            if least[run] >= own:
                break
            first = rows[row] + step[run]
            word = window(there, first) & mask[run]
            while word != 0:
                place = lowest_bit(word)
                word = rest_of(word)
                new, column, old = number[run, place], first + place, mate[row]
                if new >= own:
                    continue
                rival = owner[column]
                if rival == ALONE:
                    toggle(free, old)
                    toggle(free, column)
                else:
                    away = old - rows[rival] + middle
                    if away < 0 or away >= number_of.size or number_of[away] >= below:
                        continue
                    theirs = number_of[column - rows[rival] + middle]
                    if of_number[new] + of_number[number_of[away]] >= of_number[own] + of_number[theirs]:
                        continue
                    mate[rival] = old
                owner[old] = rival
                owner[column] = row
                mate[row] = column
                own = new


class Prices(NamedTuple):
    """What links cost, and what they cost at least.

    Attributes
    ----------
    of_number : int64
        The cost of each offset of the neighbourhood.
    of_step : int64
        The same by flat step; the step 0 is in the middle.
    row_ranks, column_ranks : uint16
        By cell the number of the nearest offset to a column, and to a row.
    """

    of_number: Int64s
    of_step: Int64s
    row_ranks: Ranks
    column_ranks: Ranks


@kernel
def plain_excess(rows: Int64s, mate: Int64s, prices: Prices) -> np.int64:
    """Return what a matching costs above the nearest columns, or above the nearest rows if that is less."""
    of_number, of_step, row_ranks, column_ranks = prices
    by_row = by_column = np.int64(0)
    for row in range(rows.size):
        if mate[row] != ALONE:
            paid = of_step[mate[row] - rows[row] + of_step.size // 2]
            by_row += paid - of_number[row_ranks[rows[row]]]
            by_column += paid - of_number[column_ranks[mate[row]]]
    return min(by_row, by_column)


@kernel
def part_excess(
    rows: Int64s, row_bits: UInt64s, mate: Int64s, near: Windows, level: int, board: Board, prices: Prices
) -> np.int64:
    """Return the `plain_excess` of the connected part of the links where it is most."""
    of_number, of_step, row_ranks, column_ranks = prices
    step, mask, owner = near.step, near.mask[level, : near.used[level]], board.owner
    open_rows, open_columns = row_bits.copy(), board.there.copy()
    seen_rows = np.empty(rows.size, dtype=np.int64)
    seen_columns = np.empty(owner.size, dtype=np.int64)
    most = np.int64(0)
    for root in range(rows.size):
        if mate[root] == ALONE or not is_set(open_rows, rows[root]):
            continue
        toggle(open_rows, rows[root])
        seen_rows[0] = rows[root]
        last_row, last_column, row, column = 1, 0, 0, 0
        by_row = by_column = np.int64(0)
        while row < last_row:
            last_column = take_around(open_columns, seen_rows[row], step, mask, seen_columns, last_column)
            row += 1
            while column < last_column:
                here = seen_columns[column]
                column += 1
                last_row = take_around(open_rows, here, step, mask, seen_rows, last_row)
                if owner[here] != ALONE:
                    paid = of_step[here - rows[owner[here]] + of_step.size // 2]
                    by_row += paid - of_number[row_ranks[rows[owner[here]]]]
                    by_column += paid - of_number[column_ranks[here]]
        most = max(most, min(by_row, by_column))
    return most


@kernel
def bid(
    rows: Int64s,
    columns: Int64s,
    near: Windows,
    level: int,
    board: Board,
    mate: Int64s,
    cost: Int64s,
    limit: int,
) -> None:
    """Let rows bid for columns, in their order, and those that are driven out a few times.

    A bidder takes the column that is cheapest, its price taken off the cost, and raises that until its second
    choice is as good. Who would have to pay more than the limit stays alone. Nobody has a column before.
    """
    there, free, owner, price = board.there, board.free, board.owner, board.price
    step, number, least = near.step, near.number, near.least
    mask = near.mask[level, : near.used[level]]
    for column in columns:
        price[column] = 0
    for new in range(rows.size):
        row = new
        for _ in range(_MOST_BIDS):
            lowest, second, chosen = np.int64(limit), FAR, np.int64(ALONE)
            for run in range(mask.size):
                if cost[least[run]] >= second:
                    break
                first = rows[row] + step[run]
                word = window(there, first) & mask[run]
                while word != 0:
                    place = lowest_bit(word)
                    word = rest_of(word)
                    value = cost[number[run, place]] - price[first + place]
                    if value < lowest:
                        second, lowest, chosen = lowest, value, first + place
                    elif value < second:
                        second = value
            if chosen == ALONE:
                break
            price[chosen] -= second - lowest
            loser = owner[chosen]
            owner[chosen] = row
            mate[row] = chosen
            if loser == ALONE:
                toggle(free, chosen)
                break
            mate[loser] = ALONE
            row = loser


@kernel
def excess_cost(
    rows: Int64s, columns: Int64s, near: Windows, level: int, board: Board, mate: Int64s, cost: Int64s
) -> np.int64:
    """Return a limit of what the last pair of a largest matching costs.

    With u(row) = min cost − price over the links of the row, the limit is the largest u and, of the connected
    part of the links where this is most, all that the matched links cost above u + price.
    """
    there, price, parent, total = board.there, board.price, board.via, board.total
    step, number, mask = near.step, near.number, near.mask[level, : near.used[level]]
    for column in columns:
        parent[column] = column
        total[column] = 0
    highest = np.int64(0)
    for row in range(rows.size):
        if mate[row] == ALONE:
            continue
        group = _root(parent, mate[row])
        lowest, own = FAR, FAR
        for run in range(mask.size):
            first = rows[row] + step[run]
            word = window(there, first) & mask[run]
            while word != 0:
                place = lowest_bit(word)
                word = rest_of(word)
                value = cost[number[run, place]] - price[first + place]
                lowest = min(lowest, value)
                if first + place == mate[row]:
                    own = value
                parent[_root(parent, first + place)] = group
        highest = max(highest, lowest)
        total[mate[row]] = own - lowest
    most = np.int64(0)
    for column in columns:
        group = _root(parent, column)
        if group != column:
            total[group] += total[column]
    for column in columns:
        if parent[column] == column:
            most = max(most, total[column])
    return highest + most


@kernel
def _root(parent: Int32s, node: int | np.int64) -> int | np.int64:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node
