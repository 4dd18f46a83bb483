"""The decorators of all kernels.

A kernel is compiled when it is called first, and Numba, which takes a while to import, is imported then. As
Python that nobody compiled it does the same more slowly, so work of less time than Numba takes to start is
done so (`plainly`).
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from edgecritic.kernels._cache import MachineCode, homes, name_of

__all__ = [
    *("Kernel", "always_compiled", "compile_beside", "inlined", "instruction"),
    *("is_plain", "is_started", "kernel", "plainly"),
]

Function = TypeVar("Function", bound=Callable[..., Any])

_DISABLED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
_KEPT = os.environ.get("EDGECRITIC_NUMBA_CACHE", "1") != "0"
_CODE = MachineCode(Path(__file__).parent, homes) if _KEPT and not _DISABLED else None
_LOCK = threading.RLock()

_PATIENCE = 400_000
"""So many steps of loops, of about a microsecond each, are done in plain Python before Numba is started."""


class _Mode(threading.local):
    plain = False


_mode = _Mode()
_left = _PATIENCE


class Kernel:
    """A function that is compiled, once for calls from Python and once for calls from other kernels.

    The latter has no door to Python, which takes about as long to compile as a short kernel itself.
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._options = options
        self._made: dict[bool, Any] = {}

    def __call__(self, *args: Any) -> Any:
        """Run the machine code, or the function itself where work is small."""
        return self.py_func(*args) if _mode.plain else self.compiled(*args)

    @functools.cached_property
    def compiled(self) -> Any:
        """What runs the machine code: Numba's dispatcher for calls from Python."""
        always_compiled()
        return self._dispatcher(inner=False)

    @property
    def _numba_type_(self) -> Any:
        """What Numba asks for where another kernel calls this one."""
        return self._dispatcher(inner=True)._numba_type_

    def _dispatcher(self, *, inner: bool) -> Any:
        from edgecritic.kernels._compile import dispatcher

        with _LOCK:
            if inner not in self._made:
                self._made[inner] = dispatcher(self.py_func, _CODE, inner=inner, **self._options)
            return self._made[inner]


def kernel(function: Function) -> Function:
    """Compile on first call, keep the machine code on disk, release the interpreter lock."""
    return function if _DISABLED else cast("Function", Kernel(function))


def inlined(function: Function) -> Function:
    """Compile into the kernels that call it: for what is called very often with many arguments."""
    return function if _DISABLED else cast("Function", Kernel(function, forceinline=True))


class Instruction:
    """A function that processors have an instruction for, which kernels that call it use."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._name = name

    def __call__(self, *args: Any) -> Any:
        """Run the function itself."""
        return self._function(*args)

    @functools.cached_property
    def _numba_type_(self) -> Any:
        """What Numba asks for where a kernel calls this."""
        from edgecritic.kernels._compile import type_of_instruction

        return type_of_instruction(self._name)


def instruction(name: str) -> Callable[[Function], Function]:
    """Use what LLVM calls `name` in kernels: see `edgecritic.kernels._compile.type_of_instruction`."""

    def made(function: Function) -> Function:
        return cast("Function", Instruction(function, name))

    return made


class plainly:  # noqa: N801 - used like a function: with plainly(steps)
    """Let the kernels that this thread calls run as plain Python if Numba would take longer to start.

    Results are the same. Once `_PATIENCE` steps were done so, or a kernel was called in earnest, all
    kernels are compiled.

    Parameters
    ----------
    steps : int
        How often the innermost loops run, about.
    """

    __slots__ = ("_before", "_steps")

    def __init__(self, steps: int) -> None:
        self._steps = steps

    def __enter__(self) -> None:
        global _left
        with _LOCK:
            plain = self._steps <= _left
            _left -= self._steps if plain else 0
        self._before, _mode.plain = _mode.plain, plain

    def __exit__(self, *error: object) -> None:
        _mode.plain = self._before


def compile_beside(function: Callable[..., Any], program: str) -> bool:
    """Let another process compile a kernel by running a program, unless work is small or it is on disk.

    Whoever calls the kernel before that is done waits. Returned is whether a process has begun.
    """
    if _CODE is None or _mode.plain or "compiled" in vars(function):
        return False
    from edgecritic.kernels._beside import begin

    return begin(name_of(function), program, _CODE)


def is_plain() -> bool:
    """Tell whether kernels that this thread calls run as plain Python, because work is small."""
    return _mode.plain


def is_started() -> bool:
    """Tell whether Numba runs already, so that a kernel costs no more than its own time."""
    return _left < 0 and not _DISABLED


def always_compiled() -> None:
    """Run no kernel as plain Python from now on."""
    global _left
    _left = -1
