"""Exact distances from points to polygons: cells of a grid around each point, a tree of boxes for the rest.

Polygons are those of `edgecritic.kernels.polygons`. Distances are squared.
"""

from __future__ import annotations

import math

import numpy as np

from edgecritic.kernels._jit import inlined, kernel
from edgecritic.kernels.arrays import Float64s, Int32s, Int64s

__all__ = ["REACH", "closest_by_tree", "closest_in_cells", "interleave", "make_tree"]

REACH = 2
"""Cells around a point that are searched, along each axis and to each side."""


@inlined
def _to_segment(
    x: float, y: float, z: float, ax: float, ay: float, az: float, bx: float, by: float, bz: float
) -> float:
    """Squared distance of a point to the segment from a to b."""
    ux, uy, uz = bx - ax, by - ay, bz - az
    x, y, z = x - ax, y - ay, z - az
    along = x * ux + y * uy + z * uz
    if along > 0:
        length = ux * ux + uy * uy + uz * uz
        share = along / length if along < length else 1.0
        x, y, z = x - share * ux, y - share * uy, z - share * uz
    return x * x + y * y + z * z


@inlined
def _to_polygon(
    x: float, y: float, z: float, p: int, starts: Int64s, points: Float64s, hubs: Float64s
) -> float:
    """Squared distance of a point to polygon `p`: the least over the triangles of its fan.

    A triangle has the corners 0, u and v as seen from the hub. Where the foot of the perpendicular is
    outside of it, the nearest point is on one of the sides across which it lies.
    """
    low, high = starts[p], starts[p + 1]
    if high - low == 2:
        a, b = points[low], points[low + 1]
        return _to_segment(x, y, z, a[0], a[1], a[2], b[0], b[1], b[2])
    hub, last, first = hubs[p], high - 1, low
    if high - low == 3:
        hub, last, first = points[low], low + 1, low + 2
    x, y, z = x - hub[0], y - hub[1], z - hub[2]
    vx, vy, vz = points[last, 0] - hub[0], points[last, 1] - hub[1], points[last, 2] - hub[2]
    vv, pv = vx * vx + vy * vy + vz * vz, x * vx + y * vy + z * vz
    best = np.inf
    for corner in range(first, high):
        ux, uy, uz = points[corner, 0] - hub[0], points[corner, 1] - hub[1], points[corner, 2] - hub[2]
        uu, pu = ux * ux + uy * uy + uz * uz, x * ux + y * uy + z * uz
        uv = ux * vx + uy * vy + uz * vz
        whole = uu * vv - uv * uv
        s, t = pu * vv - pv * uv, pv * uu - pu * uv
        if s >= 0 and t >= 0 and s + t <= whole and whole > 0:
            s, t = s / whole, t / whole
            rx, ry, rz = x - s * ux - t * vx, y - s * uy - t * vy, z - s * uz - t * vz
            best = min(best, rx * rx + ry * ry + rz * rz)
        if s + t > whole or whole <= 0:
            best = min(best, _to_segment(x, y, z, ux, uy, uz, vx, vy, vz))
        if t < 0 or whole <= 0:
            best = min(best, _to_segment(x, y, z, 0.0, 0.0, 0.0, ux, uy, uz))
        if s < 0 or whole <= 0:
            best = min(best, _to_segment(x, y, z, 0.0, 0.0, 0.0, vx, vy, vz))
        vx, vy, vz, vv, pv = ux, uy, uz, uu, pu
    return best


@kernel
def closest_in_cells(
    queries: Float64s,
    spacing: Float64s,
    numbers: Int32s,
    firsts: Int64s,
    starts: Int64s,
    points: Float64s,
    hubs: Float64s,
    radii: Float64s,
) -> Float64s:
    """Return the squared distance of every point to the nearest polygon, −1 where it may lie too far off.

    Parameters
    ----------
    queries : (n, 3) points
    spacing : size of a cell
    numbers : 3-D, 1 + the number of the cell that is cut, else 0; with a margin of `REACH` cells along axes
        longer than 1
    firsts : first polygon of every cell that is cut
    """
    found = np.empty(queries.shape[0], np.float64)
    gaps = np.zeros((3, 2 * REACH + 1), np.float64)
    at = np.zeros(3, np.int64)
    flat = 1 if numbers.shape[0] == 1 else 0
    for q in range(queries.shape[0]):
        found[q] = -1.0
        inside = True
        for a in range(flat, 3):
            cell = math.floor(queries[q, a] / spacing[a])
            inside = inside and 0 <= cell < numbers.shape[a] - 2 * REACH
            at[a] = cell + REACH
            rest = queries[q, a] - cell * spacing[a]
            other = spacing[a] - rest
            gaps[a, 0], gaps[a, 1] = (rest + spacing[a]) ** 2, rest**2
            gaps[a, 3], gaps[a, 4] = other**2, (other + spacing[a]) ** 2
        if not inside:
            continue
        beyond = outside = np.inf  # how near cells beyond the first ring, and beyond the second, can be
        for a in range(flat, 3):
            beyond = min(beyond, gaps[a, 0], gaps[a, 4])
            outside = min(outside, math.sqrt(min(gaps[a, 0], gaps[a, 4])) + spacing[a])
        x, y, z = queries[q, 0], queries[q, 1], queries[q, 2]
        best = root = np.inf
        for ring in range(REACH + 1):
            if ring == REACH and best <= beyond:
                break
            planes = 0 if flat else ring
            for i in range(-planes, planes + 1):
                gap_i = gaps[0, i + REACH]
                if gap_i >= best:
                    continue
                for j in range(-ring, ring + 1):
                    gap_j = gap_i + gaps[1, j + REACH]
                    if gap_j >= best:
                        continue
                    step = 1 if ring == 0 or abs(i) == ring or abs(j) == ring else 2 * ring
                    for k in range(-ring, ring + 1, step):
                        if gap_j + gaps[2, k + REACH] >= best:
                            continue
                        number = numbers[at[0] + i, at[1] + j, at[2] + k]
                        if number == 0:
                            continue
                        for p in range(firsts[number - 1], firsts[number]):
                            dx, dy, dz = x - hubs[p, 0], y - hubs[p, 1], z - hubs[p, 2]
                            if dx * dx + dy * dy + dz * dz >= (root + radii[p]) ** 2:
                                continue
                            distance = _to_polygon(x, y, z, p, starts, points, hubs)
                            if distance < best:
                                best, root = distance, math.sqrt(distance)
        if best <= outside * outside:
            found[q] = best
    return found


@kernel
def interleave(places: Int64s) -> Int64s:
    """Return the Morton code of (n, 3) coordinates of 20 bits: near codes are mostly near places."""
    codes = np.zeros(places.shape[0], np.int64)
    for n in range(codes.size):
        for bit in range(20):
            for a in range(3):
                codes[n] |= (places[n, a] >> bit & 1) << (3 * bit + a)
    return codes


@kernel
def make_tree(starts: Int64s, points: Float64s, order: Int64s) -> Float64s:
    """Return the boxes of a complete binary tree whose leaves are the polygons in this order.

    The two below node n are 2n + 1 and 2n + 2. A row is the lowest and the highest corner; leaves without
    a polygon are empty boxes, infinitely far from everything.
    """
    leaves = 1
    while leaves < order.size:
        leaves *= 2
    boxes = np.empty((2 * leaves - 1, 6), np.float64)
    boxes[:, :3] = np.inf
    boxes[:, 3:] = -np.inf
    for leaf in range(order.size):
        box = boxes[leaves - 1 + leaf]
        for v in range(starts[order[leaf]], starts[order[leaf] + 1]):
            for a in range(3):
                box[a] = min(box[a], points[v, a])
                box[3 + a] = max(box[3 + a], points[v, a])
    for node in range(leaves - 2, -1, -1):
        left, right = boxes[2 * node + 1], boxes[2 * node + 2]
        for a in range(3):
            boxes[node, a] = min(left[a], right[a])
            boxes[node, 3 + a] = max(left[3 + a], right[3 + a])
    return boxes


@inlined
def _to_box(x: float, y: float, z: float, box: Float64s) -> float:
    dx = max(box[0] - x, 0.0, x - box[3])
    dy = max(box[1] - y, 0.0, y - box[4])
    dz = max(box[2] - z, 0.0, z - box[5])
    square: float = dx * dx + dy * dy + dz * dz
    return square


@kernel
def closest_by_tree(
    queries: Float64s, starts: Int64s, points: Float64s, hubs: Float64s, boxes: Float64s, order: Int64s
) -> Float64s:
    """Return the squared distance of every point to the nearest polygon of a tree, nearer boxes first.

    The search begins with the distance to the polygon that was nearest to the point before.
    """
    found = np.empty(queries.shape[0], np.float64)
    waiting, bounds = np.empty(64, np.int64), np.empty(64, np.float64)
    leaves, nearest = boxes.shape[0] // 2, 0
    for q in range(queries.shape[0]):
        x, y, z = queries[q, 0], queries[q, 1], queries[q, 2]
        best = _to_polygon(x, y, z, nearest, starts, points, hubs)
        waiting[0], bounds[0], count = 0, 0.0, 1
        while count > 0:
            count -= 1
            node, bound = waiting[count], bounds[count]
            while bound < best and node < leaves:
                node = 2 * node + 1
                other = node + 1
                bound, later = _to_box(x, y, z, boxes[node]), _to_box(x, y, z, boxes[other])
                if later < bound:
                    node, other, bound, later = other, node, later, bound
                if later < best:
                    waiting[count], bounds[count] = other, later
                    count += 1
            if bound < best:
                polygon = order[node - leaves]
                distance = _to_polygon(x, y, z, polygon, starts, points, hubs)
                if distance < best:
                    best, nearest = distance, polygon
        found[q] = best
    return found
