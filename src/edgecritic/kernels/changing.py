"""The exact one-to-one matchings with several maps, kept optimal while candidate pixels come and go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Int32s, Int64s
from edgecritic.kernels.assign import add, settle
from edgecritic.kernels.links import Groups, WebOfLinks
from edgecritic.kernels.search import Search, new_search
from edgecritic.kernels.state import ABSENT, ALONE, State

__all__ = ["Changing", "new_changing", "sweep"]


class Changing(NamedTuple):
    """A problem that changes, and the counts that are kept of it.

    `partners` is how many of a pixel's rows are matched, `counts` is (matched rows, pixels with a partner).
    """

    web: WebOfLinks
    state: State
    search: Search
    partners: Int32s
    counts: Int64s


def new_changing(web: WebOfLinks, state: State) -> Changing:
    """Make the problem in which no pixel is present."""
    return Changing(
        web=web,
        state=state,
        search=new_search(max(state.rows.mate.size, state.columns.mate.size)),
        partners=np.zeros(web.rows_of.start.size - 1, dtype=np.int32),
        counts=np.zeros(2, dtype=np.int64),
    )


@kernel
def _count(pixel_of: Int32s, partners: Int32s, counts: Int64s, row: int, change: int) -> None:
    pixel = pixel_of[row]
    before = partners[pixel]
    partners[pixel] = before + change
    counts[0] += change
    counts[1] += int(before + change > 0) - int(before > 0)


@kernel
def _update(problem: Changing, removed: Int32s, added: Int32s) -> None:
    """Take rows out and bring rows in; the matching is optimal again at the end.

    New rows are brought in before the columns that lost their rows are settled: a row that moved by a
    pixel then simply takes over the column of its predecessor.
    """
    web, state, search, partners, counts = problem
    pixel_of, row_mate, columns = web.pixel_of, state.rows.mate, state.columns
    owed = np.empty(removed.size, dtype=np.int32)
    owed_count = 0
    for row in removed:
        column = row_mate[row]
        row_mate[row] = ABSENT
        if column >= 0:
            _count(pixel_of, partners, counts, row, -1)
            columns.mate[column] = ALONE
            if columns.price[column] < columns.alone[column]:
                owed[owed_count] = column
                owed_count += 1
    for row in added:
        loser = add(web.rows, state, search, row)
        if loser != row:
            _count(pixel_of, partners, counts, row, 1)
            if loser != ALONE:
                _count(pixel_of, partners, counts, loser, -1)
    for at in range(owed_count):
        column = owed[at]
        if columns.mate[column] == ALONE and columns.price[column] < columns.alone[column]:
            winner = settle(web.columns, state, search, column)
            if winner != ALONE:
                _count(pixel_of, partners, counts, winner, 1)


@kernel
def _rows_of(groups: Groups, step: int, rows_of: Groups) -> Int32s:
    """Return the rows of all pixels of one step."""
    first, last = groups.start[step], groups.start[step + 1]
    size = 0
    for at in range(first, last):
        pixel = groups.members[at]
        size += rows_of.start[pixel + 1] - rows_of.start[pixel]
    rows = np.empty(size, dtype=np.int32)
    size = 0
    for at in range(first, last):
        pixel = groups.members[at]
        for place in range(rows_of.start[pixel], rows_of.start[pixel + 1]):
            rows[size] = rows_of.members[place]
            size += 1
    return rows


@kernel
def sweep(problem: Changing, gained: Groups, lost: Groups) -> Int64s:
    """Bring and take the pixels of one step after the other; return the counts after each step."""
    steps = gained.start.size - 1
    counts = np.empty((steps, 2), dtype=np.int64)
    for step in range(steps):
        new = _rows_of(gained, step, problem.web.rows_of)
        gone = _rows_of(lost, step, problem.web.rows_of)
        _update(problem, gone, new)
        counts[step, 0] = problem.counts[0]
        counts[step, 1] = problem.counts[1]
    return counts
