"""Read an uploaded file in a process of its own, whose memory and time are bounded.

Whatever a file makes a library do, the studio goes on: the process ends, and the file is refused. Libraries
are loaded once, by a process that waits for files and reads each in a copy of itself.
"""

from __future__ import annotations

import atexit
import json
import os
import queue
import select
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from edgecritic.cores import ONE_THREAD
from edgecritic.errors import DataError, InputError

__all__ = ["MOST_BYTES", "MOST_SECONDS", "get_ready", "read_apart"]

MOST_BYTES = 3072 * 2**20
"""Address space of a reading process; the libraries alone take some hundred megabytes of it."""

MOST_READ = 2048 * 2**20
"""Bytes that the reader of a file may need by itself; this process is bounded as a whole too."""

MOST_RESULT = 512 * 2**20
"""Bytes of all arrays of one file."""

MOST_SECONDS = 60
_REFUSED = 3
_COMMAND = [sys.executable, "-m", "edgecritic.studio.apart"]
_turn = threading.BoundedSemaphore(2)
"""Files that are read at the same time."""


def read_apart(reader: str, path: Path) -> list[NDArray[Any]]:
    """Return the arrays that a reader of :mod:`edgecritic.datasets.files` makes of a file.

    Parameters
    ----------
    reader : {"read_array", "read_strength", "read_truths"}
    path : Path
        The file; results are left beside it for a moment.

    Raises
    ------
    DataError, InputError
        What the reader says, or that the file needs too much memory or time.
    """
    with _turn:
        waiting = _take()
        try:
            status = waiting.read(reader, path)
        except TimeoutError as error:
            waiting.stop()
            raise DataError(f"takes more than {MOST_SECONDS} s to read", remedy="save it anew") from error
        if status is None:
            waiting.stop()
        else:
            _ready.put(waiting)
    if status == _REFUSED:
        told = json.loads(_reply(path).read_text(encoding="utf-8"))
        kind = InputError if told["error"] == "InputError" else DataError
        raise kind(told["message"], path=told["path"], remedy=told["remedy"])
    if status != 0:
        raise DataError("cannot be read within the memory that is given to it; it may be damaged")
    count = int(_reply(path).read_text(encoding="utf-8"))
    return [np.load(_result(path, number), allow_pickle=False) for number in range(count)]


class _Waiting:
    """A process that waits for files."""

    def __init__(self) -> None:
        more = {"PYTHONIOENCODING": "utf-8", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self.process = subprocess.Popen(
            _COMMAND,
            env={**os.environ, **ONE_THREAD, **more},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def read(self, reader: str, path: Path) -> int | None:
        """Let a file be read; return the status of the process that did, nothing if this one has ended."""
        given, told = cast("IO[bytes]", self.process.stdin), cast("IO[bytes]", self.process.stdout)
        with suppress(BrokenPipeError):
            given.write(f"{json.dumps([reader, str(path)])}\n".encode())
            given.flush()
        line = _line(told)
        return int(line) if line else None

    def stop(self) -> None:
        """End it, and what it has begun."""
        with suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()
        self.process.communicate()


_ready: queue.SimpleQueue[_Waiting] = queue.SimpleQueue()


def _take() -> _Waiting:
    """Return a process that waits, a new one if there is none."""
    while True:
        try:
            found = _ready.get_nowait()
        except queue.Empty:
            return _Waiting()
        if found.process.poll() is None:
            return found
        found.stop()


def get_ready() -> None:
    """Start the process that reads the next file."""
    _ready.put(_take())


@atexit.register
def _stop_all() -> None:
    while True:
        try:
            _ready.get_nowait().stop()
        except queue.Empty:
            return


def _line(stream: IO[bytes]) -> bytes:
    """Return the next line, empty at the end; refuse to wait too long."""
    if os.name == "posix" and not select.select([stream], [], [], MOST_SECONDS)[0]:
        raise TimeoutError
    return stream.readline()


def _result(path: Path, number: int) -> Path:
    return path.with_name(f"result-{number}.npy")


def _reply(path: Path) -> Path:
    return path.with_name("reply.json")


def _limit() -> None:
    """Bound the memory and the time of this process, where the system can."""
    try:
        import resource
    except ImportError:
        return
    from edgecritic.datasets import _guard

    _guard.MEMORY_LIMIT = MOST_READ
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _leave_results(reader: str, path: Path) -> int:
    from edgecritic.datasets import files
    from edgecritic.errors import EdgeCriticError

    try:
        found = getattr(files, reader)(path)
        arrays = found if isinstance(found, list) else [found]
        if sum(array.nbytes for array in arrays) > MOST_RESULT:
            raise DataError(
                f"holds maps of more than {MOST_RESULT // 2**20} MiB", remedy="import some of them at a time"
            )
        for number, array in enumerate(arrays):
            np.save(_result(path, number), array, allow_pickle=False)
    except EdgeCriticError as error:
        kind = "InputError" if isinstance(error, InputError) else "DataError"
        _reply(path).write_text(json.dumps({**error.as_dict(), "error": kind}), encoding="utf-8")
        return _REFUSED
    _reply(path).write_text(str(len(arrays)), encoding="utf-8")
    return 0


def _read_bounded(reader: str, path: Path) -> int:
    """Read a file in a copy of this process; return its status. Without copies this process reads, once."""
    child = os.fork() if hasattr(os, "fork") else 0
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 1
    try:
        _limit()
        status = _leave_results(reader, path)
    finally:
        if hasattr(os, "fork"):
            os._exit(status)
    return status


def _main() -> None:
    """Read file after file, as they are named on stdin; say on stdout how each ended."""
    import scipy.io  # noqa: F401 - what readers import when they are called is the same for all

    for line in sys.stdin:
        reader, path = json.loads(line)
        sys.stdout.write(f"{_read_bounded(reader, Path(path))}\n")
        sys.stdout.flush()
        if not hasattr(os, "fork"):
            return


if __name__ == "__main__":
    _main()
