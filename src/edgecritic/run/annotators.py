"""The annotators of a data set: strength, agreement and human level of all images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from edgecritic.annotators.census import Census, shares
from edgecritic.annotators.perceptual import agreement_matrix
from edgecritic.datasets.cases import Case, find_cases
from edgecritic.datasets.content import digest
from edgecritic.errors import DataError
from edgecritic.inputs import DEFAULT_RELATIVE_TOLERANCE, as_spacing, as_tolerance
from edgecritic.maps.boundaries import check_truth_rule
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.human import human_level
from edgecritic.run.cache import open_cache, weigh_labels
from edgecritic.run.executor import Progress, absolute, run_tasks
from edgecritic.run.files import write_json
from edgecritic.run.results import Failure, Run, attempt, failure_rows
from edgecritic.run.store import RECORDS, kept, record_key

__all__ = ["AnnotatorsRun", "run_annotators", "SCHEMA"]

SCHEMA = 1
"""Version of the layout of ``annotators.json``."""

RECORD_VERSION = 3


class AnnotatorsRun(Run):
    """A finished analysis; `results` is what ``annotators.json`` holds.

    Attributes
    ----------
    cases : dict of Case
    """

    cases: dict[str, Case]


@dataclass(frozen=True, slots=True)
class _Job:
    case: Case
    tolerance: float | None
    relative_tolerance: float | None
    surface: str
    folder: Path | None
    fresh: bool
    cache: Path | None


def run_annotators(
    truth: str | Path,
    *,
    tolerance: float | None = None,
    relative_tolerance: float | None = None,
    surface: str = "given",
    split: str | None = None,
    images: str | Path | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    fresh: bool = False,
    cache: bool = True,
    progress: Progress | None = None,
) -> AnnotatorsRun:
    """Weigh the labels of every image of a data set.

    Parameters
    ----------
    truth : path
        Truths in any known layout, with several annotators per image.
    tolerance, relative_tolerance : float, optional
        Largest distance of a match in pixels, or as a share of the diagonal (default 0.0075). In volumes
        whose files tell their voxel size, in millimetres.
    surface : {"given", "inner"}
        What of a truth is its boundary, a rule of :data:`edgecritic.maps.boundaries.TRUTH_RULES`: ``inner``
        takes objects and labels.
    split, images
        See :func:`edgecritic.datasets.cases.find_cases`.
    out : path, optional
        Where finished images and ``annotators.json`` are kept; started again, only what is missing is done.
    jobs, cluster, progress
        See :func:`edgecritic.run.executor.run_tasks`.
    fresh : bool
        Compute everything anew.
    cache : bool
        As for :func:`edgecritic.run.bench.run_bench`.

    Raises
    ------
    DataError
        If no image has two annotators.
    """
    check_truth_rule(surface)
    folder = absolute(out)
    found = find_cases(None, Path(truth).absolute(), images=absolute(images), split=split)
    if not found.cases:
        raise DataError("holds no truth", path=truth)
    if tolerance is None and relative_tolerance is None:
        relative_tolerance = DEFAULT_RELATIVE_TOLERANCE
    records = None if folder is None else folder / RECORDS / "@annotators"
    with open_cache(cache) as place:
        work = [_Job(case, tolerance, relative_tolerance, surface, records, fresh, place) for case in found]
        finished = dict(run_tasks(_weigh, work, jobs=jobs, cluster=cluster, progress=progress))
    order = [case.id for case in found]
    good = {name: finished[name] for name in order if not isinstance(finished[name], Failure)}
    failures = [finished[name] for name in order if name not in good]
    several = {name: one for name, one in good.items() if len(one["census"]) > 1}
    if not several:
        message = failures[0].message if failures else "every image has a single one"
        raise DataError(f"no image has two annotators that can be compared: {message}", path=truth)
    results = {
        "schema": SCHEMA,
        "truth": Path(truth).name,
        "layout": found.layout,
        **_summary(several),
        "tolerance": tolerance,
        "relative_tolerance": relative_tolerance,
        "surface": surface,
        "per_image": [_row(name, one) for name, one in several.items()],
        "single": [name for name in good if name not in several],
        "failures": failure_rows(failures),
    }
    if folder is not None:
        write_json(folder / "annotators.json", results)
    return AnnotatorsRun(results=results, cases={case.id: case for case in found})


def _weigh(job: _Job) -> tuple[str, dict[str, Any] | Failure]:
    """Analyse one image, or take it from the store; a bad file becomes a failure."""

    def weighed() -> dict[str, Any]:
        case = job.case.read()
        files = digest(case.contents[path] for path in case.truths)
        key = record_key([RECORD_VERSION, job.tolerance, job.relative_tolerance, job.surface, files])
        return kept(job.folder, case.id, key, lambda: _measure(case, job), fresh=job.fresh)

    return job.case.id, attempt(weighed, lambda message: Failure.of_case(job.case, message))


def _measure(case: Case, job: _Job) -> dict[str, Any]:
    truths = case.load_truths(rule=job.surface)
    if len(truths) == 1:
        return {"census": [int(np.count_nonzero(truths[0]))], "shape": list(truths[0].shape)}
    shape = truths[0].shape
    spacing = case.truth_spacing()
    reach = as_tolerance(shape, as_spacing(spacing, len(shape)), job.tolerance, job.relative_tolerance)
    found = weigh_labels(truths, tolerance=reach, spacing=spacing, cache=job.cache, fresh=job.fresh)
    return {
        "shape": list(found.shape),
        "unit": "px" if len(shape) == 2 else "voxels" if spacing is None else "mm",
        "tolerance": found.tolerance,
        "census": list(Census.of(found).counts),
        "matches": found.matches.tolist(),
        "human": found.human_counts().as_dict(),
    }


def _summary(images: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    censuses = [Census(counts=tuple(one["census"])) for one in images.values()]
    by_boundary, by_label = shares(censuses), shares(censuses, weight="label")
    human = human_level(Counts.from_dict(one["human"]) for one in images.values())
    means = np.array([_mean_agreement(one) for one in images.values()])
    sizes = np.array([one["tolerance"] for one in images.values()])
    return {
        "images": len(images),
        "maps": sum(len(one["census"]) for one in images.values()),
        "labels": by_boundary.labels,
        "orphan_share": by_boundary.orphan,
        "consensus_share": by_boundary.consensus,
        "strength": by_boundary.as_dict()["levels"],
        "per_label": {
            "orphan_share": by_label.orphan,
            "consensus_share": by_label.consensus,
            "strength": by_label.as_dict()["levels"],
        },
        "consensus_at": _consensus_at(censuses),
        "agreement": {
            "mean": float(means.mean()),
            "sd": float(means.std()),
            "least": float(means.min()),
            "most": float(means.max()),
        },
        "human": None if human is None else human.as_dict(),
        "tolerance_pixels": [float(sizes.min()), float(sizes.max())],
        "tolerance_unit": " or ".join(sorted({one["unit"] for one in images.values()})),
    }


def _consensus_at(censuses: Sequence[Census]) -> list[dict[str, Any]]:
    """Return, by the number of annotators n, which share of the boundaries at least k of them drew."""
    rows = []
    for number in sorted({len(one.counts) for one in censuses}):
        group = [one.counts for one in censuses if len(one.counts) == number]
        distinct = np.sum(group, axis=0) / np.arange(1, number + 1)
        total = distinct.sum()
        reached = distinct[::-1].cumsum()[::-1] / total if total > 0 else np.zeros(number)
        rows.append(
            {"annotators": number, "images": len(group), "at_least": [float(share) for share in reached]}
        )
    return rows


def _row(name: str, one: Mapping[str, Any]) -> dict[str, Any]:
    census = Census(counts=tuple(one["census"]))
    empty = sum(census.counts) == 0
    found = None if empty else shares([census])
    return {
        "id": name,
        "annotators": len(census.counts),
        "labels": sum(census.counts),
        "orphan_share": None if found is None else found.orphan,
        "consensus_share": None if found is None else found.consensus,
        "agreement": _mean_agreement(one),
        "matrix": [[round(float(value), 6) for value in row] for row in agreement_matrix(one["matches"])],
    }


def _mean_agreement(one: Mapping[str, Any]) -> float:
    f = agreement_matrix(one["matches"])
    return float(f[np.triu_indices(len(f), 1)].mean())
