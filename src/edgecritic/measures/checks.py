"""Checks of the parameters of measures."""

from __future__ import annotations

import math

from edgecritic.errors import InputError

__all__ = ["check_between", "check_choice", "check_positive", "check_share"]


def check_positive(name: str, value: float) -> None:
    """Refuse what is not a number > 0 (inf is allowed)."""
    if not _is_number(value) or not value > 0:
        raise InputError(f"{name} must be a number > 0, got {value!r}")


def check_share(name: str, value: float) -> None:
    """Refuse what is not a number in ]0, 1]."""
    if not _is_number(value) or not 0 < value <= 1:
        raise InputError(f"{name} must be a number above 0 and up to 1, got {value!r}")


def check_between(name: str, value: float, low: float, high: float) -> None:
    """Refuse what is not a number in [low, high]."""
    if not _is_number(value) or not low <= value <= high:
        raise InputError(f"{name} must be a number from {low:g} to {high:g}, got {value!r}")


def check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    """Refuse what is not one of the choices."""
    if value not in choices:
        shown = ", ".join(repr(choice) for choice in choices)
        raise InputError(f"{name} must be one of {shown}, got {value!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)
