"""Precision over recall, drawn by the script of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgecritic.report.sections import Cell, Chart, Section
from edgecritic.report.view import Series, View, short

__all__ = ["ORDER", "section", "rounded"]

ORDER = 20

DIGITS = 5
"""Digits of the numbers that charts are drawn from."""

HELP = (
    "Point at the plot, tap it, or focus it and use the arrow keys (← → along a curve, ↑ ↓ between "
    "curves) to read threshold, precision, recall and F. Pale lines join points of equal F; dots mark each "
    "detector’s ODS point."
)


def section(view: View) -> Section | None:
    """Return the curves, and the legend that switches them."""
    if not view.series:
        return None
    legend = [
        Cell(text=one.name, mark=short(one.f), swatch=rank, note="" if one.own else "given curve")
        for rank, one in enumerate(view.series)
    ]
    human = view.human
    if human:
        legend.append(Cell(text="Human, measured", mark=short(human["f"]), dot=True))
    chart = Chart(
        kind="curves",
        label="Precision over recall",
        data={
            "series": [_series(one) for one in view.series],
            "human": rounded({key: human[key] for key in ("f", "precision", "recall")}) if human else None,
        },
        legend=tuple(legend),
        head="F at ODS",
        help=HELP,
        image="pr.svg",
    )
    return Section(key="curves", title="Precision and recall", blocks=(chart,))


def _series(one: Series) -> Any:
    columns = {key[0]: one.curve[key] for key in ("recall", "precision", "f")}
    best = {"f": one.f, "r": one.recall, "p": one.precision, "t": one.threshold}
    return rounded(
        {"name": one.name, "own": one.own, "best": best, "t": one.curve.get("threshold"), **columns}
    )


def rounded(value: Any) -> Any:
    """Return data of a chart with fewer digits."""
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, Mapping):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    return value
