"""The Laplacian of Gaussian: edges are its zero crossings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from edgecritic.detectors.base import detector
from edgecritic.detectors.gradients import correlate, gaussian, gaussian_derivative
from edgecritic.detectors.matlab import STYLES
from edgecritic.detectors.operators import Edges, Operator
from edgecritic.detectors.options import choice, pixel_scales
from edgecritic.detectors.picture import Block, FloatMap, Picture
from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray

__all__ = ["log", "laplacian_kernel", "response_of_block", "zero_crossings"]

DEFAULT_SIGMA = 2.0


@detector("log", ndim=(2, 3), reference="Marr & Hildreth 1980", colour="luminance")
def log(spacing: Sequence[float], /, *, sigma: float = DEFAULT_SIGMA, style: str = "native") -> Operator:
    """Mark where the Laplacian of the smoothed image changes its sign.

    Parameters
    ----------
    spacing : one float per axis
    sigma : float
        Scale of the Gaussian, in units of `spacing`.
    style : {"native", "matlab"}
        "matlab" has a kernel of side 2·ceil(3σ) + 1 and marks the negative pixel of a pair, see
        :func:`edgecritic.detectors.matlab.edge_matlab`.

    Notes
    -----
    The strength of a crossing is the difference of the Laplacian between the two neighbours; of the pair
    the pixel nearer to zero is marked (both if equally near). An exact zero between opposite signs is
    marked with half the difference of its neighbours. A crossing has no width: strength and thin map are
    the same but for the frame, which the thin map leaves out. The sampled second derivatives are
    corrected to a sum of 0; where pixels are not square (cubic) also to be exact on parabolas. Colours are
    mixed to luminance.

    References
    ----------
    .. [1] D. Marr and E. Hildreth, "Theory of edge detection", Proceedings of the Royal Society B 207, 1980.
       https://doi.org/10.1098/rspb.1980.0020

    Examples
    --------
    >>> from edgecritic.detectors import detect
    >>> found = detect([[0.0] * 6 + [0.5] + [1.0] * 6] * 5, "log(sigma=1)")
    >>> found.thin[2].nonzero()[0]
    array([6])
    """
    choice("style", style, STYLES)
    scales = pixel_scales("sigma", sigma, spacing)
    if style == "matlab":
        return _matlab(spacing, scales[0])
    smooths = [gaussian(s) for s in scales]
    exact = len(set(spacing)) > 1
    bends = [_bend(s, size, exact) for s, size in zip(scales, spacing, strict=True)]
    reach = tuple(row.size // 2 for row in smooths)

    def respond(planes: Sequence[FloatMap]) -> Edges:
        total: Any = 0
        for axis in range(len(spacing)):
            weights = [bends[i] if i == axis else smooths[i] for i in range(len(spacing))]
            total = total + correlate(planes[0], weights, reach)
        return _crossings(total, nearest=True, noise=_noise(planes[0]))

    wide = tuple(r + 1 for r in reach)
    return Operator(reach=wide, respond=respond, thin=_interior, colour="luminance")


def laplacian_kernel(sigma: float) -> FloatMap:
    """Return the 2-D kernel of MATLAB's LoG: side 2·ceil(3σ) + 1, mean 0.

    Examples
    --------
    >>> laplacian_kernel(0.5).shape
    (5, 5)
    """
    half = math.ceil(3 * sigma)
    row = np.exp(-(np.arange(-half, half + 1) ** 2) / (2 * sigma**2))
    bell = np.outer(row, row)
    bell[bell < np.finfo(np.float64).eps * bell.max()] = 0
    bell /= bell.sum()
    squares = np.add.outer(np.arange(-half, half + 1) ** 2, np.arange(-half, half + 1) ** 2)
    kernel = bell * (squares - 2 * sigma**2) / sigma**4
    result: FloatMap = kernel - kernel.mean()
    return result


def response_of_block(picture: Picture, block: Block, sigma: float | None) -> FloatMap:
    """Return the LoG response of a block, without scaling."""
    kernel = laplacian_kernel(DEFAULT_SIGMA if sigma is None else sigma)
    half = kernel.shape[0] // 2
    plane = picture.cut(block, (half, half), "repeat", True)[0]
    return _filter(plane, kernel)


def zero_crossings(response: Any, *, nearest: bool = True) -> FloatMap:
    """Return the strength of the zero crossings of an array, 0 where there is none.

    Parameters
    ----------
    response : array_like
    nearest : bool
        Mark the pixel of a pair that is nearer to zero; else the negative one.

    Examples
    --------
    >>> zero_crossings([[3.0, 1.0, -2.0, -2.0]])
    array([[0., 3., 0., 0.]])
    """
    values = np.asarray(response, dtype=np.float64)
    strength = np.zeros(values.shape)
    for axis in range(values.ndim):
        lead, rest = (slice(None),) * axis, (slice(None),) * (values.ndim - axis - 1)
        first, second = (*lead, slice(None, -1), *rest), (*lead, slice(1, None), *rest)
        a, b = values[first], values[second]
        gap = np.where(((a < 0) & (b > 0)) | ((a > 0) & (b < 0)), np.abs(a - b), 0.0)
        take_first = np.abs(a) <= np.abs(b) if nearest else a < 0
        take_second = np.abs(b) <= np.abs(a) if nearest else b < 0
        for part, chosen in ((first, take_first), (second, take_second)):
            strength[part] = np.maximum(strength[part], np.where(chosen, gap, 0.0))
        middle = (*lead, slice(1, -1), *rest)
        before, after = (*lead, slice(None, -2), *rest), (*lead, slice(2, None), *rest)
        opposite = (values[middle] == 0) & (np.sign(values[before]) * np.sign(values[after]) < 0)
        half = np.where(opposite, np.abs(values[before] - values[after]) / 2, 0.0)
        strength[middle] = np.maximum(strength[middle], half)
    return strength


def _matlab(spacing: Sequence[float], sigma: float) -> Operator:
    if len(spacing) != 2 or spacing[0] != spacing[1]:
        raise InputError("style='matlab' works on images with square pixels", remedy="use style='native'")
    kernel = laplacian_kernel(sigma) / spacing[0] ** 2
    half = kernel.shape[0] // 2

    def respond(planes: Sequence[FloatMap]) -> Edges:
        return _crossings(_filter(planes[0], kernel), nearest=False, noise=_noise(planes[0]))

    wide = (half + 1, half + 1)
    return Operator(reach=wide, respond=respond, thin=_interior, border="repeat", colour="luminance")


def _filter(plane: FloatMap, kernel: FloatMap) -> FloatMap:
    from scipy.signal import oaconvolve

    # The kernel is symmetric and its mean is 0: an offset of the image does not count.
    offset = float(plane.mean())
    result: FloatMap = oaconvolve(plane - offset, kernel, mode="valid")
    return result


def _bend(sigma: float, size: float, exact: bool) -> FloatMap:
    bend = gaussian_derivative(sigma, 2)
    bend = bend - bend.sum() * gaussian(sigma)
    if exact:
        half = bend.size // 2
        bend = bend / (bend * np.arange(-half, half + 1) ** 2).sum() * 2
    result: FloatMap = bend / size**2
    return result


def _noise(plane: FloatMap) -> float:
    return 1e-12 * float(np.abs(plane).max())


def _crossings(response: FloatMap, *, nearest: bool, noise: float) -> Edges:
    """Return the crossings of a response that has a margin of one pixel."""
    response = np.where(np.abs(response) <= noise, 0.0, response)
    inner = (slice(1, -1),) * response.ndim
    slopes = []
    for axis in range(response.ndim):
        lead, rest = inner[:axis], inner[axis + 1 :]
        slopes.append(response[(*lead, slice(None, -2), *rest)] - response[(*lead, slice(2, None), *rest)])
    strength = zero_crossings(response, nearest=nearest)[inner]
    return Edges(np.ascontiguousarray(strength), tuple(slopes))


def _interior(edges: Edges, slack: float) -> BoolArray:
    keep = np.zeros(edges.magnitude.shape, dtype=np.bool_)
    inner = (slice(1, -1),) * keep.ndim
    keep[inner] = edges.magnitude[inner] > slack
    return keep
