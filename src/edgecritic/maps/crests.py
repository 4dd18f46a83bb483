"""Non-maximum suppression across the surfaces of a strength volume."""

from __future__ import annotations

import itertools
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import FloatArray, Spacing, as_spacing
from edgecritic.values import Value

__all__ = ["SurfaceRecipe", "keep_surfaces", "surface_normals"]

_MOST_SMOOTH = 20.0
_VOXELS_AT_ONCE = 2**18


class SurfaceRecipe(Value):
    """Suppression across surfaces, for volumes; see :func:`keep_surfaces`.

    Attributes
    ----------
    smooth : float
        Standard deviation of the Gaussians of :func:`surface_normals`, in units of the smallest voxel side.
    source : str
        Where the recipe is used.
    """

    _hidden = ("source",)
    radius: ClassVar[int] = 1

    smooth: float = 1.0
    source: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        good = isinstance(self.smooth, int | float) and not isinstance(self.smooth, bool)
        if not (good and 0.3 <= self.smooth <= _MOST_SMOOTH):
            raise InputError(f"smooth must be a number from 0.3 to {_MOST_SMOOTH:g}, got {self.smooth!r}")

    def __str__(self) -> str:
        return f"surface(smooth={self.smooth:g})"

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers of the recipe, ready for JSON."""
        return {"across": "surface", "smooth": float(self.smooth)}


def keep_surfaces(
    strength: FloatArray, *, smooth: float = 1.0, spacing: Spacing = None
) -> NDArray[np.float32]:
    """Keep the voxels of a strength volume that are largest across the surface they lie on.

    Parameters
    ----------
    strength : (planes, rows, columns) float array
    smooth : float
        As in :class:`SurfaceRecipe`.
    spacing : float or sequence of float, optional
        Voxel size: directions across surfaces are those of space, not of the grid.

    Returns
    -------
    (planes, rows, columns) float32 array
        The strengths of the voxels that survive, 0 elsewhere and in the outermost voxels.

    Notes
    -----
    A voxel survives if it is above the strength one step behind and not below that one
    step ahead, along the normal of :func:`surface_normals`: of two equal voxels side by side one stays. A
    step ends where the normal meets the cube of the 26 neighbours, 1 to √3 voxels away; the strength there is
    interpolated trilinearly. Strengths themselves are not smoothed.

    Examples
    --------
    >>> plate = np.zeros((9, 7, 7), np.float32)
    >>> plate[3:6] = np.array([0.4, 0.9, 0.5])[:, None, None]
    >>> keep_surfaces(plate)[:, 3, 3]
    array([0. , 0. , 0. , 0. , 0.9, 0. , 0. , 0. , 0. ], dtype=float32)
    """
    from edgecritic.kernels.directional import keep_crests_of_volume

    if strength.ndim != 3:
        raise InputError(
            f"suppression across surfaces works on volumes, got shape {strength.shape}",
            remedy="images have recipes such as hed",
        )
    sizes = as_spacing(spacing, 3)
    active = strength > 0
    parts = [np.zeros(strength.shape) for _ in range(3)]
    for part, values, size in zip(
        parts, surface_normals(strength, active, smooth, sizes).T, sizes, strict=True
    ):
        part[active] = values / size  # from space to steps of the grid
    values = np.require(strength, np.float64, ["C", "W"])
    kept = keep_crests_of_volume(values, parts[0], parts[1], parts[2], 0.0, True, False)
    result: NDArray[np.float32] = np.where(kept, strength, 0).astype(np.float32)
    return result


def surface_normals(
    strength: FloatArray, where: NDArray[np.bool_], smooth: float, spacing: tuple[float, ...]
) -> NDArray[np.float64]:
    """Return the unit normals of the surfaces of a volume at some voxels, in raster order.

    The normal is the direction in which the strength changes most around a voxel: the eigenvector of the
    largest eigenvalue of the structure tensor G ∗ (∇f ∇fᵀ), with f the strength smoothed by the same Gaussian
    G. It does not depend on the sign of the gradient, which changes at a crest. (The direction of strongest
    curvature would lie in the surface on the flanks of a curved one.) The largest component of a normal is
    positive. Where nothing changes it is 0.

    References
    ----------
    .. [1] J. Bigün and G. H. Granlund, "Optimal orientation detection of linear symmetry", Proc. First
       International Conference on Computer Vision, 1987, pp. 433–438.
    """
    from scipy.ndimage import gaussian_filter

    single = strength.astype(np.float32)
    sigmas = [smooth * min(spacing) / size for size in spacing]
    gradient = [
        gaussian_filter(single, sigmas, order=[int(axis == other) for other in range(3)], mode="nearest")
        / np.float32(spacing[axis])
        for axis in range(3)
    ]
    count = int(np.count_nonzero(where))
    tensor = np.empty((count, 3, 3), dtype=np.float32)
    for first, second in itertools.combinations_with_replacement(range(3), 2):
        part = gaussian_filter(gradient[first] * gradient[second], sigmas, mode="nearest")[where]
        tensor[:, first, second] = tensor[:, second, first] = part
    normals = np.zeros((count, 3))
    for start in range(0, count, _VOXELS_AT_ONCE):
        some = slice(start, start + _VOXELS_AT_ONCE)
        change, directions = np.linalg.eigh(tensor[some])
        normal = directions[:, :, 2].astype(np.float64)
        longest = np.take_along_axis(normal, np.abs(normal).argmax(axis=1)[:, None], axis=1)
        normals[some] = np.where(change[:, 2:] > 0, normal * np.sign(longest), 0.0)
    return normals
