"""Read an uploaded file in a process of its own, whose memory and time are bounded.

Whatever a file makes a library do, the studio goes on: the process ends, and the file is refused.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import DataError, InputError

__all__ = ["MOST_BYTES", "MOST_SECONDS", "read_apart"]

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
"""Readers that run at the same time."""


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
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    with _turn:
        try:
            done = subprocess.run(
                [*_COMMAND, reader, str(path)],
                env={
                    **os.environ,
                    **one_thread,
                    "PYTHONIOENCODING": "utf-8",
                    "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                },
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=MOST_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise DataError(f"takes more than {MOST_SECONDS} s to read", remedy="save it anew") from error
    said = done.stdout.decode("utf-8", "replace")
    if done.returncode == _REFUSED:
        told = json.loads(said)
        kind = InputError if told["error"] == "InputError" else DataError
        raise kind(told["message"], path=told["path"], remedy=told["remedy"])
    if done.returncode:
        raise DataError("cannot be read within the memory that is given to it; it may be damaged")
    return [np.load(_result(path, number), allow_pickle=False) for number in range(int(said))]


def _result(path: Path, number: int) -> Path:
    return path.with_name(f"result-{number}.npy")


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


def _main(reader: str, path: Path) -> int:
    from edgecritic.datasets import files
    from edgecritic.errors import EdgeCriticError

    _limit()
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
        sys.stdout.write(json.dumps({**error.as_dict(), "error": kind}))
        return _REFUSED
    sys.stdout.write(str(len(arrays)))
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1], Path(sys.argv[2])))
