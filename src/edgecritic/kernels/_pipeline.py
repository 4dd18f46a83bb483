"""What Numba does for kernels, without what they do not need.

Numba optimises every function that a kernel calls, and makes machine code of it, before it does both for the
kernel, into which most of them are inlined, and looks for constructs of Python that no kernel has.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import NativeLowering

from edgecritic.kernels._lowering import KernelLowering

__all__ = ["InnerCompiler", "OuterCompiler", "QuickFlags", "inner_flags"]

_TELLING = ("nrt", "debuginfo", "boundscheck", "fastmath", "error_model")
"""The flags that what a kernel calls takes over from it."""

_NEEDLESS = frozenset(
    {
        "with_lifting",
        "inline_closure_likes",
        "make_function_op_code_to_jit_function",
        "inline_inlinables",
        "inline_overloads",
        "find_literally",
        "literal_unroll",
        "LiteralPropagation",
        "Rewrite dynamic raises",
        "nopython_rewrites",
        "nopython_supported_feature_validation",
        "annotate_types",
        "dump_parfor_diagnostics",
    }
)
"""Passes for closures, contexts, literals, expressions of whole arrays, and reports; no kernel has any."""


class QuickFlags(Flags):
    """Numba's flags, equal if what is called with them is compiled to the same code.

    Numba compares them for every operation, and compiles its own functions once for each of them.
    """

    __slots__ = ("_told",)

    def __hash__(self) -> int:
        """Return the hash of all flags, the same for all of them."""
        return _HASH_OF_FLAGS

    def __eq__(self, other: object) -> bool:
        """Tell whether called functions can be shared."""
        return self._telling() == other._telling() if type(other) is QuickFlags else super().__eq__(other)

    def _telling(self) -> tuple[Any, ...]:
        if not hasattr(self, "_told"):
            self._told = tuple(getattr(self, name) for name in _TELLING)
        return self._told


_HASH_OF_FLAGS = hash(Flags())


def inner_flags(compiler: Any, flags: Any) -> QuickFlags:
    """Let Numba compile a function of its own as an inner kernel; return its flags."""
    if compiler.pipeline_class is Compiler:
        compiler.pipeline_class = CalledCompiler
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        flags.forceinline = False
    return QuickFlags(flags)


class OuterCode(JITCodeLibrary):
    """The code of a kernel that Python calls: optimised once, with all that it calls."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout


class InnerCode(JITCodeLibrary):
    """The code of what only kernels call: optimised, and turned into machine code, with them."""

    @property
    def codegen(self) -> InnerCode:
        """What is told of environments, which only code that can be called needs."""
        return self

    def set_env(self, name: str, env: Any) -> None:
        """Do nothing."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Make one manager of passes; newer Numbas make one for each function, if only declared."""
        if not hasattr(self._codegen, "_pass_builder"):
            super()._optimize_functions(ll_module)
            return
        ll_module.data_layout = self._codegen._data_layout
        passes, builder = self._codegen._function_pass_manager()
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)

    def finalize(self) -> None:
        """Put in what it calls; all else is done with the kernel that it is put into."""
        for library in dict.fromkeys(self._linking_libraries):
            if hasattr(library, "_reload_init"):  # old versions of Numba have none
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


class KernelCompiler(Compiler):
    """Numba's compiler, for kernels and what they call."""

    needless: frozenset[str] = frozenset()

    def define_pipelines(self) -> list[PassManager]:
        """Return the one pipeline that does not fall back to interpreted code."""
        (standard,) = super().define_pipelines()
        made = PassManager("kernel")
        for step, text in standard.passes:
            if step.name() not in self.needless:
                made.add_pass(KernelLowering if step is NativeLowering else step, text)
        made.finalize()
        return [made]


class CalledCompiler(KernelCompiler):
    """Numba's compiler, for functions of its own that kernels call."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: Any) -> None:
        library = InnerCode(targetctx.codegen(), "inner") if library is None else library
        super().__init__(typingctx, targetctx, library, *rest)


class InnerCompiler(CalledCompiler):
    """Numba's compiler, for kernels that other kernels call."""

    needless = _NEEDLESS


class OuterCompiler(KernelCompiler):
    """Numba's compiler, for kernels that Python calls."""

    needless = _NEEDLESS

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: Any) -> None:
        library = OuterCode(targetctx.codegen(), "kernel")
        library.enable_object_caching()
        super().__init__(typingctx, targetctx, library, *rest)
