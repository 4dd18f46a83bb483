"""CbM: the exact one-to-one matching of two maps."""

from __future__ import annotations

import numpy as np

from edgecritic.assignment.graph import outlier_cost
from edgecritic.assignment.reach import reach_of
from edgecritic.assignment.solver import in_blocks, link_scarcer, salt, solved
from edgecritic.inputs import Indices
from edgecritic.kernels._jit import plainly
from edgecritic.kernels.grid import Grid
from edgecritic.matching.base import Matching, Pair, strategy

__all__ = ["exact"]

_VECTOR = 30  # so many pixels take NumPy as long as one takes Python
_STEPS_OF_PIXEL = 8  # of the solver, about
_STEPS_OF_LINK = 3


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
    smallest spacing. Among equal optima that with the most matches is taken (a chain of moves may cost 100·t
    pixels exactly), and among those a hash of the pixel positions decides.

    Parameters
    ----------
    pair : Pair
    window : odd int, optional
        Look in a square (cube) of this side, in pixels, instead of a disk (ball) of radius t; t is
        then the distance to its corner.
    """
    return Matching.from_pairs(pair, *_matched(pair, window))


def _matched(pair: Pair, window: int | None) -> tuple[Indices, Indices]:
    """Return the raster indices of the matched pixels of candidate and truth."""
    around, limit = reach_of(pair, window)
    grid = Grid.around(pair.candidate.shape, around.radii)
    flat = (in_blocks(grid, pair.candidate), in_blocks(grid, pair.truth))
    with plainly(around.costs.size * (flat[0].size + flat[1].size) // _VECTOR):
        swapped, links = link_scarcer(grid, *flat, around)
    candidates, truths = grid.raster(flat[0]), grid.raster(flat[1])
    del flat  # millions of pixels leave room for the solver
    given = (pair.candidate.size, candidates, truths, outlier_cost(limit, pair.spacing), salt(truths))
    with plainly(_STEPS_OF_PIXEL * (candidates.size + truths.size) + _STEPS_OF_LINK * links.other.size):
        state = solved(links, *given, swapped=swapped)
    partner_of_candidate = (state.columns if swapped else state.rows).mate
    matched = np.flatnonzero(partner_of_candidate >= 0)
    return candidates[matched], truths[partner_of_candidate[matched]]
