"""The exact one-to-one matching: of all rows at once, or kept optimal while rows come and go.

See `edgecritic.kernels.state` for the problem and its prices. Here a column that is alone may be *owed* in
the middle of an update: its row was removed, so v < idle, and `_settle` has not looked at it yet.

`_add` and `_settle` are one Dijkstra search on the reduced costs cost − u − v, from a new row or from an owed
column. It stops at the cheapest way to end and moves the prices of what it passed, which keeps the
conditions, so the matching is optimal after every step (Jonker & Volgenant 1987).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgecritic.kernels._jit import inlined, kernel
from edgecritic.kernels.arrays import Bools, Int32s, Int64s
from edgecritic.kernels.heap import drop_first, push, shorten, tidy
from edgecritic.kernels.links import Links, from_columns
from edgecritic.kernels.state import ABSENT, ALONE, FAR, State

__all__ = ["Search", "Tally", "new_search", "new_tally", "solve", "update", "sweep"]

_MOST_BIDS = 8  # of a row and those it drives out, before a search takes over
_MANY_VISITS = 12  # of all searches, per row: more than on maps of edges, so two steps may be quicker
_FEW_VISITS = 3  # per row: two steps are worth it if the first needs no more
_STRIDE = 64  # from one horizon to the next, in units of cost


class Search(NamedTuple):
    """Scratch memory of the searches.

    In a search the distance of a node is reach − price; between searches `reach` is far for every node.
    Nodes at the distance that the search has come to wait in the stack `near` (most are reached over links
    of reduced cost 0), farther ones in the heap, those beyond the horizon in the unsorted list `far`: most of
    them are never visited. `visits` counts the nodes that were visited, over all searches.
    """

    reach: Int64s
    via: Int32s
    seen: Int32s
    done: Int32s
    near: Int32s
    heap_key: Int64s
    heap_node: Int32s
    far_key: Int64s
    far_node: Int32s
    visits: Int64s


def new_search(nodes: int) -> Search:
    """Make the memory for a problem with at most `nodes` rows and as many columns."""
    return Search(
        reach=np.full(nodes, FAR, dtype=np.int64),
        via=np.empty(nodes, dtype=np.int32),
        seen=np.empty(nodes, dtype=np.int32),
        done=np.empty(nodes, dtype=np.int32),
        near=np.empty(nodes, dtype=np.int32),
        heap_key=np.empty(2 * nodes + 64, dtype=np.int64),
        heap_node=np.empty(2 * nodes + 64, dtype=np.int32),
        far_key=np.empty(2 * nodes + 64, dtype=np.int64),
        far_node=np.empty(2 * nodes + 64, dtype=np.int32),
        visits=np.zeros(1, dtype=np.int64),
    )


@kernel
def _advance(search: Search, price: Int64s, distant: int, stride: int) -> tuple[int, int, np.int64]:
    """Move the nearest of the unsorted list into the empty heap; return both sizes and the horizon."""
    keys, nodes = search.far_key, search.far_node
    distant = shorten(keys, nodes, distant, search.reach, price)
    horizon = FAR
    for at in range(distant):
        horizon = min(horizon, keys[at] + stride)
    heap = kept = 0
    for at in range(distant):
        key = keys[at]
        node = nodes[at]
        if key < horizon:
            push(search.heap_key, search.heap_node, heap, key, node)
            heap += 1
        else:
            keys[kept] = key
            nodes[kept] = node
            kept += 1
    return heap, kept, horizon


@inlined
def _find_end(
    links: Links,
    mate: Int32s,
    other_mate: Int32s,
    price: Int64s,
    other_price: Int64s,
    alone: Int64s,
    most: np.int64,
    scale: int,
    search: Search,
    root: int,
) -> tuple[int, int]:
    """Give the node `root`, which has no mate, its place in the matching, and make that optimal again.

    Nodes of the root's side are called ours, those of the other side theirs; `alone` is what it costs one of
    ours to stay alone, `most` is at least the price of any of theirs. The search goes from ours to
    theirs over any link and from one of theirs back to its mate. It ends at one of theirs that is alone,
    or at one of ours that gives up its mate and stays alone instead. Returned are the last node of
    ours and of theirs on the path; in the second case the latter is `ALONE`.
    """
    start, other, cost = links.start, links.other, links.cost
    reach, via, seen, done, near = search.reach, search.via, search.seen, search.done, search.near
    keys, nodes = search.heap_key, search.heap_node
    far_key, far_node = search.far_key, search.far_node
    stride = _STRIDE * scale

    best = alone[root] - price[root]
    end = root
    other_end = ALONE
    ours = root
    now = np.int64(0)
    passed = -price[root]  # distance of `ours`, which is `now`, less its price
    horizon = now  # what is farther waits in the unsorted list
    heap = waiting = distant = seen_count = done_count = 0
    while True:
        for link in range(start[ours], start[ours + 1]):
            least = passed + cost[link] * scale
            if least - most >= best:
                break
            theirs = other[link]
            if least >= reach[theirs]:
                continue
            distance = least - other_price[theirs]
            if distance >= best:
                continue
            if other_mate[theirs] < 0:
                if other_mate[theirs] == ALONE:
                    best = distance
                    end = ours
                    other_end = theirs
                continue
            if reach[theirs] == FAR:
                seen[seen_count] = theirs
                seen_count += 1
            reach[theirs] = least
            via[theirs] = ours
            if distance == now:
                near[waiting] = theirs
                waiting += 1
            elif distance >= horizon:
                if distant == far_key.size:
                    distant = shorten(far_key, far_node, distant, reach, other_price)
                far_key[distant] = distance
                far_node[distant] = theirs
                distant += 1
            else:
                if heap == keys.size:
                    heap = tidy(keys, nodes, heap, reach, other_price)
                push(keys, nodes, heap, distance, theirs)
                heap += 1
        if now >= best:
            break
        found = waiting > 0
        if found:
            waiting -= 1
            theirs = near[waiting]
        while not found:
            if heap == 0:
                if distant == 0:
                    break
                heap, distant, horizon = _advance(search, other_price, distant, stride)
                if heap == 0:
                    break
            if keys[0] >= best:
                break
            now = keys[0]
            theirs = nodes[0]
            found = now == reach[theirs] - other_price[theirs]
            drop_first(keys, nodes, heap)
            heap -= 1
        if not found:
            break
        done[done_count] = theirs
        done_count += 1
        ours = other_mate[theirs]
        passed = now - price[ours]
        if passed + alone[ours] < best:
            best = passed + alone[ours]
            end = ours
            other_end = ALONE

    search.visits[0] += done_count
    price[root] += best
    for at in range(done_count):
        theirs = done[at]
        rise = best + other_price[theirs] - reach[theirs]
        other_price[theirs] -= rise
        price[other_mate[theirs]] += rise
    for at in range(seen_count):
        reach[seen[at]] = FAR
    _flip(mate, other_mate, via, root, end, other_end)
    return end, other_end


@inlined
def _flip(mate: Int32s, other_mate: Int32s, via: Int32s, root: int, end: int, other_end: int) -> None:
    """Change mates along the path from `root` to `end` and `other_end`."""
    ours = end
    theirs = other_end
    while True:
        left = mate[ours]
        mate[ours] = theirs
        if theirs != ALONE:
            other_mate[theirs] = ours
        if ours == root:
            break
        theirs = left
        ours = via[theirs]


@kernel
def _add(links: Links, state: State, search: Search, new: int) -> int:
    """Bring the row `new` into the problem and make the matching optimal again.

    Return the row that stays alone because of it (it may be `new` itself), or `ALONE` if there is none.
    """
    state.u[new] = 0
    scale, most = state.scale[0], np.int64(0)
    end_row, end_column = _find_end(
        links, state.column_of, state.row_of, state.u, state.v, state.dummy, most, scale, search, new
    )
    return end_row if end_column == ALONE else ALONE


@kernel
def _settle(links: Links, state: State, search: Search, owed: int) -> int:
    """Offer the column `owed`, which lost its row, to the rows around it; the mirror image of `_add`.

    Return the row that is no longer alone, or `ALONE` if there is none.
    """
    scale, most = state.scale[0], state.most[0]
    _, end_row = _find_end(
        links, state.row_of, state.column_of, state.v, state.u, state.idle, most, scale, search, owed
    )
    return end_row


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
            near = cost[start[row]]
            order[place[near]] = row
            place[near] += 1
    return order


@kernel
def _bid_for_all(links: Links, state: State) -> Bools:
    """Let all rows bid, in an order that makes rivals rare; say which rows are left without a column."""
    u, dummy, column_of = state.u, state.dummy, state.column_of
    for row in range(column_of.size):
        column_of[row] = ALONE
        u[row] = dummy[row]
    order = _nearest_first(links)
    for row in order:
        column_of[row] = ABSENT
    waiting = np.zeros(column_of.size, dtype=np.bool_)
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
            _add(links, state, search, row)
    return int(waiting.size)


@kernel
def _solve_in_two_steps(links: Links, state: State, search: Search, most_visits: int) -> bool:
    """Solve the problem without the hashes in its prices first, then with them; say whether that was quick.

    On dense regular maps very many ways have equal costs. With hashes a search looks through all of them for
    the one free column with the best hash; without, any free column will do. Then all prices move by
    the largest hash, which leaves room for the others, and whoever is alone is looked at once more.
    """
    scale, dummy, idle = state.scale[0], state.dummy, state.idle
    row_of = np.full_like(state.row_of, ALONE)
    rough = State(
        np.empty_like(state.column_of),
        row_of,
        np.empty_like(dummy),
        np.zeros_like(idle),
        dummy // scale * scale,
        np.zeros_like(idle),
        state.scale,
        state.most,
    )
    waiting = _bid_for_all(links, rough)
    if _add_waiting(links, rough, search, waiting, 0, most_visits) < waiting.size:
        return False
    room = -idle.min()
    for row in range(dummy.size):
        state.column_of[row] = rough.column_of[row]
        state.u[row] = rough.u[row] + room
    for column in range(idle.size):
        state.row_of[column] = row_of[column]
        state.v[column] = rough.v[column] - room
    for row in range(dummy.size):
        if state.column_of[row] == ALONE:
            _add(links, state, search, row)
    column_links = from_columns(links, idle.size)
    for column in range(idle.size):
        if state.row_of[column] == ALONE and state.v[column] < idle[column]:
            _settle(column_links, state, search, column)
    return True


def solve(links: Links, state: State, search: Search) -> None:
    """Bring all rows into an empty problem.

    Most rows find their column by bidding; the others are added by searches, in the order of their numbers
    because neighbours share memory. If these visit many nodes, it is tried to solve the problem in two steps.
    Not a kernel, so that the two steps, which few problems need, are compiled only for them.
    """
    rows = state.column_of.size
    waiting = _bid_for_all(links, state)
    row = _add_waiting(links, state, search, waiting, 0, _MANY_VISITS * rows)
    if row < rows and not _solve_in_two_steps(links, state, search, _FEW_VISITS * rows):
        _add_waiting(links, state, search, waiting, row, int(FAR))


class Tally(NamedTuple):
    """Counts that are kept while rows come and go.

    A pixel may have several rows (one for every map that it is matched with). `hits` is the number of
    them that are matched, `counts` is (matched rows, pixels with a hit).
    """

    pixel_of: Int32s
    hits: Int32s
    counts: Int64s


def new_tally(pixel_of: Int32s, pixels: int) -> Tally:
    """Make the tally of a problem in which nothing is matched."""
    return Tally(
        pixel_of=pixel_of,
        hits=np.zeros(pixels, dtype=np.int32),
        counts=np.zeros(2, dtype=np.int64),
    )


@kernel
def _count(tally: Tally, row: int, change: int) -> None:
    pixel = tally.pixel_of[row]
    before = tally.hits[pixel]
    tally.hits[pixel] = before + change
    tally.counts[0] += change
    tally.counts[1] += int(before + change > 0) - int(before > 0)


@kernel
def update(
    row_links: Links,
    column_links: Links,
    state: State,
    search: Search,
    tally: Tally,
    removed: Int32s,
    added: Int32s,
) -> None:
    """Take rows out and bring rows in; the matching is optimal again at the end.

    New rows are brought in before the columns that lost their rows are settled: a row that moved by a
    pixel then simply takes over the column of its predecessor.
    """
    row_of, column_of, v, idle = state.row_of, state.column_of, state.v, state.idle
    owed = np.empty(removed.size, dtype=np.int32)
    owed_count = 0
    for row in removed:
        column = column_of[row]
        column_of[row] = ABSENT
        if column >= 0:
            _count(tally, row, -1)
            row_of[column] = ALONE
            if v[column] < idle[column]:
                owed[owed_count] = column
                owed_count += 1
    for row in added:
        loser = _add(row_links, state, search, row)
        if loser != row:
            _count(tally, row, 1)
            if loser != ALONE:
                _count(tally, loser, -1)
    for at in range(owed_count):
        column = owed[at]
        if row_of[column] == ALONE and v[column] < idle[column]:
            winner = _settle(column_links, state, search, column)
            if winner != ALONE:
                _count(tally, winner, 1)


@kernel
def _rows_of(pixels: Int32s, pixel_start: Int64s, pixel_rows: Int32s) -> Int32s:
    size = 0
    for pixel in pixels:
        size += pixel_start[pixel + 1] - pixel_start[pixel]
    rows = np.empty(size, dtype=np.int32)
    size = 0
    for pixel in pixels:
        for at in range(pixel_start[pixel], pixel_start[pixel + 1]):
            rows[size] = pixel_rows[at]
            size += 1
    return rows


@kernel
def sweep(
    row_links: Links,
    column_links: Links,
    state: State,
    search: Search,
    tally: Tally,
    pixel_start: Int64s,
    pixel_rows: Int32s,
    gained: Int32s,
    gained_start: Int64s,
    lost: Int32s,
    lost_start: Int64s,
    counts: Int64s,
) -> None:
    """Run through the steps of a threshold sweep and write down the tally's counts after each.

    Step k brings the pixels gained[gained_start[k] : gained_start[k + 1]] and takes the pixels
    lost[lost_start[k] : lost_start[k + 1]].
    """
    for step in range(gained_start.size - 1):
        new = _rows_of(gained[gained_start[step] : gained_start[step + 1]], pixel_start, pixel_rows)
        gone = _rows_of(lost[lost_start[step] : lost_start[step + 1]], pixel_start, pixel_rows)
        update(row_links, column_links, state, search, tally, gone, new)
        counts[step, 0] = tally.counts[0]
        counts[step, 1] = tally.counts[1]
