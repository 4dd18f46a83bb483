"""The machine code of the kernels on disk.

Numba's own cache looks at the file of a kernel only, so a change of a type or constant that the kernel takes
from another file would go unnoticed; and it trusts what it reads. Here all kernels share a *namespace*: a
folder named by a hash of all kernel sources and of everything else that the machine code depends on. In it
every compiled version of a kernel is one file that starts with its checksum.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["MachineCode", "homes", "name_of"]

_MOST_NAMESPACES = 8
_CODE_SETTINGS = (
    "BOUNDSCHECK",
    "OPT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "DEBUGINFO_DEFAULT",
    "DISABLE_INTEL_SVML",
)
_CHECKSUM_BYTES = hashlib.sha256().digest_size


class MachineCode:
    """Files of one namespace, in the first of some folders that can be used.

    It is read from any of the folders and written to the first that takes it. That it cannot be written is
    said once. If a kernel source changed since the program started, nothing is read or written any more.
    """

    def __init__(self, sources: Path, homes: Callable[[], list[Path]]) -> None:
        self._sources = sorted(sources.glob("*.py"))
        self._stamp = self._current_stamp()
        self._homes = homes
        self._used = False
        self._told = False

    @functools.cached_property
    def folders(self) -> list[Path]:
        """Where the files may be, the preferred folder first."""
        if not self._sources:
            return []
        namespace = _namespace(self._sources)
        return [home / namespace for home in self._homes()]

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, or nothing; a damaged one is removed."""
        if not self._is_fresh():
            return None
        for folder in self.folders:
            try:
                content = (folder / name).read_bytes()
            except OSError:
                continue
            checksum, data = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
            if hashlib.sha256(data).digest() == checksum:
                self._mark_used(folder)
                return data
            with suppress(OSError):
                (folder / name).unlink()
        return None

    def has(self, kernel: str) -> bool:
        """Tell whether there is a version of a kernel."""
        return any(next(folder.glob(f"{kernel}-*"), None) is not None for folder in self.folders)

    def can_be_kept(self) -> bool:
        """Tell whether one of the folders takes files."""
        return any(_takes_files(folder) for folder in self.folders)

    def write(self, name: str, data: bytes) -> None:
        """Keep a file, whole or not at all."""
        if not self._is_fresh():
            return
        reason: OSError | None = None
        for folder in self.folders:
            try:
                _make_room(folder)
                _write_whole(folder / name, hashlib.sha256(data).digest() + data)
            except OSError as error:
                reason = reason or error
            else:
                return
        self._tell(reason)

    def _tell(self, reason: OSError | None) -> None:
        if self._told or reason is None:
            return
        self._told = True
        warnings.warn(
            f"compiled kernels cannot be kept in {self.folders[0].parent} ({reason.strerror or reason}), so "
            "every start compiles them anew; set NUMBA_CACHE_DIR to a folder with space that can be written",
            stacklevel=2,
        )

    def _mark_used(self, folder: Path) -> None:
        """Let the folder's time be that of its last use, because those unused for longest are removed."""
        if not self._used:
            self._used = True
            with suppress(OSError):
                os.utime(folder)

    def _is_fresh(self) -> bool:
        try:
            return self._current_stamp() == self._stamp
        except OSError:
            return False

    def _current_stamp(self) -> list[tuple[int, int]]:
        return [(status.st_mtime_ns, status.st_size) for status in map(Path.stat, self._sources)]


def name_of(function: Callable[..., Any]) -> str:
    """Return what the names of a kernel's files begin with."""
    return f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"


def homes() -> list[Path]:
    """Return the folders that may hold namespaces: $NUMBA_CACHE_DIR, or beside the kernels and the user's."""
    from numba import config
    from numba.misc.appdirs import AppDirs

    if chosen := getattr(config, "CACHE_DIR", None):
        return [Path(chosen).absolute() / "edgecritic-kernels"]
    user = AppDirs(appname="edgecritic", appauthor=False).user_cache_dir
    return [Path(__file__).parent / "__pycache__" / "edgecritic-kernels", Path(user) / "edgecritic-kernels"]


def _namespace(sources: list[Path]) -> str:
    """Return the hash of all that machine code depends on besides kernel, argument types and processor."""
    import numba
    import numpy as np

    settings = [(name, getattr(numba.config, name, None)) for name in _CODE_SETTINGS]
    versions = (sys.implementation.cache_tag, numba.__version__, np.__version__)
    digest = hashlib.sha256(repr((versions, settings)).encode())
    for source in sources:
        content = source.read_bytes()
        digest.update(f"{source.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:32]


def _takes_files(folder: Path) -> bool:
    with suppress(OSError):
        _make_room(folder)
    return os.access(folder, os.W_OK)


def _make_room(folder: Path) -> None:
    """Make the folder of a namespace; if it is new, remove those that were unused for longest."""
    if folder.is_dir():
        return
    folder.mkdir(parents=True, exist_ok=True)
    others = [other for other in folder.parent.iterdir() if other != folder and other.is_dir()]
    for old in sorted(others, key=_last_use, reverse=True)[_MOST_NAMESPACES - 1 :]:
        shutil.rmtree(old, ignore_errors=True)


def _last_use(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:  # another process has just removed it
        return 0.0


def _write_whole(path: Path, content: bytes) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
