"""Distance based matching: a pixel is matched if the other map comes within the tolerance."""

from __future__ import annotations

import numpy as np

from edgecritic.inputs import BoolArray, mask_of
from edgecritic.kernels.grid import Grid, ball, ball_size, longest
from edgecritic.kernels.nearest import first_hit
from edgecritic.maps.transform import distance_transform
from edgecritic.matching.base import Matching, Pair, strategy

__all__ = ["distance", "within"]


_LOOKUPS = 16
"""Look-ups that cost as much as the distance transform does per pixel of the image."""


def within(mask: BoolArray, spacing: tuple[float, ...], tolerance: float) -> BoolArray:
    """Return the pixels not farther than `tolerance` from `mask`: its dilation by a ball.

    A distance that equals the tolerance meets it (`longest`).

    Examples
    --------
    >>> import numpy as np
    >>> within(np.array([[True, False, False]]), (1.0, 1.0), 1.0)
    array([[ True,  True, False]])
    """
    return np.less_equal(distance_transform(mask, spacing), longest(tolerance))


@strategy(
    "distance",
    one_to_one=False,
    reach="radius",
    reference="distance-based matching in the survey of boundary matching by the group of C. Lopez-Molina; "
    "as dilation: Arbeláez, quoted there",
)
def distance(pair: Pair, *, recall: str = "confusion") -> Matching:
    """Match every pixel that has a pixel of the other map within the tolerance.

    TP = #{p ∈ C : d(p, T) ≤ t}, FP = |C| − TP, FN = #{p ∈ T : d(p, C) > t} for a candidate C and a truth T.
    In terms of morphology, after Arbeláez: TP = |C ∩ dil(T)|, FP = |C| − TP, FN = |T| − |T ∩ dil(C)| with the
    dilation by a disk (ball) of radius t, which gives the same numbers.
    Many candidate pixels may stand for one truth pixel. Time is proportional to the number of pixels of
    the image, whatever the tolerance.

    Parameters
    ----------
    pair : Pair
    recall : "confusion" or "gt"
        ``confusion``: TP / (TP + FN), which mixes candidate and truth pixels as the source does.
        ``gt``: 1 − FN / |T|, which makes F symmetric in the two maps.

    Examples
    --------
    >>> import numpy as np
    >>> from edgecritic.matching import match
    >>> truth = np.zeros((6, 9), bool)
    >>> truth[3, 1:8] = True
    >>> match(np.roll(truth, 2, axis=0), truth, strategy="distance", tolerance=1).tp
    0
    >>> match(np.roll(truth, 2, axis=0), truth, strategy="distance", tolerance=2).f()
    1.0
    """
    hits = _near(pair.candidate, pair.truth, pair)
    found = _near(pair.truth, pair.candidate, pair)
    return Matching.from_masks(pair, hits, found, recall=recall)


def _near(source: BoolArray, target: BoolArray, pair: Pair) -> BoolArray:
    """Return the pixels of `source` that have a pixel of `target` within the tolerance."""
    effort = np.count_nonzero(source) * ball_size(pair.tolerance, pair.spacing)
    if effort > _LOOKUPS * source.size:
        return source & within(target, pair.spacing, pair.tolerance)
    reach = ball(pair.tolerance, pair.spacing)
    grid = Grid.around(source.shape, reach.radii)
    raster = np.flatnonzero(source)
    hits = first_hit(grid.embed(target), grid.flatten(raster), grid.flat_offsets(reach.offsets))
    return mask_of(raster[hits >= 0], source.shape)
