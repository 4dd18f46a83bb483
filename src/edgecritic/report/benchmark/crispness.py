"""S-Eval and C-Eval side by side with average crispness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgecritic.report.sections import Content, Section, Table
from edgecritic.report.view import View, short

__all__ = ["ORDER", "section"]

ORDER = 30


def section(view: View) -> Section | None:
    """Return what was measured without suppression, and how crisp the maps are."""
    order = [d for d in view.ranked if d.get("ceval") or d.get("crispness")]
    if not order:
        return None
    both = any(detector.get("ceval") for detector in order)
    compared = ("S-Eval ODS", "OIS", "AP", "C-Eval ODS", "OIS", "AP", "Loss of ODS") if both else ()
    rows: list[tuple[Content, ...]] = []
    for detector in order:
        crisp = detector.get("crispness") or {}
        limits = f"{short(crisp['min'])}–{short(crisp['max'])}" if crisp.get("min") is not None else "–"
        scores = _seval_ceval(detector) if both else []
        rows.append((view.name(detector["name"]), *scores, short(crisp.get("mean")), limits))
    lead = "AC, the average crispness, is the share of strength that survives suppression."
    if both:
        lead = (
            "S-Eval is the protocol of this report. C-Eval leaves out suppression and thinning, so thick "
            f"edges cost precision. {lead}"
        )
    table = Table(
        name="crispness",
        title="S-Eval, C-Eval and average crispness" if both else "Average crispness",
        header=("Detector", *compared, "AC", "AC range"),
        body=tuple(rows),
    )
    return Section(key="crispness", title="Crispness", lead=lead, blocks=(table,))


def _seval_ceval(detector: Mapping[str, Any]) -> list[str]:
    """Return ODS, OIS and AP under the protocol and without suppression and thinning, and what ODS loses."""
    ceval = detector.get("ceval") or {}
    ods = (ceval.get("ods") or {}).get("f")
    return [
        short(detector["ods"]["f"]),
        short(detector["ois"]["f"]),
        short(detector.get("ap")),
        short(ods),
        short((ceval.get("ois") or {}).get("f")),
        short(ceval.get("ap")),
        short(None if ods is None else detector["ods"]["f"] - ods),
    ]
