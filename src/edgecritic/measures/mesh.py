"""Distances between the polygons of two surfaces, as evidence of the measures with ``surface="mesh"``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.measures.evidence import Comparison, Distances
from edgecritic.measures.polygons import Polygons, of_mask

__all__ = ["MeshEvidence", "mesh_evidence"]

FloatList = NDArray[np.float64]


class MeshEvidence(NamedTuple):
    """Two surfaces and the distances of their elements, one per polygon, to the other surface.

    A distance is that of the polygon's centre of gravity to the nearest point of the other surface, exactly;
    the weight of an element is the polygon's area (length in 2-D).
    """

    candidate: Polygons
    truth: Polygons
    distances: Distances

    @classmethod
    def between(cls, candidate: Polygons, truth: Polygons) -> MeshEvidence:
        """Measure both ways."""
        return cls(
            candidate,
            truth,
            Distances(truth.distances(candidate.centres), candidate.distances(truth.centres)),
        )


def mesh_evidence(comparison: Comparison, *, smooth: bool) -> MeshEvidence:
    """Return the polygons of both maps and the distances between them, computed once.

    Volumes of one plane are measured in that plane.
    """
    return comparison.cached(f"mesh smooth={smooth}", lambda pair: _evidence(pair, smooth))


def _evidence(comparison: Comparison, smooth: bool) -> MeshEvidence:
    masks = [mask[comparison.window] for mask in (comparison.candidate, comparison.truth)]
    spacing = comparison.spacing
    shape = comparison.truth.shape
    if len(shape) == 3 and 1 in shape:
        plane = shape.index(1)
        masks = [np.squeeze(mask, axis=plane) for mask in masks]
        spacing = tuple(size for axis, size in enumerate(spacing) if axis != plane)
    return MeshEvidence.between(*(of_mask(np.ascontiguousarray(mask), spacing, smooth=smooth) for mask in masks))
