"""Covering, PRI and VOI of the segments that the contours part."""

from __future__ import annotations

from edgecritic.report.regions import region_findings, region_table
from edgecritic.report.sections import Section
from edgecritic.report.view import View

__all__ = ["ORDER", "section"]

ORDER = 55


def section(view: View) -> Section | None:
    """Return how well the regions of detectors agree with those that people drew, if that was judged."""
    order = [detector for detector in view.ranked if detector.get("regions")]
    if not order:
        return None
    table = region_table(order, {one["name"]: view.name(one["name"]) for one in order})
    lead = " ".join(region_findings(order))
    return Section(key="regions", title="Regions", lead=lead, blocks=(table,))
