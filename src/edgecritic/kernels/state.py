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


def new_state(alone_rows: Int64s, alone_columns: Int64s, scale: int) -> State:
    """Make the state of a problem whose rows are all absent."""
    mates = np.empty(alone_rows.size, dtype=np.int32), np.empty(alone_columns.size, dtype=np.int32)
    mates[0].fill(ABSENT)
    mates[1].fill(ALONE)
    limit = np.int64(alone_rows.max() if alone_rows.size else 0)
    return State(
        Side(mates[0], np.zeros(alone_rows.size, dtype=np.int64), alone_rows, limit),
        Side(mates[1], alone_columns.copy(), alone_columns, np.int64(0)),
        np.int64(scale),
    )
