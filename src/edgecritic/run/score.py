"""Measures of a folder of maps, against truths or without."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from edgecritic.datasets._guard import quiet
from edgecritic.datasets.cases import find_cases
from edgecritic.datasets.content import Content, digest, digest_files, read_content
from edgecritic.datasets.layouts import find_maps
from edgecritic.datasets.meshes import is_mesh
from edgecritic.datasets.names import natural_key
from edgecritic.errors import InputError
from edgecritic.measures.label_maps import Labels
from edgecritic.measures.labels import CaseScores
from edgecritic.run.executor import Progress, absolute, run_tasks
from edgecritic.run.results import Failure, attempt
from edgecritic.run.score_files import (
    ScoreSettings,
    check_measures,
    in_tiles,
    score_files,
    score_in_tiles,
    worst_scores,
)
from edgecritic.run.score_results import ScoreRun, case_of_record, case_record
from edgecritic.run.store import RECORDS, kept, record_key

__all__ = ["check_labels", "score_folder"]

RECORD_VERSION = 4


@dataclass(frozen=True, slots=True)
class _Job:
    id: str
    path: Path | None
    truths: tuple[Path, ...]
    settings: ScoreSettings
    folder: Path | None
    fresh: bool


def score_folder(
    maps: str | Path,
    truth: str | Path | None = None,
    *,
    settings: ScoreSettings | None = None,
    split: str | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> ScoreRun:
    """Compute measures of every map of a folder.

    Parameters
    ----------
    maps : path
        Folder with one binary map, or label map, per image.
    truth : path, optional
        Truths in any known layout; without them measures that need none are computed.
    settings : ScoreSettings, optional
    split : str, optional
        See :func:`edgecritic.datasets.cases.find_cases`.
    out : path, optional
        Where finished maps are kept; started again, only what is missing is computed.
    jobs, cluster, progress
        See :func:`edgecritic.run.executor.run_tasks`.
    fresh : bool
        Compute everything anew.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from edgecritic.datasets.write import write_map
    >>> with tempfile.TemporaryDirectory() as home:
    ...     for folder in ("maps", "truths"):
    ...         _ = write_map(f"{home}/{folder}/a.png", np.eye(9))
    ...     score_folder(f"{home}/maps", f"{home}/truths", settings=ScoreSettings(measures=("dice",))).means
    {'dice': 1.0}
    """
    chosen = settings or ScoreSettings()
    check_measures(chosen)
    home = absolute(out)
    records = None if home is None else home / RECORDS / "@score"
    found = _pairs(Path(maps), truth, split)
    work = [
        _Job(name, absolute(path), tuple(one.absolute() for one in truths), chosen, records, fresh)
        for name, path, truths in found.pairs
        if path is not None or chosen.missing == "worst"
    ]
    finished = dict(run_tasks(_scored, work, jobs=jobs, cluster=cluster, progress=progress))
    good: dict[str, CaseScores] = {}
    failures = []
    for job in work:
        one = finished[job.id]
        if isinstance(one, CaseScores):
            good[job.id] = one
        else:
            failures.append(Failure(id=job.id, path=str(job.path or job.truths[0]), message=one))
    check_labels(good.values(), chosen.labels)
    return ScoreRun(
        cases=good,
        failures=tuple(failures),
        missing=tuple(name for name, path, _ in found.pairs if path is None),
        without_truth=found.without_truth,
        notes=found.notes,
        files={
            name: ("" if path is None else path.name, truths[0].name if truths else "")
            for name, path, truths in found.pairs
            if name in good
        },
    )


class _Pairs(NamedTuple):
    """Predictions (``None`` where there is none) with their truths, and the predictions that have none."""

    pairs: list[tuple[str, Path | None, tuple[Path, ...]]]
    without_truth: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def _pairs(maps: Path, truth: str | Path | None, split: str | None) -> _Pairs:
    if truth is None:
        return _Pairs([(name, paths[0], ()) for name, paths in find_maps(maps).files.items()])
    dataset = find_cases(maps, truth, split=split, roles=True)
    if not dataset.cases:
        meshes = any(is_mesh(file) for file in maps.iterdir())
        raise InputError(
            "; ".join(["no map has a truth of the same name", *dataset.problems()]),
            remedy="meshes are scored one by one: edgecritic score MESH MESH" if meshes else None,
        )
    pairs = {case.id: (case.id, case.prediction, case.truths) for case in dataset.cases}
    if dataset.without_prediction:
        every = find_cases(None, truth, split=split)
        absent = set(dataset.without_prediction)
        pairs |= {case.id: (case.id, None, case.truths) for case in every if case.id in absent}
    ordered = [pairs[name] for name in sorted(pairs, key=natural_key)]
    return _Pairs(ordered, dataset.without_truth, tuple(dataset.notes()))


def check_labels(cases: Collection[CaseScores], labels: Labels | None) -> None:
    """Refuse labels that occur in no case at all: a number that was mistyped."""
    if labels is None or labels.wanted is None or not cases:
        return
    present = sorted({value for case in cases for value in case.present})
    for label in labels.wanted:
        if not set(label.values) & set(present):
            numbers = ", ".join(map(str, label.values))
            told = label.name if label.name == numbers else f"{label.name} ({numbers})"
            raise InputError(
                f"label {told} is in no map; these occur: {', '.join(map(str, present)) or 'none'}",
                remedy="correct --labels; --labels all takes every number that occurs",
            )


def _scored(job: _Job) -> tuple[str, CaseScores | str]:
    """Score one map, or take it from the store; a bad file becomes a message."""
    return job.id, attempt(lambda: _kept_scores(job), str)


def _kept_scores(job: _Job) -> CaseScores:
    if in_tiles((job.path, *job.truths), job.settings):
        return _kept_in_tiles(job)
    truths = [read_content(path) for path in job.truths]
    candidate = None if job.path is None else read_content(job.path)
    files = ["" if one is None else digest([one]) for one in (candidate, *truths)]
    key = record_key([RECORD_VERSION, job.settings.as_dict(), files])
    content = kept(
        job.folder,
        job.id,
        key,
        lambda: case_record(_quietly_scored(candidate, truths, job.settings)),
        fresh=job.fresh,
    )
    return case_of_record(content)


def _kept_in_tiles(job: _Job) -> CaseScores:
    if job.path is None:
        raise InputError("has no prediction, and worst values are not known of maps in tiles")
    files = [digest_files([path]) for path in (job.path, *job.truths)]
    key = record_key([RECORD_VERSION, job.settings.as_dict(), files])
    place = job.path
    with quiet():
        content = kept(
            job.folder,
            job.id,
            key,
            lambda: case_record(score_in_tiles(place, job.truths, job.settings)),
            fresh=job.fresh,
        )
    return case_of_record(content)


def _quietly_scored(
    candidate: Content | None, truths: Sequence[Content], settings: ScoreSettings
) -> CaseScores:
    """Score one map without a warning of empty maps, in this thread only: the run says which they are."""
    with quiet():
        return score_files(candidate, truths, settings) if candidate else worst_scores(truths, settings)
