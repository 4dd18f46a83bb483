"""Hashes of pixel positions, which decide between equally good matchings."""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Int64s

__all__ = ["scatter"]


def scatter(positions: Int64s, bits: int, factor: int, most: int = 0) -> Int64s:
    """Return `most` less the hash of each position: `bits` bits, at most 32, a bijection of its last ones.

    Three rounds of multiplication by the last bits of the odd `factor` and of mixing high bits into low ones.
    """
    mixed = np.empty(positions.size, dtype=np.int64)
    mask = (1 << bits) - 1
    _mix(positions, mixed, np.uint64(mask), np.uint64(factor & mask), np.uint64(bits // 2), most)
    return mixed


@kernel
def _mix(
    positions: Int64s, mixed: Int64s, mask: np.uint64, odd: np.uint64, half: np.uint64, most: int
) -> None:
    for at in range(positions.size):
        value = np.uint64(positions[at]) & mask
        for _ in range(3):
            value = value * odd & mask
            value ^= value >> half
        mixed[at] = most - np.int64(value)
