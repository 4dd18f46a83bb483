"""What kernels need of Numba; imported when the first of them is compiled."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from typing import Any

import numba
from numba.core import types
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult, Flags
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from edgecritic.kernels._cache import MachineCode

__all__ = ["KernelCache", "dispatcher"]


def dispatcher(function: Callable[..., Any], code: MachineCode | None, *, inner: bool, **options: Any) -> Any:
    """Return what compiles a kernel for the types that it is called with.

    Parameters
    ----------
    function : callable
    code : MachineCode or None
        Where machine code is kept.
    inner : bool
        Whether only other kernels call it. None has a wrapper for calls from C.
    """
    options |= {"no_cpython_wrapper": True, "pipeline_class": InnerCompiler} if inner else {}
    options |= {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    made: Any = numba.njit(**options)(function)
    made._compiler._customize_flags = QuickFlags
    if inner:
        template_of = made.get_call_template
        made.get_call_template = lambda args, kws: template_of([_plain_type(one) for one in args], kws)
    elif code is not None:
        made._cache = KernelCache(function, code)
    return made


def _plain_type(given: Any) -> Any:
    """Return the type that a kernel is compiled for where another one gives it a constant or a short number.

    Numba would compile it once for each constant, and once for each length.
    """
    found = types.unliteral(given)
    return types.int64 if found == types.int32 else found


class QuickFlags(Flags):
    """Numba's flags, which it compares for every operation of a function, compared sooner."""

    __slots__ = ()

    def __hash__(self) -> int:
        """Return the hash of all flags, the same for all of them."""
        return _HASH_OF_FLAGS

    def __eq__(self, other: object) -> bool:
        """Tell whether all flags are equal."""
        return self._values == getattr(other, "_values", None) or super().__eq__(other)


_HASH_OF_FLAGS = hash(Flags())


class InnerCode(JITCodeLibrary):
    """The code of a kernel that only other kernels call: optimised, and turned into machine code, with them.

    Numba does both for every kernel by itself too, which takes as long again.
    """

    @property
    def codegen(self) -> InnerCode:
        """What is told of environments, which only code that can be called needs."""
        return self

    def set_env(self, name: str, env: Any) -> None:
        """Do nothing."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class InnerCompiler(Compiler):
    """Numba's compiler, which puts the code into an `InnerCode`."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: Any) -> None:
        library = InnerCode(targetctx.codegen(), "inner") if library is None else library
        super().__init__(typingctx, targetctx, library, *rest)


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
        """Return the version for these argument types, or nothing.

        To run machine code Numba needs its memory only. What it needs to compile takes longer to load than
        all our code; it loads that by itself when it compiles.
        """
        rtsys.initialize(target_context)
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
