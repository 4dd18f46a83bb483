"""The machine code of the kernels on disk.

Numba's own cache looks at the file of a kernel only, so a change of a type or constant that the kernel takes
from another file would go unnoticed; and it trusts what it reads. Here all kernels share a *namespace*: a
folder named by a hash of all kernel sources and of everything else that the machine code depends on. In it
every compiled version of a kernel is one file that starts with its checksum.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

__all__ = ["KernelCache", "MachineCode", "homes", "setting"]

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

    def __init__(self, sources: Path, homes: list[Path]) -> None:
        self._sources = sorted(sources.glob("*.py"))
        self._stamp = self._current_stamp()
        namespace = _namespace(self._sources)
        self._folders = [home / namespace for home in homes] if self._sources else []
        self._used = False
        self._told = False

    @property
    def folders(self) -> list[Path]:
        """Where the files may be, the preferred folder first."""
        return self._folders

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, or nothing; a damaged one is removed."""
        if not self._is_fresh():
            return None
        for folder in self._folders:
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

    def write(self, name: str, data: bytes) -> None:
        """Keep a file, whole or not at all."""
        if not self._is_fresh():
            return
        reason: OSError | None = None
        for folder in self._folders:
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
            f"compiled kernels cannot be kept in {self._folders[0].parent} ({reason.strerror or reason}), so "
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


class KernelCache(NullCache):
    """What Numba asks for the machine code of one kernel, and gives it to keep."""

    def __init__(self, function: Callable[..., Any], code: MachineCode) -> None:
        self._name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"
        self._bytecode = function.__code__.co_code
        self._code = code

    @property
    def cache_path(self) -> str | None:
        """The preferred folder."""
        return str(self._code.folders[0]) if self._code.folders else None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the version for these argument types, or nothing."""
        target_context.refresh()
        data = self._code.read(self._file_name(sig, target_context.codegen()))
        return None if data is None else CompileResult._rebuild(target_context, *pickle.loads(data))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the version for these argument types, unless a signal came while it was handed over."""
        if data.library.has_dynamic_globals:
            return
        try:
            code = dumps(data._reduce())
        except RuntimeError:  # Numba has no machine code to keep; what it runs is complete
            return
        self._code.write(self._file_name(sig, data.codegen), code)

    def _file_name(self, sig: Any, codegen: Any) -> str:
        key = repr((sig, codegen.magic_tuple(), self._bytecode)).encode()
        return f"{self._name}-{hashlib.sha256(key).hexdigest()[:32]}.kernel"


def setting(name: str) -> Any:
    """Return what the environment, or Numba's configuration file, says about a setting of Numba."""
    return getattr(numba.config, name, None)


def homes() -> list[Path]:
    """Return the folders that may hold namespaces: $NUMBA_CACHE_DIR, or beside the kernels and the user's."""
    if chosen := setting("CACHE_DIR"):
        return [Path(chosen).absolute() / "edgecritic-kernels"]
    user = AppDirs(appname="edgecritic", appauthor=False).user_cache_dir
    return [Path(__file__).parent / "__pycache__" / "edgecritic-kernels", Path(user) / "edgecritic-kernels"]


def _namespace(sources: list[Path]) -> str:
    """Return the hash of all that machine code depends on besides kernel, argument types and processor."""
    settings = [(name, setting(name)) for name in _CODE_SETTINGS]
    versions = (sys.implementation.cache_tag, numba.__version__, np.__version__)
    digest = hashlib.sha256(repr((versions, settings)).encode())
    for source in sources:
        content = source.read_bytes()
        digest.update(f"{source.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:32]


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
