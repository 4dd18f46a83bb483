"""Measures of surfaces under their medical names, with every convention a named option.

The maps are filled objects (or thin edges, which are their own border). Conventions:

``surface``
    ``"voxel"`` (if not given): the set voxels that have a face neighbour which is not set. ``"subvoxel"``:
    elements on the grid of voxel corners (`edgecritic.measures.subvoxel`). ``"mesh"``: polygons whose points
    follow the smoothed object, and exact distances to them (`edgecritic.measures.polygons`).
``weights``
    ``"none"`` (if not given): every element counts alike. ``"area"``: by its area; needs
    ``surface="subvoxel"``. The elements of a mesh always count by their area (length in 2-D).
``percentile``
    ``"directed"`` (if not given): the greater of the two directed percentiles. ``"pooled"``: of both lists
    together.
``direction``
    ``"both"``: from each surface to the other. ``"to_truth"``: from the candidate's surface only, which sees
    false alarms; ``"to_candidate"``: from the truth's only, which sees misses.
``compat``
    ``"deepmind"``, ``"monai"``, ``"metricsreloaded"``, ``"medpy"``, ``"panoptica"`` or ``"meshmetrics"``: all
    choices of that library at once, its values for empty objects too (`edgecritic.measures.conventions`). An
    option that says something else beside it is refused. The surface of MeshMetrics is a mesh through the
    middles of the edges between voxels, with its triangles as elements.

A volume of one slice is measured as the plane that it is; the libraries take all its voxels for surface,
and so does ``compat``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edgecritic.kernels.grid import longest
from edgecritic.maps.nearest import nearest_distances
from edgecritic.measures.base import measure
from edgecritic.measures.base import measures as registry
from edgecritic.measures.checks import check_between, check_choice
from edgecritic.measures.conventions import DIRECTIONS, Convention, convention_of, empty_table
from edgecritic.measures.evidence import Comparison, Distances
from edgecritic.measures.mesh import mesh_evidence
from edgecritic.measures.subvoxel import corner_codes, element_sizes

__all__ = ["hd", "hd95", "asd", "assd", "masd", "nsd"]

FAMILY = "surfaces"
REFERENCE = "Maier-Hein et al. 2024, Metrics Reloaded, Nature Methods 21"
FloatList = NDArray[np.float64]
MESH_SLACK = 1e-6
"""Voxels by which a distance between meshes, whose points are computed, may exceed a tolerance it equals."""


@measure(
    "hd",
    symbol="HD",
    family=FAMILY,
    reference=REFERENCE,
    better="lower",
    range=(0, math.inf),
    symmetric=True,
    sees="both",
    empty=empty_table("hd"),
    needs="surface",
    default=False,
    units="distance",
)
def hd(
    comparison: Comparison,
    /,
    *,
    surface: str | None = None,
    weights: str | None = None,
    direction: str = "both",
    compat: str | None = None,
) -> float:
    """Return the Hausdorff distance of the two surfaces: the greatest distance from one to the other.

    `hausdorff` measures from every set voxel to the nearest one of the other map, which is 0 inside an object
    that overlaps; of thin edges both are the same. This is `hd95` with ``percent=100``.

    Examples
    --------
    >>> hd([[1, 0, 0, 0, 1]], [[1, 0, 0, 0, 0]])
    4.0
    """
    options = {"surface": surface, "weights": weights, "compat": compat}
    lists = _lists(comparison, convention_of(options), direction)
    return max(float(elements.distances.max()) for elements in lists)


@measure(
    "hd95",
    symbol="HD95",
    family=FAMILY,
    reference=REFERENCE,
    better="lower",
    range=(0, math.inf),
    symmetric=True,
    sees="both",
    empty=empty_table("hd95"),
    needs="surface",
    units="distance",
)
def hd95(
    comparison: Comparison,
    /,
    *,
    percent: float = 95,
    percentile: str | None = None,
    surface: str | None = None,
    weights: str | None = None,
    direction: str = "both",
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
    options = {"percentile": percentile, "surface": surface, "weights": weights, "compat": compat}
    choice = convention_of(options)
    lists = _lists(comparison, choice, direction)
    if choice.percentile == "pooled":
        lists = [_Elements.joined(lists)]
    return max(_percentile(elements, percent) for elements in lists)


@measure(
    "asd",
    symbol="ASD",
    family=FAMILY,
    reference=REFERENCE,
    better="lower",
    range=(0, math.inf),
    symmetric=False,
    sees="false alarms",
    empty=empty_table("asd"),
    needs="surface",
    default=False,
    units="distance",
)
def asd(
    comparison: Comparison,
    /,
    *,
    surface: str | None = None,
    weights: str | None = None,
    direction: str = "to_truth",
    compat: str | None = None,
) -> float:
    """Return the mean distance from one surface to the other, one direction only.

    ``direction="to_truth"`` goes from the candidate's surface and sees false alarms, ``"to_candidate"``
    from the truth's and sees misses. The mean of both is `masd`.

    Examples
    --------
    >>> asd([[1, 0, 0, 0, 1]], [[1, 0, 0, 0, 0]])
    2.0
    >>> asd([[1, 0, 0, 0, 1]], [[1, 0, 0, 0, 0]], direction="to_candidate")
    0.0
    """
    check_choice("direction", direction, DIRECTIONS[1:])
    options = {"surface": surface, "weights": weights, "compat": compat}
    return _lists(comparison, convention_of(options), direction)[0].mean()


@measure(
    "assd",
    symbol="ASSD",
    family=FAMILY,
    reference=REFERENCE,
    better="lower",
    range=(0, math.inf),
    symmetric=True,
    sees="both",
    empty=empty_table("assd"),
    needs="surface",
    units="distance",
)
def assd(
    comparison: Comparison,
    /,
    *,
    surface: str | None = None,
    weights: str | None = None,
    compat: str | None = None,
) -> float:
    """Return the mean of all distances between the two surfaces, both directions in one list.

    The mean of the two directed means is `masd`, and what ``compat="panoptica"`` calls by this name.

    Examples
    --------
    >>> assd([[1, 0, 0, 0, 1]], [[1, 0, 0, 0, 0]])
    1.3333333
    """
    choice = convention_of({"surface": surface, "weights": weights, "compat": compat})
    lists = _elements(comparison, choice)
    if choice.average == "sides":
        return float(np.mean([elements.mean() for elements in lists]))
    return _Elements.joined(lists).mean()


@measure(
    "masd",
    symbol="MASD",
    family=FAMILY,
    reference=REFERENCE,
    better="lower",
    range=(0, math.inf),
    symmetric=True,
    sees="both",
    empty=empty_table("masd"),
    needs="surface",
    units="distance",
)
def masd(
    comparison: Comparison,
    /,
    *,
    surface: str | None = None,
    weights: str | None = None,
    compat: str | None = None,
) -> float:
    """Return the mean of the two directed mean distances between the surfaces.

    Examples
    --------
    >>> masd([[1, 0, 0, 0, 1]], [[1, 0, 0, 0, 0]])
    1.0
    """
    options = {"surface": surface, "weights": weights, "compat": compat}
    first, second = _elements(comparison, convention_of(options))
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
    empty=empty_table("nsd"),
    needs="surface",
)
def nsd(
    comparison: Comparison,
    /,
    *,
    tolerance: float = 1,
    surface: str | None = None,
    weights: str | None = None,
    direction: str = "both",
    compat: str | None = None,
) -> float:
    """Return the normalised surface Dice: the share of both surfaces within `tolerance` of the other.

    `tolerance` is in pixels, or in units of `spacing`. A distance d meets it if d ≤ tolerance · (1 + 1e-9),
    here as everywhere: a shift by one slice is within a tolerance of one slice, whatever the rounding. With
    a direction it is the share of one surface. ``compat="panoptica"`` takes the mean of the two shares.

    Examples
    --------
    >>> nsd([[1, 0, 0, 0, 1]], [[1, 0, 0, 0, 0]])
    0.6666667
    """
    check_between("tolerance", tolerance, 0, math.inf)
    choice = convention_of({"surface": surface, "weights": weights, "compat": compat})
    lists = _lists(comparison, choice, direction)
    if choice.average == "pooled":
        lists = [_Elements.joined(lists)]
    limit = longest(tolerance)
    return float(np.mean([each.size_within(limit) / each.size_within(math.inf) for each in lists]))


@dataclass(frozen=True, slots=True)
class _Elements:
    """Distances of the elements of one surface to the other, with weights (``None``: all alike)."""

    distances: FloatList
    weights: FloatList | None
    slack: float = 0.0

    @classmethod
    def joined(cls, lists: list[_Elements]) -> _Elements:
        weights = [each.weights for each in lists if each.weights is not None]
        distances = np.concatenate([each.distances for each in lists])
        return cls(distances, np.concatenate(weights) if weights else None, lists[0].slack)

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


def _lists(comparison: Comparison, choice: Convention, direction: str) -> list[_Elements]:
    """Return the lists of distances of the directions that are asked for."""
    check_choice("direction", direction, DIRECTIONS)
    lists = _elements(comparison, choice)
    return {"both": lists, "to_truth": lists[:1], "to_candidate": lists[1:]}[direction]


def _elements(comparison: Comparison, choice: Convention) -> list[_Elements]:
    """Return the distances from the candidate's surface to the truth's, and the other way round."""
    if choice.surface == "mesh":
        mesh = mesh_evidence(comparison, smooth=choice.smooth)
        slack = MESH_SLACK * min(comparison.spacing)
        return [
            _Elements(mesh.distances.to_truth, mesh.candidate.sizes, slack),
            _Elements(mesh.distances.to_candidate, mesh.truth.sizes, slack),
        ]
    weights: tuple[FloatList | None, FloatList | None] = None, None
    if choice.surface == "subvoxel":
        found, first, second = comparison.cached("subvoxel", _subvoxel)
        if choice.weights == "area":
            weights = first, second
    elif choice.planes or comparison.truth.ndim == 2 or 1 not in comparison.truth.shape:
        found = comparison.surface
    else:
        found = comparison.distances
    return [_Elements(found.to_truth, weights[0]), _Elements(found.to_candidate, weights[1])]


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
