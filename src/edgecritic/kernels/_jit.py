"""The decorator of all kernels."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

__all__ = ["inlined", "kernel"]

Function = TypeVar("Function", bound=Callable[..., Any])

_CACHE = os.environ.get("EDGECRITIC_NUMBA_CACHE", "1") != "0"


def kernel(function: Function) -> Function:
    """Compile on first call, keep the machine code on disk, release the interpreter lock."""
    return cast("Function", numba.njit(cache=_CACHE, nogil=True, error_model="numpy")(function))


def inlined(function: Function) -> Function:
    """Compile into the kernels that call it: for what is called very often with many arguments."""
    return cast(
        "Function", numba.njit(cache=_CACHE, nogil=True, error_model="numpy", forceinline=True)(function)
    )
