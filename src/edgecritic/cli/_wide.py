"""Tables that are wider than a terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

__all__ = ["terminal_width", "blocks"]


def terminal_width() -> int | None:
    """Return how many columns the terminal has, ``None`` where stdout is a file or a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def blocks(header: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None) -> str:
    """Return a table; columns that do not fit go into further tables below, with the first column again.

    Parameters
    ----------
    header, rows : sequences of str
        All but the first column are right-aligned.
    width : int, optional
        Columns of text; those of the terminal if not given.

    Examples
    --------
    >>> print(blocks(["image", "dice", "hd95"], [["a", "0.9", "2"], ["b", "0.8", "3"]], width=14))
    image  dice
    -----  ----
    a       0.9
    b       0.8
    <BLANKLINE>
    image  hd95
    -----  ----
    a         2
    b         3
    """
    from edgecritic.cli._output import table

    limit = width or terminal_width()
    sizes = [max(len(row[place]) for row in (header, *rows)) for place in range(len(header))]
    groups: list[list[int]] = [[]]
    for place in range(1, len(header)):
        taken = sizes[0] + sum(2 + sizes[each] for each in (*groups[-1], place))
        if limit is not None and groups[-1] and taken > limit:
            groups.append([])
        groups[-1].append(place)
    tables = [
        table(
            [[row[0], *(row[place] for place in group)] for row in rows],
            header=[header[0], *(header[place] for place in group)],
            right=range(1, len(group) + 1),
        )
        for group in groups
    ]
    return "\n\n".join(tables)
