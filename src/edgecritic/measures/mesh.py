"""Distances between the polygons of two surfaces: the evidence of the measures with ``surface="mesh"``.

The surfaces are those of two maps, of two meshes, or of one of each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from edgecritic.errors import InputError
from edgecritic.grids import image_of
from edgecritic.inputs import BoolArray, Spacing, as_mask, as_spacing
from edgecritic.maps.mesh import Mesh
from edgecritic.maps.nearest import distance_map
from edgecritic.maps.target import Target
from edgecritic.measures.base import MeasureInfo
from edgecritic.measures.conventions import convention_of
from edgecritic.measures.evidence import Comparison, Distances, Judged, OnDegenerate
from edgecritic.measures.polygons import Polygons, of_mask, of_mesh
from edgecritic.registry import Bound

__all__ = ["MeshEvidence", "MeshPair", "check_for_meshes", "mesh_band", "mesh_evidence", "mesh_pairs"]


class MeshEvidence(NamedTuple):
    """Two surfaces and the distances of their elements, one per polygon, to the other surface.

    A distance is that of the polygon's hub, which lies on the surface, to the nearest point of the other
    surface, exactly; the weight of an element is the polygon's area (length in 2-D).
    """

    candidate: Polygons
    truth: Polygons
    distances: Distances

    @classmethod
    def between(cls, candidate: Polygons, truth: Polygons) -> MeshEvidence:
        """Measure both ways."""
        there = truth.distances(candidate.hubs)
        return cls(candidate, truth, Distances(there, candidate.distances(truth.hubs)))


class MeshPair(Comparison):
    """A comparison in which one side or both are meshes; there are no pixels to count.

    Parameters
    ----------
    candidate, truth : Mesh or binary map
        A map's first pixel has its centre at the origin of the meshes, its axes in their order.
    spacing : tuple of float
        Pixel size of the map, if there is one.
    """

    def __init__(
        self,
        candidate: Mesh | BoolArray,
        truth: Mesh | BoolArray,
        spacing: tuple[float, ...],
        on_degenerate: OnDegenerate,
    ) -> None:
        Judged.__init__(self, on_degenerate)
        self.sides = candidate, truth
        self._spacing = spacing

    @property
    def spacing(self) -> tuple[float, ...]:
        """Pixel size along each axis, 1 where there are only meshes."""
        return self._spacing

    @property
    def n_candidate(self) -> int:
        """Number of faces, or of pixels."""
        return _count(self.sides[0])

    @property
    def n_truth(self) -> int:
        """Number of faces, or of pixels."""
        return _count(self.sides[1])

    @property
    def empty_distance(self) -> float:
        """What stands for the distance to a surface without faces: the diagonal of the box of the other."""
        corners = [_corners(side, self.spacing) for side in self.sides if _count(side)]
        return max((math.dist(*pair) for pair in corners), default=0.0)

    @property
    def empty_text(self) -> str:
        """The empty side in words."""
        side = self.empty_side
        return "both surfaces are empty" if side == "both" else f"the surface of the {side} is empty"

    @property
    def targets(self) -> NoReturn:  # type: ignore[override]
        """Refused: measures of pixels have nothing to work on."""
        raise _no_pixels()

    _candidate = _truth = targets

    def __repr__(self) -> str:
        return f"MeshPair({self.n_candidate} and {self.n_truth} faces or pixels)"

    def polygons(self, *, smooth: bool) -> list[Polygons]:
        """Return both surfaces."""
        origin = self.spacing  # where `of_mask` puts the first pixel
        found = [
            of_mesh(side, origin) if isinstance(side, Mesh) else of_mask(side, self.spacing, smooth=smooth)
            for side in self.sides
        ]
        for surface, name in zip(found, ("candidate", "truth"), strict=True):
            area = float(surface.sizes.sum())
            if not 0 < area < math.inf:
                raise InputError(
                    f"the faces of the {name} have an area of {area:g}, by which distances are weighted",
                    remedy="check that its faces name different vertices, and its unit of length",
                )
        return found


def mesh_evidence(comparison: Comparison, *, smooth: bool) -> MeshEvidence:
    """Return the polygons of both sides and the distances between them, computed once.

    Volumes of one plane are measured in that plane.
    """
    return comparison.cached(f"mesh smooth={smooth}", lambda pair: _evidence(pair, smooth))


def mesh_pairs(
    candidate: Any, truths: Sequence[Any], spacing: Spacing, on_degenerate: OnDegenerate
) -> list[MeshPair] | None:
    """Return a pair for every truth if the candidate or one of them is a mesh, else ``None``.

    Examples
    --------
    >>> mesh_pairs([[1, 0]], [[[1, 0]]], None, "value") is None
    True
    """
    if not any(isinstance(side, Mesh) for side in (candidate, *truths)):
        return None
    return [_pair(candidate, truth, spacing, on_degenerate) for truth in truths]


def check_for_meshes(chosen: Sequence[Bound[MeasureInfo]]) -> None:
    """Refuse measures of pixels; those of surfaces must name the mesh, or a preset that measures one."""
    for bound in chosen:
        of_surfaces = {"surface", "compat"} <= set(bound.entry.parameters)
        if not of_surfaces or convention_of(bound.id.options).surface != "mesh":
            raise _no_pixels(f"{bound} judges pixels, and ")


def mesh_band(target: Target, distance: float) -> BoolArray:
    """Return the set pixels whose centre is less than `distance` from the object's own mesh."""
    mask, spacing, plane = _as_plane(target.mask, target.spacing)
    outside = distance_map(~np.pad(mask, 1), spacing)[(slice(1, -1),) * mask.ndim]
    near = mask & (outside <= distance + math.hypot(*spacing))
    places = np.zeros((int(np.count_nonzero(near)), 3))
    places[:, 3 - mask.ndim :] = (np.argwhere(near) + 1) * np.asarray(spacing)
    near[near] = of_mask(mask, spacing).distances(places) < distance
    return near if plane is None else np.expand_dims(near, plane)


def _evidence(comparison: Comparison, smooth: bool) -> MeshEvidence:
    if isinstance(comparison, MeshPair):
        return MeshEvidence.between(*comparison.polygons(smooth=smooth))
    made = []
    for target in comparison.targets:
        mask, spacing, _ = _as_plane(target.mask[comparison.window], comparison.spacing, target.mask.shape)
        made.append(of_mask(mask, spacing, smooth=smooth))
    return MeshEvidence.between(*made)


def _as_plane(
    mask: BoolArray, spacing: tuple[float, ...], shape: tuple[int, ...] | None = None
) -> tuple[BoolArray, tuple[float, ...], int | None]:
    """Return a volume of one plane as that plane, with its spacing and the axis that was left out."""
    whole = mask.shape if shape is None else shape
    plane = whole.index(1) if len(whole) == 3 and 1 in whole else None
    if plane is not None:
        mask = np.squeeze(mask, axis=plane)
        spacing = tuple(size for axis, size in enumerate(spacing) if axis != plane)
    return np.ascontiguousarray(mask), spacing, plane


def _pair(candidate: Any, truth: Any, spacing: Spacing, on_degenerate: OnDegenerate) -> MeshPair:
    first, second = (
        side if isinstance(side, Mesh) else _mask(side, name)
        for side, name in ((candidate, "candidate"), (truth, "truth"))
    )
    if first.ndim != second.ndim:
        raise InputError(
            f"the candidate has {first.ndim} dimensions and the truth {second.ndim}: a surface in space "
            "cannot be compared with a line in a plane"
        )
    return MeshPair(first, second, as_spacing(spacing, first.ndim), on_degenerate)


def _mask(side: Any, name: str) -> BoolArray:
    if image_of(side) is not None:
        raise InputError(
            f"the {name} is an image that knows its place, but not whether the mesh beside it is in "
            "coordinates of the world or of its voxels",
            remedy="bring the mesh there with mesh.on_grid(affine), and give the voxels as an array with "
            "their spacing",
        )
    return as_mask(side, name)


def _count(side: Mesh | BoolArray) -> int:
    return len(side.faces) if isinstance(side, Mesh) else int(np.count_nonzero(side))


def _corners(side: Mesh | BoolArray, spacing: tuple[float, ...]) -> tuple[Any, Any]:
    if isinstance(side, Mesh):
        used = side.vertices[side.faces.ravel()]
        return used.min(axis=0), used.max(axis=0)
    return np.zeros(side.ndim), np.multiply(side.shape, spacing)


def _no_pixels(before: str = "") -> InputError:
    return InputError(
        f"{before}a mesh has no pixels; of meshes there are hd, hd95, asd, masd, assd and nsd",
        remedy="add surface=mesh to them, as in hd95(surface=mesh)",
    )
