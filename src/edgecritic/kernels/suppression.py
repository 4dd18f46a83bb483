"""Kernels of non-maximum suppression: triangle filter, ridge direction, look-ups across the ridge.

Everything is float32 and in a fixed order of operations: near-ties decide which pixels survive.
"""

from __future__ import annotations

import math

import numpy as np

from edgecritic.kernels._jit import inlined, kernel
from edgecritic.kernels.arrays import Float32s

_Three = tuple[np.float32, np.float32, np.float32]

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
        done = 0
        while done + 3 <= weights.size:
            at = row + done - half
            first, second = image[_mirror(at, rows)], image[_mirror(at + 1, rows)]
            _add_three(middle, weights[done : done + 3], first, second, image[_mirror(at + 2, rows)])
            done += 3
        for tap in range(done, weights.size):
            _add(middle, weights[tap], image[_mirror(row + tap - half, rows)])
        for step in range(half):
            line[half - 1 - step] = middle[_mirror(-1 - step, columns)]
            line[half + columns + step] = middle[_mirror(columns + step, columns)]
        target = result[row]
        for tap in range(0, done, 3):
            first, second = line[tap : tap + columns], line[tap + 1 : tap + 1 + columns]
            _add_three(target, weights[tap : tap + 3], first, second, line[tap + 2 : tap + 2 + columns])
        for tap in range(done, weights.size):
            _add(target, weights[tap], line[tap : tap + columns])
    return result


@kernel
def _add(total: Float32s, weight: np.float32, values: Float32s) -> None:
    for place in range(total.size):
        total[place] += weight * values[place]


@kernel
def _add_three(
    total: Float32s, weights: Float32s, first: Float32s, second: Float32s, third: Float32s
) -> None:
    """Add three weighted rows one after the other, for each place at once: sums are rounded as one by one."""
    for place in range(total.size):
        more = total[place] + weights[0] * first[place]
        more += weights[1] * second[place]
        total[place] = more + weights[2] * third[place]


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
    result = np.empty((rows, columns), dtype=np.float32)
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
    result = np.empty((rows, columns), dtype=np.float32)
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
    """Put the pixels of a row that are kept into `target`.

    The first step decides about most of them. It is taken for many pixels at once where no look-up is
    clamped, unless a step of the row is longer than 1, as rounding may make it.
    """
    rows, columns = strength.shape
    too_long = 0
    for column in range(columns):
        too_long += int(abs(cosine[column]) > 1) | int(abs(sine[column]) > 1)
    near = columns - 2 if 1 <= row < rows - 2 and too_long == 0 else 0
    for column in range(columns):
        target[column] = strength[row, column]
    if near > 1:
        around = strength[row - 1], strength[row], strength[row + 1]
        _take_first_step(around, np.float32(row), cosine, sine, lenient, target)
    left = np.empty(columns, dtype=np.int32)
    count = 0
    for column in range(columns):  # without a branch, which the processor would often guess wrong
        left[count] = column
        count += int(target[column] != 0) & (int(radius > 1) | int(column < 1) | int(column >= near))
    for at in range(count):
        column = left[at]
        first = 2 if 1 <= column < near else 1
        x, y = cosine[column], sine[column]
        if _is_suppressed(strength, row, column, x, y, lenient, first, radius):
            target[column] = 0


@kernel
def _is_suppressed(
    strength: Float32s,
    row: int,
    column: int,
    cosine: np.float32,
    sine: np.float32,
    lenient: np.float32,
    first: int,
    last: int,
) -> bool:
    """Tell whether a strength between steps `first` and `last` to either side is too high for a pixel."""
    raised = strength[row, column] * lenient
    for step in range(first, last + 1):
        x, y = np.float32(step) * cosine, np.float32(step) * sine
        ahead = _look(strength, np.float32(row) + y, np.float32(column) + x)
        behind = _look(strength, np.float32(row) - y, np.float32(column) - x)
        if raised < max(np.float32(0), ahead, behind):
            return True
    return False


@kernel
def _take_first_step(
    around: tuple[Float32s, Float32s, Float32s],
    row: np.float32,
    cosine: Float32s,
    sine: Float32s,
    lenient: np.float32,
    target: Float32s,
) -> None:
    """Set the pixels of a row to 0 that are suppressed by one step, of at most 1; not those at its ends.

    `around` are the row and those above and below.
    """
    above, here, below = around
    for column in range(1, here.size - 2):
        own, at = here[column], np.float32(column)
        over = above[column - 1], above[column], above[column + 1]
        middle = here[column - 1], own, here[column + 1]
        under = below[column - 1], below[column], below[column + 1]
        x, y = cosine[column], sine[column]
        ahead = _look_near(over, middle, under, row, at, row + y, at + x)
        behind = _look_near(over, middle, under, row, at, row - y, at - x)
        raised = own * lenient
        is_lower = (raised < ahead) | (raised < behind) | (raised < 0)
        target[column] = np.float32(0) if is_lower else own


@inlined
def _look_near(
    over: _Three,
    here: _Three,
    under: _Three,
    row: np.float32,
    column: np.float32,
    y: np.float32,
    x: np.float32,
) -> np.float32:
    """Do what `_look` does at most 1 away from a pixel, with it and its neighbours; without branches."""
    one = np.float32(1)
    up, left = y < row, x < column
    y1, x1 = y - (row - one if up else row), x - (column - one if left else column)
    x0, y0 = one - x1, one - y1
    top_left = (over[0] if left else over[1]) if up else (here[0] if left else here[1])
    top_right = (over[1] if left else over[2]) if up else (here[1] if left else here[2])
    bottom_left = (here[0] if left else here[1]) if up else (under[0] if left else under[1])
    bottom_right = (here[1] if left else here[2]) if up else (under[1] if left else under[2])
    value: np.float32 = (
        top_left * x0 * y0 + top_right * x1 * y0 + bottom_left * x0 * y1 + bottom_right * x1 * y1
    )
    return value


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
