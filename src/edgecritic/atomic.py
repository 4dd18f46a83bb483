"""Files that are written whole or not at all, and locks that end with the process that holds them."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from edgecritic.errors import OutputError

__all__ = ["replace_file", "remove_parts", "try_lock"]

_PREFIX, _SUFFIX = ".edgecritic-", ".part"
_FAR = 2**30  # the locked byte on Windows, behind all content, so that others can read it
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}


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
    target = Path(path)
    temporary: Path | None = None
    try:
        temporary, stream = _new_part(target.parent)
        with _still_locked(stream):
            with stream:  # some file systems tell only at the end that the disk is full
                yield stream
            temporary.replace(target)
        temporary = None
    except OSError as error:
        raise OutputError(f"cannot be written ({error.strerror or error})", path=target) from error
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()


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


def try_lock(stream: BinaryIO) -> bool | None:
    """Lock an open file for this process; return whether that was possible, ``None`` if nobody can.

    The system takes the lock away when the file is closed, and when the process ends in whatever way.
    Two open files of one process exclude each other too.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            stream.seek(_FAR)
            try:
                msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
            finally:
                stream.seek(0)
        else:
            import fcntl

            fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return None
        if error.errno in {errno.EAGAIN, errno.EACCES, errno.EDEADLK}:
            return False
        raise
    return True


def _new_part(folder: Path) -> tuple[Path, BinaryIO]:
    """Open a new temporary file under a lock of this process; make the folder if it is missing."""
    while True:
        path = folder / f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}"
        try:
            stream = path.open("xb")
        except FileNotFoundError:
            folder.mkdir(parents=True, exist_ok=True)
            stream = path.open("xb")
        try:
            # Before it was locked `remove_parts` may have taken it for that of a killed process.
            if try_lock(stream) is not False and path.exists():
                return path, stream
        except BaseException:
            stream.close()
            path.unlink(missing_ok=True)
            raise
        stream.close()


@contextmanager
def _still_locked(stream: BinaryIO) -> Iterator[None]:
    """Keep the lock of a file though it is closed; on Windows, where open files stay, nobody needs that."""
    second = None if sys.platform == "win32" else os.dup(stream.fileno())
    try:
        yield
    finally:
        if second is not None:
            os.close(second)


def _remove_part(path: Path) -> bool:
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return False
        with path.open("r+b") as stream:
            dead = try_lock(stream)
            if dead and sys.platform != "win32":
                path.unlink()
        if dead and sys.platform == "win32":
            path.unlink()
    except OSError:
        return False
    return bool(dead)
