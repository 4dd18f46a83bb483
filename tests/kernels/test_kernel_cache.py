"""The machine code on disk: never stale, never trusted when damaged, never needed."""

import errno
import os
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import edgecritic
from edgecritic.kernels._cache import MachineCode

PACKAGE = Path(edgecritic.__file__).parent
COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"

PROGRAM = """
import numpy as np
from edgecritic.kernels import probe
from edgecritic.kernels.probe_types import Both
found = probe.first(Both(left=np.array([1]), right=np.array([2])))
print(found, sum(probe.first.compiled.stats.cache_hits.values()))
"""
TYPES = """
from typing import NamedTuple
import numpy as np
class Both(NamedTuple):
    {}: np.ndarray
    {}: np.ndarray
"""
KERNEL = """
from edgecritic.kernels._jit import kernel
from edgecritic.kernels.probe_types import Both
@kernel
def first(both: Both) -> int:
    return both.left[0]
"""


@pytest.fixture
def package(tmp_path):
    """A copy of the kernels with one more, which takes its types from another file."""
    for room in ("__init__.py", "beside.py", "cores.py", "errors.py", "lazy.py"):
        (tmp_path / "edgecritic").mkdir(exist_ok=True)
        shutil.copy(PACKAGE / room, tmp_path / "edgecritic" / room)
    kernels = tmp_path / "edgecritic/kernels"
    shutil.copytree(PACKAGE / "kernels", kernels, ignore=shutil.ignore_patterns("__pycache__"))
    (kernels / "probe_types.py").write_text(TYPES.format("left", "right"))
    (kernels / "probe.py").write_text(KERNEL)
    return tmp_path


LOADED = """
import sys
loaded = "numba.np.arraymath" in sys.modules or "edgecritic.kernels._pipeline" in sys.modules
import numba
late = numba.njit(lambda values: np.sort(values).sum())(np.array([2, 1]))
assert (loaded, late) == ({}, 3), (loaded, late)
"""


def run(package, *, before="", more="", **environment):
    surroundings = {
        name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "COVERAGE"))
    }
    done = subprocess.run(
        [sys.executable, "-c", before + PROGRAM + more],
        cwd=package,
        env={**surroundings, "PYTHONPATH": str(package), "HOME": str(package / "home"), **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    value, hits = done.stdout.split()
    return int(value), int(hits), done.stderr


def kept(package):
    return sorted(package.rglob("probe.first-*.kernel"))


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_a_change_in_another_kernel_file_is_noticed(package):
    """The machine code knows fields by number: with the old code the swapped field would be read."""
    assert run(package)[:2] == (1, 0)
    assert run(package)[:2] == (1, 1)
    types = package / "edgecritic/kernels/probe_types.py"
    types.write_text(TYPES.format("right", "left"))
    assert run(package)[:2] == (1, 0)
    types.write_text(TYPES.format("left", "right"))
    assert run(package)[:2] == (1, 1)


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_code_from_the_disk_runs_without_what_numba_compiles_with(package):
    """Numba loads that later, where something is compiled after all."""
    assert run(package, more=LOADED.format(True))[1] == 0
    assert run(package, more=LOADED.format(False))[1] == 1


CALLED_BY_ANOTHER = """
from edgecritic.kernels._jit import kernel
@kernel
def twice(both):
    return 2 * probe.first(both)
assert twice(Both(left=np.array([1]), right=np.array([2]))) == 2
"""


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_a_kernel_on_disk_can_be_called_by_one_that_is_not(package):
    """What is on disk is for Python only; it is compiled again to be put into another kernel."""
    run(package)
    assert run(package, more=CALLED_BY_ANOTHER)[:2] == (1, 1)


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_settings_that_change_the_code_do_not_share_it(package):
    run(package)
    assert run(package, NUMBA_BOUNDSCHECK="1")[1] == 0
    assert run(package, NUMBA_NUM_THREADS="1")[1] == 1
    assert len({path.parent for path in kept(package)}) == 2


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_damaged_files_are_made_anew(package):
    run(package)
    (path,) = kept(package)
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    path.write_bytes(bytes(damaged))
    assert run(package) == (1, 0, "")
    assert run(package) == (1, 1, "")


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_a_folder_that_cannot_be_written_is_said_in_one_line(package):
    (package / "file").touch()
    value, hits, said = run(package, NUMBA_CACHE_DIR=str(package / "file/folder"))
    assert (value, hits) == (1, 0)
    assert len(re.findall("cannot be kept", said)) == 1
    assert "Traceback" not in said
    assert not kept(package)


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_a_read_only_package_uses_the_folder_of_the_user(package):
    (package / "edgecritic/kernels/__pycache__").mkdir()
    (package / "edgecritic/kernels/__pycache__/edgecritic-kernels").touch()
    assert run(package, XDG_CACHE_HOME=str(package / "mine")) == (1, 0, "")
    assert run(package, XDG_CACHE_HOME=str(package / "mine")) == (1, 1, "")


BESIDE = """
from edgecritic.kernels._jit import compile_beside
from edgecritic.kernels import _beside, probe
_beside.usable_cores = lambda: 2
started = compile_beside(probe.first, {!r})
assert not compile_beside(probe.first, "")
"""


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("program", "hits"), [(PROGRAM, 1), ("raise SystemExit(1)", 0), ("import time; time.sleep(600)", 0)]
)
def test_a_kernel_is_compiled_by_a_process_beside_or_here_if_that_fails_or_hangs(package, program, hits):
    beside = BESIDE.format(program) + ("_beside._PATIENCE = 0.1" if "sleep" in program else "")
    assert run(package, before=beside, more="assert started") == (1, hits, "")
    assert len(kept(package)) == 1
    assert run(package, before=beside, more="assert not started") == (1, 1, "")


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_nothing_is_compiled_beside_that_cannot_be_kept(package):
    (package / "a_file").touch()
    more = "assert not started"
    value, _, told = run(package, before=BESIDE.format(PROGRAM), more=more, NUMBA_CACHE_DIR="a_file")
    assert value == 1
    assert "cannot be kept" in told
    assert run(package, before=BESIDE.format(PROGRAM), more=more, EDGECRITIC_NUMBA_CACHE="0")[:2] == (1, 0)


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_two_programs_at_once(package):
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    environment = {**os.environ, "PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(package / "cache")}
    both = [
        subprocess.Popen(command, cwd=package, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [program.communicate(timeout=120)[0].split()[0] for program in both] == ["1", "1"]
    assert len(kept(package)) == 1
    assert not list(package.rglob("*.part"))


def test_without_the_compiler_and_without_the_cache(package):
    code = PROGRAM.replace("sum(probe.first.compiled.stats.cache_hits.values())", "0")
    environment = {**os.environ, "PYTHONPATH": str(package), "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=package,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout == "1 0\n", done.stderr
    if COMPILED:
        assert run(package, EDGECRITIC_NUMBA_CACHE="0") == (1, 0, "")
    assert not kept(package)


@pytest.fixture
def sources(tmp_path):
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources/one.py").write_text("1")
    return tmp_path / "sources"


def test_every_bit_is_guarded(sources, tmp_path):
    code = MachineCode(sources, lambda: [tmp_path / "cache"])
    code.write("name", b"machine code")
    path = code.folders[0] / "name"
    whole = path.read_bytes()
    for bit in range(8 * len(whole)):
        broken = bytearray(whole)
        broken[bit // 8] ^= 1 << bit % 8
        path.write_bytes(bytes(broken))
        assert code.read("name") is None
        assert not path.exists()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert code.read("name") is None
    path.write_bytes(whole)
    assert code.read("name") == b"machine code"


def test_a_full_disk_is_said_once_and_leaves_nothing(sources, tmp_path, monkeypatch):
    code = MachineCode(sources, lambda: [tmp_path / "cache"])

    def fill(path, content):
        path.open("wb").write(content[:3])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", fill)
    with warnings.catch_warnings(record=True, action="always") as told:
        code.write("one", b"machine code")
        code.write("two", b"machine code")
    (message,) = [str(warning.message) for warning in told if warning.category is UserWarning]
    assert "No space left on device" in message
    assert "\n" not in message
    assert list(code.folders[0].iterdir()) == []


def test_sources_that_change_in_a_running_program_end_the_use(sources, tmp_path):
    code = MachineCode(sources, lambda: [tmp_path / "cache"])
    code.write("name", b"old")
    (sources / "one.py").write_text("22")
    assert code.read("name") is None
    code.write("other", b"new")
    assert [path.name for path in code.folders[0].iterdir()] == ["name"]


def test_old_namespaces_are_removed(sources, tmp_path):
    """Those stay that were written or read last."""
    for version in range(30):
        (sources / "one.py").write_text(f"{version:09}")
        code = MachineCode(sources, lambda: [tmp_path / "cache"])
        code.write("name", b"machine code")
        os.utime(code.folders[0], (version, version))
        if version % 4 == 3:
            (sources / "one.py").write_text(f"{3:09}")
            assert MachineCode(sources, lambda: [tmp_path / "cache"]).read("name") == b"machine code"
    assert len(list((tmp_path / "cache").iterdir())) == 8


def test_the_first_folder_that_takes_it_is_used_and_all_are_read(sources, tmp_path):
    (tmp_path / "file").touch()
    code = MachineCode(sources, lambda: [tmp_path / "file/below", tmp_path / "second"])
    code.write("name", b"machine code")
    assert code.read("name") == b"machine code"
    assert (code.folders[1] / "name").exists()
