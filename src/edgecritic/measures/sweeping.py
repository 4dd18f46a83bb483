"""Measures over all thresholds of a strength map: where is each at its best?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import Spacing, as_spacing, as_strength
from edgecritic.maps.target import Target, as_target
from edgecritic.measures.evidence import OnDegenerate, check_policy
from edgecritic.measures.scoring import Measures, choose, default_measures, evaluate, pair_up

__all__ = ["MeasureCurves", "sweep", "threshold_levels"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureCurves:
    """The values of measures over thresholds.

    Attributes
    ----------
    thresholds : (t,) float array
    measures : tuple of str
        The ids.
    better : tuple of "lower" or "higher"
        The direction of good of each.
    values : (t, measures) float array
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


def sweep(
    strength: Any,
    truth: Any,
    measures: Measures = None,
    *,
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
    truth : array_like
        A binary map of the same shape.
    measures : str or list of str, optional
        Ids; all that need no matching if not given.
    thresholds : int or sequence of float
        How many, evenly from 0 to 1, or which.
    spacing, empty_distance, on_degenerate
        As for `edgecritic.compare`.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.eye(8, dtype=bool)
    >>> strength = 0.6 * truth + 0.2 * np.eye(8, k=3)
    >>> sweep(strength, truth, ["fom", "jaccard"], thresholds=[0.1, 0.5]).best()
    {'fom': (0.5, 0.0), 'jaccard': (0.5, 1.0)}
    """
    chosen = choose(measures, default_measures())
    for bound in chosen:
        if bound.entry.info.needs == "segmentation":
            raise InputError(f"{bound} judges label maps, which have no thresholds")
    check_policy(on_degenerate)
    soft = as_strength(strength)
    sizes = as_spacing(spacing, soft.ndim)
    goal = as_target(truth, "truth", spacing, empty_distance)
    levels = threshold_levels(thresholds)
    rows = np.empty((levels.size, len(chosen)))
    counts = np.empty(levels.size, dtype=np.int64)
    known: dict[int, NDArray[np.float64]] = {}
    warned = False
    for index, level in enumerate(levels):
        judged = Target((soft >= level) & (soft > 0), sizes, goal.empty_distance)
        counts[index] = judged.count
        # Candidates are nested: equal counts are equal maps.
        if judged.count not in known:
            comparison = pair_up(judged, goal, on_degenerate)
            comparison.warned = warned
            known[judged.count] = np.array(evaluate(chosen, comparison))
            warned = comparison.warned
        rows[index] = known[judged.count]
    return MeasureCurves(
        thresholds=levels,
        measures=tuple(str(bound) for bound in chosen),
        better=tuple(bound.entry.info.better for bound in chosen),
        values=rows,
        counts=counts,
    )


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
    wrong = f"thresholds must be how many (2 or more) or a list of values, got {thresholds!r}"
    try:
        levels = np.asarray(thresholds, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(wrong) from error
    if levels.ndim != 1 or levels.size == 0 or not np.isfinite(levels).all():
        raise InputError(wrong)
    return levels
