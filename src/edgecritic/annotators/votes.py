"""What the answers of a forced choice say: majorities, the risk of a data set, and how subjects did."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from statistics import median
from typing import Any

import numpy as np

from edgecritic.annotators.choice import SIDES, TIE, Answer, Trial
from edgecritic.errors import InputError
from edgecritic.figures import COLOURS, GREY, axes_of
from edgecritic.values import Value

__all__ = [
    "Risk",
    "Screening",
    "dataset_risk",
    "majority",
    "risks",
    "screening",
    "simulate_subject",
    "wilson_interval",
]

LEAST_CHECKS = 0.75
"""Share of attention checks below which a subject's answers are in doubt."""


class Risk(Value):
    """How often the false alarm wins.

    Attributes
    ----------
    mode, detector : str
        Of the trials; empty if there are several.
    risk : float
        Share of the decided trials; ½ is chance.
    low, high : float
        Wilson's interval.
    level : float
    trials : int
        Trials that were decided by majority.
    lost : int
        Those in which the false alarm won.
    ties : int
        Trials without a majority; they are left out.
    answers : int
    """

    mode: str
    detector: str
    risk: float
    low: float
    high: float
    level: float
    trials: int
    lost: int
    ties: int
    answers: int

    def plot(self, ax: Any = None) -> Any:
        """Draw the risk with its interval beside chance into `ax`, or a new figure; return the axes."""
        axes = axes_of(ax, (6.4, 1.6))
        axes.axvline(0.5, color=GREY, linestyle="dashed", label="chance")
        axes.plot([self.low, self.high], [0, 0], color=COLOURS[0], linewidth=3)
        axes.plot(self.risk, 0, "o", color=COLOURS[0], label=f"risk over {self.trials} trials")
        axes.set(xlim=(0, 1), yticks=[], xlabel="share of trials that the false alarm wins")
        axes.legend(frameon=False)
        return axes


class Screening(Value):
    """How a subject did.

    Attributes
    ----------
    subject : str
    answered, main : int
        Answers in all parts, and to main trials.
    checks_passed : float or None
        Share of attention checks that were answered right.
    alarm_share : float or None
        Share of main trials in which the subject took the false alarm.
    left_share : float or None
        Share of main answers on the left of the screen: far from ½ means a habit of the hand.
    tie_share : float or None
        Share of main answers that choose neither side.
    median_ms : float or None
        Median reaction time of main trials that were not interrupted.
    with_majority : float or None
        Share of main answers that agree with the majority of all subjects.
    last : datetime or None
        Time of the last answer.
    """

    subject: str
    answered: int = 0
    main: int = 0
    checks_passed: float | None = None
    alarm_share: float | None = None
    left_share: float | None = None
    tie_share: float | None = None
    median_ms: float | None = None
    with_majority: float | None = None
    last: datetime | None = None

    @property
    def is_doubtful(self) -> bool:
        """Whether fewer than three quarters of the attention checks were passed."""
        return self.checks_passed is not None and self.checks_passed < LEAST_CHECKS


def majority(answers: Iterable[Answer]) -> dict[str, str | None]:
    """Return for every trial what most subjects chose, ``None`` where they are divided equally.

    A tie counts half for each side, so that it decides nothing.

    Raises
    ------
    InputError
        If a subject answered a trial twice.

    Examples
    --------
    >>> majority([Answer("t", "ann", "left"), Answer("t", "bob", "left"), Answer("t", "eve", "right")])
    {'t': 'left'}
    """
    votes: dict[str, dict[str, str]] = {}
    for answer in answers:
        one = votes.setdefault(answer.trial, {})
        if answer.subject in one:
            raise InputError(f"{answer.subject} answered the trial {answer.trial} twice")
        one[answer.subject] = answer.choice
    decided: dict[str, str | None] = {}
    for trial, one in votes.items():
        count = Counter(one.values())
        left, right = count["left"], count["right"]
        decided[trial] = None if left == right else ("left" if left > right else "right")
    return decided


def dataset_risk(asked: Iterable[Trial], answers: Iterable[Answer], *, level: float = 0.95) -> Risk:
    """Return the share of trials that the false alarm wins by majority, with Wilson's interval.

    Checks and practice do not count.

    Examples
    --------
    >>> from edgecritic.annotators.choice import Segment
    >>> label = Segment(kind="label", centre=(0, 0), pixels=((0, 0),))
    >>> alarm = Segment(kind="false alarm", centre=(5, 5), pixels=((5, 5),))
    >>> one = Trial(id="1", image="a", detector="d", mode="hard", left=alarm, right=label)
    >>> found = dataset_risk([one], [Answer("1", "ann", "left")])
    >>> found.risk, round(found.low, 4), found.detector
    (1.0, 0.2065, 'd')
    """
    found = _risk(*_main(asked, answers), level)
    if found is None:
        raise InputError("no trial was decided", remedy="give the answers of an odd number of subjects")
    return found


def risks(asked: Iterable[Trial], answers: Iterable[Answer], *, level: float = 0.95) -> list[Risk]:
    """Return the risk of each mode and detector, in this order, where a trial is decided."""
    known, given = _main(asked, answers)
    groups: dict[tuple[str, str], list[Answer]] = {}
    for answer in given:
        trial = known[answer.trial]
        groups.setdefault((trial.mode, trial.detector), []).append(answer)
    found = (_risk(known, groups[key], level) for key in sorted(groups))
    return [one for one in found if one is not None]


def screening(asked: Iterable[Trial], answers: Iterable[Answer]) -> dict[str, Screening]:
    """Return by subject how each did, in the order in which they come."""
    known, given = {trial.id: trial for trial in asked}, list(answers)
    decided = majority(given)
    mine: dict[str, list[Answer]] = {}
    for answer in given:
        mine.setdefault(answer.subject, []).append(answer)
    return {subject: _screen(subject, known, some, decided) for subject, some in mine.items()}


def wilson_interval(hits: int, total: int, *, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a share.

    (p + z²/2n ± z·sqrt(p(1 − p)/n + z²/4n²)) / (1 + z²/n), z the normal quantile of (1 + level)/2.

    Examples
    --------
    >>> [round(end, 4) for end in wilson_interval(5, 10)]
    [0.2366, 0.7634]
    """
    from statistics import NormalDist

    if not 0 <= hits <= total or total == 0:
        raise InputError(f"expected 0 ≤ hits ≤ total and total > 0, got {hits} of {total}")
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, got {level!r}")
    z = NormalDist().inv_cdf((1 + level) / 2)
    p = hits / total
    middle = p + z * z / (2 * total)
    half = z * math.sqrt(p * (1 - p) / total + z * z / (4 * total * total))
    below = 1 + z * z / total
    return max(0.0, (middle - half) / below), min(1.0, (middle + half) / below)


def simulate_subject(
    asked: Sequence[Trial], *, name: str = "simulated", preference: float = 0.5, seed: int = 0
) -> list[Answer]:
    """Answer trials like a subject who takes the false alarm with the probability `preference`.

    Checks and practice are always answered right.

    Examples
    --------
    >>> simulate_subject([])
    []
    """
    if not 0 <= preference <= 1:
        raise InputError(f"preference is a probability, got {preference!r}")
    rng = np.random.default_rng([seed, *name.encode()])
    answers = []
    for trial in asked:
        alarm, label = trial.false_alarm, trial.expected
        if alarm is None or label is None:
            raise InputError(f"the trial {trial.id} has no false alarm that could be preferred")
        is_fooled = trial.part == "main" and rng.random() < preference
        answers.append(Answer(trial.id, name, alarm if is_fooled else label))
    return answers


def _main(asked: Iterable[Trial], answers: Iterable[Answer]) -> tuple[dict[str, Trial], list[Answer]]:
    """Return the trials by id, and the answers to those that count."""
    known, given = {trial.id: trial for trial in asked}, list(answers)
    for answer in given:
        if answer.trial not in known:
            raise InputError(f"an answer names the trial {answer.trial!r}, which is not among those given")
    mine = {name for name, trial in known.items() if trial.part == "main" and not trial.is_of_maps}
    return known, [answer for answer in given if answer.trial in mine]


def _risk(known: dict[str, Trial], given: Sequence[Answer], level: float) -> Risk | None:
    """Return the risk in main trials, None if none is decided."""
    decided = majority(given)
    ties = sum(choice is None for choice in decided.values())
    count = len(decided) - ties
    if count == 0:
        return None
    lost = sum(choice == known[name].false_alarm for name, choice in decided.items())
    low, high = wilson_interval(lost, count, level=level)
    return Risk(
        mode=_common(known[name].mode for name in decided),
        detector=_common(known[name].detector for name in decided),
        risk=lost / count,
        low=low,
        high=high,
        level=level,
        trials=count,
        lost=lost,
        ties=ties,
        answers=len(given),
    )


def _common(words: Iterable[str]) -> str:
    found = set(words)
    return found.pop() if len(found) == 1 else ""


def _screen(
    subject: str, known: dict[str, Trial], mine: Sequence[Answer], decided: dict[str, str | None]
) -> Screening:
    main = [one for one in mine if known[one.trial].part == "main"]
    checks = [one for one in mine if known[one.trial].part == "check"]
    times = [one.reaction_ms for one in main if one.reaction_ms is not None and not one.pauses]
    return Screening(
        subject=subject,
        answered=len(mine),
        main=len(main),
        checks_passed=_share(one.choice == known[one.trial].expected for one in checks),
        alarm_share=_share(one.choice == alarm for one in main if (alarm := known[one.trial].false_alarm)),
        left_share=_share(one.shown == "left" for one in main if one.choice in SIDES),
        tie_share=_share(one.choice == TIE for one in main),
        median_ms=median(times) if times else None,
        with_majority=_share(one.choice == decided[one.trial] for one in main if decided[one.trial]),
        last=max((one.time for one in mine if one.time is not None), default=None),
    )


def _share(values: Iterable[bool]) -> float | None:
    seen = list(values)
    return sum(seen) / len(seen) if seen else None
