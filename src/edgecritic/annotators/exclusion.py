"""Which subjects of a forced choice are left out, by rules that are fixed before anybody has answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from edgecritic.annotators.choice import Answer, Trial
from edgecritic.annotators.votes import Screening, screening
from edgecritic.errors import InputError
from edgecritic.values import Value

__all__ = ["Rules", "excluded", "without"]

LEAST_ANSWERS = 10
"""Main answers below which neither sides nor times tell anything of a subject."""


class Rules(Value):
    """When a subject is left out; a rule that is None leaves out nobody.

    Attributes
    ----------
    checks : float or None
        Left out is who passes a smaller share of the attention checks.
    one_side : float or None
        Left out is who takes one side of the screen in a larger share of the main trials; from ½ to 1.
    median_ms : float or None
        Left out is whose median reaction time is shorter. Interrupted answers do not count.

    Sides and times need the answers to ten main trials.

    Examples
    --------
    >>> Rules().reasons(Screening(subject="ann", checks_passed=0.5))
    ('passed 50 % of the checks, at least 75 % are asked for',)
    """

    checks: float | None = 0.75
    one_side: float | None = 0.9
    median_ms: float | None = 300.0

    def __post_init__(self) -> None:
        for name, (low, high) in _LIMITS.items():
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int | float) and low <= value <= high):
                raise InputError(f"the rule {name} must lie in {low:g} … {high:g}, got {value!r}")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Rules:
        """Make rules from what `as_dict` returned; those that it does not have leave out nobody."""
        return cls(**{name: values.get(name) for name in _LIMITS})

    def reasons(self, seen: Screening) -> tuple[str, ...]:
        """Return why a subject is left out, rule by rule; nothing if the subject counts."""
        found = []
        if self.checks is not None and seen.checks_passed is not None and seen.checks_passed < self.checks:
            found.append(
                f"passed {100 * seen.checks_passed:.0f} % of the checks, "
                f"at least {100 * self.checks:.0f} % are asked for"
            )
        if seen.main < LEAST_ANSWERS:
            return tuple(found)
        if self.one_side is not None and seen.left_share is not None:
            share = max(seen.left_share, 1 - seen.left_share)
            if share > self.one_side:
                side = "left" if seen.left_share > 0.5 else "right"
                found.append(
                    f"took the {side} in {100 * share:.0f} %, at most {100 * self.one_side:.0f} % are allowed"
                )
        if self.median_ms is not None and seen.median_ms is not None and seen.median_ms < self.median_ms:
            found.append(
                f"answered within {seen.median_ms:.0f} ms, at least {self.median_ms:.0f} ms are asked for"
            )
        return tuple(found)


_LIMITS = {"checks": (0.0, 1.0), "one_side": (0.5, 1.0), "median_ms": (0.0, 60_000.0)}


def excluded(asked: Iterable[Trial], answers: Iterable[Answer], rules: Rules) -> dict[str, tuple[str, ...]]:
    """Return the subjects that the rules leave out, each with the reasons.

    Examples
    --------
    >>> check = Trial.bare("left", id="c", image="a", detector="d", mode="hard", part="check")
    >>> excluded([check], [Answer("c", "ann", "left"), Answer("c", "bob", "right")], Rules())
    {'ann': ('passed 0 % of the checks, at least 75 % are asked for',)}
    """
    found = {subject: rules.reasons(seen) for subject, seen in screening(asked, answers).items()}
    return {subject: reasons for subject, reasons in found.items() if reasons}


def without(answers: Iterable[Answer], left_out: Iterable[str]) -> Sequence[Answer]:
    """Return the answers of all subjects but some.

    Examples
    --------
    >>> [one.subject for one in without([Answer("t", "ann", "left"), Answer("t", "bob", "left")], ["ann"])]
    ['bob']
    """
    names = set(left_out)
    return [one for one in answers if one.subject not in names]
