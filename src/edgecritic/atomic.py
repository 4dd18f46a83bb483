"""Files that are written whole or not at all, and locks that end with the process that holds them.

Names are texts here and not `Path`, which takes as long as all else: runs write files for every image.
"""

# ruff: noqa: PTH103, PTH105, PTH108, PTH110, PTH118, PTH120, PTH123, SIM115

from __future__ import annotations

import errno
import os
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
    target = os.fspath(path)
    temporary, second = "", -1
    try:
        temporary, stream = _new_part(os.path.dirname(target))
        if sys.platform != "win32":  # where open files stay, nobody needs a lock on one that is closed
            second = os.dup(stream.fileno())
        with stream:  # some file systems tell only at the end that the disk is full
            yield stream
        os.replace(temporary, target)
        temporary = ""
    except OSError as error:
        raise OutputError(f"cannot be written ({error.strerror or error})", path=Path(target)) from error
    finally:
        if temporary:
            with suppress(OSError):
                os.unlink(temporary)
        if second >= 0:
            os.close(second)


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


def _new_part(folder: str) -> tuple[str, BinaryIO]:
    """Open a new temporary file under a lock of this process; make the folder if it is missing."""
    while True:
        path = os.path.join(folder, f"{_PREFIX}{os.urandom(8).hex()}{_SUFFIX}")
        try:
            stream = open(path, "xb")
        except FileNotFoundError:
            os.makedirs(folder, exist_ok=True)
            stream = open(path, "xb")
        try:
            # Before it was locked `remove_parts` may have taken it for that of a killed process.
            if try_lock(stream) is not False and os.path.exists(path):
                return path, stream
        except BaseException:
            stream.close()
            with suppress(FileNotFoundError):
                os.unlink(path)
            raise
        stream.close()


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
