"""Reports of runs that were judged before, or that still go on."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from edgecritic.errors import EdgeCriticError, InputError
from edgecritic.report.bench import write_benchmark, write_run
from edgecritic.report.beside import Artist
from edgecritic.run.bench import BenchRun
from edgecritic.run.files import write_json
from edgecritic.run.finished import FinishedRun, join_runs, load_run

__all__ = ["follow_runs", "write_joined"]


def write_joined(folder: str | Path, joined: BenchRun, *, artist: Artist | None = None) -> tuple[Path, ...]:
    """Write ``results.json`` and everything beside it of runs that were put together; return the files.

    An `artist` draws the figures meanwhile (`edgecritic.report.beside.artist_beside`).
    """
    home = Path(folder)
    write_json(home / "results.json", joined.results)
    return (home / "results.json", *write_run(home, joined, artist=artist))


def follow_runs(
    places: Mapping[str, str | Path],
    out: str | Path,
    *,
    every: float = 10.0,
    options: Mapping[str, Any] | None = None,
    tell: Callable[[str], None] | None = None,
    stop: Callable[[float], bool] | None = None,
) -> Mapping[str, FinishedRun] | None:
    """Write the page of runs again and again while they go on; return them when all are finished.

    The page says how far they are and loads itself anew. Nothing but its own files is written, so that a run
    may go on in the same folder.

    Parameters
    ----------
    places : mapping of name to folder
    out : path
    every : float
        Seconds between two looks.
    options : mapping, optional
        Of `edgecritic.run.finished.join_runs`.
    tell : callable, optional
        Called with a line whenever there is more.
    stop : callable, optional
        Waits for the given seconds and returns whether to end at once, with ``None`` (default: never).
    """
    known = -1
    waiting = stop or _sleep
    while True:
        try:
            runs = {name: load_run(place) for name, place in places.items()}
        except EdgeCriticError:
            runs = {}  # not begun yet
        if runs and all(run.finished for run in runs.values()):
            return runs
        done, total = sum(run.done for run in runs.values()), sum(run.total for run in runs.values())
        if done > known and done:
            _write_so_far(runs, out, every, options or {})
            if tell is not None:
                tell(f"{done} of {total} maps are judged")
            known = done
        if waiting(every):
            return None


def _sleep(seconds: float) -> bool:
    time.sleep(seconds)
    return False


def _write_so_far(
    runs: Mapping[str, FinishedRun], out: str | Path, every: float, options: Mapping[str, Any]
) -> None:
    try:
        joined = join_runs(runs, **options)
    except InputError:
        return  # too little is there
    write_benchmark(out, joined.results, refresh=max(2, round(every)))
