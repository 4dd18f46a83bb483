"""The matching study over a data set: planned, run in shares on one machine or many, and combined."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from edgecritic.datasets.cases import Case
from edgecritic.datasets.content import Content, digest, read_content
from edgecritic.errors import DataError, EdgeCriticError, InputError, OutputError
from edgecritic.run.executor import Progress, absolute, run_tasks
from edgecritic.run.results import Failure
from edgecritic.run.store import RECORDS, Store, kept, record_key
from edgecritic.studies.blocks import (
    Block,
    BlockScores,
    canny_blocks,
    compare_block,
    inter_blocks,
    intra_blocks,
)
from edgecritic.studies.matching import MatchingStudy, analyse, join_blocks
from edgecritic.studies.pairs import TOLERANCES

__all__ = [
    *("StudyPart", "Plan", "study_parts", "canny_note", "make_plan", "run_parts", "combine_parts"),
    *("Task", "keep_block", "parse_share", "run_blocks", "with_photo"),
]

DEFAULT_INTER = 24
"""So many images are compared with each other, with one map each, unless all are asked for."""

DEFAULT_CANNY = 16
"""On so many images Canny maps are compared, unless all are asked for."""

RECORD_VERSION = 1
_BYTES_PER_PAIR = 4 * 2 * 8 * 4 / 3  # in letters of base 64
_FILE_BYTES = 1500

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StudyPart:
    """One of the tables of the study: its blocks and whether references and candidates are the same maps."""

    maps: str
    blocks: tuple[Block, ...]
    symmetric: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run will need.

    Attributes
    ----------
    tasks, done : int
        Blocks, and those that are finished already.
    pairs : int
        Estimated number of pairs of maps that are left.
    pairs_per_second : float
        Measured on this machine, on one core.
    core_hours : float
        Estimated for what is left.
    disk_bytes : int
        Estimated for all results.
    """

    tasks: int
    done: int
    pairs: int
    pairs_per_second: float
    core_hours: float
    disk_bytes: int

    def __str__(self) -> str:
        return (
            f"{self.tasks} tasks, {self.done} of them done; about {self.pairs:,} pairs of maps are left, "
            f"each with 4 strategies at every tolerance\n{self.pairs_per_second:.0f} pairs per second on one "
            f"core here: about {self.core_hours:.2f} core-hours\n{self.disk_bytes / 1e6:,.1f} MB of disk"
        )


def study_parts(
    cases: Sequence[Case],
    *,
    tolerances: Sequence[float] = TOLERANCES,
    images: int | None = None,
    inter: int | None = DEFAULT_INTER,
    canny: int | None = DEFAULT_CANNY,
) -> list[StudyPart]:
    """Return the work of the study.

    Parameters
    ----------
    cases : sequence of Case
    tolerances : sequence of float
        In pixels, ascending.
    images : int, optional
        Only the first so many images.
    inter : int or None
        So many images are compared across images, with one map each (0: none); ``None``: all maps of all
        images with each other, the full experiment.
    canny : int or None
        On so many images that have a photo the human maps are compared with six Canny maps too (0: none);
        ``None``: on all of them.
    """
    if images is not None and images < 1:
        raise InputError(f"the study needs at least one image, most is {images}")
    chosen = list(cases)[:images]
    if not chosen:
        raise DataError("the study needs images with several annotators, none was found")
    if inter is None:
        human = inter_blocks(chosen, tolerances)
    else:
        across = inter_blocks(chosen[:inter], tolerances, most=1, images_per_block=12) if inter else []
        human = [*intra_blocks(chosen, tolerances), *across]
    parts = [StudyPart(maps="human", blocks=tuple(human), symmetric=True)]
    seen = with_photo(chosen)[:canny]
    if seen:
        if inter is None:
            blocks = canny_blocks(seen, tolerances, inter=True)
        else:
            few = seen[: inter // 3]
            blocks = [*canny_blocks(seen, tolerances), *canny_blocks(few, tolerances, inter=True, most=1)]
        parts.append(StudyPart(maps="canny", blocks=tuple(blocks), symmetric=False))
    return parts


def canny_note(
    cases: Sequence[Case], *, images: int | None = None, canny: int | None = DEFAULT_CANNY
) -> str | None:
    """Say on how many images Canny maps are compared if photos are missing; arguments as of `study_parts`."""
    chosen = list(cases)[:images]
    wanted = len(chosen[:canny])
    seen = len(with_photo(chosen)[:canny])
    if seen == wanted:
        return None
    if seen == 0:
        return "Canny maps are left out, there is no photo; give the folder of photos with --images"
    return f"Canny maps are compared on {seen} instead of {wanted} images, the others have no photo"


def with_photo(cases: Sequence[Case]) -> list[Case]:
    """Return the cases that have a photo."""
    return [case for case in cases if case.image is not None]


def parse_share(text: str) -> tuple[int, int]:
    """Read ``3/1000``: the third of a thousand shares.

    Examples
    --------
    >>> parse_share("3/1000")
    (3, 1000)
    """
    first, slash, second = text.partition("/")
    try:
        number, total = int(first), int(second)
    except ValueError:
        number = total = 0
    if not slash or not 1 <= number <= total:
        raise InputError(f"a share is written N/TOTAL with 1 ≤ N ≤ TOTAL, such as 3/1000, got {text!r}")
    return number, total


def make_plan(parts: Sequence[StudyPart], folder: str | Path | None = None, *, seconds: float = 5.0) -> Plan:
    """Time a sample of the tasks that are left and say what the rest will need.

    Tasks are taken evenly from all of them until `seconds` have passed.
    """
    home = absolute(folder)
    blocks = [block for part in parts for block in part.blocks]
    digests: dict[Path, str] = {}
    left = [block for block in blocks if home is None or not _is_stored(home, block, digests)]
    pairs = measured = 0
    begin = time.process_time()
    spent = 0.0
    step = max(1, len(left) // 16)
    for block in [*left[step // 2 :: step], *left]:
        scores = compare_block(block)
        if measured == 0 and pairs == 0:
            begin = time.process_time()  # the first block may have compiled
            pairs, measured = 0, 0
            scores = compare_block(block)
        pairs += scores.pairs
        measured += 1
        spent = time.process_time() - begin
        if spent >= seconds:
            break
    speed = pairs / spent if spent > 0 else float("nan")
    each = pairs / measured if measured else 0.0
    tolerances = len(blocks[0].tolerances) if blocks else 0
    return Plan(
        tasks=len(blocks),
        done=len(blocks) - len(left),
        pairs=round(each * len(left)),
        pairs_per_second=speed,
        core_hours=(spent / measured * len(left) / 3600) if measured else 0.0,
        disk_bytes=round(len(blocks) * (each * _BYTES_PER_PAIR * tolerances + _FILE_BYTES)),
    )


def run_parts(
    parts: Sequence[StudyPart],
    *,
    out: str | Path | None = None,
    share: tuple[int, int] = (1, 1),
    jobs: int | None = None,
    cluster: str | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> tuple[dict[str, BlockScores], list[Failure]]:
    """Compute the blocks of a share that are not stored yet.

    Parameters
    ----------
    parts : sequence of StudyPart
    out : path, optional
        Finished blocks are kept in ``out/records`` and never computed again.
    share : (number, total)
        Every total-th block, beginning with block `number`.
    jobs, cluster, progress
        See :func:`edgecritic.run.executor.run_tasks`.
    fresh : bool
        Compute everything anew.

    Returns
    -------
    (dict, list)
        Scores by the blocks' names, and what failed.
    """
    folder = absolute(out)
    blocks = [block for part in parts for block in part.blocks]
    number, total = share
    work = [Task(block, folder, fresh) for block in blocks[number - 1 :: total]]
    return run_blocks(_compute, work, jobs=jobs, cluster=cluster, progress=progress)


def run_blocks(
    compute: Callable[[Task], tuple[str, Found | Failure]],
    work: Sequence[Task],
    *,
    jobs: int | None,
    cluster: str | None,
    progress: Progress | None,
) -> tuple[dict[str, Found], list[Failure]]:
    """Compute blocks; return what was found by the blocks' names, and what failed, in order."""
    found: dict[str, Found] = {}
    failures = []
    for name, result in run_tasks(compute, work, jobs=jobs, cluster=cluster, progress=progress):
        if isinstance(result, Failure):
            failures.append(result)
        else:
            found[name] = result
    return found, sorted(failures, key=lambda one: (one.message, one.id))


def combine_parts(
    parts: Sequence[StudyPart],
    scores: dict[str, BlockScores] | None = None,
    folders: Sequence[str | Path] = (),
    *,
    failures: Sequence[Failure] = (),
) -> list[MatchingStudy]:
    """Analyse the results of all shares.

    Parameters
    ----------
    parts : sequence of StudyPart
        The same as when the shares were run.
    scores : dict, optional
        Results at hand; the others are read from the folders.
    folders : sequence of path
        Where shares were stored.
    failures : sequence of Failure
        Why tasks have no result; what there is is analysed then, instead of asking for what is missing.
    """
    homes = [Path(folder).absolute() for folder in folders]
    known = dict(scores or {})
    digests: dict[Path, str] = {}
    studies = []
    missing = 0
    for part in parts:
        blocks = []
        for block in part.blocks:
            found = known.get(block.name) or _stored(homes, block, digests)
            if found is None:
                missing += 1
            else:
                blocks.append((found.rows, found.columns, found.f))
        if blocks:
            table = join_blocks(blocks, tolerances=part.blocks[0].tolerances, symmetric=part.symmetric)
            studies.append(analyse(table, maps=part.maps))
    if missing and not failures:
        total = sum(len(part.blocks) for part in parts)
        raise DataError(
            f"{missing} of {total} tasks are not finished",
            remedy=(
                "run their shares (or the command without --share, which does what is missing) before "
                "combining"
            ),
        )
    if not studies:
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        raise DataError(f"nothing could be compared: {failures[0].message}{more}")
    return studies


@dataclass(frozen=True, slots=True)
class Task:
    """A block, the folder of finished work, and whether it is done anew."""

    block: Block
    folder: Path | None
    fresh: bool


def _compute(task: Task) -> tuple[str, BlockScores | Failure]:
    """Compare one block, or take it from the store; a bad file becomes a failure."""
    found = keep_block(task, "@matching", lambda block, contents: _as_record(compare_block(block, contents)))
    return task.block.name, found if isinstance(found, Failure) else _as_scores(found)


def keep_block(
    task: Task, place: str, make: Callable[[Block, Mapping[Path, Content]], dict[str, Any]]
) -> Mapping[str, Any] | Failure:
    """Return the record of a block from its folder, or make it and keep it; a bad file becomes a failure."""
    block = task.block
    folder = None if task.folder is None else task.folder / RECORDS / place
    try:
        contents = {path: read_content(path) for path in block.files}
        key = _key(block, {path: digest([content]) for path, content in contents.items()})
        return kept(folder, block.name, key, lambda: make(block, contents), fresh=task.fresh)
    except OutputError:
        raise  # no other block would fare better
    except EdgeCriticError as error:
        return Failure(id=block.name, message=str(error))


def _records(folder: Path) -> Path:
    return folder / RECORDS / "@matching"


def _key(block: Block, digests: Mapping[Path, str]) -> str:
    return record_key([RECORD_VERSION, block.name, [digests[path] for path in block.files]])


def _key_of_files(block: Block, digests: dict[Path, str]) -> str | None:
    """Return the key of a block whose files may have to be read; None if they cannot be."""
    try:
        for path in block.files:
            if path not in digests:
                digests[path] = digest([read_content(path)])
    except DataError:
        return None
    return _key(block, digests)


def _is_stored(folder: Path, block: Block, digests: dict[Path, str]) -> bool:
    key = _key_of_files(block, digests)
    return key is not None and Store(_records(folder)).holds(block.name, key)


def _stored(folders: Sequence[Path], block: Block, digests: dict[Path, str]) -> BlockScores | None:
    key = _key_of_files(block, digests) if folders else None
    if key is None:
        return None
    found = (Store(_records(folder)).load(block.name, key) for folder in folders)
    return next((_as_scores(content) for content in found if content is not None), None)


def _as_record(scores: BlockScores) -> dict[str, Any]:
    values = scores.f.astype("<f8")
    return {
        "rows": list(scores.rows),
        "columns": list(scores.columns),
        "shape": list(values.shape),
        "f": base64.b64encode(values.tobytes()).decode("ascii"),
    }


def _as_scores(content: Mapping[str, Any]) -> BlockScores:
    f = np.frombuffer(base64.b64decode(content["f"]), dtype="<f8").reshape(content["shape"])
    return BlockScores(tuple(content["rows"]), tuple(content["columns"]), f.astype(np.float64))
