"""What the benchmark scripts share: a bar, fair timing, and where the real data is."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat


@dataclass(frozen=True)
class Bar:
    """One measured figure beside what it has to be; `met` is None where it could not be measured."""

    part: str
    what: str
    measured: str
    bar: str
    met: bool | None


def data_root() -> Path:
    """Return $EDGECRITIC_DATA, else ../shared/data beside the project."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    root = Path(os.environ.get("EDGECRITIC_DATA", beside))
    if not root.is_dir():
        raise SystemExit(f"the real data is not at {root}; set EDGECRITIC_DATA")
    return root


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def best(call: Callable[[], Any], repeats: int = 5) -> float:
    """Return the shortest of some runs, after one that is not counted."""
    call()
    return min(seconds(call) for _ in range(repeats))


def boundaries(path: Path) -> list[np.ndarray]:
    return [one["Boundaries"][0, 0].astype(bool) for one in loadmat(path)["groundTruth"][0]]


def ucm(path: Path) -> np.ndarray:
    return loadmat(path)["ucm2"][2::2, 2::2]


def child(code: str, **environment: str) -> tuple[float, float, str]:
    """Run Python code in a new process; return seconds, peak memory in MiB, and what it printed."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    spent = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return spent, peak, done.stdout
