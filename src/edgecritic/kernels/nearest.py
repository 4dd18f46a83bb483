"""The nearest set pixel of a few pixels, by looking around each in order of distance."""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Bools, Int64s

__all__ = ["first_hit"]


@kernel
def first_hit(padded: Bools, pixels: Int64s, offsets: Int64s) -> Int64s:
    """Return for every pixel the number of the first offset that leads to a set pixel, −1 if none does.

    Parameters
    ----------
    padded : flat bool array with a margin as wide as the longest offset
    pixels : flat indices
    offsets : steps in flat index, nearest first
    """
    found = np.full(pixels.size, -1, dtype=np.int64)
    for index in range(pixels.size):
        for number in range(offsets.size):
            if padded[pixels[index] + offsets[number]]:
                found[index] = number
                break
    return found
