"""Steerable filters of order 1, 3 and 5."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.detectors.base import detector
from edgecritic.detectors.gradients import correlate, gaussian_derivative
from edgecritic.detectors.operators import Edges, Operator
from edgecritic.detectors.options import choice, pixel_scales
from edgecritic.detectors.oriented import bank_operator, square_pixels
from edgecritic.detectors.picture import FloatMap

__all__ = ["steerable", "template_terms", "harmonics"]

ORDERS = (1, 3, 5)
ANGLES = 36
NEWTON_STEPS = 4
_CHUNK = 1 << 14

_TERMS: dict[int, dict[tuple[int, int], float]] = {
    1: {(1, 0): float(np.sqrt(2 / np.pi))},
    3: {(1, 0): 0.966, (1, 2): 0.256},
    5: {(1, 0): 1.1215, (3, 0): 0.018, (1, 2): 0.5576, (3, 2): 0.0038, (1, 4): 0.0415},
}


@detector("steerable", ndim=(2,), reference="Jacob & Unser 2004", colour="channel maximum")
def steerable(spacing: Sequence[float], /, *, order: int = 5, sigma: float = 1.0) -> Operator:
    """Take the largest response over all angles of a filter that can be turned exactly.

    Parameters
    ----------
    spacing : one float per axis
        Must be equal along both axes.
    order : {1, 3, 5}
        1 is the gradient of a Gaussian; higher orders are longer along the edge.
    sigma : float
        Scale of the Gaussian, in units of `spacing`.

    Notes
    -----
    With g the Gaussian of scale σ and derivatives as indices, the filter at angle 0 is

    - order 1: sqrt(2/π)·gₓ
    - order 3: 0.966·gₓ + 0.256·σ²·gₓᵧᵧ
    - order 5: 1.1215·gₓ + 0.018·σ²·gₓₓₓ + 0.5576·σ²·gₓᵧᵧ + 0.0038·σ⁴·gₓₓₓᵧᵧ + 0.0415·σ⁴·gₓᵧᵧᵧᵧ

    Turned by θ, ∂x becomes cos θ ∂x + sin θ ∂y and ∂y becomes −sin θ ∂x + cos θ ∂y, so the response is a
    trigonometric polynomial of odd degrees up to `order`, whose coefficients are sums of separable
    responses. Its maximum is found at 36 angles and refined by Newton's method. Order 1 has the closed form
    of a gradient. Sampled kernels end at 4σ. Colours: the strongest channel.

    References
    ----------
    .. [1] W. T. Freeman and E. H. Adelson, "The design and use of steerable filters", IEEE TPAMI 13, 1991.
       https://doi.org/10.1109/34.93808
    .. [2] M. Jacob and M. Unser, "Design of steerable filters for feature detection using Canny-like
       criteria", IEEE TPAMI 26, 2004. https://doi.org/10.1109/TPAMI.2004.44

    Examples
    --------
    >>> from edgecritic.detectors import detect
    >>> found = detect([[0.0] * 4 + [0.5] + [1.0] * 4] * 9, "steerable(order=5, sigma=1)")
    >>> found.thin[4].nonzero()[0]
    array([4])
    """
    choice("order", order, ORDERS)
    square_pixels("steerable", spacing)
    scale = pixel_scales("sigma", sigma, spacing)[0]
    weights = [gaussian_derivative(scale, n) for n in range(order + 1)]
    radius = weights[0].size // 2
    pairs, matrix = harmonics(order, scale)

    def find(plane: FloatMap) -> Edges:
        basis = [correlate(plane, [weights[j], weights[i]], (radius, radius)) for i, j in pairs]
        return _largest(np.stack(basis), matrix, order)

    return bank_operator(radius, find)


def template_terms(order: int, sigma: float) -> dict[tuple[int, int], float]:
    """Return the coefficients of the filter at angle 0 by numbers of derivatives along x and y.

    Examples
    --------
    >>> template_terms(3, 2.0)
    {(1, 0): 0.966, (1, 2): 1.024}
    """
    choice("order", order, ORDERS)
    return {(a, b): value * sigma ** (a + b - 1) for (a, b), value in _TERMS[order].items()}


def harmonics(order: int, sigma: float) -> tuple[list[tuple[int, int]], NDArray[np.float64]]:
    """Return the separable derivatives that are needed and how they make up the harmonics.

    Returns
    -------
    pairs : list of (int, int)
        Derivatives along x and y.
    matrix : (order + 1, pairs) array
        Rows: the coefficients of cos θ, sin θ, cos 3θ, sin 3θ, …
    """
    pairs = [(n - j, j) for n in range(1, order + 1, 2) for j in range(n + 1)]
    angles = np.arange(4 * order) * np.pi / (2 * order)
    values = np.zeros((angles.size, len(pairs)))
    for (a, b), factor in template_terms(order, sigma).items():
        for row, angle in enumerate(angles):
            # Coefficients by powers of ∂y; the power of ∂x is what is left of a + b.
            turned = _expand([np.cos(angle), np.sin(angle)], a, [-np.sin(angle), np.cos(angle)], b)
            for j, value in enumerate(turned):
                values[row, pairs.index((a + b - j, j))] += factor * value
    matrix: NDArray[np.float64] = np.linalg.lstsq(_waves(angles, order), values, rcond=None)[0].astype(
        np.float64
    )
    return pairs, matrix


def _expand(first: list[float], a: int, second: list[float], b: int) -> FloatMap:
    """Return the coefficients of the product of two polynomials to the powers a and b."""
    product = np.ones(1)
    for factor in [first] * a + [second] * b:
        product = np.convolve(product, factor)
    return product


def _waves(angles: NDArray[Any], order: int) -> FloatMap:
    """Return cos mθ and sin mθ for m = 1, 3, … as columns."""
    return np.stack([wave(m * angles) for m in range(1, order + 1, 2) for wave in (np.cos, np.sin)], axis=-1)


def _largest(basis: FloatMap, matrix: FloatMap, order: int) -> Edges:
    shape = basis.shape[1:]
    flat = basis.reshape(len(basis), -1)
    magnitude, down, right = (np.empty(flat.shape[1]) for _ in range(3))
    for start in range(0, flat.shape[1], _CHUNK):
        part = slice(start, start + _CHUNK)
        coefficients = matrix @ flat[:, part]
        if order == 1:
            right[part], down[part] = coefficients
            magnitude[part] = np.hypot(*coefficients)
        else:
            angle, magnitude[part] = _turn(coefficients, order)
            right[part], down[part] = np.cos(angle), np.sin(angle)
    return Edges(magnitude.reshape(shape), (down.reshape(shape), right.reshape(shape)))


def _turn(coefficients: FloatMap, order: int) -> tuple[FloatMap, FloatMap]:
    """Return the angle of the largest value of every trigonometric polynomial, and this value."""
    spread = np.pi / ANGLES
    grid = np.arange(ANGLES) * spread
    values = _waves(grid, order) @ coefficients
    index = np.abs(values).argmax(axis=0)
    # Odd degrees only: the value half a turn away is the negative one.
    start = grid[index] + np.pi * (values[index, np.arange(index.size)] < 0)
    angle = start.copy()
    for _ in range(NEWTON_STEPS):
        _, slope, bend = _derivatives(angle, coefficients, order)
        move = np.divide(-slope, bend, out=np.zeros_like(slope), where=bend < 0)
        angle = np.clip(angle + move, start - spread, start + spread)
    return angle, np.maximum(_derivatives(angle, coefficients, order)[0], np.abs(values).max(axis=0))


def _derivatives(angle: FloatMap, coefficients: FloatMap, order: int) -> tuple[FloatMap, FloatMap, FloatMap]:
    """Return the value, the first and the second derivative at the angles."""
    cosine, sine = np.cos(angle), np.sin(angle)
    double_cosine, double_sine = cosine**2 - sine**2, 2 * sine * cosine
    value, slope, bend = (np.zeros(angle.size) for _ in range(3))
    for row, m in enumerate(range(1, order + 1, 2)):
        a, b = coefficients[2 * row], coefficients[2 * row + 1]
        term = a * cosine + b * sine
        value += term
        slope += m * (b * cosine - a * sine)
        bend -= m * m * term
        cosine, sine = (
            cosine * double_cosine - sine * double_sine,
            sine * double_cosine + cosine * double_sine,
        )
    return value, slope, bend
