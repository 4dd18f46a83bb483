"""Half-disc gradients: how different are the two sides of a pixel, at eight orientations?"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.kernels.halfdisc import ORIENTATIONS

__all__ = ["ORIENTATIONS", "half_disc_gradient", "smooth_across"]

Floats = NDArray[np.float32]


class _Disc(NamedTuple):
    """Points of a disc with their sectors and weights: rows, columns (from the centre), sectors, weights."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    sectors: NDArray[np.int64]
    weights: NDArray[np.int16] | NDArray[np.int32]


def half_disc_gradient(labels: NDArray[np.uint8], radius: float, bins: int, *, smooth: int = 0) -> Floats:
    """Return χ² between the histograms of the two halves of a disc, for every pixel and orientation.

    Parameters
    ----------
    labels : (rows, columns) uint8 array
        The bin of every pixel, less than `bins`.
    radius : float
        In pixels.
    bins : int
        A multiple of 8.
    smooth : int
        k: a box of 2^k bins is applied twice, a triangle of σ = √((4^k − 1)/6) bins; 0 for none. At the ends
        the triangle is cut and keeps its mass.

    Returns
    -------
    (8, rows, columns) float32 array
        ½ Σ (g − h)²/(g + h), from 0 to 1. Number o belongs to the diameter of direction πo/8, counted from
        the column axis (right) towards growing rows (down).

    Notes
    -----
    The centre is left out. Points on the diameter count half on each side. Only pixels inside the image
    count; each half is normalised by its own mass, and an empty half gives 0.

    References
    ----------
    .. [1] D. Martin, C. Fowlkes and J. Malik, "Learning to detect natural image boundaries using local
       brightness, color, and texture cues", IEEE TPAMI 26(5), 2004. https://doi.org/10.1109/TPAMI.2004.1273918

    Examples
    --------
    >>> import numpy as np
    >>> step = np.repeat([[0, 0, 0, 1, 1, 1]], 6, axis=0).astype(np.uint8)
    >>> found = half_disc_gradient(step, 2.0, 8)
    >>> found[4, 3].round(2)  # along the columns
    array([0.  , 0.09, 0.5 , 0.5 , 0.09, 0.  ], dtype=float32)
    """
    from edgecritic.kernels.halfdisc import half_disc_distances

    low, high = _range(labels, bins, (1 << smooth) - 1)
    used = high - low
    margin = int(radius) + 1
    padded = np.pad(labels - np.uint8(low), margin, constant_values=used)
    width = padded.shape[1]
    disc, moves = _disc(float(radius))
    out = np.empty((ORIENTATIONS, *labels.shape), np.float32)
    half_disc_distances(
        padded,
        margin,
        used,
        *_in_frame(disc, margin, width, used + 8),
        *_in_frame(moves, margin, width, used + 8),
        smooth,
        _end_weights(bins, smooth)[low:high].copy(),
        out,
    )
    return out


def _range(labels: NDArray[np.uint8], bins: int, reach: int) -> tuple[int, int]:
    """Return the bins that can have mass after smoothing, widened to multiples of 8."""
    low, high = max(int(labels.min()) - reach, 0), min(int(labels.max()) + reach, bins - 1)
    return low // 8 * 8, high // 8 * 8 + 8


def _in_frame(
    disc: _Disc, margin: int, width: int, stride: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int16] | NDArray[np.int32]]:
    places = (disc.rows + margin) * width + disc.columns + margin
    return places, disc.sectors * stride, disc.weights


@lru_cache(maxsize=64)
def _disc(radius: float) -> tuple[_Disc, _Disc]:
    """Return the disc, and what it gains and loses when it moves by one column."""
    reach = int(radius)
    most = 2 * (2 * reach + 1) ** 2  # no disc has more mass
    kind = np.int16 if 2 * most <= np.iinfo(np.int16).max else np.int32
    grid = np.zeros((2 * ORIENTATIONS, 2 * reach + 1, 2 * reach + 3), dtype=kind)
    for row in range(-reach, reach + 1):
        for column in range(-reach, reach + 1):
            if 0 < row * row + column * column <= radius * radius:
                for sector, weight in _sectors(row, column):
                    grid[sector, row + reach, column + reach + 1] = weight
    change = grid.copy()
    change[:, :, :-1] -= grid[:, :, 1:]
    return _points(grid, reach), _points(change, reach)


def _sectors(row: int, column: int) -> list[tuple[int, int]]:
    """Return sectors and weights of a point; only axes and diagonals are rays through lattice points."""
    turn = np.arctan2(row, column) / (np.pi / ORIENTATIONS) % (2 * ORIENTATIONS)
    if row == 0 or column == 0 or abs(row) == abs(column):
        ray = round(turn)
        return [(ray % 16, 1), ((ray - 1) % 16, 1)]
    return [(int(turn), 2)]


def _points(grid: NDArray[np.int16] | NDArray[np.int32], reach: int) -> _Disc:
    sectors, rows, columns = np.nonzero(grid)
    return _Disc(rows - reach, columns - reach - 1, sectors, grid[sectors, rows, columns])


def _end_weights(bins: int, smooth: int) -> Floats:
    """Return 1 / (the sum of the triangle around each bin, inside the range of bins)."""
    box = np.ones(1 << smooth)
    triangle = np.convolve(box, box)
    return np.asarray(1 / np.convolve(np.ones(bins), triangle, mode="same")[:bins], np.float32)


def smooth_across(gradient: Floats, radius: float) -> Floats:
    """Fit a + bu + cu²/2 to each orientation in an ellipse along it, and return max(a, 0).

    Parameters
    ----------
    gradient : (8, rows, columns) float32 array
    radius : float
        Half the length of the ellipse; across it is max(radius/4, 1.5) pixels.

    Notes
    -----
    u is the distance across the orientation. The fit is by least squares, so a is a fixed linear filter; the
    image goes on beyond its frame by mirroring.
    """
    from edgecritic.kernels.halfdisc import filter_plane

    out = np.empty_like(gradient)
    margin = int(max(radius, 1.5))
    for o in range(ORIENTATIONS):
        rows, columns, weights = _parabola(float(radius), o)
        plane = np.pad(gradient[o], margin, mode="symmetric")
        filter_plane(plane, rows + margin, columns + margin, weights, out[o])
    return np.maximum(out, 0, out=out)


@lru_cache(maxsize=64)
def _parabola(radius: float, orientation: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    angle = np.pi * orientation / ORIENTATIONS
    wide = max(radius / 4, 1.5)
    reach = int(max(radius, 1.5))
    rows, columns = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    along = columns * np.cos(angle) + rows * np.sin(angle)
    across = rows * np.cos(angle) - columns * np.sin(angle)
    inside = (along / max(radius, 1.5)) ** 2 + (across / wide) ** 2 <= 1 + 1e-9
    u = across[inside]
    weights = np.linalg.pinv(np.stack([np.ones_like(u), u, u * u / 2], axis=1))[0]
    return rows[inside], columns[inside], weights.astype(np.float32)
