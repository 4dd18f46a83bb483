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
from numpy.typing import NDArray

from edgecritic.kernels._jit import kernel

__all__ = ["ABSENT", "ALONE", "FAR", "Ints", "Places", "State", "new_state", "scatter"]

Ints = NDArray[np.int64]
Places = NDArray[np.int32]

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

    column_of: Places
    row_of: Places
    u: Ints
    v: Ints
    dummy: Ints
    idle: Ints
    scale: Ints
    most: Ints


def new_state(dummy: Ints, idle: Ints, scale: int) -> State:
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


@kernel
def scatter(positions: Ints, bits: int, factor: int) -> Ints:
    """Mix positions into `bits` bits, at most 32; a bijection of their last `bits` bits.

    Three rounds of multiplication by the last bits of the odd `factor` and of mixing high bits into low ones.
    """
    mask = np.uint64((1 << bits) - 1)
    half = np.uint64(bits // 2)
    odd = np.uint64(factor) & mask
    mixed = np.empty(positions.size, dtype=np.int64)
    for at in range(positions.size):
        value = np.uint64(positions[at]) & mask
        for _ in range(3):
            value = (value * odd) & mask
            value ^= value >> half
        mixed[at] = np.int64(value)
    return mixed
