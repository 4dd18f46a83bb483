"""The double threshold of Liu and others: Rosin's chord construction applied twice."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import as_strength

__all__ = ["Thresholds", "bowstring", "rosin_bin"]


class Thresholds(NamedTuple):
    """A low and a high threshold for hysteresis."""

    low: float
    high: float


def bowstring(strength: Any, *, bins: int = 101) -> Thresholds:
    """Choose both thresholds of hysteresis from the histogram of a strength map.

    Parameters
    ----------
    strength : array_like in [0, 1]
        The normalised gradient magnitude before non-maximum suppression, zeros included.
    bins : int
        Number of bins; bin i is centred at i / (bins − 1).

    Returns
    -------
    Thresholds
        low ≤ high, as bin / bins. (0, 0) if the map is constant 0.

    Notes
    -----
    The high threshold is the bin farthest from the chord between the peak of the histogram and the first
    empty bin to its right (the last bin if none is empty), see :func:`rosin_bin`. The low one is found in
    the same way below it: the values between the peak and the high threshold are stretched to [0, 1] and
    counted anew. The refinement step of the paper is not documented elsewhere and is left out.

    References
    ----------
    .. [1] P. L. Rosin, "Unimodal thresholding", Pattern Recognition 34, 2001.
       https://doi.org/10.1016/S0031-3203(00)00136-9
    .. [2] X. Liu, Y. Yu, B. Liu and Z. Li, "Bowstring-based dual-threshold computation method for adaptive
       Canny edge detector", IVCNZ 2013.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.repeat(np.arange(11) / 10, [1000, 300, 100, 40, 20, 10, 8, 6, 4, 2, 1])
    >>> round(bowstring(values[None], bins=11).high, 4)
    0.1818
    """
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 3:
        raise InputError(f"bins must be a whole number ≥ 3, got {bins!r}")
    values = np.asarray(as_strength(strength), dtype=np.float64).reshape(-1)
    counts = _count(values, bins)
    peak = int(np.argmax(counts))
    high = rosin_bin(counts)
    bottom, top = peak / (bins - 1), high / (bins - 1)
    below = values[(values >= bottom) & (values <= top)]
    if high == peak or below.size == 0:
        return Thresholds(high / bins, high / bins)
    counts = _count((below - bottom) / (top - bottom), bins)
    share = rosin_bin(counts) / (bins - 1)
    return Thresholds((peak + share * (high - peak)) / bins, high / bins)


def rosin_bin(counts: Any) -> int:
    """Return the bin farthest from the chord between the peak and the end of a histogram.

    The peak is the first largest bin; the end is the first empty bin to its right, else the last bin. Of
    equally far bins the first wins.

    Examples
    --------
    >>> rosin_bin([100, 30, 10, 5, 2, 0, 0])
    1
    """
    heights = np.asarray(counts, dtype=np.float64)
    peak = int(np.argmax(heights))
    empty = np.flatnonzero(heights[peak:] == 0)
    end = peak + int(empty[0]) if empty.size else heights.size - 1
    if end - peak < 2:
        return peak
    places = np.arange(peak + 1, end)
    rise = heights[end] - heights[peak]
    # The distance to the chord is this number divided by the chord's length.
    off = np.abs(rise * (places - peak) - (heights[places] - heights[peak]) * (end - peak))
    return int(places[np.argmax(off)])


def _count(values: NDArray[np.float64], bins: int) -> NDArray[np.int64]:
    return np.bincount(np.rint(values * (bins - 1)).astype(np.int64), minlength=bins)
