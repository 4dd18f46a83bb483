"""The command ``edgecritic bench``: how long, how much memory, what a kill leaves, and bad files."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bars import Figure, Given, check, child, run_tests, surroundings
from edgecritic.datasets.synthetic import write

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
    ("edgecritic bench, 100 ucm2/val maps, 2 jobs, with report", "≤ 6 times reading the 200 files"),
    ("its peak memory", "≤ 600 MiB"),
    needs=("bsds500", "matplotlib"),
)
def whole_command(given: Given) -> Iterator[Figure]:
    maps, truths = (str(given.data / "bsds500" / name / "val") for name in ("ucm2", "groundTruth"))
    spent, read, peak = [], [], 0.0
    for _ in range(given.size(2, 3)):
        with tempfile.TemporaryDirectory() as folder:
            words = ["bench", f"ucm={maps}", "--truth", truths, "--out", folder, "--jobs", "2"]
            took, said = child("-c", COMMAND, str(Path(__file__).parent), *words)
        spent.append(took)
        peak = max(peak, int(said.split()[-1]) / 2**20)
        read.append(float(child("-c", READING, maps, truths)[1]))
    ratio = min(spent) / min(read)
    yield Figure(f"{min(spent):.1f} s, {ratio:.1f} times reading ({min(read):.2f} s)", ratio <= 6)
    yield Figure(f"{peak:.0f} MiB", peak <= 600)


@check(
    PART, ("results.json after SIGKILL 20 times and another start; 1, 2, 4 jobs", "the bytes of a calm run")
)
def killed(given: Given) -> Iterator[Figure]:
    """Kill runs at random moments; after another start, with another number of jobs, nothing may differ."""
    times, draw = given.size(3, 20), random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        write(home / "data", 12)
        folders = [f"{path.name}={path}" for path in sorted((home / "data/predictions").iterdir())]
        words = ["-m", "edgecritic", "bench", *folders, "--truth", str(home / "data/truth"), "--out"]
        span, _ = child(*words, str(home / "calm"))
        calm = (home / "calm/results.json").read_bytes()
        different = in_the_middle = 0
        for k in range(times):
            out, jobs = home / f"killed-{k}", (1, 2, 4)
            process = subprocess.Popen(
                [sys.executable, *words, str(out), "--jobs", str(jobs[k % 3])],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=surroundings(),
            )
            time.sleep(draw.uniform(0.2, 0.9) * span)
            process.kill()
            in_the_middle += process.wait() < 0
            child(*words, str(out), "--jobs", str(jobs[(k + k // 3) % 3]))
            different += (out / "results.json").read_bytes() != calm
    text = f"{different} of {times} differ; {in_the_middle} were killed before they ended"
    yield Figure(text, different == 0)


@check(
    PART,
    ("truncated, random, wrong-typed and bomb-like files", "one line each, no hang, ≤ 1 GiB: tests pass"),
    needs=("pytest", "h5py"),
)
def hostile(given: Given) -> Iterator[Figure]:
    del given
    yield run_tests("tests/datasets/test_hostile_files.py", "tests/run/test_bench_hostile.py")
