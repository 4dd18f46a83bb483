"""Figures of tuning: curves over thresholds, best maps, rates, and box plots over a data set."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import MissingExtraError
from edgecritic.report.figures import draw_or_leave_out, drawing_settings, save_figure
from edgecritic.report.view import csv_cell
from edgecritic.tuning.result import Tuning
from edgecritic.tuning.summary import TuningSummary

if TYPE_CHECKING:
    from os import PathLike

__all__ = [
    "draw_curves",
    "draw_montage",
    "draw_rates",
    "draw_boxes",
    "new_figure",
    "short_id",
    "write_tuning",
    "write_summary",
]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Colours of Okabe and Ito, which people with colour vision deficiencies can tell apart."""

FAVOURITES = ("sk", "psi", "fom_star", "f_star", "baddeley", "complexity")
"""Measures that come first in the montage of the best maps, which has so many rows."""

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
    # Grids of different detectors are drawn over their own range.
    uneven = bool(np.ptp(tuning.thresholds, axis=0).any())
    for panel, measure in zip(panels, names, strict=False):
        for number, detector in enumerate(tuning.detectors):
            look = _look(number)
            best = tuning.best(detector, measure)
            levels = tuning.thresholds[number]
            shown = levels / levels.max() if uneven else levels
            panel.plot(shown, tuning.curve(detector, measure), lw=1.2, label=short_id(detector), **look)
            panel.plot(shown[best.place], best.value, "o", color=look["color"], ms=4)
        way = "↓" if tuning.better[tuning.measures.index(measure)] == "lower" else "↑"
        panel.set_title(f"{measure} {way}", fontsize="small")
        _leave_out_peaks(panel, tuning.values[:, :, tuning.measures.index(measure)])
    label = "threshold / largest threshold of the detector" if uneven else "threshold"
    _finish(figure, panels, names, label, path)


def draw_montage(
    tuning: Tuning, image: Any, path: str | PathLike[str], *, measures: Sequence[str] | None = None
) -> None:
    """Draw the best maps: one row per measure, one column per detector, the image in the first column."""
    names = list(measures or tuning.measures)
    rows, columns = np.asarray(image).shape[:2]
    tall = 0.35 + 1.6 * float(np.clip(rows / columns, 0.4, 2.5))
    figure: Any = new_figure(1.7 * (len(tuning.detectors) + 1), tall * len(names))
    grid = figure.subplots(len(names), len(tuning.detectors) + 1, squeeze=False)
    for row, measure in zip(grid, names, strict=True):
        row[0].imshow(np.asarray(image), cmap="gray")
        row[0].set_ylabel(measure, fontsize="small")
        for panel, detector in zip(row[1:], tuning.detectors, strict=True):
            best = tuning.best(detector, measure)
            panel.imshow(~tuning.best_map(detector, measure), cmap="gray", vmin=0, vmax=1)
            star = " *" if detector == tuning.winner(measure) else ""
            panel.set_title(
                f"{short_id(detector)}\n{best.value:.3g} at {best.threshold:.3g}{star}", fontsize=6
            )
    for panel in grid.ravel():
        panel.set_xticks([])
        panel.set_yticks([])
    save_figure(figure, path, dpi=150)


def draw_rates(tuning: Tuning, path: str | PathLike[str], *, strategy: str | None = None) -> None:
    """Draw ROC and precision-recall curves under strict overlap, or under a matching strategy.

    A strategy needs the measures of :func:`edgecritic.tuning.result.matched_measures`.
    """
    figure = new_figure(11, 4.2)
    left, right = figure.subplots(1, 2)
    for number, detector in enumerate(tuning.detectors):
        look = _look(number)
        rates = tuning.rates(detector, strategy)
        some = tuning.counts[number] > 0
        left.plot(rates.false_positive, rates.true_positive, label=short_id(detector), **look)
        right.plot(rates.true_positive[some], rates.precision[some], label=short_id(detector), **look)
    under = "strict overlap" if strategy is None else strategy
    left.set(xlabel="false positive rate", ylabel="true positive rate", title=f"ROC, {under}")
    right.set(xlabel="recall", ylabel="precision", title=f"precision and recall, {under}")
    for panel in (left, right):
        panel.set_ylim(-0.02, 1.02)
        panel.spines[["top", "right"]].set_visible(False)
    right.set_xlim(-0.02, 1.02)
    right.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize="small", frameon=False)
    save_figure(figure, path, dpi=150)


def draw_boxes(
    summary: TuningSummary, path: str | PathLike[str], *, measures: Sequence[str] | None = None
) -> None:
    """Draw box plots of the best values over the images, one panel per measure."""
    names = list(measures or summary.measures)
    figure, panels = _panels(len(names))
    for panel, measure in zip(panels, names, strict=False):
        column = summary.measures.index(measure)
        values = summary.values[:, :, column]
        boxes = panel.boxplot(
            [row[np.isfinite(row)] for row in values.T],
            patch_artist=True,
            widths=0.7,
            medianprops={"color": "black"},
            flierprops={"ms": 3},
        )
        for number, (box, detector) in enumerate(zip(boxes["boxes"], summary.detectors, strict=True)):
            hatch = ("", "//", "xx")[number // len(COLOURS) % 3]
            box.set(facecolor=_look(number)["color"], alpha=0.75, hatch=hatch, label=short_id(detector))
        panel.set_xticks([])
        way = "↓" if summary.better[column] == "lower" else "↑"
        panel.set_title(f"{measure} {way}", fontsize="small")
    _finish(figure, panels, names, "", path)


def write_tuning(
    folder: str | PathLike[str], tuning: Tuning, image: Any, *, matching: str | None = None
) -> tuple[Path, ...]:
    """Write the figures, the best maps and ``tuning.json`` of one image; return the files.

    ``curves.png``, ``montage.png`` (images only), with truth ``rates.png`` (``rates-matched.png`` under the
    strategy `matching`), and ``best/MEASURE/DETECTOR.png`` for all measures. The montage has a row for
    each of the first six measures, `FAVOURITES` before others.
    """
    from edgecritic.datasets.write import write_map
    from edgecritic.run.files import write_text

    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    others = [measure for measure in tuning.measures if measure not in FAVOURITES]
    shown = [*(measure for measure in FAVOURITES if measure in tuning.measures), *others][: len(FAVOURITES)]
    flat = tuning.best_map(tuning.detectors[0], shown[0]).ndim == 2
    write_text(home / "tuning.json", json.dumps(tuning.as_dict(), indent=2, ensure_ascii=False) + "\n")
    drawings: dict[str, Callable[[Path], None]] = {"curves.png": lambda path: draw_curves(tuning, path)}
    if flat:
        drawings["montage.png"] = lambda path: draw_montage(tuning, image, path, measures=shown)
    if tuning.truths:
        drawings["rates.png"] = lambda path: draw_rates(tuning, path)
    if tuning.truths and matching is not None:
        drawings["rates-matched.png"] = lambda path: draw_rates(tuning, path, strategy=matching)
    written = [home / "tuning.json", *_draw_all(home, drawings)]
    for measure, detector in itertools.product(tuning.measures, tuning.detectors):
        written.append(home / "best" / measure / f"{detector}.{'png' if flat else 'npy'}")
        write_map(written[-1], tuning.best_map(detector, measure))
    return tuple(written)


def write_summary(folder: str | PathLike[str], summary: TuningSummary) -> tuple[Path, ...]:
    """Write ``table.csv``, ``table.txt`` and, of several images, ``boxes.png``; return the files."""
    from edgecritic.run.files import write_text

    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    rows, text = summary.rows(), io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: csv_cell(cell) for name, cell in row.items()} for row in rows)
    written = [home / "table.csv", home / "table.txt"]
    write_text(written[0], text.getvalue())
    write_text(written[1], f"{summary}\n")
    if len(summary.images) > 1:
        written += _draw_all(home, {"boxes.png": lambda path: draw_boxes(summary, path)})
    return tuple(written)


def _draw_all(home: Path, drawings: Mapping[str, Callable[[Path], None]]) -> tuple[Path, ...]:
    """Draw figures into a folder by their names, or leave them out where matplotlib is missing."""

    def one(name: str, draw: Callable[[Path], None]) -> tuple[Path, ...]:
        with drawing_settings():
            draw(home / name)
        return (home / name,)

    return draw_or_leave_out(partial(one, name, draw) for name, draw in drawings.items())


def short_id(detector: str) -> str:
    """Return an id for a figure: fewer digits, and no style.

    Examples
    --------
    >>> short_id("log(sigma=1.4142135623730951, style=matlab)"), short_id("sobel(style=matlab)")
    ('log(sigma=1.414)', 'sobel')
    """
    plain = re.sub(r"(, )?style=\w+", "", detector).replace("()", "")
    return re.sub(r"(\.\d{3})\d+", r"\1", plain)


def _look(number: int) -> dict[str, Any]:
    """Return colour and dashes of a detector's lines."""
    dashes = ("-", "--", ":")[number // len(COLOURS) % 3]
    return {"color": COLOURS[number % len(COLOURS)], "ls": dashes}


def _leave_out_peaks(panel: Any, values: NDArray[np.float64]) -> None:
    """Cut the axis where a few maps without edges would squeeze all other values."""
    known = values[np.isfinite(values)]
    if known.size == 0:
        return
    low, usual, high = known.min(), np.quantile(known, 0.8), known.max()
    if high - low > 3 * (usual - low) > 0:
        panel.set_ylim(low - 0.05 * (usual - low), usual + 0.5 * (usual - low))


def new_figure(width: float, height: float) -> Any:
    """Return an empty matplotlib figure of a size in inches, without any window."""
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
    figure = new_figure(3.2 * columns, 2.6 * rows)
    return figure, list(figure.subplots(rows, columns, squeeze=False).ravel())


def _finish(
    figure: Any, panels: list[Any], names: Sequence[str], label: str, path: str | PathLike[str]
) -> None:
    for panel in panels[len(names) :]:
        panel.set_visible(False)
    for panel in panels[: len(names)]:
        panel.tick_params(labelsize=6)
        panel.set_xlabel(label, fontsize="small")
    handles, labels = panels[0].get_legend_handles_labels()
    if handles:
        columns = min(len(handles), 4)
        figure.legend(handles, labels, loc="outside upper left", ncols=columns, fontsize=7, frameon=False)
    save_figure(figure, path, dpi=150)
