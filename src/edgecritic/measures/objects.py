"""Measures of filled objects beside their surfaces: the boundary band and the centre line."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from edgecritic.errors import InputError, needs_extra
from edgecritic.inputs import BoolArray, diagonal
from edgecritic.kernels.grid import longest
from edgecritic.maps.nearest import distance_map
from edgecritic.maps.target import Target
from edgecritic.measures.base import Empty, measure
from edgecritic.measures.checks import check_between, check_choice, check_positive, check_share
from edgecritic.measures.evidence import Comparison
from edgecritic.measures.mesh import mesh_band

__all__ = ["boundary_iou", "cldice"]

FAMILY = "surfaces"
BEST_IS_1 = Empty(both=1.0, candidate=0.0, truth=0.0)


@measure(
    "boundary_iou",
    symbol="BIoU",
    family=FAMILY,
    reference="Cheng, Girshick, Dollár, Berg & Kirillov 2021, CVPR",
    better="higher",
    range=(0, 1),
    symmetric=True,
    sees="both",
    empty=BEST_IS_1,
    needs="surface",
)
def boundary_iou(
    comparison: Comparison,
    /,
    *,
    dilation: float | None = None,
    distance: float | None = None,
    surface: str = "voxel",
) -> float:
    """Return the overlap |A ∩ B| / |A ∪ B| of the inner boundary bands A and B of the two objects.

    How wide a band is, is said in one of two ways; the outside of the image counts as outside.

    `distance`, in units of `spacing`: the voxels of the object whose distance to the nearest voxel outside
    is at most that. It cannot be less than the smallest side of a voxel, and on thick slices it is met
    along those sides only that are as short.

    `dilation`, a share of the image's diagonal, 0.02 if neither is given, as in the paper: the pixels
    within max(1, round(`dilation` · diagonal)) steps (to any of the 8, in 3-D 26 neighbours) of what is
    outside. Steps are pixels, whatever the spacing.

    For objects thinner than the band it is the plain overlap.

    With ``surface="mesh"`` a band is made of the pixels whose centre is less than `distance` (in units of
    `spacing`) from the object's polygons (`edgecritic.measures.polygons`), as in MeshMetrics.

    Examples
    --------
    >>> boundary_iou([[1, 1, 0]], [[1, 0, 0]])
    0.5
    """
    check_choice("surface", surface, ("voxel", "mesh"))
    if surface == "mesh" and distance is None:
        raise InputError(
            "surface=mesh needs the width of the band", remedy="write boundary_iou(surface=mesh, distance=2)"
        )
    if distance is not None and dilation is not None:
        raise InputError(
            f"distance={distance:g} and dilation={dilation:g} both say how wide the band is",
            remedy="leave one of them out",
        )
    if distance is None:
        first, second = _step_bands(comparison, 0.02 if dilation is None else dilation)
    elif surface == "mesh":
        first, second = _mesh_bands(comparison, distance)
    else:
        first, second = _metric_bands(comparison, distance)
    return int(np.count_nonzero(first & second)) / int(np.count_nonzero(first | second))


@measure(
    "cldice",
    symbol="clDice",
    family=FAMILY,
    reference="Shit et al. 2021, CVPR",
    better="higher",
    range=(0, 1),
    symmetric=True,
    sees="both",
    empty=BEST_IS_1,
    needs="surface",
    default=False,
)
def cldice(comparison: Comparison, /, *, skeleton: str = "skeletonize") -> float:
    """Return the centre-line Dice: the harmonic mean of two shares of skeletons.

    The share of the candidate's skeleton that lies in the truth, and of the truth's skeleton that lies in
    the candidate. A skeleton that comes out empty (an even thickness in 3-D) is replaced by the object.

    `skeleton` says how objects become lines. ``"skeletonize"`` is scikit-image's function of that name
    (Zhang and Suen in planes, Lee in volumes), which the authors of clDice, MetricsReloaded and panoptica
    use; it must be installed. ``"thin"``, for planes only, thins as edge maps are thinned
    (`edgecritic.maps.thinning`) and needs nothing. Their lines end at other places, so that values differ
    by as much as 0.15: compare like with like.

    Examples
    --------
    >>> cldice([[1, 1, 1, 0]], [[1, 1, 1, 1]])
    0.8571429
    """
    check_choice("skeleton", skeleton, ("skeletonize", "thin"))
    candidate, truth = comparison.candidate, comparison.truth
    first, second = (
        target.cached(f"skeleton {skeleton}", lambda own: _skeleton(own, skeleton))
        for target in comparison.targets
    )
    precise = int(np.count_nonzero(first & truth)) / int(np.count_nonzero(first))
    sensitive = int(np.count_nonzero(second & candidate)) / int(np.count_nonzero(second))
    total = precise + sensitive
    return 2 * precise * sensitive / total if total else 0.0


def _step_bands(comparison: Comparison, dilation: float) -> list[BoolArray]:
    check_share("dilation", dilation)
    shape = comparison.shape
    steps = max(1, round(dilation * diagonal(shape, (1.0,) * len(shape))))
    return [target.cached(f"band {steps}", lambda own: _band(own, steps)) for target in comparison.targets]


def _metric_bands(comparison: Comparison, distance: float) -> list[BoolArray]:
    check_between("distance", distance, 0, math.inf)
    axis = _one_plane(comparison.truth)
    smallest = min(size for own, size in enumerate(comparison.spacing) if own != axis)
    if longest(distance) < smallest:
        raise InputError(
            f"distance must be at least {smallest:g}, the smallest side of a voxel, got {distance:g}",
            remedy="take a band that is as wide as a voxel",
        )
    return [
        target.cached(f"band within {distance!r}", lambda own: _band_within(own, distance))
        for target in comparison.targets
    ]


def _mesh_bands(comparison: Comparison, distance: float) -> list[BoolArray]:
    check_positive("distance", distance)
    bands = [
        target.cached(f"mesh band {distance!r}", lambda own: mesh_band(own, distance))
        for target in comparison.targets
    ]
    if not any(band.any() for band in bands):
        raise InputError(
            f"no pixel's centre is within {distance:g} of the surface of its object",
            remedy="take a distance of at least half a pixel",
        )
    return bands


def _band_within(target: Target, distance: float) -> BoolArray:
    """Return the set pixels whose distance to an unset one, or to the outside of the image, is small."""
    axis = _one_plane(target.mask)
    margin = [(0, 0) if own == axis else (1, 1) for own in range(target.mask.ndim)]
    to_outside = distance_map(~np.pad(target.mask, margin), target.spacing)
    inside = tuple(slice(before, -after or None) for before, after in margin)
    return np.asarray(target.mask & (to_outside[inside] <= longest(distance)))


def _one_plane(mask: BoolArray) -> int | None:
    """Return the axis along which a volume has one slice, if there is one."""
    return mask.shape.index(1) if mask.ndim == 3 and 1 in mask.shape else None


def _band(target: Target, steps: int) -> BoolArray:
    """Return the set pixels within `steps` of an unset one, by chessboard distance."""
    inner = mask = target.mask
    if not target.solid:
        return mask
    one_plane = _one_plane(mask)
    for axis in range(mask.ndim):
        if axis != one_plane:
            inner = _eroded(inner, steps, axis)
    return mask & ~inner


def _eroded(mask: BoolArray, steps: int, axis: int) -> BoolArray:
    """Keep the pixels whose `steps` neighbours before and after along one axis are all set."""
    margin = [(steps, steps) if other == axis else (0, 0) for other in range(mask.ndim)]
    run = np.moveaxis(np.pad(mask, margin), axis, 0)
    length, wanted = 1, 2 * steps + 1
    while length < wanted:
        step = min(length, wanted - length)
        run = run[:-step] & run[step:]
        length += step
    return np.moveaxis(run, 0, axis)


def _skeleton(target: Target, way: str) -> BoolArray:
    mask = target.mask
    axis = _one_plane(mask)
    plane = mask if axis is None else np.squeeze(mask, axis=axis)
    skeleton = (_thin if way == "thin" else _skeletonize)(plane).reshape(mask.shape)
    return skeleton if skeleton.any() else mask


def _thin(mask: BoolArray) -> BoolArray:
    from edgecritic.maps.thinning import thin

    if mask.ndim != 2:
        raise InputError(
            f"skeleton=thin is for planes, got a volume of shape {mask.shape}",
            remedy="use skeleton=skeletonize",
        )
    return thin(mask)


def _skeletonize(mask: BoolArray) -> BoolArray:
    with needs_extra("cldice (of planes: unless skeleton=thin)", "volumes"):
        from skimage.morphology import skeletonize
    make: Any = skeletonize
    return np.asarray(make(mask.copy()), dtype=np.bool_)
