"""Kernels that follow the gradient: crests of a magnitude, and growth from strong pixels."""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Bools, Bytes, Float64s, Int64s

__all__ = ["keep_crests_of_volume", "keep_crests_of_plane", "spread"]

_HALF_SECTOR = 0.41421356237309503
"""tan 22.5°: where the nearest of eight neighbours changes."""


@kernel
def keep_crests_of_plane(
    magnitude: Float64s,
    down: Float64s,
    right: Float64s,
    slack: float,
    strict: bool,
    snap: bool,
) -> Bools:
    """Mark pixels whose magnitude is a maximum along their direction, never on the border.

    The values ahead and behind are interpolated where the direction meets the square of neighbours; with
    `snap` they are those of the nearest neighbour. A pixel stays if its magnitude exceeds `slack` and falls
    short of neither by more than `slack`; with `strict` it must exceed the one behind by more than
    `slack`, so that of two equal pixels one stays.
    """
    rows, columns = magnitude.shape
    keep = np.zeros((rows, columns), dtype=np.bool_)
    for y in range(1, rows - 1):
        for x in range(1, columns - 1):
            here = magnitude[y, x]
            if not here > slack:
                continue
            v, u = down[y, x], right[y, x]
            tall, wide = abs(v), abs(u)
            long, short = max(tall, wide), min(tall, wide)
            if not long > 0.0:
                continue
            if snap:
                short = long if short > _HALF_SECTOR * long else 0.0
            # Without branches: they would be mispredicted at every other pixel.
            ty, tx = 2 * np.int64(v > 0.0) - 1, 2 * np.int64(u > 0.0) - 1
            flat = np.int64(wide >= tall)
            dy, dx = ty * (1 - flat), tx * flat
            rest = long - short
            behind = rest * magnitude[y - dy, x - dx] + short * magnitude[y - ty, x - tx]
            ahead = rest * magnitude[y + dy, x + dx] + short * magnitude[y + ty, x + tx]
            if strict:
                rises = (here - slack) * long > behind
            else:
                rises = (here + slack) * long >= behind
            keep[y, x] = rises & ((here + slack) * long >= ahead)
    return keep


@kernel
def keep_crests_of_volume(
    magnitude: Float64s,
    planes: Float64s,
    rows: Float64s,
    columns: Float64s,
    slack: float,
    strict: bool,
    snap: bool,
) -> Bools:
    """Mark voxels whose magnitude is a maximum along their direction; `keep_crests_of_plane` in 3-D.

    `planes`, `rows` and `columns` are the direction's components.
    """
    depth, height, width = magnitude.shape
    keep = np.zeros((depth, height, width), dtype=np.bool_)
    parts = np.zeros(3)
    share = np.zeros(3)
    step = np.zeros(3, dtype=np.int64)
    for z in range(1, depth - 1):
        for y in range(1, height - 1):
            for x in range(1, width - 1):
                here = magnitude[z, y, x]
                if not here > slack:
                    continue
                parts[0], parts[1], parts[2] = planes[z, y, x], rows[z, y, x], columns[z, y, x]
                longest = max(abs(parts[0]), abs(parts[1]), abs(parts[2]))
                if not longest > 0.0:
                    continue
                for axis in range(3):
                    share[axis] = abs(parts[axis]) / longest
                    step[axis] = 1 if parts[axis] > 0.0 else -1
                    if snap:
                        share[axis] = 1.0 if share[axis] > _HALF_SECTOR else 0.0
                ahead, behind = 0.0, 0.0
                for corner in range(8):
                    weight = 1.0
                    shift = (corner & 1, (corner >> 1) & 1, corner >> 2)
                    for axis in range(3):
                        weight *= share[axis] if shift[axis] else 1.0 - share[axis]
                    if weight > 0.0:
                        dz, dy, dx = shift[0] * step[0], shift[1] * step[1], shift[2] * step[2]
                        ahead += weight * magnitude[z + dz, y + dy, x + dx]
                        behind += weight * magnitude[z - dz, y - dy, x - dx]
                if strict:
                    rises = here > behind + slack
                else:
                    rises = here >= behind - slack
                keep[z, y, x] = rises and here >= ahead - slack
    return keep


@kernel
def spread(state: Bytes, seeds: Int64s, offsets: Int64s) -> None:
    """Spread 2 from the seeds through all connected cells of value 1, in place.

    `state` is a flat uint8 array with a margin of zeros, `offsets` are the steps to the neighbours.
    """
    cells = 0
    for place in range(state.size):
        cells += state[place] != 0
    stack = np.empty(cells, dtype=np.int64)
    for seed in seeds:
        if state[seed] != 1:
            continue
        state[seed] = 2
        stack[0] = seed
        count = 1
        while count > 0:
            count -= 1
            here = stack[count]
            for offset in offsets:
                there = here + offset
                if state[there] == 1:
                    state[there] = 2
                    stack[count] = there
                    count += 1
