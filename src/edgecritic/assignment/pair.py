"""The pair of maps that is to be matched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from edgecritic.inputs import BoolArray

__all__ = ["Pair"]

Array = TypeVar("Array", bound=NDArray[Any])


@dataclass(frozen=True, slots=True)
class Pair:
    """A checked candidate and truth with pixel sizes and tolerance: what a strategy is given.

    Attributes
    ----------
    candidate, truth : bool arrays of one shape
    spacing : tuple of float
        Pixel size along each axis.
    tolerance : float
        Largest distance of a match, in units of `spacing`.
    strategy : str
        The id of the strategy that is to match them.
    windowed : bool
        Whether that strategy searches a window of pixels in place of the tolerance.
    in_pixels : bool
        Whether lengths are in pixels: no pixel size was given.
    notes : tuple of str
        What was done to bring the maps onto one grid.
    lent : tuple of arrays
        Arrays of the caller, whose memory the maps may share while they are matched.
    """

    candidate: BoolArray
    truth: BoolArray
    spacing: tuple[float, ...]
    tolerance: float
    strategy: str = ""
    windowed: bool = False
    in_pixels: bool = True
    notes: tuple[str, ...] = ()
    lent: tuple[NDArray[Any], ...] = ()

    def own(self, array: Array) -> Array:
        """Copy an array that is the caller's memory: what the caller does later must not change a result."""
        return array.copy() if any(np.may_share_memory(array, lent) for lent in self.lent) else array

    @property
    def ndim(self) -> int:
        """Number of dimensions, 2 or 3."""
        return self.candidate.ndim
