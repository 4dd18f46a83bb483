"""Tasks on the workers of a Dask scheduler; what is lost on the way is done again."""

from __future__ import annotations

import importlib
import itertools
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from edgecritic.errors import EdgeCriticError, needs_extra

__all__ = ["ClusterError", "run_on_cluster"]

Task = TypeVar("Task")

CONNECT_SECONDS = 10
"""How long the first connection may take."""

RECONNECT_SECONDS = 60
"""How long a scheduler that was lost may stay away."""

MOST_LOSSES = 5
"""So often in a row, without one finished task in between, work may be lost."""

AHEAD = 5000
"""So many tasks are with the scheduler at a time."""


class ClusterError(EdgeCriticError):
    """A cluster cannot be reached, or lost its work again and again."""


def run_on_cluster(function: Callable[[Task], Any], tasks: Sequence[Task], address: str) -> Iterator[Any]:
    """Yield ``function(task)`` for every task, as they finish on the workers of a Dask scheduler.

    The tasks of a worker that is lost go to another one. If the scheduler is lost, this waits for it to
    come back at the same address and hands in again what had not finished.

    Parameters
    ----------
    function : callable
        Importable by the workers, which must have the same version of edgecritic.
    tasks : sequence
    address : str
        ``tcp://host:port``.

    Raises
    ------
    ClusterError
        If no scheduler answers, workers have another version, or work is lost again and again. Results
        that were yielded before stay valid.
    MissingExtraError
        If Dask is not installed.
    """
    with _quiet():
        yield from _with_reconnection(function, tasks, address)


def _with_reconnection(function: Callable[[Task], Any], tasks: Sequence[Task], address: str) -> Iterator[Any]:
    left = dict(enumerate(tasks))
    losses = 0
    patience = CONNECT_SECONDS
    while left:
        before = len(left)
        client = _connect(address, patience)
        try:
            _check_versions(client)
            for index, result in _finished(client, function, left):
                del left[index]
                yield result
        except _LostError as loss:
            losses = losses + 1 if len(left) == before else 1
            if losses >= MOST_LOSSES:
                raise ClusterError(
                    f"the cluster at {address} lost its work {losses} times in a row ({loss}); look at the "
                    f"logs of its workers. {len(left)} of {len(tasks)} tasks are left; finished ones are kept"
                ) from loss
        finally:
            _close(client)
        patience = RECONNECT_SECONDS


class _LostError(Exception):
    """Work disappeared with a worker or with the scheduler."""


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask's client from logging the losses that are dealt with here."""
    logger = logging.getLogger("distributed.client")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def _dask() -> Any:
    with needs_extra("running on a cluster", "cluster"):
        return importlib.import_module("distributed")


def _connect(address: str, patience: float) -> Any:
    dask = _dask()
    end = time.monotonic() + patience
    while True:
        try:
            return dask.Client(address, timeout=min(patience, CONNECT_SECONDS), set_as_default=False)
        except (OSError, ValueError) as error:  # a timeout is an OSError
            if isinstance(error, ValueError) or time.monotonic() >= end:
                raise ClusterError(
                    f"no Dask scheduler answers at {address}; expected tcp://host:port of a running one "
                    "(start it with `dask scheduler`, and workers with `dask worker tcp://host:port`)"
                ) from error
            time.sleep(0.5)


def _finished(
    client: Any, function: Callable[[Task], Any], left: dict[int, Task]
) -> Iterator[tuple[int, Any]]:
    """Yield index and result of the tasks as they finish."""
    waiting = iter(list(left.items()))
    index_of: dict[Any, int] = {}

    def submit_next(number: int) -> list[Any]:
        futures = []
        for index, task in itertools.islice(waiting, number):
            # Not pure: the same task, run again, is to be run again.
            future = client.submit(function, task, pure=False, retries=2)
            index_of[future] = index
            futures.append(future)
        return futures

    stream = _dask().as_completed(submit_next(AHEAD), loop=client.loop)
    for future in stream:
        result = _result_of(future)
        yield index_of.pop(future), result
        for more in submit_next(1):
            stream.add(more)


def _result_of(future: Any) -> Any:
    from concurrent.futures import CancelledError as Cancelled

    from distributed.client import FutureCancelledError
    from distributed.scheduler import KilledWorker

    try:
        return future.result(timeout=RECONNECT_SECONDS)
    except (Cancelled, FutureCancelledError, KilledWorker, OSError) as error:
        if future.status == "error" and not isinstance(error, KilledWorker):
            raise  # the function's own error
        raise _LostError(f"{type(error).__name__}: {error}") from error


def _check_versions(client: Any) -> None:
    import edgecritic

    try:
        found = client.run(_version)
    except (OSError, RuntimeError) as error:
        raise _LostError(str(error)) from error
    others = {version for version in found.values() if version != edgecritic.__version__}
    if others:
        raise ClusterError(
            f"the cluster's workers have edgecritic {', '.join(sorted(others))}, this is "
            f"{edgecritic.__version__}; results would not be comparable, install the same version everywhere"
        )


def _version() -> str:
    import edgecritic

    return edgecritic.__version__


def _close(client: Any) -> None:
    try:
        client.close(timeout=5)
    except (OSError, RuntimeError):
        return
