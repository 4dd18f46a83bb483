"""The exact Euclidean distance transform, one axis after the other, by lower envelopes of parabolas."""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Bytes, Float64s

__all__ = ["squares_along_first", "envelopes"]

_STRIP = 64
"""Columns that are worked on together, so that a strip of the image stays in the cache."""


@kernel
def squares_along_first(mask: Bytes, spacing: float, out: Float64s) -> None:
    """Fill `out` with the squared distance along axis 0 to the nearest pixel of a 2-D mask, or infinity."""
    n, width = mask.shape
    for left in range(0, width, _STRIP):
        right = min(left + _STRIP, width)
        for j in range(left, right):
            out[0, j] = 0.0 if mask[0, j] else np.inf
        for i in range(1, n):
            for j in range(left, right):
                out[i, j] = 0.0 if mask[i, j] else out[i - 1, j] + spacing
        for i in range(n - 2, -1, -1):
            for j in range(left, right):
                below = out[i + 1, j]
                out[i, j] = min(out[i, j], below + spacing)
                out[i + 1, j] = below * below
        for j in range(left, right):
            out[0, j] *= out[0, j]


@kernel
def envelopes(squares: Float64s, spacing: float, root: bool) -> None:
    """Replace each line f along axis 1 of a 3-D array by min over v of f(v) + (spacing · (q − v))².

    With `root` the square root is stored. Lines are worked on in place; one that is infinite throughout
    stays so. Of the parabolas met so far those on the lower envelope are kept: that of vertex[k] is the
    lowest from begin[k] to begin[k + 1], and both rise with k.
    """
    outer, n, inner = squares.shape
    f = np.empty(n)
    lifted = np.empty(n)
    begin = np.empty(n + 1)
    vertex = np.empty(n, dtype=np.int64)
    unit = spacing * spacing
    inverse = np.empty(n + 1)
    for i in range(n + 1):
        inverse[i] = 0.5 / (unit * max(i, 1))
    for o in range(outer):
        for m in range(inner):
            last = -1
            for q in range(n):
                height = squares[o, q, m]
                if height == np.inf:
                    continue
                f[q] = height
                height += unit * q * q
                s = 0.0
                while last >= 0:
                    s = (height - lifted[last]) * inverse[q - vertex[last]]
                    if s > begin[last]:
                        break
                    last -= 1
                if last < 0:
                    s = 0.0
                elif s >= n - 1:
                    continue
                last += 1
                vertex[last] = q
                lifted[last] = height
                begin[last] = s
            if last < 0:
                continue
            start = 0
            for k in range(last + 1):
                stop = n if k == last else int(begin[k + 1]) + 1
                v = vertex[k]
                base = f[v]
                if root:
                    for q in range(start, stop):
                        squares[o, q, m] = np.sqrt(base + unit * (q - v) * (q - v))
                else:
                    for q in range(start, stop):
                        squares[o, q, m] = base + unit * (q - v) * (q - v)
                start = stop
