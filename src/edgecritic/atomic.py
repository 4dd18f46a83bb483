"""Files that are written whole or not at all, and locks that end with the process that holds them.

Names are texts here and not `Path`, which takes as long as all else: runs write files for every image.
"""

# ruff: noqa: PTH103, PTH105, PTH108, PTH118, PTH120

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from edgecritic.errors import OutputError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

__all__ = ["replace_file", "remove_parts", "try_lock", "write_bytes"]

_PREFIX, _SUFFIX = ".edgecritic-", ".part"
_FAR = 2**30  # the locked byte on Windows, behind all content, so that others can read it
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}


class _Replacing:
    """Give the descriptor of a temporary file that takes the place of `path` when the block ends well."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._target = os.fspath(path)
        self._temporary = ""
        self._descriptor = -1

    def __enter__(self) -> int:
        try:
            self._temporary, self._descriptor = _new_part(os.path.dirname(self._target))
        except OSError as error:
            raise self._failed(error) from error
        return self._descriptor

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        try:
            if error is None:
                self._replace()
        except OSError as late:
            error = late
        finally:
            self._close()
            if self._temporary:
                with suppress(OSError):
                    os.unlink(self._temporary)
        if isinstance(error, OSError):
            raise self._failed(error) from error

    def _replace(self) -> None:
        """Put the file in its place; while it has none it stays locked, or is open where open files stay."""
        if sys.platform == "win32":
            self._close()
        else:
            os.close(os.dup(self._descriptor))  # some file systems tell only now that the disk is full
        os.replace(self._temporary, self._target)
        self._temporary = ""

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _failed(self, error: OSError) -> OutputError:
        return OutputError(f"cannot be written ({error.strerror or error})", path=Path(self._target))


@contextmanager
def replace_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file beside `path` that takes its place when the block ends without an error.

    The folder is made if it does not exist. A process that is killed leaves the temporary file;
    `remove_parts` knows it, because nobody holds its lock any more.

    Raises
    ------
    OutputError
        If the file cannot be written; what was there before stays.
    """
    with _Replacing(path) as descriptor, open(descriptor, "wb", closefd=False) as stream:
        yield stream


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file as `replace_file` does."""
    with _Replacing(path) as descriptor:
        written = os.write(descriptor, data)
        while written < len(data):  # some systems take less at a time
            written += os.write(descriptor, data[written:])


def remove_parts(folder: str | os.PathLike[str]) -> int:
    """Remove the temporary files that killed processes left in a folder and those below; return how many.

    Those that another process is writing, and folders that cannot be read, stay as they are.
    """
    removed = 0
    for home, _, names in os.walk(folder):
        for name in names:
            if name.startswith(_PREFIX) and name.endswith(_SUFFIX):
                removed += _remove_part(Path(home) / name)
    return removed


def try_lock(descriptor: int) -> bool | None:
    """Lock an open file for this process; return whether that was possible, ``None`` if nobody can.

    The system takes the lock away when the file is closed, and when the process ends in whatever way.
    Two open files of one process exclude each other too.
    """
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, _FAR, os.SEEK_SET)
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            finally:
                os.lseek(descriptor, 0, os.SEEK_SET)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return None
        if error.errno in {errno.EAGAIN, errno.EACCES, errno.EDEADLK}:
            return False
        raise
    return True


def _new_part(folder: str) -> tuple[str, int]:
    """Open a new temporary file under a lock of this process; make the folder if it is missing."""
    while True:
        path = os.path.join(folder, f"{_PREFIX}{os.urandom(8).hex()}{_SUFFIX}")
        try:
            descriptor = os.open(path, _NEW, 0o666)
        except FileNotFoundError:
            os.makedirs(folder, exist_ok=True)
            descriptor = os.open(path, _NEW, 0o666)
        try:
            # Before it was locked `remove_parts` may have taken it for that of a killed process.
            if try_lock(descriptor) is not False and os.access(path, os.F_OK):
                return path, descriptor
        except BaseException:
            os.close(descriptor)
            with suppress(FileNotFoundError):
                os.unlink(path)
            raise
        os.close(descriptor)


def _remove_part(path: Path) -> bool:
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return False
        with path.open("r+b") as stream:
            dead = try_lock(stream.fileno())
            if dead and sys.platform != "win32":
                path.unlink()
        if dead and sys.platform == "win32":
            path.unlink()
    except OSError:
        return False
    return bool(dead)
