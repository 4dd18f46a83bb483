"""What a map gains and loses as thresholds fall: all steps in one call, with no interpreter between them."""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Bytes, Float64s, Int64s
from edgecritic.kernels.thinning import Growth, grow, new_growth

__all__ = ["by_threshold", "grow_steps", "thin_by_threshold"]


@kernel
def by_threshold(strength: Float64s, thresholds: Float64s) -> tuple[Int64s, Int64s]:
    """Sort the pixels of a flat map by the step at which they come in when thresholds fall.

    Thresholds ascend; pixels below the first are left out, and those of one step stay in their order. Step k
    is ``sorted[bounds[k] : bounds[k + 1]]``. Where a strength lies is guessed as if thresholds were evenly
    spaced, and put right where they are not.
    """
    count = thresholds.size
    width = thresholds[count - 1] - thresholds[0]
    rate = (count - 1) / width if width > 0 else 0.0
    pixels = np.empty(strength.size, dtype=np.int64)
    size = 0
    for pixel in range(strength.size):  # without a branch, which the processor would often guess wrong
        pixels[size] = pixel
        size += strength[pixel] >= thresholds[0]
    step = np.empty(size, dtype=np.int32)
    bounds = np.zeros(count + 1, dtype=np.int64)
    for at in range(size):
        value = strength[pixels[at]]
        passed = int(min((value - thresholds[0]) * rate, count - 1.0)) if rate > 0 else 0
        while passed < count and thresholds[passed] <= value:
            passed += 1
        while thresholds[passed - 1] > value:
            passed -= 1
        step[at] = count - passed
        bounds[count - passed + 1] += 1
    for k in range(count):
        bounds[k + 1] += bounds[k]
    place = bounds.copy()
    ordered = np.empty(size, dtype=np.int64)
    for at in range(size):
        ordered[place[step[at]]] = pixels[at]
        place[step[at]] += 1
    return ordered, bounds


@kernel
def thin_by_threshold(
    strength: Float64s, thresholds: Float64s, columns: int, steps: Int64s, table: Bytes
) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    """Do what `grow_steps` does to an empty map, to which pixels come in as `by_threshold` says.

    `steps` and `table` are those of its `Growth`.
    """
    added, bounds = by_threshold(strength, thresholds)
    lines = strength.size // columns
    return grow_steps(new_growth(lines + 2, columns + 2, steps, table), added, bounds, columns)


@kernel
def grow_steps(
    growth: Growth, added: Int64s, bounds: Int64s, columns: int
) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    """Add pixels step by step; return (start, pixels) of what the thin map gained, and of what it lost.

    Step k adds ``added[bounds[k] : bounds[k + 1]]`` and gains ``pixels[start[k] : start[k + 1]]``. All are
    raster indices of a map with so many columns, whose grid has a margin of one.
    """
    steps = bounds.size - 1
    row = columns + 2
    gained_start = np.zeros(steps + 1, dtype=np.int64)
    lost_start = np.zeros(steps + 1, dtype=np.int64)
    gained = np.empty(added.size + 64, dtype=np.int64)
    lost = np.empty(added.size // 2 + 64, dtype=np.int64)
    for step in range(steps):
        first, last = bounds[step], bounds[step + 1]
        fresh = np.empty(last - first, dtype=np.int64)
        for at in range(first, last):
            fresh[at - first] = added[at] + row + 1 + added[at] // columns * 2
        n_gained, n_lost = grow(growth, fresh)
        gained = _append(gained, gained_start, step, growth.gained, n_gained, row)
        lost = _append(lost, lost_start, step, growth.lost, n_lost, row)
    return gained_start, gained[: gained_start[steps]], lost_start, lost[: lost_start[steps]]


@kernel
def _append(pixels: Int64s, start: Int64s, step: int, cells: Int64s, count: int, row: int) -> Int64s:
    """Put the first `count` cells of the grid, as raster indices, behind the pixels of earlier steps."""
    size = start[step]
    start[step + 1] = size + count
    if size + count > pixels.size:
        longer = np.empty(2 * (size + count), dtype=np.int64)
        for at in range(size):
            longer[at] = pixels[at]
        pixels = longer
    for at in range(count):
        line = cells[at] // row
        pixels[size + at] = cells[at] - row - 1 - (line - 1) * 2
    return pixels
