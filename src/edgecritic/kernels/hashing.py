"""Hashes of pixel positions, which decide between equally good matchings."""

from __future__ import annotations

import numpy as np

from edgecritic.kernels.arrays import Int64s

__all__ = ["scatter"]


def scatter(positions: Int64s, bits: int, factor: int) -> Int64s:
    """Mix positions into `bits` bits, at most 32; a bijection of their last `bits` bits.

    Three rounds of multiplication by the last bits of the odd `factor` and of mixing high bits into low ones.
    """
    mask = np.uint64((1 << bits) - 1)
    half = np.uint64(bits // 2)
    odd = np.uint64(factor) & mask
    mixed = positions.astype(np.uint64)
    mixed &= mask
    for _ in range(3):
        mixed *= odd
        mixed &= mask
        mixed ^= mixed >> half
    return mixed.view(np.int64)
