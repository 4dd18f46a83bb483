"""The study of choosing edge maps without truth, over many images."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets.cases import Case
from edgecritic.datasets.content import digest
from edgecritic.datasets.files import read_mask
from edgecritic.datasets.layouts.base import find_maps
from edgecritic.errors import DataError, InputError
from edgecritic.inputs import BoolArray
from edgecritic.measures.unsupervised import as_patterns
from edgecritic.run.executor import Progress, absolute, run_tasks
from edgecritic.run.files import write_text
from edgecritic.run.results import Failure, attempt, failure_rows
from edgecritic.run.store import RECORDS, kept, record_key
from edgecritic.studies.complexity import (
    MEASURES,
    ComplexityStudy,
    ImageCurves,
    curves_of_case,
    summarise_curves,
)
from edgecritic.values import Value

__all__ = ["ComplexityRun", "read_patterns", "run_complexity"]

RECORD_VERSION = 2
_ARRAYS = ("thresholds", "sizes", "alone", "known", "truths")


class ComplexityRun(Value):
    """The study of the images that could be studied, and why the others could not."""

    study: ComplexityStudy
    failures: tuple[Failure, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the study and the failures, ready for JSON."""
        return {**self.study.as_dict(), "failures": failure_rows(self.failures)}


def run_complexity(
    cases: Sequence[Case],
    *,
    annotators: Sequence[int] | None = None,
    patterns: NDArray[np.bool_] | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> ComplexityRun:
    """Study images that have a photo and at least one truth.

    Parameters
    ----------
    annotators : sequence of int, optional
        Judge against the truths of these places, from 1, only; images that lack one are left out and named.
    patterns : (n, side, side) array, optional
        A family in place of the 140 lines.
    out : path, optional
        Finished images are kept there, and ``curves.csv`` has all curves; `fresh` computes them anew.
    """
    seen = [case for case in cases if case.image is not None]
    if not seen:
        raise DataError("no image has a photo", remedy="give their folder with --images")
    folder = absolute(out)
    records = None if folder is None else folder / RECORDS / "@complexity"
    work = [(case, annotators, patterns, records, fresh) for case in seen]
    finished = list(run_tasks(_curves, work, jobs=jobs, cluster=cluster, progress=progress))
    curves = [one for one in finished if isinstance(one, ImageCurves)]
    failures = sorted((one for one in finished if isinstance(one, Failure)), key=lambda one: one.id)
    if not curves:
        raise DataError(f"no image could be studied: {failures[0]}")
    study = summarise_curves(curves)
    if folder is not None:
        write_text(folder / "curves.csv", _csv(study))
    return ComplexityRun(study=study, failures=tuple(failures))


def read_patterns(folder: str | Path) -> NDArray[np.bool_]:
    """Read a family of patterns: binary maps of one odd side, one file each, in the order of their names."""
    files = find_maps(Path(folder).absolute()).files
    if not files:
        raise DataError("holds no pattern", path=folder)
    maps: list[BoolArray] = [read_mask(path) for name in sorted(files) for path in files[name]]
    if len({one.shape for one in maps}) > 1:
        raise DataError("the patterns differ in size", path=folder)
    try:
        return as_patterns(np.array(maps))
    except InputError as error:
        error.at(folder)
        raise


def _curves(
    task: tuple[Case, Sequence[int] | None, NDArray[np.bool_] | None, Path | None, bool],
) -> ImageCurves | Failure:
    """Compute the curves of a case, or take them from the store; a bad file becomes a failure."""
    case, annotators, patterns, folder, fresh = task

    def found() -> ImageCurves:
        curves = _kept_curves(case, patterns, folder, fresh)
        return curves if annotators is None else curves.against([place - 1 for place in annotators])

    return attempt(found, lambda message: Failure.of_case(case, message))


def _kept_curves(
    case: Case, patterns: NDArray[np.bool_] | None, folder: Path | None, fresh: bool
) -> ImageCurves:
    read = case.read(image=True)
    files = digest(read.contents[path] for path in (*case.truths, case.image) if path is not None)
    family = None if patterns is None else [list(patterns.shape), np.packbits(patterns).tobytes().hex()]
    key = record_key([RECORD_VERSION, family, files])
    content = kept(folder, case.id, key, lambda: _record(read, patterns), fresh=fresh)
    arrays = {name: np.array(content[name]) for name in _ARRAYS}
    return ImageCurves(image=case.id, detectors=tuple(content["detectors"]), **arrays)


def _record(case: Case, patterns: NDArray[np.bool_] | None) -> dict[str, Any]:
    found = curves_of_case(case, patterns=patterns)
    return {
        "detectors": list(found.detectors),
        **{name: getattr(found, name).tolist() for name in _ARRAYS},
    }


def _csv(study: ComplexityStudy) -> str:
    """Return every value of every curve: a line per image, detector and threshold."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["image", "detector", "threshold", "pixels", *MEASURES])
    for one in study.curves:
        values = one.values
        for d, detector in enumerate(one.detectors):
            for k, threshold in enumerate(one.thresholds[d].tolist()):
                row = [f"{value:.6g}" for value in values[d, k]]
                writer.writerow([one.image, detector, f"{threshold:.6g}", int(one.sizes[d, k]), *row])
    return stream.getvalue()
