"""The one-to-one matching problem: who is matched with whom, and the prices that prove it best.

The problem: minimise Σ cost(row, column) over the matched pairs + Σ alone[row] over the rows that stay
alone + Σ alone[column] over the columns that stay alone. Rows (candidate pixels) and columns (truth pixels)
that are near each other are linked; all costs are integers, and no column's cost of staying alone is above
0.

Every row and column has a price. Whenever no kernel is running:

* cost − price[row] − price[column], the *reduced cost*, is ≥ 0 on every link of a present row, and 0 on every
  matched link;
* price ≤ alone on both sides, with equality for a present row, and for a column, that stays alone.

So the prices prove the matching best: of any matching, the reduced costs of its links and alone − price of
what it leaves alone are at least 0, and here they are all 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import Int32s, Int64s

__all__ = ["ABSENT", "ALONE", "FAR", "Side", "State", "new_state"]

ALONE = -1
"""Mate of a present row or column that is matched to nothing."""

ABSENT = -2
"""Mate of a row that is not in the problem at the moment."""

FAR = np.int64(2**62)
"""Farther than any distance."""


class Side(NamedTuple):
    """The rows or the columns: the mate and the price of each, and what it costs to stay alone.

    No price ever exceeds `price_limit`.
    """

    mate: Int32s
    price: Int64s
    alone: Int64s
    price_limit: np.int64


class State(NamedTuple):
    """A matching and its prices; `scale` turns the costs of links, stored unscaled, into units of prices."""

    rows: Side
    columns: Side
    scale: np.int64


@kernel
def new_state(alone_rows: Int64s, alone_columns: Int64s, scale: int) -> State:
    """Make the state of a problem whose rows are all absent."""
    row_mate, column_mate = np.empty(alone_rows.size, np.int32), np.empty(alone_columns.size, np.int32)
    row_price, column_price = np.empty(alone_rows.size, np.int64), np.empty(alone_columns.size, np.int64)
    limit = np.int64(0)
    for row in range(alone_rows.size):
        row_mate[row] = ABSENT
        row_price[row] = 0
        limit = max(limit, alone_rows[row])
    for column in range(alone_columns.size):
        column_mate[column] = ALONE
        column_price[column] = alone_columns[column]
    rows = Side(row_mate, row_price, alone_rows, limit)
    return State(rows, Side(column_mate, column_price, alone_columns, np.int64(0)), np.int64(scale))
