"""Two-alternative choices of people: between a label and a false alarm, or between two edge maps of an image.

After X. Hou, A. Yuille and C. Koch: Boundary detection benchmarking: beyond F-measures (CVPR 2013). People
see a segment that one annotator labelled and a segment that a detector found and nobody labelled, and pick
the stronger. The share of trials that the false alarm wins is the risk of the data set (`votes`).

The other kind of trial shows a photo and two edge maps of it: which is better? (`pairs`, `preference`)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Any, Literal

import numpy as np

from edgecritic.annotators.edge_map import EdgeMap
from edgecritic.annotators.perceptual import LabelStrength
from edgecritic.annotators.segments import LEAST, Segment, draw_pair
from edgecritic.assignment.dynamic import match_truths
from edgecritic.errors import DataError, InputError
from edgecritic.inputs import BoolArray, as_mask
from edgecritic.values import Value

__all__ = [
    "CHOICES",
    "MODES",
    "PAIR_KINDS",
    "PARTS",
    "SIDES",
    "TIE",
    "Answer",
    "EdgeMap",
    "Segment",
    "Stimulus",
    "Trial",
    "balanced",
    "balanced_sides",
    "other_side",
    "trials",
]

Mode = Literal["hard", "easy"]
Side = Literal["left", "right"]

MODES: tuple[Mode, ...] = ("hard", "easy")
PARTS = ("main", "check", "practice")
SIDES: tuple[Side, ...] = ("left", "right")
TIE = "tie"
CHOICES = (*SIDES, TIE)
PAIR_KINDS = ("detector", "threshold", "damage")
"""Modes of trials with two maps: two detectors; one detector at two thresholds; a map and a damaged one."""
SQUARE = 21
"""Side in pixels of the square that a segment lies in."""


Stimulus = Segment | EdgeMap


class Trial(Value):
    """One question: which segment is the stronger boundary, or which edge map is the better one?

    Attributes
    ----------
    id : str
        ``mode/detector/image`` of a drawn trial.
    image, detector : str
        The detector of the false alarm; empty for two maps, which have conditions of their own.
    mode : "hard" or "easy"; of two maps "detector", "threshold" or "damage"
        ``hard``: an orphan label against a false alarm. ``easy``: a consensus label against a false alarm
        of a detector that was thresholded for consensus labels. Of maps the kind of pair.
    left, right : Segment or EdgeMap
        A label and a false alarm, or two maps. Subjects may see them with the sides exchanged.
    part : "main", "check" or "practice"
        Checks and practice have an answer that everybody sees: the label, or the map that is not spoiled.
        They do not count for results.
    """

    id: str
    image: str
    detector: str
    mode: str
    left: Stimulus
    right: Stimulus
    part: str = "main"

    @property
    def is_of_maps(self) -> bool:
        """Whether two edge maps are compared, and not two segments."""
        return isinstance(self.left, EdgeMap)

    @property
    def false_alarm(self) -> Side | None:
        """On which side the false alarm or the spoiled map is; ``None`` if there is none."""
        wrong = [side for side in SIDES if getattr(self, side).kind in ("false alarm", "spoiled map")]
        return wrong[0] if wrong else None

    @property
    def expected(self) -> Side | None:
        """The side that is no false alarm: in checks and practice the right answer."""
        return None if self.false_alarm is None else other_side(self.false_alarm)

    @property
    def conditions(self) -> tuple[str, str]:
        """What is compared, left and right: two conditions, or ``label`` and the name of the detector."""
        if isinstance(self.left, EdgeMap) and isinstance(self.right, EdgeMap):
            return self.left.condition, self.right.condition
        alarm = "label (detector)" if self.detector == "label" else self.detector
        return (alarm, "label") if self.false_alarm == "left" else ("label", alarm)

    @classmethod
    def of(cls, alarm: Stimulus, label: Stimulus, side: str, **fields: str) -> Trial:
        """Make a trial with the first, such as the false alarm, on one side."""
        left, right = (alarm, label) if side == "left" else (label, alarm)
        return cls(left=left, right=right, **fields)

    @classmethod
    def bare(cls, side: str, **fields: str) -> Trial:
        """Make a trial without pixels, of which only the side of the false alarm is known."""
        alarm, label = (Segment(kind=kind, centre=(0, 0), pixels=()) for kind in ("false alarm", "label"))
        return cls.of(alarm, label, side, **fields)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Trial:
        """Make a trial from what `as_dict` returned, or from its JSON."""
        try:
            left, right = (_stimulus(values[side]) for side in SIDES)
            name, image, detector, mode = (str(values[key]) for key in ("id", "image", "detector", "mode"))
            part = str(values.get("part", "main"))
        except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
            raise DataError(f"this is no trial of a forced choice: {error!r} is missing or wrong") from error
        kinds = sorted((left.kind, right.kind))
        of_maps = isinstance(left, EdgeMap)
        modes = PAIR_KINDS if of_maps else MODES
        spoiled = ["map", "map"] if part == "main" else ["map", "spoiled map"]
        fits = type(left) is type(right) and kinds == (spoiled if of_maps else _SEGMENTS)
        if mode not in modes or part not in PARTS or not fits:
            raise DataError(
                f"the trial {name!r} must have a mode ({', '.join(modes)}), a part ({', '.join(PARTS)}), "
                "and a label and a false alarm, or two maps, one of them spoiled in checks and practice; "
                f"it has {mode!r}, {part!r}, {', '.join(kinds)}"
            )
        return cls(id=name, image=image, detector=detector, mode=mode, left=left, right=right, part=part)


class Answer(Value, kw_only=False):
    """What one subject chose in one trial.

    Attributes
    ----------
    trial, subject : str
        Their ids.
    choice : "left", "right" or "tie"
        The side of the trial that was chosen, wherever it was shown; a tie where the experiment allows it.
    mirrored : bool
        Whether the subject saw the trial with the sides exchanged.
    position : int, optional
        Place in the subject's schedule.
    reaction_ms : int, optional
        In which the trial was seen.
    time : datetime, optional
    pauses : int
        How often the trial was put aside before the answer.
    visit : str
        In which visit to the experiment the answer was given; empty if that is not known.
    display : mapping
        How the trial was seen and answered, by the names of `display.DISPLAY`, if that is known.
    """

    trial: str
    subject: str
    choice: str
    mirrored: bool = False
    position: int | None = None
    reaction_ms: int | None = None
    time: datetime | None = None
    pauses: int = 0
    visit: str = ""
    display: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.choice not in CHOICES:
            raise InputError(f"{self.trial}: a choice is 'left', 'right' or 'tie', got {self.choice!r}")

    @property
    def shown(self) -> str:
        """The side of the screen that was chosen, or a tie."""
        return other_side(self.choice) if self.mirrored and self.choice != TIE else self.choice


def other_side(side: str) -> Side:
    """Return ``right`` for ``left`` and the reverse."""
    return "right" if side == "left" else "left"


def trials(
    images: Iterable[tuple[str, LabelStrength, Any]],
    *,
    mode: Mode,
    detector: str = "",
    square: int = SQUARE,
    seed: int = 0,
) -> list[Trial]:
    """Draw one trial per image.

    A segment is the piece of a map that hangs together with a drawn pixel (by sides and corners) inside the
    square around it. Pairs are drawn that people can judge: their squares do not overlap, both have at
    least 12 pixels (`square` if that is less), and the longer one at most 1.5 times as many as the
    shorter. Where an image has no such pair, the lengths may differ more, and only where it has no pair of
    12 pixels they may be shorter.

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
        Side of the square around the drawn pixel, in pixels.
    seed : int
        Images are drawn from independently: adding an image does not change the segments of the others.

    Returns
    -------
    list of Trial
        False alarms are on the left in half of them (`balanced`). Images without a label and a false alarm
        in squares that do not overlap are left out.
    """
    if mode not in MODES:
        raise InputError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
    if square < 1 or square % 2 == 0:
        raise InputError(f"square must be an odd number of pixels, got {square}")
    drawn = []
    for name, found, candidate in images:
        rng = np.random.default_rng([seed, MODES.index(mode), *f"{detector}/{name}".encode()])
        labels, alarms = _material(found, as_mask(candidate, "candidate"), mode)
        pair = draw_pair(labels, alarms, square, min(LEAST, square), rng)
        if pair is not None:
            fields = {"id": f"{mode}/{detector}/{name}", "image": name, "detector": detector, "mode": mode}
            drawn.append(Trial.of(pair[1], pair[0], "left", **fields))
    return balanced(drawn, seed=seed)


def balanced(asked: Sequence[Trial], *, seed: int = 0) -> list[Trial]:
    """Return the trials with false alarms on the left in half of those of each mode, and of each detector.

    Where their number is odd, the numbers of both sides differ by one.
    """
    keys = [((one.part, one.mode), one.detector) for one in asked]
    sides = balanced_sides(keys, np.random.default_rng([seed, len(asked)]))
    return [
        one if one.false_alarm == side else replace(one, left=one.right, right=one.left)
        for one, side in zip(asked, sides, strict=True)
    ]


def balanced_sides(keys: Sequence[tuple[Any, Any]], rng: np.random.Generator) -> list[Side]:
    """Return a random side for every key (group, part of the group), in balance within both.

    Examples
    --------
    >>> sides = balanced_sides([("hard", "canny")] * 4 + [("easy", "canny")] * 2, np.random.default_rng(1))
    >>> sides[:4].count("left"), sides[4:].count("left")
    (2, 1)
    """
    shuffled = [int(place) for place in rng.permutation(len(keys))]
    sides: list[Side] = ["left"] * len(keys)
    turn, group = 0, None
    for place in sorted(shuffled, key=lambda place: keys[place]):
        if keys[place][0] != group:
            turn, group = int(rng.integers(2)), keys[place][0]
        sides[place] = SIDES[turn % 2]
        turn += 1
    return sides


_SEGMENTS = ["false alarm", "label"]


def _stimulus(values: Mapping[str, Any]) -> Stimulus:
    if "condition" in values:
        rows, columns = values["shape"]
        kind, packed = str(values["kind"]), str(values["packed"])
        shape = (int(rows), int(columns))
        return EdgeMap(condition=str(values["condition"]), shape=shape, packed=packed, kind=kind)
    row, column = values["centre"]
    pixels = tuple((int(pixel[0]), int(pixel[1])) for pixel in values["pixels"])
    return Segment(kind=str(values["kind"]), centre=(int(row), int(column)), pixels=pixels)


def _material(found: LabelStrength, candidate: BoolArray, mode: Mode) -> tuple[list[BoolArray], BoolArray]:
    """Return the annotators' labels that may be asked about, and the detector's false alarms."""
    if candidate.shape != found.shape or candidate.ndim != 2:
        raise InputError(
            f"candidate and labels must be images of one shape, got {candidate.shape} and {found.shape}"
        )
    labels = found.orphans() if mode == "hard" else found.consensus()
    hit, _ = match_truths(candidate, found.maps if mode == "hard" else labels, tolerance=found.tolerance)
    return labels, candidate & ~hit
