"""What `tune` finds: measures of detectors over their thresholds, and where they are best."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.figures import axes_of, look
from edgecritic.ids import Id
from edgecritic.inputs import BoolArray
from edgecritic.protocols.curves import ratio
from edgecritic.tables import arrow
from edgecritic.tuning.ladder import Ladder
from edgecritic.tuning.table import best_place, best_table
from edgecritic.values import Value

__all__ = ["Best", "Rates", "Tuning", "matched_measures"]


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


class Tuning(Value):
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
    ladders: tuple[Ladder, ...]

    def curve(self, detector: str, measure: str) -> NDArray[np.float64]:
        """Return the values of a measure over the thresholds of a detector."""
        return self.values[self._detector(detector), :, self._measure(measure)]

    def best(self, detector: str, measure: str) -> Best:
        """Return the lowest threshold at which a measure is best: smallest or largest as it is defined."""
        curve = self.curve(detector, measure)
        index = best_place(curve, self.better[self._measure(measure)])
        return Best(float(self.thresholds[self._detector(detector), index]), float(curve[index]), index)

    def best_map(self, detector: str, measure: str) -> BoolArray:
        """Return the candidate at the best threshold."""
        return self.ladders[self._detector(detector)].cut(self.best(detector, measure).threshold)

    def errors(self, detector: str, measure: str) -> tuple[float, float]:
        """Return false alarms and misses of the best map under strict overlap; means over several truths."""
        place = self.best(detector, measure).place
        alarms, misses = self.confusion[self._detector(detector), place, 1:3] / max(self.truths, 1)
        return float(alarms), float(misses)

    def roc(self, detector: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return false and true positive rates over the thresholds under strict overlap; 0 for 0/0.

        Precision and recall over the thresholds, also under a matching strategy, are the curves of the
        measures ``precision`` and ``recall(strategy=exact)``.
        """
        tp, fp, fn, tn = self.confusion[self._detector(detector)].T.astype(np.float64)
        return ratio(fp, fp + tn), ratio(tp, tp + fn)

    def rates(self, detector: str, strategy: str | None = None) -> Rates:
        """Return the rates of ROC and precision-recall curves, under strict overlap or a strategy.

        The measures of :func:`matched_measures` must have been computed for a strategy. False positives are
        then the candidate pixels without a partner; negatives are all pixels that are not truth.
        """
        if strategy is None:
            false, true = self.roc(detector)
            tp, fp = self.confusion[self._detector(detector)].T[:2].astype(np.float64)
            return Rates(false, true, ratio(tp, tp + fp))
        precision, recall = (self.curve(detector, name) for name in matched_measures(strategy))
        row = self._detector(detector)
        negatives = self.confusion[row][:, [1, 3]].sum(axis=1) / max(self.truths, 1)
        return Rates(ratio((1 - precision) * self.counts[row], negatives), recall, precision)

    def without_maps(self) -> Tuning:
        """Return the same numbers without what the maps are cut from; much smaller."""
        return replace(self, ladders=())

    def winner(self, measure: str) -> str:
        """Return the detector whose best value is best, the first of equals."""
        values = np.array([self.best(name, measure).value for name in self.detectors])
        return self.detectors[best_place(values, self.better[self._measure(measure)])]

    def rows(self) -> list[dict[str, Any]]:
        """Return the curves: a row per detector and threshold with the pixels and all measures."""
        return [
            {
                "detector": detector,
                "threshold": float(self.thresholds[d, k]),
                "pixels": int(self.counts[d, k]),
                **{name: _plain(float(value)) for name, value in zip(self.measures, values, strict=True)},
            }
            for d, detector in enumerate(self.detectors)
            for k, values in enumerate(self.values[d])
        ]

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
                        name: {
                            "value": _plain(best.value),
                            "threshold": best.threshold,
                            **self._told_errors(name, measure),
                        }
                        for name, best in found.items()
                    },
                }
            )
        return {"truths": self.truths, "detectors": list(self.detectors), "measures": rows}

    def _told_errors(self, detector: str, measure: str) -> dict[str, float]:
        if not self.truths:
            return {}
        return dict(zip(("false_alarms", "misses"), self.errors(detector, measure), strict=True))

    def table(self, width: int | None = None) -> str:
        """Return best values with their thresholds; detectors beyond `width` columns of text come below."""
        best = [[self.best(name, measure) for measure in self.measures] for name in self.detectors]
        values = np.array([[each.value for each in row] for row in best])
        thresholds = np.array([[each.threshold for each in row] for row in best])
        return best_table(self.measures, self.better, self.detectors, values, thresholds, width=width)

    def __str__(self) -> str:
        """Return the table of best values with their thresholds, one line per measure."""
        return self.table()

    def plot(self, ax: Any = None, *, measure: str | None = None) -> Any:
        """Draw a measure (the first if not given) over the thresholds; dots mark the best ones.

        Thresholds of detectors with different grids are shown as shares of the largest. Returns the axes.
        """
        axes, chosen = axes_of(ax), measure or self.measures[0]
        column = self._measure(chosen)
        uneven = bool(np.ptp(self.thresholds, axis=0).any())
        for number, detector in enumerate(self.detectors):
            style, best, levels = look(number), self.best(detector, chosen), self.thresholds[number]
            shown = levels / levels.max() if uneven else levels
            axes.plot(shown, self.curve(detector, chosen), lw=1.2, label=short_id(detector), **style)
            axes.plot(shown[best.place], best.value, "o", color=style["color"], ms=4)
        axes.set_title(f"{chosen} {arrow(self.better[column])}", fontsize="small")
        axes.set_xlabel("threshold / largest threshold of the detector" if uneven else "threshold")
        _leave_out_peaks(axes, self.values[:, :, column])
        return axes

    def _detector(self, name: str) -> int:
        if name not in self.detectors:
            raise InputError(f"{name} was not run", remedy=f"these were: {', '.join(self.detectors)}")
        return self.detectors.index(name)

    def _measure(self, name: str) -> int:
        if name not in self.measures:
            raise InputError(f"{name} was not computed", remedy=f"these were: {', '.join(self.measures)}")
        return self.measures.index(name)


def short_id(detector: str) -> str:
    """Return an id for a figure: fewer digits, and no style.

    Examples
    --------
    >>> short_id("log(sigma=1.4142135623730951, style=matlab)"), short_id("sobel(style=matlab)")
    ('log(sigma=1.414)', 'sobel')
    """
    plain = re.sub(r"(, )?style=\w+", "", detector).replace("()", "")
    return re.sub(r"(\.\d{3})\d+", r"\1", plain)


def _leave_out_peaks(panel: Any, values: NDArray[np.float64]) -> None:
    """Cut the axis where a few maps without edges would squeeze all other values."""
    known = values[np.isfinite(values)]
    if known.size == 0:
        return
    low, usual, high = known.min(), np.quantile(known, 0.8), known.max()
    if high - low > 3 * (usual - low) > 0:
        panel.set_ylim(low - 0.05 * (usual - low), usual + 0.5 * (usual - low))


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


def _plain(value: float) -> float | None:
    return value if np.isfinite(value) else None
