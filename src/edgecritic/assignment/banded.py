"""The exact matching of maps too large for memory: in bands of rows, by the components of what is linked.

A matching falls apart into the connected components of the links between candidate and truth pixels; each
can be matched by itself. Bands of rows are linked one after the other; a component that no later row can
reach is matched and forgotten, the others are carried on. What is in memory goes with the number of edge
pixels and with the size of the components that are open at a time, not with the size of the map.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.assignment.solver import MOST_LINKS, empty_state, link_rows, salt, solved, too_many_links
from edgecritic.inputs import Indices
from edgecritic.kernels.grid import Grid, Neighbourhood
from edgecritic.kernels.links import Links, from_columns
from edgecritic.maps.bands import Band, bands, part_of

__all__ = ["match_in_bands"]


class _Web(NamedTuple):
    """Linked candidates (places in the list of all), how many links each has, and places of their truths."""

    rows: Indices
    degrees: Indices
    other: NDArray[np.int32]
    cost: NDArray[np.int32]

    def joined(self, more: _Web) -> _Web:
        return _Web(
            np.concatenate([self.rows, more.rows]),
            np.concatenate([self.degrees, more.degrees]),
            np.concatenate([self.other, more.other]),
            np.concatenate([self.cost, more.cost]),
        )

    def chosen(self, rows: NDArray[np.bool_]) -> _Web:
        links = np.repeat(rows, self.degrees)
        return _Web(self.rows[rows], self.degrees[rows], self.other[links], self.cost[links])


def match_in_bands(
    candidates: Indices,
    truths: Indices,
    shape: Sequence[int],
    around: Neighbourhood,
    alone_cost: int,
    *,
    rows: int | None = None,
) -> Iterator[tuple[Indices, Indices, Indices]]:
    """Match two maps one to one, as the strategy ``exact`` does, band by band.

    Parameters
    ----------
    candidates, truths : int64 arrays
        Raster indices of the pixels that are set, ascending.
    shape : (rows, columns)
    around : Neighbourhood
        What is within the tolerance.
    alone_cost : int
        The price of a candidate pixel that stays alone.
    rows : int, optional
        Rows of a band.

    Yields
    ------
    candidates, truths, costs : int64 arrays
        Raster indices of matched pairs and the cost of each, in no particular order. Number of pairs and
        total cost are those of the whole, and so are the pixels that are matched, as far as position hashes
        part equal matchings (`edgecritic.assignment.solver.empty_state`: the larger the map, the shorter).

    Examples
    --------
    >>> from edgecritic.kernels.grid import ball
    >>> parts = match_in_bands(np.array([0, 9]), np.array([4, 6]), (3, 5), ball(1, (1, 1)), 10_000, rows=1)
    >>> [tuple(one.tolist() for one in part) for part in parts]
    [([9], [4], [100])]
    """
    size, salted = int(np.prod(shape)), salt(truths)
    wide, reach = shape[1], around.radii[0]
    none, nothing = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
    empty_state(size, none, none, alone_cost, salted)  # refuses a tolerance that is too large, at once
    open_ = _Web(none, none, nothing, nothing)
    for band in bands(shape, halo=reach, rows=rows):
        open_ = open_.joined(_linked(candidates, truths, wide, band, around))
        if open_.other.size > MOST_LINKS:
            raise too_many_links()
        if open_.rows.size == 0:
            continue
        # A candidate below this band reaches truths from here on:
        settled = _settled(open_, int(np.searchsorted(truths, (band.stop - reach) * wide)))
        if band.stop == shape[0]:
            settled[:] = True
        if settled.any():
            yield _matched(open_.chosen(settled), candidates, truths, size, alone_cost, salted)
            open_ = open_.chosen(~settled)


def _linked(candidates: Indices, truths: Indices, wide: int, band: Band, around: Neighbourhood) -> _Web:
    """Link the candidates of a band with the truths around them."""
    mine = part_of(candidates, wide, band.start, band.stop)
    theirs = part_of(truths, wide, band.top, band.bottom)
    grid = Grid.around((band.bottom - band.top, wide), around.radii)
    first, second = (grid.flatten(pixels - band.top * wide) for pixels in (candidates[mine], truths[theirs]))
    links = link_rows(grid, first, second, around)
    degrees = np.diff(links.start)
    rows = np.flatnonzero(degrees)
    other = links.other + np.int32(theirs.start)
    return _Web(rows + mine.start, degrees[rows], other, links.cost)


def _settled(web: _Web, first_open: int) -> NDArray[np.bool_]:
    """Return which candidates belong to components without a truth from place `first_open` on."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    known, columns = np.unique(web.other, return_inverse=True)
    rows = np.repeat(np.arange(web.rows.size, dtype=np.int32), web.degrees)
    nodes = web.rows.size + known.size
    ends = rows, columns.astype(np.int32) + np.int32(web.rows.size)
    graph = coo_array((np.ones(rows.size, dtype=np.int8), ends), shape=(nodes, nodes)).tocsr()
    number, labels = connected_components(graph, directed=False)
    waits = np.zeros(number, dtype=np.bool_)
    waits[labels[web.rows.size :][known >= first_open]] = True
    settled: NDArray[np.bool_] = ~waits[labels[: web.rows.size]]
    return settled


def _matched(
    web: _Web, candidates: Indices, truths: Indices, size: int, alone_cost: int, salted: int
) -> tuple[Indices, Indices, Indices]:
    """Match whole components."""
    known, columns = np.unique(web.other, return_inverse=True)
    found, wanted = candidates[web.rows], truths[known]
    links = Links(np.append(0, np.cumsum(web.degrees)), columns.astype(np.int32), web.cost)
    swapped = wanted.size < found.size  # the scarcer side looks for partners
    side = from_columns(links, wanted.size) if swapped else links
    state = solved(side, size, found, wanted, alone_cost, salted, swapped=swapped)
    partner = np.repeat((state.columns if swapped else state.rows).mate, web.degrees)
    pairs = np.flatnonzero(links.other == partner)
    rows = np.repeat(np.arange(found.size), web.degrees)[pairs]
    return found[rows], wanted[links.other[pairs]], links.cost[pairs].astype(np.int64)
