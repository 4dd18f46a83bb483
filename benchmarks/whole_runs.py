"""Whole runs of ``edgecritic bench``: beside reading the files, on two cores, and with the interpreter lock.

python benchmarks/whole_runs.py HOME  judges the maps of HOME in one thread and prints how often, in per cent,
another thread found the interpreter lock held.
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
    """Judge maps in one thread; see `measure` for what another one measures meanwhile.

    The median counts: a share that is found too small, as it sometimes is, is no better than the others.
    """
    home = network_maps(given.data, given.size(40, 200))
    kept = {"EDGECRITIC_CACHE": str(home / "lock-cache")}
    runs = [json.loads(child(str(Path(__file__)), str(home), **kept)[1]) for _ in range(given.size(3, 5))]
    found = sorted(runs, key=lambda one: one["held"])[len(runs) // 2]
    text = f"{found['held']:.1f} % of {found['samples']:,} moments in {found['seconds']:.1f} s"
    yield Figure(text, found["held"] <= 6)


_PAUSE = 200  # microseconds
_CLOCK = 1  # that of time.monotonic
_WAIT = 4000  # nanoseconds
"""Longer than the lock takes where nobody holds it, and shorter than a thread takes to be woken for it.

Few waits are between 1.5 and 12 µs, so it does not matter where in between this is.
"""


def compiled() -> tuple[Callable[[np.ndarray], None], Callable[[int], float]]:
    """Return a nap, which rests and then writes down the time, and work; both without the interpreter lock.

    They are compiled, so that nothing of the interpreter comes between the end of the rest and the clock.
    """
    import numba

    try:
        library = ctypes.CDLL(None)
        rest, read = library.usleep, library.clock_gettime
    except (AttributeError, OSError, TypeError) as error:
        raise MissingError("no clock_gettime in the C library here") from error
    rest.argtypes, read.argtypes = [ctypes.c_uint], [ctypes.c_int, ctypes.c_void_p]

    @numba.njit(nogil=True)
    def nap(there: np.ndarray) -> None:
        rest(_PAUSE)
        read(_CLOCK, there.ctypes)

    @numba.njit(nogil=True)
    def spin(times: int) -> float:
        total = 0.0
        for k in range(times):
            total += 0.5 * k % 3
        return total

    nap(np.zeros(2, dtype=np.int64))
    spin(1)
    return nap, spin


def waits(nap: Callable[[np.ndarray], None], done: threading.Event) -> list[int]:
    """Return how long, in nanoseconds, this thread waited for the lock at many moments until `done`.

    A moment is the end of a nap, when this thread has no lock. The nap ends with a look at the clock, and
    then the thread must have the lock before it looks at the clock again.
    """
    there, found = np.zeros(2, dtype=np.int64), []
    while not done.is_set():
        nap(there)
        found.append(time.clock_gettime_ns(_CLOCK) - (int(there[0]) * 1_000_000_000 + int(there[1])))
    return found


def free_share(nap: Callable[[np.ndarray], None], spin: Callable[[int], float]) -> float:
    """Return the share of waits that are long beside a thread that works without the lock."""
    ended = threading.Event()
    other = threading.Thread(target=lambda: (spin(150_000_000), ended.set()))
    other.start()
    found = waits(nap, ended)
    other.join()
    return float((np.array(found) > _WAIT).mean())


def measure(home: Path) -> dict[str, float]:
    """Judge all maps of a folder, once to compile and to know the truths, and once in a thread, measured.

    The main thread looks at the interpreter lock at moments that are spread evenly, so the share of time in
    which the lock is held is the share of moments at which it had to wait for long. As many as last so long
    where nobody holds the lock, which is measured first, are taken off.
    """
    from edgecritic.protocols.presets import get_protocol
    from edgecritic.run.bench import run_bench

    protocol = get_protocol("bsds").with_nms("hed")
    busy, done = threading.Event(), threading.Event()

    def step(number: int, total: int) -> None:
        """Begin when the first task has ended, so that starting and summing up are no part of it."""
        busy.set()
        if number == total:
            done.set()

    def run(out: str, **more: Any) -> None:
        run_bench({"net": home / "maps"}, home / "truth", protocol=protocol, jobs=1, draws=0, out=out, **more)

    with tempfile.TemporaryDirectory() as folder:
        run(f"{folder}/first")
        nap, spin = compiled()
        free = free_share(nap, spin)
        worker = threading.Thread(target=run, args=(f"{folder}/second",), kwargs={"progress": step})
        worker.start()
        busy.wait()
        start = time.perf_counter()
        found = np.array(waits(nap, done))
        spent = time.perf_counter() - start
        worker.join()
    share = max(0.0, float((found > _WAIT).mean()) - free)
    return {"held": 100 * share, "samples": found.size, "seconds": spent, "free": 100 * free}


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
