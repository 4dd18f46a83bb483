"""The width of the terminal."""

from __future__ import annotations

import shutil
import sys

__all__ = ["terminal_width"]


def terminal_width() -> int | None:
    """Return how many columns the terminal has, ``None`` where stdout is a file or a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
