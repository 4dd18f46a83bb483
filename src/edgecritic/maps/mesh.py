"""Surfaces as users have them: points and the triangles, polygons or lines between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import as_array
from edgecritic.values import Value

__all__ = ["Mesh", "as_mesh"]

_FARTHEST = 1e100  # the squares of distances are still numbers


class Mesh(Value):
    """A surface made of polygons in space, or a line made of segments in a plane.

    Make one with `as_mesh`, which checks what it is given.

    Attributes
    ----------
    vertices : (n, 3) or (n, 2) float array
        Positions, in the unit of all distances. Axes are in the order of a volume's axes where it is compared
        with one.
    faces : (m, k) int array
        The vertices of every triangle (k = 3) or segment (k = 2), counted from 0.

    Examples
    --------
    >>> square = as_mesh([[0, 0], [0, 1], [1, 1], [1, 0]], [[0, 1], [1, 2], [2, 3], [3, 0]])
    >>> square
    Mesh(vertices=<float64 4×2>, faces=<int64 4×2>)
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]
    _hidden = ("vertices", "faces")

    @property
    def ndim(self) -> int:
        """3 for a surface in space, 2 for a line in a plane."""
        return int(self.vertices.shape[1])

    def on_grid(self, affine: Any) -> Mesh:
        """Return a mesh of world coordinates in those of a volume, as `edgecritic.score` compares them.

        Parameters
        ----------
        affine : (4, 4) array_like
            Takes voxel numbers to the mesh's coordinates, as of a NIfTI image. Its columns may be turned but
            must be at right angles.

        Returns
        -------
        Mesh
            The centre of the first voxel is at 0, axes are those of the volume, in its units.

        Examples
        --------
        >>> corner = as_mesh([[2, 0, 0], [2, 3, 0], [2, 0, 3]], [[0, 1, 2]])
        >>> corner.on_grid([[0, 0, 1, 2], [0, 1, 0, 0], [3, 0, 0, 0], [0, 0, 0, 1]]).vertices.tolist()
        [[0.0, 0.0, 0.0], [0.0, 3.0, 0.0], [3.0, 0.0, 0.0]]
        """
        matrix = np.asarray(affine, dtype=np.float64)
        sizes = np.linalg.norm(matrix[:3, :3], axis=0) if matrix.shape == (4, 4) else np.zeros(3)
        if self.ndim != 3 or not (np.isfinite(matrix).all() and sizes.min() > 0):
            raise InputError(
                f"affine must be a regular 4 × 4 matrix, of a mesh in space, got {matrix.tolist()}"
            )
        turn = matrix[:3, :3] / sizes
        if not np.allclose(turn.T @ turn, np.eye(3), atol=1e-4):
            raise InputError(
                "the axes of the affine are not at right angles, so that no voxel size describes it"
            )
        return Mesh(vertices=(self.vertices - matrix[:3, 3]) @ turn, faces=self.faces)

    def as_dict(self) -> dict[str, Any]:
        """Return how much there is of it, ready for JSON."""
        return {"ndim": self.ndim, "vertices": len(self.vertices), "faces": len(self.faces)}


def as_mesh(vertices: Any, faces: Any) -> Mesh:
    """Check points and faces and make a mesh of them.

    Parameters
    ----------
    vertices : array_like, (n, 3) or (n, 2)
        Positions, none beyond ±1e100.
    faces : array_like, or a list of sequences of indices
        Triangles, larger polygons (cut into triangles around their first vertex) or segments; one kind only.

    Returns
    -------
    Mesh
        Surfaces have triangles; lines have segments and, if all their points have one third coordinate, no
        third axis.
    """
    places = as_array(vertices, "vertices")
    if places.ndim != 2 or places.shape[1] not in (2, 3) or places.dtype.kind not in "fiu":
        raise InputError(
            f"vertices must be numbers of shape (n, 3) or (n, 2), got {places.dtype} {places.shape}"
        )
    places = places.astype(np.float64)
    if not (np.abs(places) <= _FARTHEST).all():
        raise InputError(
            f"vertices holds NaN or values beyond ±{_FARTHEST:g}",
            remedy="repair the mesh before it is judged",
        )
    corners = _triangles(faces)
    if corners.size and (corners.min() < 0 or corners.max() >= len(places)):
        raise InputError(
            f"faces name the vertices {corners.min()} to {corners.max()}, but there are {len(places)} from 0"
        )
    if corners.shape[1] == 2 and places.shape[1] == 3:
        if corners.size and np.ptp(places[corners, 2]) > 0:
            raise InputError("a mesh of lines must lie in a plane of one third coordinate, this one does not")
        places = places[:, :2]
    if corners.shape[1] == 3 and places.shape[1] == 2:
        raise InputError("triangles need vertices with three coordinates, got two")
    return Mesh(vertices=np.ascontiguousarray(places), faces=corners)


def _triangles(faces: Any) -> NDArray[np.int64]:
    lengths = {len(face) for face in faces} if isinstance(faces, Sequence) else set()
    if len(lengths) > 1:
        if min(lengths) < 3:
            raise InputError("faces must be all lines or all polygons, got both")
        return np.concatenate(
            [_fan(np.asarray([face for face in faces if len(face) == n])) for n in sorted(lengths)]
        )
    if isinstance(faces, Sequence) and not lengths:
        return np.zeros((0, 3), dtype=np.int64)
    return _fan(as_array(faces, "faces"))


def _fan(faces: NDArray[Any]) -> NDArray[np.int64]:
    if faces.ndim != 2 or faces.shape[1] < 2 or faces.dtype.kind not in "iu":
        raise InputError(
            f"faces must be whole numbers of shape (m, k) with k ≥ 2, got {faces.dtype} {faces.shape}"
        )
    whole = faces.astype(np.int64)
    if whole.shape[1] < 4:
        return whole
    return np.concatenate([whole[:, [0, at, at + 1]] for at in range(1, whole.shape[1] - 1)])
