"""Textons: what a small neighbourhood looks like, as the nearest of a few typical filter responses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["FILTERS", "cluster", "filter_responses", "nearest"]

FILTERS = 13
"""Six orientations of an even and of an odd filter, and one without orientation."""

_DIRECTIONS = 6
_LONG = 3.0  # length of the filters along their orientation, in σ
_CHUNK = 1 << 15

Floats = NDArray[np.float32]


def filter_responses(lightness: Floats, sigma: float) -> Floats:
    """Return what 13 filters say of L*/100, (rows, columns, 13).

    Parameters
    ----------
    lightness : (rows, columns) float array in [0, 1]
    sigma : float
        Width of the filters across, in pixels.

    Notes
    -----
    Six orientations of (u² − 1)·exp(−u²/2)·exp(−v²/(2·3²)), with u across and v along in units of σ, the
    Hilbert transforms of these in u, and a difference of Gaussians of σ and 1.6 σ. All have mean zero and
    absolute sum one. The image goes on beyond its frame by mirroring.
    """
    from scipy import fft

    margin = _support(sigma)
    padded = np.pad(np.asarray(lightness, np.float32), margin, mode="symmetric")
    size = tuple(fft.next_fast_len(n) for n in padded.shape)
    spectrum = fft.fft2(padded, size)
    out = np.empty((*lightness.shape, FILTERS), np.float32)
    inside = tuple(slice(2 * margin, 2 * margin + n) for n in lightness.shape)
    for number, bank in enumerate(_filters(float(sigma))):
        found = fft.ifft2(spectrum * fft.fft2(bank, size))[inside]
        out[..., 2 * number] = found.real
        if 2 * number + 1 < FILTERS:
            out[..., 2 * number + 1] = found.imag
    return out


def _support(sigma: float) -> int:
    return int(np.ceil(3 * _LONG * sigma))


@lru_cache(maxsize=8)
def _filters(sigma: float) -> tuple[NDArray[np.complex64], ...]:
    """Return pairs of filters as real and imaginary part, and the last one alone."""
    from scipy.special import dawsn

    reach = _support(sigma)
    rows, columns = np.mgrid[-reach : reach + 1, -reach : reach + 1] / sigma
    found = []
    for number in range(_DIRECTIONS):
        angle = np.pi * number / _DIRECTIONS
        u = rows * np.cos(angle) - columns * np.sin(angle)
        v = columns * np.cos(angle) + rows * np.sin(angle)
        long = np.exp(-(v**2) / (2 * _LONG**2))
        even = (u * u - 1) * np.exp(-u * u / 2)
        # The Hilbert transform of exp(−u²/2) is 2/√π · D(u/√2), D of Dawson; this is its second derivative.
        odd = 2 / np.sqrt(np.pi) * ((u * u - 1) * dawsn(u / np.sqrt(2)) - u / np.sqrt(2))
        found.append(_normed(even * long) + 1j * _normed(odd * long))
    squares = rows**2 + columns**2
    narrow, wide = (np.exp(-squares / (2 * s * s)) for s in (1.0, 1.6))
    found.append(_normed(narrow / narrow.sum() - wide / wide.sum()) + 0j)
    return tuple(one.astype(np.complex64) for one in found)


def _normed(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights of mean zero and absolute sum one."""
    centred = weights - weights.mean()
    result: NDArray[np.float64] = centred / np.abs(centred).sum()
    return result


def nearest(vectors: Floats, centres: Floats) -> NDArray[np.uint8]:
    """Return the number of the nearest centre of every vector, the first of equals.

    Examples
    --------
    >>> import numpy as np
    >>> nearest(np.array([[0.1], [0.9]]), np.array([[0.0], [1.0]]))
    array([0, 1], dtype=uint8)
    """
    flat = np.asarray(vectors, np.float32).reshape(-1, vectors.shape[-1])
    points = np.asarray(centres, np.float32)
    half = 0.5 * (points * points).sum(axis=1)
    found = np.empty(len(flat), np.uint8)
    for start in range(0, len(flat), _CHUNK):
        part = flat[start : start + _CHUNK]
        found[start : start + _CHUNK] = (half - part @ points.T).argmin(axis=1)
    return found.reshape(vectors.shape[:-1])


def cluster(vectors: Floats | Sequence[Floats], count: int, *, seed: int, rounds: int = 100) -> Floats:
    """Return centres by k-means: random vectors as a start (k-means++), then Lloyd's rounds until rest.

    Parameters
    ----------
    vectors : (n, dimensions) float array
    count : int
        How many centres.
    seed : int
    rounds : int
        At most so many; a centre that loses all its vectors stays where it is.

    Examples
    --------
    >>> import numpy as np
    >>> sorted(cluster(np.array([[0.0], [0.2], [5.0], [5.2]]), 2, seed=0)[:, 0].round(2).tolist())
    [0.10000000149011612, 5.099999904632568]
    """
    points = np.asarray(vectors, np.float64)
    rng = np.random.default_rng(seed)
    centres = _spread(points, count, rng)
    labels = None
    for _ in range(rounds):
        found = nearest(points.astype(np.float32), centres.astype(np.float32)).astype(np.int64)
        if labels is not None and np.array_equal(found, labels):
            break
        labels = found
        sizes = np.bincount(labels, minlength=count)
        sums = np.stack([np.bincount(labels, column, count) for column in points.T], axis=1)
        some = sizes > 0
        centres[some] = sums[some] / sizes[some, None]
    return centres.astype(np.float32)


def _spread(points: NDArray[np.float64], count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw vectors, each with a chance in proportion to its squared distance from those drawn before."""
    chosen = [int(rng.integers(len(points)))]
    distance = ((points - points[chosen[0]]) ** 2).sum(axis=1)
    for _ in range(count - 1):
        total = distance.cumsum()
        place = int(np.searchsorted(total, rng.random() * total[-1], side="right"))
        chosen.append(min(place, len(points) - 1))
        distance = np.minimum(distance, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
    return points[chosen].copy()
