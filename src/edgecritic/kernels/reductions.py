"""Sums over whole images in one pass, without images in between."""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Float64s

__all__ = ["gap_power"]


@kernel
def gap_power(first: Float64s, second: Float64s, k: float, cut: float, logarithm: bool) -> float:
    """Return Σ |w(first) − w(second)|ᵏ over flat arrays, or the greatest gap for k = inf.

    w(t) is min(t, cut), or its logarithm ln(1 + min(t, cut)).
    """
    total = 0.0
    for i in range(first.size):
        a = min(first[i], cut)
        b = min(second[i], cut)
        if logarithm:
            a = np.log1p(a)
            b = np.log1p(b)
        gap = 0.0 if a == b else abs(a - b)
        if k == 2.0:
            total += gap * gap
        elif k == 1.0:
            total += gap
        elif k == np.inf:
            total = max(total, gap)
        else:
            total += gap**k
    return total
