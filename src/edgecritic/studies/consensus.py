"""Truth estimated from the maps of several detectors, without any person.

After Y. Yitzhaky and E. Peli: A method for objective edge detection evaluation and detector parameter
selection (IEEE TPAMI 25(8), 2003), and N. L. Fernandez-Garcia, A. Carmona-Poyato, R. Medina-Carnicer and
F. J. Madrid-Cuevas: Automatic generation of consensus ground truth for the comparison of edge detection
techniques (Image and Vision Computing 26(4), 2008).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.annotators.raters import matched_units
from edgecritic.errors import InputError
from edgecritic.figures import show_map
from edgecritic.inputs import BoolArray, as_mask, mask_of
from edgecritic.measures.checks import check_positive
from edgecritic.measures.scoring import choose, score
from edgecritic.values import Value

__all__ = ["METHODS", "DISTANCE", "Consensus", "consensus", "most_central"]

VOTED = ("chi2", "roc")
METHODS = (*VOTED, "minimean", "minimax")
DISTANCE = "baddeley"
"""The dissimilarity by which the most central map is found; the source leaves the choice open."""


class Consensus(Value):
    """The estimated truth of one image.

    Attributes
    ----------
    method : str
    truth : bool array
    level : int or None
        The pixels are set in at least so many maps; None if one of the maps was chosen.
    chosen : int or None
        Which map was chosen, from 0; None if votes decided.
    tpr, fpr, chi2, from_line : (maps,) arrays
        For every level 1 … N: the mean rates of the maps against the pixels of that level, χ² of the mean
        counts, and the distance of (fpr, tpr) from the diagnosis line.
    scores : (maps,) array
        χ² of every map against the estimated truth.
    """

    _hidden = ("truth",)

    method: str
    truth: BoolArray
    level: int | None
    chosen: int | None
    tpr: NDArray[np.float64]
    fpr: NDArray[np.float64]
    chi2: NDArray[np.float64]
    from_line: NDArray[np.float64]
    scores: NDArray[np.float64]

    def plot(self, ax: Any = None) -> Any:
        """Draw the estimated truth into `ax`, or into a new figure; return the axes."""
        flat = self.truth if self.truth.ndim == 2 else self.truth.any(axis=0)
        return show_map(ax, flat, f"{self.method}: estimated truth")

    @property
    def best(self) -> int:
        """The map that agrees best with the estimated truth, the first of equals."""
        return int(np.argmax(self.scores))


def consensus(
    maps: Sequence[Any],
    *,
    method: str = "chi2",
    distance: str = DISTANCE,
    tolerance: float | None = None,
) -> Consensus:
    """Estimate the truth of an image from several binary maps of it.

    Let PGT_j be the pixels that at least j of the N maps have set. Of every level j the means over the
    maps of the shares TP, FP, FN, TN are taken, hence TPR_j, FPR_j, P_j = |PGT_j|/|I| and Q, the mean share
    of edge pixels.

    Parameters
    ----------
    maps : sequence of array_like of one shape
        At least two.
    method : {"chi2", "roc", "minimean", "minimax"}
        ``chi2``: the level with the largest χ²_j = (TPR_j − Q)/(1 − Q)·(Q − FPR_j)/Q. ``roc``: the level
        whose point (FPR_j, TPR_j) is nearest to the diagnosis line from (0, 1) to (P_j, P_j), which is the
        place of Q = P. ``minimean`` and ``minimax``: the map with the least mean, or the least largest,
        dissimilarity to the others (`most_central`).
    distance : id
        The dissimilarity of the latter two.
    tolerance : float, optional
        Votes are pixel by pixel, so that displaced maps do not support each other. With a tolerance in
        pixels, every two maps are matched one to one within it first; pixels that are matched make a unit
        (`edgecritic.annotators.raters.rated_labels`), units take the place of pixels in all counts, and each
        is drawn at the pixel in its middle.

    Notes
    -----
    With many maps of poor quality the estimate is poor: it cannot tell what all miss, and a level that is
    chosen by χ² may be too low.

    Examples
    --------
    >>> edge, other = np.zeros((9, 9), bool), np.zeros((9, 9), bool)
    >>> edge[4] = True
    >>> other[:, 1] = True
    >>> found = consensus([edge, edge, other], method="roc")
    >>> found.level, found.best, bool((found.truth == edge).all())
    (2, 0, True)
    >>> consensus([edge, np.roll(edge, 1, axis=0), other], method="roc", tolerance=2).level
    2
    """
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    found = _same(maps)
    votes = _votes(found, method, tolerance)
    levels = [_level(votes, level) for level in range(1, len(found) + 1)]
    tpr, fpr, merit, apart = (np.array(column) for column in zip(*levels, strict=True))
    level = chosen = None
    if method in VOTED:
        level = 1 + int(np.argmax(merit) if method == "chi2" else np.argmin(apart))
        truth = votes.drawn(level)
    else:
        chosen = most_central(found, distance=distance, largest=method == "minimax")
        truth = found[chosen]
    return Consensus(
        method=method,
        truth=truth,
        level=level,
        chosen=chosen,
        tpr=tpr,
        fpr=fpr,
        chi2=merit,
        from_line=apart,
        scores=np.array([_chi2(one, truth, tolerance) for one in found]),
    )


def _chi2(candidate: BoolArray, truth: BoolArray, tolerance: float | None) -> float:
    """Return χ², which is the square of Matthews' correlation, of pixels or of matched ones."""
    if tolerance is None:
        return score(candidate, truth, "chi2").mean["chi2"]
    (value,) = score(candidate, truth, "mcc", strategy="exact", tolerance=tolerance).values()
    return value**2


class _Votes(NamedTuple):
    """What is voted on, pixels or units of matched ones: which of the maps have it, and where it is drawn."""

    table: NDArray[np.bool_]
    raster: NDArray[np.int64]
    shape: tuple[int, ...]

    def drawn(self, level: int) -> BoolArray:
        """Return the map of what has at least `level` votes."""
        return mask_of(self.raster[self.table.sum(axis=0) >= level], self.shape)


def _votes(maps: Sequence[BoolArray], method: str, tolerance: float | None) -> _Votes:
    shape = maps[0].shape
    if tolerance is None:
        table = np.array([one.reshape(-1) for one in maps])
        places = np.flatnonzero(table.any(axis=0))
        return _Votes(table[:, places], places, shape)
    if method not in VOTED:
        raise InputError(f"a tolerance is for votes ({', '.join(VOTED)}), {method} has a distance instead")
    check_positive("tolerance", tolerance)
    if not any(one.any() for one in maps):
        return _Votes(np.zeros((len(maps), 0), dtype=np.bool_), np.zeros(0, dtype=np.int64), shape)
    places, marks = matched_units(maps, {"tolerance": tolerance})
    return _Votes(marks.T, places, shape)


def most_central(maps: Sequence[Any], *, distance: str = DISTANCE, largest: bool = False) -> int:
    """Return the place of the map with the least mean (or largest) dissimilarity to the others.

    Examples
    --------
    >>> lines = np.zeros((3, 9, 9), bool)
    >>> lines[0, 1] = lines[1, 2] = lines[2, 7] = True
    >>> most_central(lines)
    1
    """
    (bound,) = choose(distance, ())
    if bound.entry.info.better != "lower":
        raise InputError(f"{distance} is no dissimilarity: more of it is better")
    found = _same(maps)
    apart = np.zeros((len(found), len(found)))
    for i, one in enumerate(found):
        for j, other in enumerate(found):
            if i < j or (i > j and not bound.entry.info.symmetric):
                apart[i, j] = score(one, other, distance).mean[distance]
            elif i > j:
                apart[i, j] = apart[j, i]
    total = apart.max(axis=1) if largest else apart.sum(axis=1)
    return int(np.argmin(total))


def _same(maps: Sequence[Any]) -> list[BoolArray]:
    found = [as_mask(one, f"map {number}") for number, one in enumerate(maps, start=1)]
    if len(found) < 2 or len({one.shape for one in found}) > 1:
        raise InputError(
            f"a consensus needs two maps or more of one shape, got {[one.shape for one in found]}"
        )
    return found


def _level(votes: _Votes, level: int) -> tuple[float, float, float, float]:
    """Return TPR, FPR, χ² of the mean counts, and the distance from the diagnosis line."""
    number, size = len(votes.table), math.prod(votes.shape)
    kept = votes.table.sum(axis=0) >= level
    tp = float(votes.table[:, kept].sum()) / (number * size)
    share = float(votes.table.sum()) / (number * size)
    p = float(kept.sum()) / size
    tpr = tp / p if p > 0 else 0.0
    fpr = (share - tp) / (1 - p) if p < 1 else 0.0
    known = 0 < share < 1 and p > 0
    merit = (tpr - share) / (1 - share) * (share - fpr) / share if known else 0.0
    return tpr, fpr, merit, abs(share - p) / float(np.hypot(p, 1 - p))
