"""The benchmark on a local Dask cluster beside jobs in one process."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bars import Figure, Given, check, child, free_port, surroundings

PART = "annotators"


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[str]:
    """Start a scheduler and workers of one thread each on loopback; yield the address."""
    address = f"tcp://127.0.0.1:{(port := free_port())}"
    here = ["--host", "127.0.0.1", "--no-dashboard"]
    commands = [["scheduler", *here, "--port", str(port)]]
    work = ["worker", address, *here, "--nthreads", "1", "--no-nanny", "--local-directory", str(folder)]
    commands += [work] * workers
    with ExitStack() as stack, (folder / "log").open("ab") as log:
        for name, *words in commands:
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{name}", *words],
                stdout=log,
                stderr=log,
                env=surroundings(),
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield address


@check(
    PART,
    ("Dask, 2 workers, against --jobs 2, bench of ucm2/val", "≤ 1.5 times, the same results.json"),
    needs=("bsds500", "distributed"),
)
def beside_jobs(given: Given) -> Iterator[Figure]:
    """The best of some runs each; the workers have compiled before."""
    maps, truths = (str(given.data / "bsds500" / name / "val") for name in ("ucm2", "groundTruth"))
    with tempfile.TemporaryDirectory() as name, cluster(Path(name), 2) as address:
        ways = {"jobs": ["--jobs", "2"], "dask": ["--cluster", address]}
        words = ["-m", "edgecritic", "bench", f"ucm={maps}", "--truth", truths]
        spent: dict[str, list[float]] = {way: [] for way in ways}
        documents = set()
        for run in range(given.size(2, 4)):
            for way, options in ways.items():
                out = Path(name) / f"{way}-{run}"
                spent[way].append(child(*words, *options, "--out", str(out))[0])
                documents.add((out / "results.json").read_bytes())
    jobs, dask = (min(spent[way][1:]) for way in ways)
    same = "the same bytes" if len(documents) == 1 else "DIFFERENT bytes"
    yield Figure(f"{dask:.1f} s, {dask / jobs:.2f} times, {same}", dask <= 1.5 * jobs and len(documents) == 1)
