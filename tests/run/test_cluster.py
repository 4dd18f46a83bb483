"""Runs on a real Dask cluster of processes: lost workers, a lost scheduler, the same bytes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from edgecritic.datasets.synthetic import write
from edgecritic.errors import MissingExtraError
from edgecritic.run.bench import run_bench
from edgecritic.run.cluster import ClusterError
from edgecritic.run.executor import run_tasks

SOURCES = str(Path(__file__).resolve().parents[2] / "src")


class Cluster:
    """A scheduler and workers as processes of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.processes: list[subprocess.Popen[bytes]] = []
        self.scheduler = self.start_scheduler()

    def start_scheduler(self) -> subprocess.Popen[bytes]:
        host = ["--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"]
        self.scheduler = self._start("scheduler", *host)
        return self.scheduler

    def start_worker(self) -> subprocess.Popen[bytes]:
        options = ["--nthreads", "1", "--no-dashboard", "--no-nanny", "--host", "127.0.0.1"]
        return self._start("worker", self.address, *options, "--local-directory", str(self.folder))

    def _start(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        path = os.pathsep.join(filter(None, [SOURCES, os.environ.get("PYTHONPATH")]))
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *options]
        with (self.folder / f"{what}.log").open("ab") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=log, env={**os.environ, "PYTHONPATH": path}
            )
        self.processes.append(process)
        return process


@pytest.fixture
def cluster(tmp_path) -> Iterator[Cluster]:
    pytest.importorskip("distributed")
    folder = tmp_path / "dask"
    folder.mkdir()
    made = Cluster(folder)
    yield made
    for process in made.processes:
        process.kill()
        process.wait()


def squared(number: int) -> int:
    time.sleep(0.04)
    return number * number


@pytest.mark.slow
def test_lost_workers_and_schedulers_lose_no_task(cluster):
    first = cluster.start_worker()
    cluster.start_worker()
    # Sent by value: the workers cannot import this file.
    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[squared.__module__])
    found = []
    for result in run_tasks(squared, range(70), cluster=cluster.address):
        found.append(result)
        if len(found) == 10:
            os.kill(first.pid, signal.SIGKILL)
        if len(found) == 35:
            cluster.scheduler.kill()
            cluster.scheduler.wait()
            cluster.start_scheduler()
            cluster.start_worker()
    assert sorted(found) == [number * number for number in range(70)]


@pytest.mark.slow
def test_a_benchmark_is_the_same_on_a_cluster(cluster, tmp_path, monkeypatch):
    home = write(tmp_path / "data", 3)
    for _ in range(2):
        cluster.start_worker()
    monkeypatch.chdir(home)  # paths of the command line are relative; workers run elsewhere
    detectors = {name: f"predictions/{name}" for name in ("good", "noisy")}
    run_bench(detectors, "truth", out=tmp_path / "here", jobs=2, draws=10)
    run_bench(detectors, "truth", out=tmp_path / "there", cluster=cluster.address, draws=10)
    ours, theirs = tmp_path / "here", tmp_path / "there"
    assert (ours / "results.json").read_bytes() == (theirs / "results.json").read_bytes()
    records = sorted(path.relative_to(ours) for path in ours.rglob("*.json"))
    assert len(records) > 6  # results, and one for every image of every detector
    assert all((ours / name).read_bytes() == (theirs / name).read_bytes() for name in records)


def test_an_unreachable_scheduler_is_named(monkeypatch):
    pytest.importorskip("distributed")
    from edgecritic.run import cluster as module

    monkeypatch.setattr(module, "CONNECT_SECONDS", 0.5)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(ClusterError, match=f"no Dask scheduler answers at {address}"):
        list(run_tasks(squared, [1, 2], cluster=address))
    with pytest.raises(ClusterError, match="expected tcp://host:port"):
        list(run_tasks(squared, [1], cluster="nonsense://there"))


def test_the_extra_is_named_where_dask_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"edgecritic\[cluster\]"):
        list(run_tasks(squared, [1], cluster="tcp://127.0.0.1:1"))
