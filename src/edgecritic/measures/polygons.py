"""Surfaces made of polygons, from masks and from meshes, and exact distances between them.

A cell is the cube between eight voxel centres (in 2-D the square between four). Where some of its corners are
set and some are not the surface passes through: its polygons join points on the cut edges. On a face whose
corners alternate the set corners stay apart, so that the polygons of neighbouring cells fit.

The points lie where a smoothed copy of the mask would be 1/2. The filter is a mix of two Gaussians without
second moment, which leaves planes and gently curved surfaces where they are.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.inputs import BoolArray
from edgecritic.lazy import cached_property
from edgecritic.maps.mesh import Mesh
from edgecritic.measures.subvoxel import corner_codes, face_segments, joined_loops

__all__ = ["Polygons", "of_mask", "of_mesh"]

FloatArray = NDArray[np.float64]
LEAST = 0.02
"""A point moves off the middle of its edge only if the filtered mask at both ends is this far from 1/2."""
RADIUS = 6
"""Voxels to each side that the filter reaches."""


@dataclass(frozen=True, eq=False)
class Polygons:
    """A surface: the points of all polygons one after another, and what stands for each polygon.

    Attributes
    ----------
    starts, points : first point of every polygon; (n, 3) positions
    hubs, radii : middle of the points of every polygon, and how far they are from it
    sizes : area (2-D: length) of every polygon
    grid : numbers of the cells that are cut, first polygon of each, size of a cell; ``None`` for meshes
    """

    starts: NDArray[np.int64]
    points: FloatArray
    hubs: FloatArray = field(repr=False)
    radii: FloatArray = field(repr=False)
    sizes: FloatArray = field(repr=False)
    grid: tuple[NDArray[np.int32], NDArray[np.int64], FloatArray] | None = field(default=None, repr=False)

    def distances(self, places: FloatArray) -> FloatArray:
        """Return the exact distance of points to the nearest point of this surface, which has some."""
        from edgecritic.kernels.closest import closest_by_tree, closest_in_cells

        squares = np.full(len(places), -1.0)
        if self.grid is not None:
            numbers, firsts, spacing = self.grid
            squares = closest_in_cells(
                places, spacing, numbers, firsts, self.starts, self.points, self.hubs, self.radii
            )
        far = np.flatnonzero(squares < 0)
        if far.size:
            boxes, order = self._tree
            squares[far] = closest_by_tree(places[far], self.starts, self.points, self.hubs, boxes, order)
        found: FloatArray = np.sqrt(squares)
        return found

    @cached_property
    def _tree(self) -> tuple[FloatArray, NDArray[np.int64]]:
        from edgecritic.kernels.closest import interleave, make_tree

        low = self.hubs.min(axis=0)
        extent = float((self.hubs - low).max()) or 1.0
        places = ((self.hubs - low) * ((2**20 - 1) / extent)).astype(np.int64)
        order = np.argsort(interleave(places), kind="stable")
        return make_tree(self.starts, self.points, order), order


def of_mask(mask: BoolArray, spacing: tuple[float, ...], *, smooth: bool = True) -> Polygons:
    """Return the surface of the set voxels; the centre of the first voxel is at one voxel along each axis.

    Parameters
    ----------
    mask : 2-D or 3-D
        Outside of it nothing is set.
    spacing : voxel size
    smooth : bool
        Whether points move off the middles of their edges; without, polygons are cut into triangles that are
        elements of their own.
    """
    from edgecritic.kernels.closest import REACH
    from edgecritic.kernels.polygons import lay_polygons

    ndim, front = mask.ndim, (1,) * (3 - mask.ndim)
    corners = corner_codes(mask)
    cut = np.flatnonzero((corners - np.uint8(1)) < 2**2**ndim - 2)
    shape = front + corners.shape
    cells = np.stack(np.unravel_index(cut, shape), axis=1)
    sizes = np.array(front + spacing, dtype=np.float64)
    table, ends = _table(ndim, whole=smooth)
    padded = np.pad(mask, 1).view(np.uint8).reshape(front + tuple(n + 2 for n in mask.shape))
    level = _filtered(padded, ndim) if smooth else padded.astype(np.float32)
    firsts, starts, points = lay_polygons(level, cells, corners.ravel()[cut], table, ends, sizes, LEAST)
    margins = [REACH if n > 1 else 0 for n in shape]
    numbers = np.zeros([n + 2 * margin for n, margin in zip(shape, margins, strict=True)], dtype=np.int32)
    numbers[tuple((cells + margins).T)] = np.arange(1, len(cells) + 1)
    return _made(starts, points, (numbers, firsts, sizes))


def of_mesh(mesh: Mesh, origin: tuple[float, ...] | None = None) -> Polygons:
    """Return the surface of a mesh, moved by `origin`."""
    per_face = mesh.faces.shape[1]
    moved = mesh.vertices + (0.0 if origin is None else np.asarray(origin))
    points = np.zeros((mesh.faces.size, 3))
    points[:, 3 - mesh.ndim :] = moved[mesh.faces.ravel()]
    return _made(np.arange(len(mesh.faces) + 1, dtype=np.int64) * per_face, points, None)


def _made(starts: NDArray[np.int64], points: FloatArray, grid: Any) -> Polygons:
    from edgecritic.kernels.polygons import polygon_elements

    return Polygons(starts, points, *polygon_elements(starts, points), grid)


def _filtered(padded: NDArray[np.uint8], ndim: int) -> NDArray[np.float32]:
    from edgecritic.kernels.polygons import smooth_axis

    weights = _weights()
    first, second = padded.astype(np.float32), np.empty(padded.shape, dtype=np.float32)
    for axis in range(3 - ndim, 3):
        smooth_axis(first, second, weights, axis)
        first, second = second, first
    return first


@lru_cache(maxsize=1)
def _weights() -> NDArray[np.float32]:
    """Half of the filter, the middle first: Gaussians of variance 1 and 2 mixed; sum 1, second moment 0."""
    steps = np.arange(RADIUS + 1, dtype=np.float64)
    both = [np.exp(-(steps**2) / (2 * variance)) for variance in (1, 2)]
    narrow, wide = (bell / (bell[0] + 2 * bell[1:].sum()) for bell in both)
    moments = [float((bell * steps**2).sum()) for bell in (narrow, wide)]
    share = moments[1] / (moments[1] - moments[0])
    return np.asarray(share * narrow + (1 - share) * wide, dtype=np.float32)


@lru_cache(maxsize=4)
def _table(ndim: int, *, whole: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the polygons of every code as rows (edges, edge numbers …, 0), and the ends of every edge."""
    corners = list(itertools.product((0, 1), repeat=ndim))
    edges = [
        (low, high)
        for low, high in itertools.combinations(corners, 2)
        if sum(abs(a - b) for a, b in zip(low, high, strict=True)) == 1
    ]
    numbers = {frozenset(edge): number for number, edge in enumerate(edges)}
    table = np.zeros((2 ** len(corners), 32), dtype=np.int64)
    for code in range(1, len(table) - 1):
        chosen = {corner for bit, corner in enumerate(corners) if code & (2 ** (len(corners) - 1 - bit))}
        segments = face_segments(ndim, chosen)
        loops = [list(segment) for segment in segments] if ndim == 2 else joined_loops(segments)
        if not whole and ndim == 3:
            loops = [[loop[0], loop[at], loop[at + 1]] for loop in loops for at in range(1, len(loop) - 1)]
        row = [number for loop in loops for number in (len(loop), *(numbers[edge] for edge in loop))]
        table[code, : len(row)] = row
    ends = np.zeros((len(edges), 2, 3), dtype=np.int64)
    ends[:, :, 3 - ndim :] = edges
    return table, ends
