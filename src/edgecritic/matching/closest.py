"""The closest distance match, and its opposite: every truth pixel in turn takes a candidate pixel near it."""

from __future__ import annotations

import numpy as np

from edgecritic.assignment.reach import window_around
from edgecritic.errors import InputError
from edgecritic.kernels.grid import Grid
from edgecritic.kernels.pairing import pair_closest
from edgecritic.matching.base import Matching, Pair, strategy

__all__ = ["closest"]


@strategy(
    "closest",
    one_to_one=True,
    reach="window",
    reference="Bowyer, Kranenburg & Dougherty, CVIU 2001",
)
def closest(pair: Pair, *, window: int = 5, exclusive: bool = True, farthest: bool = False) -> Matching:
    """Let every truth pixel, in raster order, take the nearest candidate pixel not yet taken.

    Parameters
    ----------
    pair : Pair
        The maps; the tolerance is not used.
    window : int
        Side of the square or cubic window in pixels, odd. Corners belong to it.
    exclusive : bool
        Whether a candidate pixel can be taken only once. If not, several truth pixels can share one:
        `tp` counts truth pixels, `fp` the candidate pixels that nobody took, and precision is the share
        of candidate pixels that were taken.
    farthest : bool
        Take the farthest candidate pixel of the window in place of the nearest, as Forbes and Draper did; a
        pixel at the same place comes last then.

    Returns
    -------
    Matching

    Notes
    -----
    A candidate pixel at the same place is the nearest, unless an earlier truth pixel has taken it. Ties
    go to the offset that comes first in raster order.

    References
    ----------
    K. Bowyer, C. Kranenburg, S. Dougherty: Edge Detector Evaluation Using Empirical ROC Curves,
    Computer Vision and Image Understanding 84, 2001.
    L. A. Forbes, B. A. Draper: Inconsistencies in Edge Detector Evaluation, IEEE CVPR 2000.

    Examples
    --------
    >>> from edgecritic import match
    >>> match([[0, 1, 0, 0]], [[1, 0, 1, 0]], strategy="closest").tp
    1
    >>> match([[0, 1, 0, 0]], [[1, 0, 1, 0]], strategy="closest(exclusive=False)").tp
    2
    >>> match([[1, 0, 1]], [[1, 0, 0]], strategy="closest(farthest=True)").pairs.tolist()
    [[[0, 2], [0, 0]]]
    """
    for name, given in (("exclusive", exclusive), ("farthest", farthest)):
        if not isinstance(given, bool):
            raise InputError(f"{name} must be True or False, got {given!r}")
    hood = window_around(pair, window)
    steps = hood.offsets[np.argsort(-hood.distances, kind="stable")] if farthest else hood.offsets
    grid = Grid.around(pair.candidate.shape, hood.radii)
    wanted = np.flatnonzero(pair.truth)
    partners = pair_closest(
        grid.flatten(wanted),
        grid.locate(pair.candidate),
        grid.size,
        grid.flat_offsets(steps),
        exclusive,
    )
    paired = partners >= 0
    return Matching.from_pairs(pair, grid.raster(partners[paired]), wanted[paired])
