"""Whether strengths are the shares of annotators who drew: reliability diagram and errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from edgecritic.figures import GREY, look
from edgecritic.report.sections import Content, Figure, Section, Table, draw
from edgecritic.report.view import View, short
from edgecritic.tables import clean

__all__ = ["ORDER", "section"]

ORDER = 57


def section(view: View) -> Section | None:
    """Return how far the strengths are calibrated, if it was measured."""
    order = [detector for detector in view.ranked if detector.get("calibration")]
    if not order:
        return None
    names = ("expected_error", "largest_error", "mean_error", "any_error", "brier")
    rows: list[tuple[Content, ...]] = [
        (view.name(one["name"]), *(short(one["calibration"].get(name)) for name in names)) for one in order
    ]
    table = Table(
        name="calibration",
        title="Strength against the share of annotators",
        header=("Detector", "Expected error", "Largest", "Mean", "Against any", "Brier"),
        body=tuple(rows),
    )
    lead = (
        "A calibrated strength of 0.7 is drawn by 70 % of the annotators. Expected error: the mean distance "
        "of strength and share, bins weighted by their pixels; against any: of strength and the share of "
        "pixels that any annotator drew."
    )
    return Section(key="calibration", title="Calibration", lead=lead, blocks=(_diagram(order), table))


def _diagram(order: Sequence[Any]) -> Figure:
    def paint(figure: Any) -> None:
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, label="calibrated")
        for place, one in enumerate(order):
            bins = [row for row in one["calibration"]["bins"] if row["strength"] is not None]
            points = [row["strength"] for row in bins], [row["drawn"] for row in bins]
            axes.plot(*points, marker="o", markersize=4, label=clean(one["name"]), **look(place))
        axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="strength", ylabel="share of annotators who drew it")
        axes.legend(frameon=False, loc="upper left")

    caption = "Mean share of annotators over mean strength, in bins of strength, over all images."
    return draw("calibration", "Reliability diagram", caption, paint, size=(5.0, 4.4))
