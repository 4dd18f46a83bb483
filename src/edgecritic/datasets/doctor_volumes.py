"""What the doctor says of volumes: masks, label maps and soft maps, and the grids that they lie on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets.cases import Case
from edgecritic.datasets.files import read_array
from edgecritic.datasets.findings import Finding, Severity
from edgecritic.datasets.formats.base import find_format
from edgecritic.datasets.geometry import Grid, find_grid
from edgecritic.errors import EdgeCriticError

__all__ = ["VOLUMES", "check_volumes", "read_volumes"]

VOLUMES = "maps are volumes: score judges objects, bench --protocol volume judges surfaces"

_MOST_LABELS = 5000


def read_volumes(case: Case) -> dict[Path, NDArray[Any]] | None:
    """Return the arrays of a case if its prediction and truths are volumes, else None.

    A file is one if its format tells where voxels lie, or if it holds one array of three axes.
    """
    found: dict[Path, NDArray[Any]] = {}
    for path in (*case.truths, case.prediction):
        if path is None:
            continue
        kind = find_format(path)
        if kind is None or kind.info.picture or kind.info.truths is not None:
            return None
        array = read_array(case.source(path))
        if kind.info.geometry is None and array.ndim != 3:
            return None
        found[path] = array
    return found or None


def check_volumes(
    case: Case, arrays: dict[Path, NDArray[Any]], binarize: float | None = None
) -> Iterator[Finding]:
    """Say what `edgecritic score` would do with the volumes of a case."""
    yield Finding("note", case.id, VOLUMES, "", "volumes")
    for path, array in arrays.items():
        yield from _check_values(
            case.id, "prediction" if path == case.prediction else "truth", array, binarize
        )
    if case.prediction is None:
        return
    truths = [case.source(path) for path in case.truths]
    try:
        grid = find_grid(case.source(case.prediction), truths)
    except EdgeCriticError as error:
        yield Finding("error", case.id, error.message, error.remedy or "", "other grid")
        return
    for note in grid.notes:
        yield Finding("note", case.id, note, "", "geometry")
    yield from _check_shapes(case, arrays, grid)


def _check_shapes(case: Case, arrays: dict[Path, NDArray[Any]], grid: Grid) -> Iterator[Finding]:
    shapes = [grid.bring(path, arrays[path]).shape for path in (*case.truths, case.prediction) if path]
    for shape in shapes[1:]:
        if shape != shapes[0]:
            told = f"prediction has {_size(shape)} voxels, the truth {_size(shapes[0])}"
            remedy = "store both with their geometry, then --resample nearest brings them together"
            yield Finding("error", case.id, told, remedy, "prediction of another size")


def _check_values(name: str, what: str, array: NDArray[Any], binarize: float | None) -> Iterator[Finding]:
    low, high = float(array.min()), float(array.max())
    if not np.isfinite([low, high]).all():
        yield Finding(
            "error", name, f"{what} holds NaN or infinite values", "replace them", f"unusable {what}"
        )
    elif low == high == 0:
        yield Finding("warning", name, f"{what} is empty", "check that it is the right file", f"empty {what}")
    elif low == high:
        told = f"{what} is constant ({low:g} everywhere)"
        yield Finding("error", name, told, "check how it was saved", f"constant {what}")
    elif _every(array, lambda part: (part == 0) | (part == high)) and high in (1, 255):
        share = np.count_nonzero(array) / array.size
        if share > 0.5:
            told = f"{what} marks {share:.0%} of the voxels: are object and background swapped?"
            yield Finding("warning", name, told, "objects must be 1, the rest 0", f"inverted {what}")
    elif _every(array, lambda part: part == np.rint(part)) and low >= 0 and high <= _MOST_LABELS:
        labels = [f"{value:g}" for value in np.unique(array) if value]
        shown = ", ".join(labels[:6]) + (", …" if len(labels) > 6 else "")
        told = f"{what} is a label map of {len(labels)} object(s) ({shown})"
        yield Finding("note", name, f"{told}; score judges them with --labels all", "", f"label {what}")
    elif binarize is None:
        told = f"{what} holds grey values from {low:g} to {high:g}"
        severity: Severity = "warning" if what == "prediction" else "error"
        remedy = "score needs --binarize SHARE to cut them"
        if what == "prediction":
            remedy += "; bench takes them as strengths"
        yield Finding(severity, name, told, remedy, f"grey {what}")


def _every(array: NDArray[Any], holds: Callable[[NDArray[Any]], NDArray[np.bool_]]) -> bool:
    """Return whether something holds everywhere, plane by plane: memory for the whole is not needed twice."""
    return all(bool(holds(part).all()) for part in np.moveaxis(array, -1, 0))


def _size(shape: tuple[int, ...]) -> str:
    return " × ".join(str(length) for length in shape)
