"""Another Python beside this one, for work that holds the interpreter lock."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["python_beside"]


def python_beside(*words: str, **streams: Any) -> subprocess.Popen[bytes] | None:
    """Start Python with these arguments and the paths of this one; return None where that cannot be done.

    Nothing is imported out of the current folder, and what it says of errors is not shown.

    Parameters
    ----------
    *words : str
    **streams
        The standard input and output, as for `subprocess.Popen`.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        return None
    paths = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
    with suppress(OSError):
        return subprocess.Popen(
            [sys.executable, "-P", *words],
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": paths},
            **streams,
        )
    return None
