"""Files that only the user who runs the studio may read."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["make_private_file", "tighten"]


def make_private_file(path: Path) -> None:
    """Make an empty file, and the folders it needs, for this user only; leave what is there as it is."""
    missing = [folder for folder in path.absolute().parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def tighten(path: Path) -> None:
    """Take an existing database away from others: the file, what SQLite keeps beside it, and its folder.

    A folder that has other things in it too is not the studio's and stays as it is.
    """
    beside = [path, *path.parent.glob(f"{path.name}-*")]
    for one in beside:
        _only_mine(one, 0o600)
    if {one.name for one in path.parent.iterdir()} <= {one.name for one in beside}:
        _only_mine(path.parent, 0o700)


def _only_mine(path: Path, mode: int) -> None:
    with suppress(PermissionError, FileNotFoundError):  # it is somebody else's, or has just gone
        if path.stat().st_mode & 0o077:
            path.chmod(mode)
