"""The decorators of all kernels."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

from edgecritic.kernels._cache import KernelCache, MachineCode, homes, setting

__all__ = ["inlined", "kernel"]

Function = TypeVar("Function", bound=Callable[..., Any])

_KEPT = os.environ.get("EDGECRITIC_NUMBA_CACHE", "1") != "0" and not setting("DISABLE_JIT")
_CODE = MachineCode(Path(__file__).parent, homes()) if _KEPT else None


def kernel(function: Function) -> Function:
    """Compile on first call, keep the machine code on disk, release the interpreter lock."""
    return _compiled(function)


def inlined(function: Function) -> Function:
    """Compile into the kernels that call it: for what is called very often with many arguments."""
    return _compiled(function, forceinline=True)


def _compiled(function: Function, **options: Any) -> Function:
    dispatcher = numba.njit(nogil=True, error_model="numpy", **options)(function)
    if _CODE is not None:
        dispatcher._cache = KernelCache(function, _CODE)
    return cast("Function", dispatcher)
