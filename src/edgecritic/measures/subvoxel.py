"""Surfaces between voxels: small elements on the grid of voxel corners, with their areas.

A corner of the grid has 8 voxels around it (4 pixels in 2-D). Where some are set and some are not, a
piece of the surface passes: the polygon through the middles of the edges that join a set voxel to one
that is not. Its area (length in 2-D) is the weight of this element.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from edgecritic.inputs import BoolArray

__all__ = ["corner_codes", "element_sizes", "face_segments", "joined_loops"]

Corner = tuple[int, ...]
Edge = frozenset[Corner]


def corner_codes(mask: BoolArray) -> NDArray[np.uint8]:
    """Return for every corner of the grid which voxels around it are set, one bit each.

    The result is longer than the mask by one along each axis; outside nothing is set. The voxel that
    lies before the corner along all axes has the highest bit.
    """
    ndim = mask.ndim
    padded = np.pad(mask, 1).astype(np.uint8)
    codes = np.zeros([n + 1 for n in mask.shape], dtype=np.uint8)
    for bit, corner in enumerate(itertools.product((0, 1), repeat=ndim)):
        part = padded[tuple(slice(step, step + n) for step, n in zip(corner, codes.shape, strict=True))]
        codes |= part << np.uint8(2**ndim - 1 - bit)
    return codes


@lru_cache(maxsize=16)
def element_sizes(spacing: tuple[float, ...]) -> NDArray[np.float64]:
    """Return the area (2-D: length) of the surface element of every corner code.

    A face whose set and unset corners alternate is cut so that the minority's corners stay apart. A
    polygon that is not flat is triangulated so that its area is largest on unit voxels.
    """
    codes, points = _pieces(len(spacing))
    real = points * np.asarray(spacing)
    sides = real[:, 1:] - real[:, :1]
    if len(spacing) == 2:
        areas = np.linalg.norm(sides[:, 0], axis=1)
    else:
        areas = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) / 2
    sizes = np.zeros(2 ** (2 ** len(spacing)))
    np.add.at(sizes, codes, areas)
    sizes.flags.writeable = False
    return sizes


@lru_cache(maxsize=2)
def _pieces(ndim: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the triangles (2-D: segments) of all elements on unit voxels, and the codes they belong to."""
    corners = list(itertools.product((0, 1), repeat=ndim))
    codes: list[int] = []
    pieces: list[list[NDArray[np.float64]]] = []
    for code in range(1, 2 ** len(corners) - 1):
        chosen = {corner for bit, corner in enumerate(corners) if code & (2 ** (len(corners) - 1 - bit))}
        if 2 * len(chosen) > len(corners):
            chosen = set(corners) - chosen
        segments = face_segments(ndim, chosen)
        if ndim == 2:
            found = [[_middle(a), _middle(b)] for a, b in segments]
        else:
            found = [triangle for loop in joined_loops(segments) for triangle in _triangles(loop)]
        codes += [code] * len(found)
        pieces += found
    return np.array(codes, dtype=np.int64), np.array(pieces)


def face_segments(ndim: int, chosen: set[Corner]) -> list[tuple[Edge, Edge]]:
    """Return the lines of the surface on all faces of a cell; of alternating corners the chosen are apart."""
    return [segment for face in _faces(ndim) for segment in _segments(face, chosen)]


@lru_cache(maxsize=2)
def _faces(ndim: int) -> list[list[Corner]]:
    """The square faces of the unit cell, each as its corners in cyclic order."""
    square = [(0, 0), (0, 1), (1, 1), (1, 0)]
    if ndim == 2:
        return [list(square)]
    return [
        [(*corner[:axis], side, *corner[axis:]) for corner in square] for axis in range(3) for side in (0, 1)
    ]


def _segments(face: list[Corner], chosen: set[Corner]) -> Iterator[tuple[Edge, Edge]]:
    edges = [frozenset((face[i], face[(i + 1) % 4])) for i in range(4)]
    crossed = [edge for edge in edges if len(edge & chosen) == 1]
    if len(crossed) == 2:
        yield crossed[0], crossed[1]
    elif len(crossed) == 4:
        for i in range(4):
            if face[i] in chosen:
                yield edges[i - 1], edges[i]


def joined_loops(segments: list[tuple[Edge, Edge]]) -> list[list[Edge]]:
    """Join segments end to end; every end belongs to exactly two."""
    left = list(segments)
    loops = []
    while left:
        loop = list(left.pop())
        while loop[0] != loop[-1]:
            follower = next(segment for segment in left if loop[-1] in segment)
            left.remove(follower)
            loop.append(follower[1] if follower[0] == loop[-1] else follower[0])
        loops.append(loop[:-1])
    return loops


def _triangles(loop: list[Edge]) -> list[list[NDArray[np.float64]]]:
    points = [_middle(edge) for edge in loop]
    best = max(_triangulations(0, len(loop) - 1), key=lambda cut: round(_twice_the_area(points, cut), 9))
    return [[points[corner] for corner in triangle] for triangle in best]


def _triangulations(first: int, last: int) -> list[list[tuple[int, int, int]]]:
    if last - first < 2:
        return [[]]
    return [
        [*before, *after, (first, middle, last)]
        for middle in range(first + 1, last)
        for before in _triangulations(first, middle)
        for after in _triangulations(middle, last)
    ]


def _twice_the_area(points: list[NDArray[np.float64]], triangles: list[tuple[int, int, int]]) -> float:
    return sum(
        float(np.linalg.norm(np.cross(points[b] - points[a], points[c] - points[a]))) for a, b, c in triangles
    )


def _middle(edge: Edge) -> NDArray[np.float64]:
    first, second = (np.asarray(corner) for corner in edge)
    middle: NDArray[np.float64] = (first + second) / 2
    return middle
