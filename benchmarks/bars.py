"""What the benchmark scripts share: bars, fair timing, and where the real data is.

A part is a module whose functions are made checks by `check`: the function measures one or several bars,
which are named beforehand, so that the table has a line for each even where it cannot be measured.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.io import loadmat

NO_BAR = "none, for information"
ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path(os.environ.get("EDGECRITIC_BENCH_SOURCE") or ROOT / "src")
"""The package that is measured: that of this folder, or of another revision (`against.py`)."""


@dataclass(frozen=True)
class Bar:
    """One measured figure beside what it has to be; `met` is None where it could not be measured."""

    part: str
    what: str
    measured: str
    bar: str
    met: bool | None
    failed: bool = False
    """Whether the measurement itself ended with an exception."""
    seconds: float = 0.0
    """How long it took to measure."""
    value: float | None = None
    """The number that is compared with those of other revisions, None where the words begin with it."""

    @property
    def better(self) -> str:
        """What is better by the sign of the bar: "lower" (≤), "higher" (≥), or neither.

        Examples
        --------
        >>> Bar("matching", "thin", "38×", "≥ 8×", True).better
        'higher'
        """
        sign = re.search("[≤≥]", self.bar)
        return {"≤": "lower", "≥": "higher"}[sign[0]] if sign else ""

    @property
    def number(self) -> float | None:
        """The number that is compared: `value`, or the first of the words; None where none is better.

        Examples
        --------
        >>> Bar("boundary", "bench", "7.2 s, 6.3 times reading", "≤ 8 s", True).number
        7.2
        """
        if self.failed or not self.better or self.measured.startswith("not measured"):
            return None
        if self.value is not None:
            return self.value
        found = re.search(r"\d[\d,]*(\.\d+)?(e-?\d+)?", self.measured)
        return float(found[0].replace(",", "")) if found else None


class Figure(NamedTuple):
    """What was measured for one bar, in words, and whether it is enough (None where there is no bar).

    `value` is the number by which revisions are compared, where it is not the first of the words.
    """

    measured: str
    met: bool | None
    value: float | None = None


@dataclass(frozen=True)
class Given:
    """What a run has: the real data, if they are there, and whether it should be short."""

    data: Path | None
    quick: bool = False

    def size(self, quick: int, full: int) -> int:
        return quick if self.quick else full


class MissingError(Exception):
    """Something that a measurement needs is not there; the message says what and how to get it."""


@dataclass(frozen=True)
class Check:
    """A function that measures bars, with the names of the bars (what, bar) in their order."""

    part: str
    rows: tuple[tuple[str, str], ...]
    needs: tuple[str, ...]
    function: Callable[[Given], Iterator[Figure]]

    def measure(self, given: Given) -> Iterator[Bar]:
        """Yield a line for every bar, whatever happens."""
        left = list(self.rows)
        failed = True
        try:
            for need in self.needs:
                require(need, given)
            compile_all()
            for figure in self.function(given):
                what, bar = left.pop(0)
                met = None if figure.met is None else bool(figure.met)
                yield Bar(self.part, what, figure.measured, bar, met, value=figure.value)
            reason = "error: nothing was measured"
        except (MissingError, ModuleNotFoundError) as error:
            failed = (getattr(error, "name", None) or "").startswith("edgecritic")
            reason = f"not measured: {error}"
        except Exception as error:  # noqa: BLE001 - one broken measurement must not end the others
            reason = f"error: {in_words(error)}"
        for what, bar in left:
            yield Bar(self.part, what, reason, bar, None, failed)


CHECKS: list[Check] = []
"""All checks of the parts that were imported, in the order in which they were written."""


def check(part: str, *rows: tuple[str, str], needs: tuple[str, ...] = ()) -> Callable[[Any], Any]:
    """Make a function a check of these bars; `needs` names packages or keys of `PLACES`."""

    def register(function: Callable[[Given], Iterator[Figure]]) -> Callable[[Given], Iterator[Figure]]:
        CHECKS.append(Check(part, rows, needs, function))
        return function

    return register


def compile_all() -> None:
    """Let every kernel be compiled, even for little work; packages that have no such choice always do."""
    with suppress(ImportError):
        from edgecritic.kernels._jit import always_compiled

        always_compiled()


def data_root() -> Path | None:
    """Return $EDGECRITIC_DATA, else ../shared/data beside the project, else nothing."""
    root = Path(os.environ.get("EDGECRITIC_DATA") or ROOT.parent / "shared" / "data")
    return root if root.is_dir() else None


PLACES = {
    "bsds500": "bsds500/ucm2/val",
    "bsds_bench": "bsds_bench/groundTruth",
    "mni152": "mni152",
    "sbd_bench": "sbd_bench/datadir",
    "golden": "../golden",
}
"""Parts of the real data, and where each is below the folder of the data."""


def require(need: str, given: Given) -> None:
    """Raise in words unless there is a part of the data, a program, a long run, or a package."""
    if need in PLACES:
        if given.data is None or not (given.data / PLACES[need]).is_dir():
            raise MissingError(f"no {need} among the real data (EDGECRITIC_DATA)")
    elif need == "chromium":
        if not browser_path():
            raise MissingError("Chromium is not installed")
    elif need == "time":
        if given.quick:
            raise MissingError("left out by --quick")
    elif importlib.util.find_spec(need) is None:
        raise MissingError(f"{need} is not installed")


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def browser_path() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


def in_words(error: Exception) -> str:
    """Return one line: what kind of error, and what it says last."""
    text = str(error)
    if isinstance(error, subprocess.CalledProcessError):
        said = (error.stderr or error.stdout or "").strip()
        text = f"status {error.returncode}, {said.splitlines()[-1] if said else 'nothing said'}"
    return f"{type(error).__name__}: {' '.join(text.split())[:300]}"


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def best(call: Callable[[], Any], repeats: int = 5) -> float:
    """Return the shortest of some runs, after one that is not counted."""
    call()
    return min(seconds(call) for _ in range(repeats))


def beside(ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int = 7) -> tuple[float, float]:
    """Return the shortest of some runs of each; they alternate, so that a busy machine slows both."""
    ours()
    theirs()
    runs = [(seconds(ours), seconds(theirs)) for _ in range(repeats)]
    return min(run[0] for run in runs), min(run[1] for run in runs)


def cpu(
    call: Callable[[], Any],
    repeats: int = 5,
    *,
    warm: bool = True,
    clock: Callable[[], float] = time.thread_time,
) -> float:
    """Return the least CPU time in seconds, of this thread or by another clock, after one run not counted."""
    if warm:
        call()
    times = []
    for _ in range(repeats):
        start = clock()
        call()
        times.append(clock() - start)
    return min(times)


def boundaries(path: Path) -> list[np.ndarray]:
    return [one["Boundaries"][0, 0].astype(bool) for one in loadmat(path)["groundTruth"][0]]


def ucm(path: Path) -> np.ndarray:
    return loadmat(path)["ucm2"][2::2, 2::2]


@functools.cache
def annotated_pair(data: Path | None) -> tuple[np.ndarray, np.ndarray]:
    """Return two annotators' maps of one image of 481×321 pixels, or drawn ones where there is no data."""
    path = data / "bsds_bench/groundTruth/2018.mat" if data else None
    if path and path.exists():
        first, second = boundaries(path)[:2]
        return first, second
    from scipy import ndimage

    rng = np.random.default_rng(0)
    smooth = [ndimage.gaussian_filter(rng.random((321, 481)), 12) > 0.5 for _ in range(2)]
    first, second = (mask & ~ndimage.binary_erosion(mask) for mask in smooth)
    return first, second


def surroundings(source: Path = SOURCE, **more: str) -> dict[str, str]:
    """Return the environment of a new process that imports the package that is measured, wherever it runs.

    As after an installation, byte code is kept beside the modules.
    """
    path = os.pathsep.join(filter(None, [str(source), os.environ.get("PYTHONPATH")]))
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": path, **more}


def child(*arguments: str, cwd: Path | None = None, limit: float = 900, **more: str) -> tuple[float, str]:
    """Run this Python with arguments in a new process; return seconds and what it printed."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=surroundings(**more),
        capture_output=True,
        text=True,
        check=True,
        timeout=limit,
    )
    return time.perf_counter() - start, done.stdout


def run_tests(*arguments: str, limit: float = 900) -> Figure:
    """Run some of the project's tests; met if none failed."""
    require("pytest", Given(None))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=ROOT,
        env=surroundings(),
        capture_output=True,
        text=True,
        check=False,
        timeout=limit,
    )
    lines = done.stdout.strip().splitlines()
    said = re.sub(r"^=+ | =+$", "", lines[-1]) if lines else done.stderr.strip()[-200:]
    return Figure(said, done.returncode == 0)
