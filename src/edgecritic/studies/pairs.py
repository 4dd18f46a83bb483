"""F of many pairs of maps under four matching strategies at several tolerances, computed together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edgecritic.assignment.counting import PairCounter
from edgecritic.assignment.pair import Pair
from edgecritic.assignment.reach import reach_of
from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray
from edgecritic.kernels.grid import Grid, longest
from edgecritic.kernels.ranks import nearest_ranks, shared_bits
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
    pixels : flat grid indices of the edge
    ranks : uint16 array, one per cell of the grid
        The rank of the distance to the edge among the offsets of the largest tolerance.
    grown : (tolerances, words) uint64
        The map dilated by each tolerance, a bit per pixel.
    areas : pixels within each tolerance of the edge
    """

    pixels: NDArray[np.int64]
    ranks: NDArray[np.uint16]
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
        self._steps = self._grid.flat_offsets(around.offsets)
        self._ranks = np.searchsorted(around.distances, around.distances).astype(np.uint16)
        self._limits = np.array([np.count_nonzero(around.distances <= longest(t)) for t in self.tolerances])
        self._counter = PairCounter(self._grid, around, self.tolerances, _UNIT)
        self._sight = sight_on(self._grid, _UNIT, self.tolerances[-1], corners=False)
        self._windows = np.array([window_radii(_UNIT, t) for t in self.tolerances])
        self._masks = [np.zeros(self._grid.size, dtype=np.bool_) for _ in range(2)]

    def prepare(self, mask: BoolArray) -> PreparedMap:
        """Make what comparisons of this map need."""
        if mask.shape != self.shape:
            raise InputError(f"expected a map of shape {self.shape}, got {mask.shape}")
        pixels = self._grid.locate(mask)
        ranks = nearest_ranks(self._grid.size, pixels, self._steps, self._ranks)
        (top, left), (rows, columns) = self._grid.radii, self.shape
        inside = ranks.reshape(self._grid.padded)[top : top + rows, left : left + columns].reshape(-1)
        near = np.stack([inside < limit for limit in self._limits])
        bits = np.packbits(np.pad(near, ((0, 0), (0, -inside.size % 64))), axis=1)
        return PreparedMap(pixels, ranks, bits.view(np.uint64), near.sum(axis=1))

    def f(self, first: PreparedMap, second: PreparedMap) -> NDArray[np.float64]:
        """Return F by strategy, tolerance and direction.

        Returns
        -------
        (4, tolerances, 2) array
            Direction 0: `second` is the candidate and `first` the truth; 1: the other way round. They differ
            for ``distance`` only.
        """
        n_first, n_second = first.pixels.size, second.pixels.size
        if n_first == 0 and n_second == 0:
            return np.ones((4, len(self.tolerances), 2))
        ranks_first, ranks_second = second.ranks[first.pixels], first.ranks[second.pixels]
        shared = shared_bits(first.grown, second.grown)
        largest = self._limits[-1]
        pairs = self._counter.count(
            first.pixels[ranks_first < largest], second.pixels[ranks_second < largest]
        )
        self._masks[0][first.pixels] = self._masks[1][second.pixels] = True
        seen_first = self._confirmed(first, ranks_first, 0)
        seen_second = self._confirmed(second, ranks_second, 1)
        self._masks[0][first.pixels] = self._masks[1][second.pixels] = False
        f = np.zeros((4, len(self.tolerances), 2))
        for k, limit in enumerate(self._limits):
            hits_first = int(np.count_nonzero(ranks_first < limit))
            hits_second = int(np.count_nonzero(ranks_second < limit))
            f[0, k, 0] = _f(
                _ratio(hits_second, n_second), _ratio(hits_second, hits_second + n_first - hits_first)
            )
            f[0, k, 1] = _f(
                _ratio(hits_first, n_first), _ratio(hits_first, hits_first + n_second - hits_second)
            )
            f[1, k] = _f(_ratio(shared[k], second.areas[k]), _ratio(shared[k], first.areas[k]))
            f[2, k] = _f(_ratio(pairs[k], n_second), _ratio(pairs[k], n_first))
            f[3, k] = _f(_ratio(seen_second[k], n_second), _ratio(seen_first[k], n_first))
        return f

    def _confirmed(self, one: PreparedMap, ranks: NDArray[np.uint16], side: int) -> NDArray[np.int64]:
        """Return how many pixels of one map the other confirms, by tolerance."""
        return count_valid(
            one.pixels,
            ranks,
            self._masks[side],
            one.ranks,
            self._masks[1 - side],
            self._sight,
            self._limits,
            self._windows,
            lowest_cosine(90),
        )


def _ratio(part: int, whole: int) -> float:
    return float(part) / float(whole) if whole else 0.0


def _f(precision: float, recall: float) -> float:
    # In this order, as Matching.f does, so that the numbers are equal to the last bit.
    below = 0.5 * recall + 0.5 * precision
    return precision * recall / below if below > 0 else 0.0
