"""Pixelwise validation with the constraints of Estrada and Jepson."""

from __future__ import annotations

import functools
import math

import numpy as np

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray
from edgecritic.kernels.grid import Grid, ball, ball_size, longest
from edgecritic.kernels.validation import Sight, line_of_sight, validate
from edgecritic.matching.base import Matching, Pair, strategy
from edgecritic.matching.result import Partners

__all__ = ["validation", "sight_on", "window_radii", "lowest_cosine"]

_ROUNDING = 1e-12
_LARGEST_TABLE = 2e7


@strategy(
    "validation",
    one_to_one=False,
    reach="radius",
    reference="F. J. Estrada, A. D. Jepson: Benchmarking image segmentation algorithms, IJCV 85, 2009",
)
def validation(pair: Pair, *, angle: float = 90, preaccept8: bool = False, recall: str = "gt") -> Matching:
    """Confirm every pixel by a pixel of the other map that it sees and that lies on its side.

    A pixel p of the source map A is confirmed by the target map B if p is in B, or if some q of B
    within the tolerance t

    - is a direct neighbour of p (they share a side), or
    - is in sight: no pixel of A lies near the line from p to q, and is on the same side: p is a nearest
      pixel of A to q, or a nearest one n has an angle between q − p and q − n of at most `angle`.

    The line is sampled at whole steps in pixels; a sample z covers the pixels from round(z − ¼) to
    round(z + ¼) along each axis. Nearest pixels are searched in a box that reaches ⌊t⌋ from p, without
    q itself. Lengths and angles are in units of the pixel sizes. The same text serves volumes.

    `pairs` is the correspondence that this makes, one to many: every confirmed pixel of either map with the
    pixel that confirms it, which is the nearest one that may (the first of equals), each pair once.

    Parameters
    ----------
    pair : Pair
    angle : float
        Largest angle in degrees, 0 to 180.
    preaccept8 : bool
        Whether a pixel of B among the diagonal neighbours confirms p at once, too.
    recall : "gt" or "confusion"
        ``gt``: P and R are the confirmed shares of candidate and truth. ``confusion``: R is
        TP / (TP + FN). The counts are the same: TP confirmed candidate pixels, FP the others, FN truth pixels
        that are not confirmed.

    Examples
    --------
    >>> import numpy as np
    >>> from edgecritic.matching import match
    >>> truth, double = np.zeros((12, 9), bool), np.zeros((12, 9), bool)
    >>> truth[5, 1:8] = True
    >>> double[[3, 2], 1:8] = True
    >>> match(double, truth, strategy="distance", tolerance=4).tp
    14
    >>> found = match(double, truth, strategy="validation", tolerance=4)
    >>> found.tp, len(found.pairs), found.mean_distance
    (7, 7, 2.0)
    """
    limit = lowest_cosine(angle)
    _check_size(pair)
    radii = [max(radius, 1) for radius in window_radii(pair.spacing, pair.tolerance)]
    grid = Grid.around(pair.candidate.shape, radii)
    sight = sight_on(grid, pair.spacing, pair.tolerance, corners=bool(preaccept8))
    hits = _confirming(pair.candidate, pair.truth, grid, sight, limit)
    found = _confirming(pair.truth, pair.candidate, grid, sight, limit)
    return Matching.from_links(pair, hits, found, recall=recall)


@functools.lru_cache(maxsize=2)  # the maps of a run share a tolerance and two shapes; tables may be large
def sight_on(grid: Grid, spacing: tuple[float, ...], tolerance: float, *, corners: bool) -> Sight:
    """Return what is in sight of a pixel within the tolerance, on a grid with at least such a margin."""
    sight = line_of_sight(grid, ball(tolerance, spacing), spacing, corners)
    return sight._replace(radii=np.asarray(window_radii(spacing, tolerance), dtype=np.int64))


def window_radii(spacing: tuple[float, ...], tolerance: float) -> list[int]:
    """Return half the window, along each axis, in which nearest pixels are searched."""
    return [math.floor(longest(tolerance) / size) for size in spacing]


def _check_size(pair: Pair) -> None:
    lines = ball_size(pair.tolerance, pair.spacing)
    if lines * pair.tolerance / min(pair.spacing) > _LARGEST_TABLE:
        raise InputError(
            f"validation looks along about {lines:.3g} lines for a tolerance of {pair.tolerance:g}, "
            "which is too many",
            remedy="give a smaller tolerance, or use the strategy 'distance'",
        )


def lowest_cosine(angle: float) -> float:
    """Return the cosine of an angle in degrees, lowered by the rounding error."""
    if isinstance(angle, bool) or not isinstance(angle, int | float) or not 0 <= angle <= 180:
        raise InputError(f"angle must be a number of degrees from 0 to 180, got {angle!r}")
    return math.cos(math.radians(angle)) - _ROUNDING


def _confirming(source: BoolArray, target: BoolArray, grid: Grid, sight: Sight, limit: float) -> Partners:
    """Return the confirmed pixels of the source, and the pixel of the target that confirms each."""
    raster = np.flatnonzero(source)
    partners = validate(grid.flatten(raster), grid.embed(source), grid.embed(target), sight, limit)
    there = partners >= 0
    return raster[there], grid.raster(partners[there])
