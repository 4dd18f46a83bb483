"""Kernels of non-maximum suppression: triangle filter, ridge direction, look-ups across the ridge.

Everything is float32 and in a fixed order of operations: near-ties decide which pixels survive.
"""

from __future__ import annotations

import math

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Float32s

__all__ = ["convolve", "direction", "keep_crests", "keep_maxima", "fade_border"]


@kernel
def convolve(image: Float32s, weights: Float32s) -> Float32s:
    """Filter columns and rows with symmetric `weights`; the outside repeats the image mirrored at its edge.

    A tap beyond the mirrored image (only where the image is smaller than the filter) is mirrored again.
    """
    rows, columns = image.shape
    half = weights.size // 2
    result = np.zeros((rows, columns), dtype=np.float32)
    line = np.empty(columns + 2 * half, dtype=np.float32)
    middle = line[half : half + columns]
    for row in range(rows):
        middle[:] = 0
        for tap in range(weights.size):
            _add(middle, weights[tap], image[_mirror(row + tap - half, rows)])
        for step in range(half):
            line[half - 1 - step] = middle[_mirror(-1 - step, columns)]
            line[half + columns + step] = middle[_mirror(columns + step, columns)]
        for tap in range(weights.size):
            _add(result[row], weights[tap], line[tap : tap + columns])
    return result


@kernel
def _add(total: Float32s, weight: np.float32, values: Float32s) -> None:
    for place in range(total.size):
        total[place] += weight * values[place]


@kernel
def _mirror(index: int, size: int) -> int:
    while index < 0 or index >= size:
        if index < 0:
            index = -1 - index
        else:
            index = 2 * size - 1 - index
    return index


@kernel
def _slope_along(line: Float32s, slope: Float32s) -> None:
    """Central differences of a row, one-sided at its ends."""
    last = line.size - 1
    slope[0] = line[min(1, last)] - line[0]
    slope[last] = line[last] - line[max(last - 1, 0)]
    for column in range(1, last):
        slope[column] = (line[column + 1] - line[column - 1]) * np.float32(0.5)


@kernel
def _slope_down(image: Float32s, row: int, slope: Float32s) -> None:
    """Central differences between the rows around `row`, one-sided in the first and last row."""
    above, below = max(row - 1, 0), min(row + 1, image.shape[0] - 1)
    scale = np.float32(0.5) if below - above == 2 else np.float32(1)
    for column in range(image.shape[1]):
        slope[column] = (image[below, column] - image[above, column]) * scale


@kernel
def _direction_of_row(smooth: Float32s, row: int, lines: Float32s, cosine: Float32s, sine: Float32s) -> None:
    rows, columns = smooth.shape
    slope, xx, xy, over, under = lines[0], lines[1], lines[2], lines[3], lines[4]
    _slope_along(smooth[row], slope)
    _slope_along(slope, xx)
    _slope_down(smooth, row, slope)
    _slope_along(slope, xy)
    above, below = max(row - 1, 0), min(row + 1, rows - 1)
    _slope_down(smooth, above, over)
    _slope_down(smooth, below, under)
    scale = np.float32(0.5) if below - above == 2 else np.float32(1)
    for column in range(columns):
        x = xx[column] + np.float32(1e-5)
        sign = np.float32(xy[column] < 0) - np.float32(xy[column] > 0)
        y = (under[column] - over[column]) * scale * sign
        length = max(math.sqrt(x * x + y * y), np.float32(1e-30))
        cosine[column] = x / length
        sine[column] = y / length


@kernel
def direction(smooth: Float32s) -> tuple[Float32s, Float32s]:
    """Return the unit steps (x, to the right; y, down) across the ridges of a smoothed strength map.

    With second derivatives Oxx, Oxy, Oyy the step is (Oxx + 1e-5, Oyy·sign(−Oxy)), normalised: the cosine
    and sine of atan(Oyy·sign(−Oxy) / (Oxx + 1e-5)) up to a common sign, which does not matter.
    """
    rows, columns = smooth.shape
    cosine, sine = np.empty((rows, columns), dtype=np.float32), np.empty((rows, columns), dtype=np.float32)
    lines = np.empty((5, columns), dtype=np.float32)
    for row in range(rows):
        _direction_of_row(smooth, row, lines, cosine[row], sine[row])
    return cosine, sine


@kernel
def keep_crests(
    image: Float32s, smoothing: Float32s, across: Float32s, radius: int, lenient: np.float32, border: int
) -> Float32s:
    """Smooth a map, suppress across its ridges and fade its border, in one call.

    `smoothing` are the weights of the first filter, none if there is none to be, and `across` those of the
    filter before `direction`; that and `keep_maxima` are done in one, row by row.
    """
    strength = convolve(image, smoothing) if smoothing.size > 0 else image
    smooth = convolve(strength, across)
    rows, columns = strength.shape
    result = np.zeros((rows, columns), dtype=np.float32)
    lines = np.empty((7, columns), dtype=np.float32)
    for row in range(rows):
        _direction_of_row(smooth, row, lines, lines[5], lines[6])
        _maxima_of_row(strength, row, lines[5], lines[6], radius, lenient, result[row])
    fade_border(result, border)
    return result


@kernel
def keep_maxima(
    strength: Float32s, cosine: Float32s, sine: Float32s, radius: int, lenient: np.float32
) -> Float32s:
    """Set a pixel to 0 where `lenient` times its strength is below a strength up to `radius` steps away.

    The look-ups are bilinear, at positions clamped to the image, in the map as given.
    """
    rows, columns = strength.shape
    result = np.zeros((rows, columns), dtype=np.float32)
    for row in range(rows):
        _maxima_of_row(strength, row, cosine[row], sine[row], radius, lenient, result[row])
    return result


@kernel
def _maxima_of_row(
    strength: Float32s,
    row: int,
    cosine: Float32s,
    sine: Float32s,
    radius: int,
    lenient: np.float32,
    target: Float32s,
) -> None:
    for column in range(strength.shape[1]):
        own = strength[row, column]
        if own == 0:
            continue
        raised = own * lenient
        highest = np.float32(0)
        for step in range(1, radius + 1):
            x = np.float32(step) * cosine[column]
            y = np.float32(step) * sine[column]
            ahead = _look(strength, np.float32(row) + y, np.float32(column) + x)
            behind = _look(strength, np.float32(row) - y, np.float32(column) - x)
            highest = max(highest, ahead, behind)
            if step < radius and raised < highest:
                break
        target[column] = np.float32(0) if raised < highest else own


@kernel
def _look(strength: Float32s, y: np.float32, x: np.float32) -> np.float32:
    """Interpolate bilinearly at row y and column x, clamped to [0, size − 1.001]."""
    rows, columns = strength.shape
    x = max(min(x, np.float32(columns) - np.float32(1.001)), np.float32(0))
    y = max(min(y, np.float32(rows) - np.float32(1.001)), np.float32(0))
    left, top = np.int64(x), np.int64(y)
    right, bottom = min(left + 1, columns - 1), min(top + 1, rows - 1)
    x1, y1 = x - np.float32(left), y - np.float32(top)
    x0, y0 = np.float32(1) - x1, np.float32(1) - y1
    value: np.float32 = (
        strength[top, left] * x0 * y0
        + strength[top, right] * x1 * y0
        + strength[bottom, left] * x0 * y1
        + strength[bottom, right] * x1 * y1
    )
    return value


@kernel
def fade_border(strength: Float32s, width: int) -> None:
    """Multiply, in place, the pixels x < width steps from each border by x / width.

    The width is at most half the shorter side; near a corner two factors apply.
    """
    rows, columns = strength.shape
    width = min(width, rows // 2, columns // 2)
    for step in range(width):
        factor = np.float32(step) / np.float32(width)
        for row in range(rows):
            strength[row, step] *= factor
            strength[row, columns - 1 - step] *= factor
        for column in range(columns):
            strength[step, column] *= factor
            strength[rows - 1 - step, column] *= factor
