"""From an image to its best edge map: sweep the threshold of detectors, let measures choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.detectors.picture import Kind
from edgecritic.errors import InputError
from edgecritic.ids import Id
from edgecritic.inputs import BoolArray, Spacing, as_mask, as_spacing
from edgecritic.maps.target import Target, as_target
from edgecritic.measures.curves import Judgement, judge_walk
from edgecritic.measures.scoring import BoundMeasure, as_maps, choose, default_measures
from edgecritic.tuning.ladder import Detector, Ladder, Thresholds, ladder_of
from edgecritic.tuning.result import Tuning

__all__ = ["tune", "DEFAULT_DETECTORS", "MATLAB_DETECTORS"]

DEFAULT_DETECTORS = (
    "sobel",
    "canny(sigma=1)",
    "steerable(order=1, sigma=1.5)",
    "steerable(order=5, sigma=1.5)",
    "anisotropic",
    "half_gaussian",
)
"""The six of the ground-truth paper, which prints no scales. Steerable filters of order 1 are Canny's
gradient; they have another scale here, so that they differ from it."""

MATLAB_DETECTORS = ("sobel", "prewitt", "roberts", "log(sigma=1.4142135623730951)", "canny")
ALONE = ("complexity", "equilibrium", "entropy")


def tune(
    image: Any,
    truths: Any = None,
    *,
    detectors: str | Sequence[Detector] | None = None,
    measures: str | Id | Sequence[str | Id] | None = None,
    strategy: str | Id | None = None,
    tolerance: float | None = None,
    thresholds: Thresholds = 101,
    mask: Any = None,
    kind: Kind = "auto",
    spacing: Spacing = None,
    name: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Tuning:
    """Find the threshold at which every measure likes the edges of every detector best.

    Parameters
    ----------
    image : array_like
        As for :func:`edgecritic.detectors.detect`.
    truths : array_like or list of them, optional
        One or several ground truths. Without any, measures that need none choose (`complexity`).
    detectors : id, or list of ids, functions or folders, optional
        :data:`DEFAULT_DETECTORS` if not given.
    measures : ids, optional
        All that need no matching, in the form in which the paper [1]_ prints them: of similarities that
        have a complement (`f`, `fom`) the complement (`f_star`, `fom_star`), which is 0 at best. Without
        truth `complexity`, `equilibrium` and `entropy`.
    strategy, tolerance
        As for :func:`edgecritic.score`.
    thresholds : int, sequence of float, or "matlab"
        How many, evenly from 0 to 1, or which. The candidate at T is where the thin map is ≥ T and > 0.
        "matlab" runs MATLAB's ``edge`` (:func:`edgecritic.detectors.matlab.edge_matlab`) with the 99
        thresholds of the complexity paper: k/100 for Canny (low = 0.4·high), k·0.004 for Sobel, Prewitt and
        Roberts, k·0.0004 for LoG.
    mask : array_like, optional
        Where it is off nothing counts: what lies there is taken out of candidates and truths, and its pixels
        are no true negatives in :meth:`Tuning.rates`. Measures that look at the whole frame (Φ*, χ²*, D_p, Υ,
        Δᵏ) still see them as background.
    kind, spacing, name
        As for :func:`edgecritic.detectors.detect`.
    progress : callable, optional
        Told how many of how many detectors are done.

    Returns
    -------
    Tuning

    Notes
    -----
    Dissimilarities are minimised, similarities maximised; the lowest of equally good thresholds is taken. A
    truth's distance transform is made once for all detectors, a candidate's once for all measures and
    truths. Equal candidates are judged once. Precision and recall under ``exact`` come from one matching that
    follows the thresholds.

    References
    ----------
    .. [1] H. Abdulrahman, B. Magnier and P. Montesinos, "From contours to ground truth: how to evaluate edge
       detectors by filtering", Journal of WSCG 25, 2017.
    .. [2] J. Gimenez, J. Martinez and A. G. Flesia, "Unsupervised edge map scoring: a statistical complexity
       approach", CVIU 122, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((12, 12))
    >>> image[:, 6:] = 1
    >>> image[:, 5] = 0.5
    >>> truth = image == 0.5
    >>> found = tune(image, truth, detectors=["sobel", "canny"], measures="sk", thresholds=11)
    >>> found.best("sobel", "sk").threshold, found.winner("sk")
    (0.0, 'sobel')
    """
    default = ALONE if truths is None else default_measures(starred=True)
    chosen = choose(measures, default, strategy=strategy, tolerance=tolerance)
    _check_measures(chosen, truths)
    names = _chosen_detectors(detectors, thresholds)
    ladders: list[Ladder] = []
    found: list[Judgement] = []
    counts: list[NDArray[np.int64]] = []
    goals: list[Target] | None = None
    on = None if mask is None else as_mask(mask, "mask")
    for number, detector in enumerate(names):
        ladder = ladder_of(detector, image, thresholds, kind, spacing, name).within(on)
        walk = ladder.walk()
        sizes = as_spacing(spacing, len(walk.shape))
        if goals is None:
            goals = (
                [] if truths is None else [as_target(t, "truth", sizes, None) for t in _within(truths, on)]
            )
        ladders.append(ladder)
        counts.append(walk.sizes)
        # High thresholds leave nothing: their values come from the measures' tables, without a word.
        found.append(judge_walk(walk, goals, chosen, sizes, quiet=True))
        if progress is not None:
            progress(number + 1, len(names))
    return Tuning(
        detectors=_distinct([ladder.detector for ladder in ladders]),
        measures=tuple(str(each) for each in chosen),
        better=tuple(each.entry.info.better for each in chosen),
        thresholds=np.stack([ladder.thresholds for ladder in ladders]),
        values=np.stack([each.values for each in found]),
        counts=np.stack(counts),
        confusion=np.stack([each.confusion for each in found]) - _outside(on, len(goals or [])),
        truths=len(goals or []),
        ladders=tuple(ladders),
    )


def _within(truths: Any, on: BoolArray | None) -> list[Any]:
    """Return the truths, without what lies where nothing counts."""
    maps = as_maps(truths)
    if on is None:
        return maps
    return [as_mask(each, "truth") & on for each in maps]


def _outside(on: BoolArray | None, truths: int) -> NDArray[np.int64]:
    """Return what is to be taken from the counts: pixels that do not count are no true negatives."""
    missing = 0 if on is None else int(np.count_nonzero(~on))
    return np.array([0, 0, 0, missing * truths], dtype=np.int64)


def _check_measures(chosen: Sequence[BoundMeasure], truths: Any) -> None:
    wrong = [str(each) for each in chosen if each.entry.info.needs == "segmentation"]
    if truths is None:
        wrong = [str(each) for each in chosen if each.entry.info.needs != "candidate"]
    if wrong:
        raise InputError(f"{', '.join(wrong)} cannot judge an edge map {_without(truths)}")


def _chosen_detectors(
    detectors: str | Sequence[Detector] | None, thresholds: Thresholds
) -> Sequence[Detector]:
    if isinstance(detectors, str):
        return [detectors]
    if detectors is None:
        return MATLAB_DETECTORS if isinstance(thresholds, str) else DEFAULT_DETECTORS
    if len(detectors) == 0:
        raise InputError("detectors is empty", remedy="name at least one, or leave it out")
    return detectors


def _without(truths: Any) -> str:
    if truths is None:
        return "without a truth; give one (--truth), or take complexity, equilibrium or entropy"
    return "over thresholds; choose others"


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Number names that come twice."""
    seen: dict[str, int] = {}
    result = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return tuple(result)
