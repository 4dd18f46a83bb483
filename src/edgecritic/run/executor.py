"""The executor: the one place that decides where work runs."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from edgecritic.cores import usable_cores
from edgecritic.errors import InputError

__all__ = ["Progress", "run_tasks", "resolve_jobs", "absolute"]

Task = TypeVar("Task")
Progress = Callable[[int, int], None]

_PATIENCE = 0.5  # seconds


def resolve_jobs(jobs: int | None) -> int:
    """Return how many tasks run at a time: `jobs`, or one per core that may be used if it is ``None``."""
    if jobs is None:
        return usable_cores()
    if jobs < 1:
        raise InputError(f"jobs must be at least 1, got {jobs}")
    return jobs


def run_tasks(
    function: Callable[[Task], Any],
    tasks: Sequence[Task],
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> Iterator[Any]:
    """Yield ``function(task)`` for every task, as they finish.

    Tasks run in threads: kernels release the interpreter lock and share compiled code and memory. With
    one job everything runs in the caller's thread, in order. On a cluster they run in its workers.

    Parameters
    ----------
    function : callable
        Must not raise for a task that is merely bad: it returns the failure instead. For a cluster it
        must be importable by the workers.
    tasks : sequence
        For a cluster they must not name files by relative paths: see `absolute`.
    jobs : int, optional
    cluster : str, optional
        Address of a Dask scheduler, ``tcp://host:port``; `jobs` is not used then.
    progress : callable, optional
        Called with (done, total) after each task.
    """
    if cluster is not None:
        from edgecritic.run.cluster import run_on_cluster

        results: Iterable[Any] = run_on_cluster(function, tasks, cluster)
    else:
        results = _results(function, tasks, resolve_jobs(jobs))
    for done, result in enumerate(results, start=1):
        if progress is not None:
            progress(done, len(tasks))
        yield result


def absolute(path: str | Path | None) -> Path | None:
    """Return a path that means the same file to every process, whatever folder it runs in.

    Examples
    --------
    >>> absolute("results").is_absolute(), absolute(None)
    (True, None)
    """
    return None if path is None else Path(path).absolute()


def _results(function: Callable[[Task], Any], tasks: Sequence[Task], jobs: int) -> Iterable[Any]:
    if jobs == 1 or len(tasks) < 2:
        return map(function, tasks)
    return _in_threads(function, tasks, jobs)


def _in_threads(function: Callable[[Task], Any], tasks: Sequence[Task], jobs: int) -> Iterator[Any]:
    """Yield results as they come; after an error, or when nobody wants more of them, no task is begun.

    Every thread takes the next task itself, so that none waits for another one. They are daemons: a program
    that was told to stop does not wait for tasks that have begun.
    """
    todo = deque(tasks)
    done: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def work() -> None:
        while True:
            try:
                task = todo.popleft()
            except IndexError:
                return
            try:
                done.put((function(task), None))
            except BaseException as error:  # noqa: BLE001 - it is raised where the results are asked for
                todo.clear()
                done.put((None, error))

    for _ in range(min(jobs, len(tasks))):
        threading.Thread(target=work, daemon=True, name="edgecritic").start()
    try:
        for _ in tasks:
            result, error = _next(done)
            if error is not None:
                raise error
            yield result
    finally:
        todo.clear()


def _next(queue: SimpleQueue[Any]) -> Any:
    """Wait for an item; not in one piece, because on Windows nothing interrupts a thread that waits."""
    while True:
        with suppress(Empty):
            return queue.get(timeout=_PATIENCE)
