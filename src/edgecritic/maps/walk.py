"""The walk of a candidate down the thresholds: what it gains and loses at every step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, FloatArray, Indices, mask_of
from edgecritic.lazy import cached_property
from edgecritic.maps.thinning import pixels_by_threshold, thin_by_thresholds

__all__ = ["Changes", "Step", "Walk"]

Number = TypeVar("Number", np.int64, np.float64)


class Changes(NamedTuple):
    """Pixels that come, or go, step by step.

    Attributes
    ----------
    start : (K + 1,) int64 array
    pixels : int64 array
        Raster indices; those of step k are ``pixels[start[k] : start[k + 1]]``.
    """

    start: Indices
    pixels: Indices

    @classmethod
    def of(cls, steps: Iterable[Indices]) -> Changes:
        """Put the pixels of each step behind each other.

        Examples
        --------
        >>> Changes.of([np.array([4, 2]), np.array([7])])
        Changes(start=array([0, 2, 3]), pixels=array([4, 2, 7]))
        """
        parts = [np.asarray(step, dtype=np.int64) for step in steps]
        start = np.cumsum([0, *(part.size for part in parts)], dtype=np.int64)
        return cls(start, np.concatenate([np.zeros(0, dtype=np.int64), *parts]))

    def within(self, keep: BoolArray) -> Changes:
        """Return the pixels that a flat mask keeps."""
        kept = keep[self.pixels]
        before = np.concatenate([[0], np.cumsum(kept)])
        return Changes(before[self.start], self.pixels[kept])

    def at(self, step: int) -> Indices:
        """Return the pixels of one step."""
        return self.pixels[self.start[step] : self.start[step + 1]]


class Step(NamedTuple):
    """One step of a walk.

    Attributes
    ----------
    place : int
        Which of the thresholds it leads to.
    gained, lost : int64 arrays
        Raster indices of the pixels that the candidate gains and loses.
    """

    place: int
    gained: Indices
    lost: Indices

    @property
    def rests(self) -> bool:
        """Whether the candidate stays as it was."""
        return self.gained.size == 0 and self.lost.size == 0


class Walk:
    """The candidates of a strength map, from the highest threshold to the lowest, as changes.

    The candidate at threshold t has the pixels with strength ≥ t, thinned if `thin`. Falling thresholds add
    pixels; thinning makes them take some away too. Whoever follows a walk (an exact matching, measures) keeps
    what a step leaves alone. `places` tells for every step the place of its threshold.

    Parameters
    ----------
    strength : float array
        Pixels below every threshold, such as −1, are never on.
    thresholds : (K,) float64 array
        In any order.
    thin : bool
    keep : bool array, optional
        Where the candidate may have pixels, once it is thinned.

    Attributes
    ----------
    gained, lost : Changes
        The pixels that come and go at each step.

    Examples
    --------
    >>> walk = Walk(np.array([[0.1, 0.9, 0.5]]), np.array([0.4, 0.8]))
    >>> [(step.place, step.gained.tolist()) for step in walk]
    [(1, [1]), (0, [2])]
    >>> walk.sizes
    array([2, 1])
    """

    def __init__(
        self,
        strength: FloatArray,
        thresholds: NDArray[np.float64],
        *,
        thin: bool = False,
        keep: BoolArray | None = None,
    ) -> None:
        self.shape = strength.shape
        self.thresholds = thresholds
        order = thresholds.argsort(kind="stable")
        self.places: Indices = order[::-1].astype(np.int64)
        if thin:
            start, gained, lost_start, lost = thin_by_thresholds(strength, thresholds[order])
            self.gained, self.lost = Changes(start, gained), Changes(lost_start, lost)
        else:
            pixels, bounds = pixels_by_threshold(strength, thresholds[order])
            self.gained, self.lost = Changes(bounds, pixels), Changes(np.zeros_like(bounds), pixels[:0])
        if keep is not None:
            kept = keep.ravel()
            self.gained, self.lost = self.gained.within(kept), self.lost.within(kept)

    @classmethod
    def through(cls, candidates: Iterable[BoolArray], thresholds: NDArray[np.float64]) -> Walk:
        """Walk through given maps, one for each threshold, in their order."""
        walk = object.__new__(cls)
        walk.thresholds = thresholds
        gained, lost = [], []
        before: BoolArray | None = None
        for mask in candidates:
            old = np.zeros_like(mask) if before is None else before
            gained.append(np.flatnonzero(mask & ~old))
            lost.append(np.flatnonzero(old & ~mask))
            before = mask
        if before is None or len(gained) != thresholds.size:
            raise InputError(f"{thresholds.size} thresholds need as many maps, got {len(gained)}")
        walk.shape = before.shape
        walk.places = np.arange(thresholds.size, dtype=np.int64)
        walk.gained, walk.lost = Changes.of(gained), Changes.of(lost)
        return walk

    def __iter__(self) -> Iterator[Step]:
        for step, place in enumerate(self.places.tolist()):
            yield Step(place, self.gained.at(step), self.lost.at(step))

    def __len__(self) -> int:
        return self.places.size

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of candidate pixels at every threshold."""
        return self.at_thresholds(self.gained.start[1:] - self.lost.start[1:])

    @cached_property
    def ever_on(self) -> BoolArray:
        """The pixels that are on at some threshold."""
        return mask_of(self.gained.pixels, self.shape)

    def at_thresholds(self, found: NDArray[Number]) -> NDArray[Number]:
        """Put what was found step by step, along the last axis, into the order of the thresholds."""
        ordered = np.empty(found.shape, dtype=found.dtype)
        ordered[..., self.places] = found
        return ordered

    def candidates(self) -> Iterator[tuple[Step, BoolArray]]:
        """Return every step with the candidate after it, a map of its own."""
        mask = np.zeros(self.shape, dtype=np.bool_)
        for step in self:
            mask = mask.copy()
            flat = mask.ravel()
            flat[step.lost] = False
            flat[step.gained] = True
            yield step, mask
