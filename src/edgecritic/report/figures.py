"""The precision-recall figure of papers, drawn by matplotlib (extra ``report``)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from edgecritic.atomic import replace_file
from edgecritic.figures import HUMAN, UNDATED, drawing_settings, figure_bytes, new_figure
from edgecritic.protocols.plots import recall_curve, recall_frame
from edgecritic.report.view import View, short
from edgecritic.tables import columns, shorten

__all__ = ["draw_pr", "precision_recall_figure", "put_files", "write_pr"]

MOST_INSIDE = 8
"""With more entries the legend stands beside the axes."""


def precision_recall_figure(results: Mapping[str, Any]) -> Any:
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
        return _figure(View(results))


def draw_pr(results: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the contents of ``pr.svg``, ``pr.pdf`` and ``pr.png``; equal results give equal bytes."""
    with drawing_settings():
        figure = _figure(View(results))
        return {f"pr.{kind}": figure_bytes(figure, kind, dpi=200) for kind in UNDATED}


def put_files(contents: Mapping[str, bytes], folder: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write files into a folder, which is made if it does not exist, each whole or not at all."""
    files = {Path(folder) / name: content for name, content in contents.items()}
    for file, content in files.items():
        with replace_file(file) as stream:
            stream.write(content)
    return tuple(files)


def write_pr(results: Mapping[str, Any], folder: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write ``pr.svg``, ``pr.pdf`` and ``pr.png`` into a folder; return the files."""
    return put_files(draw_pr(results), folder)


def _figure(view: View) -> Any:
    series, human = view.series, view.human
    inside = len(series) + bool(human) <= MOST_INSIDE
    labels = [f"[F={short(one.f)}] {shorten(one.name)}" for one in series]
    beside = 0.8 + 0.075 * max(map(columns, labels), default=0)  # inches, at 8 pt
    width, side = (5.2 if inside else 5.2 + beside), 4.45
    figure = new_figure((width, 5.0), layout=None)
    axes = figure.add_axes((0.53 / width, 0.09, side / width, side / 5.0))
    recall_frame(axes)
    handles = [
        recall_curve(
            axes,
            (one.curve["recall"], one.curve["precision"]),
            (one.recall, one.precision),
            number=rank,
            level=10 + len(series) - rank,
            linewidth=1.9 if one.own else 1.1,
        )
        for rank, one in enumerate(series)
    ]
    if human:
        (dot,) = axes.plot(human["recall"], human["precision"], "o", color=HUMAN, ms=7, zorder=500)
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
