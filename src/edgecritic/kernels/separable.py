"""Gradients of an image by separable filters, two at a time."""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Float64s

__all__ = ["gradient_of_plane"]


@kernel
def gradient_of_plane(
    plane: Float64s,
    down_slope: Float64s,
    down_smooth: Float64s,
    right_slope: Float64s,
    right_smooth: Float64s,
) -> tuple[Float64s, Float64s]:
    """Return the slopes (down, right) of an image whose margin is as wide as the weights reach.

    All arrays are C-contiguous float64; both weights of an axis have the same odd length. Correlation: the
    first weight belongs to the smallest index.
    """
    tall, wide = down_slope.size, right_slope.size
    rows, columns = plane.shape[0] - tall + 1, plane.shape[1] - wide + 1
    down = np.zeros((rows, columns))
    right = np.zeros((rows, columns))
    sloped = np.empty(plane.shape[1])
    smoothed = np.empty(plane.shape[1])
    for y in range(rows):
        sloped[:] = 0.0
        smoothed[:] = 0.0
        for k in range(tall):
            a, b = down_slope[k], down_smooth[k]
            line = plane[y + k]
            for x in range(line.size):
                sloped[x] += a * line[x]
                smoothed[x] += b * line[x]
        for k in range(wide):
            a, b = right_smooth[k], right_slope[k]
            first, second = sloped[k : k + columns], smoothed[k : k + columns]
            to_down, to_right = down[y], right[y]
            for x in range(columns):
                to_down[x] += a * first[x]
                to_right[x] += b * second[x]
    return down, right
