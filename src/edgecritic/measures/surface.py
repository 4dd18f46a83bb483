"""Measures of surfaces under their medical names, with every convention a named option.

The maps are filled objects (or thin edges, which are their own border). Conventions:

``surface``
    ``"voxel"``: the set voxels that have a face neighbour which is not set. ``"subvoxel"``: elements on
    the grid of voxel corners (`edgecritic.measures.subvoxel`). ``"mesh"``: polygons whose points follow the
    smoothed object, and exact distances to them (`edgecritic.measures.polygons`).
``weights``
    ``"none"``: every element counts alike. ``"area"``: by its area; needs ``surface="subvoxel"``. The
    elements of a mesh always count by their area (length in 2-D).
``percentile``
    ``"directed"``: the greater of the two directed percentiles. ``"pooled"``: of both lists together.
``compat``
    ``"deepmind"``, ``"monai"``, ``"metricsreloaded"``, ``"medpy"`` or ``"meshmetrics"``: all choices of that
    library at once, its values for empty objects too. That of MeshMetrics is a mesh through the middles of
    the edges between voxels, with its triangles as elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.maps.nearest import nearest_distances
from edgecritic.measures.base import Empty, Special, measure
from edgecritic.measures.base import measures as registry
from edgecritic.measures.checks import check_between, check_choice
from edgecritic.measures.evidence import Comparison, Distances
from edgecritic.measures.mesh import mesh_evidence
from edgecritic.measures.subvoxel import corner_codes, element_sizes

__all__ = ["hd", "hd95", "assd", "masd", "nsd"]

FAMILY = "surfaces"
REFERENCE = "Maier-Hein et al. 2024, Metrics Reloaded, Nature Methods 21"
FloatList = NDArray[np.float64]
MESH_SLACK = 1e-6
"""Voxels by which a distance between meshes, whose points are computed, may exceed a tolerance it equals."""


@dataclass(frozen=True, slots=True)
class Convention:
    """The choices of a library. `empty_distance` and `empty_share` are for (one, both) sides empty."""

    surface: str = "voxel"
    weights: str = "none"
    percentile: str = "directed"
    smooth: bool = True
    empty_distance: tuple[float, float] | None = None
    empty_share: tuple[float, float] = (0.0, 1.0)
    refuses_empty: bool = False


COMPAT = {
    "deepmind": Convention(
        surface="subvoxel",
        weights="area",
        empty_distance=(math.inf, math.inf),
        empty_share=(0.0, math.nan),
    ),
    "monai": Convention(empty_distance=(math.nan, math.nan), empty_share=(math.nan, math.nan)),
    "metricsreloaded": Convention(empty_distance=(math.nan, 0.0), empty_share=(math.nan, 1.0)),
    "medpy": Convention(percentile="pooled", refuses_empty=True),
    "meshmetrics": Convention(surface="mesh", smooth=False, empty_distance=(math.inf, 0.0)),
}


def _empty(kind: str, both: bool) -> Callable[[Comparison, Mapping[str, Any]], float]:
    def value(comparison: Comparison, parameters: Mapping[str, Any]) -> float:
        choice = _convention(parameters.get("compat"))
        if choice.refuses_empty:
            raise InputError(f"{comparison.empty_text}, and compat={parameters['compat']} refuses this")
        if kind == "share":
            return choice.empty_share[both]
        if choice.empty_distance is not None:
            return choice.empty_distance[both]
        return 0.0 if both else comparison.empty_distance

    return value


def _table(kind: str) -> Empty:
    one, two = ("the image diagonal", "0") if kind == "distance" else ("0", "1")
    note = "; under compat the value of that library"
    side = Special(one + note, _empty(kind, both=False))
    return Empty(both=Special(two + note, _empty(kind, both=True)), candidate=side, truth=side)


@measure(
    "hd",
    symbol="HD",
    family=FAMILY,
    reference=REFERENCE,
    better="lower",
    range=(0, math.inf),
    symmetric=True,
    sees="both",
    empty=_table("distance"),
    needs="surface",
    default=False,
    units="distance",
)
def hd(
    comparison: Comparison, /, *, surface: str = "voxel", weights: str = "none", compat: str | None = None
) -> float:
    """Return the Hausdorff distance of the two surfaces: the greatest distance from one to the other.

    `hausdorff` measures from every set voxel to the nearest one of the other map, which is 0 inside an object
    that overlaps; of thin edges both are the same. This is `hd95` with ``percent=100``.

    Examples
    --------
    >>> hd([[1, 0, 0, 0, 1]], [[1, 0, 0, 0, 0]])
    4.0
    """
    return hd95(comparison, percent=100, surface=surface, weights=weights, compat=compat)


@measure(
    "hd95",
    symbol="HD95",
    family=FAMILY,
    reference=REFERENCE,
    better="lower",
    range=(0, math.inf),
    symmetric=True,
    sees="both",
    empty=_table("distance"),
    needs="surface",
    units="distance",
)
def hd95(
    comparison: Comparison,
    /,
    *,
    percent: float = 95,
    percentile: str = "directed",
    surface: str = "voxel",
    weights: str = "none",
    compat: str | None = None,
) -> float:
    """Return the 95th percentile of the distances between the two surfaces.

    Unweighted percentiles interpolate linearly. Weighted ones take the first distance at which the
    share of area reaches the percentage. ``percent=100`` is the Hausdorff distance of the surfaces.

    Examples
    --------
    >>> hd95([[1, 0, 0, 0, 1]], [[1, 0, 0, 0, 0]])
    3.8
    """
    check_between("percent", percent, 0, 100)
    check_choice("percentile", percentile, ("directed", "pooled"))
    choice = _convention(compat, Convention(surface, weights, percentile))
    first, second = _elements(comparison, choice)
    if choice.percentile == "pooled":
        return _percentile(_Elements.joined(first, second), percent)
    return max(_percentile(first, percent), _percentile(second, percent))


@measure(
    "assd",
    symbol="ASSD",
    family=FAMILY,
    reference=REFERENCE,
    better="lower",
    range=(0, math.inf),
    symmetric=True,
    sees="both",
    empty=_table("distance"),
    needs="surface",
    units="distance",
)
def assd(
    comparison: Comparison,
    /,
    *,
    surface: str = "voxel",
    weights: str = "none",
    compat: str | None = None,
) -> float:
    """Return the mean of all distances between the two surfaces, both directions in one list.

    The mean of the two directed means is `masd`.

    Examples
    --------
    >>> assd([[1, 0, 0, 0, 1]], [[1, 0, 0, 0, 0]])
    1.3333333
    """
    first, second = _elements(comparison, _convention(compat, Convention(surface, weights)))
    return _Elements.joined(first, second).mean()


@measure(
    "masd",
    symbol="MASD",
    family=FAMILY,
    reference=REFERENCE,
    better="lower",
    range=(0, math.inf),
    symmetric=True,
    sees="both",
    empty=_table("distance"),
    needs="surface",
    units="distance",
)
def masd(
    comparison: Comparison,
    /,
    *,
    surface: str = "voxel",
    weights: str = "none",
    compat: str | None = None,
) -> float:
    """Return the mean of the two directed mean distances between the surfaces.

    Examples
    --------
    >>> masd([[1, 0, 0, 0, 1]], [[1, 0, 0, 0, 0]])
    1.0
    """
    first, second = _elements(comparison, _convention(compat, Convention(surface, weights)))
    return (first.mean() + second.mean()) / 2


@measure(
    "nsd",
    symbol="NSD",
    family=FAMILY,
    reference="Nikolov et al. 2021, Journal of Medical Internet Research 23(7)",
    better="higher",
    range=(0, 1),
    symmetric=True,
    sees="both",
    empty=_table("share"),
    needs="surface",
)
def nsd(
    comparison: Comparison,
    /,
    *,
    tolerance: float = 1,
    surface: str = "voxel",
    weights: str = "none",
    compat: str | None = None,
) -> float:
    """Return the normalised surface Dice: the share of both surfaces within `tolerance` of the other.

    `tolerance` is in pixels, or in units of `spacing`.

    Examples
    --------
    >>> nsd([[1, 0, 0, 0, 1]], [[1, 0, 0, 0, 0]])
    0.6666667
    """
    check_between("tolerance", tolerance, 0, math.inf)
    first, second = _elements(comparison, _convention(compat, Convention(surface, weights)))
    near = first.size_within(tolerance) + second.size_within(tolerance)
    return near / (first.size_within(math.inf) + second.size_within(math.inf))


@dataclass(frozen=True, slots=True)
class _Elements:
    """Distances of the elements of one surface to the other, with weights (``None``: all alike)."""

    distances: FloatList
    weights: FloatList | None
    slack: float = 0.0

    @classmethod
    def joined(cls, first: _Elements, second: _Elements) -> _Elements:
        weights = None
        if first.weights is not None and second.weights is not None:
            weights = np.concatenate([first.weights, second.weights])
        return cls(np.concatenate([first.distances, second.distances]), weights, first.slack)

    def mean(self) -> float:
        return float(np.average(self.distances, weights=self.weights))

    def size_within(self, distance: float) -> float:
        near = self.distances <= distance + self.slack
        return float(np.count_nonzero(near) if self.weights is None else self.weights[near].sum())


def surface_note(ids: Sequence[str]) -> str:
    """Say which surface the measures among `ids` used that name none, nothing if all do.

    Examples
    --------
    >>> surface_note(["hd95", "nsd(tolerance=2)", "dice", "masd(surface=mesh)"])
    'surface=voxel in hd95, nsd(tolerance=2)'
    """
    bound = [registry.bind(text) for text in ids]
    silent = [
        str(each)
        for each in bound
        if "surface" in each.entry.parameters
        and "compat" in each.entry.parameters
        and not {"surface", "compat"} & set(each.id.options)
    ]
    return f"surface=voxel in {', '.join(silent)}" if silent else ""


def _convention(compat: object, own: Convention | None = None) -> Convention:
    if compat is not None:
        check_choice("compat", compat, (None, *COMPAT))
        return COMPAT[str(compat)]
    own = own or Convention()
    check_choice("surface", own.surface, ("voxel", "subvoxel", "mesh"))
    check_choice("weights", own.weights, ("none", "area"))
    if own.weights == "area" and own.surface == "voxel":
        raise InputError('weights="area" needs surface="subvoxel": voxels have no area')
    return own


def _elements(comparison: Comparison, choice: Convention) -> tuple[_Elements, _Elements]:
    if choice.surface == "voxel":
        found = comparison.surface
        return _Elements(found.to_truth, None), _Elements(found.to_candidate, None)
    if choice.surface == "mesh":
        mesh = mesh_evidence(comparison, smooth=choice.smooth)
        slack = MESH_SLACK * min(comparison.spacing)
        return (
            _Elements(mesh.distances.to_truth, mesh.candidate.sizes, slack),
            _Elements(mesh.distances.to_candidate, mesh.truth.sizes, slack),
        )
    found, first, second = comparison.cached("subvoxel", _subvoxel)
    if choice.weights == "none":
        return _Elements(found.to_truth, None), _Elements(found.to_candidate, None)
    return _Elements(found.to_truth, first), _Elements(found.to_candidate, second)


def _subvoxel(comparison: Comparison) -> tuple[Distances, FloatList, FloatList]:
    codes = [corner_codes(mask[comparison.window]) for mask in (comparison.candidate, comparison.truth)]
    sizes = element_sizes(comparison.spacing)
    first, second = [(code > 0) & (code < len(sizes) - 1) for code in codes]
    distances = Distances(
        nearest_distances(first, second, comparison.spacing),
        nearest_distances(second, first, comparison.spacing),
    )
    return distances, sizes[codes[0][first]], sizes[codes[1][second]]


def _percentile(elements: _Elements, percent: float) -> float:
    if elements.weights is None:
        return float(np.percentile(elements.distances, percent))
    if percent == 100:
        return float(elements.distances.max())
    order = np.argsort(elements.distances)
    shares = np.cumsum(elements.weights[order]) / elements.weights.sum()
    rank = min(int(np.searchsorted(shares, percent / 100)), order.size - 1)
    return float(elements.distances[order[rank]])
