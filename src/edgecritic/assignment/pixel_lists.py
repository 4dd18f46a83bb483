"""The exact matching of many pairs of pixel lists on one grid, without making maps of the results."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgecritic.assignment.graph import outlier_cost
from edgecritic.assignment.pair import Pair
from edgecritic.assignment.reach import reach_of
from edgecritic.assignment.solver import MOST_LINKS, salt, solved, too_many_links
from edgecritic.inputs import BoolArray, Indices
from edgecritic.kernels.grid import Grid
from edgecritic.kernels.links import Links, links_of_rows

__all__ = ["PixelMatcher"]


class PixelMatcher:
    """Matches candidates, given as raster indices, with one truth after the other.

    The answers are those of the strategy ``exact``. What depends on shape and tolerance only is made once.
    Not to be shared between threads.

    Parameters
    ----------
    shape : tuple of int
    tolerance : float
        In units of the spacing.
    spacing : one float per axis

    Examples
    --------
    >>> matcher = PixelMatcher((4, 5), 1.0, (1.0, 1.0))
    >>> matcher.set_truth(np.array([5, 6, 7]))
    >>> matcher.match(np.array([0, 1, 19]))
    (array([ True,  True, False]), array([ True,  True, False]))
    """

    def __init__(self, shape: tuple[int, ...], tolerance: float, spacing: Sequence[float]) -> None:
        sizes = tuple(spacing)
        nothing = np.zeros(shape, dtype=np.bool_)
        self._around, limit = reach_of(Pair(nothing, nothing, sizes, tolerance))
        self.grid = Grid.around(shape, self._around.radii)
        self._size = nothing.size
        self._steps = self.grid.flat_offsets(self._around.offsets)
        self._alone = outlier_cost(limit, sizes)
        self._number_at = np.full(self.grid.size, -1, dtype=np.int32)
        self._truth = self._places = np.zeros(0, dtype=np.int64)
        self._salt = 0

    def set_truth(self, truth: Indices, places: Indices | None = None) -> None:
        """Take this truth from now on; `places` are its flat grid indices if they are known."""
        self._number_at[self._places] = -1
        self._truth = truth
        self._places = self.grid.flatten(truth) if places is None else places
        self._number_at[self._places] = np.arange(truth.size, dtype=np.int32)
        self._salt = salt(truth)

    def match(self, candidate: Indices, places: Indices | None = None) -> tuple[BoolArray, BoolArray]:
        """Return which of the candidate's and which of the truth's pixels are matched."""
        rows = self.grid.flatten(candidate) if places is None else places
        links = Links(*links_of_rows(rows, self._number_at, self._steps, self._around.costs, MOST_LINKS))
        if links.start[-1] < 0:
            raise too_many_links()
        state = solved(links, self._size, candidate, self._truth, self._alone, self._salt)
        return state.rows.mate >= 0, state.columns.mate >= 0
