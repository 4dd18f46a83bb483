"""Small work is done before Numba is imported, with the same result; larger work, and much of it, is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import edgecritic

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="nothing is compiled")

HEAD = """
import sys
import numpy as np
from edgecritic import match
from edgecritic.kernels._jit import always_compiled
rng = np.random.default_rng(0)
"""


def run(code):
    place = str(Path(edgecritic.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", HEAD + code],
        env={**os.environ, "PYTHONPATH": place},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_small_pair_needs_no_compiler_and_is_matched_alike():
    code = """
pairs = [rng.random((2, *shape)) < 0.2 for shape in ((30, 40), (50, 9), (7, 8, 9))]
plain = [match(*pair, tolerance=3) for pair in pairs]
print("numba" in sys.modules)
always_compiled()
print(all(found == match(*pair, tolerance=3) for found, pair in zip(plain, pairs)), "numba" in sys.modules)
"""
    assert run(code) == ["False", "True", "True"]


def test_a_small_sweep_needs_no_compiler_and_counts_alike():
    code = """
from edgecritic.protocols.sweep import sweep
truth = np.zeros((20, 30), bool)
truth[10] = truth[:, 12] = True
moved = np.roll(truth, 1, axis=0)
given = [(moved * rng.random(truth.shape), truth)]
given.append(((truth | moved) * rng.random(truth.shape), [truth, truth[::-1]]))
plain = [sweep(*pair, protocol="bsds(relative_tolerance=0.05)") for pair in given]
print("numba" in sys.modules)
always_compiled()
compiled = [sweep(*pair, protocol="bsds(relative_tolerance=0.05)") for pair in given]
print(plain == compiled, plain[1].counts.matched_truth.max() > 30, "numba" in sys.modules)
"""
    assert run(code) == ["False", "True", "True", "True"]


def test_a_large_sweep_is_compiled():
    code = """
from edgecritic.protocols.sweep import sweep
sweep(rng.random((60, 60)), rng.random((60, 60)) < 0.1)
print("numba" in sys.modules)
"""
    assert run(code) == ["True"]


@pytest.mark.parametrize(("size", "times"), [(400, 1), (100, 30)])
def test_much_work_is_compiled(size, times):
    code = f"""
for _ in range({times}):
    match(*(rng.random((2, {size}, {size})) < 0.1), tolerance=3)
print("numba" in sys.modules)
"""
    assert run(code) == ["True"]


def test_kernels_of_other_threads_are_compiled_all_the_same():
    code = """
import threading
from edgecritic.kernels._jit import Kernel, plainly
seen = []
kernel = Kernel(lambda number: number + 1)
with plainly(1):
    thread = threading.Thread(target=lambda: seen.append((kernel(1), "numba" in sys.modules)))
    print(kernel(1), "numba" in sys.modules)
    thread.start()
    thread.join()
print(*seen[0])
with plainly(1):
    kernel(2)
print(len(kernel.compiled.overloads))
"""
    assert run(code) == ["2", "False", "2", "True", "1"]
