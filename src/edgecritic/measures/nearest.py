"""Distances of the pixels of one map to the nearest pixel of another."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.inputs import BoolArray

__all__ = ["distance_map", "nearest_distances"]

FloatMap = NDArray[np.float64]
_REACH = {2: 6.0, 3: 3.0}
"""How far to look around each pixel, in sides of the smallest pixel: about 120 places."""
_FEW = 0.05
"""Up to this share of pixels with nothing near, a tree of points is quicker than a transform."""


def distance_map(mask: BoolArray, spacing: tuple[float, ...]) -> FloatMap:
    """Return the distance of every pixel to the nearest set pixel of a mask that has some."""
    transform: FloatMap = _kernel()(np.ascontiguousarray(mask), spacing)
    return transform


def nearest_distances(of: BoolArray, to: BoolArray, spacing: tuple[float, ...]) -> FloatMap:
    """Return the distance of every set pixel of one mask to the nearest set pixel of another, exactly.

    Most pixels have a partner near by and are done at once; for the others a tree of points is asked,
    or a transform of the whole image if they are many.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_distances(np.eye(3, dtype=bool), np.eye(3, k=2, dtype=bool), (1.0, 1.0))
    array([2.        , 1.41421356, 2.        ])
    """
    from edgecritic.kernels.grid import Grid, ball
    from edgecritic.kernels.nearest import first_hit

    near = ball(_REACH[of.ndim] * min(spacing), spacing)
    grid = Grid.around(of.shape, near.radii)
    padded = np.zeros(grid.padded, dtype=np.bool_)
    padded[tuple(slice(r, r + n) for r, n in zip(grid.radii, grid.shape, strict=True))] = to
    hits = first_hit(padded.reshape(-1), grid.locate(of), grid.flat_offsets(near.offsets))
    distances = near.distances[hits]
    far = hits < 0
    count = int(np.count_nonzero(far))
    if count > _FEW * far.size:
        return distance_map(to, spacing)[of]
    if count:
        distances[far] = _by_tree(np.argwhere(of)[far], np.argwhere(to), spacing)
    return distances


def _by_tree(points: NDArray[np.int64], to: NDArray[np.int64], spacing: tuple[float, ...]) -> FloatMap:
    from scipy.spatial import cKDTree

    tree = cKDTree(to * np.asarray(spacing), balanced_tree=False, compact_nodes=False)
    found: FloatMap = tree.query(points * np.asarray(spacing))[0]
    return found


@lru_cache(maxsize=1)
def _kernel() -> Any:
    try:
        from edgecritic.matching.transform import distance_transform
    except ImportError:
        from scipy.ndimage import distance_transform_edt

        return lambda mask, spacing: distance_transform_edt(~mask, sampling=spacing)
    return distance_transform
