"""The label map as a fold over edits.

The same rules are written in ``static/fold.js``; both use integers only and give the same pixels.

A map has levels (the proposal: 0 for no crest, else 1 … 255), a threshold, and one mark per pixel: none,
added or removed. A pixel is on if it is added, or if it has no mark and its level reaches the threshold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray

__all__ = ["Edit", "LabelState", "check_edit", "effective", "fold", "line", "runs_of"]

MOST_RADIUS: Final = 64
MOST_SPECK: Final = 1000
MOST_STEPS: Final = 100_000
MOST_RUNS: Final = 600_000
FREE, ADDED, REMOVED = 0, 1, 2
SCOPES = ("component", "segment")
_KEY = re.compile(r"[A-Za-z0-9_-]{1,40}")
_AROUND = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit: an operation and its data."""

    op: str
    data: Mapping[str, Any] = field(default_factory=dict)


def check_edit(op: Any, data: Any, shape: tuple[int, int]) -> Edit:
    """Return a checked edit, or say what is wrong with it.

    Operations: ``threshold`` {level}, ``erase`` {radius, points}, ``draw`` {points}, ``delete`` {at,
    scope}, ``despeckle`` {size}, ``replace`` {runs}, ``clear``, ``undo``, ``redo``. Points are x, y, x, y,
    … inside the image.
    """
    if not isinstance(op, str) or op not in _FIELDS:
        raise InputError(f"an edit must be one of {', '.join(_FIELDS)}")
    if not isinstance(data, dict) or set(data) != _FIELDS[op]:
        raise InputError(f"the edit {op!r} needs exactly: {', '.join(sorted(_FIELDS[op])) or 'no data'}")
    if op == "threshold":
        _whole(data["level"], 1, 256, "level")
    if op == "erase":
        _whole(data["radius"], 0, MOST_RADIUS, "radius")
    if op in ("erase", "draw"):
        _check_points(data["points"], shape)
    if op == "delete":
        if not isinstance(data["at"], list) or len(data["at"]) != 2:
            raise InputError("at must be one pixel: x, y")
        _check_points(data["at"], shape)
        if data["scope"] not in SCOPES:
            raise InputError(f"scope must be one of {', '.join(SCOPES)}")
    if op == "despeckle":
        _whole(data["size"], 2, MOST_SPECK, "size")
    if op == "replace":
        _check_runs(data["runs"], shape)
    return Edit(op, data)


def check_key(key: Any) -> str:
    """Return the name that a browser gave to an edit."""
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise InputError("key must be 1 to 40 letters, digits, - or _")
    return key


def effective(edits: Iterable[Edit]) -> list[Edit]:
    """Return the edits that count after every undo and redo.

    Examples
    --------
    >>> steps = [Edit("clear"), Edit("threshold", {"level": 9}), Edit("undo"), Edit("undo"), Edit("redo")]
    >>> [edit.op for edit in effective(steps)]
    ['clear']
    """
    done: list[Edit] = []
    undone: list[Edit] = []
    for edit in edits:
        if edit.op == "undo":
            if done:
                undone.append(done.pop())
        elif edit.op == "redo":
            if undone:
                done.append(undone.pop())
        else:
            done.append(edit)
            undone.clear()
    return done


def fold(levels: NDArray[np.uint8], level: int, edits: Iterable[Edit]) -> BoolArray:
    """Return the map that a sequence of edits makes from a proposal and the threshold to begin with.

    Examples
    --------
    >>> import numpy as np
    >>> levels = np.array([[0, 90, 0], [0, 30, 0]], dtype=np.uint8)
    >>> fold(levels, 64, [Edit("draw", {"points": [0, 1, 0, 0]})]).astype(int)
    array([[1, 1, 0],
           [1, 0, 0]])
    """
    state = LabelState(levels, level)
    for edit in effective(edits):
        state.apply(edit)
    return state.map()


class LabelState:
    """A map under edit.

    Parameters
    ----------
    levels : (rows, columns) uint8 array
        The proposal.
    level : int
        The threshold to begin with.
    """

    def __init__(self, levels: NDArray[np.uint8], level: int) -> None:
        self.levels = levels
        self.threshold = level
        self.marks = np.zeros(levels.shape, dtype=np.uint8)

    def map(self) -> BoolArray:
        """Return which pixels are on."""
        shown = (self.levels > 0) & (self.levels >= self.threshold)
        result: BoolArray = (self.marks == ADDED) | ((self.marks == FREE) & shown)
        return result

    def apply(self, edit: Edit) -> None:
        """Apply one edit (not ``undo`` or ``redo``)."""
        data = edit.data
        if edit.op == "threshold":
            self.threshold = int(data["level"])
        elif edit.op == "draw":
            rows, columns = _trace(data["points"])
            self.marks[rows, columns] = ADDED
        elif edit.op == "erase":
            self._erase(data["points"], int(data["radius"]))
        elif edit.op == "delete":
            self._delete(data["at"][0], data["at"][1], data["scope"])
        elif edit.op == "despeckle":
            self._despeckle(int(data["size"]))
        elif edit.op == "clear":
            self.marks[:] = REMOVED
        elif edit.op == "replace":
            flat = np.full(self.marks.size, REMOVED, dtype=np.uint8)
            for start, length in zip(data["runs"][::2], data["runs"][1::2], strict=True):
                flat[start : start + length] = ADDED
            self.marks = flat.reshape(self.marks.shape)

    def _erase(self, points: Sequence[int], radius: int) -> None:
        """Remove every pixel whose squared distance from the line is at most radius²."""
        from scipy.ndimage import distance_transform_edt

        rows, columns = _trace(points)
        top, left = max(int(rows.min()) - radius, 0), max(int(columns.min()) - radius, 0)
        part = self.marks[top : int(rows.max()) + radius + 1, left : int(columns.max()) + radius + 1]
        away = np.ones(part.shape, dtype=np.bool_)
        away[rows - top, columns - left] = False
        squared = np.rint(distance_transform_edt(away) ** 2)
        part[squared <= radius * radius] = REMOVED

    def _despeckle(self, size: int) -> None:
        """Remove every 8-connected piece of fewer than `size` pixels."""
        from scipy.ndimage import label

        pieces, _ = label(self.map(), np.ones((3, 3), dtype=np.int8))
        small = np.bincount(pieces.ravel()) < size
        small[0] = False
        self.marks[small[pieces]] = REMOVED

    def _delete(self, x: int, y: int, scope: str) -> None:
        """Remove the 8-connected pixels around (x, y); a segment ends at the junctions.

        The arms of a junction touch each other diagonally, so there is no way either between two pixels
        that both touch a junction.
        """
        on = self.map()
        if not on[y, x]:
            return
        near = _Junctions(on) if scope == "segment" else None
        found, waiting = {(y, x)}, [(y, x)]
        while waiting:
            place = waiting.pop()
            if near is not None and near.at(place):
                continue
            for down, right in _AROUND:
                other = (place[0] + down, place[1] + right)
                if other in found or not _is_on(on, other):
                    continue
                if near is not None and (near.at(other) or (near.beside(place) and near.beside(other))):
                    continue
                found.add(other)
                waiting.append(other)
        rows, columns = zip(*found, strict=True)
        self.marks[list(rows), list(columns)] = REMOVED


def line(x0: int, y0: int, x1: int, y1: int) -> list[tuple[int, int]]:
    """Return the pixels (x, y) of a straight line by Bresenham's rule, both ends included.

    Examples
    --------
    >>> line(0, 0, 3, 1)
    [(0, 0), (1, 0), (2, 1), (3, 1)]
    """
    step_x, step_y = (1 if x0 < x1 else -1), (1 if y0 < y1 else -1)
    across, down = abs(x1 - x0), -abs(y1 - y0)
    error = across + down
    pixels = [(x0, y0)]
    while (x0, y0) != (x1, y1):
        twice = 2 * error
        if twice >= down:
            error += down
            x0 += step_x
        if twice <= across:
            error += across
            y0 += step_y
        pixels.append((x0, y0))
    return pixels


def runs_of(mask: BoolArray) -> list[int]:
    """Return the raster runs of a map: start, length, start, length, …"""
    flat = np.concatenate(([0], mask.ravel().astype(np.int8), [0]))
    change = np.diff(flat)
    starts, ends = np.flatnonzero(change == 1), np.flatnonzero(change == -1)
    return np.column_stack([starts, ends - starts]).ravel().tolist()


def _trace(points: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    pixels = [(points[0], points[1])]
    for at in range(2, len(points), 2):
        pixels += line(points[at - 2], points[at - 1], points[at], points[at + 1])
    array = np.array(pixels, dtype=np.int64)
    return array[:, 1], array[:, 0]


def _is_on(on: BoolArray, place: tuple[int, int]) -> bool:
    row, column = place
    return 0 <= row < on.shape[0] and 0 <= column < on.shape[1] and bool(on[row, column])


class _Junctions:
    """Where three or more lines meet: three changes from off to on around a pixel that is on."""

    def __init__(self, on: BoolArray) -> None:
        self._on = on
        self._known: dict[tuple[int, int], bool] = {}

    def at(self, place: tuple[int, int]) -> bool:
        if place not in self._known:
            ring = [_is_on(self._on, (place[0] + down, place[1] + right)) for down, right in _AROUND]
            changes = sum(not ring[i - 1] and ring[i] for i in range(8))
            self._known[place] = _is_on(self._on, place) and changes >= 3
        return self._known[place]

    def beside(self, place: tuple[int, int]) -> bool:
        return any(self.at((place[0] + down, place[1] + right)) for down, right in _AROUND)


_FIELDS: Final[dict[str, set[str]]] = {
    "threshold": {"level"},
    "erase": {"radius", "points"},
    "draw": {"points"},
    "delete": {"at", "scope"},
    "despeckle": {"size"},
    "replace": {"runs"},
    "clear": set(),
    "undo": set(),
    "redo": set(),
}


def _whole(value: Any, low: int, high: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(f"{name} must be a whole number from {low} to {high}")
    return value


def _check_points(points: Any, shape: tuple[int, int]) -> None:
    if not isinstance(points, list) or len(points) < 2 or len(points) % 2:
        raise InputError("points must be x, y, x, y, …")
    height, width = shape
    for at, value in enumerate(points):
        _whole(value, 0, (height if at % 2 else width) - 1, "a coordinate")
    steps = sum(
        max(abs(points[at] - points[at - 2]), abs(points[at + 1] - points[at - 1])) + 1
        for at in range(2, len(points), 2)
    )
    if steps > MOST_STEPS:
        raise InputError(f"a line may have at most {MOST_STEPS} pixels")


def _check_runs(runs: Any, shape: tuple[int, int]) -> None:
    if not isinstance(runs, list) or len(runs) % 2 or len(runs) > MOST_RUNS:
        raise InputError(f"runs must be start, length, … with at most {MOST_RUNS} numbers")
    pixels, end = shape[0] * shape[1], 0
    for start, length in zip(runs[::2], runs[1::2], strict=True):
        _whole(start, end, pixels - 1, "the start of a run")
        _whole(length, 1, pixels - start, "the length of a run")
        end = start + length
