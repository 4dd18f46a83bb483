"""Two-alternative forced choice: is a false alarm of a detector stronger than a label of the data set?

After X. Hou, A. Yuille and C. Koch: Boundary detection benchmarking: beyond F-measures (CVPR 2013). People
see a segment that one annotator labelled and a segment that a detector found and nobody labelled, and pick
the stronger. The share of trials that the false alarm wins is the risk of the data set (`votes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from edgecritic.annotators.perceptual import LabelStrength
from edgecritic.assignment.dynamic import ExactState
from edgecritic.errors import DataError, InputError
from edgecritic.inputs import BoolArray, as_mask
from edgecritic.values import Value

__all__ = ["MODES", "PARTS", "SIDES", "Answer", "Segment", "Trial", "around", "other_side", "trials"]

Mode = Literal["hard", "easy"]
Side = Literal["left", "right"]

MODES: tuple[Mode, ...] = ("hard", "easy")
PARTS = ("main", "check", "practice")
SIDES: tuple[Side, ...] = ("left", "right")
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
        ``mode/detector/image`` of a drawn trial.
    image, detector : str
    mode : "hard" or "easy"
        ``hard``: an orphan label against a false alarm. ``easy``: a consensus label against a false alarm
        of a detector that was thresholded for consensus labels.
    left, right : Segment
        One is a label, the other a false alarm. Subjects may see them with the sides exchanged.
    part : "main", "check" or "practice"
        Checks and practice have an answer that everybody sees, the label; they do not count for the risk.
    """

    id: str
    image: str
    detector: str
    mode: str
    left: Segment
    right: Segment
    part: str = "main"

    @property
    def false_alarm(self) -> Side:
        """On which side the false alarm is."""
        return "left" if self.left.kind == "false alarm" else "right"

    @classmethod
    def of(cls, alarm: Segment, label: Segment, side: str, **fields: str) -> Trial:
        """Make a trial with the false alarm on one side."""
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
            left, right = (_segment(values[side]) for side in SIDES)
            name, image, detector, mode = (str(values[key]) for key in ("id", "image", "detector", "mode"))
            part = str(values.get("part", "main"))
        except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
            raise DataError(f"this is no trial of a forced choice: {error!r} is missing or wrong") from error
        kinds = {left.kind, right.kind}
        if mode not in MODES or part not in PARTS or kinds != {"label", "false alarm"}:
            raise DataError(
                f"the trial {name!r} must have a mode ({', '.join(MODES)}), a part ({', '.join(PARTS)}), "
                f"a label and a false alarm; it has {mode!r}, {part!r}, {', '.join(sorted(kinds))}"
            )
        return cls(id=name, image=image, detector=detector, mode=mode, left=left, right=right, part=part)


class Answer(Value, kw_only=False):
    """What one subject chose in one trial.

    Attributes
    ----------
    trial, subject : str
        Their ids.
    choice : "left" or "right"
        The side of the trial that was chosen, wherever it was shown.
    mirrored : bool
        Whether the subject saw the trial with the sides exchanged.
    position : int, optional
        Place in the subject's schedule.
    reaction_ms : int, optional
    time : datetime, optional
    """

    trial: str
    subject: str
    choice: str
    mirrored: bool = False
    position: int | None = None
    reaction_ms: int | None = None
    time: datetime | None = None

    def __post_init__(self) -> None:
        if self.choice not in SIDES:
            raise InputError(f"{self.trial}: a choice is 'left' or 'right', got {self.choice!r}")

    @property
    def shown(self) -> str:
        """The side of the screen that was chosen."""
        return other_side(self.choice) if self.mirrored else self.choice


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
        side = "left" if place % 2 == 0 else "right"
        fields = {"id": f"{mode}/{detector}/{name}", "image": name, "detector": detector, "mode": mode}
        made.append(Trial.of(alarm, label, side, **fields))
    return made


def around(mask: BoolArray, centre: NDArray[np.int64], square: int, kind: str) -> Segment:
    """Return the segment of a mask in the square around a pixel."""
    corner = np.maximum(centre - square // 2, 0)
    end = centre + square // 2 + 1
    inside = np.argwhere(mask[corner[0] : end[0], corner[1] : end[1]]) + corner
    return Segment(kind=kind, centre=_point(centre), pixels=tuple(_point(place) for place in inside))


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
    return around(labels[who], label, square, "label"), around(alarms, alarm, square, "false alarm")


def _point(place: NDArray[np.int64]) -> tuple[int, int]:
    return int(place[0]), int(place[1])
