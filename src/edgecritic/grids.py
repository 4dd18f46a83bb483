"""Images that know where their voxels lie, on one grid: those of nibabel and SimpleITK, and voxel sizes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.geometry import Geometry, Placement, place, same_sizes, size_text
from edgecritic.inputs import as_array

__all__ = ["choose_sizes", "image_of", "on_one_grid", "skew_notes"]


def image_of(data: Any) -> tuple[NDArray[Any], Geometry] | None:
    """Return the array and the geometry of an image of nibabel or SimpleITK; ``None`` for anything else.

    Of a SimpleITK image the array has the axes of ``SimpleITK.GetArrayFromImage``: plane, row, column.
    """
    if all(hasattr(data, name) for name in ("affine", "dataobj", "header")):
        return _of_nibabel(data)
    if all(hasattr(data, f"Get{name}") for name in ("Spacing", "Origin", "Direction", "Size")):
        return _of_simpleitk(data)
    return None


def _of_nibabel(image: Any) -> tuple[NDArray[Any], Geometry]:
    array = np.asanyarray(image.dataobj)
    shape = array.shape
    while len(shape) > 3 and shape[-1] == 1:
        shape = shape[:-1]
    header = image.header
    try:
        placed = int(header["sform_code"]) > 0 or int(header["qform_code"]) > 0
    except (KeyError, ValueError, IndexError, TypeError):
        placed = image.affine is not None
    if not placed:
        return array.reshape(shape), Geometry.of_spacing(header.get_zooms()[: len(shape)], shape)
    return array.reshape(shape), Geometry.of(image.affine, shape)


def _of_simpleitk(image: Any) -> tuple[NDArray[Any], Geometry | Any]:
    import SimpleITK

    array: NDArray[Any] = SimpleITK.GetArrayFromImage(image)
    ndim = len(image.GetSize())
    spacing = image.GetSpacing()
    if ndim != 3:
        return array, Geometry.of_spacing(spacing[::-1], array.shape)
    directions = np.reshape(image.GetDirection(), (3, 3)) * spacing
    return array, Geometry.of_lps(directions[:, ::-1], image.GetOrigin(), array.shape)


def on_one_grid(
    candidate: Any, truths: Sequence[Any], spacing: Any = None
) -> tuple[Any, list[Any], Any, tuple[str, ...]]:
    """Return arrays on the grid of the first truth, the voxel size, and what was done.

    If all are arrays they are returned as they are; images of nibabel and SimpleITK, which know where their
    voxels lie, are brought onto one grid or refused, as `place` says. A voxel size that is given wins; if it
    is not that of the images a warning says so.
    """
    images = [image_of(each) for each in (candidate, *truths)]
    if not any(images):
        return candidate, list(truths), spacing, ()
    several = len(truths) > 1
    labels = [
        "the candidate",
        *(f"truths[{number}]" if several else "the truth" for number in range(len(truths))),
    ]
    arrays = [
        as_array(given, name) if image is None else image[0]
        for given, image, name in zip((candidate, *truths), images, labels, strict=True)
    ]
    told = [None if image is None else image[1] for image in images]
    grid = told[1] if len(told) > 1 else told[0]
    placed = [
        place(geometry, grid, names=(name, labels[min(1, len(labels) - 1)]))
        for geometry, name in zip(told, labels, strict=True)
    ]
    ndim = np.ndim(arrays[-1])
    moved = [one.bring(array, ndim) for one, array in zip(placed, arrays, strict=True)]
    notes = [one.note for one in placed if one.note]
    sizes = choose_sizes(dict(zip(labels, told, strict=True)), placed, spacing)
    return moved[0], moved[1:], sizes, (*notes, *skew_notes(grid, labels[min(1, len(labels) - 1)]))


def skew_notes(geometry: Geometry | None, name: str) -> tuple[str, ...]:
    """Say that axes are not at right angles, nothing if they are or are not known."""
    if geometry is None or not geometry.placed or geometry.skew <= 0.1:
        return ()
    how = "distances are measured as if they were at right angles"
    return (f"{name}: its axes are {geometry.skew:.2g}° off right angles; {how}",)


def choose_sizes(
    told: dict[str, Geometry | None],
    placed: Sequence[Placement],
    wanted: Any = None,
    *,
    option: str = "spacing",
) -> Any:
    """Return the voxel size of volumes on one grid: what is wanted, else what they tell.

    The first of `told` is the candidate, the second the truth whose grid counts; `option` is what messages
    call the size that is wanted.

    Raises
    ------
    InputError
        If nothing is wanted and voxel sizes contradict each other.
    """
    known = {
        name: (*geometry.spacing, 1.0, 1.0)[:3] for name, geometry in told.items() if geometry is not None
    }
    for name, how in zip(told, placed, strict=True):
        if name in known and (how.back is not None or not how.believed):
            del known[name]
        elif name in known:
            known[name] = tuple(known[name][axis] for axis in how.axes)
    names = [name for name in (*list(told)[1:], next(iter(told))) if name in known]
    if not names:
        return wanted
    if wanted is not None:
        sizes = tuple(np.atleast_1d(np.asarray(wanted, dtype=float)).tolist())
        each = sizes * 3 if len(sizes) == 1 else sizes
        other = next((name for name in names if not same_sizes(each, known[name])), None)
        if other is not None:
            text = f"{option} is {size_text(sizes)}, but {other} tells {size_text(known[other])}"
            warnings.warn(text, stacklevel=4)
        return wanted
    for name in names[1:]:
        if not same_sizes(known[names[0]], known[name]):
            raise InputError(
                f"{names[0]} has voxels of {size_text(known[names[0]])} and {name} of "
                f"{size_text(known[name])}",
                remedy="say which is right: --spacing file takes that of the truth, or give numbers",
            )
    first = told[names[0]]
    return known[names[0]][: 3 if first is None else len(first.shape)]
