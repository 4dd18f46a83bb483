"""The exact one-to-one matching of all rows at once.

See `edgecritic.kernels.state` for the problem and its prices. Most rows find their column by bidding. The
others grow trees: Dijkstra searches on the reduced costs cost − u − v from many rows at a time, which share
the graph, so that none walks through what another has passed. The trees of the Hungarian method, with
the augmenting row reduction of Jonker & Volgenant 1987 before them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.links import Links
from edgecritic.kernels.state import ABSENT, ALONE, FAR, Ints, Places, State

__all__ = ["solve"]

_MOST_BIDS = 4
_MOST_TREES = 4096


class Trees(NamedTuple):
    """Scratch memory of the trees.

    Attributes
    ----------
    tree_of, passed : one per row
        The tree that a row is in (−1: none), and its distance less its price.
    reach, via, offered, place : one per column
        The best offer so far is a distance of reach − price from the row `via`, whose `passed` was
        `offered` then; `place` is the column's place in the heap. Reach is far for a column without an
        offer and minus far for one in a tree.
    after : one per column
        Links the columns of a tree.
    """

    tree_of: Places
    passed: Ints
    reach: Ints
    via: Places
    offered: Ints
    place: Places
    after: Places
    heap_key: Ints
    heap_node: Places


@kernel
def _new_trees(rows: int, columns: int) -> Trees:
    return Trees(
        np.full(rows, -1, dtype=np.int32),
        np.empty(rows, dtype=np.int64),
        np.full(columns, FAR, dtype=np.int64),
        np.empty(columns, dtype=np.int32),
        np.empty(columns, dtype=np.int64),
        np.full(columns, -1, dtype=np.int32),
        np.empty(columns, dtype=np.int32),
        np.empty(columns, dtype=np.int64),
        np.empty(columns, dtype=np.int32),
    )


@kernel
def _sift_up(keys: Ints, nodes: Places, place: Places, hole: int, key: int, node: int) -> None:
    """Put an entry into the heap at `hole` or above; `place` tells where every node is."""
    while hole > 0:
        parent = (hole - 1) >> 1
        if keys[parent] <= key:
            break
        keys[hole] = keys[parent]
        nodes[hole] = nodes[parent]
        place[nodes[hole]] = hole
        hole = parent
    keys[hole] = key
    nodes[hole] = node
    place[node] = hole


@kernel
def _drop_first(keys: Ints, nodes: Places, place: Places, size: int) -> None:
    """Take the first entry out of a heap of `size` entries."""
    place[nodes[0]] = -1
    last = size - 1
    if last == 0:
        return
    key = keys[last]
    node = nodes[last]
    hole = 0
    while True:
        child = 2 * hole + 1
        if child >= last:
            break
        if child + 1 < last and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[hole] = keys[child]
        nodes[hole] = nodes[child]
        place[nodes[hole]] = hole
        hole = child
    keys[hole] = key
    nodes[hole] = node
    place[node] = hole


@kernel
def _best_offer(links: Links, state: State, trees: Trees, column: int) -> np.int64:
    """Find the row of a living tree that reaches `column` first; return its reach, or far."""
    start, other, cost = links.start, links.other, links.cost
    tree_of, passed = trees.tree_of, trees.passed
    scale = state.scale[0]
    least = FAR
    best = ALONE
    for link in range(start[column], start[column + 1]):
        row = other[link]
        if tree_of[row] >= 0:
            offer = passed[row] + cost[link] * scale
            if offer < least:
                least = offer
                best = row
    trees.reach[column] = least
    if best != ALONE:
        trees.via[column] = best
        trees.offered[column] = passed[best]
    return least


@kernel
def _make_offers(links: Links, state: State, trees: Trees, row: int, heap: int) -> int:
    """Let a row that has just come into a tree offer itself to its columns; return the heap's size."""
    start, other, cost = links.start, links.other, links.cost
    v, reach, via, place, offered = state.v, trees.reach, trees.via, trees.place, trees.offered
    keys, nodes = trees.heap_key, trees.heap_node
    scale = state.scale[0]
    base = trees.passed[row]
    for link in range(start[row], start[row + 1]):
        column = other[link]
        least = base + cost[link] * scale
        if least < reach[column]:
            reach[column] = least
            via[column] = row
            offered[column] = base
            hole = place[column]
            if hole < 0:
                hole = heap
                heap += 1
            _sift_up(keys, nodes, place, hole, least - v[column], column)
    return heap


@kernel
def _fell(
    state: State, trees: Trees, first: int, root: int, time: np.int64, end_row: int, end_column: int
) -> None:
    """End a tree at `time`: fix the prices of its columns (a list from `first` on) and flip its path."""
    row_of, column_of, u, v = state.row_of, state.column_of, state.u, state.v
    passed, tree_of, after = trees.passed, trees.tree_of, trees.after
    column = first
    while column >= 0:
        row = row_of[column]
        rise = time - passed[row] - u[row]
        v[column] -= rise
        u[row] += rise
        tree_of[row] = -1
        column = after[column]
    u[root] = time
    tree_of[root] = -1
    row = end_row
    column = end_column
    while True:
        left = column_of[row]
        column_of[row] = column
        if column != ALONE:
            row_of[column] = row
        if row == root:
            break
        column = left
        row = trees.via[column]


@kernel
def grow(row_links: Links, column_links: Links, state: State, trees: Trees, roots: Places) -> None:
    """Bring new rows into the problem, all at once.

    A tree grows from every root, all at the same pace: from rows to columns over any link and from a
    column back to its own row. A column belongs to the tree that reaches it first. A tree ends when it
    reaches a column that is alone, or when one of its rows gives up its column and stays alone; its
    columns are then free for the other trees.
    """
    row_of, u, v, dummy = state.row_of, state.u, state.v, state.dummy
    reach, via, place, offered = trees.reach, trees.via, trees.place, trees.offered
    tree_of, passed, after = trees.tree_of, trees.passed, trees.after
    keys, nodes = trees.heap_key, trees.heap_node

    columns_of = np.full(roots.size, -1, dtype=np.int32)  # list of each tree's columns, linked by `after`
    give_up_time = np.empty(roots.size, dtype=np.int64)  # when a row of the tree would give up its column
    give_up_row = np.empty(roots.size, dtype=np.int32)
    first_time = FAR
    first_tree = -1
    for tree in range(roots.size):
        row = roots[tree]
        tree_of[row] = tree
        passed[row] = 0  # of a row in a tree: its distance, less its price
        give_up_time[tree] = dummy[row]
        give_up_row[tree] = row
        if dummy[row] < first_time:
            first_time = dummy[row]
            first_tree = tree
    heap = 0
    for row in roots:
        heap = _make_offers(row_links, state, trees, row, heap)
    living = roots.size
    while living > 0:
        if heap == 0 or keys[0] >= first_time:
            time = first_time
            tree = first_tree
            end_row = give_up_row[tree]
            end_column = ALONE
        else:
            time = keys[0]
            column = nodes[0]
            _drop_first(keys, nodes, place, heap)
            heap -= 1
            row = via[column]
            tree = tree_of[row]
            if tree < 0 or passed[row] != offered[column]:
                # The tree that made this offer has ended; who is next?
                least = _best_offer(column_links, state, trees, column)
                if least < FAR:
                    _sift_up(keys, nodes, place, heap, least - v[column], column)
                    heap += 1
                continue
            if row_of[column] != ALONE:
                reach[column] = -FAR
                after[column] = columns_of[tree]
                columns_of[tree] = column
                row = row_of[column]
                tree_of[row] = tree
                passed[row] = time - u[row]
                if passed[row] + dummy[row] < give_up_time[tree]:
                    give_up_time[tree] = passed[row] + dummy[row]
                    give_up_row[tree] = row
                    if give_up_time[tree] < first_time:
                        first_time = give_up_time[tree]
                        first_tree = tree
                heap = _make_offers(row_links, state, trees, row, heap)
                continue
            end_row = row
            end_column = column
        _fell(state, trees, columns_of[tree], roots[tree], time, end_row, end_column)
        living -= 1
        give_up_time[tree] = FAR
        if tree == first_tree:
            first_time = FAR
            for other_tree in range(roots.size):
                if give_up_time[other_tree] < first_time:
                    first_time = give_up_time[other_tree]
                    first_tree = other_tree
        if end_column != ALONE:
            after[end_column] = columns_of[tree]
            columns_of[tree] = end_column
        column = columns_of[tree]
        while column >= 0:
            reach[column] = FAR
            if living > 0:
                least = _best_offer(column_links, state, trees, column)
                if least < FAR:
                    _sift_up(keys, nodes, place, heap, least - v[column], column)
                    heap += 1
            column = after[column]
    for at in range(heap):
        reach[nodes[at]] = FAR
        place[nodes[at]] = -1


@kernel
def _bid(links: Links, state: State, new: int) -> int:
    """Let a row, and those it drives out, bid for columns a few times.

    A bidder takes its cheapest column and raises that column's price until its second choice is as
    good. Return the row that is left without a column, or `ALONE` if there is none.
    """
    start, other, cost = links.start, links.other, links.cost
    row_of, column_of = state.row_of, state.column_of
    u, v, dummy = state.u, state.v, state.dummy
    scale = state.scale[0]
    row = new
    for _ in range(_MOST_BIDS):
        first = dummy[row]
        second = FAR
        column = ALONE
        for link in range(start[row], start[row + 1]):
            least = cost[link] * scale
            if least >= second:
                break
            value = least - v[other[link]]
            if value < first:
                second = first
                first = value
                column = other[link]
            elif value < second:
                second = value
        column_of[row] = column
        if column == ALONE:
            u[row] = first
            return ALONE
        v[column] -= second - first
        u[row] = second
        loser = row_of[column]
        row_of[column] = row
        if loser == ALONE:
            return ALONE
        column_of[loser] = ABSENT
        row = loser
    return row


@kernel
def _nearest_first(links: Links) -> Places:
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
            near = cost[start[row]]
            order[place[near]] = row
            place[near] += 1
    return order


@kernel
def solve(row_links: Links, column_links: Links, state: State) -> Places:
    """Bring all rows into an empty problem.

    Most rows find their column by bidding, in an order that makes rivals rare. The others grow trees
    together if they are few. Many trees would not fit in the processor's cache: the rows are then returned
    instead, to be brought in one by one.
    """
    u, dummy, column_of = state.u, state.dummy, state.column_of
    for row in range(column_of.size):
        column_of[row] = ALONE
        u[row] = dummy[row]
    order = _nearest_first(row_links)
    for row in order:
        column_of[row] = ABSENT
    waits = np.zeros(column_of.size, dtype=np.bool_)
    count = 0
    for row in order:
        loser = _bid(row_links, state, row)
        if loser != ALONE:
            waits[loser] = True
            count += 1
    waiting = np.empty(count, dtype=np.int32)
    count = 0
    for row in range(waits.size):
        if waits[row]:
            waiting[count] = row
            count += 1
    if waiting.size > _MOST_TREES:
        return waiting
    trees = _new_trees(column_of.size, state.row_of.size)
    grow(row_links, column_links, state, trees, waiting)
    return waiting[:0]
