"""Thinning of edge maps to lines one pixel wide."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, FloatArray, as_mask
from edgecritic.kernels import _jit
from edgecritic.kernels.grid import Grid
from edgecritic.kernels.peeling import empty_rows
from edgecritic.kernels.steps import by_threshold, grow_steps, thin_by_threshold
from edgecritic.kernels.thinning import deletion_table, neighbour_steps, slim_rows, start_growth

__all__ = [
    *("thin", "thin_by_thresholds", "ThinningSweep", "pixels_by_threshold"),
    *("compile_beside", "compile_here"),
]


def thin(map: Any) -> BoolArray:  # noqa: A002
    """Thin a binary map until nothing changes.

    The parallel thinning of Guo and Hall with two sub-iterations: what MATLAB's ``bwmorph(…, 'thin', Inf)``
    and ``skimage.morphology.thin`` compute, pixel by pixel. Outside the map everything is off.

    Parameters
    ----------
    map : array_like, 2-D
        Booleans, 0/1 or 0/255.

    Returns
    -------
    bool array
        A subset of the pixels of `map`.

    References
    ----------
    Z. Guo, R. W. Hall: Parallel thinning with two-subiteration algorithms. Communications of the ACM 32 (3),
    1989. L. Lam, S.-W. Lee, C. Y. Suen: Thinning methodologies, a comprehensive survey. IEEE TPAMI 14 (9),
    1992.

    Examples
    --------
    >>> import numpy as np
    >>> bar = np.zeros((5, 9), bool)
    >>> bar[1:4, 1:8] = True
    >>> thin(bar).astype(int)
    array([[0, 0, 0, 0, 0, 0, 0, 0, 0],
           [0, 0, 0, 0, 0, 0, 0, 0, 0],
           [0, 0, 1, 1, 1, 1, 1, 0, 0],
           [0, 0, 0, 0, 0, 0, 0, 0, 0],
           [0, 0, 0, 0, 0, 0, 0, 0, 0]])
    """
    mask = as_mask(map)
    grid = _grid(mask.shape)
    bits = empty_rows(grid)
    cells = np.zeros((grid.padded[0], 64 * (bits.size // grid.padded[0])), dtype=np.bool_)
    inside = cells[1:-1, 1 : grid.padded[1] - 1]
    inside[...] = mask
    bits[:-1] = np.packbits(cells, bitorder="little").view("<u8")
    slim = slim_rows(bits, grid.strides[0])[:-1].astype("<u8", copy=False)
    cells[...] = np.unpackbits(slim.view(np.uint8), bitorder="little").reshape(cells.shape)
    return inside.copy()


class ThinningSweep:
    """The thin map of a map that grows, kept up to date at a cost that goes with the change.

    A threshold that falls adds pixels to a map; its thinning gains some pixels and loses others. After
    every step the thin map equals ``thin`` of all pixels added so far.

    Parameters
    ----------
    shape : (rows, columns)

    Examples
    --------
    >>> sweep = ThinningSweep((3, 5))
    >>> gained, lost = sweep.grow([5, 6, 7])
    >>> gained, lost
    (array([5, 6, 7]), array([], dtype=int64))
    >>> gained, lost = sweep.grow([1, 2, 3])
    >>> bool((sweep.thin == thin([[0, 1, 1, 1, 0], [1, 1, 1, 0, 0], [0, 0, 0, 0, 0]])).all())
    True
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self._grid = _grid(shape)
        self._growth = start_growth(self._grid)

    def grow(self, added: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Add pixels and return the pixels that the thin map gained and lost.

        Parameters
        ----------
        added : (n,) integer array
            Raster indices; pixels that are there already change nothing.

        Returns
        -------
        gained, lost : int64 arrays
            Raster indices in no particular but always the same order.
        """
        raster = np.asarray(added, dtype=np.int64).reshape(-1)
        rows, columns = self._grid.shape
        if raster.size and not (raster.min() >= 0 and raster.max() < rows * columns):
            raise InputError(
                f"raster indices of a map of shape {self._grid.shape} lie between 0 and "
                f"{rows * columns - 1}, got {raster.min()} to {raster.max()}"
            )
        _, gained, _, lost = grow_steps(self._growth, raster, np.array([0, raster.size]), columns)
        return gained, lost

    @property
    def thin(self) -> BoolArray:
        """The thin map as a new array."""
        flags = self._growth.flags.reshape(self._grid.padded)
        return np.equal(flags[1:-1, 1:-1], 1)


def thin_by_thresholds(
    strength: FloatArray, thresholds: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Thin a map while thresholds fall, which ascend here, as for `pixels_by_threshold`.

    Returns
    -------
    gained_start, gained, lost_start, lost : int64 arrays
        At step k the thin map gains ``gained[gained_start[k] : gained_start[k + 1]]``, and loses likewise.
    """
    found: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
    steps = _steps(strength.shape)
    found = thin_by_threshold(*_flat(strength, thresholds), strength.shape[1], steps, deletion_table())
    return found


def pixels_by_threshold(
    strength: FloatArray, thresholds: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sort the pixels by the threshold at which they come in when thresholds fall.

    Parameters
    ----------
    strength : float array
    thresholds : (n,) float64 array, ascending

    Returns
    -------
    pixels : int64 array
        Raster indices of the pixels with strength ≥ thresholds[0] (compared as float64).
    bounds : (n + 1,) int64 array
        The map ``strength >= thresholds[n - 1 - k]`` is the first ``bounds[k + 1]`` pixels; step k adds
        ``pixels[bounds[k] : bounds[k + 1]]``.

    Examples
    --------
    >>> import numpy as np
    >>> pixels_by_threshold(np.array([[0.1, 0.9, 0.5, 0.4]]), np.array([0.3, 0.5, 0.7]))
    (array([1, 2, 3]), array([0, 1, 2, 3]))
    """
    found: tuple[NDArray[np.int64], NDArray[np.int64]] = by_threshold(*_flat(strength, thresholds))
    return found


def _flat(
    strength: FloatArray, thresholds: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if thresholds.size == 0:
        raise InputError("give at least one threshold, got none")
    return strength.reshape(-1).astype(np.float64, copy=False), np.ascontiguousarray(thresholds)


@functools.lru_cache(maxsize=64)  # most images of a run have one of a few shapes
def _steps(shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the steps to the neighbours of a pixel; nobody writes to them."""
    return neighbour_steps(_grid(shape))


def _grid(shape: tuple[int, ...]) -> Grid:
    if len(shape) != 2:
        raise InputError(
            f"thinning is defined for 2-D maps, got shape {tuple(shape)}; volumes are judged as they are"
        )
    return Grid.around(shape, (1, 1))


def compile_beside() -> bool:
    """Let another process compile what thins maps in sweeps; tell whether one has begun."""
    return _jit.compile_beside(thin_by_threshold, f"from {__name__} import compile_here; compile_here()")


def compile_here() -> None:
    """Compile what thins maps in sweeps, and nothing else."""
    thin_by_thresholds(np.zeros((3, 3)), np.array([0.5]))
