"""The exact matching of many pairs of pixel lists on one grid, without making maps of the results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from edgecritic.assignment.graph import outlier_cost
from edgecritic.assignment.pair import Pair
from edgecritic.assignment.reach import reach_of
from edgecritic.assignment.solver import link_numbered, salt, solved, surroundings
from edgecritic.inputs import BoolArray, Indices
from edgecritic.kernels.grid import Grid
from edgecritic.kernels.links import Numbered, number_cells

__all__ = ["PixelList", "PixelMatcher"]


class PixelList(NamedTuple):
    """The pixels of one map, as a `PixelMatcher` has placed them on its grid.

    Attributes
    ----------
    raster, places : raster indices, and flat indices of the grid
    numbered : Numbered
        The places as bits.
    salt : int
        What decides ties of candidates where these pixels are the truth.
    """

    raster: Indices
    places: Indices
    numbered: Numbered
    salt: int


class PixelMatcher:
    """Matches pixels, given as raster indices, with those of other maps of the same shape.

    The answers are those of the strategy ``exact``. What depends on shape and tolerance only is made once,
    and so is what depends on one map (`place`). All matchings use the same memory, so a matcher serves one
    thread.

    Parameters
    ----------
    shape : tuple of int
    tolerance : float
        In units of the spacing.
    spacing : one float per axis

    Examples
    --------
    >>> matcher = PixelMatcher((4, 5), 1.0, (1.0, 1.0))
    >>> matcher.match(matcher.place(np.array([0, 1, 19])), matcher.place(np.array([5, 6, 7])))
    (array([ True,  True, False]), array([ True,  True, False]))
    """

    def __init__(self, shape: tuple[int, ...], tolerance: float, spacing: Sequence[float]) -> None:
        sizes = tuple(spacing)
        nothing = np.zeros(shape, dtype=np.bool_)
        self._around, limit = reach_of(Pair(nothing, nothing, sizes, tolerance))
        self._grid = Grid.around(shape, self._around.radii)
        self._size = nothing.size
        self._near, self._steps = surroundings(self._grid, self._around)
        self._alone = outlier_cost(limit, sizes)

    def place(self, raster: Indices) -> PixelList:
        """Make what every matching of these pixels needs."""
        places = self._grid.flatten(raster)
        return PixelList(raster, places, number_cells(self._grid.size, places), salt(raster))

    def match(self, candidate: PixelList, truth: PixelList) -> tuple[BoolArray, BoolArray]:
        """Return which of the candidate's and which of the truth's pixels are matched.

        The side with fewer pixels looks for partners: on the other one more would search in vain. The optimum
        is the same.
        """
        swapped = truth.raster.size < candidate.raster.size
        rows, columns = (truth, candidate) if swapped else (candidate, truth)
        links = link_numbered(rows.places, columns.numbered, self._near, 0, self._steps, self._around.costs)
        state = solved(
            links, self._size, candidate.raster, truth.raster, self._alone, truth.salt, swapped=swapped
        )
        found, wanted = reversed(state[:2]) if swapped else state[:2]
        return found.mate >= 0, wanted.mate >= 0
