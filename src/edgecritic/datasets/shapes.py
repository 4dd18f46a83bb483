"""Masks of simple shapes in two and three dimensions, and the rim rule that gives them a truth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from edgecritic.inputs import BoolArray

__all__ = ["SHAPES", "SOLIDS", "polygon", "rim"]

Grid = NDArray[np.float64]


def rim(mask: BoolArray) -> BoolArray:
    """Return the one-pixel rim around a mask: its dilation by the cross, without the mask.

    Examples
    --------
    >>> import numpy as np
    >>> mask = np.zeros((3, 3), dtype=bool); mask[1, 1] = True
    >>> rim(mask).astype(int)
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 1, 0]])
    """
    grown = mask.copy()
    for axis in range(mask.ndim):
        ahead = [slice(None)] * mask.ndim
        behind = [slice(None)] * mask.ndim
        ahead[axis], behind[axis] = slice(1, None), slice(None, -1)
        grown[tuple(ahead)] |= mask[tuple(behind)]
        grown[tuple(behind)] |= mask[tuple(ahead)]
    return grown & ~mask


def polygon(y: Grid, x: Grid, corners: NDArray[np.float64]) -> BoolArray:
    """Return which points lie inside a polygon (even-odd rule); `corners` has rows (y, x)."""
    inside = np.zeros(np.broadcast(y, x).shape, dtype=np.bool_)
    for (y0, x0), (y1, x1) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        if y0 == y1:
            continue
        crosses = (y0 > y) != (y1 > y)
        inside ^= crosses & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
    return inside


def _square(y: Grid, x: Grid, radius: float, _angle: float) -> BoolArray:
    return np.asarray(np.maximum(abs(y), abs(x)) <= 0.8 * radius)


def _disk(y: Grid, x: Grid, radius: float, _angle: float) -> BoolArray:
    return np.asarray(y**2 + x**2 <= radius**2)


def _triangle(y: Grid, x: Grid, radius: float, angle: float) -> BoolArray:
    return polygon(y, x, _circle(3, angle) * radius)


def _star(y: Grid, x: Grid, radius: float, angle: float) -> BoolArray:
    reach = np.where(np.arange(10) % 2 == 0, radius, 0.45 * radius)
    return polygon(y, x, _circle(10, angle) * reach[:, None])


def _bar(y: Grid, x: Grid, radius: float, angle: float) -> BoolArray:
    along, across = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
    return np.asarray((abs(along) <= radius) & (abs(across) <= 1.5))


def _dot(y: Grid, x: Grid, _radius: float, _angle: float) -> BoolArray:
    return np.asarray(y**2 + x**2 <= 2.5**2)


def _circle(count: int, angle: float) -> NDArray[np.float64]:
    turns = angle + np.arange(count) * 2 * np.pi / count
    return np.stack([np.sin(turns), np.cos(turns)], axis=1)


SHAPES: dict[str, Callable[[Grid, Grid, float, float], BoolArray]] = {
    "square": _square,
    "disk": _disk,
    "triangle": _triangle,
    "star": _star,
    "bar": _bar,
    "dot": _dot,
}
"""Functions of (rows, columns) relative to the centre, radius and angle."""


def _ball(z: Grid, y: Grid, x: Grid, rng: np.random.Generator) -> BoolArray:
    centre = rng.uniform(-0.1, 0.1, 3)
    radius = rng.uniform(0.55, 0.75)
    return np.asarray((z - centre[0]) ** 2 + (y - centre[1]) ** 2 + (x - centre[2]) ** 2 <= radius**2)


def _tube(z: Grid, y: Grid, x: Grid, rng: np.random.Generator) -> BoolArray:
    swing, phase = rng.uniform(0.15, 0.3), rng.uniform(0, 2 * np.pi)
    radius = rng.uniform(0.2, 0.35)
    around = (y - swing * np.sin(np.pi * z + phase)) ** 2 + (x - swing * np.cos(np.pi * z + phase)) ** 2
    return np.asarray((around <= radius**2) & (abs(z) <= 0.8))


def _gyroid(z: Grid, y: Grid, x: Grid, rng: np.random.Generator) -> BoolArray:
    waves = rng.uniform(1.2, 1.8) * np.pi
    a, b, c = (waves * axis + shift for axis, shift in zip((z, y, x), rng.uniform(0, 6, 3), strict=True))
    return np.asarray(np.sin(a) * np.cos(b) + np.sin(b) * np.cos(c) + np.sin(c) * np.cos(a) > 0)


SOLIDS: dict[str, Callable[[Grid, Grid, Grid, np.random.Generator], BoolArray]] = {
    "ball": _ball,
    "tube": _tube,
    "gyroid": _gyroid,
}
"""Functions of (planes, rows, columns) in [-1, 1] and a random generator."""
