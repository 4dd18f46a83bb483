"""Maps too large for memory, read in bands of rows: `.npy` and `.tif` files.

Of a binary map the raster indices of its pixels are kept, of a strength map one byte per pixel.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets._guard import FILE_LIMIT, MEMORY_LIMIT, PIXEL_LIMIT, fill, quiet
from edgecritic.datasets._tiff import open_tiff, tiff_geometry
from edgecritic.datasets.content import PathLike, open_regular
from edgecritic.datasets.formats.base import find_format
from edgecritic.datasets.formats.npy import npy_header
from edgecritic.errors import DataError, InputError, NotBinaryError
from edgecritic.geometry import Geometry
from edgecritic.inputs import BoolArray, FloatArray, Indices, as_strength

__all__ = [
    "Raster",
    "Window",
    "is_large",
    "mask_window",
    "open_raster",
    "raster_levels",
    "raster_overview",
    "raster_pixels",
    "strength_window",
]

Window = tuple[slice, slice]
"""Rows and columns of a part of a map, both with a start and a stop."""

_BAND_BYTES = 2**25
_BYTES_PER_PICTURE_PIXEL = 16


class _Rows(Protocol):
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def piece(self) -> tuple[int, int]: ...
    def rows(self, start: int, stop: int) -> NDArray[Any]: ...


@dataclass(frozen=True, slots=True)
class _Npy:
    stream: BinaryIO
    offset: int
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    piece: tuple[int, int] = (1, 1)

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return some rows of the array."""
        row = self.shape[1] * self.dtype.itemsize
        self.stream.seek(self.offset + start * row)
        data = fill(self.stream, (stop - start) * row)
        return np.frombuffer(data, self.dtype).reshape(stop - start, self.shape[1])


@dataclass(frozen=True, slots=True)
class Raster:
    """An open file with one map.

    Attributes
    ----------
    path : Path
    shape : (rows, columns)
    dtype : numpy.dtype
    geometry : Geometry or None
        Where the pixels lie, if the file tells.
    """

    path: Path
    geometry: Geometry | None
    source: _Rows

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.source.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self.source.dtype

    def bands(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Give all rows, some at a time: the number of the first, and the values."""
        high, wide = self.shape
        piece = self.source.piece[0]
        each = max(_BAND_BYTES // (wide * self.dtype.itemsize) // piece, 1) * piece
        for start in range(0, high, each):
            yield start, self.source.rows(start, min(start + each, high))


@contextmanager
def open_raster(path: PathLike) -> Iterator[Raster]:
    """Open a `.npy` or `.tif` file of two axes, to be read in bands.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "a.npy"), np.eye(3, dtype=bool))
    ...     with open_raster(Path(folder, "a.npy")) as raster:
    ...         print(raster.shape, [start for start, _ in raster.bands()])
    (3, 3) [0]
    """
    file = Path(path)
    found = find_format(file)
    with open_regular(file) as stream:
        if found is not None and found.name == "tiff":
            with quiet():
                yield Raster(file, tiff_geometry(stream), open_tiff(stream))
        elif found is not None and found.name == "npy":
            yield Raster(file, None, _open_npy(stream))
        else:
            raise DataError(
                "is read as a whole only; in tiles .tif and .npy files are", remedy="save it as one of these"
            )


def _open_npy(stream: BinaryIO) -> _Npy:
    shape, fortran, dtype = npy_header(stream)
    if len(shape) != 2 or min(shape) < 1:
        raise DataError(f"must hold a map of 2 axes to be read in tiles, got shape {shape}")
    if fortran:
        raise DataError(
            "is stored column by column, and cannot be read row by row",
            remedy="save np.ascontiguousarray of it",
        )
    offset, size = stream.tell(), shape[0] * shape[1] * dtype.itemsize
    left = os.fstat(stream.fileno()).st_size - offset
    if left != size:
        state = "truncated" if left < size else "damaged"
        raise DataError(f"declares {size} bytes of numbers but holds {left}; it is {state}")
    return _Npy(stream, offset, (shape[0], shape[1]), dtype)


def is_large(path: PathLike) -> bool:
    """Tell whether a file holds a map that is too large to be read as a whole, but may be read in tiles.

    Files that cannot be understood are not large: whoever reads them says what is wrong.
    """
    found = find_format(path)
    if found is None or found.name not in ("tiff", "npy"):
        return False
    file = Path(path)
    if not file.is_file():
        return False
    try:
        with open_raster(file) as raster:
            pixels, each = raster.shape[0] * raster.shape[1], raster.dtype.itemsize
    except DataError:
        return False
    needed = _BYTES_PER_PICTURE_PIXEL if found.name == "tiff" else each + max(each, 4)
    return pixels > PIXEL_LIMIT or pixels * needed > MEMORY_LIMIT or file.stat().st_size > FILE_LIMIT


def raster_pixels(path: PathLike, *, binarize: float | None = None) -> tuple[Indices, tuple[int, int]]:
    """Return the raster indices of the pixels of a binary map, ascending, and its shape.

    What is binary, and what `binarize` does, are those of `edgecritic.datasets.read_mask`.
    """
    with open_raster(path) as raster:
        if binarize is None:
            return _marked(raster), raster.shape
        if not 0 < binarize <= 1:
            raise InputError(f"binarize must be a share in (0, 1], got {binarize!r}")
        full = _full_scale(raster)
        parts = [
            start * raster.shape[1] + np.flatnonzero((values / full if full else values) >= binarize)
            for start, values in raster.bands()
        ]
        return np.concatenate(parts), raster.shape


def raster_levels(path: PathLike, thresholds: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return how many of some ascending thresholds, at most 255, each value of a strength map reaches.

    Values are those of `edgecritic.datasets.read_strength`.
    """
    if thresholds.size > 255:
        raise InputError(f"tiles are judged at 255 thresholds at most, got {thresholds.size}")
    with open_raster(path) as raster:
        levels = np.empty(raster.shape, dtype=np.uint8)
        for start, values in raster.bands():
            strength = as_strength(values).astype(np.float64, copy=False)
            levels[start : start + len(values)] = np.searchsorted(thresholds, strength, side="right")
        return levels


def strength_window(path: PathLike, window: Window) -> FloatArray:
    """Return a part of a strength map; values are those of `edgecritic.datasets.read_strength`."""
    with open_raster(path) as raster:
        return as_strength(_part(raster, window))


def mask_window(path: PathLike, window: Window, *, binarize: float | None = None) -> BoolArray:
    """Return a part of a binary map, whose pixels are those of `raster_pixels`."""
    with open_raster(path) as raster:
        values = _part(raster, window)
        if binarize is None:
            on: BoolArray = values != 0
            return on
        full = _full_scale(raster)
        cut: BoolArray = (values / full if full else values) >= binarize
        return cut


def raster_overview(path: PathLike, side: int) -> NDArray[np.float32]:
    """Return a strength map at reduced size, at most `side` either way: the largest value of every block.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "a.npy"), np.eye(5, dtype=np.float32))
    ...     raster_overview(Path(folder, "a.npy"), 2)
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    with open_raster(path) as raster:
        each = -(-max(raster.shape) // side)
        high, wide = (-(-size // each) for size in raster.shape)
        small = np.zeros((high, wide), dtype=np.float32)
        columns = np.arange(0, raster.shape[1], each)
        for start, values in raster.bands():
            rows = np.arange(start, start + len(values)) // each
            firsts = np.flatnonzero(np.diff(rows, prepend=-1))
            most = np.maximum.reduceat(np.maximum.reduceat(as_strength(values), firsts), columns, axis=1)
            np.maximum(small[rows[firsts]], most, out=most)
            small[rows[firsts]] = most
        return small


def _part(raster: Raster, window: Window) -> NDArray[Any]:
    rows, columns = window
    return raster.source.rows(rows.start, rows.stop)[:, columns]


def _marked(raster: Raster) -> Indices:
    allowed = {1.0, 255.0} | ({65535.0} if raster.dtype == np.uint16 else set())
    parts, seen = [], set[float]()
    for start, values in raster.bands():
        pixels = np.flatnonzero(values)
        if pixels.size:
            marked = values.reshape(-1)[pixels]
            seen |= {float(marked.min()), float(marked.max())}
        if len(seen) > 1 or not seen <= allowed:
            raise NotBinaryError(
                "must be binary (booleans, 0/1 or 0/255), got values such as "
                f"{', '.join(f'{value:g}' for value in sorted(seen))}",
                remedy="if the grey values are meant as edges give binarize=0.5 (--binarize 0.5)",
            )
        parts.append(pixels + start * raster.shape[1])
    return np.concatenate(parts)


def _full_scale(raster: Raster) -> np.float32 | None:
    """Return by what whole numbers are divided before they are cut; None if values are shares already."""
    if raster.dtype.kind != "u" or max(int(values.max()) for _, values in raster.bands()) <= 1:
        return None
    return np.float32(np.iinfo(raster.dtype).max)
