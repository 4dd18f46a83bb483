"""Lists of edits that turn a proposal into a truth: of masks, of another truth, and as documents.

A document is ``{"level": …, "events": [{"op": …, "data": {…}}, …]}``, as the studio exports it; the edits are
those of `edgecritic.maps.fold`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray
from edgecritic.maps.fold import Edit, check_edit, check_specks, counting, fold
from edgecritic.maps.transform import distance_transform

__all__ = ["edits_between", "edits_document", "listed_edits", "read_document", "replay", "simulated_edits"]


def replay(levels: NDArray[np.uint8], level: int, edits: Sequence[Edit]) -> BoolArray:
    """Return the map that all edits make, those that undo others included.

    Examples
    --------
    >>> levels = np.array([[0, 90, 0]], dtype=np.uint8)
    >>> replay(levels, 64, [Edit("draw", {"points": [0, 0]}), Edit("undo")]).astype(int)
    array([[0, 1, 0]])
    """
    return fold(levels, level, [edits[place] for place in counting([edit.op for edit in edits])])


def edits_between(shown: BoolArray, wanted: BoolArray) -> list[Edit]:
    """Return the edits that make one map of another: runs that are erased, then runs that are drawn.

    Examples
    --------
    >>> now, then = np.array([[1, 1, 0]], bool), np.array([[0, 0, 1]], bool)
    >>> [(edit.op, edit.data["points"]) for edit in edits_between(now, then)]
    [('erase', [0, 0, 1, 0]), ('draw', [2, 0, 2, 0])]
    """
    erased = [Edit("erase", {"radius": 0, "points": run}) for run in _strokes(shown & ~wanted)]
    return [*erased, *(Edit("draw", {"points": run}) for run in _strokes(wanted & ~shown))]


def listed_edits(
    shown: BoolArray,
    *,
    accept: BoolArray | None = None,
    delete: BoolArray | None = None,
    add: BoolArray | None = None,
) -> list[Edit]:
    """Return the edits of three lists of pixels: ((shown ∩ accept) without delete) ∪ add.

    Examples
    --------
    >>> on = np.array([[1, 1, 0]], bool)
    >>> [edit.op for edit in listed_edits(on, accept=np.array([[1, 0, 0]], bool))]
    ['erase']
    """
    wanted = shown.copy()
    for name, mask in (("accept", accept), ("delete", delete), ("add", add)):
        if mask is not None and mask.shape != shown.shape:
            raise InputError(f"the list {name} has the shape {mask.shape}, the image {shown.shape}")
    if accept is not None:
        wanted &= accept
    if delete is not None:
        wanted &= ~delete
    if add is not None:
        wanted |= add
    return edits_between(shown, wanted)


def simulated_edits(
    levels: NDArray[np.uint8], truth: BoolArray, *, level: int = 1, radius: float = 3.0
) -> list[Edit]:
    """Return the edits of a person who wants the contours of a hand-made truth, at the places of the crests.

    Crests (levels ≥ `level`) within `radius` pixels of the truth are accepted, the others deleted; pixels of
    the truth that have no accepted crest within `radius` are added as they were drawn. So the contours are
    the person's and the places are those of the gradient, as in the semi-automatic truth of Abdulrahman and
    others; edges that the person did not draw are not added.

    Examples
    --------
    >>> levels = np.zeros((3, 5), np.uint8)
    >>> levels[:, 2], levels[1, 0] = 200, 90
    >>> truth = np.zeros((3, 5), bool)
    >>> truth[:, 3] = True
    >>> replay(levels, 1, simulated_edits(levels, truth, radius=1.5)).astype(int)
    array([[0, 0, 1, 0, 0],
           [0, 0, 1, 0, 0],
           [0, 0, 1, 0, 0]])
    """
    shown = levels >= max(level, 1)
    kept = shown & (distance_transform(truth) <= radius) if truth.any() else np.zeros_like(shown)
    far = distance_transform(kept) > radius if kept.any() else np.ones_like(shown)
    return edits_between(shown, kept | (truth & far))


def edits_document(level: int, edits: Sequence[Edit]) -> dict[str, Any]:
    """Return edits as a document, ready for JSON."""
    return {"level": level, "events": [{"op": edit.op, "data": dict(edit.data)} for edit in edits]}


def read_document(document: Any, shape: tuple[int, int]) -> tuple[int, list[Edit]]:
    """Return the threshold to begin with and the checked edits of a document.

    Examples
    --------
    >>> read_document({"level": 40, "events": [{"op": "clear", "data": {}}]}, (2, 3))
    (40, [Edit(op='clear', data={})])
    """
    if not isinstance(document, Mapping) or not isinstance(document.get("events"), list):
        raise InputError('is no list of edits: {"level": …, "events": […]} was expected')
    level = document.get("level")
    if isinstance(level, bool) or not isinstance(level, int) or not 1 <= level <= 256:
        raise InputError(f"level must be a whole number from 1 to 256, got {level!r}")
    edits = []
    for number, row in enumerate(document["events"], start=1):
        if not isinstance(row, Mapping):
            raise InputError(f"edit {number} must have the fields op and data")
        try:
            edits.append(check_edit(row.get("op"), row.get("data"), shape))
        except InputError as error:
            raise InputError(f"edit {number}: {error}") from None
    check_specks([edit.op for edit in edits], shape)
    return level, edits


def _strokes(mask: BoolArray) -> list[list[int]]:
    """Return the horizontal runs of a map as strokes x, y, x, y."""
    padded = np.pad(mask, ((0, 0), (1, 1))).astype(np.int8)
    change = np.diff(padded, axis=1)
    rows, starts = np.nonzero(change == 1)
    ends = np.nonzero(change == -1)[1] - 1
    return [
        [int(start), int(row), int(end), int(row)] for row, start, end in zip(rows, starts, ends, strict=True)
    ]
