"""Checks of detector parameters, which may come from the text of an id."""

from __future__ import annotations

import math
from collections.abc import Sequence

from edgecritic.errors import InputError

__all__ = ["positive", "not_negative", "choice", "orientations", "pixel_scales"]

MOST_ORIENTATIONS = 3600
LEAST_SCALE = 0.2
"""A Gaussian of a smaller scale, in pixels, has no neighbours left to take a difference of."""


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


def pixel_scales(name: str, value: object, spacing: Sequence[float]) -> list[float]:
    """Return a scale in pixels along each axis.

    A scale below 0.2 pixels is refused; where pixels are not square it is raised to 0.2 along long sides.
    """
    scale = positive(name, value)
    if scale < LEAST_SCALE * min(spacing):
        raise InputError(f"{name} must be at least {LEAST_SCALE} pixels, got {value!r}")
    return [max(scale / size, LEAST_SCALE) for size in spacing]


def choice(name: str, value: object, choices: Sequence[object]) -> None:
    """Refuse a `value` that is not one of the `choices`."""
    if isinstance(value, bool) or value not in choices:
        raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def orientations(step: object, circle: float) -> int:
    """Return how many angles of `step` degrees make up `circle` degrees; it must be a whole number."""
    width = positive("step", step)
    count = round(circle / width)
    if not 2 <= count <= MOST_ORIENTATIONS or abs(count * width - circle) > 1e-6:
        raise InputError(
            f"step must divide {circle:g}° into 2 to {MOST_ORIENTATIONS} equal parts, got {step!r}; "
            "try 5 or 10"
        )
    return count


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{name} must be a finite number, got {value!r}")
    return float(value)
