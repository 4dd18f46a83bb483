"""What readers of volumes with a header of text share: numbers of the header, and the voxels behind it."""

from __future__ import annotations

import gzip
import io
import math
import zlib
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets._guard import ByteStream, check_end, check_size, fill
from edgecritic.errors import DataError

__all__ = ["HEADER_LIMIT", "TextHeader", "neighbour", "read_numbers", "read_sizes"]

HEADER_LIMIT = 2**20
"""Most bytes of a header."""

_STEP = 2**20
_PORTION = 2**16
_MOST_AXES = 7


class TextHeader(NamedTuple):
    """What a header of text tells of the voxels behind it.

    Attributes
    ----------
    fields : dict of str
        All fields, by names in small letters.
    shape, dtype
        Of the voxels.
    packing : str
        ``"raw"``, ``"gzip"`` or ``"zlib"``.
    end : int
        Where the voxels begin.
    """

    fields: dict[str, str]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    packing: str
    end: int

    def voxels(self, data: bytes) -> NDArray[Any]:
        """Return the voxels of a file with this header."""
        return read_voxels(unpacked(data, self.end, self.packing), self.shape, self.dtype)

    def verify(self, data: bytes) -> None:
        """Go through all voxels and keep none."""
        pass_over(unpacked(data, self.end, self.packing), self.shape, self.dtype)


class Inflated:
    """A stream of zlib or gzip, unpacked piece by piece; its checksum is verified at the end."""

    def __init__(self, data: memoryview) -> None:
        self._unpacker = zlib.decompressobj(wbits=47)  # either of the two
        self._data = data
        self._place = 0
        self._left = b""

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes, none at the end."""
        while not self._unpacker.eof:
            given: bytes | memoryview = self._left
            if not given:
                given = self._data[self._place : self._place + _PORTION]
                self._place += len(given)
            piece = self._unpacker.decompress(given, size)
            self._left = self._unpacker.unconsumed_tail
            if piece:
                return piece
            if not given:
                raise DataError("its packed voxels end before their checksum; the file is truncated")
        if self._place < len(self._data) or self._unpacker.unused_data:
            raise DataError("goes on after its packed voxels; the file is damaged")
        return b""


def unpacked(data: bytes, start: int, packing: str) -> ByteStream:
    """Return the stream of the voxels from a place on, stored as they are or packed by gzip or zlib."""
    if packing == "zlib":
        return Inflated(memoryview(data)[start:])
    stream = io.BytesIO(data)
    stream.seek(start)
    return gzip.GzipFile(fileobj=stream) if packing == "gzip" else stream


def read_voxels(stream: ByteStream, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the voxels of a stream, which must end with them; the first axis is the quickest."""
    size = check_size(shape, 2 * dtype.itemsize) * dtype.itemsize
    array: NDArray[Any] = np.frombuffer(fill(stream, size), dtype)
    check_end(stream)
    if dtype.byteorder == ">":
        array = array.astype(dtype.newbyteorder("="))
    return array.reshape(shape, order="F")


def pass_over(stream: ByteStream, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Go through the voxels of a stream without keeping them."""
    left = check_size(shape, 2 * dtype.itemsize) * dtype.itemsize
    while left > 0:
        left -= len(fill(stream, min(left, _STEP)))
    check_end(stream)


def read_sizes(text: str, count: int) -> tuple[int, ...]:
    """Read the number of voxels along each of `count` axes."""
    words = text.split()
    if not 1 <= count <= _MOST_AXES or len(words) != count:
        raise DataError(f"declares {count} axes and {len(words)} sizes; its header is damaged")
    found = tuple(int(word) for word in words if word.isascii() and word.isdigit() and len(word) < 19)
    if len(found) != count or min(found) < 1:
        raise DataError(f"declares impossible sizes {text[:60]!r}; its header is damaged")
    return found


def read_numbers(text: str, count: int, what: str) -> list[float]:
    """Read `count` finite numbers."""
    try:
        found = [float(word) for word in text.split()]
    except ValueError:
        found = []
    if len(found) != count or not all(map(math.isfinite, found)):
        raise DataError(f"declares {what} {text[:60]!r} where {count} numbers were expected")
    return found


def neighbour(name: str) -> str:
    """Return the name of a file in the same folder, or refuse one that leads elsewhere."""
    if not name or name in (".", "..") or PurePath(name).name != name or set(name) & set('\\/:*?"<>|\0'):
        raise DataError(
            f"names the file of its voxels {name[:60]!r}, which is not a file in the same folder",
            remedy="store header and voxels in one file (.nrrd, .mha), or side by side",
        )
    return name
