"""Canny's gradient: the derivative of a Gaussian."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from edgecritic.detectors.base import detector
from edgecritic.detectors.gradients import Weights, gaussian, gaussian_slope, separable_gradient
from edgecritic.detectors.matlab import STYLES
from edgecritic.detectors.nms import crests
from edgecritic.detectors.operators import Edges, Operator
from edgecritic.detectors.options import check_most, choice, not_negative, pixel_scales
from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray

__all__ = ["canny", "matlab_kernels"]

KERNELS = ("even", "odd")


@detector("canny", ndim=(2, 3), reference="Canny 1986")
def canny(
    spacing: Sequence[float],
    /,
    *,
    sigma: float | None = None,
    smooth: float = 0.0,
    style: str = "native",
    kernel: str = "even",
    neighbours: str = "interpolated",
) -> Operator:
    """Take the gradient with the derivative of a Gaussian.

    Parameters
    ----------
    spacing : one float per axis
    sigma : float, optional
        Scale of the Gaussian whose derivative is taken, in units of `spacing`; 1 by default, √2 with
        ``style="matlab"``.
    smooth : float
        Scale of a Gaussian that smooths the image before, 0 for none.
    style : {"native", "matlab"}
        "matlab" follows MATLAB's ``edge`` since 2011, see :func:`matlab_kernels` and
        :func:`edgecritic.detectors.matlab.edge_matlab`.
    kernel : {"even", "odd"}
        Length of MATLAB's sampled Gaussian: even in 2011 and after, odd in newer releases.
    neighbours : {"interpolated", "nearest"}
        What crests are compared with, see :func:`edgecritic.detectors.nms.crests`.

    Notes
    -----
    Sampled Gaussians end at 4σ. Where pixels are not square (cubic), the weights are scaled to be exact on
    ramps, which a sampled Gaussian of less than a pixel is not; along no axis is σ less than 0.2 pixels.
    Colours are joined by Di Zenzo's tensor. The thin map is thresholded or goes through hysteresis
    (:meth:`~edgecritic.detectors.base.Detection.hysteresis`). The six Canny maps of the survey of boundary
    matching are ``canny(sigma=s, smooth=t, neighbours=nearest)`` with s from 1 to 3 and t from 1 to 2.

    References
    ----------
    .. [1] J. Canny, "A computational approach to edge detection", IEEE TPAMI 8, 1986.
       https://doi.org/10.1109/TPAMI.1986.4767851

    Examples
    --------
    >>> from edgecritic.detectors import detect
    >>> found = detect([[0.0] * 4 + [0.5] + [1.0] * 4] * 3, "canny(sigma=1)")
    >>> found.thin[1].nonzero()[0]
    array([4])
    """
    choice("style", style, STYLES)
    choice("kernel", kernel, KERNELS)
    choice("neighbours", neighbours, ("interpolated", "nearest"))
    first = not_negative("smooth", smooth)
    check_most("smooth", first, spacing)
    wanted = (1.0 if style == "native" else math.sqrt(2)) if sigma is None else sigma
    scales = pixel_scales("sigma", wanted, spacing)
    if style == "matlab":
        return _matlab(spacing, scales[0], first, kernel)
    exact = len(set(spacing)) > 1
    softs = [_soft(first / size) for size in spacing]
    smooths = [np.convolve(gaussian(scale), soft) for scale, soft in zip(scales, softs, strict=True)]
    slopes = [np.convolve(_slope(scale, exact), soft) for scale, soft in zip(scales, softs, strict=True)]
    operator = separable_gradient(slopes, smooths, spacing)
    return operator if neighbours == "interpolated" else replace(operator, thin=_nearest)


def matlab_kernels(sigma: float, kernel: str = "even") -> tuple[Weights, Weights]:
    """Return the smoothing and the differencing weights of MATLAB's Canny, for correlation.

    The Gaussian is sampled at −n … n in steps of 1 with n = (8·ceil(σ) − 1)/2 ("even", at half numbers) or
    n = ceil(4σ) ("odd"), with sum 1. The differences are those of the Gaussian, central and one-sided at
    the ends; their positive and negative parts are scaled to sums of 1 and −1.

    With "even" weights every pass answers for the point half a pixel after a pixel: values at (r, c) belong
    to (r + ½, c + ½). A weight of 0 is put in front to give the array a middle.

    Examples
    --------
    >>> smooth, slope = matlab_kernels(1.0)
    >>> smooth.size, float(slope.sum())
    (9, 0.0)
    """
    half = (8 * math.ceil(sigma) - 1) / 2 if kernel == "even" else math.ceil(4 * sigma)
    places = np.arange(-half, half + 1)
    bell = np.exp(-(places**2) / (2 * sigma**2))
    bell /= bell.sum()
    slope = np.gradient(bell)
    slope[slope > 0] /= slope[slope > 0].sum()
    slope[slope < 0] /= -slope[slope < 0].sum()
    lead = [0.0] if kernel == "even" else []
    # Convolution turns the weights around; the bell is the same both ways.
    return np.concatenate([lead, bell]), np.concatenate([lead, slope[::-1]])


def _slope(sigma: float, exact: bool) -> Weights:
    weights = gaussian_slope(sigma)
    if not exact:
        return weights
    half = weights.size // 2
    result: Weights = weights / (weights * np.arange(-half, half + 1)).sum()
    return result


def _soft(sigma: float) -> Weights:
    return gaussian(sigma) if sigma > 0 else np.ones(1)


def _matlab(spacing: Sequence[float], sigma: float, smooth: float, kernel: str) -> Operator:
    if len(spacing) != 2 or spacing[0] != spacing[1] or smooth:
        raise InputError(
            "style='matlab' works on images with square pixels and without smooth",
            remedy="use style='native'",
        )
    bell, slope = matlab_kernels(sigma, kernel)
    operator = separable_gradient([slope] * 2, [bell] * 2, spacing)
    return replace(operator, thin=_both_sides, border="repeat", colour="luminance")


def _both_sides(edges: Edges, slack: float) -> BoolArray:
    del slack
    return crests(edges.magnitude, edges.direction, ties="both")


def _nearest(edges: Edges, slack: float) -> BoolArray:
    return crests(edges.magnitude, edges.direction, neighbours="nearest", slack=slack)
