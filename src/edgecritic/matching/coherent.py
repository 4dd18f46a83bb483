"""One-to-one matching in which neighbouring pixels are matched alike."""

from __future__ import annotations

import math
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from edgecritic.assignment.graph import outlier_cost
from edgecritic.assignment.reach import reach_of
from edgecritic.assignment.solver import in_blocks, link_scarcer, salt, solved
from edgecritic.errors import InputError
from edgecritic.ids import shown
from edgecritic.inputs import Indices
from edgecritic.kernels.coherence import Edge, kept_links, medians, raise_misfit, splat
from edgecritic.kernels.grid import COST_UNIT, Grid, Neighbourhood, box
from edgecritic.kernels.links import Links
from edgecritic.matching.base import Matching, Pair, strategy
from edgecritic.matching.exact import exact

__all__ = ["coherent"]

_ROUNDS = 2
_BEYOND = 2.0  # links above 1 are forbidden: by how much does not matter
_LEAST, _MOST = 1e-6, 1e12  # of the slack
_FINE = 1 << 20  # distances are whole numbers of this part of the smallest pixel side


class _Problem(NamedTuple):
    """Both sides and the links between them, of which `row` and `offset` are one per link."""

    grid: Grid
    sides: tuple[Edge, Edge]
    links: Links
    row: NDArray[np.int64]
    offset: NDArray[np.int64]
    spacing: NDArray[np.float64]
    unit: float


@strategy(
    "coherent",
    one_to_one=True,
    reach="radius",
    reference="this project; asked for by the survey of boundary matching by the group of C. Lopez-Molina",
)
def coherent(pair: Pair, *, slack: float | str = 1.5, steps: int = 5) -> Matching:
    """Match one to one so that neighbouring pixels go the same way.

    As ``exact``, with two terms added to the cost round(100·d) of a pair with offset δ. Around a pixel, W are
    the pixels of its map within `steps` steps to direct or diagonal neighbours in the map.

    - e: the fragment W of the candidate moved by δ, and that of the truth moved by −δ, each has a mean
      distance from the other map (distances above the tolerance t count as t); e is the larger one.
    - g, in two further rounds: the larger of the distances of δ from the component-wise medians of the
      offsets that the round before gave to the pixels of both W; without any, from 0.

    Pairs with e or g above `slack` are forbidden; otherwise each adds ⌊100·t·e/slack + ½⌋. So two fragments
    laid onto each other may lie `slack` apart on average, a pair may deviate by `slack` from its neighbours,
    and that costs as much as one tolerance. It leaves accidental matches alone and loses some true ones: F
    is lower than that of ``exact`` and not comparable with published numbers.

    Parameters
    ----------
    pair : Pair
    slack : float or "inf"
        In pixels, or in units of the smallest pixel size; ``inf`` is ``exact``.
    steps : int
        Half the length of the fragments; 0 is ``exact``.

    Examples
    --------
    >>> import numpy as np
    >>> from edgecritic.matching import match
    >>> truth, found = np.zeros((2, 20, 20), bool)
    >>> truth[10, 2:18] = found[12, 2:18] = True
    >>> match(found, truth, strategy="coherent", tolerance=4).tp
    16
    >>> match(found, truth.T, strategy="coherent", tolerance=4).tp
    0
    """
    slack = _checked(slack, steps)
    if math.isinf(slack) or steps == 0:
        return exact(pair)
    around, limit = reach_of(pair)
    grid = Grid.around(pair.candidate.shape, [max(radius, 1) for radius in around.radii])
    flat = (in_blocks(grid, pair.candidate), in_blocks(grid, pair.truth))
    numbers = np.arange(around.costs.size)
    numbers.flags.writeable = False  # as costs are, so that the kernel is compiled for one type
    swapped, links = link_scarcer(grid, *flat, around._replace(costs=numbers))
    problem = _problem(pair, grid, flat[::-1] if swapped else flat, links, around)
    full = COST_UNIT * limit / problem.unit
    misfit = np.minimum(_misfit(problem, around, limit, steps) / slack, _BEYOND)
    base = around.costs[links.cost] + np.floor(full * misfit + 0.5).astype(np.int64)
    near = misfit <= 1
    candidates, truths = grid.raster(flat[0]), grid.raster(flat[1])

    def solve(cost: NDArray[np.int64], keep: NDArray[np.bool_]) -> tuple[Indices, Indices]:
        chosen = kept_links(links.start, links.other, cost, keep)
        given = (pair.candidate.size, candidates, truths, outlier_cost(limit, pair.spacing), salt(truths))
        state = solved(chosen, *given, swapped=swapped)
        rows = np.flatnonzero(state.rows.mate >= 0)
        return rows, state.rows.mate[rows].astype(np.int64)

    pairs = solve(base, near)
    for _ in range(_ROUNDS):
        deviation = np.minimum(_deviation(problem, *pairs, steps) / slack, _BEYOND)
        cost = base + np.floor(full * deviation + 0.5).astype(np.int64)
        before, pairs = pairs, solve(cost, near & (deviation <= 1))
        if all(map(np.array_equal, before, pairs)):
            break
    found, wanted = reversed(pairs) if swapped else pairs
    return Matching.from_pairs(pair, candidates[found], truths[wanted])


def _checked(slack: object, steps: object) -> float:
    limit = math.inf if slack == "inf" else slack
    if isinstance(limit, int | float) and not isinstance(limit, bool):
        known = _LEAST <= limit <= _MOST or limit == math.inf
    else:
        known = False
    if not known:
        raise InputError(
            f"slack must be a number of pixels from {_LEAST:g} to {_MOST:g}, or inf, got {shown(slack)}"
        )
    if isinstance(steps, bool) or not isinstance(steps, int) or not 0 <= steps <= 100:
        raise InputError(f"steps must be a whole number from 0 to 100, got {steps!r}")
    return float(cast(float, limit))


def _problem(
    pair: Pair, grid: Grid, sides: tuple[Indices, ...], links: Links, around: Neighbourhood
) -> _Problem:
    near = grid.flat_offsets(box(3, (1.0,) * pair.candidate.ndim).offsets[1:])
    edges = []
    for flat in sides:
        number_at = np.full(grid.size, -1, dtype=np.int32)
        number_at[flat] = np.arange(flat.size, dtype=np.int32)
        edges.append(Edge(flat, number_at, near))
    row = np.repeat(np.arange(sides[0].size), np.diff(links.start))
    spacing = np.asarray(pair.spacing, dtype=np.float64)
    offset = around.offsets[links.cost]
    return _Problem(grid, (edges[0], edges[1]), links, row, offset, spacing, min(pair.spacing))


def _misfit(problem: _Problem, around: Neighbourhood, limit: float, steps: int) -> NDArray[np.float64]:
    """Return e of every link, in units of the smallest pixel side."""
    grid, links = problem.grid, problem.links
    lengths = np.rint(_FINE * around.distances / problem.unit).astype(np.int64)
    far = round(_FINE * limit / problem.unit)
    moves = grid.flat_offsets(around.offsets)
    maps = [splat(grid.size, edge.flat, moves, lengths, far) for edge in problem.sides]
    misfit = np.zeros(links.other.size)
    step = moves[links.cost]
    order = np.arange(links.other.size)
    raise_misfit(problem.sides[0], links.start, order, step, maps[1], steps, misfit)
    by_column = np.argsort(links.other, kind="stable")
    start = np.searchsorted(links.other[by_column], np.arange(problem.sides[1].flat.size + 1)).astype(
        np.int64
    )
    raise_misfit(problem.sides[1], start, by_column, -step, maps[0], steps, misfit)
    return misfit / _FINE


def _deviation(problem: _Problem, rows: Indices, columns: Indices, steps: int) -> NDArray[np.float64]:
    """Return g of every link, in units of the smallest pixel side."""
    places = [np.stack(np.unravel_index(edge.flat, problem.grid.padded), axis=1) for edge in problem.sides]
    moved = places[1][columns] - places[0][rows]
    worst = np.zeros(problem.row.size)
    ends = (rows, problem.row), (columns, problem.links.other.astype(np.int64))
    for edge, (own, link) in zip(problem.sides, ends, strict=True):
        matched = np.zeros(edge.flat.size, dtype=np.bool_)
        offsets = np.zeros((edge.flat.size, moved.shape[1]), dtype=np.int64)
        matched[own], offsets[own] = True, moved
        twice = medians(edge, matched, offsets, steps)
        apart = (2 * problem.offset - twice[link]) * (problem.spacing / problem.unit / 2)
        worst = np.maximum(worst, np.sqrt((apart**2).sum(axis=1)))
    return worst
