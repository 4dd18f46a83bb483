"""Whole runs of ``edgecritic bench``: beside reading the files, on two cores, and with the interpreter lock.

python benchmarks/whole_runs.py HOME  judges the maps of HOME in one thread and prints at how many moments,
in per cent, the interpreter lock was held.
"""

from __future__ import annotations

import ctypes
import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bars import Figure, Given, MissingError, check, child
from network_maps import write_maps

PART = "boundary"

READING = """
import sys, time
from edgecritic.datasets.cases import find_cases
cases = find_cases(*sys.argv[1:])
start = time.perf_counter()
for case in cases:
    case.load_strength(), case.load_truths()
print(time.perf_counter() - start)
"""
COMMAND = """
import sys
sys.path.insert(0, sys.argv[1])
from growth import peak_memory
from edgecritic.cli.main import main
status = main(sys.argv[2:])
print(peak_memory())
sys.exit(status)
"""


@check(
    PART,
    (
        "edgecritic bench, 100 ucm2/val maps, 2 jobs, with report, human level known from an earlier run",
        "≤ 4 times reading the 200 files",
    ),
    ("the same, first run on these truths", "≤ 5 times reading the 200 files"),
    ("its peak memory", "≤ 600 MiB"),
    needs=("bsds500", "matplotlib"),
)
def whole_command(given: Given) -> Iterator[Figure]:
    """The shortest of some runs each, in turn; reading is that of one thread."""
    maps, truths = (str(given.data / "bsds500" / name / "val") for name in ("ucm2", "groundTruth"))
    spent: dict[str, list[float]] = {"known": [], "first": []}
    read, peak = [], 0.0
    with tempfile.TemporaryDirectory() as home:
        for number in range(given.size(2, 4)):
            # Each pair has a cache of its own: the first run fills it, the second uses it.
            kept = {"EDGECRITIC_CACHE": str(Path(home) / f"cache-{number}")}
            for way in ("first", "known"):
                out = str(Path(home) / f"{way}-{number}")
                words = ["bench", f"ucm={maps}", "--truth", truths, "--out", out, "--jobs", "2"]
                took, said = child("-c", COMMAND, str(Path(__file__).parent), *words, **kept)
                spent[way].append(took)
                peak = max(peak, int(said.split()[-1]) / 2**20)
            read.append(float(child("-c", READING, maps, truths)[1]))
    for way, bar in (("known", 4), ("first", 5)):
        ratio = min(spent[way]) / min(read)
        text = f"{min(spent[way]):.1f} s, {ratio:.1f} times reading ({min(read):.2f} s)"
        yield Figure(text, ratio <= bar, ratio)
    yield Figure(f"{peak:.0f} MiB", peak <= 600)


_kept: list[tempfile.TemporaryDirectory[str]] = []


@cache
def network_maps(data: Path, count: int) -> Path:
    """Return a folder with maps as of a network, and their truths; a cache of truths is beside them."""
    _kept.append(tempfile.TemporaryDirectory(prefix="network-"))
    home = Path(_kept[-1].name)
    write_maps(data, home, count)
    return home


@check(
    PART,
    ("bench --jobs 2 against --jobs 1, 200 network maps with NMS, with report", "≥ 1.85×"),
    needs=("bsds500", "matplotlib"),
)
def two_jobs(given: Given) -> Iterator[Figure]:
    """The shortest of some runs of each, in turn, with the human level known."""
    home = network_maps(given.data, given.size(40, 200))
    words = ["-m", "edgecritic", "bench", f"net={home / 'maps'}", "--truth", str(home / "truth")]
    words += ["--nms", "hed", "--out"]
    kept = {"EDGECRITIC_CACHE": str(home / "cache")}
    child(*words, str(home / "first"), **kept)
    spent: dict[int, list[float]] = {1: [], 2: []}
    for number in range(given.size(2, 4)):
        for jobs, runs in spent.items():
            runs.append(child(*words, str(home / f"{jobs}-{number}"), "--jobs", str(jobs), **kept)[0])
    one, two = (min(runs) for runs in spent.values())
    yield Figure(f"{one / two:.2f}× ({one:.1f} s and {two:.1f} s)", one >= 1.85 * two)


@check(
    PART,
    ("share of a task's time with the interpreter lock held, bench of network maps with NMS", "≤ 6 %"),
    needs=("bsds500",),
)
def lock_held(given: Given) -> Iterator[Figure]:
    """Judge maps in one thread; see `measure` for what another one measures meanwhile."""
    home = network_maps(given.data, given.size(40, 200))
    kept = {"EDGECRITIC_CACHE": str(home / "lock-cache")}
    watcher()  # or say what is missing
    runs = [json.loads(child(str(Path(__file__)), str(home), **kept)[1]) for _ in range(3)]
    found = sorted(runs, key=lambda one: one["held"])[1]
    text = f"{found['held']:.1f} % of {found['moments']:,} moments in {found['seconds']:.1f} s"
    yield Figure(text, found["held"] <= 6)


_PAUSE = 20  # microseconds, and what the system adds to it
_BEGUN, _ENDED = 0, 1

Watch = Callable[["np.ndarray", "np.ndarray"], None]


def watcher() -> Watch:
    """Return what looks, from outside, whether a thread holds the interpreter lock, again and again.

    It is called with two flags, whether to look and whether to stop, and with where to count the moments at
    which it looked and those at which the lock was held. It never takes the lock itself, and is compiled, so
    who is watched does not notice. Up to 3.11 one variable of Python names the thread that has the lock;
    from 3.12 on every thread has its own.
    """
    import numba

    if sys.version_info >= (3, 12):
        raise MissingError("only Python 3.11 shows from outside whether its lock is held")
    try:
        rest, holder = ctypes.CDLL(None).usleep, ctypes.CDLL(None)._PyThreadState_UncheckedGet
    except (AttributeError, OSError, TypeError) as error:
        raise MissingError("no usleep, or no symbols of Python, in this process") from error
    rest.argtypes, holder.argtypes, holder.restype = [ctypes.c_uint], [], ctypes.c_size_t

    @numba.njit(nogil=True)
    def watch(flags: np.ndarray, counts: np.ndarray) -> None:
        while flags[_ENDED] == 0:
            rest(_PAUSE)
            if flags[_BEGUN]:
                counts[0] += 1
                counts[1] += holder() != 0

    watch(np.ones(2, dtype=np.int64), np.zeros(2, dtype=np.int64))
    return watch


def measure(home: Path) -> dict[str, float]:
    """Judge all maps of a folder, once to compile and to know the truths, and once in a thread, watched.

    The process is prepared as that of the command is: searches for garbage, which hold the lock, and memory
    that is given back are not what tasks do.
    """
    from edgecritic.cli.main import prepare_process
    from edgecritic.protocols.presets import get_protocol
    from edgecritic.run.bench import run_bench

    prepare_process()
    protocol = get_protocol("bsds").with_nms("hed")
    flags, counts = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64)

    def step(number: int, total: int) -> None:
        """Begin when the first task has ended, so that starting and summing up are no part of it."""
        flags[_BEGUN] = 1
        flags[_ENDED] = number == total

    def run(out: str, **more: Any) -> None:
        run_bench({"net": home / "maps"}, home / "truth", protocol=protocol, jobs=1, draws=0, out=out, **more)

    watch = watcher()
    with tempfile.TemporaryDirectory() as folder:
        run(f"{folder}/first")
        worker = threading.Thread(target=run, args=(f"{folder}/second",), kwargs={"progress": step})
        worker.start()
        start = time.perf_counter()
        watch(flags, counts)
        spent = time.perf_counter() - start
        worker.join()
    return {"held": 100 * counts[1] / counts[0], "moments": int(counts[0]), "seconds": spent}


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
