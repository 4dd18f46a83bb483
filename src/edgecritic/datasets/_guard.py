"""Guards shared by all readers: a memory limit, bounded decompression, one clear error per file."""

from __future__ import annotations

import importlib
import math
import os
import threading
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol

import numpy as np

from edgecritic.errors import DataError, EdgeCriticError

__all__ = [
    "FILE_LIMIT",
    "MEMORY_LIMIT",
    "ONE_ARRAY",
    "PIXEL_LIMIT",
    "TEXT_LIMIT",
    "check_end",
    "check_size",
    "fill",
    "naming",
    "reading",
    "quiet",
    "unpacker_maker",
    "unpacked_size",
]

MEMORY_LIMIT = 768 * 2**20
"""Most bytes that reading one file may need, so that a process with its libraries stays below 1 GiB."""

FILE_LIMIT = MEMORY_LIMIT // 2 + 16 * 2**20
"""Most bytes of one file: half of the memory for the stored numbers, and room for a long header."""

TEXT_LIMIT = 64 * 2**20
"""Most bytes of a file of text: lists, protocols, tables, records."""

PIXEL_LIMIT = 2**28
"""Most pixels or voxels in one file."""

ONE_ARRAY = "save one per file, or name it in Python: key="
"""What to do about a file with several arrays."""

_CHUNK = 2**20


class ByteStream(Protocol):
    """Anything that gives decompressed bytes piece by piece."""

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes, none at the end."""
        ...


class naming:  # noqa: N801 - used like a function: with naming(path)
    """Give every error of a block the path of the file, and make what a library raises a `DataError`.

    A class, because errors that pass a generator of `contextlib` keep its frames, and with them all that was
    read, until the next collection of garbage.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path

    def __enter__(self) -> Any:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if error is None:
            return
        if isinstance(error, EdgeCriticError):
            error.at(self.path)
        elif isinstance(error, Exception):
            raise DataError(_told(error), path=self.path) from error


class reading(naming):  # noqa: N801
    """Do what `naming` does, and let NumPy say nothing of odd numbers: they are checked where they matter."""

    def __enter__(self) -> Any:
        self._numbers = np.errstate(all="ignore")
        self._numbers.__enter__()

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        self._numbers.__exit__(kind, error, traceback)
        super().__exit__(kind, error, traceback)


def _told(error: Exception) -> str:
    """Say in a few words what a library found."""
    told = " ".join(str(error).split())[:160] or type(error).__name__
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, OSError):
        return f"cannot be read ({error.strerror or told})"
    if isinstance(error, MemoryError):
        return "not enough memory to read this file"
    return f"cannot be read, it may be damaged or of another kind ({told})"


class _Silent(threading.local):
    """Whether this thread is in a `quiet` block; stands in a filter in place of the pattern of modules."""

    now = False

    def match(self, _: str) -> bool:
        return self.now


_SILENT = _Silent()
_FILTER: Any = ("ignore", None, Warning, _SILENT, 0)


@contextmanager
def quiet() -> Iterator[None]:
    """Silence a library's warnings about a file: what they tell of is checked here or harmless.

    Only this thread is silenced, unlike with `warnings.catch_warnings`, which changes and restores the
    filters of all threads. The one filter that is put there stays and lets everything else pass.
    """
    if _FILTER not in warnings.filters:
        warnings.filters.insert(0, _FILTER)  # type: ignore[attr-defined]
    before, _SILENT.now = _SILENT.now, True
    try:
        yield
    finally:
        _SILENT.now = before


def check_size(shape: Sequence[int], bytes_per_pixel: float) -> int:
    """Return the number of pixels of `shape`, or refuse what would need too much memory.

    `bytes_per_pixel` counts everything that is alive at the worst moment: stored data and result.
    """
    if min(shape, default=0) < 0:
        raise DataError(f"declares a negative size {tuple(shape)}; the file is damaged")
    pixels = math.prod(map(int, shape))
    if pixels > PIXEL_LIMIT or pixels * bytes_per_pixel > MEMORY_LIMIT:
        raise DataError(
            f"declares {pixels} pixels {tuple(shape)}, which needs more than the allowed "
            f"{MEMORY_LIMIT // 2**20} MiB",
            remedy="crop it, or store it with fewer bits per pixel",
        )
    return pixels


def fill(stream: ByteStream, size: int) -> bytearray:
    """Return exactly `size` bytes of `stream`; memory grows with what is really there."""
    result = bytearray()
    while len(result) < size:
        piece = stream.read(min(_CHUNK, size - len(result)))
        if not piece:
            raise DataError(f"ends after {len(result)} of {size} declared bytes; the file is truncated")
        result += piece
    return result


def check_end(stream: ByteStream) -> None:
    """Refuse voxels that go on; at the end of packed ones the checksum and the length are verified."""
    if stream.read(1):
        raise DataError("goes on after the voxels that its header declares; the file is damaged")


@cache
def unpacker_maker() -> Callable[[], Any]:
    """Return what makes unpackers: zlib-ng where it is installed, which is three times as quick."""
    try:
        made: Callable[[], Any] = importlib.import_module("zlib_ng.zlib_ng").decompressobj
    except ImportError:
        made = zlib.decompressobj
    return made


def unpacked_size(pieces: Iterable[memoryview], most: int) -> int:
    """Return how many bytes a zlib stream, given in pieces, unpacks to; its end and checksum are verified.

    At most `most` bytes are unpacked, and none are kept.
    """
    unpacker = unpacker_maker()()
    size = 0
    for piece in pieces:
        pending: memoryview | bytes = piece
        while pending and not unpacker.eof:
            size += len(unpacker.decompress(pending, _CHUNK))
            pending = unpacker.unconsumed_tail
            if size > most:
                raise DataError(
                    f"unpacks to more than the {most} bytes that it declares; the file is damaged"
                )
    if not unpacker.eof:
        raise DataError("its compressed data end before their checksum; the file is truncated")
    return size
