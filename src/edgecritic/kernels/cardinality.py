"""The largest one-to-one matching, whatever its cost, and how far its cost can be from the least."""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Int32s, Int64s
from edgecritic.kernels.links import Links
from edgecritic.kernels.state import ALONE, FAR

__all__ = ["enlarge", "excess_cost", "plain_excess", "shortened"]


@kernel
def enlarge(links: Links, below: int, row_mate: Int32s, column_mate: Int32s) -> int:
    """Make a matching as large as the links whose cost lies below a limit allow; return its size.

    `row_mate` and `column_mate` hold a matching over such links and are changed. Rows take their nearest free
    column where they can; every other row searches, breadth first, for a way that alternates between
    free and matched links and ends at a free column. Columns that a search without success has
    seen lead nowhere in later searches either, and are not looked at again.
    """
    start, other, cost = links.start, links.other, links.cost
    size = 0
    for row in range(row_mate.size):
        for link in range(start[row], start[row + 1]):
            if row_mate[row] != ALONE or cost[link] >= below:
                break
            if column_mate[other[link]] == ALONE:
                row_mate[row] = other[link]
                column_mate[other[link]] = row
        size += row_mate[row] != ALONE
    via = np.full(column_mate.size, ALONE, dtype=np.int32)
    queue = np.empty(row_mate.size, dtype=np.int32)
    seen = np.empty(column_mate.size, dtype=np.int32)
    for root in range(row_mate.size):
        if row_mate[root] != ALONE:
            continue
        queue[0] = root
        waiting, at, count, end = 1, 0, 0, ALONE
        while at < waiting and end == ALONE:
            row = queue[at]
            at += 1
            for link in range(start[row], start[row + 1]):
                if cost[link] >= below:
                    break
                column = other[link]
                if via[column] != ALONE:
                    continue
                via[column] = row
                seen[count] = column
                count += 1
                if column_mate[column] == ALONE:
                    end = column
                    break
                queue[waiting] = column_mate[column]
                waiting += 1
        if end != ALONE:
            size += 1
            _flip(row_mate, column_mate, via, root, end)
            for place in range(count):
                via[seen[place]] = ALONE
    return size


@kernel
def _flip(row_mate: Int32s, column_mate: Int32s, via: Int32s, root: int, end: int) -> None:
    """Change mates along the way from the row `root` to the column `end`."""
    column = end
    while True:
        row = via[column]
        left = row_mate[row]
        row_mate[row] = column
        column_mate[column] = row
        if row == root:
            break
        column = left


@kernel
def plain_excess(links: Links, below: int, row_mate: Int32s, prices: Int64s) -> np.int64:
    """Return the limit of `excess_cost` for columns without prices, with the excess of all parts together.

    The costs of links are places in the table `prices`; those from `below` on do not count.
    """
    start, other, cost = links.start, links.other, links.cost
    excess = np.int64(prices[below - 1])
    for row in range(row_mate.size):
        if row_mate[row] != ALONE:
            link = start[row]
            while other[link] != row_mate[row]:
                link += 1
            excess += prices[cost[link]] - prices[cost[start[row]]]
    return excess


@kernel
def shortened(links: Links, below: int, prices: Int64s) -> Links:
    """Return the links whose cost, a place in the table `prices`, lies below a limit, with their price."""
    start, other, cost = links.start, links.other, links.cost
    kept_start = np.empty_like(start)
    kept_other = np.empty_like(other)
    kept_cost = np.empty_like(cost)
    size = 0
    for row in range(start.size - 1):
        kept_start[row] = size
        for link in range(start[row], start[row + 1]):
            if cost[link] >= below:
                break
            kept_other[size] = other[link]
            kept_cost[size] = prices[cost[link]]
            size += 1
    kept_start[start.size - 1] = size
    return Links(kept_start, kept_other[:size], kept_cost[:size])


@kernel
def _root(parent: Int32s, node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@kernel
def excess_cost(links: Links, row_mate: Int32s, column_price: Int64s, scale: int) -> np.int64:
    """Return a limit of what the last pair of a largest matching costs, in units of prices.

    `column_price` are any prices that are not above 0. With u(row) = min cost − price over the links of the
    row, the limit is the largest u and, of the connected part of the links where this is most, all that the
    matched links cost above u + price.
    """
    start, other, cost = links.start, links.other, links.cost
    parent = np.arange(column_price.size).astype(np.int32)
    excess = np.zeros(column_price.size, dtype=np.int64)
    highest = np.int64(0)
    for row in range(row_mate.size):
        if row_mate[row] == ALONE:
            continue
        lowest, own = FAR, FAR
        group = _root(parent, row_mate[row])
        for link in range(start[row], start[row + 1]):
            price = cost[link] * scale - column_price[other[link]]
            lowest = min(lowest, price)
            if other[link] == row_mate[row]:
                own = price
            parent[_root(parent, other[link])] = group
        highest = max(highest, lowest)
        excess[row_mate[row]] = own - lowest
    most = np.int64(0)
    for column in range(column_price.size):
        group = _root(parent, column)
        if group != column:
            excess[group] += excess[column]
        most = max(most, excess[group])
    return highest + most
