"""Volumes of several files on one grid: what `score`, `match` and the doctor do with geometry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from numpy.typing import NDArray

from edgecritic.datasets.content import Content
from edgecritic.datasets.files import Source, Volume, path_of, read_geometry, read_volume
from edgecritic.datasets.spacing import Sizes
from edgecritic.errors import InputError
from edgecritic.geometry import Geometry, Placement, Resample, place
from edgecritic.grids import choose_sizes, image_of, skew_notes

__all__ = ["Geometry", "Grid", "find_grid", "make_grid", "on_grid_of"]


_IN_PLACE = Placement()


@dataclass(frozen=True, slots=True)
class Grid:
    """The grid of the first truth, and how each file is brought onto it.

    Attributes
    ----------
    placements : dict of Path to Placement
    spacing : tuple of float or None
        The pixel size; ``None`` if neither user nor files tell one.
    notes : tuple of str
        What was done, to be shown to people.
    """

    placements: dict[Path, Placement]
    spacing: Sizes | None
    notes: tuple[str, ...]

    def bring(self, source: Source, array: NDArray[Any]) -> NDArray[Any]:
        """Return an array that was read from a file on the grid of the truth."""
        return self.placements[path_of(source)].bring(array)


def find_grid(
    candidate: Source,
    truths: Sequence[Source],
    *,
    spacing: Sizes | Literal["file"] | None = None,
    resample: Resample = None,
) -> Grid:
    """Say how a candidate and its truths come onto one grid, that of the first truth, or refuse.

    Only headers count: arrays are brought onto the grid by `Grid.bring`.

    Parameters
    ----------
    candidate, truths : paths or Contents
    spacing : tuple of float, "file" or None
        These sizes; that of the first truth; or by default what all files agree in.
    resample : "nearest" or "stored", optional
        As for `edgecritic.geometry.place`.

    Raises
    ------
    InputError
        If grids differ, files contradict each other in their voxel sizes, or "file" is wanted and the truth
        tells none.
    """
    sources = (candidate, *truths)
    told = [read_geometry(source, verify=False) for source in sources]
    return make_grid(sources, told, spacing=spacing, resample=resample)


def make_grid(
    sources: Sequence[Source],
    told: Sequence[Geometry | None],
    *,
    spacing: Sizes | Literal["file"] | None = None,
    resample: Resample = None,
) -> Grid:
    """Do what `find_grid` does, of a candidate and its truths whose geometries are known."""
    if spacing is None and resample is None and all(one is None for one in told):
        return Grid(dict.fromkeys(map(path_of, sources), _IN_PLACE), None, ())
    names = _names(sources)
    placed = [
        place(geometry, told[1], resample=resample, names=(name, names[1]))
        for geometry, name in zip(told, names, strict=True)
    ]
    sizes = _sizes(dict(zip(names, told, strict=True)), placed, spacing)
    notes = [one.note for one in placed if one.note]
    if sizes is not None:
        notes += skew_notes(told[1], names[1])
    return Grid({path_of(s): one for s, one in zip(sources, placed, strict=True)}, sizes, tuple(notes))


def on_grid_of(candidate: Any, truth: Any, *, resample: Resample = None) -> Volume:
    """Return a volume on the grid of another.

    Parameters
    ----------
    candidate, truth : path, Content, Volume, or image of nibabel or SimpleITK
    resample : "nearest" or "stored", optional
        Take the value of the nearest voxel where the grids differ, 0 outside; or all voxels in their stored
        order. Without it, grids that differ in more than the order and direction of their axes are refused.

    Returns
    -------
    Volume
        The candidate's values with the geometry of the truth; `note` says what was done.

    Examples
    --------
    >>> import numpy as np
    >>> ras = Volume(np.arange(6).reshape(1, 2, 3), (1, 1, 1), Geometry.of(np.eye(4), (1, 2, 3)))
    >>> fine = Volume(np.zeros((1, 2, 6)), (1, 1, 0.5), Geometry.of(np.diag([1, 1, 0.5, 1]), (1, 2, 6)))
    >>> on_grid_of(ras, fine, resample="nearest").array[0, 0]
    array([0, 1, 1, 2, 2, 0])
    """
    first, second = _volume(candidate), _volume(truth)
    how = place(first.geometry, second.geometry, resample=resample)
    return Volume(how.bring(first.array, second.array.ndim), second.spacing, second.geometry, how.note)


def _volume(given: Any) -> Volume:
    if isinstance(given, Volume):
        return given
    image = image_of(given)
    if image is not None:
        return Volume(image[0], image[1].spacing[: image[0].ndim], image[1])
    if isinstance(given, str | Path | Content):
        return read_volume(given)
    raise InputError(
        f"expected a file, a Volume or an image of nibabel or SimpleITK, got {type(given).__name__}"
    )


def _sizes(
    told: dict[str, Geometry | None], placed: Sequence[Placement], wanted: Sizes | Literal["file"] | None
) -> Sizes | None:
    truth = list(told)[1]
    if wanted == "file":
        geometry = told[truth]
        if geometry is None:
            raise InputError(f"{truth} tells no voxel size", remedy="give --spacing numbers")
        return geometry.spacing
    sizes: Sizes | None = choose_sizes(told, placed, wanted, option="--spacing")
    return sizes


def _names(sources: Sequence[Source]) -> list[str]:
    truths = [f"the truth {path_of(source).name}" for source in sources[1:]]
    if len(set(truths)) < len(truths):
        truths = [f"truth {number} {path_of(one).name}" for number, one in enumerate(sources[1:], start=1)]
    return [f"the candidate {path_of(sources[0]).name}", *truths]
