"""What a measure punishes in one small picture: six maps that differ from a truth, with their values.

The picture is SVG made of runs of pixels and needs no drawing library.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import MissingExtraError
from edgecritic.figures import FALSE_ALARM, HIT, MISS
from edgecritic.inputs import BoolArray
from edgecritic.measures import MeasureInfo
from edgecritic.registry import Entry

__all__ = ["deformations", "measure_picture"]

Labels = NDArray[np.int64]

_SHAPE = (24, 36)
_SCALE = 4
_GAP = 12
_EDGE = 4
_FOOT = 30
_COLUMNS = 3
_PASTEL = ("#f3f3f3", "#9ecae1", "#fdd0a2", "#c7e9c0", "#dadaeb", "#fbb4b9")
_OBJECTS = ("surfaces", "volumes", "lesions")


def deformations(info: MeasureInfo) -> list[tuple[str, Any, Any]]:
    """Return six candidates of the kind that a measure judges: what was done, the candidate, the truth.

    Contours for measures of edges, filled objects for those of surfaces, volumes and lesions, label maps for
    those of regions. The first candidate is the truth itself.

    Examples
    --------
    >>> from edgecritic.measures import measures
    >>> [name for name, _, _ in deformations(measures.get("hausdorff").info)]
    ['the truth itself', 'moved by 2 px', 'thick', 'gaps', 'a line missing', 'specks']
    """
    if info.needs == "segmentation":
        return [(name, labels, _regions()) for name, labels in _segmentations()]
    if info.family in _OBJECTS:
        truth = _objects()
        return [(name, candidate, truth) for name, candidate in _changed_objects(truth)]
    truth = _contours()
    return [(name, candidate, truth) for name, candidate in _changed_contours(truth)]


def measure_picture(entry: Entry[MeasureInfo]) -> str | None:
    """Return the picture of a measure as SVG; None where an optional library is missing.

    Examples
    --------
    >>> from edgecritic.measures import measures
    >>> picture = measure_picture(measures.get("recall"))
    >>> picture.startswith("<svg"), "a line missing" in picture
    (True, True)
    """
    made = []
    for name, candidate, truth in deformations(entry.info):
        alone = entry.info.needs == "candidate"
        given = (candidate,) if alone else (candidate, truth)
        try:
            value = float(entry.function(*given))
        except MissingExtraError:
            return None
        made.append((name, value, _drawn(candidate, None if alone else truth)))
    return _sheet(entry, made)


def _sheet(entry: Entry[MeasureInfo], panels: list[tuple[str, float, str]]) -> str:
    height, width = (_SCALE * side for side in _SHAPE)
    across, down = width + _GAP, height + _FOOT + _GAP
    rows = math.ceil(len(panels) / _COLUMNS)
    size = (_COLUMNS * across - _GAP + 2 * _EDGE, rows * down - _GAP + 2 * _EDGE)
    box = f'viewBox="{-_EDGE} {-_EDGE} {size[0]} {size[1]}" width="{size[0]}" height="{size[1]}"'
    look = 'font-family="sans-serif" font-size="11" shape-rendering="crispEdges"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {box} {look}>']
    parts.append(f"<title>{escape(entry.name)} of six maps</title>")
    for number, (name, value, drawn) in enumerate(panels):
        row, column = divmod(number, _COLUMNS)
        parts.append(f'<g transform="translate({column * across} {row * down})">')
        parts.append(f'<rect width="{width}" height="{height}" fill="#fff" stroke="#bbb"/>')
        parts.append(f'<g transform="scale({_SCALE})">{drawn}</g>')
        parts.append(f'<text y="{height + 13}" fill="#333">{escape(name)}</text>')
        shown = escape(f"{entry.info.symbol} = {_shown(value)}")
        parts.append(f'<text y="{height + 27}" fill="#000" font-weight="bold">{shown}</text></g>')
    return "".join([*parts, "</svg>"])


def _shown(value: float) -> str:
    if math.isnan(value):
        return "not defined"
    return "∞" if math.isinf(value) else f"{value:.3g}"


def _drawn(candidate: Any, truth: Any) -> str:
    if candidate.dtype != np.bool_:
        return "".join(
            _runs(candidate == label, _PASTEL[number % len(_PASTEL)])
            for number, label in enumerate(np.unique(candidate))
        ) + _runs(_rim(truth), "#000")
    if truth is None:
        return _runs(candidate, "#000")
    layers = ((candidate & truth, HIT), (candidate & ~truth, FALSE_ALARM), (truth & ~candidate, MISS))
    return "".join(_runs(layer, "#{:02x}{:02x}{:02x}".format(*colour)) for layer, colour in layers)


def _runs(mask: BoolArray, colour: str) -> str:
    """Return the pixels of a mask as one path: a stroke for every run in a row."""
    strokes = [
        f"M{start} {row + 0.5}h{stop - start}"
        for row, line in enumerate(mask)
        for start, stop in np.flatnonzero(np.diff(np.pad(line.astype(np.int8), 1))).reshape(-1, 2)
    ]
    return f'<path d="{"".join(strokes)}" stroke="{colour}" stroke-width="1" fill="none"/>' if strokes else ""


def _contours() -> BoolArray:
    """Return the outline of an ellipse, and a bent line."""
    found = _rim(_ellipse((12, 12), (8.5, 9.5)))
    rows = np.arange(3, 21)
    found[rows, np.rint(29 + 2 * np.sin(rows / 3)).astype(int)] = True
    return found


def _changed_contours(truth: BoolArray) -> Iterable[tuple[str, BoolArray]]:
    rows, columns = np.indices(_SHAPE)
    yield "the truth itself", truth
    yield "moved by 2 px", np.roll(truth, 2, axis=1)
    yield "thick", _grown(truth)
    yield "gaps", truth & ((rows + columns) % 4 != 0)
    yield "a line missing", truth & (columns < 25)
    yield "specks", truth | _specks(truth)


def _objects() -> BoolArray:
    """Return a large ellipse and a small one."""
    return _ellipse((12, 12), (8.5, 9.5)) | _ellipse((9, 29), (3.5, 3.5))


def _changed_objects(truth: BoolArray) -> Iterable[tuple[str, BoolArray]]:
    columns = np.indices(_SHAPE)[1]
    specks = np.zeros(_SHAPE, bool)
    specks[20:22, 31:33] = True
    ragged = truth & ~(_rim(truth) & (np.indices(_SHAPE).sum(axis=0) % 3 != 0))
    yield "the truth itself", truth
    yield "moved by 2 px", np.roll(truth, 2, axis=1)
    yield "grown by 1 px", _grown(truth)
    yield "ragged border", ragged
    yield "the small one missing", truth & (columns < 24)
    yield "a speck far away", truth | specks


def _regions() -> Labels:
    """Return three regions: an ellipse, what lies right of a line, the rest."""
    labels = np.where(np.indices(_SHAPE)[1] >= 26, 2, 0).astype(np.int64)
    labels[_ellipse((12, 12), (8.5, 9.5))] = 1
    return labels


def _segmentations() -> Iterable[tuple[str, Labels]]:
    truth = _regions()
    rows, columns = np.indices(_SHAPE)
    ragged = truth.copy()
    ragged[_rim(truth) & ((rows + columns) % 3 == 0)] = 0
    yield "the truth itself", truth
    yield "moved by 2 px", np.roll(truth, 2, axis=1)
    yield "ragged borders", ragged
    yield "a region cut in two", np.where((truth == 1) & (rows > 11), 3, truth)
    yield "two regions joined", np.where(truth == 2, 0, truth)
    yield "many small regions", (rows // 6) * 6 + columns // 6


def _ellipse(centre: tuple[int, int], radii: tuple[float, float]) -> BoolArray:
    rows, columns = np.indices(_SHAPE)
    inside: BoolArray = ((rows - centre[0]) / radii[0]) ** 2 + ((columns - centre[1]) / radii[1]) ** 2 <= 1
    return inside


def _rim(labels: Any) -> BoolArray:
    """Return the pixels with another label above, below, left or right."""
    found: BoolArray = np.zeros(_SHAPE, bool)
    for axis in (0, 1):
        for step in (1, -1):
            found |= np.roll(labels, step, axis=axis) != labels
    found &= labels != 0
    return found


def _grown(mask: BoolArray) -> BoolArray:
    found = mask.copy()
    for axis in (0, 1):
        for step in (1, -1):
            found |= np.roll(mask, step, axis=axis)
    return found


def _specks(truth: BoolArray) -> BoolArray:
    """Return single pixels on a wide grid, none of them at an edge."""
    found = np.zeros(_SHAPE, bool)
    found[2::5, 3::6] = True
    return found & ~_grown(_grown(truth))
