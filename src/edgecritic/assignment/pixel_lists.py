"""The exact matching of many pairs of pixel lists on one grid, without making maps of the results."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgecritic.assignment.graph import outlier_cost
from edgecritic.assignment.pair import Pair
from edgecritic.assignment.reach import reach_of
from edgecritic.assignment.solver import link_numbered, salt, solved
from edgecritic.inputs import BoolArray, Indices
from edgecritic.kernels.grid import Grid
from edgecritic.kernels.links import number_cells
from edgecritic.kernels.windows import windows_of

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
        self._near = windows_of(self.grid, self._around, [self._steps.size])
        self.set_truth(np.zeros(0, dtype=np.int64))

    def set_truth(self, truth: Indices, places: Indices | None = None) -> None:
        """Take this truth from now on; `places` are its flat grid indices if they are known."""
        self._truth = truth
        self._columns = number_cells(self.grid.size, self.grid.flatten(truth) if places is None else places)
        self._salt = salt(truth)

    def match(self, candidate: Indices, places: Indices | None = None) -> tuple[BoolArray, BoolArray]:
        """Return which of the candidate's and which of the truth's pixels are matched."""
        rows = self.grid.flatten(candidate) if places is None else places
        links = link_numbered(rows, self._columns, self._near, 0, self._steps, self._around.costs)
        state = solved(links, self._size, candidate, self._truth, self._alone, self._salt)
        return state.rows.mate >= 0, state.columns.mate >= 0
