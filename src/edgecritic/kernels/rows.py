"""The rows of PNG files: every byte was stored as its difference from what its neighbours let expect.

Format: W3C "Portable Network Graphics (PNG) Specification", section 9.
"""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Bytes

__all__ = ["unfiltered"]


@kernel
def unfiltered(lines: Bytes) -> Bytes:
    """Return the bytes of rows that each begin with the number of their filter; no row if one is unknown."""
    rows, columns = lines.shape[0], lines.shape[1] - 1
    values = np.zeros((rows + 1, columns), dtype=np.uint8)  # above the first row all is 0
    for row in range(rows):
        way = lines[row, 0]
        if way > 4:
            return values[:0]
        given, above, here = lines[row, 1:], values[row], values[row + 1]
        left, corner = 0, 0
        for column in range(columns):
            upper = int(above[column])
            expected = 0
            if way == 1:
                expected = left
            elif way == 2:
                expected = upper
            elif way == 3:
                expected = (left + upper) >> 1
            elif way == 4:
                expected = _nearest(left, upper, corner)
            left = (int(given[column]) + expected) & 255
            here[column] = left
            corner = upper
    return values[1:]


@kernel
def _nearest(left: int, upper: int, corner: int) -> int:
    """Return which of three neighbours is nearest to the plane through them (Paeth's rule)."""
    from_left, from_upper = abs(upper - corner), abs(left - corner)
    from_corner = abs(left + upper - 2 * corner)
    if from_left <= from_upper and from_left <= from_corner:
        return left
    if from_upper <= from_corner:
        return upper
    return corner
