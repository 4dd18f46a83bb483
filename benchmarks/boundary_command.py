"""The command ``edgecritic bench``: what a kill leaves, and bad files."""

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
