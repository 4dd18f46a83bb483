"""The label map as a fold over edits: what the studio and ``edgecritic propose`` make of a proposal.

The same rules are written in the studio's ``static/fold.js``; both use integers only and give the same
pixels.

A map has levels (the proposal: 0 for no crest, else 1 … 255), a threshold, and one mark per pixel: none,
added or removed. A pixel is on if it is added, or if it has no mark and its level reaches the threshold.

The cost is bounded: a stroke has a largest size, a removed piece costs as much as it has pixels, a map
that is cleared or replaced makes everything before it irrelevant, and specks, for which the whole map must
be looked at, can be removed a number of times that depends on the size of the image.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray

__all__ = [
    "Edit",
    "LabelState",
    "check_edit",
    "check_specks",
    "counting",
    "fold",
    "fold_layers",
    "most_specks",
    "runs_of",
]

MOST_RADIUS: Final = 64
MOST_SPECK: Final = 1000
MOST_STEPS: Final = 40_000
MOST_POINTS: Final = {"draw": 16_000, "erase": 4_100, "reveal": 4_100, "paint": 4_100, "lasso": 4_100}
MOST_CLASSES: Final = 8
MOST_RUNS: Final = 600_000
SPECK_PIXELS: Final = 100_000_000
"""Pixels of an image, times how often its specks may be removed."""

SCOPES = ("component", "segment")
_KEY = re.compile(r"[A-Za-z0-9_-]{1,40}")


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit: an operation and its data."""

    op: str
    data: Mapping[str, Any] = field(default_factory=dict)


def check_edit(op: Any, data: Any, shape: tuple[int, int]) -> Edit:
    """Return a checked edit, or say what is wrong with it.

    Operations: ``threshold`` {level}, ``erase`` {radius, points}, ``reveal`` {radius, points, level},
    ``paint`` {radius, points, class, on}, ``draw`` {points}, ``lasso`` {points}, ``delete`` {at, scope},
    ``despeckle`` {size}, ``replace`` {runs}, ``clear``, ``undo``, ``redo``. Points are x, y, x, y, … inside
    the image.

    ``reveal`` adds below a brush the pixels of the proposal that reach a level; ``lasso`` removes the pixels
    of the proposal, and added ones, inside a closed line. ``paint`` gives the pixels below a brush to a class
    from 1 to 8, or takes them from it; the map stays as it is, and a pixel may be of several classes.
    """
    if not isinstance(op, str) or op not in _FIELDS:
        raise InputError(f"an edit must be one of {', '.join(_FIELDS)}")
    if not isinstance(data, dict) or set(data) != _FIELDS[op]:
        raise InputError(f"the edit {op!r} needs exactly: {', '.join(sorted(_FIELDS[op])) or 'no data'}")
    if op in ("threshold", "reveal"):
        _whole(data["level"], 1, 256, "level")
    if op == "paint":
        _whole(data["class"], 1, MOST_CLASSES, "class")
        if not isinstance(data["on"], bool):
            raise InputError("on must be true or false")
    if op in ("erase", "reveal", "paint"):
        _whole(data["radius"], 0, MOST_RADIUS, "radius")
    if op in MOST_POINTS:
        _check_points(data["points"], shape, MOST_POINTS[op])
    if op == "delete":
        if not isinstance(data["at"], list) or len(data["at"]) != 2:
            raise InputError("at must be one pixel: x, y")
        _check_points(data["at"], shape, 1)
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


def most_specks(shape: tuple[int, int]) -> int:
    """Return how often the specks of an image may be removed, other edits being made between.

    Examples
    --------
    >>> most_specks((4000, 6000)), most_specks((1500, 2000)), most_specks((321, 481))
    (4, 33, 647)
    """
    return SPECK_PIXELS // (shape[0] * shape[1])


def check_specks(ops: Sequence[str], shape: tuple[int, int]) -> None:
    """Refuse edits among which specks are removed too often; those that follow each other are one removal."""
    kept = [ops[place] for place in counting(ops)]
    times = sum(op == "despeckle" and before != op for before, op in zip(["", *kept], kept, strict=False))
    if times > most_specks(shape):
        raise InputError(
            f"specks of an image of {shape[1]}×{shape[0]} pixels can be removed at most "
            f"{most_specks(shape)} times",
            remedy="undo an earlier removal, or delete pieces one by one",
        )


def counting(ops: Sequence[str]) -> list[int]:
    """Return the places of the edits that make the map: not undone, and not before a new start.

    ``clear`` and ``replace`` give every pixel a mark, so that nothing before them shows any more, not even
    a threshold.

    Examples
    --------
    >>> counting(["draw", "replace", "draw", "undo", "erase"])
    [1, 4]
    """
    done: list[int] = []
    undone: list[int] = []
    for place, op in enumerate(ops):
        if op == "undo":
            if done:
                undone.append(done.pop())
        elif op == "redo":
            if undone:
                done.append(undone.pop())
        else:
            done.append(place)
            undone.clear()
    starts = [number for number, place in enumerate(done) if ops[place] in ("clear", "replace")]
    return done[starts[-1] :] if starts else done


def fold(levels: NDArray[np.uint8], level: int, edits: Iterable[Edit]) -> BoolArray:
    """Return the map that edits make from a proposal and the threshold to begin with.

    Parameters
    ----------
    levels : (rows, columns) uint8 array
        The proposal.
    level : int
        The threshold to begin with.
    edits : iterable of Edit
        Those that count (`counting`): no ``undo``, no ``redo``. They are taken one after the other.

    Examples
    --------
    >>> import numpy as np
    >>> levels = np.array([[0, 90, 0], [0, 30, 0]], dtype=np.uint8)
    >>> fold(levels, 64, [Edit("draw", {"points": [0, 1, 0, 0]})]).astype(int)
    array([[1, 1, 0],
           [1, 0, 0]])
    """
    return _folded(levels, level, edits).map()


def fold_layers(
    levels: NDArray[np.uint8], level: int, edits: Iterable[Edit]
) -> tuple[BoolArray, NDArray[np.uint8]]:
    """Return the map that edits make, and the classes of its pixels: bit k − 1 for class k.

    The arguments are those of :func:`fold`. A map that is cleared or replaced has no classes any more.

    Examples
    --------
    >>> line = Edit("draw", {"points": [0, 0, 3, 0]})
    >>> road = Edit("paint", {"radius": 0, "points": [0, 0, 1, 0], "class": 2, "on": True})
    >>> fold_layers(np.zeros((2, 4), np.uint8), 1, [line, road])[1]
    array([[2, 2, 0, 0],
           [0, 0, 0, 0]], dtype=uint8)
    """
    state = _folded(levels, level, edits)
    found = state.map()
    return found, np.where(found, 0 if state.layers is None else state.layers, 0).astype(np.uint8)


def _folded(levels: NDArray[np.uint8], level: int, edits: Iterable[Edit]) -> LabelState:
    state = LabelState(levels, level)
    specks = 0
    for edit in edits:
        if edit.op == "despeckle":
            specks = max(specks, int(edit.data["size"]))
            continue
        if specks:
            state.apply(Edit("despeckle", {"size": specks}))
            specks = 0
        state.apply(edit)
    if specks:
        state.apply(Edit("despeckle", {"size": specks}))
    return state


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
        self.levels = np.ascontiguousarray(levels, dtype=np.uint8)
        self.threshold = level
        self.marks = np.zeros(levels.shape, dtype=np.uint8)
        self.layers: NDArray[np.uint8] | None = None

    @property
    def _least(self) -> int:
        return max(self.threshold, 1)

    def map(self) -> BoolArray:
        """Return which pixels are on."""
        from edgecritic.kernels import edits as kernels

        result: BoolArray = np.empty(self.marks.shape, dtype=np.bool_)
        kernels.show(self.marks, self.levels, self._least, result)
        return result

    def apply(self, edit: Edit) -> None:
        """Apply one edit (not ``undo`` or ``redo``)."""
        from edgecritic.kernels import edits as kernels

        data = edit.data
        if edit.op == "threshold":
            self.threshold = int(data["level"])
        elif edit.op == "draw":
            kernels.draw(self.marks, np.array(data["points"], dtype=np.int64))
        elif edit.op == "erase":
            self._brush(self.marks, kernels.ERASE, 0, data)
        elif edit.op == "reveal":
            self._brush(self.marks, kernels.REVEAL, int(data["level"]), data)
        elif edit.op == "paint":
            if self.layers is None:
                self.layers = np.zeros(self.marks.shape, dtype=np.uint8)
            bit = 1 << (int(data["class"]) - 1)
            self._brush(self.layers, kernels.SET if data["on"] else kernels.UNSET, bit, data)
        elif edit.op == "lasso":
            kernels.cut_out(self.marks, self.levels, np.array(data["points"], dtype=np.int64))
        elif edit.op == "delete":
            self._delete(data["at"][0], data["at"][1], data["scope"])
        elif edit.op == "despeckle":
            kernels.remove_specks(self.marks, self.levels, self._least, int(data["size"]))
        elif edit.op == "clear":
            self.layers = None
            self.marks[:] = kernels.REMOVED
        elif edit.op == "replace":
            self.layers = None
            kernels.fill_runs(self.marks.ravel(), np.array(data["runs"], dtype=np.int64))

    def _brush(self, target: NDArray[np.uint8], act: int, value: int, data: Mapping[str, Any]) -> None:
        """Touch what is below the brush along a line: every pixel with dx² + dy² ≤ radius²."""
        from edgecritic.kernels import edits as kernels

        radius = int(data["radius"])
        reach = [isqrt(radius * radius - down * down) for down in range(-radius, radius + 1)]
        points = np.array(data["points"], dtype=np.int64)
        kernels.brush(target, self.levels, act, value, points, np.array(reach, dtype=np.int32))

    def _delete(self, x: int, y: int, scope: str) -> None:
        """Remove the 8-connected pixels around (x, y); a segment ends at the junctions.

        A junction is where three or more lines meet: three changes from off to on around a pixel that is
        on. The arms of a junction touch each other diagonally, so there is no way either between two
        pixels that both touch a junction.
        """
        from edgecritic.kernels import edits as kernels

        mark = self.marks[y, x]
        shown = mark == kernels.FREE and self.levels[y, x] >= self._least
        if mark == kernels.ADDED or shown:
            remove = kernels.remove_segment if scope == "segment" else kernels.remove_piece
            remove(self.marks, self.levels, self._least, x, y)


def runs_of(mask: BoolArray) -> list[int]:
    """Return the raster runs of a map: start, length, start, length, …

    Examples
    --------
    >>> runs_of(np.array([[False, True, True], [True, False, True]]))
    [1, 3, 5, 1]
    """
    from edgecritic.kernels import edits as kernels

    flat = np.ascontiguousarray(mask).ravel()
    runs = np.empty(MOST_RUNS, dtype=np.int64)
    count = kernels.find_runs(flat, runs)
    if count > MOST_RUNS:
        raise InputError(
            f"the map has more than {MOST_RUNS // 2:,} runs of edge pixels",
            remedy="remove specks from it first",
        )
    listed: list[int] = runs[:count].tolist()
    return listed


_FIELDS: Final[dict[str, set[str]]] = {
    "threshold": {"level"},
    "erase": {"radius", "points"},
    "reveal": {"radius", "points", "level"},
    "paint": {"radius", "points", "class", "on"},
    "draw": {"points"},
    "lasso": {"points"},
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


def _check_points(points: Any, shape: tuple[int, int], most: int) -> None:
    if not isinstance(points, list) or not 2 <= len(points) <= 2 * most or len(points) % 2:
        raise InputError(f"points must be x, y, x, y, … with at most {most} points")
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
