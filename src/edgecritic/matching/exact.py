"""CbM: the exact one-to-one matching, for one pair of maps or kept up to date under change."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, Spacing, as_mask, as_spacing, as_tolerance
from edgecritic.kernels import assign
from edgecritic.kernels.grid import Grid, Neighbourhood
from edgecritic.matching.base import Matching, Pair, strategy
from edgecritic.matching.graph import outlier_cost
from edgecritic.matching.reach import reach_of

__all__ = ["exact", "ExactState"]

MOST_LINKS = 2**28
"""More pairs within reach than this (2 GiB) are refused."""

_BLOCK_SIDE = 16
_PRICE_BITS = 60
_LEAST_HASH_BITS = 12
_MOST_HASH_BITS = 32


@strategy(
    "exact",
    one_to_one=True,
    reach="either",
    reference="Martin, Fowlkes & Malik 2004, doi:10.1109/TPAMI.2004.1273918 (solved exactly)",
)
def exact(pair: Pair, *, window: int | None = None) -> Matching:
    """Match one to one at the least total cost; exact, and the same on every machine.

    Minimises Σ round(100·d) + ow·(candidates without a partner) over all one-to-one matchings within
    the tolerance t, ow = ceil(10⁴·t): as many matches as possible (unless a chain of moves would cost
    more than 100·t pixels), and among those the shortest. d and t are in pixels, or in units of the
    smallest spacing. Among equal optima a hash of the pixel positions decides.

    Parameters
    ----------
    pair : Pair
    window : odd int, optional
        Look in a square (cube) of this side, in pixels, instead of a disk (ball) of radius t; t is
        then the distance to its corner.
    """
    around, limit = reach_of(pair, window)
    grid = Grid.around(pair.candidate.shape, around.radii)
    rows, columns = _in_blocks(grid, pair.candidate), _in_blocks(grid, pair.truth)
    links = _link_rows(grid, rows, columns, around)
    state = _new_state(grid, rows, columns, outlier_cost(limit, pair.spacing))
    assign.solve(links, state)
    matched = np.flatnonzero(state.column_of >= 0)
    return Matching.from_pairs(
        pair, grid.raster(rows[matched]), grid.raster(columns[state.column_of[matched]])
    )


class ExactState:
    """The exact matching against one truth while candidate pixels come and go.

    After every `update` the matching is the optimum that `exact` finds for the pixels present, down to
    the same set of matched pixels. A threshold sweep is a sequence of updates.

    Parameters
    ----------
    truth : array_like, 2-D or 3-D
    tolerance, relative_tolerance, spacing
        As for `edgecritic.match`.
    window : odd int, optional
        As for the strategy ``exact(window=…)``.
    universe : array_like of the truth's shape, optional
        The pixels that may ever be present (default: all); a small universe saves memory.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.zeros((5, 5), bool)
    >>> truth[2, 1:4] = True
    >>> state = ExactState(truth, tolerance=1)
    >>> state.update(added=[6, 7, 8])  # row 1, columns 1 to 3
    >>> state.matches, state.cost
    (3, 300)
    >>> state.update(added=[11], removed=[6, 8])
    >>> state.matches, state.cost
    (2, 100)
    """

    def __init__(
        self,
        truth: Any,
        *,
        tolerance: float | None = None,
        relative_tolerance: float | None = None,
        spacing: Spacing = None,
        window: int | None = None,
        universe: Any = None,
    ) -> None:
        mask = as_mask(truth, "truth")
        sizes = as_spacing(spacing, mask.ndim)
        limit = as_tolerance(mask.shape, sizes, tolerance, relative_tolerance)
        around, limit = reach_of(Pair(mask, mask, sizes, limit), window)
        self.shape = mask.shape
        self._grid = Grid.around(mask.shape, around.radii)
        possible = np.ones(mask.shape, dtype=np.bool_) if universe is None else as_mask(universe, "universe")
        if possible.shape != mask.shape:
            raise InputError(f"universe must have the truth's shape {mask.shape}, got {possible.shape}")
        self._rows = self._grid.locate(possible)
        self._columns = self._grid.locate(mask)
        self._number = np.full(mask.size, -1, dtype=np.int32)
        self._number[self._grid.raster(self._rows)] = np.arange(self._rows.size, dtype=np.int32)
        self._row_links = _link_rows(self._grid, self._rows, self._columns, around)
        self._column_links = assign.Links(*assign.links_of_columns(*self._row_links, self._columns.size))
        self.outlier_cost = outlier_cost(limit, sizes)
        self._state = _new_state(self._grid, self._rows, self._columns, self.outlier_cost)

    def update(self, *, added: Any = (), removed: Any = ()) -> None:
        """Remove and add candidate pixels, given by raster index (``row * columns + column``)."""
        gone, new = self._find(removed, "removed"), self._find(added, "added")
        if np.any(self._state.column_of[gone] == assign.ABSENT):
            raise InputError("removed: at least one pixel is not present")
        present = self._state.column_of[new] != assign.ABSENT
        if np.any(present & ~np.isin(new, gone)):
            raise InputError("added: at least one pixel is present already")
        assign.update(self._row_links, self._column_links, self._state, gone, new)

    @property
    def matches(self) -> int:
        """Number of matched pairs."""
        return int(np.count_nonzero(self._state.row_of >= 0))

    @property
    def present(self) -> BoolArray:
        """Mask of the candidate pixels that are present."""
        return self._mask(self._rows[self._state.column_of != assign.ABSENT])

    @property
    def matched_candidate(self) -> BoolArray:
        """Mask of the candidate pixels that are matched."""
        return self._mask(self._rows[self._state.column_of >= 0])

    @property
    def matched_truth(self) -> BoolArray:
        """Mask of the truth pixels that are matched."""
        return self._mask(self._columns[self._state.row_of >= 0])

    @property
    def cost(self) -> int:
        """Σ round(100·d) over the matched pairs + ow per present candidate without a partner."""
        column_of = self._state.column_of
        alone = int(np.count_nonzero(column_of == assign.ALONE))
        starts, others, costs = self._row_links
        rows = np.repeat(np.arange(self._rows.size), np.diff(starts))
        return int(costs[others == column_of[rows]].sum()) + self.outlier_cost * alone

    def _find(self, raster: Any, name: str) -> NDArray[np.int32]:
        pixels = np.atleast_1d(np.asarray(raster, dtype=np.int64))
        if np.unique(pixels).size != pixels.size:
            raise InputError(f"{name}: a pixel is named twice")
        if pixels.size and not (pixels.min() >= 0 and pixels.max() < self._number.size):
            raise InputError(f"{name}: raster indices must lie in 0 … {self._number.size - 1}")
        numbers = self._number[pixels]
        if np.any(numbers < 0):
            raise InputError(f"{name}: at least one pixel is not in the universe of this state")
        return np.ascontiguousarray(numbers)

    def _mask(self, flat: NDArray[np.int64]) -> BoolArray:
        mask = np.zeros(self.shape, dtype=np.bool_)
        mask.reshape(-1)[self._grid.raster(flat)] = True
        return mask


def _in_blocks(grid: Grid, mask: BoolArray) -> NDArray[np.int64]:
    """Return the flat indices of the pixels that are set; those of a volume block by block.

    Searches run over neighbouring pixels; in blocks these are neighbours in memory too.
    """
    flat = grid.locate(mask)
    if mask.ndim == 2:
        return flat
    block = np.zeros(flat.shape, dtype=np.int64)
    rest = flat
    for stride, size in zip(grid.strides, grid.padded, strict=True):
        step = rest // stride
        rest = rest - step * stride
        block = block * (size // _BLOCK_SIDE + 1) + step // _BLOCK_SIDE
    return flat[np.argsort(block, kind="stable")]


def _link_rows(
    grid: Grid, rows: NDArray[np.int64], columns: NDArray[np.int64], around: Neighbourhood
) -> assign.Links:
    columns_at = np.full(grid.size, -1, dtype=np.int32)
    columns_at[columns] = np.arange(columns.size, dtype=np.int32)
    steps = grid.flat_offsets(around.offsets)
    links = assign.Links(*assign.links_of_rows(rows, columns_at, steps, around.costs, MOST_LINKS))
    if links.start[-1] < 0:
        raise InputError(
            f"more than {MOST_LINKS:,} pairs of pixels lie within the tolerance, which do not fit in memory; "
            "give a smaller tolerance"
        )
    return links


def _new_state(
    grid: Grid, rows: NDArray[np.int64], columns: NDArray[np.int64], alone_cost: int
) -> assign.State:
    """Make a state without rows; prices have room for the position hashes in their low bits."""
    column_bits = int(columns.size).bit_length() + 1
    hash_bits = min(_MOST_HASH_BITS, _PRICE_BITS - alone_cost.bit_length() - column_bits)
    if hash_bits < _LEAST_HASH_BITS:
        raise InputError(
            f"{columns.size:,} truth pixels at an unmatched cost of {alone_cost} exceed 64-bit prices; "
            "give a smaller tolerance"
        )
    scale = 1 << (hash_bits + column_bits)
    idle = -_scatter(grid.raster(columns), hash_bits, 0x9E3779B97F4A7C15)
    nodes = max(rows.size, columns.size)
    return assign.State(
        column_of=np.full(rows.size, assign.ABSENT, dtype=np.int32),
        row_of=np.full(columns.size, assign.ALONE, dtype=np.int32),
        u=np.zeros(rows.size, dtype=np.int64),
        v=idle.copy(),
        dummy=alone_cost * scale - _scatter(grid.raster(rows), hash_bits, 0xD1B54A32D192ED03),
        idle=idle,
        scale=np.array([scale], dtype=np.int64),
        reach=np.full(nodes, 2**62, dtype=np.int64),
        via=np.empty(nodes, dtype=np.int32),
        seen=np.empty(nodes, dtype=np.int32),
        done=np.empty(nodes, dtype=np.int32),
        heap_key=np.empty(2 * nodes + 64, dtype=np.int64),
        heap_node=np.empty(2 * nodes + 64, dtype=np.int32),
    )


def _scatter(raster: NDArray[np.int64], bits: int, factor: int) -> NDArray[np.int64]:
    """Mix positions into `bits` bits; a bijection, so that no two of 2**bits positions share a value."""
    mask, half = np.uint64((1 << bits) - 1), np.uint64(bits // 2)
    mixed = raster.astype(np.uint64) & mask
    for _ in range(3):
        mixed = (mixed * np.uint64(factor | 1)) & mask
        mixed ^= mixed >> half
    return mixed.astype(np.int64)
