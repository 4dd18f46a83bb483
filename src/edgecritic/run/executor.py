"""The executor: the one place that decides where work runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from edgecritic.errors import InputError
from edgecritic.run.cores import usable_cores

__all__ = ["Progress", "run_tasks", "resolve_jobs", "absolute"]

Task = TypeVar("Task")
Progress = Callable[[int, int], None]


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
    from joblib import Parallel, delayed

    pool = Parallel(n_jobs=jobs, backend="threading", return_as="generator_unordered", batch_size=1)
    results: Iterable[Any] = pool(delayed(function)(task) for task in tasks)
    return results
