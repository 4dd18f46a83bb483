"""Measures of one map or of a folder of maps, against truths or without."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from edgecritic.datasets._guard import quiet
from edgecritic.datasets.cases import find_cases
from edgecritic.datasets.content import Content, digest, read_content
from edgecritic.datasets.files import read_array, read_segmentations, read_truths
from edgecritic.datasets.formats.base import find_format
from edgecritic.datasets.geometry import find_grid
from edgecritic.datasets.layouts import find_maps
from edgecritic.datasets.meshes import is_mesh, read_mesh
from edgecritic.datasets.spacing import Sizes
from edgecritic.errors import (
    InputError,
    NotBinaryError,
)
from edgecritic.inputs import BoolArray
from edgecritic.measures import Scores, measures, score, score_alone
from edgecritic.measures.evidence import Single, compare
from edgecritic.measures.scoring import choose, default_measures
from edgecritic.run.executor import Progress, absolute, run_tasks
from edgecritic.run.results import Failure, attempt, failure_rows
from edgecritic.run.store import RECORDS, kept, record_key
from edgecritic.values import Value, plain_number

__all__ = ["ScoreRun", "ScoreSettings", "ScoredMap", "check_measures", "score_files", "score_folder"]

RECORD_VERSION = 2


class ScoreSettings(Value):
    """How maps are read and judged.

    Attributes
    ----------
    measures : tuple of str or None
        Ids; all if not given.
    strategy : str or None
        How all measures match that match pixels.
    tolerance : float or None
        Of all measures that have a tolerance.
    spacing : tuple of float, "file" or None
        As for `edgecritic.datasets.geometry.find_grid`.
    resample : "nearest", "stored" or None
        What is done with a candidate whose grid is not the truth's, as for the same function.
    empty : {"value", "nan", "raise"}
        What measures do with empty maps, `on_degenerate` of :func:`edgecritic.measures.score`.
    binarize : float or None
        Where grey maps are cut; without it they are refused.
    label : int or None
        The object of label maps that is judged.
    level : int or None
        Which map of a candidate's file that holds several, from 1.
    """

    measures: tuple[str, ...] | None = None
    strategy: str | None = None
    tolerance: float | None = None
    spacing: Sizes | Literal["file"] | None = None
    resample: Literal["nearest", "stored"] | None = None
    empty: Literal["value", "nan", "raise"] = "value"
    binarize: float | None = None
    label: int | None = None
    level: int | None = None


class ScoredMap(Value):
    """The scores of one map, the pixel size that was used, which sides are empty, and what is to be said."""

    scores: Scores
    spacing: Sizes | None = None
    empty: str = ""
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the scores, ready for JSON."""
        return {**self.scores.as_dict(), **({"notes": list(self.notes)} if self.notes else {})}


class ScoreRun(Value):
    """The scores of the maps of a folder.

    Attributes
    ----------
    maps : dict of ScoredMap
        By name, in natural order.
    failures : tuple of Failure
    notes : tuple of str
        What was decided about names.
    """

    maps: dict[str, ScoredMap]
    failures: tuple[Failure, ...]
    notes: tuple[str, ...] = ()

    @property
    def means(self) -> dict[str, float]:
        """The mean of every measure over the maps where it has a value."""
        return _means([one.scores.mean for one in self.maps.values()])

    @property
    def best(self) -> dict[str, float]:
        """The same of the best values over the truths of each map."""
        return _means([one.scores.best for one in self.maps.values()])

    @property
    def counts(self) -> dict[str, int]:
        """On how many maps every measure has a value."""
        rows = [one.scores.mean for one in self.maps.values()]
        return {name: sum(not math.isnan(row[name]) for row in rows) for name in (rows[0] if rows else ())}

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "scores": {name: plain_number(value) for name, value in self.means.items()},
            "counts": self.counts,
            "images": {name: one.as_dict() for name, one in self.maps.items()},
            "failures": failure_rows(self.failures),
            **({"notes": list(self.notes)} if self.notes else {}),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per map with the mean over its truths."""
        return [{"image": name, **one.scores.mean} for name, one in self.maps.items()]


@dataclass(frozen=True, slots=True)
class _Job:
    id: str
    path: Path
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
        Folder with one binary map per image.
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
    found, notes = _pairs(Path(maps), truth, split)
    work = [
        _Job(name, path.absolute(), tuple(one.absolute() for one in truths), chosen, records, fresh)
        for name, path, truths in found
    ]
    finished = dict(run_tasks(_scored, work, jobs=jobs, cluster=cluster, progress=progress))
    good: dict[str, ScoredMap] = {}
    failures = []
    for name, path, _ in found:
        if isinstance(finished[name], ScoredMap):
            good[name] = finished[name]
        else:
            failures.append(Failure(id=name, path=str(path), message=finished[name]))
    return ScoreRun(maps=good, failures=tuple(failures), notes=tuple(notes))


def _pairs(
    maps: Path, truth: str | Path | None, split: str | None
) -> tuple[list[tuple[str, Path, tuple[Path, ...]]], list[str]]:
    if truth is None:
        return [(name, paths[0], ()) for name, paths in find_maps(maps).files.items()], []
    dataset = find_cases(maps, truth, split=split, roles=True)
    if not dataset.cases:
        raise InputError("no map has a truth of the same name; " + "; ".join(dataset.problems()))
    found = [(case.id, case.prediction, case.truths) for case in dataset.cases if case.prediction is not None]
    return found, dataset.notes()


def _scored(job: _Job) -> tuple[str, ScoredMap | str]:
    """Score one map, or take it from the store; a bad file becomes a message."""
    return job.id, attempt(lambda: _kept_scores(job), str)


def _kept_scores(job: _Job) -> ScoredMap:
    candidate, *truths = (read_content(path) for path in (job.path, *job.truths))
    files = [digest([one]) for one in (candidate, *truths)]
    key = record_key([RECORD_VERSION, job.settings.as_dict(), files])
    content = kept(
        job.folder,
        job.id,
        key,
        lambda: _as_record(_quietly_scored(candidate, truths, job.settings)),
        fresh=job.fresh,
    )
    return _as_scored(content)


def _quietly_scored(candidate: Content, truths: Sequence[Content], settings: ScoreSettings) -> ScoredMap:
    """Score one map without a warning of empty maps, in this thread only: the run says which they are."""
    with quiet():
        return score_files(candidate, truths, settings)


def _as_record(one: ScoredMap) -> dict[str, Any]:
    names = {name: list(getattr(one.scores, name)) for name in ("measures", "better", "families")}
    told = {"shape": one.scores.shape, "spacing": one.spacing, "empty": one.empty, "notes": one.notes}
    return {**names, "values": one.scores.annotators.tolist(), **told}


def _as_scored(content: dict[str, Any]) -> ScoredMap:
    names = {name: tuple(content[name]) for name in ("measures", "better", "families")}
    spacing = None if content["spacing"] is None else tuple(content["spacing"])
    values = np.array(content["values"], dtype=np.float64)
    scores = Scores(**names, annotators=values, shape=tuple(content["shape"]), spacing=spacing)
    return ScoredMap(scores=scores, spacing=spacing, empty=content["empty"], notes=tuple(content["notes"]))


def score_files(
    candidate: Path | Content, truths: Sequence[Path | Content], settings: ScoreSettings
) -> ScoredMap:
    """Read a candidate and its truths and compute the measures; without truths those that need none."""
    ids = settings.measures
    if any(is_mesh(_path(source)) for source in (candidate, *truths)):
        return _score_meshes(candidate, truths, settings)
    if _judges_regions(ids):
        grid = find_grid(candidate, truths, resample=settings.resample)
        labels = [grid.bring(truth, found) for truth in truths for found in _label_maps(truth)]
        chosen = grid.bring(candidate, _choose(_label_maps(candidate), settings.level, candidate))
        return ScoredMap(scores=score(chosen, labels, ids), notes=grid.notes)
    held = _masks(candidate, settings)
    if not truths:
        some = held if settings.level is None else [_choose(held, settings.level, candidate)]
        found = [score_alone(one, ids, on_degenerate=settings.empty) for one in some]
        values = np.concatenate([one.annotators for one in found])
        return ScoredMap(scores=replace(found[0], annotators=values))
    grid = find_grid(candidate, truths, spacing=settings.spacing, resample=settings.resample)
    mask = grid.bring(candidate, _choose(held, settings.level, candidate))
    maps = [grid.bring(truth, found) for truth in truths for found in _masks(truth, settings)]
    scores = score(
        mask,
        maps,
        ids,
        strategy=settings.strategy,
        tolerance=settings.tolerance,
        spacing=grid.spacing,
        on_degenerate=settings.empty,
    )
    return ScoredMap(scores=scores, spacing=scores.spacing, empty=_empty_sides(mask, maps), notes=grid.notes)


def _score_meshes(
    candidate: Path | Content, truths: Sequence[Path | Content], settings: ScoreSettings
) -> ScoredMap:
    others = [_path(source) for source in (candidate, *truths) if not is_mesh(_path(source))]
    if others or not truths:
        raise InputError(
            "a mesh is judged by other meshes here" + (f", got {others[0]}" if others else ""),
            remedy="to judge it by a volume use Python: edgecritic.score(mesh.on_grid(affine), volume, …)",
        )
    scores = score(
        read_mesh(candidate),
        [read_mesh(truth) for truth in truths],
        settings.measures,
        tolerance=settings.tolerance,
        on_degenerate=settings.empty,
    )
    return ScoredMap(scores=scores)


def check_measures(settings: ScoreSettings) -> None:
    """Refuse unknown ids and bad parameters before any file is read."""
    ids, strategy, tolerance = settings.measures, settings.strategy, settings.tolerance
    if not ids and strategy is None and tolerance is None:
        return
    line = np.zeros((16, 16), dtype=np.bool_)
    line[8, 2:14] = True
    for bound in choose(ids, default_measures(), strategy=strategy, tolerance=tolerance):
        if bound.entry.info.needs == "candidate":
            bound(Single(line))
        elif bound.entry.info.needs != "segmentation":
            bound(compare(line, line))


def _masks(source: Path | Content, settings: ScoreSettings) -> list[BoolArray]:
    if settings.label is not None:
        return [read_array(source) == settings.label]
    try:
        return read_truths(source, binarize=settings.binarize)
    except NotBinaryError as error:
        remedy = f"{error.remedy}; of a label map --label N takes one object"
        raise NotBinaryError(error.message, path=error.path, remedy=remedy) from error


def _empty_sides(candidate: BoolArray, maps: Sequence[BoolArray]) -> str:
    sides = [("candidate", not candidate.any()), ("truth", not all(one.any() for one in maps))]
    return " and ".join(name for name, empty in sides if empty)


def _judges_regions(ids: Sequence[str] | None) -> bool:
    return bool(ids) and all(measures.bind(text).entry.info.needs == "segmentation" for text in ids or ())


def _path(source: Path | Content) -> Path:
    return source.path if isinstance(source, Content) else source


def _label_maps(source: Path | Content) -> list[Any]:
    found = find_format(_path(source))
    if found is not None and found.info.labels is not None:
        return list(read_segmentations(source))
    return [read_array(source)]


def _choose(maps: list[Any], number: int | None, source: Path | Content) -> Any:
    if number is None and len(maps) == 1:
        return maps[0]
    if number is None or not 1 <= number <= len(maps):
        raise InputError(
            f"{_path(source)}: holds {len(maps)} maps; choose one with --candidate-annotator 1 … {len(maps)}"
        )
    return maps[number - 1]


def _means(rows: list[dict[str, float]]) -> dict[str, float]:
    names = rows[0] if rows else ()
    defined = {name: [row[name] for row in rows if not math.isnan(row[name])] for name in names}
    return {name: sum(values) / len(values) if values else math.nan for name, values in defined.items()}
