"""Half Gaussian kernels: one for each half of an edge, so that corners keep their two directions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgecritic.detectors.base import detector
from edgecritic.detectors.operators import Edges, Operator
from edgecritic.detectors.options import MOST_ROTATED_SCALE, orientations, pixel_scales
from edgecritic.detectors.oriented import bank_operator, responses, rotated_grid, square_pixels
from edgecritic.detectors.picture import FloatMap

__all__ = ["half_gaussian", "half_gaussian_kernels"]

_ON_AXIS = 1e-9


@detector(
    "half_gaussian",
    ndim=(2,),
    reference="Magnier, Montesinos & Diep 2011",
    colour="channel maximum",
)
def half_gaussian(
    spacing: Sequence[float], /, *, sigma_u: float = 1.0, sigma_v: float = 5.0, step: float = 5.0
) -> Operator:
    """Take the largest minus the smallest response to halves of elongated Gaussian derivatives.

    Parameters
    ----------
    spacing : one float per axis
        Must be equal along both axes.
    sigma_u, sigma_v : float
        Scales across and along the edge, in units of `spacing`.
    step : float
        Degrees between orientations; it divides 360.

    Notes
    -----
    Convolution with K(u, v) = −u·exp(−u²/2σᵤ² − v²/2σᵥ²) for v ≤ 0 (after the flip of the convolution it
    looks along v ≥ 0), on a square of radius ceil(4·max(σ)); positive and negative weights are scaled to
    sums of 1 and −1. θ runs through the full circle. A straight edge gives R(θ + 180°) = −R(θ), so an
    axis-parallel unit step has the magnitude max R − min R = 2. With θ₁ and θ₂ the angles of both, the
    gradient direction is (cos θ₁ − cos θ₂, sin θ₁ − sin θ₂): it bisects the two halves of the edge, which
    lie at θ₁ + 90° and θ₂ + 90°. Colours: the strongest channel. The kernels are those of
    :func:`half_gaussian_kernels`; the image is mirrored at its frame. The gamma correction and the
    recursive filters of the paper are left out.

    References
    ----------
    .. [1] B. Magnier, P. Montesinos and D. Diep, "Fast anisotropic edge detection using gamma correction in
       color images", ISPA 2011.

    Examples
    --------
    >>> from edgecritic.detectors import detect
    >>> found = detect([[0.0] * 4 + [1.0] * 4] * 8, "half_gaussian(step=10)")
    >>> round(found.maximum, 9), found.thin[4].nonzero()[0]
    (2.0, array([3]))
    """
    square_pixels("half_gaussian", spacing)
    across, along = (
        pixel_scales(key, value, spacing, MOST_ROTATED_SCALE)[0]
        for key, value in (("sigma_u", sigma_u), ("sigma_v", sigma_v))
    )
    kernels = half_gaussian_kernels(across, along, step=step)
    angles = np.arange(len(kernels)) * 2 * np.pi / len(kernels)
    cosines, sines = np.cos(angles), np.sin(angles)

    def find(plane: FloatMap) -> Edges:
        inner = tuple(n - kernels[0].shape[0] + 1 for n in plane.shape)
        high, low = np.full(inner, -np.inf), np.full(inner, np.inf)
        top, bottom = np.zeros(inner, dtype=np.int16), np.zeros(inner, dtype=np.int16)
        for number, response in enumerate(responses(plane, kernels)):
            wins = response > high
            np.copyto(high, response, where=wins)
            np.copyto(top, np.int16(number), where=wins)
            wins = response < low
            np.copyto(low, response, where=wins)
            np.copyto(bottom, np.int16(number), where=wins)
        direction = sines[top] - sines[bottom], cosines[top] - cosines[bottom]
        return Edges(high - low, direction)

    return bank_operator(kernels[0].shape[0] // 2, find)


def half_gaussian_kernels(sigma_u: float, sigma_v: float, *, step: float = 5.0) -> list[FloatMap]:
    """Return the kernels for convolution, one per orientation from 0 to 360°.

    Examples
    --------
    >>> kernels = half_gaussian_kernels(1, 5, step=5)
    >>> len(kernels), bool(abs(kernels[36] - kernels[0][::-1, ::-1]).max() < 1e-9)
    (72, True)
    """
    count = orientations(step, 360)
    kernels = []
    for angle in np.arange(count) * 2 * np.pi / count:
        u, v = rotated_grid(max(sigma_u, sigma_v), angle)
        kernel = -u * np.exp(-0.5 * ((u / sigma_u) ** 2 + (v / sigma_v) ** 2))
        kernel[(v > _ON_AXIS) | (np.abs(u) < _ON_AXIS)] = 0
        kernel[kernel > 0] /= kernel[kernel > 0].sum()
        kernel[kernel < 0] /= -kernel[kernel < 0].sum()
        kernels.append(kernel)
    return kernels
