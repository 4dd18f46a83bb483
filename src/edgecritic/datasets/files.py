"""Read maps, truths, images and volumes from the files people have.

Every function refuses what it cannot use with one `DataError` or `InputError` that names the file and
the remedy; files are treated as untrusted: no pickle, no links, bounded memory, every checksum verified,
no library traceback. A reader takes a path, or the bytes of a file that `read_content` read before.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets._guard import MEMORY_LIMIT, check_size, naming, reading
from edgecritic.datasets.class_maps import ClassMaps
from edgecritic.datasets.content import Content, PathLike, read_content
from edgecritic.datasets.formats import Format, format_of, formats
from edgecritic.datasets.formats.base import find_format
from edgecritic.errors import DataError, InputError, NotBinaryError
from edgecritic.geometry import Geometry
from edgecritic.inputs import BoolArray, FloatArray, as_mask, as_strength
from edgecritic.maps.boundaries import label_boundaries, truth_boundary
from edgecritic.registry import Entry
from edgecritic.values import Value

__all__ = [
    "Volume",
    "read_array",
    "read_geometry",
    "read_candidates",
    "read_hierarchy",
    "read_class_strength",
    "read_classes",
    "read_image",
    "read_mask",
    "read_segmentations",
    "read_strength",
    "read_truths",
    "read_volume",
    "read_spacing",
    "holds_segmentations",
]

Array = TypeVar("Array", bound=NDArray[Any])

Source = PathLike | Content
"""What readers take: the path of a file, or its bytes as `read_content` gives them."""

_MOST_MAPS = 10_000
_LUMINANCE = (0.299, 0.587, 0.114)


class Volume(Value, kw_only=False):
    """A volume and where its voxels lie, in the stored order of axes.

    Attributes
    ----------
    array : ndarray
    spacing : tuple of float
        Voxel size along each axis, 1 where it is not known.
    geometry : Geometry or None
        ``None`` where the format tells none.
    note : str
        What `edgecritic.datasets.on_grid_of` did with it.
    """

    array: NDArray[Any]
    spacing: tuple[float, ...]
    geometry: Geometry | None = None
    note: str = ""


def read_array(path: Source, *, key: str | None = None) -> NDArray[Any]:
    """Return the numbers of a file as they are stored.

    Parameters
    ----------
    path : path or Content
        A file of any format of `edgecritic.datasets.formats`.
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
    with _opened(path) as (data, found):
        array: NDArray[Any] = found.function(data, key)
        return array


def read_image(path: Source, *, colour: bool = False) -> NDArray[np.float64]:
    """Return a photo as floats: integer values are divided by 255 or 65535.

    Colours become luminance 0.299 R + 0.587 G + 0.114 B unless `colour` is true; then the result has
    shape (rows, columns, 3), also for grey pictures.
    """
    with _opened(path) as (data, found):
        values = found.function(data, None)
        check_size(values.shape, values.itemsize + 16)
        if values.dtype.kind == "u":
            image = values / float(np.iinfo(values.dtype).max)
        else:
            image = values.astype(np.float64)
        if not np.isfinite(image).all():
            raise InputError(
                "holds NaN or infinite values", remedy="replace them before edges are looked for"
            )
        is_colour = values.ndim == 3 and found.info.picture
        if colour:
            return image if is_colour else np.stack([image] * 3, axis=-1)
        return _luminance(image) if is_colour else image


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
            path=path_of(path),
            remedy="use read_truths",
        )
    return maps[0]


def read_strength(path: Source, *, key: str | None = None) -> FloatArray:
    """Return one soft edge map with values in [0, 1].

    Unsigned integers are divided by their largest value. A ``.mat`` file with ``ucm2`` (a contour map
    of twice the size) gives every second sample from the third on, in both axes: ``ucm2[2::2, 2::2]``.
    """
    with _opened(path) as (data, found):
        values = (found.info.strength or found.function)(data, key)
        copies = 0 if values.dtype.kind == "f" and values.flags.c_contiguous else 1
        check_size(values.shape, values.itemsize + 8 * (copies + (not values.flags.c_contiguous)))
        return as_strength(values)


def read_truths(
    path: Source, *, key: str | None = None, binarize: float | None = None, rule: str = "given"
) -> list[BoolArray]:
    """Return the binary maps of a truth file, one per annotator.

    A BSDS ``.mat`` file holds one map per cell of ``groundTruth`` (field ``Boundaries``, else the
    unthinned boundaries of ``Segmentation``); each array of a ``.npz`` file is one annotator; a
    ``.seg`` file gives the boundaries of its segments; any other file is one annotator. A 3-D array
    is one volume, not a pile of annotators. See `read_mask` for the options. `rule` says what of a truth is
    its boundary (`edgecritic.maps.boundaries.TRUTH_RULES`): by ``inner`` a file may hold objects or labels.
    """
    with _opened(path) as (data, found):
        arrays = found.info.truths(data, key) if found.info.truths else [found.function(data, key)]
        if rule != "given":
            return _limited(_boundary(array, binarize, rule) for array in arrays)
        return _limited(_binary(array, binarize) for array in arrays)  # each while it is in the cache


def read_segmentations(path: Source, *, key: str | None = None) -> list[NDArray[Any]]:
    """Return label images: the cells of ``segs`` in a ``.mat`` file, or the labels of a ``.seg`` file.

    `read_candidates` gives their boundaries.
    """
    with _opened(path) as (data, found):
        if found.info.labels is None:
            able = [suffix for entry in formats if entry.info.labels for suffix in entry.info.suffixes]
            raise InputError(f"segmentations are read from {' and '.join(able)} files only")
        return _limited(found.info.labels(data, key))


def read_hierarchy(path: Source) -> NDArray[Any]:
    """Return the contour strengths of ``ucm2`` in a ``.mat`` file, on the grid of twice the size.

    `edgecritic.protocols.regions` judges the segments that they part.
    """
    with _opened(path) as (data, found):
        if found.info.hierarchy is None:
            able = [suffix for entry in formats if entry.info.hierarchy for suffix in entry.info.suffixes]
            raise InputError(
                "regions are judged of hierarchies (ucm2) and segmentations (segs), which are read from "
                f"{' and '.join(able)} files"
            )
        return found.info.hierarchy(data)


def read_candidates(path: Source, *, key: str | None = None) -> list[BoolArray]:
    """Return the boundaries of each segmentation of a file (``segs``), unthinned, from fine to coarse.

    The benchmark takes the k-th one in place of a soft map cut at the k-th threshold.
    """
    return [label_boundaries(labels) for labels in read_segmentations(path, key=key)]


def read_classes(path: Source, *, key: str | None = None) -> ClassMaps:
    """Return what a file says of classes: labels, instances, or boundaries class by class.

    SBD files (``GTcls``, ``GTinst``) hold labels and boundaries. A picture or 2-D array holds labels; values
    from 1000 on are 1000 · label + instance, as Cityscapes has them; a palette is not looked up. A colour
    picture and a 2-D array of 32-bit unsigned numbers hold one bit per class (blue bits 0 to 7, green 8
    to 15, red 16 to 23). A 3-D array (classes, rows, columns) holds a map per class.
    """
    with _opened(path) as (data, found):
        if found.info.classes is not None:
            return found.info.classes(data, key)
        return ClassMaps.of_array(found.function(data, key))


def read_class_strength(path: Source, classes: int, *, key: str | None = None) -> FloatArray:
    """Return the strength maps of so many classes, (classes, rows, columns), with values in [0, 1].

    They are a 3-D array, or a colour picture with one bit per class.
    """
    with _opened(path) as (data, found):
        if found.info.picture and found.info.classes is not None:
            return _strength_of_bits(found.info.classes(data, key), classes)
        values = found.function(data, key)
        if values.ndim != 3 or len(values) != classes:
            last = values.ndim == 3 and values.shape[-1] == classes
            remedy = "move the axis of the classes to the front" if last else "store a map for each class"
            raise InputError(
                f"must hold an array ({classes} classes, rows, columns), got shape {values.shape}",
                remedy=remedy,
            )
        check_size(values.shape, values.itemsize + 8)
        return as_strength(values)


def _strength_of_bits(found: ClassMaps, classes: int) -> FloatArray:
    if not isinstance(found.stored, dict):
        raise InputError(
            "is a grey picture where maps of all classes were expected",
            remedy="store them in folders class_001, class_002, …, or as an array (classes, rows, columns)",
        )
    if max(found.stored) > classes:
        raise InputError(f"holds a bit of class {max(found.stored)}, but there are {classes} classes")
    maps = np.zeros((classes, *found.shape), dtype=np.float32)
    for number, one in found.stored.items():
        maps[number - 1] = one
    return maps


def holds_segmentations(path: Source) -> bool:
    """Tell whether a file holds segmentations (a cell array ``segs``) in place of a strength map."""
    found = find_format(path_of(path))
    if found is None or found.info.holds_labels is None:
        return False
    with _opened(path) as (data, _):
        return found.info.holds_labels(data)


def read_volume(path: Source) -> Volume:
    """Return the voxels of a file, their size, which is 1 where the format tells none, and where they lie."""
    with _opened(path) as (data, found):
        array = found.function(data, None)
        geometry = None if found.info.geometry is None else found.info.geometry(data, False)
        if geometry is None:
            return Volume(array, (1.0,) * array.ndim)
        return Volume(array, geometry.spacing[: array.ndim], geometry)


def read_geometry(path: Source, *, verify: bool = True) -> Geometry | None:
    """Return where the voxels of a file lie, ``None`` where its format does not tell.

    Voxels are not kept; without `verify` they are not even gone through, which suits who reads them anyway.
    """
    found = find_format(path_of(path))
    if found is None or found.info.geometry is None:
        return None
    with _opened(path) as (data, _):
        return found.info.geometry(data, verify)


def read_spacing(path: Source) -> tuple[float, ...] | None:
    """Return the voxel size that a file tells, ``None`` where its format has none."""
    geometry = read_geometry(path)
    return None if geometry is None else geometry.spacing


class _opened(reading):  # noqa: N801 - see `reading`
    """Give the bytes of a file and the record of its format."""

    path: Path

    def __init__(self, source: Source) -> None:
        super().__init__(path_of(source))
        self._source = source

    def __enter__(self) -> tuple[bytes, Entry[Format]]:
        with naming(self.path):
            if isinstance(self._source, Content):
                content = self._source
            else:
                if self.path.is_file():
                    format_of(self.path)  # before anything of it is read
                content = read_content(self._source)
            found = format_of(self.path)
        super().__enter__()
        return content.data, found


def path_of(source: Source) -> Path:
    """Return the place of a file, whether it was read already or not."""
    return source.path if isinstance(source, Content) else Path(source)


def _limited(arrays: Iterable[Array]) -> list[Array]:
    result: list[Array] = []
    size = 0
    for array in arrays:
        size += array.nbytes
        if result and (size > MEMORY_LIMIT // 3 or len(result) >= _MOST_MAPS):
            raise DataError("holds more maps than fit in memory", remedy="store one file per annotator")
        result.append(array)
    if not result:
        raise DataError("holds no map at all")
    return result


def _luminance(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601) of colours in the last axis."""
    red, green, blue = (weight * values[..., index] for index, weight in enumerate(_LUMINANCE))
    result: NDArray[np.float64] = red + green + blue
    return result


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


def _boundary(array: NDArray[Any], binarize: float | None, rule: str) -> BoolArray:
    check_size(array.shape, array.itemsize + 4)
    return truth_boundary(array if binarize is None else _binary(array, binarize), rule)


def _without_16_bits(array: NDArray[Any]) -> NDArray[Any]:
    on: BoolArray = array == 65535
    return on if np.array_equal(on, array != 0) else array


def _relative(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind == "u" and array.size and array.max() > 1:
        return array / np.float32(np.iinfo(array.dtype).max)
    return array
