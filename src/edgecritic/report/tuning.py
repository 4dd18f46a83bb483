"""Figures of tuning: curves over thresholds, best maps, rates, and box plots over a data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import MissingExtraError
from edgecritic.protocols.tuning import Tuning
from edgecritic.protocols.tuning_summary import TuningSummary

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["draw_curves", "draw_montage", "draw_rates", "draw_boxes"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Colours of Okabe and Ito, which people with colour vision deficiencies can tell apart."""

_COLUMNS = 4


def draw_curves(tuning: Tuning, path: str | PathLike[str], *, measures: Sequence[str] | None = None) -> None:
    """Draw every measure over the thresholds, one panel per measure; dots mark the best thresholds.

    Parameters
    ----------
    tuning : Tuning
    path : path
        The ending says the format: ``.png``, ``.svg``, ``.pdf``.
    measures : list of str, optional
        All if not given.
    """
    names = list(measures or tuning.measures)
    figure, panels = _panels(len(names))
    for panel, measure in zip(panels, names, strict=False):
        for number, detector in enumerate(tuning.detectors):
            colour = COLOURS[number % len(COLOURS)]
            best = tuning.best(detector, measure)
            levels = tuning.thresholds[number]
            # Grids of different detectors are drawn over their own range.
            shown = levels / levels.max() if np.ptp(tuning.thresholds, axis=0).any() else levels
            panel.plot(shown, tuning.curve(detector, measure), color=colour, lw=1.2, label=detector)
            panel.plot(shown[best.place], best.value, "o", color=colour, ms=4)
        way = "↓" if tuning.better[tuning.measures.index(measure)] == "lower" else "↑"
        panel.set_title(f"{measure} {way}", fontsize="small")
        _leave_out_peaks(panel, tuning.values[:, :, tuning.measures.index(measure)])
    _finish(figure, panels, names, "threshold", path)


def draw_montage(
    tuning: Tuning, image: Any, path: str | PathLike[str], *, measures: Sequence[str] | None = None
) -> None:
    """Draw the best maps: one row per measure, one column per detector, the image in the first column."""
    names = list(measures or tuning.measures)
    rows, columns = np.asarray(image).shape[:2]
    tall = 0.35 + 1.6 * float(np.clip(rows / columns, 0.4, 2.5))
    figure: Any = _figure(1.7 * (len(tuning.detectors) + 1), tall * len(names))
    grid = figure.subplots(len(names), len(tuning.detectors) + 1, squeeze=False)
    for row, measure in zip(grid, names, strict=True):
        row[0].imshow(np.asarray(image), cmap="gray")
        row[0].set_ylabel(measure, fontsize="small")
        for panel, detector in zip(row[1:], tuning.detectors, strict=True):
            best = tuning.best(detector, measure)
            panel.imshow(~tuning.best_map(detector, measure), cmap="gray", vmin=0, vmax=1)
            star = " *" if detector == tuning.winner(measure) else ""
            panel.set_title(f"{detector}\n{best.value:.3g} at {best.threshold:.3g}{star}", fontsize=6)
    for panel in grid.ravel():
        panel.set_xticks([])
        panel.set_yticks([])
    figure.savefig(path, dpi=150)


def draw_rates(tuning: Tuning, path: str | PathLike[str]) -> None:
    """Draw ROC and precision-recall curves under strict overlap."""
    figure: Any = _figure(9, 4)
    left, right = figure.subplots(1, 2)
    for number, detector in enumerate(tuning.detectors):
        colour = COLOURS[number % len(COLOURS)]
        false_alarms, hits = tuning.roc(detector)
        left.plot(false_alarms, hits, color=colour, label=detector)
        tp, fp = tuning.confusion[number, :, 0], tuning.confusion[number, :, 1]
        some = tp + fp > 0
        right.plot(hits[some], tp[some] / (tp + fp)[some], color=colour, label=detector)
    left.set(xlabel="false positive rate", ylabel="true positive rate", title="ROC")
    right.set(xlabel="recall", ylabel="precision", title="precision and recall")
    right.legend(fontsize="small", frameon=False)
    figure.savefig(path, dpi=150)


def draw_boxes(
    summary: TuningSummary, path: str | PathLike[str], *, measures: Sequence[str] | None = None
) -> None:
    """Draw box plots of the best values over the images, one panel per measure."""
    names = list(measures or summary.measures)
    figure, panels = _panels(len(names))
    for panel, measure in zip(panels, names, strict=False):
        column = summary.measures.index(measure)
        values = summary.values[:, :, column]
        panel.boxplot([row[np.isfinite(row)] for row in values.T], medianprops={"color": COLOURS[1]})
        panel.set_xticks(range(1, len(summary.detectors) + 1), summary.detectors, rotation=90, fontsize=5)
        way = "↓" if summary.better[column] == "lower" else "↑"
        panel.set_title(f"{measure} {way}", fontsize="small")
    _finish(figure, panels, names, "", path)


def _leave_out_peaks(panel: Any, values: NDArray[np.float64]) -> None:
    """Cut the axis where a few maps without edges would squeeze all other values."""
    known = values[np.isfinite(values)]
    if known.size == 0:
        return
    low, usual, high = known.min(), np.quantile(known, 0.8), known.max()
    if high - low > 3 * (usual - low) > 0:
        panel.set_ylim(low - 0.05 * (usual - low), usual + 0.5 * (usual - low))


def _figure(width: float, height: float) -> Any:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError.of("drawing figures", "report") from error
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _panels(count: int) -> tuple[Any, list[Any]]:
    columns = min(count, _COLUMNS)
    rows = -(-count // columns)
    figure = _figure(3.2 * columns, 2.6 * rows)
    return figure, list(figure.subplots(rows, columns, squeeze=False).ravel())


def _finish(
    figure: Any, panels: list[Any], names: Sequence[str], label: str, path: str | PathLike[str]
) -> None:
    for panel in panels[len(names) :]:
        panel.set_visible(False)
    for panel in panels[: len(names)]:
        panel.tick_params(labelsize=6)
        panel.set_xlabel(label, fontsize="small")
    if panels[0].get_legend_handles_labels()[0]:
        panels[0].legend(fontsize=6, frameon=False)
    figure.savefig(path, dpi=150)
