"""Gradients by separable filters, in 2-D and 3-D, of one channel or of colours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edgecritic.detectors.operators import Edges, Operator
from edgecritic.detectors.picture import FloatMap

__all__ = [
    "Weights",
    "gaussian",
    "gaussian_slope",
    "gaussian_derivative",
    "correlate",
    "join_channels",
    "separable_gradient",
]

Weights = NDArray[np.float64]
"""An odd number of weights; the middle one belongs to the pixel itself (correlation, no flip)."""

TRUNCATE = 4.0
"""Sampled Gaussians end at this many standard deviations."""


def gaussian(sigma: float, radius: int | None = None) -> Weights:
    """Return Gaussian weights at whole numbers, with sum 1; `radius` is 4·sigma, rounded, by default.

    Examples
    --------
    >>> gaussian(0.5)
    array([2.638651e-04, 1.064508e-01, 7.865707e-01, 1.064508e-01, 2.638651e-04])
    """
    reach = int(TRUNCATE * sigma + 0.5) if radius is None else radius
    places = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-0.5 * (places / sigma) ** 2)
    result: Weights = weights / weights.sum()
    return result


def gaussian_slope(sigma: float, radius: int | None = None) -> Weights:
    """Return weights x/σ²·g(x) that take the first derivative of the smoothed signal."""
    return gaussian_derivative(sigma, 1, radius)


def gaussian_derivative(sigma: float, order: int, radius: int | None = None) -> Weights:
    """Return weights that take the derivative of the given order of the smoothed signal.

    (−1)ⁿ·g⁽ⁿ⁾(x) = Heₙ(x/σ)/σⁿ · g(x) with the Hermite polynomials He and g of sum 1.
    """
    smooth = gaussian(sigma, radius)
    reach = smooth.size // 2
    places = np.arange(-reach, reach + 1) / sigma
    hermite = np.polynomial.hermite_e.hermeval(places, [0] * order + [1])
    result: Weights = hermite / sigma**order * smooth
    return result


def correlate(plane: FloatMap, weights: Sequence[Weights], reach: Sequence[int]) -> FloatMap:
    """Filter along every axis and take the margin of `reach` pixels away.

    Parameters
    ----------
    plane : array
        With the margin.
    weights : one array per axis
    reach : one int per axis
        At least the radius of the weights of this axis.
    """
    from scipy.ndimage import correlate1d

    result = plane
    for axis, (row, margin) in enumerate(zip(weights, reach, strict=True)):
        if row.size > 1:
            result = correlate1d(result, row, axis=axis, mode="constant")
        elif row[0] != 1:
            result = result * row[0]
        stop = result.shape[axis] - margin
        result = result[(slice(None),) * axis + (slice(margin, stop),)]
    return result


def join_channels(gradients: Sequence[tuple[FloatMap, ...]]) -> Edges:
    """Return magnitude and direction of the gradients of one or several channels.

    One channel: the length of the gradient. Several channels of an image: Di Zenzo's tensor with
    E = ΣXₖ², F = ΣXₖ·Yₖ, G = ΣYₖ²; the magnitude is sqrt(λ) with λ = ½·(E + G + sqrt((E − G)² + 4F²)),
    the direction is that of λ, in the sense in which the sum of all channels grows.

    References
    ----------
    .. [1] S. Di Zenzo, "A note on the gradient of a multi-image", Computer Vision, Graphics, and Image
       Processing 33, 1986. https://doi.org/10.1016/0734-189X(86)90223-9

    Examples
    --------
    >>> import numpy as np
    >>> red, blue = (np.array([[3.0]]), np.array([[0.0]])), (np.array([[0.0]]), np.array([[4.0]]))
    >>> float(join_channels([red, blue]).magnitude[0, 0])
    4.0
    """
    if len(gradients) == 1:
        parts = gradients[0]
        squares = parts[0] * parts[0]
        for part in parts[1:]:
            squares += part * part
        return Edges(np.sqrt(squares, out=squares), parts)
    e = sum((x * x for _, x in gradients), np.float64(0))
    f = sum((x * y for y, x in gradients), np.float64(0))
    g = sum((y * y for y, _ in gradients), np.float64(0))
    largest = 0.5 * (e + g + np.hypot(e - g, 2 * f))
    wide = e >= g
    across, down = np.where(wide, largest - g, f), np.where(wide, f, largest - e)
    total_y = sum((y for y, _ in gradients), np.float64(0))
    total_x = sum((x for _, x in gradients), np.float64(0))
    backward = across * total_x + down * total_y < 0
    sense = np.where(backward, -1.0, 1.0)
    return Edges(np.sqrt(largest), (down * sense, across * sense))


def separable_gradient(
    slopes: Sequence[Weights], smooths: Sequence[Weights], spacing: Sequence[float]
) -> Operator:
    """Return the operator that takes the slope along one axis and smooths along the others.

    Parameters
    ----------
    slopes, smooths : one array of weights per axis
    spacing : one float per axis
        Slopes are divided by it. The crests are looked for along the physical direction.
    """
    reach = tuple(max(a.size, b.size) // 2 for a, b in zip(slopes, smooths, strict=True))
    scaled = [slope / size for slope, size in zip(slopes, spacing, strict=True)]

    def respond(planes: Sequence[FloatMap]) -> Edges:
        edges = join_channels([_slopes(plane, scaled, smooths, reach) for plane in planes])
        if any(size != 1 for size in spacing):
            steps = zip(edges.direction, spacing, strict=True)
            edges = Edges(edges.magnitude, tuple(part / size for part, size in steps))
        return edges

    return Operator(reach=reach, respond=respond)


def _slopes(
    plane: FloatMap, slopes: Sequence[Weights], smooths: Sequence[Weights], reach: Sequence[int]
) -> tuple[FloatMap, ...]:
    if plane.ndim == 2:
        from edgecritic.kernels.separable import gradient_of_plane

        tall, wide = reach
        return gradient_of_plane(
            np.ascontiguousarray(plane),
            _widen(slopes[0], tall),
            _widen(smooths[0], tall),
            _widen(slopes[1], wide),
            _widen(smooths[1], wide),
        )
    parts = []
    for axis in range(plane.ndim):
        weights = [slopes[i] if i == axis else smooths[i] for i in range(plane.ndim)]
        parts.append(correlate(plane, weights, reach))
    return tuple(parts)


def _widen(weights: Weights, reach: int) -> Weights:
    return np.pad(weights, reach - weights.size // 2)
