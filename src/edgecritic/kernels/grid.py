"""The flat padded grid on which every neighbourhood kernel works.

An array is embedded into a larger one whose margin is as wide as the neighbourhood, and addressed by
flat index. A neighbour is then one addition away, in any number of dimensions, without bounds checks.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from edgecritic.kernels.arrays import Bools, Float64s, Int64s

__all__ = ["Neighbourhood", "ball", "ball_size", "box", "Grid", "COST_UNIT", "SLACK", "longest"]

COST_UNIT = 100
"""Integer costs count hundredths of a pixel (of the smallest pixel side when `spacing` is given)."""

SLACK = 1 + 1e-9
"""A distance counts as within a tolerance up to this factor, because both are rounded."""

_SAME = 1 + 1e-12
"""Squared lengths count as equal up to this factor: more than rounding makes, less than `SLACK`."""


_SMALL_BALL = 5000
"""Balls of fewer offsets, about, are kept."""


class Neighbourhood(NamedTuple):
    """Offsets sorted by distance, ties in raster order.

    Attributes
    ----------
    offsets : (n, ndim) int64
        Steps in pixels along each axis; the zero offset comes first.
    distances : (n,) float64
        Physical length of each step.
    costs : (n,) int64
        round(100 · distance / smallest spacing).
    radii : tuple of int
        The largest step along each axis: the margin that a grid needs.
    """

    offsets: Int64s
    distances: Float64s
    costs: Int64s
    radii: tuple[int, ...]

    def __eq__(self, other: object) -> bool:
        """Tell whether it is the same one: those of one radius are shared."""
        return self is other

    def __hash__(self) -> int:
        """Return what tells it from others."""
        return id(self)


def longest(tolerance: float) -> float:
    """Return the longest distance that meets a tolerance: the one rule, d ≤ tolerance · (1 + 1e-9).

    A distance of voxel centres is the root of a rounded sum of rounded squares, and a tolerance is rounded
    from a decimal number. A distance that equals the tolerance must meet it in spite of both; no two
    distances that differ in earnest are as near to each other as that.

    Examples
    --------
    >>> 3 * 0.1 <= 0.3, 3 * 0.1 <= longest(0.3)
    (False, True)
    """
    return tolerance * SLACK


def ball_size(radius: float, spacing: Sequence[float]) -> float:
    """Return about how many offsets a ball has, without making them."""
    axes = [radius / size for size in spacing]
    volume = math.pi if len(axes) == 2 else 4 * math.pi / 3
    return volume * math.prod(axis + 0.5 for axis in axes)


def ball(radius: float, spacing: Sequence[float]) -> Neighbourhood:
    """Return all offsets that meet `radius` (`longest`); small balls are shared."""
    sizes = tuple(spacing)
    small = ball_size(radius, sizes) < _SMALL_BALL
    return _kept_ball(radius, sizes) if small else _ball(radius, sizes)


def _ball(radius: float, spacing: tuple[float, ...]) -> Neighbourhood:
    radii = [math.floor(longest(radius) / size) for size in spacing]
    table = _table(radii, spacing)
    keep = table.distances <= longest(radius)
    return _with_radii(table.offsets[keep], table.distances[keep], table.costs[keep])


_kept_ball = functools.lru_cache(maxsize=32)(_ball)


def box(side: int, spacing: Sequence[float]) -> Neighbourhood:
    """Return all offsets of a window `side` pixels wide along every axis (`side` is odd)."""
    return _table([side // 2] * len(spacing), spacing)


def _table(radii: Sequence[int], spacing: Sequence[float]) -> Neighbourhood:
    steps = np.meshgrid(*[np.arange(-r, r + 1) for r in radii], indexing="ij")
    offsets = np.stack([step.ravel() for step in steps], axis=1).astype(np.int64)
    squares = _levelled(((offsets * np.asarray(spacing)) ** 2).sum(axis=1))
    order = np.argsort(squares, kind="stable")
    offsets, squares = offsets[order], squares[order]
    distances = np.sqrt(squares)
    # Rounded before it is halved up, so that costs do not hang on the last digits of the spacing.
    sides = np.sqrt(np.round(squares / min(spacing) ** 2, 9))
    costs = np.floor(COST_UNIT * sides + 0.5).astype(np.int64)
    return _with_radii(offsets, distances, costs)


def _levelled(squares: Float64s) -> Float64s:
    """Make the squared lengths equal that are equal by symmetry and differ by rounding only."""
    order = np.argsort(squares, kind="stable")
    rising = squares[order]
    first = np.zeros(rising.size, dtype=np.int64)
    first[1:] = np.where(rising[1:] > rising[:-1] * _SAME, np.arange(1, rising.size), 0)
    levelled = np.empty_like(squares)
    levelled[order] = rising[np.maximum.accumulate(first)]
    return levelled


def _with_radii(offsets: Int64s, distances: Float64s, costs: Int64s) -> Neighbourhood:
    """Make a neighbourhood of tables that are safe to share, and all of one type for kernels."""
    radii = tuple(int(r) for r in np.abs(offsets).max(axis=0))
    made = Neighbourhood(np.ascontiguousarray(offsets), distances, costs, radii)
    for table in (made.offsets, made.distances, made.costs):
        table.flags.writeable = False
    return made


class Grid(NamedTuple):
    """The geometry of a padded array: how pixels become flat indices and back."""

    shape: tuple[int, ...]
    radii: tuple[int, ...]
    padded: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def around(cls, shape: Sequence[int], radii: Sequence[int]) -> Grid:
        """Return the grid of an array of `shape` with a margin of `radii` on every side."""
        return _grid(tuple(map(int, shape)), tuple(map(int, radii)))

    @property
    def size(self) -> int:
        """Number of cells, margin included."""
        return math.prod(self.padded)

    def flat_offsets(self, offsets: Int64s) -> Int64s:
        """Return the step in flat index of every offset."""
        return offsets @ np.asarray(self.strides, dtype=np.int64)

    def locate(self, mask: Bools) -> Int64s:
        """Return the flat indices of the pixels that are set, in raster order."""
        return self.flatten(np.flatnonzero(mask))

    def embed(self, mask: Bools) -> Bools:
        """Return the flat cells of the grid, set where the mask is and not in the margin."""
        cells = np.zeros(self.padded, dtype=np.bool_)
        cells[tuple(slice(r, r + n) for r, n in zip(self.radii, self.shape, strict=True))] = mask
        return cells.reshape(-1)

    def flatten(self, raster: Int64s) -> Int64s:
        """Turn raster indices of the unpadded array into flat indices of the grid."""
        flat = raster + self._corner
        rest = raster
        for axis in range(len(self.shape) - 1, 0, -1):
            rest = rest // self.shape[axis]
            flat += rest * (2 * self.radii[axis] * self.strides[axis])
        return flat

    def raster(self, flat: Int64s) -> Int64s:
        """Turn flat indices of the grid into raster indices of the unpadded array."""
        raster = flat - self._corner
        rest = raster.copy()
        for axis in range(len(self.shape) - 1, 0, -1):
            rest //= self.padded[axis]
            raster -= rest * (2 * self.radii[axis] * math.prod(self.shape[axis + 1 :]))
        return raster

    @property
    def _corner(self) -> int:
        """Flat index of the first pixel."""
        return sum(radius * stride for radius, stride in zip(self.radii, self.strides, strict=True))


@functools.lru_cache(maxsize=64)  # most images of a run have one of a few shapes
def _grid(shape: tuple[int, ...], radii: tuple[int, ...]) -> Grid:
    padded = tuple(n + 2 * r for n, r in zip(shape, radii, strict=True))
    strides = tuple(math.prod(padded[axis + 1 :]) for axis in range(len(padded)))
    return Grid(shape, radii, padded, strides)
