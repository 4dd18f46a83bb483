"""What belongs to one map alone: thinning, suppression, border, distances, boundaries of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from edgecritic.lazy import attach

if TYPE_CHECKING:
    from edgecritic.maps.boundaries import label_boundaries as label_boundaries
    from edgecritic.maps.classes import class_boundaries as class_boundaries
    from edgecritic.maps.hysteresis import hysteresis as hysteresis
    from edgecritic.maps.mesh import Mesh as Mesh
    from edgecritic.maps.mesh import as_mesh as as_mesh
    from edgecritic.maps.nearest import border as border
    from edgecritic.maps.suppression import suppress as suppress
    from edgecritic.maps.thinning import thin as thin
    from edgecritic.maps.transform import distance_transform as distance_transform

_HOMES = {
    "thin": "thinning",
    "suppress": "suppression",
    "hysteresis": "hysteresis",
    "border": "nearest",
    "distance_transform": "transform",
    "label_boundaries": "boundaries",
    "Mesh": "mesh",
    "as_mesh": "mesh",
    "class_boundaries": "classes",
}

__all__ = list(_HOMES)

__getattr__, __dir__ = attach(__name__, _HOMES)
