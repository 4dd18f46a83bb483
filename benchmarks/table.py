"""One table that grows line by line: every bar, what was measured, and whether it is met."""

from __future__ import annotations

import itertools
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import TextIO

from bars import NO_BAR, Bar

HEAD = ("part", "what", "measured", "bar", "")
PART, MARK, GAP = 10, 6, 2
NARROWEST, WIDEST = 72, 170


def mark(bar: Bar) -> str:
    """Return the last cell of a line.

    Examples
    --------
    >>> mark(Bar("matching", "thin", "38×", "≥ 8×", True))
    'met'
    """
    if bar.failed:
        return "ERROR"
    if bar.bar == NO_BAR:
        return ""
    return {True: "met", False: "MISSED", None: "–"}[bar.met]


class Table:
    """Writes bars as they come; long cells go on in the next line of their column."""

    def __init__(self, width: int | None = None, *, out: TextIO | None = None) -> None:
        wide = width or shutil.get_terminal_size((140, 24)).columns
        rest = max(NARROWEST, min(wide, WIDEST)) - PART - MARK - 4 * GAP
        what, measured = round(0.36 * rest), round(0.38 * rest)
        self.widths = (PART, what, measured, rest - what - measured, MARK)
        self.out = out or sys.stdout
        self.bars: list[Bar] = []

    def head(self) -> None:
        self._write(HEAD)
        self._write(tuple("─" * width for width in self.widths))

    def add(self, bar: Bar) -> None:
        same = bool(self.bars) and self.bars[-1].part == bar.part
        if self.bars and not same:
            print(file=self.out)
        self.bars.append(bar)
        self._write(("" if same else bar.part, bar.what, bar.measured, bar.bar, mark(bar)))

    def foot(self) -> str:
        """Return how many bars are met, missed, and could not be measured."""
        marks = [mark(bar) for bar in self.bars if bar.bar != NO_BAR]
        words = {"met": "met", "MISSED": "missed", "ERROR": "ended with an error", "–": "not measured"}
        counts = [f"{marks.count(key)} {text}" for key, text in words.items() if marks.count(key)]
        return f"{len(marks)} bars: {', '.join(counts) or 'nothing to do'}"

    def _write(self, cells: Sequence[str]) -> None:
        columns = [textwrap.wrap(cell, width) for cell, width in zip(cells, self.widths, strict=True)]
        for line in itertools.zip_longest(*columns, fillvalue=""):
            text = (" " * GAP).join(cell.ljust(width) for cell, width in zip(line, self.widths, strict=True))
            print(text.rstrip(), file=self.out, flush=True)
