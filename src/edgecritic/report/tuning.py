"""Figures of tuning: curves over thresholds, best maps, rates, and box plots over a data set."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from edgecritic.datasets.content import read_content
from edgecritic.errors import MissingExtraError
from edgecritic.figures import drawing_settings, leave_out, look, new_figure, save_figure
from edgecritic.report.sections import Cell, Content, Figure, Section, Table
from edgecritic.report.view import plural
from edgecritic.tables import arrow, csv_text
from edgecritic.tuning.result import Tuning, short_id
from edgecritic.tuning.summary import TuningSummary
from edgecritic.tuning.table import best_place

if TYPE_CHECKING:
    from os import PathLike

__all__ = [
    "draw_curves",
    "draw_montage",
    "draw_rates",
    "draw_boxes",
    "tuning_section",
    "write_tuning",
    "write_summary",
]

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
    _draw_panels(tuning, measures or tuning.measures, path)


def draw_montage(
    tuning: Tuning, image: Any, path: str | PathLike[str], *, measures: Sequence[str] | None = None
) -> None:
    """Draw the best maps: one row per measure, one column per detector, the image in the first column.

    With truths the false alarms (FP) and misses (FN) of each map are counted, under strict overlap.
    """
    names = list(measures or tuning.measures)
    rows, columns = np.asarray(image).shape[:2]
    tall = 0.45 + 1.6 * float(np.clip(rows / columns, 0.4, 2.5))
    figure = new_figure((1.7 * (len(tuning.detectors) + 1), tall * len(names)))
    grid = figure.subplots(len(names), len(tuning.detectors) + 1, squeeze=False)
    for row, measure in zip(grid, names, strict=True):
        row[0].imshow(np.asarray(image), cmap="gray")
        row[0].set_ylabel(measure, fontsize="small")
        for panel, detector in zip(row[1:], tuning.detectors, strict=True):
            best = tuning.best(detector, measure)
            panel.imshow(~tuning.best_map(detector, measure), cmap="gray", vmin=0, vmax=1)
            star = " *" if detector == tuning.winner(measure) else ""
            text = f"{short_id(detector)}\n{best.value:.3g} at {best.threshold:.3g}{star}"
            if tuning.truths:
                alarms, misses = tuning.errors(detector, measure)
                text += f"\nFP {alarms:.0f}, FN {misses:.0f}"
            panel.set_title(text, fontsize=6)
    for panel in grid.ravel():
        panel.set_xticks([])
        panel.set_yticks([])
    save_figure(figure, path)


def draw_rates(tuning: Tuning, path: str | PathLike[str], *, strategy: str | None = None) -> None:
    """Draw ROC and precision-recall curves under strict overlap, or under a matching strategy.

    A strategy needs the measures of :func:`edgecritic.tuning.result.matched_measures`.
    """
    figure = new_figure((11, 4.2))
    left, right = figure.subplots(1, 2)
    for number, detector in enumerate(tuning.detectors):
        style = look(number)
        rates = tuning.rates(detector, strategy)
        some = tuning.counts[number] > 0
        left.plot(rates.false_positive, rates.true_positive, label=short_id(detector), **style)
        right.plot(rates.true_positive[some], rates.precision[some], label=short_id(detector), **style)
    under = "strict overlap" if strategy is None else strategy
    left.set(xlabel="false positive rate", ylabel="true positive rate", title=f"ROC, {under}")
    right.set(xlabel="recall", ylabel="precision", title=f"precision and recall, {under}")
    for panel in (left, right):
        panel.set_ylim(-0.02, 1.02)
        panel.spines[["top", "right"]].set_visible(False)
    right.set_xlim(-0.02, 1.02)
    right.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize="small", frameon=False)
    save_figure(figure, path)


def draw_boxes(
    summary: TuningSummary, path: str | PathLike[str], *, measures: Sequence[str] | None = None
) -> None:
    """Draw box plots of the best values over the images, one panel per measure."""
    _draw_panels(summary, measures or summary.measures, path)


def _draw_panels(value: Tuning | TuningSummary, names: Sequence[str], path: str | PathLike[str]) -> None:
    """Draw a value by every measure, in rows of panels below one legend."""
    columns = min(len(names), _COLUMNS)
    rows = -(-len(names) // columns)
    figure = new_figure((3.2 * columns, 2.6 * rows))
    panels = list(figure.subplots(rows, columns, squeeze=False).ravel())
    for panel, name in zip(panels, names, strict=False):
        value.plot(panel, measure=name)
        panel.tick_params(labelsize=6)
        panel.xaxis.label.set_fontsize("small")
    for panel in panels[len(names) :]:
        panel.set_visible(False)
    handles, labels = panels[0].get_legend_handles_labels()
    options = {"ncols": min(len(handles), 4), "fontsize": 7, "frameon": False}
    figure.legend(handles, labels, loc="outside upper left", **options)
    save_figure(figure, path)


def write_tuning(
    folder: str | PathLike[str],
    tuning: Tuning,
    image: Any,
    *,
    matching: str | None = None,
    every: bool = False,
) -> tuple[Path, ...]:
    """Write the figures, the best maps, ``curves.csv`` and ``tuning.json`` of one image; return the files.

    ``curves.png``, ``montage.png`` (images only), with truth ``rates.png`` (``rates-matched.png`` under the
    strategy `matching`), and ``best/MEASURE/DETECTOR.png`` for all measures. The montage has a row for
    each of the first six measures, `FAVOURITES` before others; with `every` one for each measure.
    """
    from edgecritic.datasets.write import write_map
    from edgecritic.run.files import write_text

    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    others = [measure for measure in tuning.measures if measure not in FAVOURITES]
    shown = [*(measure for measure in FAVOURITES if measure in tuning.measures), *others]
    shown = list(tuning.measures) if every else shown[: len(FAVOURITES)]
    flat = tuning.best_map(tuning.detectors[0], shown[0]).ndim == 2
    write_text(home / "tuning.json", json.dumps(tuning.as_dict(), indent=2, ensure_ascii=False) + "\n")
    rows = tuning.rows()
    write_text(home / "curves.csv", csv_text(list(rows[0]), [list(row.values()) for row in rows]))
    drawings: dict[str, Callable[[Path], None]] = {"curves.png": lambda path: draw_curves(tuning, path)}
    if flat:
        drawings["montage.png"] = lambda path: draw_montage(tuning, image, path, measures=shown)
    if tuning.truths:
        drawings["rates.png"] = lambda path: draw_rates(tuning, path)
    if tuning.truths and matching is not None:
        drawings["rates-matched.png"] = lambda path: draw_rates(tuning, path, strategy=matching)
    written = [home / "tuning.json", home / "curves.csv", *_draw_all(home, drawings)]
    for measure, detector in itertools.product(tuning.measures, tuning.detectors):
        written.append(home / "best" / measure / f"{detector}.{'png' if flat else 'npy'}")
        write_map(written[-1], tuning.best_map(detector, measure))
    return tuple(written)


def write_summary(folder: str | PathLike[str], summary: TuningSummary) -> tuple[Path, ...]:
    """Write ``table.csv``, ``table.txt`` and, of several images, ``boxes.png``; return the files."""
    from edgecritic.run.files import write_text

    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    rows = summary.rows()
    written = [home / "table.csv", home / "table.txt"]
    write_text(written[0], csv_text(list(rows[0]), (list(row.values()) for row in rows)))
    write_text(written[1], f"{summary}\n")
    if len(summary.images) > 1:
        written += _draw_all(home, {"boxes.png": lambda path: draw_boxes(summary, path)})
    return tuple(written)


def _draw_all(home: Path, drawings: Mapping[str, Callable[[Path], None]]) -> tuple[Path, ...]:
    """Draw figures into a folder by their names, or leave them out where matplotlib is missing."""
    written = []
    try:
        for name, draw in drawings.items():
            with drawing_settings():
                draw(home / name)
            written.append(home / name)
    except MissingExtraError as missing:
        leave_out("the figures are", str(missing))
    return tuple(written)


def tuning_section(summary: TuningSummary, figures: Mapping[str, Path]) -> Section:
    """Return a section of the benchmark's report: mean best values with their thresholds, then the figures.

    Parameters
    ----------
    summary : TuningSummary
    figures : mapping of str to path
        PNG files by their captions; those that were not drawn are left out.
    """
    lead = (
        "Another way to judge: every measure takes, image by image, the threshold it likes best. Cells show "
        f"the mean best value over {plural(len(summary.images), 'image')} @ the mean threshold; the best "
        "detector of a measure is bold. ↓ smaller is better, ↑ larger is better."
    )
    rows: list[tuple[Content, ...]] = []
    for column, (measure, way) in enumerate(zip(summary.measures, summary.better, strict=True)):
        values, levels = summary.mean[:, column], summary.mean_threshold[:, column]
        first = best_place(values, way)
        cells = [
            Cell(text=f"{value:.3g} @ {level:.2f}", strong=place == first)
            for place, (value, level) in enumerate(zip(values, levels, strict=True))
        ]
        rows.append((f"{measure} {arrow(way)}", *cells))
    table = Table(
        name="best-thresholds",
        title="Best values and thresholds by measure and detector",
        header=("Measure", *map(short_id, summary.detectors)),
        body=tuple(rows),
    )
    drawn = [
        Figure(name=path.stem, title=caption, caption=caption, content={"png": read_content(path).data})
        for caption, path in figures.items()
        if path.exists()
    ]
    return Section(key="tuning", title="Best thresholds", lead=lead, blocks=(table, *drawn))
