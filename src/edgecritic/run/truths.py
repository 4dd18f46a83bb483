"""Hand-made against semi-automatic truths over many images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets.cases import Case, find_cases
from edgecritic.datasets.content import digest, read_content
from edgecritic.datasets.files import read_truths
from edgecritic.detectors.base import bind
from edgecritic.detectors.proposals import propose
from edgecritic.errors import DataError
from edgecritic.inputs import BoolArray
from edgecritic.maps.editing import replay, simulated_edits
from edgecritic.measures.scoring import choose
from edgecritic.run.executor import Progress, absolute, run_tasks
from edgecritic.run.results import Failure, attempt, failure_rows
from edgecritic.run.store import RECORDS, kept, record_key
from edgecritic.studies.truths import (
    MEASURES,
    ImageTruths,
    TruthsStudy,
    as_record,
    from_record,
    judge_truths,
)
from edgecritic.tuning.tune import DEFAULT_DETECTORS
from edgecritic.values import Value

__all__ = ["TruthsRun", "load_truths", "run_truths"]

RECORD_VERSION = 1


class TruthsRun(Value):
    """The study of the images that could be used, and why the others could not."""

    study: TruthsStudy
    failures: tuple[Failure, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {**self.study.as_dict(), "failures": failure_rows(self.failures)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    case: Case
    own: Path | None
    radius: float
    detectors: tuple[str, ...]
    measures: tuple[str, ...]
    folder: Path | None
    fresh: bool


def run_truths(
    cases: Sequence[Case],
    *,
    own: str | Path | None = None,
    radius: float = 3.0,
    detectors: Sequence[str] | None = None,
    measures: Sequence[str] | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> TruthsRun:
    """Judge detectors by the first annotator's truth and by a semi-automatic one.

    Parameters
    ----------
    cases : sequence of Case
        With photos.
    own : path, optional
        Semi-automatic truths in any layout; without it a simulated editor makes them, see
        :func:`edgecritic.maps.editing.simulated_edits`.
    radius : float
        How far that editor looks.
    detectors, measures : sequences of ids, optional
        The paper's if not given.
    out : path, optional
        Where finished images are kept; `fresh` computes them anew.
    """
    seen = [case for case in cases if case.image is not None]
    if not seen:
        raise DataError("no image has a photo", remedy="give their folder with --images")
    chosen = tuple(str(bind(one)) for one in detectors or DEFAULT_DETECTORS)
    bound = choose(list(measures) if measures else None, MEASURES)
    files = {} if own is None else {case.id: case.truths[0] for case in find_cases(None, own)}
    home = absolute(out)
    work = [
        _Job(
            case=case,
            own=files.get(case.id),
            radius=radius,
            detectors=chosen,
            measures=tuple(str(one) for one in bound),
            folder=None if home is None else home / RECORDS / "@truths",
            fresh=fresh,
        )
        for case in seen
        if own is None or case.id in files
    ]
    if not work:
        raise DataError("holds no truth for any of the images; names must be the same", path=own)
    done = dict(run_tasks(_judged, work, jobs=jobs, cluster=cluster, progress=progress))
    ordered = [done[job.case.id] for job in work]
    failures = tuple(one for one in ordered if isinstance(one, Failure))
    images = tuple(one for one in ordered if isinstance(one, ImageTruths))
    if not images:
        raise DataError(f"no image could be judged: {failures[0].message}")
    study = TruthsStudy(
        detectors=chosen,
        measures=tuple(str(one) for one in bound),
        better=tuple(one.entry.info.better for one in bound),
        images=images,
        editor=f"a simulated editor who looks {radius:g} pixels far" if own is None else str(own),
    )
    return TruthsRun(study=study, failures=failures)


def load_truths(
    case: Case, own: str | Path | None, radius: float
) -> tuple[NDArray[np.float64], BoolArray, BoolArray]:
    """Return the photo, the hand-made and the semi-automatic truth of an image."""
    image = case.load_image(colour=True)
    hand = case.load_truths(binarize=0.5)[0]
    if own is not None:
        semi = read_truths(own, binarize=0.5)[0]
    else:
        found = propose(image)
        semi = replay(
            found.levels,
            found.level,
            simulated_edits(found.levels, hand, level=found.level, radius=radius),
        )
    for name, truth in (("hand-made", hand), ("semi-automatic", semi)):
        if truth.shape != image.shape[:2]:
            raise DataError(f"the {name} truth has the shape {truth.shape}, the photo {image.shape[:2]}")
    return image, hand, semi


def _judged(job: _Job) -> tuple[str, ImageTruths | Failure]:
    name = job.case.id
    return name, attempt(
        lambda: _kept(job), lambda message: Failure(id=name, path=str(job.case.image), message=message)
    )


def _kept(job: _Job) -> ImageTruths:
    paths = [*job.case.truths, job.case.image, *([job.own] if job.own else [])]
    files = digest(read_content(path) for path in paths if path is not None)
    key = record_key([RECORD_VERSION, files, job.radius, job.detectors, job.measures])

    def compute() -> dict[str, Any]:
        image, *truths = load_truths(job.case, job.own, job.radius)
        found = judge_truths(job.case.id, image, truths, detectors=job.detectors, measures=job.measures)
        return as_record(found)

    return from_record(job.case.id, kept(job.folder, job.case.id, key, compute, fresh=job.fresh))
