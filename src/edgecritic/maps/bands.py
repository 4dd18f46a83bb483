"""Maps that are too large for memory: the raster indices of their pixels, worked on in bands of rows.

A map of 20,000 × 20,000 pixels has 400 million cells but few edge pixels. Of such a map only the raster
indices of the pixels that are set are kept, in ascending order; what needs neighbours looks at one band of
rows at a time, with a *halo* of rows above and below it. Everything equals what is found on the whole map.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, Indices, mask_of
from edgecritic.kernels.grid import Grid
from edgecritic.kernels.peeling import empty_rows, thin_pixels
from edgecritic.maps.nearest import FloatMap, by_tree, nearest_distances

__all__ = [
    "Band",
    "bands",
    "border_in_bands",
    "distances_in_bands",
    "part_of",
    "thin_levels",
]

_CELLS = 2**24
"""Cells of a band, with its halo: about 100 MB of work space."""

_THINNING_HALO = 32
_DISTANCE_HALO = 64


class Band(NamedTuple):
    """Rows ``start`` to ``stop`` (without the last) of a map; ``top`` to ``bottom`` with the halo."""

    start: int
    stop: int
    top: int
    bottom: int


def bands(shape: Sequence[int], *, halo: int, rows: int | None = None) -> list[Band]:
    """Cut a map into bands of `rows` rows, by default as many as fit a fixed number of cells.

    Examples
    --------
    >>> [tuple(band) for band in bands((10, 7), halo=2, rows=4)]
    [(0, 4, 0, 6), (4, 8, 2, 10), (8, 10, 6, 10)]
    """
    if len(shape) != 2:
        raise InputError(f"tiles are made of 2-D maps, got shape {tuple(shape)}")
    if rows is not None and rows < 1:
        raise InputError(f"a tile needs at least one row, got {rows}")
    high, wide = shape
    each = max(2 * halo, _CELLS // max(wide, 1) - 2 * halo, 1) if rows is None else rows
    return [
        Band(start, min(start + each, high), max(start - halo, 0), min(start + each + halo, high))
        for start in range(0, high, each)
    ]


def part_of(pixels: Indices, wide: int, start: int, stop: int) -> slice:
    """Return which of ascending raster indices lie in the rows from `start` to `stop`.

    Examples
    --------
    >>> part_of(np.array([0, 9, 10, 35]), 10, 1, 3)
    slice(2, 3, None)
    """
    first, last = np.searchsorted(pixels, (start * wide, stop * wide))
    return slice(int(first), int(last))


def thin_levels(levels: NDArray[np.uint8], least: int, *, rows: int | None = None) -> Indices:
    """Thin the map of the pixels whose level is at least `least`, without making a list of all of them.

    A sub-iteration of thinning looks one pixel far, so h of them are right in a band with a halo of h rows,
    whatever is beyond. Bands are thinned h sub-iterations at a time, until two in a row remove nothing
    anywhere: then the map stays as it is.

    Examples
    --------
    >>> thin_levels(np.array([[0, 9, 9, 9], [1, 9, 9, 9], [0, 9, 9, 9]], dtype=np.uint8), 2)
    array([6])
    """
    read: Callable[[int, int], BoolArray] = functools.partial(_reaching, levels, least)
    halo, wide = _THINNING_HALO, levels.shape[1]
    while True:
        kept, last = [], 0
        for band in bands(levels.shape, halo=halo, rows=rows):
            pixels, times = _removal_times(read, wide, band)
            kept.append(pixels[times > halo])
            last = max(last, int(times[times <= halo].max(initial=0)))
        left = np.concatenate(kept)
        if last <= halo - 2:
            return left
        read = functools.partial(_cells, left, wide)


def _removal_times(
    read: Callable[[int, int], BoolArray], wide: int, band: Band
) -> tuple[Indices, NDArray[np.int32]]:
    """Return the pixels of a band, and after which sub-iteration each is gone, as far as the halo tells."""
    grid = Grid.around((band.bottom - band.top, wide), (1, 1))
    on = grid.embed(read(band.top, band.bottom))
    flat = np.flatnonzero(on)
    times = thin_pixels(on.view(np.uint8), empty_rows(grid), grid.strides[0])
    raster = grid.raster(flat)
    own = part_of(raster, wide, band.start - band.top, band.stop - band.top)
    return raster[own] + band.top * wide, times[flat[own]]


def _reaching(levels: NDArray[np.uint8], least: int, top: int, bottom: int) -> BoolArray:
    """Return some rows of the map of the pixels that reach a level."""
    return levels[top:bottom] >= least


def _cells(pixels: Indices, wide: int, top: int, bottom: int) -> BoolArray:
    """Return some rows of the map of a list of pixels."""
    return mask_of(pixels[part_of(pixels, wide, top, bottom)] - top * wide, (bottom - top, wide))


def border_in_bands(pixels: Indices, shape: Sequence[int]) -> Indices:
    """Return the pixels with a neighbour across an edge that is not set or lies outside.

    Examples
    --------
    >>> border_in_bands(np.array([6, 7, 8, 11, 12, 13, 16, 17, 18]), (5, 5))
    array([ 6,  7,  8, 11, 13, 16, 17, 18])
    """
    wide = shape[1]
    column = pixels % wide
    inside = _holds(pixels, pixels - wide) & _holds(pixels, pixels + wide)
    inside &= (column > 0) & (column < wide - 1)
    inside &= _holds(pixels, pixels - 1) & _holds(pixels, pixels + 1)
    return pixels[~inside]


def distances_in_bands(
    of: Indices, to: Indices, shape: Sequence[int], spacing: Sequence[float], *, rows: int | None = None
) -> FloatMap:
    """Return the distance of every pixel of one map to the nearest pixel of another that has some.

    What is nearer than the end of the halo is right; the few pixels with nothing so near look through all.

    Examples
    --------
    >>> distances_in_bands(np.array([0, 55]), np.array([3, 99]), (10, 10), (1.0, 1.0), rows=2)
    array([3.        , 5.38516481])
    """
    wide = shape[1]
    sizes = tuple(spacing)
    found = np.full(of.size, math.inf)
    for band in bands(shape, halo=_DISTANCE_HALO, rows=rows):
        mine = part_of(of, wide, band.start, band.stop)
        theirs = part_of(to, wide, band.top, band.bottom)
        if mine.start == mine.stop or theirs.start == theirs.stop:
            continue
        cells = _cells(of[mine], wide, band.top, band.bottom), _cells(to, wide, band.top, band.bottom)
        found[mine] = nearest_distances(*cells, sizes)
    far = np.flatnonzero(found > _DISTANCE_HALO * sizes[0])
    if far.size:
        found[far] = by_tree(_places(of[far], wide), _places(border_in_bands(to, shape), wide), sizes)
    return found


def _places(pixels: Indices, wide: int) -> Indices:
    return np.column_stack(np.divmod(pixels, wide))


def _holds(pixels: Indices, wanted: Indices) -> BoolArray:
    """Return which numbers are among ascending ones."""
    place = np.minimum(np.searchsorted(pixels, wanted), max(pixels.size - 1, 0))
    found: BoolArray = pixels[place] == wanted
    return found
