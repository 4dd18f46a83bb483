"""Read maps, truths, images and volumes from the files people have.

Every function refuses what it cannot use with one `DataError` or `InputError` that names the file and
the remedy; files are treated as untrusted: no pickle, no links, bounded memory, every checksum verified,
no library traceback. A reader takes a path, or the bytes of a file that `read_content` read before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets import _matlab
from edgecritic.datasets._guard import ONE_ARRAY, check_size, reading
from edgecritic.datasets._pictures import load_picture, luminance, one_channel
from edgecritic.datasets.content import Content, PathLike, read_content
from edgecritic.datasets.names import IMAGE_SUFFIXES, MAP_SUFFIXES, suffix_of
from edgecritic.errors import DataError, InputError, NotBinaryError
from edgecritic.inputs import BoolArray, FloatArray, as_mask, as_strength
from edgecritic.maps.boundaries import label_boundaries
from edgecritic.values import Value

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

Source = PathLike | Content
"""What readers take: the path of a file, or its bytes as `read_content` gives them."""


class Volume(Value, kw_only=False):
    """A volume and its voxel size along each axis, in the stored order of axes."""

    array: NDArray[Any]
    spacing: tuple[float, ...]


def read_array(path: Source, *, key: str | None = None) -> NDArray[Any]:
    """Return the numbers of a file as they are stored.

    Parameters
    ----------
    path : path or Content
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
        suffix = suffix_of(file.path)
        if suffix in IMAGE_SUFFIXES:
            return load_picture(file.data)
        if suffix == ".npy":
            from edgecritic.datasets._numpy import load_npy

            return load_npy(file.data)
        if suffix == ".npz":
            return _only(_npz(file.data), key)
        if suffix == ".mat":
            return _matlab.matrix(file.data, key)
        if suffix == ".seg":
            return _seg(file.data)
        return read_volume(file).array


def read_image(path: Source, *, colour: bool = False) -> NDArray[np.float64]:
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
            raise InputError(
                "holds NaN or infinite values", remedy="replace them before edges are looked for"
            )
        is_colour = values.ndim == 3 and suffix_of(file.path) in IMAGE_SUFFIXES
        if colour:
            return image if is_colour else np.stack([image] * 3, axis=-1)
        return luminance(image) if is_colour else image


def read_mask(path: Source, *, key: str | None = None, binarize: float | None = None) -> BoolArray:
    """Return one binary map.

    Parameters
    ----------
    path : path or Content
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
            f"holds {len(maps)} annotators' maps where one was expected",
            path=_path(path),
            remedy="use read_truths",
        )
    return maps[0]


def read_strength(path: Source, *, key: str | None = None) -> FloatArray:
    """Return one soft edge map with values in [0, 1].

    Unsigned integers are divided by their largest value. A ``.mat`` file with ``ucm2`` (a contour map
    of twice the size) gives every second sample from the third on, in both axes: ``ucm2[2::2, 2::2]``.
    """
    with _opened(path) as file:
        suffix = suffix_of(file.path)
        if suffix == ".mat":
            values = _matlab.strength_matrix(file.data, key)
        elif suffix == ".seg":
            raise InputError("holds a segmentation, not a soft map", remedy="use read_candidates")
        else:
            values = read_array(file, key=key)
            if suffix in IMAGE_SUFFIXES:
                values = one_channel(values)
        copies = 0 if values.dtype.kind == "f" and values.flags.c_contiguous else 1
        check_size(values.shape, values.itemsize + 8 * (copies + (not values.flags.c_contiguous)))
        return as_strength(values)


def read_truths(path: Source, *, key: str | None = None, binarize: float | None = None) -> list[BoolArray]:
    """Return the binary maps of a truth file, one per annotator.

    A BSDS ``.mat`` file holds one map per cell of ``groundTruth`` (field ``Boundaries``, else the
    unthinned boundaries of ``Segmentation``); each array of a ``.npz`` file is one annotator; a
    ``.seg`` file gives the boundaries of its segments; any other file is one annotator. A 3-D array
    is one volume, not a pile of annotators. See `read_mask` for the options.
    """
    with _opened(path) as file:
        suffix = suffix_of(file.path)
        if suffix == ".mat":
            return _matlab.truth_matrices(file.data, key, lambda array: _binary(array, binarize))
        arrays: list[NDArray[Any]]
        if suffix == ".npz" and key is None:
            arrays = list(_npz(file.data).values())
        elif suffix == ".seg":
            arrays = [label_boundaries(_seg(file.data))]
        else:
            array = read_array(file, key=key)
            arrays = [one_channel(array) if suffix in IMAGE_SUFFIXES else array]
        return [_binary(array, binarize) for array in arrays]


def read_segmentations(path: Source, *, key: str | None = None) -> list[NDArray[Any]]:
    """Return label images: the cells of ``segs`` in a ``.mat`` file, or the labels of a ``.seg`` file.

    `read_candidates` gives their boundaries.
    """
    with _opened(path) as file:
        if suffix_of(file.path) == ".mat":
            return _matlab.segmentations(file.data, key)
        if suffix_of(file.path) == ".seg":
            return [_seg(file.data)]
        raise InputError("segmentations are read from .mat (a cell array `segs`) and .seg files only")


def read_candidates(path: Source, *, key: str | None = None) -> list[BoolArray]:
    """Return the boundaries of each segmentation of a file (``segs``), unthinned, from fine to coarse.

    The benchmark takes the k-th one in place of a soft map cut at the k-th threshold.
    """
    return [label_boundaries(labels) for labels in read_segmentations(path, key=key)]


def holds_segmentations(path: Source) -> bool:
    """Tell whether a file holds segmentations (a cell array ``segs``) in place of a strength map."""
    if suffix_of(_path(path)) != ".mat":
        return suffix_of(_path(path)) == ".seg"
    with _opened(path) as file, _matlab.opened(file.data, verify=False) as nodes:
        return any(node.name == "segs" and node.is_cell for node in nodes)


def read_volume(path: Source) -> Volume:
    """Return the voxels and spacing of a NIfTI file; other files have spacing 1."""
    with _opened(path) as file:
        if suffix_of(file.path) not in (".nii", ".nii.gz"):
            array = read_array(file)
            return Volume(array, (1.0,) * array.ndim)
        from edgecritic.datasets._nifti import load_nifti

        return Volume(*load_nifti(file.data))


def read_spacing(path: Source) -> tuple[float, ...] | None:
    """Return the voxel size that a NIfTI file tells, ``None`` for other files; the voxels are not read."""
    if suffix_of(_path(path)) not in (".nii", ".nii.gz"):
        return None
    with _opened(path) as file:
        from edgecritic.datasets._nifti import nifti_spacing

        return nifti_spacing(file.data)


@contextmanager
def _opened(source: Source) -> Iterator[Content]:
    path = _path(source)
    with reading(path):
        is_there = isinstance(source, Content) or path.is_file()
        if is_there and suffix_of(path) not in MAP_SUFFIXES:
            raise DataError(f"is of no known kind; known endings: {', '.join(sorted(MAP_SUFFIXES))}")
        yield source if isinstance(source, Content) else read_content(source)


def _path(source: Source) -> Path:
    return source.path if isinstance(source, Content) else Path(source)


def _npz(data: bytes) -> dict[str, NDArray[Any]]:
    from edgecritic.datasets._numpy import load_npz

    return load_npz(data)


def _seg(data: bytes) -> NDArray[Any]:
    from edgecritic.datasets._seg import load_seg

    return load_seg(data)


def _only(arrays: dict[str, NDArray[Any]], key: str | None) -> NDArray[Any]:
    if key is None and len(arrays) == 1:
        return next(iter(arrays.values()))
    if key is None:
        raise DataError(f"holds several arrays ({', '.join(arrays)})", remedy=ONE_ARRAY)
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
        except NotBinaryError as error:
            remedy = "if the grey values are meant as edges give binarize=0.5 (--binarize 0.5)"
            raise NotBinaryError(error.message, remedy=remedy) from error
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
