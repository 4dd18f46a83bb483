"""One run at a time in a folder of results."""

from __future__ import annotations

import json
import os
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from edgecritic.atomic import remove_parts, try_lock
from edgecritic.errors import OutputError
from edgecritic.run.files import make_folder, safe_name

__all__ = ["hold_folder"]

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_MOST_READ = 4096
_PAUSE = 0.2  # seconds between two looks while waiting


@contextmanager
def hold_folder(
    folder: str | Path,
    command: str,
    *,
    part: str = "run",
    wait: bool = False,
    tell: Callable[[str], None] | None = None,
) -> Iterator[None]:
    """Keep other runs out of a folder of results, and remove what killed ones left half written.

    The folder is made if it does not exist, and removed again if nothing was written. Its lock file
    ``.PART.lock`` names process, host, command and start; the lock itself is one of the operating system,
    which ends with the process, so that a file without it, left by a killed run, is taken over.

    Parameters
    ----------
    folder : path
    command : str
        Told to those who come later.
    part : str
        Runs that write different parts of a folder, such as shares of a study, do not exclude each other.
    wait : bool
        Wait for the other run rather than be refused.
    tell : callable, optional
        Called once with a line if there is something to wait for.

    Raises
    ------
    OutputError
        If another run is at work there, or the folder cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home, hold_folder(home, "edgecritic bench"):
    ...     [path.name for path in Path(home).iterdir()]
    ['.run.lock']
    """
    home = Path(folder).absolute()
    missing = [place for place in (home, *home.parents) if not place.exists()]
    make_folder(home)
    file = home / f".{safe_name(part)}.lock"
    try:
        with _acquired(file, command, wait, tell):
            remove_parts(home)
            yield
    finally:
        for empty in missing:
            with suppress(OSError):
                empty.rmdir()


@contextmanager
def _acquired(file: Path, command: str, wait: bool, tell: Callable[[str], None] | None) -> Iterator[None]:
    stream = _take(file)
    if stream is None and wait and tell is not None:
        tell(f"{file.parent}: waiting for {_holder(file)}")
    while stream is None:
        if not wait:
            raise OutputError(
                f"{file.parent}: in use by {_holder(file)}",
                remedy="wait for its end (--wait), or take another folder",
            )
        time.sleep(_PAUSE)
        stream = _take(file)
    try:
        _sign(stream, file, command)
        yield
    finally:
        # The name goes before the lock: who opened the file in between sees that it is gone. Windows
        # keeps the names of open files, there it goes afterwards, unless the next one has opened it.
        for act in (
            (file.unlink, stream.close, file.unlink) if os.name == "nt" else (file.unlink, stream.close)
        ):
            with suppress(OSError):
                act()


def _take(file: Path) -> BinaryIO | None:
    """Return the lock file, opened and locked; None if another process has it."""
    try:
        while True:
            file.parent.mkdir(parents=True, exist_ok=True)  # its last holder may have removed it, empty
            try:
                stream = os.fdopen(os.open(file, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o666), "r+b", 0)
            except FileNotFoundError:
                continue
            locked = try_lock(stream.fileno())
            if locked is None:
                warnings.warn(
                    f"{file.parent}: its file system has no locks; do not run two commands into it at a time",
                    stacklevel=2,
                )
                return stream
            if locked and _same(stream, file):
                return stream
            stream.close()
            if not locked:
                return None
    except OSError as error:
        raise OutputError(f"{file.parent}: cannot be written ({error.strerror or error})") from error


def _same(stream: BinaryIO, file: Path) -> bool:
    """Tell whether the open file is still the one of that name: its last holder may have removed it."""
    try:
        return os.path.samestat(os.fstat(stream.fileno()), file.stat())
    except FileNotFoundError:
        return False


def _sign(stream: BinaryIO, file: Path, command: str) -> None:
    start = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S %z")
    row = {"process": os.getpid(), "host": platform.node(), "command": command, "start": start}
    try:
        stream.truncate(0)
        stream.write(json.dumps(row).encode())
    except OSError as error:
        raise OutputError(f"{file.parent}: cannot be written ({error.strerror or error})") from error


def _holder(file: Path) -> str:
    """Say who has the lock, as far as the file tells."""
    row: Any = None
    for _ in range(5):
        try:
            row = json.loads(file.read_bytes()[:_MOST_READ])
            return f"process {row['process']} on {row['host']} ({row['command']}, started {row['start']})"
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            time.sleep(0.02)  # it has just been opened and not yet signed
    return "another process"
