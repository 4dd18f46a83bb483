"""One map and what belongs to it alone: its border and the distances to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, Spacing, as_mask, as_spacing, diagonal
from edgecritic.lazy import cached_property
from edgecritic.maps.nearest import FloatMap, border, distance_map, nearest_distances

__all__ = ["Target", "as_empty_distance", "as_target", "bounding_box"]


class Target:
    """One map, its border and the distances to it; shared by all comparisons with this map.

    The distance to a map is, outside of it, the distance to its border: one transform serves the
    measures of pixels and the measures of surfaces.
    """

    def __init__(self, mask: BoolArray, spacing: tuple[float, ...], empty_distance: float) -> None:
        self.mask = mask
        self.spacing = spacing
        self.empty_distance = empty_distance
        self._more: dict[str, BoolArray] = {}

    def cached(self, name: str, make: Callable[[Target], BoolArray]) -> BoolArray:
        """Return a further map made of this one, made once."""
        if name not in self._more:
            self._more[name] = make(self)
        return self._more[name]

    @cached_property
    def count(self) -> int:
        """Number of pixels that are set."""
        return int(np.count_nonzero(self.mask))

    @cached_property
    def border(self) -> BoolArray:
        """The set pixels with a face neighbour that is not set; outside of the image nothing is set."""
        return border(self.mask)

    @cached_property
    def solid(self) -> bool:
        """Whether some set pixels are not on the border."""
        return bool(np.count_nonzero(self.border) != self.count)

    @cached_property
    def to_border(self) -> FloatMap:
        """Distance of every pixel to the nearest border pixel."""
        return self._transform(self.border)

    @cached_property
    def to_mask(self) -> FloatMap:
        """Distance of every pixel to the nearest set pixel, 0 on the map itself."""
        return np.where(self.mask, 0.0, self.to_border) if self.solid else self.to_border

    @property
    def is_mapped(self) -> bool:
        """Whether the distances of all pixels of the image are known already."""
        return "to_border" in self.__dict__

    def distances_from(self, other: Target, window: tuple[slice, ...], *, border: bool) -> FloatMap:
        """Return the distances of the (border) pixels of another map to the (border of) this one."""
        of, to = (other.border, self.border) if border else (other.mask, self.mask)
        if self.is_mapped or self.count == 0:
            return (self.to_border if border else self.to_mask)[of]
        return nearest_distances(of[window], to[window], self.spacing)

    def _transform(self, mask: BoolArray) -> FloatMap:
        if self.count == 0:
            return np.full(mask.shape, self.empty_distance)
        return distance_map(mask, self.spacing)


def as_target(mask: Any, name: str, spacing: Spacing, empty_distance: float | None) -> Target:
    """Check one map and make the evidence of it that several comparisons share."""
    array = as_mask(mask, name)
    sizes = as_spacing(spacing, array.ndim)
    return Target(array, sizes, as_empty_distance(empty_distance, array.shape, sizes))


def as_empty_distance(value: float | None, shape: Sequence[int], spacing: Sequence[float]) -> float:
    """Return the distance to an empty map: the diagonal, or a checked number of the caller."""
    if value is None:
        return diagonal(shape, spacing)
    if not (isinstance(value, int | float) and value >= 0):
        raise InputError(f"empty_distance must be a number ≥ 0 or inf, got {value!r}")
    return float(value)


def bounding_box(mask: BoolArray) -> tuple[slice, ...]:
    """Return the smallest box that holds all set pixels (the whole image if there are none)."""
    box = []
    for axis in range(mask.ndim):
        others = tuple(other for other in range(mask.ndim) if other != axis)
        where = np.flatnonzero(mask.any(axis=others))
        if where.size == 0:
            return tuple(slice(0, n) for n in mask.shape)
        box.append(slice(int(where[0]), int(where[-1]) + 1))
    return tuple(box)
