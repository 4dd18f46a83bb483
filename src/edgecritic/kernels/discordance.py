"""Counting pairs that two scores put into opposite orders."""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Float64s

__all__ = ["count_inversions"]


@kernel
def count_inversions(values: Float64s) -> int:
    """Return how many pairs i < j have values[i] > values[j], by merge sort in O(n log n)."""
    size = values.size
    here = values.copy()
    there = np.empty(size, dtype=np.float64)
    total = np.int64(0)
    width = 1
    while width < size:
        for begin in range(0, size, 2 * width):
            middle = min(begin + width, size)
            end = min(begin + 2 * width, size)
            left, right = begin, middle
            for at in range(begin, end):
                if left < middle and (right >= end or here[left] <= here[right]):
                    there[at] = here[left]
                    left += 1
                else:
                    there[at] = here[right]
                    right += 1
                    total += middle - left
        here, there = there, here
        width *= 2
    return int(total)
