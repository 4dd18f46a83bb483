"""Hashes of pixel positions, which decide between equally good matchings."""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Int64s

__all__ = ["scatter"]


def scatter(positions: Int64s, bits: int, factor: int, most: int) -> Int64s:
    """Return `most` less the hash of each position: `bits` bits, at most 32, a bijection of its last ones.

    Three rounds of multiplication by the last bits of the odd `factor` and of mixing high bits into low ones.
    """
    mixed = np.empty(positions.size, dtype=np.int64)
    _mix(positions, mixed, bits, factor, most)
    return mixed


@kernel
def _mix(positions: Int64s, mixed: Int64s, bits: int, factor: int, most: int) -> None:
    """Words have 32 bits, and memory is given: so processors mix several at once."""
    mask, half = np.uint32((1 << bits) - 1), np.uint32(bits // 2)
    odd = np.uint64(factor) & mask
    for at in range(np.uint64(positions.size)):
        value = np.uint32(positions[at]) & mask
        for _ in range(3):
            value = np.uint32(value * odd) & mask
            value = np.uint32(value ^ (value >> half))
        mixed[at] = most - np.int64(value)
