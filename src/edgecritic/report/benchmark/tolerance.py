"""ODS and OIS over the tolerance, as a chart and as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from edgecritic.report.benchmark.curves import rounded
from edgecritic.report.sections import Chart, Content, Section, Table
from edgecritic.report.view import View, pixels_text, short
from edgecritic.tables import clean

__all__ = ["ORDER", "section"]

ORDER = 50


def section(view: View) -> Section | None:
    """Return how the scores fall with the tolerance, if they were measured."""
    order = [detector for detector in view.ranked if detector.get("tolerances")]
    if not order:
        return None
    lines = [
        {
            "name": clean(detector["name"]),
            "style": view.places[clean(detector["name"])],
            "points": rounded([_point(row) for row in detector["tolerances"]]),
        }
        for detector in order
    ]
    rows: list[tuple[Content, ...]] = []
    for detector in order:
        for row in sorted(detector["tolerances"], key=lambda one: -(_point(one)[0] or 0)):
            share = row.get("relative_tolerance")
            rows.append(
                (
                    view.name(detector["name"]),
                    pixels_text(row.get("pixels"), view.unit) or "–",
                    "–" if share is None else f"{share:g}",
                    short(row["ods"]),
                    short(row["ois"]),
                )
            )
    table = Table(
        name="tolerance",
        title="ODS and OIS by tolerance",
        header=("Detector", "Tolerance", "Share of diagonal", "ODS", "OIS"),
        body=tuple(rows),
        folded=True,
    )
    label = "ODS and OIS over tolerance; the numbers are in the table below"
    chart = Chart(kind="lines", label=label, data={"tolerances": lines, "unit": view.unit})
    lead = "How the scores fall when edges must lie closer to the truth. Thick lines: ODS; thin lines: OIS."
    return Section(key="tolerance", title="Tolerance", lead=lead, blocks=(chart, table))


def _point(row: Mapping[str, Any]) -> list[float | None]:
    """Return (pixels, share of the diagonal, ODS, OIS); of a range of pixels the middle."""
    pixels = row.get("pixels")
    middle = sum(pixels) / 2 if isinstance(pixels, Sequence) else pixels
    return [middle, row.get("relative_tolerance"), row["ods"], row["ois"]]
