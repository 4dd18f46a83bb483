"""The search that gives one row or column its place in an optimal matching.

It is Dijkstra's on the reduced costs (see `edgecritic.kernels.state`), from a node without a mate to the
cheapest place where a chain of changed mates may end (Jonker & Volgenant 1987).

Nodes of the root's side are called ours, those of the other side theirs. A way goes from one of ours to one
of theirs over any link, at its reduced cost, and from one of theirs to its mate at no cost. It may end at
one of theirs that is alone, or at one of ours that gives up its mate, which costs alone − price more.

Then prices move. Let B be the length of the best way and D ≤ B the distance of a node that was visited:
prices of ours rise by B − D, those of theirs fall by B − D. No reduced cost becomes negative: on a link
from one of ours at D₁ to one of theirs at D₂ ≤ D₁ + (reduced cost) it changes by D₁ − D₂; one of theirs
that was not visited is at least B away, which leaves room for the rise of ours; and one of ours that was
not visited only gains room. On the best way it becomes 0, so that mates may change along it. A price of
ours rises to its cost of staying alone at the most, or the way would have ended there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgecritic.kernels._jit import inlined, kernel
from edgecritic.kernels.arrays import Int32s, Int64s, prefetch
from edgecritic.kernels.heap import drop_first, drop_overtaken, push, tidy
from edgecritic.kernels.links import Links
from edgecritic.kernels.state import ALONE, FAR, Side

__all__ = ["Search", "new_search", "find_end"]

_STRIDE = 64
"""From the nearest node to the horizon, in units of cost (hundredths of a pixel): see `Search`."""

_FEW = 24
_MANY = 300_000  # nodes, which do not fit in the processor's cache with their links
_ELSEWHERE = np.int32(-1)


class Search(NamedTuple):
    """Scratch memory of the searches; `visits` counts the nodes that were visited, over all of them.

    `arrival` is the distance of one of theirs plus its price: what the way there costs before the price is
    taken off. Two ways to the same node compare alike with the price or without, so the many that are no
    better than a known one are left without a look at the price. Between searches it is `FAR` for all.

    `via` is the one of theirs before on the way to one of theirs, `ALONE` if that comes from the root.

    Nodes at the distance that the search has come to wait in the stack `near` (most are reached over links
    of reduced cost 0), the others in the unsorted list `far`. Every node is there once, and `place` tells
    where, so that a shorter way changes its entry. Of a few nodes the nearest is found by a look at all of
    them. Of more, those nearer than the *horizon*, one stride beyond the nearest, move into a heap, as do
    those that are reached then, and the others are not looked at before the heap is empty: most of them are
    never visited. A long stride sorts nodes that nobody visits, a short one runs through the list often.

    An entry of the heap is *overtaken* when its node is reached by a shorter way, and then stays until it is
    met. At most one entry per node is not overtaken, so 2·nodes entries are always enough: a heap that is
    full has room for as many new ones as there are nodes once the overtaken are thrown out. The list needs
    room for every node and, behind them, for those that are reached from one node.
    """

    arrival: Int64s
    via: Int32s
    place: Int32s
    seen: Int32s
    done: Int32s
    near: Int32s
    heap_key: Int64s
    heap_node: Int32s
    far_key: Int64s
    far_node: Int32s
    visits: Int64s


@kernel
def new_search(nodes: int) -> Search:
    """Make the memory for a problem with at most `nodes` rows and as many columns."""
    entries = 2 * nodes + 64
    return Search(
        arrival=np.full(nodes, FAR, dtype=np.int64),
        via=np.empty(nodes, dtype=np.int32),
        place=np.empty(nodes, dtype=np.int32),
        seen=np.empty(nodes + 1, dtype=np.int32),
        done=np.empty(nodes, dtype=np.int32),
        near=np.empty(nodes + 1, dtype=np.int32),
        heap_key=np.empty(entries, dtype=np.int64),
        heap_node=np.empty(entries, dtype=np.int32),
        far_key=np.empty(entries, dtype=np.int64),
        far_node=np.empty(entries, dtype=np.int32),
        visits=np.zeros(1, dtype=np.int64),
    )


@kernel
def _advance(
    keys: Int64s,
    nodes: Int32s,
    place: Int32s,
    count: int,
    stride: np.int64,
    heap_key: Int64s,
    heap_node: Int32s,
) -> tuple[int, int, np.int64]:
    """Move the nearest of the unsorted list into the empty heap; return both sizes and the horizon."""
    nearest = FAR
    for at in range(np.uint64(count)):
        nearest = min(nearest, keys[at])
    horizon = nearest + stride
    heap = kept = 0
    for at in range(np.uint64(count)):
        key = keys[at]
        node: Any = np.uint32(nodes[at])
        if key < horizon:
            push(heap_key, heap_node, heap, key, node)
            place[node] = _ELSEWHERE
            heap += 1
        else:
            keys[np.uint64(kept)] = key
            nodes[np.uint64(kept)] = node
            place[node] = kept
            kept += 1
    return heap, kept, horizon


@inlined
def _nearest(keys: Int64s, count: int) -> Any:
    """Return where the least of some keys is; without branches, which the processor would guess wrong."""
    least = keys[0]
    where: Any = np.uint64(0)
    for at in range(np.uint64(1), np.uint64(count)):
        where = at if keys[at] < least else where
        least = min(least, keys[at])
    return where


@inlined
def _take_out(keys: Int64s, nodes: Int32s, place: Int32s, at: Any, last: Any) -> None:
    """Let the last entry of the unsorted list have the place of one that leaves it."""
    node: Any = np.uint32(nodes[last])
    keys[at] = keys[last]
    nodes[at] = node
    place[node] = at


@inlined
def find_end(
    links: Links, ours: Side, theirs: Side, scale: np.int64, search: Search, root: int
) -> tuple[int, int]:
    """Give the node `root`, which has no mate, its place in the matching, and make that optimal again.

    `links` are those of our side. Returned are the last node of ours and of theirs on the way; the latter is
    `ALONE` if the way ends at one of ours that stays alone.
    """
    start, linked, cost = links.start, links.other, links.cost
    price, alone, their_price, their_mate = ours.price, ours.alone, theirs.price, theirs.mate
    their_limit = theirs.price_limit
    arrival, via, place, seen = search.arrival, search.via, search.place, search.seen
    done, near = search.done, search.near
    heap_key, heap_node = search.heap_key, search.heap_node
    far_key, far_node = search.far_key, search.far_node

    is_large = start.size > _MANY
    best = alone[root] - price[root]
    one, here = root, ALONE  # where the search is: one of ours, and its mate, over which it was reached
    end_here, other_end = here, ALONE  # where the best way ends
    now = np.int64(0)
    passed = -price[root]  # distance of `one`, which is `now`, less its price
    horizon = now
    heap = waiting = distant = seen_count = done_count = 0
    other: Any
    while True:
        seen_before = seen_count
        reached = distant  # behind the list: what is reached by a shorter way than before
        for link in range(np.uint64(start[one]), np.uint64(start[one + 1])):
            reaching = passed + cost[link] * scale
            if reaching - their_limit >= best:
                break
            other = np.uint32(linked[link])  # no index counts from the end, so none has a sign
            distance = reaching - their_price[other]
            far_key[np.uint64(reached)] = distance
            far_node[np.uint64(reached)] = other
            reached += int(reaching < arrival[other]) & int(distance < best)
        for at in range(np.uint64(distant), np.uint64(reached)):
            distance = far_key[at]
            other = np.uint32(far_node[at])
            if distance >= best:
                continue
            if their_mate[other] < 0:
                if their_mate[other] == ALONE:
                    best = distance
                    end_here, other_end = here, int(other)
                continue
            mate = np.uint64(their_mate[other])
            prefetch(start, mate)
            prefetch(price, mate)
            prefetch(alone, mate)
            is_new = arrival[other] == FAR
            seen[np.uint64(seen_count)] = other
            seen_count += int(is_new)
            arrival[other] = distance + their_price[other]
            via[other] = here
            if distance > horizon:
                listed = np.uint64(distant if is_new else place[other])
                far_key[listed] = distance
                far_node[listed] = other
                place[other] = listed
                distant += int(is_new)
                continue
            if not is_new and place[other] != _ELSEWHERE:
                distant -= 1
                _take_out(far_key, far_node, place, np.uint64(place[other]), np.uint64(distant))
            place[other] = _ELSEWHERE
            if distance == now:
                near[np.uint64(waiting)] = other
                waiting += 1
                continue
            if heap == heap_key.size:
                heap = tidy(heap_key, heap_node, heap, arrival, their_price)
            push(heap_key, heap_node, heap, distance, other)
            heap += 1
        if now >= best:
            break
        if is_large:  # where their links begin is on its way already
            for at in range(np.uint64(seen_before), np.uint64(seen_count)):
                first = np.uint64(start[their_mate[np.uint32(seen[at])]])
                prefetch(linked, first)
                prefetch(cost, first)
        if waiting > 0:
            waiting -= 1
            other = np.uint32(near[np.uint64(waiting)])
            if waiting > 0:
                first = np.uint64(start[their_mate[np.uint32(near[np.uint64(waiting - 1)])]])
                prefetch(linked, first)
                prefetch(cost, first)
        else:
            heap = drop_overtaken(heap_key, heap_node, heap, arrival, their_price)
            if heap == 0 and distant > _FEW:
                heap, distant, horizon = _advance(
                    far_key, far_node, place, distant, _STRIDE * scale, heap_key, heap_node
                )
            if heap > 0:
                now = heap_key[0]
                other = np.uint32(heap_node[0])
                drop_first(heap_key, heap_node, heap)
                heap -= 1
            elif distant > 0:
                nearest = _nearest(far_key, distant)
                now = horizon = far_key[nearest]
                other = np.uint32(far_node[nearest])
                distant -= 1
                _take_out(far_key, far_node, place, nearest, np.uint64(distant))
            else:
                break
            if now >= best:
                break
        done[done_count] = other
        done_count += 1
        one, here = their_mate[other], int(other)
        passed = now - price[one]
        if passed + alone[one] < best:
            best = passed + alone[one]
            end_here, other_end = here, ALONE

    search.visits[0] += done_count
    price[root] += best
    for at in range(done_count):
        other = done[at]
        change = best - (arrival[other] - their_price[other])
        their_price[other] -= change
        price[their_mate[other]] += change
    for at in range(seen_count):
        arrival[seen[at]] = FAR
    return _flip(ours.mate, their_mate, via, root, end_here, other_end), other_end


@inlined
def _flip(mate: Int32s, their_mate: Int32s, via: Int32s, root: int, end_here: int, other_end: int) -> int:
    """Change mates along the way from `root`; return the last of ours on it.

    That one was reached over its mate `end_here`, or is `root` if that is `ALONE`, and gets `other_end`.
    Mates of ours are written and not read: in a large problem each would have to be waited for.
    """
    last = root if end_here == ALONE else their_mate[end_here]
    one, gained, lost = last, other_end, end_here
    while True:
        mate[one] = gained
        if gained != ALONE:
            their_mate[gained] = one
        if lost == ALONE:
            return last
        gained, lost = lost, via[lost]
        one = root if lost == ALONE else their_mate[lost]
