"""How far a strategy looks: the window or the ball around a pixel."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.assignment.pair import Pair
from edgecritic.errors import InputError
from edgecritic.kernels.grid import Neighbourhood, ball, ball_size, box

__all__ = ["as_window", "window_around", "zone_ends", "reach_of", "reach_within", "MOST_OFFSETS"]

MOST_OFFSETS = 4_000_000
"""Largest neighbourhood that is tabulated (about 200 MB)."""


def as_window(window: Any) -> int:
    """Return the side of a window in pixels, an odd whole number of at least 3.

    Examples
    --------
    >>> as_window(5)
    5
    """
    try:
        side = operator.index(window)
    except TypeError:
        side = 0
    if isinstance(window, bool) or side < 3 or side % 2 == 0:
        raise InputError(f"window must be an odd whole number of pixels of at least 3, got {window!r}")
    return side


def window_around(pair: Pair, window: Any) -> Neighbourhood:
    """Return the offsets of a square or cubic window, nearest first.

    Examples
    --------
    >>> import numpy as np
    >>> empty = np.zeros((9, 9), bool)
    >>> window_around(Pair(empty, empty, (1.0, 1.0), 0.0), 5).distances.size
    25
    """
    return _window(pair.spacing, window)


def _window(spacing: tuple[float, ...], window: Any) -> Neighbourhood:
    side, ndim = as_window(window), len(spacing)
    _check_size(side**ndim, f"a window of {side} pixels in {ndim}-D")
    return _box(side, spacing)


def zone_ends(hood: Neighbourhood) -> NDArray[np.int64]:
    """Return where each zone, a run of offsets of one length, ends; the zero offset is a zone too.

    Examples
    --------
    >>> zone_ends(box(5, (1.0, 1.0)))
    array([ 1,  5,  9, 13, 21, 25])
    """
    return np.append(np.flatnonzero(np.diff(hood.distances)) + 1, hood.distances.size)


def reach_of(pair: Pair, window: Any = None) -> tuple[Neighbourhood, float]:
    """Return the offsets within the window, or within the tolerance if `window` is ``None``, and their limit.

    The limit is the tolerance, or the length of the longest offset of the window.
    """
    return reach_within(pair.tolerance, pair.spacing, window)


def reach_within(tolerance: float, spacing: tuple[float, ...], window: Any) -> tuple[Neighbourhood, float]:
    """Do what `reach_of` does, of a tolerance and pixel sizes."""
    if window is not None:
        hood = _window(spacing, window)
        return hood, float(hood.distances[-1])
    return _ball(tolerance, spacing), tolerance


@functools.lru_cache(maxsize=16)
def _ball(radius: float, spacing: tuple[float, ...]) -> Neighbourhood:
    _check_size(ball_size(radius, spacing), f"a tolerance of {radius:g}")
    return ball(radius, spacing)


@functools.lru_cache(maxsize=16)
def _box(side: int, spacing: tuple[float, ...]) -> Neighbourhood:
    return box(side, spacing)


def _check_size(offsets: float, what: str) -> None:
    if offsets > MOST_OFFSETS:
        raise InputError(
            f"{what} reaches about {offsets:.3g} pixels, more than the {MOST_OFFSETS} that can be searched",
            remedy="take a smaller one",
        )
