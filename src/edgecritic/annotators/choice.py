"""Two-alternative choices of people: between a label and a false alarm, or between two edge maps of an image.

After X. Hou, A. Yuille and C. Koch: Boundary detection benchmarking: beyond F-measures (CVPR 2013). People
see a segment that one annotator labelled and a segment that a detector found and nobody labelled, and pick
the stronger. The share of trials that the false alarm wins is the risk of the data set (`votes`).

The other kind of trial shows a photo and two edge maps of it: which is better? (`pairs`, `preference`)
"""

from __future__ import annotations

import base64
import binascii
import zlib
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

__all__ = [
    *("CHOICES", "MODES", "PAIR_KINDS", "PARTS", "SIDES", "TIE"),
    *("Answer", "EdgeMap", "Segment", "Trial", "around", "other_side", "trials"),
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


class EdgeMap(Value):
    """A whole edge map as one side of a trial.

    Attributes
    ----------
    condition : str
        What it is a map of, such as ``canny`` or ``canny, holes``; the same in all images.
    shape : (rows, columns)
    packed : str
        The pixels: a bit each, compressed, in base 64; empty if they are not known.
    kind : "map" or "spoiled map"
        Nobody should prefer a spoiled map: such are for practice and checks of attention.

    Examples
    --------
    >>> one = EdgeMap.of(np.eye(3, dtype=bool), "canny")
    >>> one.condition, one.shape, int(one.map.sum())
    ('canny', (3, 3), 3)
    """

    condition: str
    shape: tuple[int, int] = (0, 0)
    packed: str = ""
    kind: str = "map"

    @classmethod
    def of(cls, mask: BoolArray, condition: str, *, kind: str = "map") -> EdgeMap:
        """Pack a map."""
        own = as_mask(mask, "map")
        if own.ndim != 2:
            raise InputError(f"people judge maps of images, which have two axes; got the shape {own.shape}")
        packed = base64.b64encode(zlib.compress(np.packbits(own).tobytes(), 9)).decode()
        return cls(condition=condition, shape=(own.shape[0], own.shape[1]), packed=packed, kind=kind)

    @property
    def map(self) -> BoolArray:
        """The pixels; a `DataError` if they are not known or damaged."""
        rows, columns = self.shape
        size = (rows * columns + 7) // 8
        try:
            content = zlib.decompressobj().decompress(base64.b64decode(self.packed, validate=True), size + 1)
        except (binascii.Error, zlib.error, ValueError) as error:
            raise DataError(f"the pixels of the map {self.condition!r} cannot be read: {error}") from error
        if not self.packed or len(content) != size or min(self.shape) < 1:
            raise DataError(f"the map {self.condition!r} has no pixels, or not {rows} × {columns} of them")
        bits = np.unpackbits(np.frombuffer(content, np.uint8), count=rows * columns)
        return bits.reshape(self.shape).astype(np.bool_)


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
