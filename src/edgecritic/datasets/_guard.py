"""Guards shared by all readers: a memory limit, bounded decompression, one clear error per file."""

from __future__ import annotations

import importlib
import math
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from edgecritic.errors import DataError, EdgeCriticError

__all__ = [
    "FILE_LIMIT",
    "MEMORY_LIMIT",
    "ONE_ARRAY",
    "PIXEL_LIMIT",
    "TEXT_LIMIT",
    "check_size",
    "fill",
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


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn whatever a reader or a library raises into one `DataError` that names the file."""
    try:
        with np.errstate(all="ignore"):
            yield
    except EdgeCriticError as error:
        if error.path is not None:
            raise
        raise error.at(path) from error
    except FileNotFoundError as error:
        raise DataError("no such file", path=path) from error
    except OSError as error:
        told = error.strerror or " ".join(str(error).split())[:160] or type(error).__name__
        raise DataError(f"cannot be read ({told})", path=path) from error
    except MemoryError as error:
        raise DataError("not enough memory to read this file", path=path) from error
    except Exception as error:
        told = " ".join(str(error).split())[:160] or type(error).__name__
        raise DataError(
            f"cannot be read, it may be damaged or of another kind ({told})", path=path
        ) from error


@contextmanager
def quiet() -> Iterator[None]:
    """Silence a library's warnings about a file: what they tell of is checked here or harmless.

    Used where a library does warn and nowhere else, because it is not safe among threads before
    Python 3.14.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def check_size(shape: Sequence[int], bytes_per_pixel: float) -> int:
    """Return the number of pixels of `shape`, or refuse what would need too much memory.

    `bytes_per_pixel` counts everything that is alive at the worst moment: stored data and result.
    """
    if any(length < 0 for length in shape):
        raise DataError(f"declares a negative size {tuple(shape)}; the file is damaged")
    pixels = math.prod(int(length) for length in shape)
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
