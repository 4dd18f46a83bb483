"""Checks of detector parameters, which may come from the text of an id."""

from __future__ import annotations

import math
from collections.abc import Sequence

from edgecritic.errors import InputError

__all__ = ["positive", "not_negative", "choice", "orientations"]

MOST_ORIENTATIONS = 3600


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
