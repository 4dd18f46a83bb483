"""From an image to its best edge map: sweep the threshold of detectors, let measures choose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.detectors.picture import Kind
from edgecritic.errors import InputError
from edgecritic.ids import Id
from edgecritic.inputs import BoolArray, Spacing, as_spacing
from edgecritic.measures.evidence import Single
from edgecritic.measures.scoring import as_maps, choose, default_measures, evaluate, pair_up
from edgecritic.measures.targets import Target, as_target
from edgecritic.protocols.tuning_ladder import Detector, Ladder, Thresholds, ladder_of
from edgecritic.protocols.tuning_matching import exact_rates
from edgecritic.protocols.tuning_result import Tuning

__all__ = ["tune", "DEFAULT_DETECTORS", "MATLAB_DETECTORS"]

DEFAULT_DETECTORS = (
    "sobel",
    "canny",
    "steerable(order=1)",
    "steerable(order=5)",
    "anisotropic",
    "half_gaussian",
)
MATLAB_DETECTORS = ("sobel", "prewitt", "roberts", "log(sigma=1.4142135623730951)", "canny")
ALONE = ("complexity", "equilibrium", "entropy")


def tune(
    image: Any,
    truths: Any = None,
    *,
    detectors: Sequence[Detector] | None = None,
    measures: str | Id | Sequence[str | Id] | None = None,
    thresholds: Thresholds = 101,
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
    detectors : list of ids, functions or folders, optional
        :data:`DEFAULT_DETECTORS` if not given.
    measures : ids, optional
        All that need no matching, or `complexity`, `equilibrium` and `entropy` without truth.
    thresholds : int, sequence of float, or "matlab"
        How many, evenly from 0 to 1, or which. The candidate at T is where the thin map is ≥ T and > 0.
        "matlab" runs MATLAB's ``edge`` (:func:`edgecritic.detectors.matlab.edge_matlab`) with the 99
        thresholds of the complexity paper: k/100 for Canny (low = 0.4·high), k·0.004 for Sobel, Prewitt and
        Roberts, k·0.0004 for LoG.
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
    chosen = _chosen_measures(measures, truths)
    names = _chosen_detectors(detectors, thresholds)
    ladders: list[Ladder] = []
    rows: list[NDArray[np.float64]] = []
    counts: list[NDArray[np.int64]] = []
    confusions: list[NDArray[np.int64]] = []
    goals: list[Target] | None = None
    for number, detector in enumerate(names):
        ladder = ladder_of(detector, image, thresholds, kind, spacing, name)
        shape = ladder.cut(1.0).shape
        sizes = as_spacing(spacing, len(shape))
        if goals is None:
            goals = [] if truths is None else [as_target(t, "truth", sizes, None) for t in as_maps(truths)]
        values, numbers, confusion = _judge(ladder, goals, chosen, sizes)
        ladders.append(ladder)
        rows.append(values)
        counts.append(numbers)
        confusions.append(confusion)
        if progress is not None:
            progress(number + 1, len(names))
    return Tuning(
        detectors=_distinct([ladder.detector for ladder in ladders]),
        measures=tuple(str(each) for each in chosen),
        better=tuple(each.entry.info.better for each in chosen),
        thresholds=np.stack([ladder.thresholds for ladder in ladders]),
        values=np.stack(rows),
        counts=np.stack(counts),
        confusion=np.stack(confusions),
        truths=len(goals or []),
        ladders=tuple(ladders),
    )


def _chosen_measures(measures: Any, truths: Any) -> list[Any]:
    chosen = choose(measures, ALONE if truths is None else default_measures())
    wrong = [str(each) for each in chosen if each.entry.info.needs == "segmentation"]
    if truths is None:
        wrong = [str(each) for each in chosen if each.entry.info.needs != "candidate"]
    if wrong:
        raise InputError(f"{', '.join(wrong)} cannot judge an edge map {_without(truths)}")
    return chosen


def _chosen_detectors(detectors: Sequence[Detector] | None, thresholds: Thresholds) -> Sequence[Detector]:
    if detectors is None:
        return MATLAB_DETECTORS if isinstance(thresholds, str) else DEFAULT_DETECTORS
    if not detectors:
        raise InputError("detectors is empty; name at least one, or leave it out")
    return detectors


def _judge(
    ladder: Ladder, goals: Sequence[Target], chosen: Sequence[Any], sizes: tuple[float, ...]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    steps = ladder.thresholds.size
    values, counts = np.empty((steps, len(chosen))), np.empty(steps, dtype=np.int64)
    confusions = np.zeros((steps, 4), dtype=np.int64)
    truths = [goal.mask for goal in goals]
    swept = exact_rates(ladder.cut, ladder.thresholds, truths, chosen, sizes) if _all_set(goals) else {}
    rest = [place for place in range(len(chosen)) if place not in swept]
    known: dict[int, int] = {}
    for index, (mask, count) in enumerate(_candidates(ladder)):
        counts[index] = count
        # Candidates are nested: equal counts are equal maps.
        if count in known:
            values[index], confusions[index] = values[known[count]], confusions[known[count]]
            continue
        places = rest if count else list(range(len(chosen)))
        values[index] = [swept[place][index] if place in swept else np.nan for place in range(len(chosen))]
        values[index, places], confusions[index] = _values(
            mask, goals, [chosen[place] for place in places], sizes
        )
        known[count] = index
    return values, counts, confusions


def _candidates(ladder: Ladder) -> Iterator[tuple[BoolArray, int]]:
    for threshold in ladder.thresholds:
        mask = ladder.cut(float(threshold))
        yield mask, int(np.count_nonzero(mask))


def _all_set(goals: Sequence[Target]) -> bool:
    return bool(goals) and all(goal.count for goal in goals)


def _values(
    mask: BoolArray, goals: Sequence[Target], chosen: Sequence[Any], sizes: tuple[float, ...]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the measures' means and the summed counts of one candidate over all truths.

    High thresholds leave nothing; that the values then come from the measures' tables is not told.
    """
    total = np.zeros(4, dtype=np.int64)
    if not goals:
        single = Single(mask)
        single.warned = True
        return np.array([float(each(single)) for each in chosen]), total
    judged = Target(mask, sizes, goals[0].empty_distance)
    rows = []
    for goal in goals:
        comparison = pair_up(judged, goal, "value")
        comparison.warned = True
        rows.append(evaluate(chosen, comparison))
        found = comparison.confusion
        total += np.array([found.tp, found.fp, found.fn, found.tn])
    mean: NDArray[np.float64] = np.mean(rows, axis=0)
    return mean, total


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
