"""Where the voxels of a volume lie, and how one volume is brought onto the grid of another.

Positions are in millimetres in the frame of the patient: x to the right, y to the front, z upwards (RAS, as
in NIfTI). Two grids are the same if no voxel of one lies farther than `SAME` of a voxel from its counterpart.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import DataError, InputError
from edgecritic.values import Value

__all__ = [
    *("SAME", "Geometry", "Placement", "Resample", "place"),
    *("judged", "judged_text", "same_sizes", "size_text"),
]

Resample = Literal["nearest", "stored"] | None
_WAYS = (None, *get_args(get_args(Resample)[0]))

SAME = 0.01
"""How far apart, in shares of a voxel along each axis, voxels of one grid may be told to lie."""

_ALIKE = 1e-3
_TIE = 1e-6
_LETTERS = ("LR", "PA", "IS")


class Geometry(Value):
    """The place of the voxels of a volume.

    Attributes
    ----------
    affine : (4, 4) float array
        Takes the index (i, j, k, 1) of a voxel, in the order of the array's axes, to the position of its
        centre in millimetres, RAS.
    shape : tuple of int
        Number of voxels along each axis; the first three are those of space.
    placed : bool
        Whether position and orientation are known; otherwise only the voxel size is.
    unit : str
        Of lengths; pixels of maps of the earth are often in metres, ``m``.
    frame : str
        The name of the coordinate system, if it is told; systems that differ are never one grid.

    Examples
    --------
    >>> found = Geometry.of(np.diag([-0.8, -0.8, 3, 1]), (512, 512, 40))
    >>> found.spacing, found.codes
    ((0.8, 0.8, 3.0), 'LPS')
    """

    affine: NDArray[np.float64]
    shape: tuple[int, ...]
    placed: bool = True
    unit: str = "mm"
    frame: str = ""

    @classmethod
    def of(
        cls, affine: Any, shape: Sequence[int], *, placed: bool = True, unit: str = "mm", frame: str = ""
    ) -> Geometry:
        """Return the geometry of an affine that can be inverted; refuse any other."""
        matrix = np.array(affine, dtype=np.float64)
        lengths = np.linalg.norm(matrix[:3, :3], axis=0)
        if not (np.isfinite(matrix).all() and (lengths > 1e-9).all() and (lengths < 1e9).all()):
            raise DataError("tells impossible voxel sizes or positions; its header is damaged")
        if abs(np.linalg.det(matrix[:3, :3] / lengths)) < 1e-3:
            raise DataError("tells axes that lie in one plane; its header is damaged")
        sides = tuple(int(length) for length in shape)
        return cls(affine=matrix, shape=sides, placed=placed, unit=unit, frame=frame)

    @classmethod
    def of_spacing(cls, spacing: Sequence[float], shape: Sequence[int]) -> Geometry:
        """Return the geometry of a file that tells voxel sizes and nothing else."""
        sizes = (*spacing, 1.0, 1.0)[:3]
        return cls.of(np.diag([*sizes, 1.0]), shape, placed=False)

    @classmethod
    def of_lps(cls, directions: Any, origin: Any, shape: Sequence[int]) -> Geometry:
        """Return the geometry told in LPS, as DICOM and ITK do: axes are columns of `directions`, in mm."""
        affine = np.eye(4)
        affine[:3, :3], affine[:3, 3] = directions, origin
        return cls.of(np.diag([-1.0, -1, 1, 1]) @ affine, shape)

    @property
    def spacing(self) -> tuple[float, ...]:
        """Voxel size along each axis in millimetres: the lengths of the columns of the affine."""
        # Files store 24 bits, so that 0.3 comes as 0.30000001: lengths are told as short as they are known.
        told = (float(f"{size:.7g}") for size in np.linalg.norm(self.affine[:3, :3], axis=0))
        return (*told, *[1.0] * (len(self.shape) - 3))[: len(self.shape)]

    @property
    def solid(self) -> tuple[int, ...]:
        """Number of voxels along the three axes of space; a plane has one along the third."""
        return (*self.shape, 1, 1)[:3]

    @property
    def codes(self) -> str:
        """Where each axis points, roughly: three letters of R/L, A/P, S/I, such as ``RAS`` or ``LPS``."""
        rows = _best_rows(self.directions)
        signs = self.directions[rows, range(3)] > 0
        return "".join(_LETTERS[row][int(sign)] for row, sign in zip(rows, signs, strict=True))

    @property
    def directions(self) -> NDArray[np.float64]:
        """Unit vectors of the three axes, as columns."""
        axes = self.affine[:3, :3]
        result: NDArray[np.float64] = axes / np.linalg.norm(axes, axis=0)
        return result

    @property
    def skew(self) -> float:
        """How many degrees the axes are off right angles."""
        products = np.abs(self.directions.T @ self.directions)[np.triu_indices(3, 1)]
        return math.degrees(math.asin(min(1.0, float(products.max()))))


@dataclass(frozen=True, slots=True)
class Placement:
    """How an array is brought onto the grid of another, and what is said of it.

    Attributes
    ----------
    axes : tuple of int
        The array's axis that becomes the k-th.
    flips : tuple of int
        Axes, after that, whose order is reversed.
    back : (4, 4) float array or None
        Takes indices of the other grid to those of the array, where it has to be resampled.
    shape : tuple of int
        The shape of the other grid.
    note : str
        What was done, empty if nothing.
    believed : bool
        Whether what is told of the array's own voxels counts.
    """

    axes: tuple[int, ...] = (0, 1, 2)
    flips: tuple[int, ...] = ()
    back: NDArray[np.float64] | None = None
    shape: tuple[int, ...] = ()
    note: str = ""
    believed: bool = True

    def bring(self, array: NDArray[Any], ndim: int | None = None) -> NDArray[Any]:
        """Return the array on the other grid, with `ndim` dimensions (by default as many as it had)."""
        if array.ndim > 3 or (self.back is None and self.axes == (0, 1, 2) and not self.flips):
            return array
        solid = array.reshape(array.shape + (1,) * (3 - array.ndim))
        if self.back is not None:
            moved = _nearest(solid, self.back, self.shape)
        else:
            moved = np.flip(solid.transpose(self.axes), self.flips)
        wanted = array.ndim if ndim is None else ndim
        return np.ascontiguousarray(moved[..., 0] if wanted == 2 and moved.shape[2] == 1 else moved)


def place(
    candidate: Geometry | None,
    truth: Geometry | None,
    *,
    resample: Resample = None,
    names: tuple[str, str] = ("the candidate", "the truth"),
) -> Placement:
    """Say how a candidate is brought onto the grid of a truth, or refuse.

    Parameters
    ----------
    candidate, truth : Geometry or None
        ``None`` where nothing is known; voxels are then taken in their stored order.
    resample : "nearest" or "stored", optional
        What to do with a grid that is neither the truth's nor that with its axes swapped or reversed: take
        the value of the nearest voxel, 0 outside; or take voxels in their stored order, because the header is
        known to be wrong. Without it such a grid is refused.
    names : pair of str
        What to call them in messages.

    Raises
    ------
    InputError
        If the grids differ; the message says in what and by how much.

    Examples
    --------
    >>> ras = Geometry.of(np.diag([1, 1, 3, 1]), (4, 5, 6))
    >>> lps = Geometry.of([[-1, 0, 0, 3], [0, -1, 0, 4], [0, 0, 3, 0], [0, 0, 0, 1]], (4, 5, 6))
    >>> found = place(lps, ras)
    >>> found.flips, found.note
    ((0, 1), 'the candidate: axes LPS reordered to RAS, those of the truth; no value changed')
    """
    if resample not in _WAYS:
        raise InputError(f'resample must be "nearest", "stored" or None, got {resample!r}')
    if candidate is None or truth is None:
        return _unknown(candidate, truth, names)
    if not (candidate.placed and truth.placed):
        return _unplaced(candidate, truth, names)
    forward = np.linalg.inv(truth.affine) @ candidate.affine
    rows = _best_rows(np.linalg.inv(truth.directions) @ candidate.directions)
    axes = tuple(int(axis) for axis in np.argsort(rows))
    flips = tuple(row for row in range(3) if forward[row, axes[row]] < 0)
    differences = _differences(candidate, truth, forward, axes, flips)
    if not differences:
        note = ""
        if axes != (0, 1, 2) or flips:
            note = (
                f"{names[0]}: axes {candidate.codes} reordered to {truth.codes}, those of {names[1]}; "
                "no value changed"
            )
        return Placement(axes, flips, None, truth.solid, note)
    told = " and ".join(differences)
    if resample == "stored":
        note = f"{names[0]}: voxels are compared in their stored order, as was asked for, though {told}"
        return Placement(note=note, believed=False)
    if resample is None:
        raise InputError(
            f"the grid of {names[0]} is not that of {names[1]}: {told}",
            remedy="resample it onto the truth's grid, or ask for that: --resample nearest; if its header is "
            "wrong, --resample stored compares voxels in their stored order (in Python "
            'edgecritic.datasets.on_grid_of with resample="nearest" or "stored")',
        )
    note = f"{names[0]}: resampled onto the grid of {names[1]} by its nearest voxels ({told})"
    back: NDArray[np.float64] = np.linalg.inv(forward).astype(np.float64)
    return Placement((0, 1, 2), (), back, truth.solid, note)


def _unknown(candidate: Geometry | None, truth: Geometry | None, names: tuple[str, str]) -> Placement:
    known = candidate or truth
    if known is None:
        return Placement()
    silent = names[0] if candidate is None else names[1]
    return Placement(note=f"{silent}: tells no geometry, so voxels are compared in their stored order")


def _unplaced(candidate: Geometry, truth: Geometry, names: tuple[str, str]) -> Placement:
    """Compare voxel by voxel; sizes of voxels are compared by who chooses among them."""
    if not (candidate.placed or truth.placed):
        return Placement()
    silent = names[1] if candidate.placed else names[0]
    return Placement(note=f"{silent}: tells no position, so voxels are compared in their stored order")


def _differences(
    candidate: Geometry,
    truth: Geometry,
    forward: NDArray[np.float64],
    axes: tuple[int, ...],
    flips: tuple[int, ...],
) -> list[str]:
    """Say in what two grids differ after axes were swapped and reversed; nothing if they are the same."""
    shape, wanted = tuple(candidate.solid[axis] for axis in axes), truth.solid
    sizes, truth_sizes = _lengths(candidate, axes), _lengths(truth)
    ends = np.array(list(itertools.product(*((0, length - 1) for length in candidate.solid))), float)
    found = ends @ forward[:3, :3].T + forward[:3, 3]
    expected = ends[:, list(axes)]
    for axis in flips:
        expected[:, axis] = shape[axis] - 1 - expected[:, axis]
    off = found - expected
    frames = candidate.frame, truth.frame
    told = []
    if all(frames) and frames[0] != frames[1]:
        told.append(f"its coordinates are {frames[0]}, not {frames[1]}")
    elif shape == wanted and same_sizes(sizes, truth_sizes) and np.abs(off).max() <= SAME:
        return []
    noun, unit = "pixel" if len(truth.shape) == 2 else "voxel", truth.unit
    signs = [-1.0 if row in flips else 1.0 for row in range(3)]
    turned = candidate.directions[:, list(axes)] * signs
    cosines = np.clip((turned * truth.directions).sum(axis=0), -1, 1)
    angle = math.degrees(math.acos(float(cosines.min())))
    if shape != wanted:
        told.append(f"it has {size_text(shape)} {noun}s where there are {size_text(wanted)}")
    if not same_sizes(sizes, truth_sizes, 1e-6):
        told.append(f"its {noun}s have {size_text(sizes)} {unit}, not {size_text(truth_sizes)} {unit}")
    if angle > 1e-3:
        told.append(f"it is turned by {angle:.3g}°")
    corner = np.array([candidate.solid[axes[row]] - 1 if row in flips else 0 for row in range(3)], float)
    first = np.zeros(3)
    first[list(axes)] = corner
    start = candidate.affine[:3, :3] @ first + candidate.affine[:3, 3]
    shift = start - truth.affine[:3, 3]
    if np.linalg.norm(shift) > SAME * min(truth_sizes):
        parts = ", ".join(f"{part:.4g}" for part in shift + 0.0)
        told.append(f"its first {noun} lies {np.linalg.norm(shift):.4g} {unit} off (x, y, z: {parts} {unit})")
    if shape == wanted and (not told or angle > 1e-3 or len(told) > 1):
        far = np.linalg.norm(off @ truth.affine[:3, :3].T, axis=1).max()
        told.append(f"its corners lie up to {far:.4g} {unit} off")
    return told


def _lengths(geometry: Geometry, axes: tuple[int, ...] = (0, 1, 2)) -> tuple[float, ...]:
    return tuple(float(np.linalg.norm(geometry.affine[:3, axis])) for axis in axes)


def same_sizes(first: Sequence[float], second: Sequence[float], share: float = _ALIKE) -> bool:
    """Return whether voxel sizes agree as far as files store them."""
    return all(abs(one - two) <= share * max(one, two) for one, two in zip(first, second, strict=False))


def size_text(sizes: Sequence[float]) -> str:
    """Return pixel sizes for people.

    Examples
    --------
    >>> size_text((3.0, 0.8, 0.8))
    '3 × 0.8 × 0.8'
    """
    return " × ".join(f"{size:.4g}" for size in sizes)


def judged(shape: Sequence[int], spacing: Sequence[float] | None) -> dict[str, Any]:
    """Return in which dimension, and with which pixel size, maps were judged, ready for JSON."""
    sizes = None if spacing is None else [float(size) for size in spacing]
    return {"dimensions": len(shape), "shape": [int(length) for length in shape], "spacing": sizes}


def judged_text(shape: Sequence[int], spacing: Sequence[float] | None) -> str:
    """Say in which dimension, and with which pixel size, maps were judged.

    Examples
    --------
    >>> print(judged_text((40, 512, 512), (3, 0.8, 0.8)))
    judged in 3-D: a volume of 40 × 512 × 512 voxels, pixel size 3 × 0.8 × 0.8
    >>> print(judged_text((321, 481), None))
    judged in 2-D: an image of 321 × 481 pixels
    """
    what, unit = ("a volume", "voxels") if len(shape) == 3 else ("an image", "pixels")
    size = "" if spacing is None else f", pixel size {size_text(spacing)}"
    if spacing is None and len(shape) == 3:
        size = ", distances in voxels"
    sides = " × ".join(str(length) for length in shape)
    return f"judged in {len(shape)}-D: {what} of {sides} {unit}{size}"


def _best_rows(matrix: NDArray[np.float64]) -> list[int]:
    """Return for each column the row of its largest part, every row once."""
    orders = itertools.permutations(range(3))
    return list(max(orders, key=lambda rows: float(np.abs(matrix[list(rows), range(3)]).sum())))


def _nearest(array: NDArray[Any], back: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the value of the voxel that is nearest to each place of a grid; 0 outside, ties go up."""
    result = np.zeros(shape, dtype=array.dtype)
    rows, columns = np.indices(shape[1:], dtype=np.float64)
    plane = [back[axis, 1] * rows + back[axis, 2] * columns + back[axis, 3] for axis in range(3)]
    for index in range(shape[0]):
        places = [
            np.floor(part + back[axis, 0] * index + (0.5 + _TIE)).astype(np.int64)
            for axis, part in enumerate(plane)
        ]
        inside = np.logical_and.reduce(
            [(each >= 0) & (each < length) for each, length in zip(places, array.shape, strict=True)]
        )
        result[index][inside] = array[tuple(each[inside] for each in places)]
    return result
