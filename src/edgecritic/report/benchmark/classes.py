"""The classes: a leaderboard per class, and every number of each with a filter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgecritic.report.sections import Cell, Content, Section, Table
from edgecritic.report.text import table_text
from edgecritic.report.view import View, interval, short, span, stars
from edgecritic.tables import clean

__all__ = ["ORDER", "section", "class_text"]

ORDER = 15

_LEAD = (
    "The ODS of every class; MF(ODS) is their plain mean. The best of a row is bold. Stars: the class’s ODS "
    "differs from that of the leader of the whole table (paired test over images)."
)


def section(view: View) -> Section | None:
    """Return the ODS of every class by detector, and a table of all numbers that can be filtered by class."""
    if not view.classes:
        return None
    blocks = (_leaderboard(view), _numbers(view))
    aside = "Choose a heading to sort the second table, or a class to see its detectors alone."
    return Section(key="classes", title="Classes", lead=_LEAD, aside=aside, blocks=blocks)


def class_text(view: View, *, width: int) -> str:
    """Return the leaderboard per class for a terminal."""
    table = _leaderboard(view)
    body = tuple(tuple(_plain(content) for content in row) for row in table.body)
    header = ("class", *(_plain(head) for head in table.header[1:]))
    shown = Table(name="classes", title="", header=header, body=body, align="lr")
    return table_text(shown, width=width, shortened=0)


def _leaderboard(view: View) -> Table:
    rows: list[tuple[Content, ...]] = []
    for name in view.classes:
        values = [_of(detector, name) for detector in view.ranked]
        best = max(short(value["ods"]["f"]) for value in values if value)
        cells = [
            Cell(text="–")
            if value is None
            else Cell(
                text=short(value["ods"]["f"]),
                note=span(interval(value, "ods")),
                strong=len(view.ranked) > 1 and short(value["ods"]["f"]) == best,
                mark=stars(_p(view, detector, name)),
            )
            for detector, value in zip(view.ranked, values, strict=True)
        ]
        rows.append((clean(name), *cells, _images(values)))
    means = [Cell(text=short(detector["ods"]["f"]), strong=True) for detector in view.ranked]
    rows.append((Cell(text="MF(ODS), mean", strong=True), *means, ""))
    header: tuple[str | Cell, ...] = ("Class", *(view.name(one["name"]) for one in view.ranked), "Images")
    return Table(name="classes", title="ODS of every class", header=header, body=tuple(rows), align="lr")


def _numbers(view: View) -> Table:
    rows: list[tuple[Content, ...]] = []
    for detector in view.ranked:
        for name in view.classes:
            found = _of(detector, name)
            if found is None:
                continue
            rows.append(
                (
                    view.name(detector["name"]),
                    Cell(text=clean(name)),
                    Cell(text=short(found["ods"]["f"]), share=found["ods"]["f"]),
                    short(found["ods"]["precision"]),
                    short(found["ods"]["recall"]),
                    short(found["ods"].get("threshold")),
                    short(found["ois"]["f"]),
                    short(found.get("ap")),
                    short(found.get("r50")),
                    found.get("images"),
                )
            )
    return Table(
        name="class-scores",
        title="Every number of every class",
        header=("Detector", "Class", "ODS", "Precision", "Recall", "Threshold", "OIS", "AP", "R50", "Images"),
        body=tuple(rows),
        align="llr",
        searched="Class",
        note=f"AP by the rule {view.ap_rule}.",
    )


def _of(detector: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    found: Mapping[str, Any] | None = (detector.get("classes") or {}).get(name)
    return found


def _p(view: View, detector: Mapping[str, Any], name: str) -> float | None:
    """Return how likely it is that a class is equal for a detector and the leader."""
    wanted = {detector["name"], view.ranked[0]["name"]}
    for pair in view.results.get("comparisons") or ():
        if {pair["first"], pair["second"]} == wanted and len(wanted) == 2:
            test = ((pair.get("classes") or {}).get(name) or {}).get("ods")
            return None if test is None else float(test["p"])
    return None


def _images(values: list[Mapping[str, Any] | None]) -> int | None:
    return max((value.get("images") or 0 for value in values if value), default=None)


def _plain(content: Content) -> str:
    if isinstance(content, Cell):
        return content.text + content.mark
    return "" if content is None else str(content)
