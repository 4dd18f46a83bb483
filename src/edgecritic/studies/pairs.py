"""F of many pairs of maps under four matching strategies at several tolerances, computed together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edgecritic.assignment.pixel_lists import PixelMatcher
from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray
from edgecritic.kernels.grid import longest
from edgecritic.kernels.validation import validate
from edgecritic.maps.transform import distance_transform
from edgecritic.matching.validation import lowest_cosine, sight_around

__all__ = ["STRATEGIES", "TOLERANCES", "PreparedMap", "Comparer"]

STRATEGIES = ("distance", "area", "exact", "validation")
"""DbM, AbM, CbM and Pv with their default parameters."""

TOLERANCES = (2.5, 5.0, 10.0)
"""In pixels; about 0.5, 1 and 2 % of the diagonal of a BSDS image."""

_UNIT = (1.0, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class PreparedMap:
    """What all comparisons of one map share.

    Attributes
    ----------
    pixels : raster indices of the edge
    near : uint8 array, one per pixel of the image
        The number of tolerances that are too small to reach the edge from there.
    areas : pixels within each tolerance of the edge
    places : for each tolerance the flat grid indices of the edge
    """

    pixels: NDArray[np.int64]
    near: NDArray[np.uint8]
    areas: NDArray[np.int64]
    places: tuple[NDArray[np.int64], ...]


class Comparer:
    """Compares maps of one shape; gives the same F as :func:`edgecritic.match` for each strategy.

    Distance transforms and dilations are made once per map, tables once per tolerance. Not to be shared
    between threads.

    Parameters
    ----------
    shape : (rows, columns)
    tolerances : sequence of float
        Ascending, in pixels.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.zeros((20, 30), bool)
    >>> one[10, 5:25] = True
    >>> comparer = Comparer(one.shape, [1, 3])
    >>> first, second = comparer.prepare(one), comparer.prepare(np.roll(one, 2, axis=0))
    >>> comparer.f(first, second)[[0, 2], :, 0]
    array([[0., 1.],
           [0., 1.]])
    """

    def __init__(self, shape: tuple[int, ...], tolerances: Sequence[float] = TOLERANCES) -> None:
        if len(shape) != 2:
            raise InputError(f"maps must be images, got the shape {shape}")
        if list(tolerances) != sorted(set(tolerances)) or not tolerances or tolerances[0] <= 0:
            raise InputError(f"tolerances must be positive and ascending, got {list(tolerances)}")
        self.shape = shape
        self.tolerances = tuple(float(t) for t in tolerances)
        self._matchers = [PixelMatcher(shape, t, _UNIT) for t in self.tolerances]
        around = [sight_around(shape, _UNIT, t, corners=False) for t in self.tolerances]
        self._grids = [grid for grid, _ in around]
        self._sights = [sight for _, sight in around]
        self._masks = [[np.zeros(grid.size, dtype=np.bool_) for _ in range(2)] for grid in self._grids]
        self._truth: PreparedMap | None = None

    def prepare(self, mask: BoolArray) -> PreparedMap:
        """Make what comparisons of this map need."""
        if mask.shape != self.shape:
            raise InputError(f"expected a map of shape {self.shape}, got {mask.shape}")
        distance = distance_transform(mask)
        limits = np.array([longest(t) for t in self.tolerances])
        near = np.searchsorted(limits, distance.reshape(-1), side="left").astype(np.uint8)
        areas = np.cumsum(np.bincount(near, minlength=limits.size + 1))[: limits.size]
        pixels = np.flatnonzero(mask)
        places = tuple(grid.flatten(pixels) for grid in self._grids)
        return PreparedMap(pixels, near, areas, places)

    def f(self, first: PreparedMap, second: PreparedMap) -> NDArray[np.float64]:
        """Return F by strategy, tolerance and direction.

        Returns
        -------
        (4, tolerances, 2) array
            Direction 0: `second` is the candidate and `first` the truth; 1: the other way round. They differ
            for ``distance`` only. The exact matching is made with `second` as candidate.
        """
        n_first, n_second = first.pixels.size, second.pixels.size
        number = len(self.tolerances)
        if n_first == 0 and n_second == 0:
            return np.ones((4, number, 2))
        reached_first = _within(second.near[first.pixels], number)
        reached_second = _within(first.near[second.pixels], number)
        both = np.maximum(first.near, second.near)
        shared = np.array([np.count_nonzero(both <= k) for k in range(number)])
        f = np.zeros((4, number, 2))
        for k in range(number):
            hits_first, hits_second = reached_first[k], reached_second[k]
            f[0, k, 0] = _f(
                _ratio(hits_second, n_second), _ratio(hits_second, hits_second + n_first - hits_first)
            )
            f[0, k, 1] = _f(
                _ratio(hits_first, n_first), _ratio(hits_first, hits_first + n_second - hits_second)
            )
            f[1, k] = _f(_ratio(shared[k], second.areas[k]), _ratio(shared[k], first.areas[k]))
            matched = self._matched(first, second, k)
            f[2, k] = _f(_ratio(matched, n_second), _ratio(matched, n_first))
            confirmed = self._confirmed(first, second, k)
            f[3, k] = _f(_ratio(confirmed[1], n_second), _ratio(confirmed[0], n_first))
        self._truth = first
        return f

    def _matched(self, first: PreparedMap, second: PreparedMap, k: int) -> int:
        if self._truth is not first:
            self._matchers[k].set_truth(first.pixels)
        near = second.pixels[first.near[second.pixels] <= k]
        return int(np.count_nonzero(self._matchers[k].match(near)[0]))

    def _confirmed(self, first: PreparedMap, second: PreparedMap, k: int) -> tuple[int, int]:
        """Return how many pixels of each map the other confirms; those out of reach are not looked at."""
        masks = self._masks[k]
        one, two = first.places[k], second.places[k]
        masks[0][one] = True
        masks[1][two] = True
        near_one, near_two = one[second.near[first.pixels] <= k], two[first.near[second.pixels] <= k]
        found_one = validate(near_one, masks[0], masks[1], self._sights[k], lowest_cosine(90))
        found_two = validate(near_two, masks[1], masks[0], self._sights[k], lowest_cosine(90))
        masks[0][one] = False
        masks[1][two] = False
        return int(np.count_nonzero(found_one)), int(np.count_nonzero(found_two))


def _within(classes: NDArray[np.uint8], number: int) -> NDArray[np.int64]:
    """Return how many pixels lie within each tolerance."""
    return np.cumsum(np.bincount(classes, minlength=number + 1))[:number]


def _ratio(part: int, whole: int) -> float:
    return float(part) / float(whole) if whole else 0.0


def _f(precision: float, recall: float) -> float:
    # In this order, as Matching.f does, so that the numbers are equal to the last bit.
    below = 0.5 * recall + 0.5 * precision
    return precision * recall / below if below > 0 else 0.0
