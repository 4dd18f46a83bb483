"""The Efficient Pairing Strategy: greedy one-to-one pairing in linear time."""

from __future__ import annotations

import numpy as np

from edgecritic.assignment.reach import window_around, zone_ends
from edgecritic.kernels.grid import Grid
from edgecritic.kernels.pairing import pair_by_scarcity
from edgecritic.matching.base import Matching, Pair, strategy

__all__ = ["eps"]


@strategy(
    "eps",
    one_to_one=True,
    reach="window",
    reference="Smith & Williams, VISAPP 2020",
)
def eps(pair: Pair, *, window: int = 5) -> Matching:
    """Pair greedily, zone by zone from near to far, the miss with the fewest candidates first.

    Pixels set in both maps are hits. A zone is the set of offsets of one length in a window around a
    missed truth pixel. In every zone, nearest first, the miss with the smallest positive number of free
    candidate pixels is paired with the first of them; then the numbers are counted anew.

    Parameters
    ----------
    pair : Pair
        The maps; the tolerance is not used.
    window : int
        Side of the square or cubic window in pixels, odd. Corners belong to it.

    Returns
    -------
    Matching
        Hits are pairs of distance 0.

    Notes
    -----
    Ties go to the first miss in raster order; the first candidate is the one whose offset comes first in
    raster order. With `spacing`, zones have equal physical length. The work grows linearly with the number
    of pixels. The pairing is greedy: it can have fewer pairs than ``exact``, and a larger sum of distances.

    References
    ----------
    S. Smith, I. Williams: Efficient One-to-One Pair Matching for 2-D and 3-D Edge Detection Evaluation,
    VISAPP 2020.

    Examples
    --------
    >>> from edgecritic import match
    >>> found = match([[0, 1, 0, 0]], [[1, 0, 0, 1]], strategy="eps")
    >>> found.tp, found.fn, found.pairs.tolist()
    (1, 1, [[[0, 1], [0, 0]]])
    """
    hood = window_around(pair, window)
    grid = Grid.around(pair.candidate.shape, hood.radii)
    in_candidate, in_truth = pair.candidate.ravel(), pair.truth.ravel()
    found, wanted = np.flatnonzero(in_candidate), np.flatnonzero(in_truth)
    hit = in_candidate[wanted]
    misses = wanted[~hit]
    partners = pair_by_scarcity(
        grid.flatten(misses),
        grid.flatten(found[~in_truth[found]]),
        grid.size,
        grid.flat_offsets(hood.offsets[1:]),
        zone_ends(hood)[1:] - 1,
    )
    paired = partners >= 0
    hits = wanted[hit]
    return Matching.from_pairs(
        pair,
        np.concatenate([hits, grid.raster(partners[paired])]),
        np.concatenate([hits, misses[paired]]),
    )
