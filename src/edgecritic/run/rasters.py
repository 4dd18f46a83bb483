"""Maps too large for memory, judged in tiles: what is read of them, and on which grid they lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from edgecritic.datasets.geometry import make_grid
from edgecritic.datasets.rasters import open_raster, raster_pixels
from edgecritic.datasets.spacing import Sizes
from edgecritic.errors import InputError
from edgecritic.geometry import Resample
from edgecritic.inputs import Indices, check_shapes

__all__ = ["PixelLists", "common_grid", "read_pixels"]


@dataclass(frozen=True, slots=True, eq=False)
class PixelLists:
    """The pixels of a candidate and of its truths.

    Attributes
    ----------
    candidate : int64 array
        Raster indices, ascending.
    truths : tuple of int64 arrays
    shape : tuple of int
    spacing : tuple of float or None
        The pixel size, if user or files tell one.
    notes : tuple of str
        What readers must know of the files' grids.
    """

    candidate: Indices
    truths: tuple[Indices, ...]
    shape: tuple[int, ...]
    spacing: Sizes | None
    notes: tuple[str, ...]


def read_pixels(
    candidate: str | Path,
    truths: Sequence[str | Path],
    *,
    binarize: float | None = None,
    spacing: Sizes | Literal["file"] | None = None,
    resample: Resample = None,
) -> PixelLists:
    """Read binary maps in bands of rows.

    Parameters
    ----------
    candidate, truths : paths
        `.npy` and `.tif` files of one shape.
    binarize, spacing, resample
        As for `edgecritic.datasets.geometry.find_grid` and `edgecritic.datasets.read_mask`; grids that differ
        are refused, unless ``"stored"`` says that their headers are wrong.
    """
    shape, sizes, notes = common_grid(candidate, truths, spacing=spacing, resample=resample)
    lists = [raster_pixels(path, binarize=binarize)[0] for path in (candidate, *truths)]
    return PixelLists(candidate=lists[0], truths=tuple(lists[1:]), shape=shape, spacing=sizes, notes=notes)


def common_grid(
    candidate: str | Path,
    truths: Sequence[str | Path],
    *,
    spacing: Sizes | Literal["file"] | None = None,
    resample: Resample = None,
) -> tuple[tuple[int, int], Sizes | None, tuple[str, ...]]:
    """Return shape, pixel size and notes of files that lie on one grid; refuse others."""
    shapes, told = [], []
    for path in (candidate, *truths):
        with open_raster(path) as raster:
            shapes.append(raster.shape)
            told.append(raster.geometry)
    for shape in (shapes[0], *shapes[2:]):
        check_shapes(shape, shapes[1], "candidate")
    grid = make_grid([candidate, *truths], told, spacing=spacing, resample=resample)
    for placed in grid.placements.values():
        if placed.axes != (0, 1, 2) or placed.flips or placed.back is not None:
            raise InputError(
                f"maps on other grids are not turned or resampled in tiles ({placed.note})",
                remedy="store the candidate on the truth's grid",
            )
    return shapes[1], grid.spacing, grid.notes
