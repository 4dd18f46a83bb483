"""Kernels that another process compiles while this one, which compiles one after the other, is at others."""

from __future__ import annotations

import atexit
import subprocess
import threading

from edgecritic.beside import python_beside
from edgecritic.cores import usable_cores
from edgecritic.kernels._cache import MachineCode

__all__ = ["begin", "wait_for"]

_processes: dict[str, subprocess.Popen[bytes] | None] = {}
"""Those that were started, by the name of the kernel; none where its code is on disk or cannot be kept."""
_LOCK = threading.Lock()
_PATIENCE = 180.0  # seconds, many times what a slow machine takes, for a process that hangs


def begin(name: str, program: str, code: MachineCode) -> bool:
    """Let a process compile a kernel that is needed soon, if it is on no disk; once. Tell whether it begins.

    Parameters
    ----------
    name : str
        Of the kernel, as in the names of its files.
    program : str
        What the process runs.
    code : MachineCode
        Where the process keeps what it compiled.
    """
    with _LOCK:
        if name in _processes:
            return False
        _processes[name] = None
        if usable_cores() > 1 and not code.has(name) and code.can_be_kept():
            _processes[name] = python_beside(
                "-c", program, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )
        return _processes[name] is not None


def wait_for(name: str) -> bool:
    """Wait for the process that compiles a kernel; tell whether there was one that did."""
    with _LOCK:
        process, _processes[name] = _processes.get(name), None
    if process is None:
        return False
    try:
        return process.wait(_PATIENCE) == 0
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return False


@atexit.register
def _end() -> None:
    for process in _processes.values():
        if process is not None:
            process.kill()
            process.wait()
