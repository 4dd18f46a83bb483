"""Tables of text, for terminals and files: the one way that all rooms print columns.

Text from outside is shown and never obeyed: `plain` and `clean` take out what a terminal would act upon.
"""

from __future__ import annotations

import csv
import io
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

__all__ = [
    *("text_table", "cell_text", "arrow", "csv_text", "csv_cell"),
    *("clean", "plain", "columns", "shorten"),
]

_LEAST = 8
"""A column that is shortened keeps so many columns of text."""

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def text_table(
    rows: Sequence[Sequence[str]],
    header: Sequence[str] = (),
    *,
    align: str = "l",
    width: int | None = None,
    keep: int = 1,
    shortened: int | None = None,
    rule: str = "-",
) -> str:
    """Return aligned columns, two blanks apart.

    Parameters
    ----------
    rows : sequence of rows of str
    header : sequence of str
        Stands first, above a line of `rule` signs (none if that is empty).
    align : str
        ``l`` (left) or ``r`` (right) for each column; the last sign holds for all further ones.
    width : int, optional
        Columns of text. What does not fit goes into further tables below, each with the first columns again.
    keep : int
        How many first columns are repeated.
    shortened : int, optional
        A column whose texts lose their middle before other columns go into a further table.

    Examples
    --------
    >>> print(text_table([["exact", "12"], ["eps", "7"]], ["id", "hits"], align="lr"))
    id     hits
    -----  ----
    exact    12
    eps       7
    >>> print(text_table([["a", "0.9", "2"]], ["image", "dice", "hd95"], align="lr", width=14))
    image  dice
    -----  ----
    a       0.9
    <BLANKLINE>
    image  hd95
    -----  ----
    a         2
    """
    lines = [[cell and clean(cell) for cell in row] for row in ([header, *rows] if header else rows)]
    if not lines:
        return ""
    sizes = [max(columns(line[place]) for line in lines) for place in range(len(lines[0]))]
    if shortened is not None and width is not None:
        spare = width - sum(sizes) - 2 * (len(sizes) - 1)
        sizes[shortened] = max(min(sizes[shortened], sizes[shortened] + spare), min(sizes[shortened], _LEAST))
    if header and rule:
        lines.insert(1, [rule * size for size in sizes])
    tables = []
    for group in _groups(sizes, width, keep):
        shown = (
            "  ".join(
                _padded(line[place], sizes[place], align[min(place, len(align) - 1)]) for place in group
            )
            for line in lines
        )
        tables.append("\n".join(line.rstrip() for line in shown))
    return "\n\n".join(tables)


def _groups(sizes: Sequence[int], width: int | None, keep: int) -> list[list[int]]:
    """Return which columns stand in each table."""
    first = list(range(min(keep, len(sizes))))
    groups = [list(first)]
    for place in range(len(first), len(sizes)):
        taken = sum(sizes[each] + 2 for each in groups[-1]) + sizes[place]
        if width is not None and taken > width and len(groups[-1]) > len(first):
            groups.append(list(first))
        groups[-1].append(place)
    return groups


def _padded(text: str, size: int, side: str) -> str:
    shown = shorten(text, size)
    space = " " * (size - columns(shown))
    return space + shown if side == "r" else shown + space


def cell_text(cell: object, digits: int = 4) -> str:
    """Return a content as text of a table: a dash where there is none, numbers with some digits.

    Examples
    --------
    >>> cell_text(0.25), cell_text(None), cell_text(12), cell_text(float("nan"))
    ('0.2500', '–', '12', '–')
    """
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "–"
    if isinstance(cell, float):
        return f"{cell:.{digits}f}"
    return " ".join(str(cell).splitlines())


def arrow(better: str) -> str:
    """Return the sign of the direction of good, ``lower`` or ``higher``."""
    return "↓" if better == "lower" else "↑"


def csv_text(
    header: Sequence[object],
    rows: Iterable[Sequence[object]],
    written: Callable[[object], object] | None = None,
) -> str:
    """Return a CSV file: numbers in full, what is not known empty, no text that a spreadsheet would obey.

    `written` says how a cell is written, `csv_cell` unless told.
    """
    put = csv_cell if written is None else written
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(map(put, row) for row in (header, *rows))
    return stream.getvalue()


def csv_cell(cell: object) -> object:
    r"""Return a cell for a CSV file: text on one line, which no spreadsheet takes for a formula.

    Numbers and ``None`` stay as they are. Text that begins like a formula gets an apostrophe in front.

    Examples
    --------
    >>> csv_cell("=1+1"), csv_cell("-0.5"), csv_cell(-0.5)
    ("'=1+1", '-0.5', -0.5)
    """
    if not isinstance(cell, str) or not cell:
        return cell
    text = clean(cell)
    return f"'{text}" if text[0] in "=+-@" and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def plain(text: str, *, escape: bool = False) -> str:
    r"""Return text of many lines that a terminal shows and does not obey.

    Control characters, direction overrides and bytes that were not text become ``�``, or with `escape`
    what JSON writes for them.

    Examples
    --------
    >>> print(plain("net\x1b[31m"), plain("\x9b", escape=True))
    net�[31m \u009b
    """
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}" if escape else "�", text)


def clean(text: object) -> str:
    r"""Return text on one line that every encoding, terminal and font call can take.

    Control characters, direction overrides and bytes that were not text become ``�``.

    Examples
    --------
    >>> clean("net\x1b[31m")
    'net�[31m'
    """
    return "".join(sign if sign.isprintable() else "�" for sign in str(text)) or "(no name)"


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    Examples
    --------
    >>> columns("edge"), columns("邊緣")
    (4, 4)
    """
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        for sign in text
    )


def shorten(text: str, most: int = 36) -> str:
    """Return text of at most `most` columns; its middle goes, because names of runs differ at their ends.

    Examples
    --------
    >>> shorten("network_epoch_0012", 12)
    'networ…_0012'
    """
    if columns(text) <= most:
        return text
    first, last = text[: len(text) // 2], text[len(text) // 2 :]
    while columns(first) + columns(last) > most - 1:
        first, last = (first[:-1], last) if columns(first) > columns(last) + 1 else (first, last[1:])
    return f"{first}…{last}"
