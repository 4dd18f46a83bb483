"""The one-to-one matching problem: who is matched with whom, and the prices that prove it best.

The problem: minimise Σ cost(row, column) over the matched pairs + Σ dummy[row] over the rows that stay
alone + Σ idle[column] over the columns that stay alone. Rows (candidate pixels) and columns (truth
pixels) that are near each other are linked; all costs are integers.

Prices u (rows) and v (columns) prove optimality. Whenever no kernel is running:

* cost − u − v ≥ 0 on every link of a present row, and = 0 on every matched link;
* u ≤ dummy, with equality for a row that stays alone;
* v ≤ idle, with equality for a column that stays alone.

The kernels of `edgecritic.kernels.assign` search on the reduced costs cost − u − v.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgecritic.kernels.arrays import Int32s, Int64s

__all__ = ["ABSENT", "ALONE", "FAR", "State", "new_state"]

ALONE = -1
"""Partner of a present row or column that is matched to nothing."""

ABSENT = -2
"""Partner of a row that is not in the problem at the moment."""

FAR = np.int64(2**62)
"""Farther than any distance."""


class State(NamedTuple):
    """A matching and its prices.

    Costs of links are stored unscaled; `scale` is the factor that turns them into the units of prices.
    No price of a row exceeds `most`, none of a column 0.
    """

    column_of: Int32s
    row_of: Int32s
    u: Int64s
    v: Int64s
    dummy: Int64s
    idle: Int64s
    scale: Int64s
    most: Int64s


def new_state(dummy: Int64s, idle: Int64s, scale: int) -> State:
    """Make the state of a problem whose rows are all absent."""
    return State(
        column_of=np.full(dummy.size, ABSENT, dtype=np.int32),
        row_of=np.full(idle.size, ALONE, dtype=np.int32),
        u=np.zeros(dummy.size, dtype=np.int64),
        v=idle.copy(),
        dummy=dummy,
        idle=idle,
        scale=np.array([scale], dtype=np.int64),
        most=np.array([dummy.max(initial=0)], dtype=np.int64),
    )
