"""Nodes that wait for their turn in a search: a binary heap of (key, node), and what is overtaken in it."""

from __future__ import annotations

from edgecritic.kernels._jit import inlined, kernel
from edgecritic.kernels.arrays import Int32s, Int64s

__all__ = ["push", "drop_first", "drop_overtaken", "tidy"]


@kernel
def push(keys: Int64s, nodes: Int32s, size: int, key: int, node: int) -> None:
    """Put an entry into a heap of `size` entries."""
    hole = size
    while hole > 0:
        parent = (hole - 1) >> 1
        if keys[parent] <= key:
            break
        keys[hole] = keys[parent]
        nodes[hole] = nodes[parent]
        hole = parent
    keys[hole] = key
    nodes[hole] = node


@kernel
def drop_first(keys: Int64s, nodes: Int32s, size: int) -> None:
    """Take the entry of the smallest key out of a heap of `size` entries."""
    last = size - 1
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
        hole = child
    keys[hole] = key
    nodes[hole] = node


@kernel
def tidy(keys: Int64s, nodes: Int32s, size: int, arrival: Int64s, price: Int64s) -> int:
    """Throw out entries that were overtaken by a shorter way; return how many stay."""
    kept = 0
    for at in range(size):
        key = keys[at]
        node = nodes[at]
        if key == arrival[node] - price[node]:
            push(keys, nodes, kept, key, node)
            kept += 1
    return kept


@inlined
def drop_overtaken(keys: Int64s, nodes: Int32s, size: int, arrival: Int64s, price: Int64s) -> int:
    """Take entries that were overtaken out of a heap until the first is none; return how many stay."""
    while size > 0 and keys[0] != arrival[nodes[0]] - price[nodes[0]]:
        drop_first(keys, nodes, size)
        size -= 1
    return size
