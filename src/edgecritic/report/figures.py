"""The precision-recall figure of papers, drawn by matplotlib (extra ``report``)."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from edgecritic.errors import MissingExtraError
from edgecritic.report.view import Series, all_series, cells, short, shorten
from edgecritic.run.files import replace_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    *("COLOURS", "UNDATED", "draw_or_leave_out", "drawing_settings", "precision_recall_figure"),
    *("save_figure", "write_pr"),
]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Colours of Okabe and Ito; with four styles of line they give 28 different curves."""

STYLES: tuple[Any, ...] = ("solid", (0, (6, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))

ISO_F = tuple(tenths / 10 for tenths in range(1, 10))
ISO_COLOUR = "#b9cdbb"
ISO_TEXT = "#5d7a60"
MOST_INSIDE = 8
"""With more entries the legend stands beside the axes."""

RCPARAMS: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "edgecritic",
    "text.parse_math": False,
    "text.usetex": False,
}

UNDATED: dict[str, dict[Any, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None, "ModDate": None},
    "png": {},
}
"""What keeps the time of day out of the files of matplotlib, by their endings."""


def precision_recall_figure(results: Mapping[str, Any]) -> Figure:
    """Draw precision over recall for every detector and every given curve.

    Axes from 0 to 1; iso-F lines F = .1 … .9 with their values at the right border; the measured human
    point; a legend ``[F=.81] Name`` from the best ODS to the worst; the best curve is drawn last; the ODS
    point of each curve is marked. Neither pyplot nor its settings are used or changed.

    Parameters
    ----------
    results : mapping
        What ``results.json`` holds.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    with drawing_settings():
        return _figure(results)


def draw_or_leave_out(drawings: Iterable[Callable[[], tuple[Path, ...]]]) -> tuple[Path, ...]:
    """Draw figures and return their files; without matplotlib warn once and return none."""
    drawn: list[Path] = []
    for draw in drawings:
        try:
            drawn += draw()
        except MissingExtraError as missing:
            leave_out(str(missing))
            break
    return tuple(drawn)


@functools.cache
def leave_out(reason: str) -> None:
    """Warn that there will be no figures, but not again for every figure of a run."""
    warnings.warn(f"the figures are left out: {reason}", stacklevel=3)


def write_pr(results: Mapping[str, Any], folder: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write ``pr.svg``, ``pr.pdf`` and ``pr.png`` into a folder; equal results give equal bytes.

    Returns
    -------
    tuple of Path
        The files that were written. The folder is made if it does not exist.
    """
    home = Path(folder)
    files: list[Path] = []
    with drawing_settings(), warnings.catch_warnings():
        # A name may hold signs that the font does not have.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        figure = _figure(results)
        for kind in UNDATED:
            files.append(home / f"pr.{kind}")
            save_figure(figure, files[-1], dpi=200)
    return tuple(files)


def save_figure(figure: Figure, path: str | os.PathLike[str], *, dpi: float) -> None:
    """Write a figure, whole or not at all, in the format that the ending says, without the time of day."""
    file = Path(path)
    kind = file.suffix.lower().lstrip(".")
    with replace_file(file) as stream:
        figure.savefig(stream, format=kind, metadata=UNDATED.get(kind, {}), dpi=dpi)


@contextmanager
def drawing_settings() -> Iterator[None]:
    """Use matplotlib's own defaults and ours, whatever the user's are, and put theirs back afterwards."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingExtraError.of("drawing figures", "report") from error
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(RCPARAMS)
        yield


def _figure(results: Mapping[str, Any]) -> Figure:
    from matplotlib.figure import Figure

    series = all_series(results)
    human = results.get("human")
    inside = len(series) + bool(human) <= MOST_INSIDE
    labels = [f"[F={short(one.f)}] {shorten(one.name)}" for one in series]
    beside = 0.8 + 0.075 * max(map(cells, labels), default=0)  # inches, at 8 pt
    width, side = (5.2 if inside else 5.2 + beside), 4.45
    figure = Figure(figsize=(width, 5.0))
    axes = figure.add_axes((0.53 / width, 0.09, side / width, side / 5.0))
    _draw_frame(axes)
    handles = [_draw_curve(axes, one, rank, len(series)) for rank, one in enumerate(series)]
    if human:
        (dot,) = axes.plot(human["recall"], human["precision"], "o", color="#1a7f37", ms=7, zorder=500)
        handles.insert(0, dot)
        labels.insert(0, f"[F={short(human['f'])}] Human")
    if handles:
        place: dict[str, Any] = (
            {"loc": "lower left"} if inside else {"loc": "upper left", "bbox_to_anchor": (1.07, 1.0)}
        )
        size = 8 * min(1, 28 / len(labels))
        legend = axes.legend(handles, labels, fontsize=size, handlelength=2.6, framealpha=0.92, **place)
        legend.set_zorder(1000)
        legend.get_frame().set_linewidth(0)
    return figure


def _draw_frame(axes: Axes) -> None:
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    ticks = np.linspace(0, 1, 11)
    axes.set_xticks(ticks)
    axes.set_yticks(ticks)
    axes.tick_params(length=3, color="#888888")
    axes.set_xlabel("Recall")
    axes.set_ylabel("Precision")
    for side in axes.spines.values():
        side.set_color("#888888")
    for f in ISO_F:
        even = np.linspace(f / (2 - f), 1, 100)
        recall = np.sort(np.concatenate([even, f * even / (2 * even - f)]))
        axes.plot(recall, f * recall / (2 * recall - f), color=ISO_COLOUR, linewidth=0.7, zorder=1)
        axes.annotate(
            short(f, 1), (1, f / (2 - f)), (4, 0), textcoords="offset points", va="center", color=ISO_TEXT
        ).set_fontsize(7.5)


def _draw_curve(axes: Axes, one: Series, rank: int, total: int) -> Any:
    colour, style = COLOURS[rank % len(COLOURS)], STYLES[rank % len(STYLES)]
    level = 10 + total - rank
    (line,) = axes.plot(
        one.curve["recall"],
        one.curve["precision"],
        color=colour,
        linestyle=style,
        linewidth=1.9 if one.own else 1.1,
        zorder=level,
    )
    axes.plot(
        one.recall,
        one.precision,
        "o",
        ms=5,
        zorder=level,
        markerfacecolor=colour,
        markeredgecolor="white",
        markeredgewidth=0.8,
    )
    return line
