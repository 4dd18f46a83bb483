"""Colours as people see them: from sRGB to L*a*b*."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["bins_of", "lab"]

Floats = NDArray[np.float32]

# sRGB primaries (IEC 61966-2-1) in XYZ; the rows add up to the white point D65.
_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_EDGE = 6 / 29


def lab(channels: list[Floats]) -> list[Floats]:
    """Return L* (0 to 100), a* and b* of sRGB channels in [0, 1]; of one grey channel L* alone.

    Examples
    --------
    >>> import numpy as np
    >>> [round(float(one[0, 0]), 1) for one in lab([np.ones((1, 1)), np.zeros((1, 1)), np.zeros((1, 1))])]
    [53.2, 80.1, 67.2]
    >>> round(float(lab([np.full((1, 1), 0.5)])[0][0, 0]), 2)
    53.39
    """
    linear = [_linear(np.asarray(one, np.float32)) for one in channels]
    if len(linear) == 1:
        return [116 * _curve(linear[0]) - 16]
    weights = (_XYZ / _XYZ.sum(axis=1, keepdims=True)).astype(np.float32)
    x, y, z = (_curve(row[0] * linear[0] + row[1] * linear[1] + row[2] * linear[2]) for row in weights)
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


def bins_of(values: Floats, low: float, high: float, bins: int) -> NDArray[np.uint8]:
    """Return which of `bins` equal parts of [low, high] each value lies in; values outside are clipped.

    Examples
    --------
    >>> import numpy as np
    >>> bins_of(np.array([-9.0, 0.0, 49.9, 50.0, 100.0]), 0, 100, 32)
    array([ 0,  0, 15, 16, 31], dtype=uint8)
    """
    found: NDArray[np.uint8] = np.clip((values - low) * (bins / (high - low)), 0, bins - 1).astype(np.uint8)
    return found


def _linear(values: Floats) -> Floats:
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4).astype(np.float32)


def _curve(values: Floats) -> Floats:
    cut = np.cbrt(values), values / (3 * _EDGE**2) + 4 / 29
    return np.where(values > _EDGE**3, *cut).astype(np.float32)
