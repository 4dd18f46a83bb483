"""The wheel holds everything, and works in an empty folder with nothing else present."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import edgecritic

ROOT = Path(__file__).resolve().parents[1]
KERNELS = Path(edgecritic.__file__).parent / "kernels" / "__pycache__"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_one_version_everywhere():
    assert edgecritic.__version__ == PROJECT["version"]
    cited = re.search(r"^version: *\"?([0-9.]+)", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)
    assert cited
    assert cited[1] == PROJECT["version"]
    newest = re.search(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert newest
    assert newest[1] in ("Unreleased", PROJECT["version"])


def test_minimum_versions_are_those_that_were_tested():
    """benchmarks and tests of the lowest versions read this file; it must not fall behind."""
    tested = dict(
        line.split("==") for line in (ROOT / ".ci/minimum.txt").read_text(encoding="utf-8").split() if line
    )
    extras = PROJECT["optional-dependencies"]
    asked = [*PROJECT["dependencies"], *extras["report"], *extras["volumes"]]
    bounds = dict(item.split(">=") for item in asked)
    assert {name: version for name, version in tested.items() if name in bounds} == bounds


def test_the_recipe_asks_for_what_the_project_asks_for():
    text = (ROOT / "recipe/recipe.yaml").read_text(encoding="utf-8")
    assert f'version: "{PROJECT["version"]}"' in text
    assert [each for each in PROJECT["dependencies"] if f"- {each.replace('>=', ' >=')}\n" not in text] == []


def test_the_description_has_no_relative_links():
    hook = pytest.importorskip("hatchling") and runpy.run_path(str(ROOT / "hatch_build.py"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    relative = re.compile(r"\]\((?!https?:|#)")
    assert relative.search(readme)
    with_home = hook["published"](readme, "https://example.org/it/", "1.2")
    assert not relative.search(with_home)
    assert "https://example.org/it/raw/v1.2/docs/gallery/matching.png" in with_home
    without = hook["published"](readme, "", "1.2")
    assert not relative.search(without)
    assert "![" not in without


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel from a copy of what a clone holds."""
    pytest.importorskip("hatchling")
    home = tmp_path_factory.mktemp("wheel")
    copy = home / "clone"
    copy.mkdir()
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(home)],
        cwd=copy,
        check=True,
        capture_output=True,
    )
    (found,) = home.glob("*.whl")
    return found


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_the_package(wheel):
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    source = ROOT / "src"
    here = {
        path.relative_to(source).as_posix()
        for path in (source / "edgecritic").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert packed == here
    assert wheel.stat().st_size < 2_000_000, "is something in the wheel that does not belong there?"
    assert "edgecritic/py.typed" in packed


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_folder(wheel, tmp_path):
    """The unpacked wheel, without the source tree and without the optional matplotlib.

    Its kernels are those of the source tree, and so is their machine code: it is not compiled anew.
    """
    installed, empty = tmp_path / "installed", tmp_path / "empty"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    empty.mkdir()
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from edgecritic.cli.main import main; sys.exit(main(['demo', '--scenes', '2', '--jobs', '1']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=empty,
        env={"NUMBA_CACHE_DIR": str(KERNELS), **os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "figures are left out" in done.stderr
    assert (empty / "demo/report.html").stat().st_size > 10_000
