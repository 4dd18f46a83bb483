"""Distances of the pixels of one map to the nearest pixel of another."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from edgecritic.inputs import BoolArray

if TYPE_CHECKING:
    from edgecritic.kernels.grid import Neighbourhood

__all__ = ["FloatMap", "border", "by_tree", "distance_map", "nearest_distances"]

FloatMap = NDArray[np.float64]
_NEAR, _WIDE = {2: 6.0, 3: 3.0}, {2: 12.0, 3: 8.0}
"""How far to look around every pixel, and around the few that have nothing so near, in sides of the
smallest pixel: about 120, and 450 to 2000 places."""
_FEW = 1 / 50
"""With more pixels that have nothing near than this share of the image, its transform is quicker."""


def distance_map(mask: BoolArray, spacing: tuple[float, ...]) -> FloatMap:
    """Return the distance of every pixel to the nearest set pixel of a mask that has some."""
    from edgecritic.maps.transform import distance_transform

    return distance_transform(mask, spacing)


def nearest_distances(of: BoolArray, to: BoolArray, spacing: tuple[float, ...]) -> FloatMap:
    """Return the distance of every set pixel of one mask to the nearest set pixel of another, exactly.

    Most pixels have a partner near by and are done at once; around the others a wider ball is searched
    and then a tree of points. If they are many, the whole image is transformed instead.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_distances(np.eye(3, dtype=bool), np.eye(3, k=2, dtype=bool), (1.0, 1.0))
    array([2.        , 1.41421356, 2.        ])
    """
    from edgecritic.kernels.grid import Grid
    from edgecritic.kernels.nearest import first_hit

    table, near = _table(spacing)
    grid = Grid.around(of.shape, table.radii)
    flat, offsets, pixels = grid.embed(to), grid.flat_offsets(table.offsets), grid.locate(of)
    hits = first_hit(flat, pixels, offsets[:near])
    far = np.flatnonzero(hits < 0)
    if far.size > _FEW * of.size:
        return distance_map(to, spacing)[of]
    hits[far] = first_hit(flat, pixels[far], offsets)
    distances = table.distances[hits]
    far = far[hits[far] < 0]
    if far.size:
        distances[far] = by_tree(np.argwhere(of)[far], np.argwhere(border(to)), spacing)
    return distances


def border(mask: BoolArray) -> BoolArray:
    """Return the set pixels that have a face neighbour which is not set (or lies outside)."""
    inner = mask.copy()
    one_plane = mask.shape.index(1) if mask.ndim == 3 and 1 in mask.shape else None
    for axis in range(mask.ndim):
        if axis == one_plane:
            continue
        before, after = np.moveaxis(inner, axis, 0), np.moveaxis(mask, axis, 0)
        before[1:] &= after[:-1]
        before[:-1] &= after[1:]
        before[0] = False
        before[-1] = False
    return mask & ~inner


@lru_cache(maxsize=8)
def _table(spacing: tuple[float, ...]) -> tuple[Neighbourhood, int]:
    """Return the offsets of the wide ball, and how many of them are near."""
    from edgecritic.kernels.grid import ball

    ndim, smallest = len(spacing), min(spacing)
    table = ball(_WIDE[ndim] * smallest, spacing)
    return table, int(np.searchsorted(table.distances, _NEAR[ndim] * smallest, side="right"))


def by_tree(points: NDArray[np.int64], to: NDArray[np.int64], spacing: tuple[float, ...]) -> FloatMap:
    """Return the distance of every point to the nearest of others, both in pixels."""
    from scipy.spatial import cKDTree

    tree = cKDTree(to * np.asarray(spacing), balanced_tree=False, compact_nodes=False)
    found: FloatMap = tree.query(points * np.asarray(spacing))[0]
    return found
