"""Threads that work while the caller goes on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from edgecritic.run.executor import resolve_jobs

__all__ = ["Crew"]

BACKLOG = 8
"""So many pieces of work per thread may wait; whoever brings more waits as well."""


class Crew:
    """Does work in threads and hands the results over in the order in which the work came.

    Threads are there only as long as work is: between epochs there are none, so that processes may be forked.

    Parameters
    ----------
    workers : int or None
        How many threads; ``None`` for one per core, 0 to work in the caller's own thread.

    Examples
    --------
    >>> crew = Crew(2)
    >>> for number in range(5):
    ...     crew.put(pow, number, 2)
    >>> crew.take()
    [0, 1, 4, 9, 16]
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = 0 if workers == 0 else resolve_jobs(workers)
        self._pool: ThreadPoolExecutor | None = None
        self._waiting: deque[Future[Any]] = deque()
        self._done: list[Any] = []

    def __len__(self) -> int:
        return len(self._waiting) + len(self._done)

    def put(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Begin a piece of work; an earlier one that failed raises its error here."""
        if self.workers == 0:
            self._done.append(function(*arguments))
            return
        while self._waiting and (self._waiting[0].done() or len(self._waiting) >= BACKLOG * self.workers):
            self._collect()
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="edgecritic")
        self._waiting.append(self._pool.submit(function, *arguments))

    def take(self) -> list[Any]:
        """Wait for all work and return the results since the last call."""
        while self._waiting:
            self._collect()
        self._close()
        done, self._done = self._done, []
        return done

    def drop(self) -> None:
        """Forget all work; what has not begun never will."""
        self._waiting.clear()
        self._done = []
        self._close()

    def _collect(self) -> None:
        try:
            self._done.append(self._waiting.popleft().result())
        except BaseException:
            self.drop()
            raise

    def _close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None
