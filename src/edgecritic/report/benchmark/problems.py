"""Failures and notes in plain words."""

from __future__ import annotations

from edgecritic.report.sections import Block, Notes, Section, Table, Text
from edgecritic.report.view import View, plural
from edgecritic.tables import clean

__all__ = ["ORDER", "section"]

ORDER = 100


def section(view: View) -> Section | None:
    """Return what could not be judged, and what should be known."""
    failures, notes = view.results.get("failures") or (), view.results.get("notes") or ()
    blocks: list[Block] = []
    if failures:
        words = "It is left out" if len(failures) == 1 else "They are left out"
        verb = "it does" if len(failures) == 1 else "they do"
        text = f"{words} of the scores above that need such a file; {verb} not count as zero."
        count = plural(len(failures), "file")
        blocks.append(Text(strong=f"{count} could not be evaluated.", text=text, kind="warn"))
        rows = tuple(
            (clean(one.get("id") or "–"), clean(one.get("detector") or "–"), clean(one["message"]))
            for one in failures
        )
        header = ("Image", "Detector", "What happened")
        blocks.append(Table(name="failures", title="Files that failed", header=header, body=rows, align="l"))
    if notes:
        blocks.append(Notes(lines=tuple(clean(note) for note in notes)))
    return Section(key="problems", title="Failures and notes", blocks=tuple(blocks)) if blocks else None
