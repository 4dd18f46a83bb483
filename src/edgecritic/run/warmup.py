"""Run every compiled part once on a tiny input, so that its machine code is on disk.

To add a part, add a line to `families`: a name and a function without arguments.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.beside import python_beside
from edgecritic.errors import MissingExtraError
from edgecritic.inputs import BoolArray
from edgecritic.kernels._jit import always_compiled
from edgecritic.run.executor import resolve_jobs, run_tasks

__all__ = ["WarmedPart", "families", "warm_edits", "warm_up", "warm_what_is_asked", "tiny_pair"]

Part = tuple[str, Callable[[], Any]]
"""The name of something that is compiled, and what has to be called."""


@dataclass(frozen=True, slots=True)
class WarmedPart:
    """One part that was run: its name, the seconds it took, and why it was left out if it was."""

    name: str
    seconds: float
    skipped: str = ""


def warm_up(progress: Callable[[int, int], None] | None = None, *, jobs: int | None = 1) -> list[WarmedPart]:
    """Run every part once.

    Parameters
    ----------
    progress : callable, optional
        Called with (done, total) after every part, or family of parts.
    jobs : int, optional
        How many families are compiled at a time, each by a process because Numba compiles one kernel after
        the other; ``None`` for one per core. This process is one of them.

    Returns
    -------
    list of WarmedPart
        A part whose optional dependency is missing is named as skipped.
    """
    todo = families()
    names = [name for family in todo for name, _ in family]
    done: list[WarmedPart] = []
    for warmed in _warmed(len(todo), resolve_jobs(jobs)):
        done += warmed
        if progress is not None:
            progress(len(done), len(names))
    return sorted(done, key=lambda part: names.index(part.name))


def _warmed(number: int, jobs: int) -> Iterator[list[WarmedPart]]:
    free: SimpleQueue[Callable[[int], list[WarmedPart]]] = SimpleQueue()

    def warm(place: int) -> list[WarmedPart]:
        family_warmer = free.get()
        try:
            return family_warmer(place)
        finally:
            free.put(family_warmer)

    with ExitStack() as processes:
        free.put(_warm_family)
        for _ in range(1, min(jobs, number)):
            free.put(processes.enter_context(_warmer_beside()))
        yield from run_tasks(warm, range(number), jobs=jobs)


@contextmanager
def _warmer_beside() -> Iterator[Callable[[int], list[WarmedPart]]]:
    """Give what runs families in another process; where there is none, or it fails, in this one."""
    program = f"from {__name__} import warm_what_is_asked; warm_what_is_asked()"
    process = python_beside("-c", program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    if process is None or process.stdin is None or process.stdout is None:
        yield _warm_family
        return
    asked, told = process.stdin, process.stdout

    def warm(place: int) -> list[WarmedPart]:
        with suppress(BrokenPipeError):
            asked.write(f"{place}\n".encode())
            if line := told.readline():
                return [WarmedPart(**part) for part in json.loads(line)]
        return _warm_family(place)

    with process:
        try:
            yield warm
        finally:
            process.kill()


def warm_what_is_asked() -> None:
    """Run the families whose places are read, one in a line, and write what `_warm_family` says of each."""
    for line in sys.stdin:
        sys.stdout.write(json.dumps([asdict(part) for part in _warm_family(int(line))]) + "\n")
        sys.stdout.flush()


def _warm_family(place: int) -> list[WarmedPart]:
    """Run the parts of one family."""
    always_compiled()
    done = []
    for name, call in families()[place]:
        begin = time.perf_counter()
        skipped = ""
        try:
            call()
        except MissingExtraError as error:
            skipped = str(error)
        done.append(WarmedPart(name, time.perf_counter() - begin, skipped))
    return done


def families() -> list[list[Part]]:
    """Return everything that is compiled; parts that share kernels are one family, the longest first.

    Families that use kernels of another one as well are last: then they are on disk, if not many more
    processes compile than families are before them.

    Examples
    --------
    >>> "suppress" in {name for family in families() for name, _ in family}
    True
    """
    strategies = _strategies()
    exact, coherent = strategies.pop("exact"), strategies.pop("coherent")
    return [
        [
            *exact,
            ("exact matching of dense maps", _match_checkerboard),
            ("exact matching of large maps", _cut_in_halves),
            ("exact matching under change", _change_exact_matching),
            ("exact matching of images with several truths", _match_several),
        ],
        [("edits of label maps", warm_edits)],
        _detectors(),
        [
            ("thin", _thin),
            ("thin, in bands", _thin_in_bands),
            ("thin, threshold by threshold", _thin_sweep),
            ("thin, at all thresholds", _thin_at_thresholds),
        ],
        [("measures of meshes", _measure_meshes)],
        [("measures, 2-D", lambda: _measure(2)), ("measures, 3-D", lambda: _measure(3))],
        [("regions", _regions)],
        [("suppress", _suppress), ("rows of PNG files", _unfilter)],
        [("annotators and studies", _studies)],
        *strategies.values(),
        coherent,
        [("sweep of thresholds", _sweep)],
    ]


def tiny_pair(ndim: int) -> tuple[BoolArray, BoolArray]:
    """Return two small maps that share pixels, and have others near to and far from each other.

    Examples
    --------
    >>> candidate, truth = tiny_pair(2)
    >>> bool((candidate & truth).any()), bool((candidate != truth).any())
    (True, True)
    """
    shape = (4, 12, 14)[3 - ndim :]
    candidate, truth = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    truth[..., 5, 1:11] = True
    truth[..., 2:10, 6] = True
    candidate[..., 6, 2:12] = True
    candidate[..., 2:10, 7] = True
    candidate[..., 7, 1:4] = True
    candidate[..., 0, 0] = True
    return candidate, truth


def _strategies() -> dict[str, list[Part]]:
    from edgecritic.matching import match, strategies

    def call(name: str, ndim: int) -> Callable[[], Any]:
        return lambda: match(*tiny_pair(ndim), strategy=name)

    return {
        name: [(f"match {name}, {ndim}-D", call(name, ndim)) for ndim in (2, 3)]
        for name in strategies.names()
    }


def _match_checkerboard() -> None:
    from edgecritic.matching import match

    board = np.indices((200, 200)).sum(axis=0) % 2 == 0
    match(board, ~board, strategy="exact", tolerance=2)


def _cut_in_halves() -> None:
    from edgecritic.kernels.auction import cut_in_halves
    from edgecritic.kernels.links import Links

    cut_in_halves(Links(np.array([0, 1]), np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int32)), 1)


def _change_exact_matching() -> None:
    from edgecritic.assignment.dynamic import ExactState

    candidate, truth = tiny_pair(2)
    present = np.flatnonzero(candidate)
    state = ExactState(truth, tolerance=2)
    state.update(added=present)
    state.update(removed=present[::2])


def _match_several() -> None:
    from edgecritic.assignment.dynamic import compile_here

    compile_here()


def _studies() -> None:
    from edgecritic.annotators import strength
    from edgecritic.studies.pairs import Comparer
    from edgecritic.studies.sorting import discordant_pairs

    candidate, truth = tiny_pair(2)
    strength([candidate, truth])
    row = np.zeros((3, 160), dtype=np.bool_)
    row[1, :150] = True  # moved by one it has a pair that costs more than it is worth
    for one, other, tolerance in ((truth, candidate, 2.5), (row, np.roll(row, 1, axis=1), 1.0)):
        comparer = Comparer(one.shape, [tolerance])
        comparer.f(comparer.prepare(one), comparer.prepare(other))
    discordant_pairs([1.0, 2.0], [2.0, 1.0])


def _unfilter() -> None:
    from edgecritic.kernels.rows import unfiltered

    unfiltered(np.zeros((2, 3), dtype=np.uint8))


def warm_edits() -> None:
    """Run every kernel of edits."""
    from edgecritic.kernels import edits

    candidate, truth = tiny_pair(2)
    levels, marks = candidate.view(np.uint8), np.zeros(truth.shape, dtype=np.uint8)
    line = np.array([0, 0, 5, 5])
    edits.fill_runs(marks.ravel(), line[2:])
    edits.find_runs(truth.ravel(), line.copy())
    edits.draw(marks, line)
    edits.remove_specks(marks, levels, 1, 9)
    edits.brush(marks, levels, edits.ERASE, 0, line, np.array([0, 1, 0], dtype=np.int32))
    edits.cut_out(marks, levels, line)
    for remove in (edits.remove_piece, edits.remove_segment):
        edits.draw(marks, line)
        remove(marks, levels, 1, 5, 5)
    edits.show(marks, levels, 1, truth)


def _thin() -> None:
    from edgecritic.maps.thinning import thin

    candidate, truth = tiny_pair(2)
    thin(candidate | truth)


def _thin_in_bands() -> None:
    from edgecritic.maps.bands import thin_levels

    thin_levels(tiny_pair(2)[0].view(np.uint8), 1)


def _thin_sweep() -> None:
    from edgecritic.maps.thinning import ThinningSweep

    candidate, truth = tiny_pair(2)
    sweep = ThinningSweep((candidate.shape[0], candidate.shape[1]))
    for added in (candidate, truth):
        sweep.grow(np.flatnonzero(added))


def _thin_at_thresholds() -> None:
    from edgecritic.maps.thinning import compile_here

    compile_here()


def _suppress() -> None:
    from edgecritic.maps.suppression import edge_orientation, suppress

    strength = _tiny_strength()
    suppress(strength, recipe="hed")
    suppress(strength, recipe="hed", orientation=edge_orientation(strength))


def _sweep() -> None:
    from edgecritic.protocols.sweep import sweep

    _, truth = tiny_pair(2)
    for strength in (_tiny_strength(), _tiny_strength().astype(np.float32)):
        sweep(strength, [truth, truth[::-1]])


def _regions() -> None:
    from edgecritic.measures import score
    from edgecritic.protocols.regions import sweep_hierarchy

    cells = np.zeros((9, 9))
    cells[:, 4], cells[4] = 0.3, 0.6
    labels = np.arange(16).reshape(4, 4) // 8
    sweep_hierarchy(cells, [labels, labels.T])
    score(labels, labels.T, ["pri", "voi", "covering"])


def _measure(ndim: int) -> None:
    from edgecritic.measures import score, score_alone

    candidate, truth = tiny_pair(ndim)
    score(candidate, truth)
    score_alone(candidate)


def _measure_meshes() -> None:
    from edgecritic.measures import score

    for ndim in (2, 3):
        candidate, truth = tiny_pair(ndim)
        score(candidate, truth, ["masd(surface=mesh)", "masd(compat=meshmetrics)"])


def _detectors() -> list[Part]:
    from edgecritic.detectors import detect, detectors

    def call(name: str, ndim: int) -> Callable[[], Any]:
        image = np.random.default_rng(0).random((24, 25, 26)[3 - ndim :])
        return lambda: detect(image, name).hysteresis(0.1, 0.2)

    return [
        (f"detect {entry.name}, {ndim}-D", call(entry.name, ndim))
        for entry in detectors
        for ndim in entry.info.ndim
    ]


def _tiny_strength() -> NDArray[np.float64]:
    """Return a strength map with thick ridges and several levels."""
    candidate, truth = tiny_pair(2)
    levels: NDArray[np.float64] = 0.4 * candidate + 0.3 * truth + 0.2 * np.roll(candidate, 1, axis=0)
    return levels
