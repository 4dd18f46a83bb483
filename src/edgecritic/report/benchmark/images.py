"""One row per detector and image; the script of the page sorts and filters them."""

from __future__ import annotations

from edgecritic.report.sections import Cell, Content, Section, Table
from edgecritic.report.view import View, short
from edgecritic.tables import clean

__all__ = ["ORDER", "section"]

ORDER = 80

PRINTED = 40
"""So many rows are printed on paper (by report.css) and written as text."""


def section(view: View) -> Section | None:
    """Return the scores of every image at its own best threshold."""
    rows: tuple[tuple[Content, ...], ...] = tuple(
        (
            clean(image["id"]),
            view.name(detector["name"]),
            Cell(text=short(image["f"]), share=image["f"]),
            *(short(image.get(key)) for key in ("precision", "recall", "threshold")),
            image.get("annotators"),
        )
        for detector in view.ranked
        for image in detector["per_image"]
    )
    if not rows:
        return None
    table = Table(
        name="images",
        title="Scores of every image at its own best threshold",
        header=("Image", "Detector", "F", "Precision", "Recall", "Threshold", "Annotators"),
        body=rows,
        align="llr",
        most=PRINTED,
        searched="Detector",
    )
    lead, aside = "Each image at its own best threshold.", "Choose a heading to sort."
    return Section(key="images", title="Images", lead=lead, aside=aside, blocks=(table,))
