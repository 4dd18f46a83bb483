"""All paired comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgecritic.report.sections import Cell, Content, Section, Table
from edgecritic.report.view import View, p_text, short

__all__ = ["ORDER", "section"]

ORDER = 60
SCORES = ("ods", "ois", "ap")


def section(view: View) -> Section | None:
    """Return the differences of all pairs of detectors, with their intervals."""
    found = [
        pair for pair in view.results.get("comparisons") or () if any(pair.get(score) for score in SCORES)
    ]
    if not found:
        return None
    rows: tuple[tuple[Content, ...], ...] = tuple(
        (
            view.name(pair["first"]),
            view.name(pair["second"]),
            *(_gap(pair.get(score)) for score in SCORES),
            *(p_text((pair.get(score) or {}).get("p")) for score in SCORES),
        )
        for pair in found
    )
    names = [score.upper() for score in SCORES]
    header = ("First", "Second", *(f"Δ {name}" for name in names), *(f"p {name}" for name in names))
    table = Table(name="pairs", title="Paired comparisons", header=header, body=rows, align="llr")
    lead = (
        "First minus second on the same images, with its interval. "
        "Where an interval holds 0, these images cannot tell the two apart."
    )
    return Section(key="pairs", title="Pairs", lead=lead, blocks=(table,))


def _gap(difference: Mapping[str, Any] | None) -> Cell:
    if not difference:
        return Cell(text="–")
    sign = "+" if difference["difference"] > 0 else ""
    limits = f"{short(difference['low'])} … {short(difference['high'])}"
    return Cell(text=f"{sign}{short(difference['difference'])}", note=limits)
