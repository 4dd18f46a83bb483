"""Polygons of a surface between voxels: a smoothed field, the polygons of all cut cells, their elements.

All arrays of points have three columns; planes lie at 0 in the first. Polygon number p has the points
``starts[p]:starts[p + 1]``: two make a segment, three a triangle, more a fan of triangles around their
middle, the hub of the polygon.
"""

from __future__ import annotations

import math

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Bytes, Float32s, Float64s, Int64s

__all__ = ["lay_polygons", "polygon_elements", "smooth_axis"]


@kernel
def smooth_axis(source: Float32s, out: Float32s, weights: Float32s, axis: int) -> None:
    """Filter a volume along one axis with symmetric weights, the middle one first; outside it is 0."""
    n0, n1, n2 = source.shape
    length = source.shape[axis]
    for i in range(n0):
        for j in range(n1):
            row, here = out[i, j], source[i, j]
            for k in range(n2):
                row[k] = weights[0] * here[k]
            for t in range(1, weights.size):
                weight = weights[t]
                if axis == 2:
                    for k in range(min(t, n2 - t)):
                        row[k] += weight * here[k + t]
                        row[n2 - 1 - k] += weight * here[n2 - 1 - k - t]
                    for k in range(t, n2 - t):
                        row[k] += weight * (here[k - t] + here[k + t])
                    continue
                at = i if axis == 0 else j
                low, high = at - t, at + t
                if low >= 0 and high < length:
                    before = source[low, j] if axis == 0 else source[i, low]
                    after = source[high, j] if axis == 0 else source[i, high]
                    for k in range(n2):
                        row[k] += weight * (before[k] + after[k])
                elif low >= 0 or high < length:
                    one = low if low >= 0 else high
                    before = source[one, j] if axis == 0 else source[i, one]
                    for k in range(n2):
                        row[k] += weight * before[k]


@kernel
def lay_polygons(
    field: Float32s,
    cells: Int64s,
    codes: Bytes,
    table: Int64s,
    ends: Int64s,
    spacing: Float64s,
    least: float,
) -> tuple[Int64s, Int64s, Float64s]:
    """Return the first polygon of every cell, the first point of every polygon, and the points.

    Parameters
    ----------
    field : 3-D array that is high inside and low outside, about 1/2 on the surface
    cells : (n, 3) low corners of the cells that are cut
    codes : which corners of each are set
    table : of every code the polygons as (number of edges, edges …) one after another, then 0
    ends : (edges, 2, 3) steps from the low corner of a cell to the two ends of an edge
    spacing : size of a cell along each axis
    least : a point moves off the middle of its edge only if both ends differ by more than this from 1/2
    """
    n_polygons = n_points = 0
    firsts = np.zeros(codes.size + 1, np.int64)
    for c in range(codes.size):
        row, at = table[codes[c]], 0
        while row[at] > 0:
            n_polygons += 1
            n_points += row[at]
            at += row[at] + 1
        firsts[c + 1] = n_polygons
    starts = np.zeros(n_polygons + 1, np.int64)
    points = np.empty((n_points, 3), np.float64)
    polygon = point = 0
    for c in range(codes.size):
        row, at = table[codes[c]], 0
        while row[at] > 0:
            for number in range(row[at]):
                edge = ends[row[at + 1 + number]]
                i0, j0, k0 = cells[c, 0] + edge[0, 0], cells[c, 1] + edge[0, 1], cells[c, 2] + edge[0, 2]
                i1, j1, k1 = cells[c, 0] + edge[1, 0], cells[c, 1] + edge[1, 1], cells[c, 2] + edge[1, 2]
                before = np.float64(field[i0, j0, k0]) - 0.5
                after = 0.5 - np.float64(field[i1, j1, k1])
                share = 0.5
                if min(before, after) > least or max(before, after) < -least:
                    share = before / (before + after)
                points[point, 0] = (i0 + share * (i1 - i0)) * spacing[0]
                points[point, 1] = (j0 + share * (j1 - j0)) * spacing[1]
                points[point, 2] = (k0 + share * (k1 - k0)) * spacing[2]
                point += 1
            polygon += 1
            starts[polygon] = point
            at += row[at] + 1
    return firsts, starts, points


@kernel
def polygon_elements(starts: Int64s, points: Float64s) -> tuple[Float64s, Float64s, Float64s]:
    """Return hub, radius around it and size (area, of segments length) of every polygon."""
    count = starts.size - 1
    hubs, radii, sizes = (
        np.zeros((count, 3), np.float64),
        np.zeros(count, np.float64),
        np.zeros(count, np.float64),
    )
    for p in range(count):
        low, high = starts[p], starts[p + 1]
        x = y = z = 0.0
        for v in range(low, high):
            x += points[v, 0]
            y += points[v, 1]
            z += points[v, 2]
        x, y, z = x / (high - low), y / (high - low), z / (high - low)
        hubs[p, 0], hubs[p, 1], hubs[p, 2] = x, y, z
        area = far = 0.0
        for v in range(low, high):
            w = v + 1 if v + 1 < high else low
            ax, ay, az = points[v, 0] - x, points[v, 1] - y, points[v, 2] - z
            bx, by, bz = points[w, 0] - x, points[w, 1] - y, points[w, 2] - z
            far = max(far, ax * ax + ay * ay + az * az)
            nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
            area += 0.5 * math.sqrt(nx * nx + ny * ny + nz * nz)
        radii[p] = math.sqrt(far)
        sizes[p] = area if high - low > 2 else 2 * radii[p]
    return hubs, radii, sizes
