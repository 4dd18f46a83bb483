"""Every choice that the numbers depend on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgecritic.report.sections import Cell, Record, Section
from edgecritic.report.view import View, pixels_text
from edgecritic.tables import clean

__all__ = ["ORDER", "section"]

ORDER = 110

WORDS = {
    "id": "Name",
    "title": "Title",
    "relative_tolerance": "Tolerance, share of the diagonal",
    "tolerance": "Tolerance",
    "tolerance_pixels": "Tolerance on these images",
    "judges": "Judges",
    "strategy": "Matching",
    "thresholds": "Thresholds",
    "threshold_floor": "Threshold floor",
    "zero_threshold": "Extra threshold 0",
    "thin": "Thinning",
    "truth": "Boundaries of truths",
    "mask": "Masks, with regard to thinning",
    "nms": "Non-maximum suppression",
    "ap_rule": "AP rule",
    "duplicates": "Points of equal recall",
    "classes": "Classes",
    "source": "Source",
    "notes": "Notes",
    "digest": "Digest",
}


def section(view: View) -> Section:
    """Return the protocol in words."""
    known = [*WORDS, *(key for key in view.protocol if key not in WORDS)]
    items = tuple(
        (
            clean(WORDS.get(key, key)),
            Cell(text=_text(key, view.protocol[key], view.unit), code=key == "digest"),
        )
        for key in known
        if view.protocol.get(key) not in (None, "") and key != "tolerance_unit"
    )
    lead = "The choices these numbers depend on. Numbers of another protocol must not be mixed with them."
    return Section(key="protocol", title="Protocol", lead=lead, blocks=(Record(items=items),))


def _text(key: str, value: Any, unit: str = "") -> str:
    if key == "tolerance_pixels":
        return pixels_text(value, unit)
    if key == "tolerance":
        return f"{value:g} {unit}"
    if isinstance(value, Mapping):
        parts = (f"{name} {_text(name, one)}" for name, one in value.items() if one not in (None, "", [], ()))
        return clean("; ".join(parts))
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list | tuple):
        return clean(", ".join(f"{item:g}" if isinstance(item, float) else str(item) for item in value))
    return f"{value:g}" if isinstance(value, float) else clean(value)
