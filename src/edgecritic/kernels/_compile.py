"""What kernels need of Numba; imported when the first of them is compiled."""

from __future__ import annotations

import functools
import hashlib
import pickle
from collections.abc import Callable
from typing import Any

import numba
from llvmlite import binding as llvm
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps
from numba.extending import intrinsic

from edgecritic.kernels._beside import wait_for
from edgecritic.kernels._cache import MachineCode, name_of

__all__ = ["KernelCache", "dispatcher", "is_known", "type_of_instruction"]

_KNOWN = ((0, 58), (0, 68))
"""The first and the last Numba whose inside `edgecritic.kernels._pipeline` was tried with."""


def is_known(version: str) -> bool:
    """Tell whether kernels are compiled in our own way; other versions of Numba do it in theirs, more slowly.

    Examples
    --------
    >>> is_known("0.61.2"), is_known("1.0.0rc1")
    (True, False)
    """
    first, last = _KNOWN
    return first <= tuple(int(part) for part in version.split(".")[:2]) <= last


def dispatcher(function: Callable[..., Any], code: MachineCode | None, *, inner: bool, **options: Any) -> Any:
    """Return what compiles a kernel for the types that it is called with.

    Parameters
    ----------
    function : callable
    code : MachineCode or None
        Where machine code is kept.
    inner : bool
        Whether only other kernels call it.
    """
    options |= {"nogil": True, "error_model": "numpy"}
    known = is_known(numba.__version__)
    made: Any = _quickly_made(function, inner, options) if known else numba.njit(**options)(function)
    if code is not None and not inner:
        made._cache = KernelCache(function, code)
    return made


def _quickly_made(function: Callable[..., Any], inner: bool, options: dict[str, Any]) -> Any:
    """Return a dispatcher that compiles sooner than Numba's own; no kernel has a wrapper for calls from C."""
    options |= {"no_cpython_wrapper": inner, "no_cfunc_wrapper": True}
    made: Any = numba.njit(**options)(function)
    if not inner:
        compiler = made._compiler
        compiler.compile = functools.partial(_compile_quickly, compiler, compiler.compile)
        return made
    from edgecritic.kernels._pipeline import InnerCompiler, QuickFlags

    made._compiler.pipeline_class = InnerCompiler
    made._compiler._customize_flags = QuickFlags
    template_of = made.get_call_template
    made.get_call_template = lambda args, kws: template_of([_plain_type(one) for one in args], kws)
    return made


def _compile_quickly(compiler: Any, compile_: Callable[..., Any], *args: Any) -> Any:
    """Compile for calls from Python; what that takes is imported only for kernels that are on no disk."""
    from edgecritic.kernels._pipeline import OuterCompiler, QuickFlags, inner_flags
    from edgecritic.kernels._shortcuts import quickly

    compiler.pipeline_class = OuterCompiler
    compiler._customize_flags = QuickFlags
    with quickly(type(compiler), inner_flags):
        return compile_(*args)


def _plain_type(given: Any) -> Any:
    """Return the type that a kernel is compiled for where another one gives it a constant or a short number.

    Numba would compile it once for each constant, and once for each length.
    """
    found = types.unliteral(given)
    return types.int64 if found == types.int32 else found


def type_of_instruction(name: str) -> Any:
    """Return the type of a function that is an instruction of LLVM.

    It takes a uint64 and gives an int64, but for ``prefetch``, which takes an array and an index.
    """
    made = _prefetch if name == "prefetch" else _bit_instruction(name)
    context = cpu_target.typing_context
    context.refresh()  # so that it knows what was made
    return context.resolve_value_type(made)


def _bit_instruction(name: str) -> Any:
    @intrinsic
    def made(_typing: Any, _word: Any) -> Any:
        def code(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            return builder.ctpop(*args) if name == "ctpop" else builder.cttz(*args, cgutils.true_bit)

        return types.int64(types.uint64), code

    return made


@intrinsic
def _prefetch(_typing: Any, array: Any, _at: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(data, [args[1]]), cgutils.voidptr_t)
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, word, word, word])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
        builder.call(instruction, [place, word(0), word(3), word(1)])  # to read, more than once, data
        return context.get_dummy_value()

    return types.none(array, types.uint64), code


def _bare(parts: tuple[Any, ...], made: Any) -> tuple[Any, ...]:
    """Return what Numba keeps of a kernel without the code that others could put it into.

    Kernels on disk are called by Python only; another kernel that calls one compiles it anew. To parse that
    code takes about 3 ms a kernel at every start, and Numba only asks whether Python's door to it is there.
    """
    (name, kind, (machine_code, _)), *rest = parts
    door = made.fndesc.llvm_cpython_wrapper_name
    stub = llvm.parse_assembly(f'define void @"{door}"() {{ unreachable }}')
    return (name, kind, (machine_code, stub.as_bitcode())), *rest


class KernelCache(NullCache):
    """What Numba asks for the machine code of one kernel, and gives it to keep."""

    def __init__(self, function: Callable[..., Any], code: MachineCode) -> None:
        self._name = name_of(function)
        self._bytecode = function.__code__.co_code
        self._code = code

    @property
    def cache_path(self) -> str | None:
        """The preferred folder."""
        return str(self._code.folders[0]) if self._code.folders else None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the version for these argument types, or nothing.

        To run machine code Numba needs its memory only. What it needs to compile takes longer to load than
        all our code; it loads that by itself when it compiles.
        """
        rtsys.initialize(target_context)
        file = self._file_name(sig, target_context.codegen())
        data = self._code.read(file)
        if data is None and wait_for(self._name):
            data = self._code.read(file)
        return None if data is None else CompileResult._rebuild(target_context, *pickle.loads(data))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the version for these argument types, unless a signal came while it was handed over."""
        if data.library.has_dynamic_globals:
            return
        try:
            parts = data._reduce()
            code = dumps(_bare(parts, data) if is_known(numba.__version__) else parts)
        except RuntimeError:  # Numba has no machine code to keep; what it runs is complete
            return
        self._code.write(self._file_name(sig, data.codegen), code)

    def _file_name(self, sig: Any, codegen: Any) -> str:
        key = repr((sig, codegen.magic_tuple(), self._bytecode)).encode()
        return f"{self._name}-{hashlib.sha256(key).hexdigest()[:32]}.kernel"
