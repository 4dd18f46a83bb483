"""Thresholds that follow from a strength map alone: Otsu's and Rosin's."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgecritic.detectors.bowstring import bowstring
from edgecritic.errors import InputError
from edgecritic.inputs import as_strength

__all__ = ["AUTOMATIC", "automatic_threshold", "otsu"]

AUTOMATIC = ("rosin", "otsu")

_BINS = 256


def automatic_threshold(strength: Any, rule: str) -> float:
    """Return the threshold of a strength map by a rule of :data:`AUTOMATIC`.

    ``rosin`` is the high threshold of :func:`edgecritic.detectors.bowstring.bowstring`.
    """
    if rule not in AUTOMATIC:
        raise InputError(f"a rule for thresholds must be one of {', '.join(AUTOMATIC)}, got {rule!r}")
    return otsu(strength) if rule == "otsu" else float(bowstring(strength).high)


def otsu(strength: Any) -> float:
    """Return Otsu's threshold: the centre of the bin below which and above which classes vary least.

    The histogram has 256 bins between the least and the largest value; the threshold maximises the variance
    between the two classes, the first of equals. A constant map has its own value.

    References
    ----------
    .. [1] N. Otsu, "A threshold selection method from gray-level histograms", Automatica 11, 1975.

    Examples
    --------
    >>> 0.1 < otsu([[0.1, 0.12, 0.9, 0.88]]) < 0.88
    True
    """
    values = np.asarray(as_strength(strength), dtype=np.float64).reshape(-1)
    if values.min() == values.max():
        return float(values[0])
    counts, edges = np.histogram(values, bins=_BINS)
    centres = (edges[1:] + edges[:-1]) / 2
    below, above = np.cumsum(counts), np.cumsum(counts[::-1])[::-1]
    low = np.cumsum(counts * centres) / np.maximum(below, 1)
    high = (np.cumsum((counts * centres)[::-1]) / np.maximum(np.cumsum(counts[::-1]), 1))[::-1]
    between = below[:-1] * above[1:] * (low[:-1] - high[1:]) ** 2.0
    return float(centres[int(np.argmax(between))])
