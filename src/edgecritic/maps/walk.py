"""The walk of a candidate down the thresholds: what it gains and loses at every step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, FloatArray, Indices
from edgecritic.maps.thinning import ThinningSweep, pixels_by_threshold

__all__ = ["Step", "Walk"]


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
    what a step leaves alone.

    Parameters
    ----------
    strength : float array
        Pixels below every threshold, such as −1, are never on.
    thresholds : (K,) float64 array
        In any order.
    thin : bool
    keep : bool array, optional
        Where the candidate may have pixels, once it is thinned.

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
        order = np.argsort(thresholds, kind="stable")
        pixels, bounds = pixels_by_threshold(strength, thresholds[order])
        added = [pixels[bounds[k] : bounds[k + 1]] for k in range(thresholds.size)]
        nothing = np.zeros(0, dtype=np.int64)
        if thin:
            growing = ThinningSweep((strength.shape[0], strength.shape[1]))
            changes = [growing.grow(pixels) for pixels in added]
        else:
            changes = [(pixels, nothing) for pixels in added]
        if keep is not None:
            kept = keep.reshape(-1)
            changes = [(gained[kept[gained]], lost[kept[lost]]) for gained, lost in changes]
        self._steps = [Step(int(k), *change) for k, change in zip(order[::-1], changes, strict=True)]

    @classmethod
    def through(cls, candidates: Iterable[BoolArray], thresholds: NDArray[np.float64]) -> Walk:
        """Walk through given maps, one for each threshold, in their order."""
        walk = object.__new__(cls)
        walk.thresholds = thresholds
        walk._steps = []
        before: BoolArray | None = None
        for place, mask in enumerate(candidates):
            old = np.zeros_like(mask) if before is None else before
            walk._steps.append(Step(place, np.flatnonzero(mask & ~old), np.flatnonzero(old & ~mask)))
            before = mask
        if before is None or len(walk._steps) != thresholds.size:
            raise InputError(f"{thresholds.size} thresholds need as many maps, got {len(walk._steps)}")
        walk.shape = before.shape
        return walk

    def __iter__(self) -> Iterator[Step]:
        return iter(self._steps)

    def __len__(self) -> int:
        return len(self._steps)

    @cached_property
    def places(self) -> Indices:
        """For every step the place of its threshold."""
        return np.array([step.place for step in self], dtype=np.int64)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of candidate pixels at every threshold."""
        return self.at_thresholds(np.cumsum([step.gained.size - step.lost.size for step in self]))

    @cached_property
    def ever_on(self) -> BoolArray:
        """The pixels that are on at some threshold."""
        on = np.zeros(self.shape, dtype=np.bool_)
        for step in self:
            on.reshape(-1)[step.gained] = True
        return on

    def at_thresholds(self, found: NDArray[np.int64]) -> NDArray[np.int64]:
        """Put what was found step by step into the order of the thresholds."""
        ordered = np.empty_like(found)
        ordered[self.places] = found
        return ordered

    def candidates(self) -> Iterator[tuple[Step, BoolArray]]:
        """Return every step with the candidate after it, a map of its own."""
        mask = np.zeros(self.shape, dtype=np.bool_)
        for step in self:
            mask = mask.copy()
            flat = mask.reshape(-1)
            flat[step.lost] = False
            flat[step.gained] = True
            yield step, mask
