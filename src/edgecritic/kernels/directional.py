"""Kernels that follow the gradient: crests of a magnitude, and growth from strong pixels."""

from __future__ import annotations

import numpy as np

from edgecritic.kernels._jit import kernel

__all__ = ["keep_crests_along", "grow"]

HALF_SECTOR = 0.41421356237309503
"""tan 22.5°: where the nearest of eight neighbours changes."""


@kernel
def keep_crests_along(magnitude, planes, rows, columns, slack, strict, snap):  # type: ignore[no-untyped-def]
    """Mark voxels whose magnitude is a maximum along their direction.

    `magnitude` and the direction's components `planes`, `rows`, `columns` are C-contiguous float64 arrays
    of one 3-D shape. With one plane the `planes` component is not looked at, and only the frame of rows
    and columns is left out.
    """
    depth, height, width = magnitude.shape
    keep = np.zeros((depth, height, width), dtype=np.bool_)
    flat = depth == 1
    first, last = (0, 1) if flat else (1, depth - 1)
    parts = np.zeros(3)
    share = np.zeros(3)
    step = np.zeros(3, dtype=np.int64)
    for z in range(first, last):
        for y in range(1, height - 1):
            for x in range(1, width - 1):
                here = magnitude[z, y, x]
                if not here > slack:
                    continue
                parts[0] = 0.0 if flat else planes[z, y, x]
                parts[1] = rows[z, y, x]
                parts[2] = columns[z, y, x]
                longest = max(abs(parts[0]), abs(parts[1]), abs(parts[2]))
                if not longest > 0.0:
                    continue
                for axis in range(3):
                    share[axis] = abs(parts[axis]) / longest
                    step[axis] = 0 if parts[axis] == 0.0 else (1 if parts[axis] > 0.0 else -1)
                    if snap:
                        share[axis] = 1.0 if share[axis] > HALF_SECTOR else 0.0
                ahead, behind = 0.0, 0.0
                for corner in range(8):
                    weight = 1.0
                    dz, dy, dx = 0, 0, 0
                    if corner & 1:
                        weight *= share[0]
                        dz = step[0]
                    else:
                        weight *= 1.0 - share[0]
                    if corner & 2:
                        weight *= share[1]
                        dy = step[1]
                    else:
                        weight *= 1.0 - share[1]
                    if corner & 4:
                        weight *= share[2]
                        dx = step[2]
                    else:
                        weight *= 1.0 - share[2]
                    if weight > 0.0:
                        ahead += weight * magnitude[z + dz, y + dy, x + dx]
                        behind += weight * magnitude[z - dz, y - dy, x - dx]
                if strict:
                    rises = here > behind + slack
                else:
                    rises = here >= behind - slack
                keep[z, y, x] = rises and here >= ahead - slack
    return keep


@kernel
def grow(state, seeds, offsets):  # type: ignore[no-untyped-def]
    """Spread 2 from the seeds through all connected cells of value 1, in place.

    `state` is a flat uint8 array with a margin of zeros, `offsets` are the steps to the neighbours.
    """
    stack = np.empty(np.count_nonzero(state), dtype=np.int64)
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
