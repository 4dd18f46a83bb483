"""Checks of detector parameters, which may come from the text of an id."""

from __future__ import annotations

import math
from collections.abc import Sequence

from edgecritic.errors import InputError

__all__ = [
    "positive",
    "not_negative",
    "choice",
    "orientations",
    "check_most",
    "pixel_scales",
    "MOST_ROTATED_SCALE",
]

MOST_ORIENTATIONS = 3600
LEAST_SCALE = 0.2
"""A Gaussian of a smaller scale, in pixels, has no neighbours left to take a difference of."""
MOST_SCALE = 1000
"""The largest scale of a separable filter, in pixels."""
MOST_ROTATED_SCALE = 100
"""The largest scale of a filter that is rotated, in pixels: its weights fill a square."""


def positive(name: str, value: object) -> float:
    """Return `value` as a float > 0, or say that it must be one."""
    number = _number(name, value)
    if not number > 0:
        raise InputError(f"{name} must be > 0, got {value!r}")
    return number


def not_negative(name: str, value: object) -> float:
    """Return `value` as a float ≥ 0, or say that it must be one."""
    number = _number(name, value)
    if not number >= 0:
        raise InputError(f"{name} must be ≥ 0, got {value!r}")
    return number


def pixel_scales(name: str, value: object, spacing: Sequence[float], most: float = MOST_SCALE) -> list[float]:
    """Return a scale in pixels along each axis.

    A scale below 0.2 pixels or above `most` is refused; where pixels are not square it is raised to 0.2 along
    long sides.
    """
    scale = positive(name, value)
    if scale < LEAST_SCALE * min(spacing):
        raise InputError(f"{name} must be at least {LEAST_SCALE} pixels, got {value!r}")
    check_most(name, scale, spacing, most)
    return [max(scale / size, LEAST_SCALE) for size in spacing]


def check_most(name: str, scale: float, spacing: Sequence[float], most: float = MOST_SCALE) -> None:
    """Refuse a scale of more than `most` pixels."""
    if scale > most * min(spacing):
        raise InputError(f"{name} must be at most {most} pixels, got {scale!r}; choose a smaller scale")


def choice(name: str, value: object, choices: Sequence[object]) -> None:
    """Refuse a `value` that is not one of the `choices`."""
    if isinstance(value, bool) or value not in choices:
        raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def orientations(step: object, circle: float) -> int:
    """Return how many angles of `step` degrees make up `circle` degrees; it must be a whole number."""
    width = positive("step", step)
    count = round(min(circle / width, MOST_ORIENTATIONS + 1))
    if not 2 <= count <= MOST_ORIENTATIONS or abs(count * width - circle) > 1e-6:
        raise InputError(
            f"step must divide {circle:g}° into 2 to {MOST_ORIENTATIONS} equal parts, got {step!r}",
            remedy="try 5 or 10",
        )
    return count


def _number(name: str, value: object) -> float:
    try:
        number = math.nan if isinstance(value, bool) or not isinstance(value, int | float) else float(value)
    except OverflowError:  # a whole number of more than 308 digits
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{name} must be a finite number, got {value!r}")
    return number
