"""F of many pairs of maps under four matching strategies at several tolerances, computed together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edgecritic.assignment.counting import Located, PairCounter, Reached
from edgecritic.assignment.pair import Pair
from edgecritic.assignment.reach import reach_of
from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray
from edgecritic.kernels.grid import Grid, longest
from edgecritic.kernels.ranks import shared_bits
from edgecritic.kernels.validation import count_valid
from edgecritic.matching.validation import lowest_cosine, sight_on, window_radii

__all__ = ["STRATEGIES", "TOLERANCES", "PreparedMap", "Comparer"]

STRATEGIES = ("distance", "area", "exact", "validation")
"""DbM, AbM, CbM and Pv with their default parameters."""

TOLERANCES = (2.5, 5.0, 10.0)
"""In pixels; about 0.5, 1 and 2 % of the diagonal of a BSDS image."""

_UNIT = (1.0, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class PreparedMap:
    """What all comparisons of one map share.

    Attributes
    ----------
    edge : Located
        Its pixels, and how near they are to every cell of the grid.
    grown : (tolerances, words) uint64
        The map dilated by each tolerance, a bit per pixel.
    areas : pixels within each tolerance of the edge
    """

    edge: Located
    grown: NDArray[np.uint64]
    areas: NDArray[np.int64]


class Comparer:
    """Compares maps of one shape; gives the same F as :func:`edgecritic.match` for each strategy.

    Distances and dilations are made once per map, tables once per tolerance. Areas are compared as bits, 64
    pixels at once; of the exact matching only the number of pairs is found. Not to be shared between threads.

    Parameters
    ----------
    shape : (rows, columns)
    tolerances : sequence of float
        Ascending, in pixels.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.zeros((20, 30), bool)
    >>> one[10, 5:25] = True
    >>> comparer = Comparer(one.shape, [1, 3])
    >>> first, second = comparer.prepare(one), comparer.prepare(np.roll(one, 2, axis=0))
    >>> comparer.f(first, second)[[0, 2], :, 0]
    array([[0., 1.],
           [0., 1.]])
    """

    def __init__(self, shape: tuple[int, ...], tolerances: Sequence[float] = TOLERANCES) -> None:
        if len(shape) != 2:
            raise InputError(f"maps must be images, got the shape {shape}")
        if list(tolerances) != sorted(set(tolerances)) or not tolerances or tolerances[0] <= 0:
            raise InputError(f"tolerances must be positive and ascending, got {list(tolerances)}")
        self.shape = shape
        self.tolerances = tuple(float(t) for t in tolerances)
        nothing = np.zeros((1, 1), dtype=np.bool_)
        around, _ = reach_of(Pair(nothing, nothing, _UNIT, self.tolerances[-1]))
        self._grid = Grid.around(shape, [max(radius, 1) for radius in around.radii])
        self._limits = np.array([np.count_nonzero(around.distances <= longest(t)) for t in self.tolerances])
        self._counter = PairCounter(self._grid, around, self.tolerances, _UNIT)
        self._sight = sight_on(self._grid, _UNIT, self.tolerances[-1], corners=False)
        self._lowest = lowest_cosine(90)
        self._windows = np.array([window_radii(_UNIT, t) for t in self.tolerances])

    def prepare(self, mask: BoolArray) -> PreparedMap:
        """Make what comparisons of this map need."""
        if mask.shape != self.shape:
            raise InputError(f"expected a map of shape {self.shape}, got {mask.shape}")
        edge = self._counter.locate(mask)
        (top, left), (rows, columns) = self._grid.radii, self.shape
        inside = edge.ranks.reshape(self._grid.padded)[top : top + rows, left : left + columns].reshape(-1)
        near = np.stack([inside < limit for limit in self._limits])
        bits = np.packbits(np.pad(near, ((0, 0), (0, -inside.size % 64))), axis=1)
        return PreparedMap(edge, bits.view(np.uint64), near.sum(axis=1))

    def f(self, first: PreparedMap, second: PreparedMap) -> NDArray[np.float64]:
        """Return F by strategy, tolerance and direction.

        Returns
        -------
        (4, tolerances, 2) array
            Direction 0: `second` is the candidate and `first` the truth; 1: the other way round. They differ
            for ``distance`` only.
        """
        one, other = first.edge, second.edge
        sizes = first_size, second_size = one.pixels.size, other.pixels.size
        if sizes == (0, 0):
            return np.ones((4, len(self.tolerances), 2))
        near_other, near_one = self._counter.reached(one, other), self._counter.reached(other, one)
        shared = shared_bits(first.grown, second.grown).tolist()
        areas = list(zip(first.areas.tolist(), second.areas.tolist(), strict=True))
        pairs = self._counter.count(one, other, near_other, near_one)
        seen_first = self._confirmed(one, near_other, other).tolist()
        seen_second = self._confirmed(other, near_one, one).tolist()
        hits = zip(near_other.sizes.tolist(), near_one.sizes.tolist(), strict=True)
        f = np.zeros((4, len(self.tolerances), 2))
        for k, (hit_first, hit_second) in enumerate(hits):
            missed = first_size - hit_first, second_size - hit_second
            f[0, k, 0] = _f(_ratio(hit_second, second_size), _ratio(hit_second, hit_second + missed[0]))
            f[0, k, 1] = _f(_ratio(hit_first, first_size), _ratio(hit_first, hit_first + missed[1]))
            f[1, k] = _f(_ratio(shared[k], areas[k][1]), _ratio(shared[k], areas[k][0]))
            f[2, k] = _f(_ratio(pairs[k], second_size), _ratio(pairs[k], first_size))
            f[3, k] = _f(_ratio(seen_second[k], second_size), _ratio(seen_first[k], first_size))
        return f

    def _confirmed(self, one: Located, near: Reached, other: Located) -> NDArray[np.int64]:
        """Return how many pixels of one map the other confirms, by tolerance."""
        return count_valid(
            near.pixels,
            near.ranks,
            one.cells,
            one.ranks,
            other.cells,
            self._sight,
            self._limits,
            self._windows,
            self._lowest,
        )


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _f(precision: float, recall: float) -> float:
    # In this order, as Matching.f does, so that the numbers are equal to the last bit.
    below = 0.5 * recall + 0.5 * precision
    return precision * recall / below if below > 0 else 0.0
