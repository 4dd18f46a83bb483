"""Kernels are compiled without what they do not need: references are right, and others notice nothing."""

from __future__ import annotations

import gc
import os
import sys
from typing import NamedTuple

import numpy as np
import pytest

from edgecritic.kernels._jit import kernel
from edgecritic.kernels.arrays import prefetch

pytestmark = [
    pytest.mark.kernels,
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="nothing is compiled"),
]


def compiled(function):
    from edgecritic.kernels._compile import dispatcher

    return dispatcher(function, None, inner=False)


@kernel
def _itself(values, more):
    return values


@kernel
def _with_room(values, more):
    longer = np.zeros(values.size + more, dtype=np.int64)
    for i in range(values.size):
        longer[i] = values[i]
    return longer if more > 0 else values


@kernel
def _total(values):
    here = values[1:]
    total = 0
    for i in range(here.size):
        total += here[i]
    return total


def read(values):
    return _total(values) + _total(values[::-1]) + values.size


def give_back(values):
    return _itself(_itself(values, 0), 0)


def give_longer(values):
    return _with_room(_with_room(values, 0), 3)


def give_part(values):
    return values[2:]


def give_both(values):
    return values, _with_room(values[1:], 0)


def keep_for_a_while(values):
    kept = _with_room(values, 2)
    for _ in range(3):
        kept = _with_room(kept, 1)
        values[0] += _total(_itself(kept, 0)) - _total(kept)
    return _total(kept)


def copy_part(values):
    values[:2] = values[2:4]
    return values[0]


def pick(values):
    return _total(values[values > 103])


def take_turns(values):
    here, there = values, np.zeros(values.size, dtype=np.int64)
    for _ in range(5):
        there[:] = here
        here, there = there, here
    return _total(here)


def keep_some(values):
    both = (values, _with_room(values, 1))
    first, last = both
    for _ in range(3):
        last = _with_room(both[1], 1)
    return _total(first) + last[-2]


def find_items(values):
    square = values.reshape(4, 5)
    square[-1, 0] = values[np.uint8(15)]
    return square[-1, -2] + values[-1] + square[1, np.uint8(2)]


@pytest.fixture
def held():
    """How many pieces of memory Numba holds."""
    from numba.core.runtime import _nrt_python, rtsys

    counted = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()

    def count():
        gc.collect()
        stats = rtsys.get_allocation_stats()
        return stats.alloc - stats.free, stats.mi_alloc - stats.mi_free

    yield count
    if not counted:
        _nrt_python.memsys_disable_stats()


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (read, lambda v: 2 * v.sum() - v[0] - v[-1] + v.size),
        (give_back, lambda v: v),
        (give_longer, lambda v: np.append(v, [0, 0, 0])),
        (give_part, lambda v: v[2:]),
        (give_both, lambda v: np.append(v, v[1:])),
        (keep_for_a_while, lambda v: v[1:].sum()),
        (copy_part, lambda v: v[2]),
        (pick, lambda v: v[v > 103][1:].sum()),
        (take_turns, lambda v: v[1:].sum()),
        (keep_some, lambda v: v[1:].sum()),
        (find_items, lambda v: v[18] + v[19] + v[7]),
    ],
)
def test_references_to_arrays_are_counted_where_they_are_kept(function, expected, held):
    """An array that is given is as alive as before; what is returned has its own reference, and no more."""
    run = compiled(function)
    values = np.arange(100, 120)
    run(values)
    references, pieces = sys.getrefcount(values), held()
    for _ in range(50):
        found = run(values)
        parts = found if isinstance(found, tuple) else (found,)
        np.testing.assert_array_equal(np.hstack([np.ravel(part) for part in parts]), expected(values).ravel())
    del found, parts
    assert sys.getrefcount(values) == references
    assert held() == pieces


class Shelf(NamedTuple):
    values: np.ndarray
    table: np.ndarray
    weight: float


class House(NamedTuple):
    shelf: Shelf
    floors: int
    pair: tuple[np.ndarray, bool]


def weigh(house):
    total = house.shelf.weight * house.floors
    for i in range(house.shelf.values.size):
        total += house.shelf.values[i]
    return total + house.shelf.table[1, 2] + house.pair[0][0] * house.pair[1]


def move_in(house):
    return house.shelf.table, house.pair[0], weigh_compiled(house)


weigh_compiled = kernel(weigh)


@pytest.mark.parametrize("function", [weigh, move_in])
def test_tuples_of_arrays_and_numbers_are_taken_as_they_are(function, held):
    run = compiled(function)
    values, table = np.arange(5.0), np.arange(12, dtype=np.int16).reshape(3, 4)[:, ::-1]
    one = np.array([7], dtype=np.uint8)
    house = House(Shelf(values, table, 0.5), 3, (one, True))
    run(house)
    arrays = (values, table, one)
    references, pieces = [sys.getrefcount(array) for array in arrays], held()
    for _ in range(20):
        found = run(house)
        assert (found if function is weigh else found[2]) == 1.5 + 10 + 5 + 7
        if function is move_in:
            np.testing.assert_array_equal(found[0], table)
    del found
    assert [sys.getrefcount(array) for array in arrays] == references
    assert held() == pieces


def make(size):
    return np.zeros(size, dtype=np.complex64)


def make_rows(size):
    return np.zeros((size, 3))


def make_cells(size):
    return np.zeros((size, 2, 3), dtype=np.bool_)


def make_numbers(size):
    return np.zeros(size, np.dtype(np.uint16))


def make_floats(size):
    made = np.empty((size, 2), dtype=float)
    made[:] = 0
    return made


@pytest.mark.parametrize("function", [make, make_rows, make_cells, make_numbers, make_floats])
def test_new_arrays_are_those_of_numpy(function, held):
    run = compiled(function)
    run(1)
    pieces = held()
    for size in (0, 1, 5):
        found, expected = run(size), function(size)
        assert (found.dtype, found.flags.c_contiguous) == (expected.dtype, True)
        np.testing.assert_array_equal(found, expected)
    del found
    assert held() == pieces
    with pytest.raises(ValueError, match="negative dimensions"):
        run(-1)


def fill(size):
    return np.full(size, 3, dtype=np.int16)


def fill_two(size):
    return np.full(size, 3, dtype=np.int16), np.full_like(np.zeros(size, dtype=np.int16), 3)


def test_functions_of_numba_are_compiled_once_for_all_kernels():
    from numba.core import event

    seen = []

    class Listener(event.Listener):
        def on_start(self, event):
            seen.append((event.data["dispatcher"].py_func.__code__, event.data["args"]))

        def on_end(self, event):
            pass

    with event.install_listener("numba:compile", Listener()):
        for function in (fill, fill_two):
            compiled(function)(4)
    assert len(seen) == len(set(seen)) > 3


@pytest.mark.parametrize("collecting", [True, False])
@pytest.mark.parametrize("fails", [True, False])
def test_functions_of_others_are_compiled_as_ever(fails, collecting):
    import numba
    from numba.core import errors, types
    from numba.core.dispatcher import _FunctionCompiler
    from numba.core.postproc import PostProcessor

    def surroundings():
        colours, calls = errors.termcolor().errmsg("wrong"), types.BaseFunction.get_call_type
        return _FunctionCompiler._customize_flags, colours, calls, PostProcessor.run

    before, was = surroundings(), gc.isenabled()
    (gc.enable if collecting else gc.disable)()
    try:
        if fails:
            with pytest.raises(numba.TypingError):
                compiled(lambda values: values.nothing)(1)
        else:
            compiled(make)(2)
        assert gc.isenabled() == collecting
    finally:
        (gc.enable if was else gc.disable)()
    assert surroundings() == before
    np.testing.assert_array_equal(numba.njit(error_model="numpy")(make)(3), [0, 0, 0])


def test_a_numba_that_is_not_known_compiles_in_its_own_way(monkeypatch):
    from edgecritic.kernels import _compile

    monkeypatch.setattr(_compile.numba, "__version__", "9.1.0")
    made = compiled(give_longer)
    assert made(np.arange(3)).tolist() == [0, 1, 2, 0, 0, 0]
    assert "edgecritic" not in made._compiler.pipeline_class.__module__
    monkeypatch.undo()
    made = compiled(give_longer)
    assert made(np.arange(3)).tolist() == [0, 1, 2, 0, 0, 0]
    assert "edgecritic" in made._compiler.pipeline_class.__module__


@kernel
def _sum_with_prefetch(values, ahead):
    total = 0
    for at in range(values.size):
        prefetch(values, np.uint64(at + ahead))
        total += values[at]
    return total


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_memory_is_fetched_early_even_behind_the_end(dtype):
    """It is an instruction of the processor, which never fails and changes nothing."""
    values = np.arange(100, dtype=dtype)
    made = compiled(_sum_with_prefetch.py_func)
    assert made(values, 8) == made(values, 2**40) == values.sum()
    assert "call void @llvm.prefetch" in made.inspect_llvm(made.signatures[0])
    assert prefetch(values, np.uint64(3)) is None
