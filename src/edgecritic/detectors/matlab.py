"""Edge maps with the rules of MATLAB's ``edge``: its scaling, thinning and thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from edgecritic.detectors.operators import Edges
from edgecritic.detectors.picture import FloatMap
from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray
from edgecritic.maps.hysteresis import connected_to

__all__ = [
    "MatlabEdges",
    "MatlabResponse",
    "edge_matlab",
    "matlab_response",
    "thin_across",
    "thin_diagonal",
    "GRIDS",
    "STYLES",
]

Method = Literal["sobel", "prewitt", "roberts", "log", "canny"]

STYLES = ("native", "matlab")
GRIDS = MappingProxyType({"sobel": 0.004, "prewitt": 0.004, "roberts": 0.004, "log": 0.0004, "canny": 0.01})
"""Methods, and the steps of the 99 thresholds that the complexity paper tried for each."""

_NEAR = 100 * float(np.finfo(np.float64).eps)
_AUTOMATIC = {"sobel": 4.0, "prewitt": 4.0, "roberts": 6.0}
_CANNY_BINS = 64
_CANNY_SHARE = 0.7
_CANNY_RATIO = 0.4


class MatlabEdges(NamedTuple):
    """A binary map and the threshold that made it, (low, high) for Canny."""

    edges: BoolArray
    threshold: float | tuple[float, float]


def edge_matlab(
    image: Any,
    method: Method = "sobel",
    threshold: float | tuple[float, float] | None = None,
    *,
    sigma: float | None = None,
    thinning: bool = True,
) -> MatlabEdges:
    """Return the binary map that MATLAB's ``edge(image, method, threshold)`` describes.

    Parameters
    ----------
    image : array_like
        Grey image, or colours, which are mixed to luminance. Unsigned integers count as [0, 1].
    method : {"sobel", "prewitt", "roberts", "log", "canny"}
    threshold : float or (low, high), optional
        Pixels must be stronger (>) than it. Canny takes the high threshold in ]0, 1] (low = 0.4·high) or
        both, as shares of the largest magnitude. Chosen from the image if not given.
    sigma : float, optional
        Scale of "log" (default 2) and "canny" (default √2).
    thinning : bool
        Whether edges of "sobel", "prewitt" and "roberts" are thinned.

    Returns
    -------
    MatlabEdges

    Notes
    -----
    Image values in [0, 1], border pixels repeated.

    - Sobel, Prewitt: masks divided by 8 and 6; Roberts: by 2. b = bx² + by² > T². Automatic
      T² = 4·mean(b), for Roberts 6·mean(b). Thinning: a pixel stays if abs(bx) ≥ abs(by) (less 100 eps)
      and b(left) ≤ b > b(right), or the same with by, up and down; neighbours outside of the image do not
      object. Roberts looks at the diagonal neighbours.
    - LoG: a kernel of side 2·ceil(3σ) + 1 with sum 0. The negative pixel of a neighbouring pair of opposite
      sign is marked if their difference exceeds T; an exact zero between opposite signs if it exceeds 2T.
      The frame is left out. Automatic T = 0.75·mean(abs(response)).
    - Canny: see the detector ``canny``; weak pixels exceed low, strong ones high, and weak ones stay if
      they are connected (8 neighbours) with a strong one. Automatic: high is the 70 % bin of a histogram
      of 64 bins, divided by 64.

    References
    ----------
    .. [1] The MathWorks, Image Processing Toolbox, function reference: edge.
    .. [2] J. Gimenez, J. Martinez and A. G. Flesia, "Unsupervised edge map scoring: a statistical complexity
       approach", CVIU 122, 2014.

    Examples
    --------
    >>> image = [[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]] * 4
    >>> edge_matlab(image, "sobel", 0.2).edges[1].astype(int)
    array([0, 0, 0, 1, 0, 0])
    """
    response = matlab_response(image, method, sigma=sigma)
    return response.cut(threshold, thinning=thinning)


@dataclass(frozen=True, slots=True)
class MatlabResponse:
    """The response of a method to an image, from which maps of many thresholds are cut.

    Attributes
    ----------
    method : str
    magnitude : float array
        Before thinning, in the units of the threshold.
    thin : float array
        The magnitude where the thinning rule keeps it, 0 elsewhere.
    automatic : float or (low, high)
        The threshold that is taken if none is given.
    """

    method: str
    magnitude: FloatMap
    thin: FloatMap
    automatic: float | tuple[float, float]

    def cut(
        self, threshold: float | tuple[float, float] | None = None, *, thinning: bool = True
    ) -> MatlabEdges:
        """Return the binary map of a threshold, see :func:`edge_matlab`."""
        if self.method == "canny":
            low, high = _both(self.automatic if threshold is None else threshold)
            return MatlabEdges(connected_to(self.thin > low, self.thin > high), (low, high))
        level = _single(self.automatic if threshold is None else threshold)
        return MatlabEdges((self.thin if thinning else self.magnitude) > level, level)


def matlab_response(image: Any, method: Method = "sobel", *, sigma: float | None = None) -> MatlabResponse:
    """Filter an image once, to cut maps of many thresholds from it.

    Parameters
    ----------
    image, method, sigma
        As for :func:`edge_matlab`.

    Examples
    --------
    >>> found = matlab_response([[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]] * 4, "prewitt")
    >>> [int(found.cut(level).edges.sum()) for level in (0.2, 0.6)]
    [4, 0]
    """
    from edgecritic.detectors.base import bind, respond
    from edgecritic.detectors.picture import as_picture

    if method not in GRIDS:
        raise InputError(f"method must be one of {', '.join(GRIDS)}, got {method!r}")
    scale = {} if sigma is None else {"sigma": sigma}
    if scale and method not in ("log", "canny"):
        raise InputError(f"method {method!r} has no sigma", remedy="leave it out")
    picture = as_picture(image)
    outcome = respond(bind(method, style="matlab", **scale), picture)
    magnitude, thin = outcome.magnitude, outcome.thin
    unit = 1 / (float(magnitude.max()) or 1.0) if method == "canny" else picture.scale
    magnitude *= unit
    thin *= unit
    automatic: float | tuple[float, float]
    if method == "canny":
        automatic = _automatic_canny(magnitude)
    elif method == "log":
        automatic = 0.75 * _mean_log(picture, sigma)
    else:
        automatic = float(np.sqrt(_AUTOMATIC[method] * np.mean(magnitude**2)))
    return MatlabResponse(method, magnitude, thin, automatic)


def thin_across(edges: Edges, slack: float) -> BoolArray:
    """Apply the thinning rule of Sobel and Prewitt: crests along a row or a column."""
    del slack
    down, right = np.abs(edges.direction[0]), np.abs(edges.direction[1])
    return _thin(edges.magnitude, right, down, ((0, 1), (1, 0)))


def thin_diagonal(edges: Edges, slack: float) -> BoolArray:
    """Apply the thinning rule of Roberts: crests along a diagonal."""
    del slack
    down, right = edges.direction
    # The responses of the two diagonal masks, which the gradient was made of.
    return _thin(edges.magnitude, np.abs(right + down), np.abs(right - down), ((1, 1), (1, -1)))


def _thin(
    magnitude: FloatMap, first: FloatMap, second: FloatMap, steps: Sequence[tuple[int, int]]
) -> BoolArray:
    squares = np.pad(magnitude**2, 1, constant_values=-np.inf)
    rows, columns = magnitude.shape
    here = squares[1:-1, 1:-1]
    keep = np.zeros(magnitude.shape, dtype=np.bool_)
    for (dy, dx), main, other in zip(steps, (first, second), (second, first), strict=True):
        before = squares[1 - dy : 1 - dy + rows, 1 - dx : 1 - dx + columns]
        after = squares[1 + dy : 1 + dy + rows, 1 + dx : 1 + dx + columns]
        keep |= (main >= other - _NEAR) & (before <= here) & (here > after)
    return keep & (magnitude > 0)


def _automatic_canny(magnitude: FloatMap) -> tuple[float, float]:
    bins = np.floor(magnitude * (_CANNY_BINS - 1) + 0.5).astype(np.int64)
    total = np.cumsum(np.bincount(bins.reshape(-1), minlength=_CANNY_BINS))
    high = (int(np.argmax(total > _CANNY_SHARE * magnitude.size)) + 1) / _CANNY_BINS
    return _CANNY_RATIO * high, high


def _both(threshold: Any) -> tuple[float, float]:
    if np.ndim(threshold) == 0:
        high = _single(threshold)
        low = _CANNY_RATIO * high
    else:
        low, high = (_single(part) for part in threshold)
    if not (0 <= low < high <= 1):
        raise InputError(f"thresholds of Canny must be 0 ≤ low < high ≤ 1, got {threshold!r}")
    return low, high


def _mean_log(picture: Any, sigma: float | None) -> float:
    from edgecritic.detectors.log import response_of_block

    total = 0.0
    for block in picture.blocks():
        total += float(np.abs(response_of_block(picture, block, sigma)).sum())
    return total / float(np.prod(picture.shape)) * float(picture.scale)


def _single(threshold: Any) -> float:
    try:
        level = float(threshold)
    except (TypeError, ValueError) as error:
        raise InputError(f"threshold must be one number, got {threshold!r}") from error
    if not (np.isfinite(level) and level >= 0):
        raise InputError(f"threshold must be a finite number ≥ 0, got {threshold!r}")
    return level
