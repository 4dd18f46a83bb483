"""What Numba does for kernels, without what they do not need.

Numba optimises every function that a kernel calls, and makes machine code of it, before it does both for the
kernel, into which most of them are inlined. It counts references to arrays that the caller holds anyway, and
looks for constructs of Python that no kernel has.
"""

from __future__ import annotations

from typing import Any

from numba.core import ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_machinery import AnalysisPass, PassManager, register_pass
from numba.core.typed_passes import NopythonTypeInference

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

_LENT = {"getattr", "getitem", "static_getitem", "exhaust_iter", "build_tuple", "cast", "phi"}
"""Operations whose result, if it has an array in it, has one that the operands have."""


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


class InnerCode(JITCodeLibrary):
    """The code of what only kernels call: optimised, and turned into machine code, with them."""

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


@register_pass(mutates_CFG=False, analysis_only=False)
class LendReferences(AnalysisPass):
    """Count no references in a function whose arrays are all those of its caller.

    The caller holds them until the function returns. That is not so for a function which makes an array, gets
    one from another, or returns one.
    """

    _name = "lend_references"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Decide for the function that is compiled."""
        if _lends_only(state):
            state.targetctx.enable_nrt = False
        return False


def _lends_only(state: Any) -> bool:
    """Tell whether no array is made, got or returned, nor given to Numba to be copied."""

    def has_array(variable: Any) -> bool:
        return _has_array(state.targetctx, state.typemap[variable.name])

    if state.func_ir.is_generator or _has_array(state.targetctx, state.return_type):
        return False
    for block in state.func_ir.blocks.values():
        for step in block.body:
            if isinstance(step, (ir.SetItem, ir.StaticSetItem)) and has_array(step.value):
                return False
            if not isinstance(step, ir.Assign) or not isinstance(step.value, ir.Expr):
                continue
            if not has_array(step.target):
                continue
            value = step.value
            if value.op not in _LENT or (value.op == "getitem" and has_array(value.index)):
                return False
    return True


def _has_array(context: Any, kind: Any) -> bool:
    try:
        return bool(context.data_model_manager[kind].contains_nrt_meminfo())
    except NotImplementedError:  # a type without values
        return True


class KernelCompiler(Compiler):
    """Numba's compiler, for kernels and what they call."""

    needless: frozenset[str] = frozenset()

    def define_pipelines(self) -> list[PassManager]:
        """Return the one pipeline that does not fall back to interpreted code."""
        (standard,) = super().define_pipelines()
        made = PassManager("kernel")
        for step, text in standard.passes:
            if step.name() not in self.needless:
                made.add_pass(step, text)
            if step is NopythonTypeInference:
                made.add_pass(LendReferences, "count no references that are not kept")
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
