"""Read maps, truths, images and volumes from the files people have.

Every function refuses what it cannot use with one `DataError` or `InputError` that names the file and
the remedy; files are treated as untrusted: no pickle, bounded memory, no library traceback.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets import _matlab
from edgecritic.datasets._guard import ONE_ARRAY, check_size, reading
from edgecritic.datasets._pictures import load_picture, luminance, one_channel
from edgecritic.datasets.boundaries import label_boundaries
from edgecritic.datasets.names import IMAGE_SUFFIXES, MAP_SUFFIXES, suffix_of
from edgecritic.errors import DataError, InputError
from edgecritic.inputs import BoolArray, FloatArray, as_mask, as_strength

__all__ = [
    "Volume",
    "read_array",
    "read_candidates",
    "read_image",
    "read_mask",
    "read_segmentations",
    "read_strength",
    "read_truths",
    "read_volume",
    "read_spacing",
    "holds_segmentations",
]

PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Volume:
    """A volume and its voxel size along each axis, in the stored order of axes."""

    array: NDArray[Any]
    spacing: tuple[float, ...]


def read_array(path: PathLike, *, key: str | None = None) -> NDArray[Any]:
    """Return the numbers of a file as they are stored.

    Parameters
    ----------
    path : path
        Picture, ``.npy``, ``.npz``, ``.mat``, ``.seg`` (labels) or NIfTI file.
    key : str, optional
        Which array of a ``.npz`` or ``.mat`` file; not needed where only one comes into question.

    Returns
    -------
    ndarray
        For pictures (rows, columns) or (rows, columns, 3), palettes looked up, turned as the EXIF
        orientation says.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "a.npy", np.eye(2))
    ...     read_array(Path(folder) / "a.npy")
    array([[1., 0.],
           [0., 1.]])
    """
    with _opened(path) as file:
        suffix = suffix_of(file)
        if suffix in IMAGE_SUFFIXES:
            return load_picture(file)
        if suffix == ".npy":
            from edgecritic.datasets._numpy import load_npy

            return load_npy(file)
        if suffix == ".npz":
            return _only(_npz(file), key)
        if suffix == ".mat":
            return _matlab.matrix(file, key)
        if suffix == ".seg":
            return _seg(file)
        return read_volume(file).array


def read_image(path: PathLike, *, colour: bool = False) -> NDArray[np.float64]:
    """Return a photo as floats: integer values are divided by 255 or 65535.

    Colours become luminance 0.299 R + 0.587 G + 0.114 B unless `colour` is true; then the result has
    shape (rows, columns, 3), also for grey pictures.
    """
    with _opened(path) as file:
        values = read_array(file)
        check_size(values.shape, values.itemsize + 16)
        if values.dtype.kind == "u":
            image = values / float(np.iinfo(values.dtype).max)
        else:
            image = values.astype(np.float64)
        if not np.isfinite(image).all():
            raise InputError("holds NaN or infinite values; replace them before edges are looked for")
        is_colour = values.ndim == 3 and suffix_of(file) in IMAGE_SUFFIXES
        if colour:
            return image if is_colour else np.stack([image] * 3, axis=-1)
        return luminance(image) if is_colour else image


def read_mask(path: PathLike, *, key: str | None = None, binarize: float | None = None) -> BoolArray:
    """Return one binary map.

    Parameters
    ----------
    path : path
        A file with one map of two values (0/1, 0/255, 0/65535 or logical).
    key : str, optional
        Which array of a ``.npz`` or ``.mat`` file.
    binarize : float, optional
        Take values of at least this share of the type's largest value (255, 65535; 1 for floats) as
        edge. Without it a map with more than two values is refused.

    Raises
    ------
    InputError
        For grey values, colours, or a file with several annotators.
    DataError
        For a file that cannot be read.
    """
    maps = read_truths(path, key=key, binarize=binarize)
    if len(maps) != 1:
        raise InputError(
            f"{path}: holds {len(maps)} annotators' maps where one was expected; use read_truths"
        )
    return maps[0]


def read_strength(path: PathLike, *, key: str | None = None) -> FloatArray:
    """Return one soft edge map with values in [0, 1].

    Unsigned integers are divided by their largest value. A ``.mat`` file with ``ucm2`` (a contour map
    of twice the size) gives every second sample from the third on, in both axes: ``ucm2[2::2, 2::2]``.
    """
    with _opened(path) as file:
        suffix = suffix_of(file)
        if suffix == ".mat":
            values = _matlab.strength_matrix(file, key)
        elif suffix == ".seg":
            raise InputError("holds a segmentation, not a soft map; use read_candidates")
        else:
            values = read_array(file, key=key)
            if suffix in IMAGE_SUFFIXES:
                values = one_channel(values)
        copies = 0 if values.dtype.kind == "f" and values.flags.c_contiguous else 1
        check_size(values.shape, values.itemsize + 8 * (copies + (not values.flags.c_contiguous)))
        return as_strength(values)


def read_truths(path: PathLike, *, key: str | None = None, binarize: float | None = None) -> list[BoolArray]:
    """Return the binary maps of a truth file, one per annotator.

    A BSDS ``.mat`` file holds one map per cell of ``groundTruth`` (field ``Boundaries``, else the
    unthinned boundaries of ``Segmentation``); each array of a ``.npz`` file is one annotator; a
    ``.seg`` file gives the boundaries of its segments; any other file is one annotator. A 3-D array
    is one volume, not a pile of annotators. See `read_mask` for the options.
    """
    with _opened(path) as file:
        suffix = suffix_of(file)
        if suffix == ".mat":
            return _matlab.truth_matrices(file, key, lambda array: _binary(array, binarize))
        arrays: list[NDArray[Any]]
        if suffix == ".npz" and key is None:
            arrays = list(_npz(file).values())
        elif suffix == ".seg":
            arrays = [label_boundaries(_seg(file))]
        else:
            array = read_array(file, key=key)
            arrays = [one_channel(array) if suffix in IMAGE_SUFFIXES else array]
        return [_binary(array, binarize) for array in arrays]


def read_segmentations(path: PathLike, *, key: str | None = None) -> list[NDArray[Any]]:
    """Return label images: the cells of ``segs`` in a ``.mat`` file, or the labels of a ``.seg`` file.

    `read_candidates` gives their boundaries.
    """
    with _opened(path) as file:
        if suffix_of(file) == ".mat":
            return _matlab.segmentations(file, key)
        if suffix_of(file) == ".seg":
            return [_seg(file)]
        raise InputError("segmentations are read from .mat (a cell array `segs`) and .seg files only")


def read_candidates(path: PathLike, *, key: str | None = None) -> list[BoolArray]:
    """Return the boundaries of each segmentation of a file (``segs``), unthinned, from fine to coarse.

    The benchmark takes the k-th one in place of a soft map cut at the k-th threshold.
    """
    return [label_boundaries(labels) for labels in read_segmentations(path, key=key)]


def holds_segmentations(path: PathLike) -> bool:
    """Tell whether a file holds segmentations (a cell array ``segs``) in place of a strength map."""
    with _opened(path) as file:
        if suffix_of(file) == ".seg":
            return True
        if suffix_of(file) != ".mat":
            return False
        with _matlab.opened(file) as nodes:
            return any(node.name == "segs" and node.is_cell for node in nodes)


def read_volume(path: PathLike) -> Volume:
    """Return the voxels and spacing of a NIfTI file; other files have spacing 1."""
    with _opened(path) as file:
        if suffix_of(file) not in (".nii", ".nii.gz"):
            array = read_array(file)
            return Volume(array, (1.0,) * array.ndim)
        from edgecritic.datasets._nifti import load_nifti

        return Volume(*load_nifti(file))


def read_spacing(path: PathLike) -> tuple[float, ...] | None:
    """Return the voxel size that a NIfTI file tells, ``None`` for other files; the voxels are not read."""
    with _opened(path) as file:
        if suffix_of(file) not in (".nii", ".nii.gz"):
            return None
        from edgecritic.datasets._nifti import nifti_spacing

        return nifti_spacing(file)


@contextmanager
def _opened(path: PathLike) -> Iterator[Path]:
    file = Path(path)
    with reading(file):
        if not file.is_file():
            raise DataError("is a folder, a file was expected" if file.is_dir() else "no such file")
        if suffix_of(file) not in MAP_SUFFIXES:
            raise DataError(f"is of no known kind; known endings: {', '.join(sorted(MAP_SUFFIXES))}")
        yield file


def _npz(file: Path) -> dict[str, NDArray[Any]]:
    from edgecritic.datasets._numpy import load_npz

    return load_npz(file)


def _seg(file: Path) -> NDArray[Any]:
    from edgecritic.datasets._seg import load_seg

    return load_seg(file)


def _only(arrays: dict[str, NDArray[Any]], key: str | None) -> NDArray[Any]:
    if key is None and len(arrays) == 1:
        return next(iter(arrays.values()))
    if key is None:
        raise DataError(f"holds several arrays ({', '.join(arrays)}); {ONE_ARRAY}")
    if key not in arrays:
        raise DataError(f"has no array {key!r} (its arrays: {', '.join(arrays)})")
    return arrays[key]


def _binary(array: NDArray[Any], binarize: float | None) -> BoolArray:
    check_size(array.shape, array.itemsize + 4)
    if binarize is None:
        if array.dtype == np.uint8 and array.size and array.max() <= 1:
            array = array.view(np.bool_)
        elif array.dtype == np.uint16 and array.size and array.max() == 65535:
            array = _without_16_bits(array)
        try:
            return as_mask(array)
        except InputError as error:
            told = str(error).replace("threshold it first, for instance strength >= 0.5", "").rstrip("; ")
            remedy = (
                "; if the grey values are meant as edges give binarize=0.5 (--binarize 0.5)"
                if told != str(error)
                else ""
            )
            raise InputError(told + remedy) from error
    if not 0 < binarize <= 1:
        raise InputError(f"binarize must be a share in (0, 1], got {binarize!r}")
    return as_mask(_relative(array) >= binarize)


def _without_16_bits(array: NDArray[Any]) -> NDArray[Any]:
    on: BoolArray = array == 65535
    return on if np.array_equal(on, array != 0) else array


def _relative(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind == "u" and array.size and array.max() > 1:
        return array / np.float32(np.iinfo(array.dtype).max)
    return array
