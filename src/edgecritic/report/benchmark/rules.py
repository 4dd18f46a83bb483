"""The average precision by every rule."""

from __future__ import annotations

from edgecritic.report.sections import Cell, Section, Table
from edgecritic.report.view import View, short
from edgecritic.tables import clean

__all__ = ["ORDER", "section"]

ORDER = 40


def section(view: View) -> Section | None:
    """Return the average precision by every rule, the protocol's own marked."""
    order = [detector for detector in view.ranked if detector.get("ap_rules")]
    names = list(dict.fromkeys(rule for detector in order for rule in detector["ap_rules"]))
    if not names:
        return None
    heads = [
        Cell(text=clean(name), strong=True, note="printed") if clean(name) == view.ap_rule else clean(name)
        for name in names
    ]
    table = Table(
        name="rules",
        title="Average precision by rule",
        header=("Detector", *heads),
        body=tuple(
            (view.name(d["name"]), *(short(d["ap_rules"].get(name), 4) for name in names)) for d in order
        ),
    )
    lead = "Four rules are in circulation, and papers seldom say which they used. Compare like with like."
    return Section(key="rules", title="Average precision", lead=lead, blocks=(table,))
