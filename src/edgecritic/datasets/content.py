"""The one way to read a file: once, whole, in bounded memory, and only if it is a regular file.

What is hashed and what is decoded are the same bytes, so a file that changes in the meantime cannot be
kept under the hash of another state.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from edgecritic.datasets._guard import FILE_LIMIT, TEXT_LIMIT, naming, reading
from edgecritic.datasets.formats.base import find_format
from edgecritic.errors import DataError

__all__ = ["Content", "digest", "digest_files", "open_regular", "read_content", "read_text"]

PathLike = str | os.PathLike[str]

_FLAGS = os.O_RDONLY
for _name in ("O_BINARY", "O_CLOEXEC", "O_NOCTTY", "O_NONBLOCK"):  # not every system has all of them
    _FLAGS |= getattr(os, _name, 0)


_PIECE = 2**20


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of one file; every reader of `edgecritic.datasets` takes it in place of a path.

    Attributes
    ----------
    path : Path
        The name: its ending tells the format, and messages begin with it. There need not be such a file.
    data : bytes
    """

    path: Path
    data: bytes = field(repr=False)


def read_content(path: PathLike, *, limit: int = FILE_LIMIT) -> Content:
    """Read a file once.

    A header whose numbers lie in a file beside it (`.nhdr`, `.mhd`) is read together with that file: both are
    one content, and one hash.

    Parameters
    ----------
    path : path
    limit : int
        Most bytes; a larger file is refused before anything of it is read. Half of that for a file beside
        a header.

    Raises
    ------
    DataError
        If there is no such file, it is a folder, pipe, socket or device, is too large, cannot be
        opened, or changes while it is read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_bytes(b"edge")
    ...     read_content(Path(folder, "a.txt")).data
    b'edge'
    """
    file = path if isinstance(path, Path) else Path(path)
    data = _read(file, limit)
    found = find_format(file)
    if found is not None and found.info.beside is not None:
        with reading(file):
            beside = found.info.beside(data)
        if beside is not None:
            data = beside[1] + _read(file.with_name(beside[0]), limit // 2)
    return Content(file, data)


def _read(file: PathLike, limit: int) -> bytes:
    with naming(file):
        descriptor, size = _open_regular(file)
        try:
            if size > limit:
                raise DataError(f"is {size} bytes long, more than the allowed {limit}")
            data = os.read(descriptor, size + 1)
            while len(data) < size and (more := os.read(descriptor, size + 1 - len(data))):  # some give less
                data += more
        finally:
            os.close(descriptor)
        if len(data) != size:
            raise DataError(
                f"changed while it was read ({size} bytes expected, got {len(data)})", remedy="try again"
            )
    return data


def read_text(path: PathLike, *, limit: int = TEXT_LIMIT) -> str:
    """Return the text of a file in UTF-8, with or without a mark of the byte order at its start.

    Raises
    ------
    DataError
        As `read_content`, and if the bytes are no UTF-8.
    """
    data = _read(path, limit)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"is no UTF-8 text ({error.reason} at byte {error.start})", path=path) from error


def digest(contents: Iterable[Content]) -> str:
    """Return a hash (SHA-256, hexadecimal) of the bytes of files, in the given order."""
    found = hashlib.sha256()
    for content in contents:
        found.update(len(content.data).to_bytes(8, "little"))
        found.update(content.data)
    return found.hexdigest()


def digest_files(paths: Iterable[PathLike]) -> str:
    """Return the hash that `digest` gives of the same files, without keeping their bytes."""
    found = hashlib.sha256()
    for path in paths:
        with open_regular(Path(path)) as stream:
            found.update(os.fstat(stream.fileno()).st_size.to_bytes(8, "little"))
            while piece := stream.read(_PIECE):
                found.update(piece)
    return found.hexdigest()


@contextmanager
def open_regular(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file, or refuse; never waits for a pipe, never touches a device.

    Whatever goes wrong in the block becomes a `DataError` that names the file.
    """
    with reading(path), os.fdopen(_open_regular(path)[0], "rb") as stream:
        yield stream


def _open_regular(path: PathLike) -> tuple[int, int]:
    """Return the descriptor and the size of a regular file."""
    _check_kind(os.stat(path).st_mode)  # noqa: PTH116 - for every file
    descriptor = os.open(path, _FLAGS)
    try:
        status = os.fstat(descriptor)
        _check_kind(status.st_mode)  # it may have been replaced since
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, status.st_size


def _check_kind(mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise DataError("is a folder, a file was expected")
    if not stat.S_ISREG(mode):
        raise DataError(
            "is a pipe, socket or device, a regular file was expected", remedy="save it to a file first"
        )
