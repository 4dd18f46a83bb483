"""CbM: the exact one-to-one matching, for one pair of maps or kept up to date under change."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray
from edgecritic.kernels import assign
from edgecritic.kernels.grid import Grid, Neighbourhood
from edgecritic.kernels.links import Links, links_of_rows
from edgecritic.kernels.state import State, new_state
from edgecritic.matching.base import Matching, Pair, strategy
from edgecritic.matching.graph import outlier_cost
from edgecritic.matching.reach import reach_of

__all__ = ["exact", "salt", "solved", "empty_state", "too_many_links", "MOST_LINKS"]

MOST_LINKS = 2**28
"""More pairs within reach than this (2 GiB) are refused."""

_BLOCK_SIDE = 16
_PRICE_BITS = 60
_LEAST_HASH_BITS = 12
_MOST_HASH_BITS = 32
_ROW_FACTOR = 0xD1B54A32D192ED03
_COLUMN_FACTOR = 0x9E3779B97F4A7C15
_SALT_FACTOR = 0xBF58476D1CE4E5B9


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
    flat_rows, flat_columns = _in_blocks(grid, pair.candidate), _in_blocks(grid, pair.truth)
    links = _link_rows(grid, flat_rows, flat_columns, around)
    rows, columns = grid.raster(flat_rows), grid.raster(flat_columns)
    alone_cost = outlier_cost(limit, pair.spacing)
    state = solved(links, pair.candidate.size, rows, columns, alone_cost, salt(columns))
    matched = np.flatnonzero(state.column_of >= 0)
    return Matching.from_pairs(pair, rows[matched], columns[state.column_of[matched]])


def solved(
    links: Links,
    size: int,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    alone_cost: int,
    salted: int,
) -> State:
    """Solve a whole problem; see `empty_state` for the arguments."""
    state = empty_state(size, rows, columns, alone_cost, salted)
    assign.solve(links, state, assign.new_search(max(rows.size, columns.size)))
    return state


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
) -> Links:
    columns_at = np.full(grid.size, -1, dtype=np.int32)
    columns_at[columns] = np.arange(columns.size, dtype=np.int32)
    steps = grid.flat_offsets(around.offsets)
    links = Links(*links_of_rows(rows, columns_at, steps, around.costs, MOST_LINKS))
    if links.start[-1] < 0:
        raise too_many_links()
    return links


def too_many_links() -> InputError:
    """Make the error for a neighbourhood that is too large."""
    return InputError(
        f"more than {MOST_LINKS:,} pairs of pixels lie within the tolerance, which do not fit in memory; "
        "give a smaller tolerance"
    )


def salt(columns: NDArray[np.int64]) -> int:
    """Return a number that depends on the pixels of a truth only.

    It enters the hashes of the candidate pixels. Without it the same candidates would win the ties
    against every annotator, and fewer would be matched by any of them than by fair draws.
    """
    mixed = (columns.astype(np.uint64) + np.uint64(1)) * np.uint64(_SALT_FACTOR)
    return int(np.bitwise_xor.reduce(mixed ^ (mixed >> np.uint64(29)), initial=np.uint64(0)) >> np.uint64(2))


def empty_state(
    size: int,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    alone_cost: int,
    salts: int | NDArray[np.int64],
) -> State:
    """Make a state in which no row is present yet.

    `size` is the number of pixels of the maps, `rows` and `columns` are raster indices, `salts` the salt
    of the truth (one for every row if there are several truths). Prices have the
    position hashes in their low bits: few enough that all hashes of a matching together stay below one
    unit of cost. How many follows from `size` and `alone_cost` alone, so that every solver of the same
    problem breaks ties in the same way.
    """
    sum_bits = size.bit_length() + 1
    hash_bits = min(_MOST_HASH_BITS, _PRICE_BITS - alone_cost.bit_length() - sum_bits)
    if hash_bits < _LEAST_HASH_BITS:
        raise InputError(
            f"{size:,} pixels with a cost of {alone_cost} for one that is not matched exceed 64-bit prices; "
            "give a smaller tolerance"
        )
    scale = 1 << (hash_bits + sum_bits)
    return new_state(
        dummy=alone_cost * scale - _scatter(rows + salts, hash_bits, _ROW_FACTOR),
        idle=-_scatter(columns, hash_bits, _COLUMN_FACTOR),
        scale=scale,
    )


def _scatter(raster: NDArray[np.int64], bits: int, factor: int) -> NDArray[np.int64]:
    """Mix positions into `bits` bits; a bijection, so that no two of 2**bits positions share a value."""
    mask, half = np.uint64((1 << bits) - 1), np.uint64(bits // 2)
    mixed = raster.astype(np.uint64) & mask
    for _ in range(3):
        mixed = (mixed * np.uint64(factor | 1)) & mask
        mixed ^= mixed >> half
    return mixed.astype(np.int64)
