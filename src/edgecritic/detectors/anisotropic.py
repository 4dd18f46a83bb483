"""Elongated Gaussian kernels in many orientations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgecritic.detectors.base import detector
from edgecritic.detectors.operators import Edges, Operator
from edgecritic.detectors.options import MOST_ROTATED_SCALE, orientations, pixel_scales
from edgecritic.detectors.oriented import bank_operator, responses, rotated_grid, square_pixels
from edgecritic.detectors.picture import FloatMap

__all__ = ["anisotropic", "anisotropic_kernels"]


@detector(
    "anisotropic",
    ndim=(2,),
    reference="Geusebroek, Smeulders & van de Weijer 2003",
    colour="channel maximum",
)
def anisotropic(
    spacing: Sequence[float], /, *, sigma_u: float = 1.0, sigma_v: float = 5.0, step: float = 5.0
) -> Operator:
    """Take the largest response to first derivatives of elongated Gaussians over all orientations.

    Parameters
    ----------
    spacing : one float per axis
        Must be equal along both axes.
    sigma_u, sigma_v : float
        Scales across and along the edge, in units of `spacing`.
    step : float
        Degrees between orientations; it divides 180.

    Notes
    -----
    Convolution with ∂g/∂u of g(u, v) = exp(−u²/2σᵤ² − v²/2σᵥ²), sampled on a square of radius ceil(4·max(σ))
    and scaled so that the positive weights have sum 1: an axis-parallel unit step gives 1. The magnitude is
    the largest absolute response over θ = 0, `step`, … < 180°, the first of equals. Colours: the strongest
    channel. The kernels are those of :func:`anisotropic_kernels`; the image is mirrored at its frame.

    References
    ----------
    .. [1] J.-M. Geusebroek, A. W. M. Smeulders and J. van de Weijer, "Fast anisotropic Gauss filtering", IEEE
       Transactions on Image Processing 12, 2003. https://doi.org/10.1109/TIP.2003.812429

    Examples
    --------
    >>> from edgecritic.detectors import detect
    >>> found = detect([[0.0] * 4 + [1.0] * 4] * 8, "anisotropic(step=10)")
    >>> round(found.maximum, 9), found.thin[4].nonzero()[0]
    (1.0, array([3]))
    """
    square_pixels("anisotropic", spacing)
    across, along = (
        pixel_scales(key, value, spacing, MOST_ROTATED_SCALE)[0]
        for key, value in (("sigma_u", sigma_u), ("sigma_v", sigma_v))
    )
    kernels = anisotropic_kernels(across, along, step=step)
    angles = np.arange(len(kernels)) * np.pi / len(kernels)
    cosines, sines = _exact(np.cos(angles)), _exact(np.sin(angles))

    def find(plane: FloatMap) -> Edges:
        inner = tuple(n - kernels[0].shape[0] + 1 for n in plane.shape)
        size, best, index = np.zeros(inner), np.zeros(inner), np.zeros(inner, dtype=np.int16)
        for number, response in enumerate(responses(plane, kernels)):
            strong = np.abs(response)
            # Symmetric places must choose alike in spite of rounding.
            wins = strong > size * (1 + 1e-12)
            np.copyto(size, strong, where=wins)
            np.copyto(best, response, where=wins)
            np.copyto(index, np.int16(number), where=wins)
        sign = np.sign(best)
        return Edges(size, (sines[index] * sign, cosines[index] * sign))

    return bank_operator(kernels[0].shape[0] // 2, find)


def anisotropic_kernels(sigma_u: float, sigma_v: float, *, step: float = 5.0) -> list[FloatMap]:
    """Return the kernels for convolution, one per orientation of the gradient from 0 to 180°.

    Examples
    --------
    >>> kernels = anisotropic_kernels(1, 5, step=5)
    >>> len(kernels), kernels[0].shape
    (36, (41, 41))
    """
    count = orientations(step, 180)
    kernels = []
    for angle in np.arange(count) * np.pi / count:
        u, v = rotated_grid(max(sigma_u, sigma_v), angle)
        kernel = -u * np.exp(-0.5 * ((u / sigma_u) ** 2 + (v / sigma_v) ** 2))
        # Exactly odd, so that the sum is 0.
        kernel = (kernel - kernel[::-1, ::-1]) / 2
        kernels.append(kernel / kernel[kernel > 0].sum())
    return kernels


def _exact(values: FloatMap) -> FloatMap:
    """Replace the rounding errors of right angles by 0."""
    return np.where(np.abs(values) < 1e-12, 0.0, values)
