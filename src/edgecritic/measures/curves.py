"""Measures over all thresholds of a strength map: where is each at its best?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.figures import axes_of, look
from edgecritic.ids import Id, shown
from edgecritic.inputs import Spacing, as_spacing, as_strength
from edgecritic.maps.target import Target, as_target
from edgecritic.maps.walk import Walk
from edgecritic.matching.follow import follow
from edgecritic.measures.evidence import OnDegenerate, Single, check_policy
from edgecritic.measures.scoring import Measures, as_maps, choose, default_measures, evaluate, pair_up
from edgecritic.measures.unsupervised import follow_evidence
from edgecritic.tables import text_table
from edgecritic.values import Value

__all__ = ["MeasureCurves", "Judgement", "curves", "judge_walk", "threshold_levels"]


class MeasureCurves(Value):
    """The values of measures over thresholds.

    Attributes
    ----------
    thresholds : (t,) float array
    measures : tuple of str
        The ids.
    better : tuple of "lower" or "higher"
        The direction of good of each.
    values : (t, measures) float array
        With several truths the mean over them.
    counts : (t,) int array
        Number of candidate pixels.
    """

    thresholds: NDArray[np.float64]
    measures: tuple[str, ...]
    better: tuple[str, ...]
    values: NDArray[np.float64]
    counts: NDArray[np.int64]

    def __getitem__(self, measure: str) -> NDArray[np.float64]:
        """Return the curve of one measure."""
        if measure not in self.measures:
            raise InputError(f"{measure} was not computed; these were: {', '.join(self.measures)}")
        return self.values[:, self.measures.index(measure)]

    def best(self) -> dict[str, tuple[float, float]]:
        """Return for every measure the lowest threshold at which it is best, and its value there."""
        found = {}
        for name, way in zip(self.measures, self.better, strict=True):
            curve = self[name] if way == "lower" else -self[name]
            index = int(np.nanargmin(curve)) if not np.isnan(curve).all() else 0
            found[name] = float(self.thresholds[index]), float(self[name][index])
        return found

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per threshold: its number of pixels and the values of all measures."""
        heads = zip(self.thresholds.tolist(), self.counts.tolist(), self.values.tolist(), strict=True)
        return [
            {"threshold": threshold, "pixels": count, **dict(zip(self.measures, values, strict=True))}
            for threshold, count, values in heads
        ]

    def __str__(self) -> str:
        best = self.best()
        return text_table([[name, f"{value:.6g} at {where:.4g}"] for name, (where, value) in best.items()])

    def plot(self, ax: Any = None) -> Any:
        """Draw the curves over the threshold into `ax`, or into a new figure; return the axes."""
        axes = axes_of(ax)
        for number, name in enumerate(self.measures):
            axes.plot(self.thresholds, self[name], label=name, **look(number))
        axes.set_xlabel("threshold")
        axes.legend()
        return axes


class Judgement(NamedTuple):
    """What measures say of a walk.

    Attributes
    ----------
    values : (t, measures) float array
        Means over the truths.
    confusion : (t, 4) int array
        Hits, false alarms, misses and true negatives under strict overlap, summed over the truths.
    """

    values: NDArray[np.float64]
    confusion: NDArray[np.int64]


def curves(
    strength: Any,
    truths: Any,
    measures: Measures = None,
    *,
    strategy: str | Id | None = None,
    tolerance: float | None = None,
    thresholds: int | Sequence[float] = 101,
    spacing: Spacing = None,
    empty_distance: float | None = None,
    on_degenerate: OnDegenerate = "value",
) -> MeasureCurves:
    """Compute measures of a strength map at every threshold.

    The candidate at threshold t is where strength ≥ t and strength > 0. Thin the map first
    (non-maximum suppression): it is judged as given. The truth's distance transform is made once.

    Parameters
    ----------
    strength : array_like of floats in [0, 1], 2-D or 3-D
    truths : array_like, or list of them
        Binary maps of the same shape; the means over several are returned.
    measures : str or list of str, optional
        Ids; all that need no matching if not given.
    strategy, tolerance
        As for `edgecritic.score`.
    thresholds : int or sequence of float
        How many, evenly from 0 to 1, or which.
    spacing, empty_distance, on_degenerate
        As for `edgecritic.compare`.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.eye(8, dtype=bool)
    >>> strength = 0.6 * truth + 0.2 * np.eye(8, k=3)
    >>> curves(strength, truth, ["hausdorff", "jaccard"], thresholds=[0.1, 0.5]).best()
    {'hausdorff': (0.5, 0.0), 'jaccard': (0.5, 1.0)}
    """
    chosen = choose(measures, default_measures(), strategy=strategy, tolerance=tolerance)
    for bound in chosen:
        if bound.entry.info.needs == "segmentation":
            raise InputError(f"{bound} judges label maps, which have no thresholds")
    check_policy(on_degenerate)
    soft = as_strength(strength)
    goals = [as_target(truth, "truth", spacing, empty_distance) for truth in as_maps(truths)]
    levels = threshold_levels(thresholds)
    walk = positive_walk(soft, levels)
    found = judge_walk(walk, goals, chosen, as_spacing(spacing, soft.ndim), on_degenerate=on_degenerate)
    return MeasureCurves(
        thresholds=levels,
        measures=tuple(str(bound) for bound in chosen),
        better=tuple(bound.entry.info.better for bound in chosen),
        values=found.values,
        counts=walk.sizes,
    )


def positive_walk(strength: NDArray[Any], thresholds: NDArray[np.float64]) -> Walk:
    """Return the walk of a map that is on where strength ≥ t and strength > 0."""
    return Walk(np.where(strength > 0, strength, -np.inf), thresholds)


def judge_walk(
    walk: Walk,
    goals: Sequence[Target],
    chosen: Sequence[Any],
    spacing: tuple[float, ...],
    *,
    on_degenerate: OnDegenerate = "value",
    quiet: bool = False,
) -> Judgement:
    """Compute measures at every step of a walk, anew only where the candidate changes.

    Parameters
    ----------
    walk : Walk
    goals : sequence of Target
        The truths; without any, measures of the candidate alone are computed.
    chosen : sequence of bound measures
    spacing : tuple of float
    on_degenerate : "value", "nan" or "raise"
    quiet : bool
        Whether to say nothing of candidates that are empty, as at high thresholds.
    """
    values = np.empty((len(walk), len(chosen)))
    confusion = np.zeros((len(walk), 4), dtype=np.int64)
    swept = _exact_rates(walk, goals, chosen, spacing)
    known = {} if goals else follow_evidence(walk, chosen)
    rest = [place for place in range(len(chosen)) if place not in swept]
    before = -1
    warned = quiet
    for step, mask in walk.candidates():
        at = step.place
        if step.rests and before >= 0:
            values[at], confusion[at] = values[before], confusion[before]
            continue
        # Of an empty candidate all values come from the measures' tables.
        places = rest if walk.sizes[at] else list(range(len(chosen)))
        for place, column in swept.items():
            values[at, place] = column[at]
        own = [chosen[place] for place in places]
        judged = Target(mask, spacing, goals[0].empty_distance if goals else 0.0)
        rows = []
        alone = {name: column[at] for name, column in known.items()}
        for row, counted, told in _judged(judged, goals, own, on_degenerate, warned, alone):
            rows.append(row)
            confusion[at] += counted
            warned = told
        values[at, places] = np.mean(rows, axis=0)
        before = at
    return Judgement(values, confusion)


def _judged(
    candidate: Target,
    goals: Sequence[Target],
    chosen: Sequence[Any],
    on_degenerate: OnDegenerate,
    warned: bool,
    known: Mapping[str, float],
) -> Iterator[tuple[list[float], NDArray[np.int64], bool]]:
    """Return the values against each truth, the counts under strict overlap, and whether it warned.

    Without a truth, `known` is evidence of the candidate alone that is there already.
    """
    if not goals:
        single = Single(candidate.mask, on_degenerate=on_degenerate)
        single.warned = warned
        single.keep(known)
        yield [float(bound(single)) for bound in chosen], np.zeros(4, dtype=np.int64), single.warned
    for goal in goals:
        comparison = pair_up(candidate, goal, on_degenerate)
        comparison.warned = warned
        row = evaluate(chosen, comparison)
        warned = comparison.warned
        found = comparison.confusion
        yield row, np.array([found.tp, found.fp, found.fn, found.tn]), warned


def _exact_rates(
    walk: Walk, goals: Sequence[Target], chosen: Sequence[Any], spacing: tuple[float, ...]
) -> dict[int, NDArray[np.float64]]:
    """Return the columns that are precision or recall by the exact matching, which follows the walk.

    The values are those of the measures, at a small part of the cost. Nothing is swept if a truth is empty.
    """
    if not goals or not all(goal.count for goal in goals):
        return {}
    wanted = {
        place: found for place, each in enumerate(chosen) if (found := _exact_strategy(each)) is not None
    }
    matches = {
        strategy: [follow(walk, [goal.mask], strategy=strategy, spacing=spacing).truth for goal in goals]
        for strategy in set(wanted.values())
    }
    columns = {}
    for place, strategy in wanted.items():
        precision = chosen[place].entry.name == "precision"
        wholes = [np.maximum(walk.sizes, 1) if precision else goal.count for goal in goals]
        rates = [hits / whole for hits, whole in zip(matches[strategy], wholes, strict=True)]
        columns[place] = np.mean(rates, axis=0)
    return columns


def _exact_strategy(bound: Any) -> Id | None:
    """Return the strategy of a measure if it is precision or recall by the exact matching."""
    if bound.entry.name not in ("precision", "recall") or bound.id.options.get("strategy") is None:
        return None
    strategy = Id.parse(bound.id.options["strategy"])
    return strategy if strategy.name == "exact" else None


def threshold_levels(thresholds: int | Sequence[float]) -> NDArray[np.float64]:
    """Return thresholds: so many, evenly from 0 to 1, or the values that are given.

    Examples
    --------
    >>> threshold_levels(3), threshold_levels([0.1, 0.4])
    (array([0. , 0.5, 1. ]), array([0.1, 0.4]))
    """
    if isinstance(thresholds, int) and not isinstance(thresholds, bool) and thresholds >= 2:
        evenly: NDArray[np.float64] = np.linspace(0, 1, thresholds, dtype=np.float64)
        return evenly
    wrong = f"thresholds must be how many (2 or more) or a list of values, got {shown(thresholds)}"
    try:
        levels = np.asarray(thresholds, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(wrong) from error
    if levels.ndim != 1 or levels.size == 0 or not np.isfinite(levels).all():
        raise InputError(wrong)
    return levels
