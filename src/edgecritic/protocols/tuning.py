"""From an image to its best edge map: sweep the threshold of detectors, let measures choose."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.detectors.base import bind, detect
from edgecritic.detectors.matlab import GRIDS, MatlabResponse, matlab_response
from edgecritic.detectors.picture import Kind
from edgecritic.errors import InputError, UndefinedMeasureWarning
from edgecritic.ids import Id
from edgecritic.inputs import BoolArray, FloatArray, Spacing, as_spacing
from edgecritic.measures.evidence import Single
from edgecritic.measures.scoring import as_maps, choose, default_measures, evaluate, pair_up
from edgecritic.measures.targets import Target, as_target
from edgecritic.protocols.tuning_matching import exact_rates
from edgecritic.protocols.tuning_table import best_table

__all__ = [
    *("Best", "Rates", "Tuning", "tune", "matched_measures"),
    *("DEFAULT_DETECTORS", "MATLAB_DETECTORS"),
]

Detector = str | Id | Callable[[Any], Any]
Thresholds = int | Sequence[float] | Literal["matlab"]

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
_MATLAB_STEPS = 99


class Best(NamedTuple):
    """Where a measure is best: the lowest such threshold, its value there, and its place on the grid."""

    threshold: float
    value: float
    place: int


class Rates(NamedTuple):
    """Rates over the thresholds of a detector; 0 for 0/0."""

    false_positive: NDArray[np.float64]
    true_positive: NDArray[np.float64]
    precision: NDArray[np.float64]


class _Ladder(NamedTuple):
    """The candidates of one detector over its thresholds."""

    detector: str
    thresholds: NDArray[np.float64]
    response: FloatArray | MatlabResponse

    def cut(self, threshold: float) -> BoolArray:
        if isinstance(self.response, MatlabResponse):
            return self.response.cut(threshold).edges
        result: BoolArray = (self.response >= threshold) & (self.response > 0)
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """Measures of several detectors over their thresholds.

    Attributes
    ----------
    detectors, measures : tuple of str
        The ids.
    better : tuple of "lower" or "higher"
        The direction of good of each measure.
    thresholds : (detectors, t) float array
    values : (detectors, t, measures) float array
        With several truths the mean over them.
    counts : (detectors, t) int array
        Number of candidate pixels.
    confusion : (detectors, t, 4) int array
        Hits, false alarms, misses and true negatives under strict overlap, summed over the truths.
    truths : int
        Number of truths; 0 means that the measures judge the candidate alone.
    ladders : tuple
        What the candidates are cut from, one per detector; see :meth:`best_map`.
    """

    detectors: tuple[str, ...]
    measures: tuple[str, ...]
    better: tuple[str, ...]
    thresholds: NDArray[np.float64]
    values: NDArray[np.float64]
    counts: NDArray[np.int64]
    confusion: NDArray[np.int64]
    truths: int
    ladders: tuple[_Ladder, ...]

    def curve(self, detector: str, measure: str) -> NDArray[np.float64]:
        """Return the values of a measure over the thresholds of a detector."""
        return self.values[self._detector(detector), :, self._measure(measure)]

    def best(self, detector: str, measure: str) -> Best:
        """Return the lowest threshold at which a measure is best: smallest or largest as it is defined."""
        curve = self.curve(detector, measure)
        falling = self.better[self._measure(measure)] == "lower"
        index = 0
        if not np.isnan(curve).all():
            index = int(np.nanargmin(curve) if falling else np.nanargmax(curve))
        return Best(float(self.thresholds[self._detector(detector), index]), float(curve[index]), index)

    def best_map(self, detector: str, measure: str) -> BoolArray:
        """Return the candidate at the best threshold."""
        return self.ladders[self._detector(detector)].cut(self.best(detector, measure).threshold)

    def roc(self, detector: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return false and true positive rates over the thresholds under strict overlap; 0 for 0/0.

        Precision and recall over the thresholds, also under a matching strategy, are the curves of the
        measures ``precision`` and ``recall(strategy=exact)``.
        """
        tp, fp, fn, tn = self.confusion[self._detector(detector)].T.astype(np.float64)
        return _ratio(fp, fp + tn), _ratio(tp, tp + fn)

    def rates(self, detector: str, strategy: str | None = None) -> Rates:
        """Return the rates of ROC and precision-recall curves, under strict overlap or a strategy.

        The measures of :func:`matched_measures` must have been computed for a strategy. False positives are
        then the candidate pixels without a partner; negatives are all pixels that are not truth.
        """
        if strategy is None:
            false, true = self.roc(detector)
            tp, fp = self.confusion[self._detector(detector)].T[:2].astype(np.float64)
            return Rates(false, true, _ratio(tp, tp + fp))
        precision, recall = (self.curve(detector, name) for name in matched_measures(strategy))
        row = self._detector(detector)
        negatives = self.confusion[row][:, [1, 3]].sum(axis=1) / max(self.truths, 1)
        return Rates(_ratio((1 - precision) * self.counts[row], negatives), recall, precision)

    def without_maps(self) -> Tuning:
        """Return the same numbers without what the maps are cut from; much smaller."""
        return replace(self, ladders=())

    def winner(self, measure: str) -> str:
        """Return the detector whose best value is best, the first of equals."""
        values = [self.best(name, measure).value for name in self.detectors]
        falling = self.better[self._measure(measure)] == "lower"
        order = np.nan_to_num(values, nan=np.inf if falling else -np.inf)
        return self.detectors[int(np.argmin(order) if falling else np.argmax(order))]

    def as_dict(self) -> dict[str, Any]:
        """Return best values and thresholds, ready for JSON."""
        rows = []
        for measure, way in zip(self.measures, self.better, strict=True):
            found = {name: self.best(name, measure) for name in self.detectors}
            rows.append(
                {
                    "measure": measure,
                    "better": way,
                    "winner": self.winner(measure),
                    "best": {
                        name: {"value": _plain(best.value), "threshold": best.threshold}
                        for name, best in found.items()
                    },
                }
            )
        return {"truths": self.truths, "detectors": list(self.detectors), "measures": rows}

    def table(self, width: int | None = None) -> str:
        """Return best values with their thresholds; detectors beyond `width` columns of text come below."""
        best = [[self.best(name, measure) for measure in self.measures] for name in self.detectors]
        values = np.array([[each.value for each in row] for row in best])
        thresholds = np.array([[each.threshold for each in row] for row in best])
        return best_table(self.measures, self.better, self.detectors, values, thresholds, width=width)

    def __str__(self) -> str:
        """Return the table of best values with their thresholds, one line per measure."""
        return self.table()

    def _detector(self, name: str) -> int:
        if name not in self.detectors:
            raise InputError(f"{name} was not run; these were: {', '.join(self.detectors)}")
        return self.detectors.index(name)

    def _measure(self, name: str) -> int:
        if name not in self.measures:
            raise InputError(f"{name} was not computed; these were: {', '.join(self.measures)}")
        return self.measures.index(name)


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
    chosen = choose(measures, ALONE if truths is None else default_measures())
    wrong = [str(each) for each in chosen if each.entry.info.needs == "segmentation"]
    if truths is None:
        wrong = [str(each) for each in chosen if each.entry.info.needs != "candidate"]
    if wrong:
        raise InputError(f"{', '.join(wrong)} cannot judge an edge map {_without(truths)}")
    names = detectors
    if names is None:
        names = MATLAB_DETECTORS if isinstance(thresholds, str) else DEFAULT_DETECTORS
    if not names:
        raise InputError("detectors is empty; name at least one, or leave it out")
    ladders: list[_Ladder] = []
    rows: list[NDArray[np.float64]] = []
    counts: list[NDArray[np.int64]] = []
    confusions: list[NDArray[np.int64]] = []
    goals: list[Target] | None = None
    for number, detector in enumerate(names):
        ladder = _ladder(detector, image, thresholds, kind, spacing, name)
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


def matched_measures(strategy: str | Id) -> tuple[str, str]:
    """Return the ids of precision and recall under a matching strategy.

    Examples
    --------
    >>> matched_measures("exact(tolerance=2)")
    ('precision(strategy=exact(tolerance=2))', 'recall(strategy=exact(tolerance=2))')
    """
    parsed = Id.parse(strategy)
    first, second = (str(Id.parse(f"{name}(strategy={parsed})")) for name in ("precision", "recall"))
    return first, second


def _ladder(
    detector: Detector, image: Any, thresholds: Thresholds, kind: Kind, spacing: Spacing, name: str | None
) -> _Ladder:
    if isinstance(thresholds, str):
        return _matlab_ladder(detector, image, thresholds)
    found = detect(detector, image, kind=kind, spacing=spacing, name=name)
    return _Ladder(found.detector, _levels(thresholds), found.thin)


def _matlab_ladder(detector: Detector, image: Any, thresholds: str) -> _Ladder:
    if thresholds != "matlab":
        raise InputError(f'thresholds must be a number of them, a list, or "matlab", got {thresholds!r}')
    if not isinstance(detector, str | Id) or Id.parse(detector).name not in GRIDS:
        raise InputError(f'thresholds="matlab" goes with the detectors {", ".join(GRIDS)}, got {detector}')
    parsed = Id.parse(detector)
    rest = {key: value for key, value in parsed.params if key != "style"}
    bound = bind(parsed.name, **rest, style="matlab")
    sigma: Any = rest.pop("sigma", None)
    if rest:
        raise InputError(f'thresholds="matlab" knows the parameter sigma only, got {parsed}')
    method: Any = parsed.name
    levels: NDArray[np.float64] = GRIDS[parsed.name] * np.arange(1, _MATLAB_STEPS + 1, dtype=np.float64)
    return _Ladder(str(bound), levels, matlab_response(image, method, sigma=sigma))


def _levels(thresholds: int | Sequence[float]) -> NDArray[np.float64]:
    if isinstance(thresholds, int) and not isinstance(thresholds, bool) and thresholds >= 2:
        evenly: NDArray[np.float64] = np.linspace(0, 1, thresholds, dtype=np.float64)
        return evenly
    levels = np.asarray(thresholds, dtype=np.float64)
    if levels.ndim != 1 or levels.size == 0 or not np.isfinite(levels).all():
        raise InputError(f"thresholds must be how many (2 or more) or a list of values, got {thresholds!r}")
    return levels


def _judge(
    ladder: _Ladder, goals: Sequence[Target], chosen: Sequence[Any], sizes: tuple[float, ...]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    steps = ladder.thresholds.size
    values, counts = np.empty((steps, len(chosen))), np.empty(steps, dtype=np.int64)
    confusions = np.zeros((steps, 4), dtype=np.int64)
    truths = [goal.mask for goal in goals]
    swept = exact_rates(ladder.cut, ladder.thresholds, truths, chosen, sizes) if _all_set(goals) else {}
    rest = [place for place in range(len(chosen)) if place not in swept]
    known: dict[int, int] = {}
    with warnings.catch_warnings():
        # High thresholds leave nothing: their values come from the measures' tables.
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        for index, (mask, count) in enumerate(_candidates(ladder)):
            counts[index] = count
            # Candidates are nested: equal counts are equal maps.
            if count in known:
                values[index], confusions[index] = values[known[count]], confusions[known[count]]
                continue
            places = rest if count else list(range(len(chosen)))
            values[index] = [
                swept[place][index] if place in swept else np.nan for place in range(len(chosen))
            ]
            values[index, places], confusions[index] = _values(
                mask, goals, [chosen[place] for place in places], sizes
            )
            known[count] = index
    return values, counts, confusions


def _candidates(ladder: _Ladder) -> Iterator[tuple[BoolArray, int]]:
    for threshold in ladder.thresholds:
        mask = ladder.cut(float(threshold))
        yield mask, int(np.count_nonzero(mask))


def _all_set(goals: Sequence[Target]) -> bool:
    return bool(goals) and all(goal.count for goal in goals)


def _values(
    mask: BoolArray, goals: Sequence[Target], chosen: Sequence[Any], sizes: tuple[float, ...]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the measures' means and the summed counts of one candidate over all truths."""
    total = np.zeros(4, dtype=np.int64)
    if not goals:
        single = Single(mask)
        return np.array([float(each(single)) for each in chosen]), total
    judged = Target(mask, sizes, goals[0].empty_distance)
    rows = []
    for goal in goals:
        comparison = pair_up(judged, goal, "value")
        rows.append(evaluate(chosen, comparison))
        found = comparison.confusion
        total += np.array([found.tp, found.fp, found.fn, found.tn])
    mean: NDArray[np.float64] = np.mean(rows, axis=0)
    return mean, total


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


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


def _plain(value: float) -> float | None:
    return value if np.isfinite(value) else None
