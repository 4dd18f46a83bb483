"""Two-alternative forced choice: is a false alarm of a detector stronger than a label of the data set?

After X. Hou, A. Yuille and C. Koch: Boundary detection benchmarking: beyond F-measures (CVPR 2013). People
see a segment that one annotator labelled and a segment that a detector found and nobody labelled, and pick
the stronger. The share of trials that the false alarm wins is the risk of the data set.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from edgecritic.annotators.perceptual import LabelStrength
from edgecritic.assignment.dynamic import ExactState
from edgecritic.errors import DataError, InputError
from edgecritic.figures import COLOURS, GREY, axes_of
from edgecritic.inputs import BoolArray, as_mask
from edgecritic.values import Value

__all__ = [
    "Segment",
    "Trial",
    "Answer",
    "Risk",
    "trials",
    "majority",
    "dataset_risk",
    "wilson_interval",
    "simulate_subject",
    "MODES",
]

Mode = Literal["hard", "easy"]
Side = Literal["left", "right"]

MODES = ("hard", "easy")
SQUARE = 21
"""Side in pixels of the square that a segment lies in."""


class Segment(Value):
    """A short piece of boundary.

    Attributes
    ----------
    kind : "label" or "false alarm"
    centre : (row, column)
        The pixel that was drawn.
    pixels : tuple of (row, column)
        All pixels of its kind in the square around it.
    """

    kind: str
    centre: tuple[int, int]
    pixels: tuple[tuple[int, int], ...]


class Trial(Value):
    """One question: which of two segments of an image is the stronger boundary?

    Attributes
    ----------
    id : str
        ``mode/detector/image``.
    image, detector : str
    mode : "hard" or "easy"
        ``hard``: an orphan label against a false alarm. ``easy``: a consensus label against a false alarm
        of a detector that was thresholded for consensus labels.
    left, right : Segment
    """

    id: str
    image: str
    detector: str
    mode: str
    left: Segment
    right: Segment

    @property
    def false_alarm(self) -> Side:
        """On which side the false alarm is."""
        return "left" if self.left.kind == "false alarm" else "right"

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Trial:
        """Make a trial from what `as_dict` returned, or from its JSON."""
        try:
            sides = {side: _segment(values[side]) for side in ("left", "right")}
            texts = [str(values[name]) for name in ("id", "image", "detector", "mode")]
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"this is no trial of a forced choice: {error!r} is missing or wrong") from error
        name, image, detector, mode = texts
        return cls(id=name, image=image, detector=detector, mode=mode, **sides)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one subject chose in one trial: ``left`` or ``right``."""

    trial: str
    subject: str
    choice: str

    def __post_init__(self) -> None:
        if self.choice not in ("left", "right"):
            raise InputError(f"{self.trial}: a choice is 'left' or 'right', got {self.choice!r}")


class Risk(Value):
    """How often the false alarm wins.

    Attributes
    ----------
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
    """

    risk: float
    low: float
    high: float
    level: float
    trials: int
    lost: int
    ties: int

    def plot(self, ax: Any = None) -> Any:
        """Draw the risk with its interval beside chance into `ax`, or a new figure; return the axes."""
        axes = axes_of(ax, (6.4, 1.6))
        axes.axvline(0.5, color=GREY, linestyle="dashed", label="chance")
        axes.plot([self.low, self.high], [0, 0], color=COLOURS[0], linewidth=3)
        axes.plot(self.risk, 0, "o", color=COLOURS[0], label=f"risk over {self.trials} trials")
        axes.set(xlim=(0, 1), yticks=[], xlabel="share of trials that the false alarm wins")
        axes.legend(frameon=False)
        return axes


def trials(
    images: Iterable[tuple[str, LabelStrength, Any]],
    *,
    mode: Mode,
    detector: str = "",
    square: int = SQUARE,
    seed: int = 0,
) -> list[Trial]:
    """Draw one trial per image.

    Parameters
    ----------
    images : iterable of (id, LabelStrength, candidate)
        The candidate is the detector's thinned map at its best threshold: that of the ODS for ``hard``,
        that of the ODS on consensus labels (``found.consensus()``) for ``easy``.
    mode : "hard" or "easy"
        ``hard``: labels that nobody else drew, false alarms matched by no annotator. ``easy``: labels that
        all annotators drew, false alarms matched with no such label.
    detector : str
        Its name, part of the trials' ids.
    square : odd int
        Side of the square around the drawn pixel, in pixels; a segment is what lies in it.
    seed : int
        Images are drawn from independently: adding an image does not change the trials of the others.

    Returns
    -------
    list of Trial
        False alarms are on the left in half of them. Images without a label or a false alarm are left out.
    """
    if mode not in MODES:
        raise InputError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
    if square < 1 or square % 2 == 0:
        raise InputError(f"square must be an odd number of pixels, got {square}")
    drawn = []
    for name, found, candidate in images:
        rng = np.random.default_rng([seed, MODES.index(mode), *f"{detector}/{name}".encode()])
        pair = _draw(found, as_mask(candidate, "candidate"), mode, square, rng)
        if pair is not None:
            drawn.append((name, pair))
    order = np.random.default_rng([seed, len(drawn)]).permutation(len(drawn))
    made = []
    for place, (name, (label, alarm)) in zip(order, drawn, strict=True):
        left, right = (alarm, label) if place % 2 == 0 else (label, alarm)
        made.append(
            Trial(
                id=f"{mode}/{detector}/{name}",
                image=name,
                detector=detector,
                mode=mode,
                left=left,
                right=right,
            )
        )
    return made


def majority(answers: Iterable[Answer]) -> dict[str, str | None]:
    """Return for every trial what most subjects chose, ``None`` where they are divided equally.

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


def dataset_risk(asked: Sequence[Trial], answers: Iterable[Answer], *, level: float = 0.95) -> Risk:
    """Return the share of trials that the false alarm wins by majority, with Wilson's interval.

    Examples
    --------
    >>> label = Segment(kind="label", centre=(0, 0), pixels=((0, 0),))
    >>> alarm = Segment(kind="false alarm", centre=(5, 5), pixels=((5, 5),))
    >>> one = Trial(id="1", image="a", detector="d", mode="hard", left=alarm, right=label)
    >>> found = dataset_risk([one], [Answer("1", "ann", "left")])
    >>> found.risk, round(found.low, 4)
    (1.0, 0.2065)
    """
    known = {trial.id: trial for trial in asked}
    lost = decided = ties = 0
    for name, choice in majority(answers).items():
        if name not in known:
            raise InputError(f"an answer names the trial {name!r}, which is not among those given")
        if choice is None:
            ties += 1
            continue
        decided += 1
        lost += choice == known[name].false_alarm
    if decided == 0:
        raise InputError("no trial was decided; give the answers of an odd number of subjects")
    low, high = wilson_interval(lost, decided, level=level)
    return Risk(risk=lost / decided, low=low, high=high, level=level, trials=decided, lost=lost, ties=ties)


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

    Examples
    --------
    >>> simulate_subject([])
    []
    """
    if not 0 <= preference <= 1:
        raise InputError(f"preference is a probability, got {preference!r}")
    rng = np.random.default_rng([seed, *name.encode()])
    other: dict[str, str] = {"left": "right", "right": "left"}
    answers = []
    for trial in asked:
        side = trial.false_alarm if rng.random() < preference else other[trial.false_alarm]
        answers.append(Answer(trial.id, name, side))
    return answers


def _segment(values: Mapping[str, Any]) -> Segment:
    row, column = values["centre"]
    pixels = tuple((int(pixel[0]), int(pixel[1])) for pixel in values["pixels"])
    return Segment(kind=str(values["kind"]), centre=(int(row), int(column)), pixels=pixels)


def _draw(
    found: LabelStrength, candidate: BoolArray, mode: Mode, square: int, rng: np.random.Generator
) -> tuple[Segment, Segment] | None:
    """Return a label and a false alarm, or None if there is no such pair in this image."""
    if candidate.shape != found.shape or candidate.ndim != 2:
        raise InputError(
            f"candidate and labels must be images of one shape, got {candidate.shape} and {found.shape}"
        )
    labels = found.orphans() if mode == "hard" else found.consensus()
    truths = found.maps if mode == "hard" else labels
    state = ExactState(truths, tolerance=found.tolerance, universe=candidate)
    state.update(added=np.flatnonzero(candidate))
    alarms = candidate & ~state.matched_candidate
    places = [np.argwhere(one) for one in labels]
    total = sum(len(one) for one in places)
    if total == 0 or not alarms.any():
        return None
    pick = int(rng.integers(total))
    who = int(np.searchsorted(np.cumsum([len(one) for one in places]), pick, side="right"))
    label = places[who][pick - sum(len(one) for one in places[:who])]
    spots = np.argwhere(alarms)
    alarm = spots[int(rng.integers(len(spots)))]
    return (
        Segment(kind="label", centre=_point(label), pixels=_around(labels[who], label, square)),
        Segment(kind="false alarm", centre=_point(alarm), pixels=_around(alarms, alarm, square)),
    )


def _point(place: NDArray[np.int64]) -> tuple[int, int]:
    return int(place[0]), int(place[1])


def _around(mask: BoolArray, centre: NDArray[np.int64], square: int) -> tuple[tuple[int, int], ...]:
    corner = np.maximum(centre - square // 2, 0)
    end = centre + square // 2 + 1
    inside = np.argwhere(mask[corner[0] : end[0], corner[1] : end[1]]) + corner
    return tuple(_point(place) for place in inside)
