"""What Numba does again and again while it compiles a kernel: done once, or not at all."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from numba.core import cgutils, errors, types
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.transforms import canonicalize_cfg
from numba.core.typing.context import BaseContext
from numba.core.typing.npydecl import parse_dtype, parse_shape
from numba.extending import intrinsic
from numba.np.arrayobj import _empty_nd_impl, _parse_shape

__all__ = ["quickly"]


@contextmanager
def quickly(compiler: type, flags_of: Callable[..., Any]) -> Iterator[None]:
    """Let functions of Numba that a kernel calls be compiled as inner kernels, and each call be typed once.

    Garbage is not collected meanwhile, and errors, which Numba raises and catches by the thousand, have no
    colours. Numba compiles under a lock, so nobody else's functions are compiled at that time.

    Parameters
    ----------
    compiler : type
        What compiles functions that kernels call.
    flags_of : callable
        Makes an inner kernel of such a function and returns its flags.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        with ExitStack() as replaced:
            for owner, name, new in (
                (compiler, "_customize_flags", flags_of),
                (types.BaseFunction, "get_call_type", _remembering(types.BaseFunction.get_call_type)),
                (PostProcessor, "run", _processed(PostProcessor.run)),
                (type(errors.termcolor()), "_markup", _unmarked),
                (BaseContext, "resolve_value_type", _made_in_place(BaseContext.resolve_value_type)),
            ):
                replaced.enter_context(_replaced(owner, name, new))
            yield
    finally:
        if collecting:
            gc.enable()


@contextmanager
def _replaced(owner: Any, name: str, new: Any) -> Iterator[None]:
    before = getattr(owner, name, None)
    setattr(owner, name, new)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _remembering(type_of_call: Callable[..., Any]) -> Callable[..., Any]:
    """Look the type of a call up that occurs again; Numba tries all that a function can be called with."""
    known: dict[Any, Any] = {}

    def get_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
        key = (function, tuple(args), tuple(kws.items()))
        if key not in known:
            known[key] = type_of_call(function, context, args, kws)
        return known[key]

    return get_call_type


def _processed(process: Callable[..., None]) -> Callable[..., None]:
    """Find out which variables live where when they are cleared: once, not after each of Numba's passes."""

    def run(processor: Any, emit_dels: bool = False, *rest: Any, **more: Any) -> None:
        code = processor.func_ir
        if emit_dels or code.is_generator:
            process(processor, emit_dels, *rest, **more)
            return
        code.blocks = canonicalize_cfg(code.blocks)
        code.variable_lifetime = VariableLifetime(code.blocks)
        code.generator_info = None

    return run


def _unmarked(_scheme: Any, message: str, *_: Any, **__: Any) -> str:
    return message


def _made_in_place(type_of_value: Callable[..., Any]) -> Callable[..., Any]:
    """Let new arrays be made where they are, not by a function for every type of them."""

    def resolve_value_type(context: Any, value: Any) -> Any:
        made = _empty if value is np.empty else _zeros if value is np.zeros else value
        return type_of_value(context, made)

    return resolve_value_type


@intrinsic
def _empty(_typing: Any, shape: Any, dtype: Any = float) -> Any:
    return _new_array(shape, dtype, zeros=False)


@intrinsic
def _zeros(_typing: Any, shape: Any, dtype: Any = float) -> Any:
    return _new_array(shape, dtype, zeros=True)


def _new_array(shape: Any, dtype: Any, *, zeros: bool) -> Any:
    """Return the type and the code of a call; `dtype` is the class ``float`` if the call has none."""
    number = types.float64 if getattr(dtype, "typing_key", dtype) is float else parse_dtype(dtype)
    kind = types.Array(number, parse_shape(shape), "C")

    def code(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        made = _empty_nd_impl(context, builder, kind, _parse_shape(context, builder, shape, args[0]))
        if zeros:
            cgutils.memset(builder, made.data, builder.mul(made.itemsize, made.nitems), 0)
        return made._getvalue()

    return kind(shape, types.Omitted(float) if dtype is float else dtype), code
