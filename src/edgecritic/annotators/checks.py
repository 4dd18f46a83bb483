"""Pairs of segments whose order everybody sees: for practice and to check attention."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edgecritic.annotators.segments import Segment, around
from edgecritic.inputs import BoolArray

__all__ = ["CHECK_DETECTOR", "obvious_pair"]

CHECK_DETECTOR = "(nothing there)"
_TRIES = 40


def obvious_pair(
    gradient: NDArray[np.uint8], labels: Sequence[BoolArray], square: int, rng: np.random.Generator
) -> tuple[Segment, Segment] | None:
    """Return a straight line where the image is flattest, and one person's label where the edge is strongest.

    The line takes the part of the false alarm. None if the image has no labels or is too small.
    """
    reach = square // 2
    height, width = gradient.shape
    drawn = labels[int(rng.integers(len(labels)))]
    places = np.argwhere(drawn)
    if not len(places) or min(height, width) <= 2 * square:
        return None
    chosen = places[rng.integers(len(places), size=_TRIES)]
    sharpness = [_mean(gradient, row, column, reach, drawn) for row, column in chosen]
    row, column = chosen[int(np.argmax(sharpness))]
    label = around(drawn, chosen[int(np.argmax(sharpness))], square, "label")
    flattest, centre = np.inf, None
    for _ in range(_TRIES):
        y = int(rng.integers(reach, height - reach))
        x = int(rng.integers(reach, width - reach))
        busy = float(gradient[y - reach : y + reach + 1, x - reach : x + reach + 1].mean())
        if max(abs(y - row), abs(x - column)) > square and busy < flattest:
            flattest, centre = busy, (y, x)
    if centre is None:
        return None
    return _line(centre, reach, rng), label


def _mean(gradient: NDArray[np.uint8], row: int, column: int, reach: int, mask: BoolArray) -> float:
    part = np.s_[max(row - reach, 0) : row + reach + 1, max(column - reach, 0) : column + reach + 1]
    inside = gradient[part][mask[part]]
    return float(inside.mean()) * min(1.0, inside.size / (2 * reach))


def _line(centre: tuple[int, int], reach: int, rng: np.random.Generator) -> Segment:
    angle = rng.uniform(0, np.pi)
    steps = np.arange(-reach, reach + 1)
    longest = max(abs(np.cos(angle)), abs(np.sin(angle)))
    xs = np.rint(centre[1] + steps * np.cos(angle) / longest).astype(int)
    ys = np.rint(centre[0] + steps * np.sin(angle) / longest).astype(int)
    pixels = tuple((int(y), int(x)) for y, x in zip(ys, xs, strict=True))
    return Segment(kind="false alarm", centre=centre, pixels=pixels)
