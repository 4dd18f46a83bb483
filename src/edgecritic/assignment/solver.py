"""The exact solver: links within reach, prices with position hashes, the optimum."""

from __future__ import annotations

import functools
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from edgecritic.assignment.graph import near_pairs
from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, Indices
from edgecritic.kernels._jit import is_plain, plainly
from edgecritic.kernels.assign import solve
from edgecritic.kernels.auction import MANY_ROWS
from edgecritic.kernels.blocks import block_by_block, blocks_of
from edgecritic.kernels.grid import Grid, Neighbourhood
from edgecritic.kernels.hashing import Hashing, salts, scatter
from edgecritic.kernels.links import Links, Numbered, count_reached, links_of_rows, number_cells
from edgecritic.kernels.state import State, new_state
from edgecritic.kernels.windows import Windows, windows_of

__all__ = [
    "solved",
    "empty_state",
    "salt",
    "hashing",
    "surroundings",
    "in_blocks",
    "placed",
    "link_numbered",
    "link_rows",
    "link_scarcer",
    "too_many_links",
    "MOST_LINKS",
]

MOST_LINKS = 2**28
"""More pairs within reach than this (2 GiB) are refused."""

_STEPS_TO_PLACE = 3  # a pixel in its block, and more than it takes: a volume of many needs Numba anyway
_STEPS_TO_SALT = 2  # a pixel
_SMALL_REACH = 5000  # offsets; what is made of fewer is kept for maps of the same shape
_WORTH_RELINKING = 1.05  # so many times more pixels, and the searches cost more than linking anew
_PRICE_BITS = 60
_LEAST_HASH_BITS = 12
_MOST_HASH_BITS = 32
_CANDIDATE_FACTOR = 0xD192ED03
_TRUTH_FACTOR = 0x7F4A7C15


def solved(
    links: Links,
    size: int,
    candidates: Indices,
    truths: Indices,
    alone_cost: int,
    salted: int,
    *,
    swapped: bool = False,
) -> State:
    """Solve a whole problem; see `_alone_costs` for the arguments."""
    return solve(links, *_alone_costs(size, candidates, truths, alone_cost, salted, swapped=swapped))


def in_blocks(grid: Grid, mask: BoolArray) -> Indices:
    """Return the flat indices of the pixels that are set; those of a volume block by block."""
    return placed(grid, mask)[1]


def placed(grid: Grid, mask: BoolArray) -> tuple[Indices, Indices]:
    """Return raster and flat indices of the pixels that are set.

    Those of a volume come block by block (`edgecritic.kernels.blocks`).
    """
    raster = mask.reshape(-1).nonzero()[0]
    if len(grid.shape) == 2:
        return raster, grid.flatten(raster)
    with plainly(_STEPS_TO_PLACE * raster.size + math.prod(blocks_of(grid.shape, grid.radii))):
        return block_by_block(raster, grid.shape, grid.radii, grid.strides)


def link_scarcer(
    grid: Grid, candidates: Indices, truths: Indices, around: Neighbourhood
) -> tuple[bool, Links]:
    """Link the side that has fewer pixels within reach of the other; say whether that is the truth.

    A pixel of the scarcer side finds a partner nearby. One of the other side often has to search through
    all that it can reach, only to learn that nobody there is free.
    """
    swapped = truths.size < candidates.size
    sides = (truths, candidates) if swapped else (candidates, truths)
    links = link_rows(grid, *sides, around)
    rows = np.count_nonzero(links.start[1:] > links.start[:-1])
    if rows > _WORTH_RELINKING * _count_reached(links, sides[1].size):
        swapped, links = not swapped, link_rows(grid, sides[1], sides[0], around)
    return swapped, links


def _count_reached(links: Links, columns: int) -> int:
    """Return how many of so many columns have a link; NumPy is quicker than a kernel that is not compiled."""
    return int(np.count_nonzero(np.bincount(links.other))) if is_plain() else count_reached(links, columns)


def link_rows(
    grid: Grid, rows: Indices, columns: Indices, around: Neighbourhood, *, threads: int = 2
) -> Links:
    """Link every row with the columns within reach; both are flat indices of the grid."""
    if is_plain():
        return _linked_plainly(grid, rows, columns, around)
    near, steps = surroundings(grid, around)
    numbered = number_cells(grid.size, columns)
    if threads == 1 or rows.size < MANY_ROWS:
        return link_numbered(rows, numbered, near, 0, steps, around.costs)
    with ThreadPoolExecutor(2) as crew:
        halves = np.array_split(rows, 2)
        first, second = crew.map(
            lambda half: link_numbered(half, numbered, near, 0, steps, around.costs), halves
        )
    return _joined(first, second)


def _joined(first: Links, second: Links) -> Links:
    """Return the links of the rows of both."""
    if first.other.size + second.other.size > MOST_LINKS:
        raise too_many_links()
    return Links(
        np.append(first.start, second.start[1:] + first.start[-1]),
        np.append(first.other, second.other),
        np.append(first.cost, second.cost),
    )


def surroundings(grid: Grid, around: Neighbourhood) -> tuple[Windows, Indices]:
    """Return what is in sight of a pixel on a grid, as runs of bits and as offsets; small ones are kept."""
    small = around.costs.size < _SMALL_REACH
    return _kept_surroundings(grid, around) if small else _surroundings(grid, around)


def _surroundings(grid: Grid, around: Neighbourhood) -> tuple[Windows, Indices]:
    return windows_of(grid, around, [around.costs.size]), grid.flat_offsets(around.offsets)


_kept_surroundings = functools.lru_cache(maxsize=16)(_surroundings)


def _linked_plainly(grid: Grid, rows: Indices, columns: Indices, around: Neighbourhood) -> Links:
    """Make the same links with NumPy, which is quicker than kernels that are not compiled."""
    ends, other, costs = near_pairs(grid, around, rows, columns)
    order = np.argsort(ends, kind="stable")
    start = np.append(0, np.cumsum(np.bincount(ends, minlength=rows.size)))
    return Links(start, other[order].astype(np.int32), costs[order].astype(np.int32))


def link_numbered(
    rows: Indices, columns: Numbered, near: Windows, level: int, steps: Indices, costs: Indices
) -> Links:
    """Link every row with the columns within reach, where what belongs to the grid is made already."""
    links = links_of_rows(rows, columns, near, level, steps, costs, MOST_LINKS)
    if links is None:
        raise too_many_links()
    return links


def too_many_links() -> InputError:
    """Make the error for a neighbourhood that is too large."""
    return InputError(
        f"more than {MOST_LINKS:,} pairs of pixels lie within the tolerance, which do not fit in memory",
        remedy="give a smaller tolerance",
    )


def salt(truth: Indices) -> int:
    """Return a number that depends on the pixels of a truth only.

    It enters the hashes of the candidate pixels. Without it the same candidates would win the ties
    against every annotator, and fewer would be matched by any of them than by fair draws.
    """
    with plainly(_STEPS_TO_SALT * truth.size):
        return int(salts(truth, np.array([0, truth.size]))[0])


def empty_state(
    size: int,
    candidates: Indices,
    truths: Indices,
    alone_cost: int,
    salted: int,
    *,
    swapped: bool = False,
) -> State:
    """Make a state in which no row is present yet; see `_alone_costs` for the arguments."""
    return new_state(*_alone_costs(size, candidates, truths, alone_cost, salted, swapped=swapped))


def _alone_costs(
    size: int,
    candidates: Indices,
    truths: Indices,
    alone_cost: int,
    salted: int,
    *,
    swapped: bool,
) -> tuple[Indices, Indices, int]:
    """Return what staying alone costs each row and each column, and the scale of the costs of links.

    `size` is the number of pixels of the maps, `candidates` and `truths` are raster indices, `salted` the
    salt of the truth. The rows are the candidates, or the truths if `swapped`.
    """
    how = hashing(size, alone_cost, swapped=swapped)
    of_candidates = scatter(candidates + salted, how.bits, how.candidate_factor, how.most_candidate)
    of_truths = scatter(truths, how.bits, how.truth_factor, how.most_truth)
    sides = (of_truths, of_candidates) if swapped else (of_candidates, of_truths)
    return *sides, how.scale


def hashing(size: int, alone_cost: int, *, swapped: bool = False) -> Hashing:
    """Return how prices get the hashes of positions in maps of so many pixels.

    They have them in their low bits: few enough that all hashes of a matching together stay below one unit
    of cost. How many follows from `size` and `alone_cost` alone, so that every solver of the same problem
    breaks ties in the same way.

    The pixels that stay alone are those with the largest hashes, on both sides. As a match saves
    `alone_cost` once, it does not matter which side is charged for staying alone. A row that stays alone pays
    two largest hashes more, so that of two matchings of equal cost the one with more matches wins.
    """
    sum_bits = size.bit_length() + 1
    hash_bits = min(_MOST_HASH_BITS, _PRICE_BITS - alone_cost.bit_length() - sum_bits)
    if hash_bits < _LEAST_HASH_BITS:
        raise InputError(
            f"{size:,} pixels with a cost of {alone_cost} for one that is not matched exceed 64-bit prices",
            remedy="give a smaller tolerance",
        )
    scale = 1 << (hash_bits + sum_bits)
    most = (0, alone_cost * scale + (2 << hash_bits))
    return Hashing(hash_bits, _CANDIDATE_FACTOR, _TRUTH_FACTOR, most[not swapped], most[swapped], scale)
