"""Importing the package is quick, silent and leaves no trace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import edgecritic

SOURCE = Path(edgecritic.__file__).parents[1]
HEAVY = ["numba", "scipy", "matplotlib", "PIL", "skimage", "h5py", "nibabel", "ortools", "tqdm"]
HEAVY += ["torch", "pandas", "polars"]


def run_python(code: str, folder: Path) -> str:
    """Run code in a fresh interpreter with `folder` as home and working folder; return its stdout."""
    environment = {
        **os.environ,
        "HOME": str(folder),
        "XDG_CACHE_HOME": str(folder),
        "PYTHONPATH": str(SOURCE),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def loaded(statement: str, folder: Path) -> list[str]:
    return json.loads(
        run_python(f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))", folder)
    )


def test_import_loads_nothing_heavy(tmp_path):
    found = loaded("import edgecritic", tmp_path)
    assert not set(HEAVY) & set(found)
    # Not the time, which depends on the machine, but what it is spent on.
    own = [name for name in found if name.startswith("edgecritic")]
    assert len(own) <= 5, own


def test_help_loads_nothing_heavy(tmp_path):
    statement = (
        "import contextlib, io\nfrom edgecritic.cli.main import main\n"
        "with contextlib.redirect_stdout(io.StringIO()): main(['--help'])"
    )
    assert not {*HEAVY, "numpy"} & set(loaded(statement, tmp_path))


def test_public_names_are_found_on_first_use(tmp_path):
    run_python(
        "import edgecritic\nfor name in edgecritic.__all__: getattr(edgecritic, name)\n"
        "assert set(edgecritic.__all__) <= set(dir(edgecritic))",
        tmp_path,
    )


def test_unknown_public_name():
    with pytest.raises(AttributeError, match="no_such_name"):
        edgecritic.no_such_name  # noqa: B018


def test_importing_every_module_has_no_side_effects(tmp_path):
    code = """
import importlib, logging, os, pkgutil, random, signal, threading, warnings
import edgecritic
before = (list(logging.getLogger().handlers), logging.getLogger().level, dict(os.environ), os.getcwd(),
          random.getstate(), signal.getsignal(signal.SIGINT), warnings.showwarning, threading.active_count())
for module in pkgutil.walk_packages(edgecritic.__path__, "edgecritic."):
    if module.name != "edgecritic.torch":  # whose whole purpose is to load torch
        importlib.import_module(module.name)
after = (list(logging.getLogger().handlers), logging.getLogger().level, dict(os.environ), os.getcwd(),
         random.getstate(), signal.getsignal(signal.SIGINT), warnings.showwarning, threading.active_count())
assert before == after
"""
    assert run_python(code, tmp_path) == ""
    assert list(tmp_path.iterdir()) == []


def test_warmup_reaches_every_kernel(tmp_path):
    """Kernels that other kernels call are compiled with them; all others must have been called."""
    code = """
import importlib, pkgutil
import edgecritic.kernels
from edgecritic.kernels._jit import Kernel
from edgecritic.run.warmup import warm_up
assert not [part for part in warm_up() if part.skipped and "csa" not in part.name]
kernels = {}
for found in pkgutil.iter_modules(edgecritic.kernels.__path__, "edgecritic.kernels."):
    module = importlib.import_module(found.name)
    kernels |= {name: item for name, item in vars(module).items() if isinstance(item, Kernel)}
inner = {name for item in kernels.values() for name in item.py_func.__code__.co_names}
for name, item in kernels.items():
    if name not in inner and not item.compiled.overloads:
        print(name)
"""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") == "0":
        assert run_python(code, tmp_path) == ""
