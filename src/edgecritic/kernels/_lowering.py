"""How Numba's steps become LLVM's: fewer of them than Numba makes, for the same machine code.

Numba counts references to arrays that the caller holds anyway, clears variables that need no clearing, and
takes an array apart whenever one of its items is read or written. LLVM removes most of that again, but it has
to be made, written as text, read and removed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from typing import Any

from numba.core import ir, types
from numba.core.cgutils import alloca_once, false_bit, get_item_pointer2, is_not_null, unpack_tuple
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.pythonapi import NativeValue, PythonAPI
from numba.core.typed_passes import NativeLowering
from numba.np.arrayobj import fix_integer_index, load_item, store_item

__all__ = ["KernelLowering"]

_LENT = {"getattr", "getitem", "static_getitem", "exhaust_iter", "build_tuple", "cast", "phi"}
"""Operations whose result, if it has an array in it, has one that the operands have."""


class KernelLower(Lower):
    """Numba's translation of one function, for kernels and what they call."""

    def lower(self) -> None:
        """Translate the function."""
        self._owned = _owned_variables(self) if self.context.enable_nrt else frozenset()
        super().lower()

    def lower_inst(self, inst: Any) -> None:
        """Translate one step; references are counted for variables that own what they hold."""
        if isinstance(inst, ir.Del) and inst.value not in self._owned:
            return
        if isinstance(inst, ir.Assign) and self._is_lent(inst.target.name):
            with _uncounted(self.context):
                super().lower_inst(inst)
        else:
            super().lower_inst(inst)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Store a value; what a variable held before is let go if it owns it."""
        if name in self._owned or name in self._singly_assigned_vars or self._disable_sroa_like_opt:
            super().storevar(value, name, argidx)
        else:
            self._alloca_var(name, self.typeof(name))
            self.builder.store(value, self.getvar(name))

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """Give a variable its place; only a debugger is told of it, and how large it is."""
        if self.flags.debuginfo:
            return super().alloca_lltype(name, lltype, datamodel)
        return alloca_once(self.builder, lltype, name=name)

    def incref(self, typ: Any, val: Any) -> None:
        """Count one more reference to what a value has of arrays."""
        if _has_array(self.context, typ):
            super().incref(typ, val)

    def decref(self, typ: Any, val: Any) -> None:
        """Count one less."""
        if _has_array(self.context, typ):
            super().decref(typ, val)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Read an item of an array, or let Numba do it."""
        place = self._place(value, index)
        if place is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        array = self.typeof(value.name)
        item = load_item(self.context, self.builder, array, place)
        return self.context.cast(self.builder, item, array.dtype, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> None:
        """Write an item of an array, or let Numba do it."""
        array, given = self.typeof(target_var.name), self.typeof(value_var.name)
        place = (
            self._place(target_var, index_var) if isinstance(given, types.Number | types.Boolean) else None
        )
        if place is None:
            super().lower_setitem(target_var, index_var, value_var, signature)
            return
        item = self.context.cast(self.builder, self.loadvar(value_var.name), given, array.dtype)
        store_item(self.context, self.builder, array, item, place)

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """Make the door for calls from Python, which holds the arrays that it gives."""
        with _unchecked(self.context):
            if self.context.enable_nrt and not _has_array(self.context, self.fndesc.restype):
                with _uncounted(self.context):
                    super().create_cpython_wrapper(release_gil)
            else:
                super().create_cpython_wrapper(release_gil)

    def _place(self, array: Any, index: Any) -> Any:
        """Return where one number of a contiguous array is, or None if that is not what the index means."""
        kind = self.typeof(array.name)
        if not _has_numbers_in_rows(kind) or self.context.enable_boundscheck:
            return None
        given, wanted = self.loadvar(index.name), self.typeof(index.name)
        several = isinstance(wanted, types.BaseTuple)
        kinds = tuple(wanted) if several else (wanted,)
        numbers = unpack_tuple(self.builder, given) if several else [given]
        if len(kinds) != kind.ndim or not all(isinstance(one, types.Integer) for one in kinds):
            return None
        data, sizes = (self._part(array, name) for name in ("data", "shape"))
        shape = unpack_tuple(self.builder, sizes, kind.ndim)
        indices = zip(kinds, numbers, shape, strict=True)
        places = [fix_integer_index(self.context, self.builder, *one) for one in indices]
        if kind.ndim == 1:
            return self.builder.gep(data, places)
        return get_item_pointer2(self.context, self.builder, data, shape, (), "C", places)

    def _part(self, array: Any, name: str) -> Any:
        model = self.context.data_model_manager[self.typeof(array.name)]
        return self.builder.extract_value(self.loadvar(array.name), model.get_field_position(name))

    def _is_lent(self, name: str) -> bool:
        return (
            self.context.enable_nrt
            and name not in self._owned
            and _has_array(self.context, self.typeof(name))
        )


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(NativeLowering):
    """Numba's last step, with our translation."""

    _name = "kernel_lowering"

    @property
    def lowering_class(self) -> type[KernelLower]:
        """What translates."""
        return KernelLower


class Door(PythonAPI):
    """How what Python gives becomes values, and values become what it gets.

    Types of arguments, by which the kernel was chosen, are not checked. The classes of results are constants
    of the kernel; Numba asks Python to unpickle them at every call.
    """

    _constants: Any = None

    def from_native_value(self, typ: Any, val: Any, env_manager: Any = None) -> Any:
        """Make what Python gets of a value, with the constants of the kernel at hand."""
        self._constants = env_manager
        return super().from_native_value(typ, val, env_manager)

    def serialize_object(self, obj: Any) -> Any:
        """Leave classes as they are: `unserialize` makes constants of them."""
        return obj if isinstance(obj, type) else super().serialize_object(obj)

    def unserialize(self, structptr: Any) -> Any:
        """Return a new reference to an object that `serialize_object` has taken."""
        if not isinstance(structptr, type):
            return super().unserialize(structptr)
        found = self._constants.read_const(self._constants.add_const(structptr))
        self.incref(found)
        return found

    def to_native_value(self, typ: Any, obj: Any) -> Any:
        """Take arrays, and tuples of arrays and numbers, as they are; let Numba take all else."""
        if type(typ) is types.Array:
            return self._array(typ, obj)
        if not _is_plain_tuple(typ):
            return super().to_native_value(typ, obj)
        items = [self.to_native_value(kind, self.tuple_getitem(obj, at)) for at, kind in enumerate(typ)]
        value = self.context.make_tuple(self.builder, typ, [item.value for item in items])
        return NativeValue(value, reduce(self.builder.or_, [item.is_error for item in items], false_bit))

    def _array(self, kind: Any, given: Any) -> Any:
        counted = self.context.enable_nrt
        adapted = self.nrt_adapt_ndarray_from_python if counted else self.numba_array_adaptor
        place = alloca_once(self.builder, self.context.get_value_type(kind))
        failed = adapted(given, self.builder.bitcast(place, self.voidptr))
        return NativeValue(self.builder.load(place), is_not_null(self.builder, failed))


def _is_plain_tuple(kind: Any) -> bool:
    """Tell whether a type is one of tuples of arrays, numbers and such tuples."""
    several = isinstance(kind, types.BaseTuple)
    return several and all(
        type(one) is types.Array or isinstance(one, types.Number | types.Boolean) or _is_plain_tuple(one)
        for one in kind
    )


@contextmanager
def _unchecked(context: Any) -> Iterator[None]:
    """Let what Python gives be taken by a `Door` meanwhile."""
    context.get_python_api = lambda builder: Door(context, builder)
    try:
        yield
    finally:
        del context.get_python_api


@contextmanager
def _uncounted(context: Any) -> Iterator[None]:
    """Count no references meanwhile."""
    _ = context.nrt  # remembers that they are counted otherwise
    context.enable_nrt = False
    try:
        yield
    finally:
        context.enable_nrt = True


def _has_numbers_in_rows(kind: Any) -> bool:
    return (
        type(kind) is types.Array
        and kind.layout == "C"
        and kind.aligned
        and isinstance(kind.dtype, types.Number | types.Boolean)
    )


def _owned_variables(lower: KernelLower) -> frozenset[str]:
    """Return the variables that hold an array which is not, or may not be, one of the caller's.

    The caller holds its arrays until the function returns, so that references to them need no counting.
    An array is owned that the function makes, gets from another or returns.
    """
    steps = [step for block in lower.func_ir.blocks.values() for step in block.body]
    assigned = [
        step
        for step in steps
        if isinstance(step, ir.Assign) and _has_array(lower.context, lower.typeof(step.target.name))
    ]
    if lower.func_ir.is_generator:
        return frozenset(step.target.name for step in assigned)
    owned = {step.value.name for step in steps if isinstance(step, ir.Return)}
    before = -1
    while len(owned) > before:
        before = len(owned)
        owned |= {step.target.name for step in assigned if not _is_lent_by(step.value, owned, lower)}
    return frozenset(owned)


def _is_lent_by(value: Any, owned: set[str], lower: KernelLower) -> bool:
    """Tell whether a value has only arrays that are held by the caller."""
    if isinstance(value, ir.Arg):
        return True
    if isinstance(value, ir.Var):
        return value.name not in owned
    if not isinstance(value, ir.Expr) or value.op not in _LENT:
        return False
    if value.op == "getitem" and _has_array(lower.context, lower.typeof(value.index.name)):
        return False
    return not any(one.name in owned for one in value.list_vars())


def _has_array(context: Any, kind: Any) -> bool:
    if isinstance(kind, types.Number | types.Boolean):
        return False
    try:
        return bool(context.data_model_manager[kind].contains_nrt_meminfo())
    except NotImplementedError:  # a type without values
        return True
