"""What a newcomer meets: the demo, the wheel in an empty folder, the documentation, the tests."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bars import ROOT, Figure, Given, MissingError, check, child, in_words, run_tests

PART = "adoption"


@check(PART, ("edgecritic demo, kernels compiled from nothing", "≤ 60 s"), needs=("matplotlib",))
def demo(given: Given) -> Iterator[Figure]:
    del given
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        spent, _ = child("-m", "edgecritic", "demo", cwd=home, NUMBA_CACHE_DIR=str(home / "cache"))
    yield Figure(f"{spent:.1f} s", spent <= 60)


@check(
    PART,
    ("wheel in a new environment: edgecritic demo in an empty folder", "works, ≤ 90 s after the downloads"),
    needs=("hatchling", "time"),
)
def wheel(given: Given) -> Iterator[Figure]:
    """The wheel alone leaves a report as text, and with the extra for reports, which is timed, as a page."""
    del given
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        child("-m", "hatchling", "build", "-t", "wheel", "-d", str(home / "dist"), cwd=ROOT)
        (made,) = (home / "dist").glob("*.whl")
        child("-m", "venv", str(home / "new"))
        binaries = home / "new" / ("Scripts" if os.name == "nt" else "bin")
        quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
        run = {"check": True, "capture_output": True, "text": True, "timeout": 900}
        alone = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        for extra, page in (("", "report.md"), ("[report]", "report.html")):
            try:
                subprocess.run([binaries / "python", "-m", "pip", "install", *quiet, f"{made}{extra}"], **run)
            except subprocess.CalledProcessError as error:
                raise MissingError(f"pip could not install the wheel ({in_words(error)})") from error
            empty = home / f"empty{extra}"
            empty.mkdir()
            alone["NUMBA_CACHE_DIR"] = str(home / f"cache{extra}")
            start = time.perf_counter()
            subprocess.run([binaries / "edgecritic", "demo"], cwd=empty, env=alone, **run)
            spent = time.perf_counter() - start
            report = (empty / "demo" / page).stat().st_size
    yield Figure(f"{made.name}: {spent:.1f} s, report of {report / 1e6:.1f} MB", spent <= 90)


@check(PART, ("documentation builds", "zero warnings"), needs=("mkdocs",))
def documentation(given: Given) -> Iterator[Figure]:
    del given
    with tempfile.TemporaryDirectory() as site:
        done = subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", site],
            cwd=ROOT,
            env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        pages = sum(1 for _ in Path(site).rglob("*.html"))
    said = (done.stdout + done.stderr).strip().splitlines()
    met = done.returncode == 0 and not said
    yield Figure(f"{pages} pages, {len(said)} lines of warnings" + (f": {said[-1]}" if said else ""), met)


@check(
    PART,
    ("documentation: internal links, examples, every option and id", "no dead link, all run: tests pass"),
    needs=("pytest",),
)
def documented(given: Given) -> Iterator[Figure]:
    del given
    yield run_tests("tests/test_docs.py")


@check(PART, ("all tests", "pass, ≤ 12 min"), needs=("pytest", "time"))
def suite(given: Given) -> Iterator[Figure]:
    del given
    start = time.perf_counter()
    found = run_tests(limit=3600)
    spent = (time.perf_counter() - start) / 60
    yield Figure(f"{found.measured}; {spent:.1f} min", found.met and spent <= 12)


@check(PART, ("branch coverage of src", "≥ 92 %"), ("mutants of each part killed by tests", "≥ 90 %"))
def left_out(given: Given) -> Iterator[Figure]:
    del given
    raise MissingError("needs many runs of all tests")
    yield
