"""Detectors judged on labels of growing strength, and on as few labels chosen by place (the control)."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from edgecritic.annotators.census import LEVELS
from edgecritic.annotators.outputs import OutputStrength, output_strength, pool_output_strength
from edgecritic.annotators.partial import partial_labels
from edgecritic.datasets.cases import Case, find_cases
from edgecritic.datasets.content import digest
from edgecritic.datasets.spacing import Sizes
from edgecritic.errors import DataError, InputError
from edgecritic.geometry import Resample
from edgecritic.protocols.benchmark import Benchmark, BenchmarkResult
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.protocol import Protocol
from edgecritic.protocols.sweep import sweep
from edgecritic.run.cache import open_cache, weigh_labels
from edgecritic.run.executor import Progress, absolute, run_tasks
from edgecritic.run.files import write_json
from edgecritic.run.judge import Loaded, Reading
from edgecritic.run.protocol_file import find_protocol
from edgecritic.run.results import Failure, Run, attempt, failure_rows
from edgecritic.run.seen import without_seen
from edgecritic.run.store import RECORDS, kept, record_key, safe_name

__all__ = ["StrengthRun", "run_strength", "SCHEMA"]

SCHEMA = 1
"""Version of the layout of ``strength.json``."""

RECORD_VERSION = 4
DRAWS = 10


class StrengthRun(Run):
    """Detectors judged on labels of growing strength; `results` is what ``strength.json`` holds."""


@dataclass(frozen=True, slots=True)
class _Job:
    detector: str
    case: Case
    protocol: Protocol
    levels: tuple[float, ...]
    draws: int
    seed: int
    folder: Path | None
    fresh: bool
    reading: Reading
    cache: Path | None = None


def run_strength(
    detectors: Mapping[str, str | Path],
    truth: str | Path,
    *,
    protocol: str | Path | Protocol = "bsds",
    levels: Sequence[float] = LEVELS,
    draws: int = DRAWS,
    seed: int = 0,
    out: str | Path | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    masks: str | Path | None = None,
    split: str | None = None,
    binarize: float | None = None,
    spacing: Sizes | Literal["file"] | None = None,
    resample: Resample = None,
    fresh: bool = False,
    only: Collection[str] | None = None,
    seen: bool = False,
    cache: bool = True,
    progress: Progress | None = None,
) -> StrengthRun:
    """Judge detectors on the labels of at least each strength.

    For every level each annotator's map keeps its labels of that strength or more, and the whole protocol
    is run on what is left. Level 0 is the usual benchmark, level 1 that on consensus labels. The control
    keeps as many labels as the highest level does, but chosen by place (`partial_labels`), averaged over
    draws; there is none if the highest level is 0, which leaves no label out.

    The precision bonus is what a candidate gains because a match with any single annotator counts: P minus
    the mean over annotators of the share of candidate pixels that match that annotator.

    Parameters
    ----------
    detectors, truth, protocol, out, jobs, cluster, masks, split
    binarize, spacing, resample, fresh, seen, cache, progress
        As for :func:`edgecritic.run.bench.run_bench`; the same `out` may be used.
    levels : sequence of float
        Strengths in [0, 1].
    draws, seed : int
        Of the control; 0 draws leave it out.
    only : collection of str, optional
        Only the images of these names.

    Returns
    -------
    StrengthRun
    """
    chosen = find_protocol(protocol)
    steps = tuple(sorted({float(level) for level in levels}))
    if not steps or not all(0 <= level <= 1 for level in steps):
        raise InputError(f"strengths must lie in [0, 1], got {list(levels)}")
    drawn = draws if steps[-1] > 0 else 0
    folder = absolute(out)
    reading = Reading(binarize, spacing, resample)
    work: list[_Job] = []
    failures: list[Failure] = []
    for name, place in detectors.items():
        found = find_cases(absolute(place), Path(truth).absolute(), masks=absolute(masks), split=split)
        if not found.cases:
            raise DataError(f"{'; '.join(found.no_case())}", path=place)
        if not seen:
            found, lost = without_seen(name, place, found)
            failures += lost
        records = None if folder is None else folder / RECORDS / "@strength" / safe_name(name)
        cases = [case for case in found if only is None or case.id in only]
        work += [_Job(name, case, chosen, steps, drawn, seed, records, fresh, reading) for case in cases]
    finished: dict[str, dict[str, Any]] = {name: {} for name in detectors}
    with open_cache(cache) as known:
        work = [replace(job, cache=known) for job in work]
        for done in run_tasks(_judge, work, jobs=jobs, cluster=cluster, progress=progress):
            if isinstance(done, Failure):
                failures.append(done)
            else:
                name, image, content = done
                finished[name][image] = content
    if not any(finished.values()):
        raise DataError(f"no image could be judged: {failures[0].message}")
    results = {
        "schema": SCHEMA,
        "protocol": {**chosen.as_dict(), "digest": chosen.digest},
        "truth": Path(truth).name,
        "levels": list(steps),
        "draws": drawn,
        "seed": seed,
        "detectors": [
            _entry(name, images, chosen, steps, drawn) for name, images in finished.items() if images
        ],
        "failures": failure_rows(failures),
    }
    if folder is not None:
        write_json(folder / "strength.json", results)
    return StrengthRun(results=results)


def _judge(job: _Job) -> tuple[str, str, dict[str, Any]] | Failure:
    """Judge one image, or take it from the store; a bad file becomes a failure."""

    def judged() -> tuple[str, str, dict[str, Any]]:
        case = job.case.read()
        content = kept(job.folder, case.id, _key(case, job), lambda: _measure(case, job), fresh=job.fresh)
        return job.detector, case.id, content

    return attempt(judged, lambda message: Failure.of_case(job.case, message, detector=job.detector))


def _key(case: Case, job: _Job) -> str:
    files = digest(
        case.contents[path] for path in (*case.truths, case.prediction, case.mask) if path is not None
    )
    settings = [job.protocol.digest, job.levels, job.draws, job.seed, job.reading.as_dict()]
    return record_key([RECORD_VERSION, *settings, files])


def _measure(case: Case, job: _Job) -> dict[str, Any]:
    loaded = Loaded(case, job.protocol, job.reading)
    if loaded.segmented:
        raise InputError(f"{case.id}: label strength needs a soft map, this prediction holds segmentations")
    output, mask, truths, spacing = loaded.strength, loaded.mask, loaded.truths, loaded.spacing
    if mask is not None:
        truths = [truth & mask for truth in truths]
    reach = job.protocol.tolerance_for(truths[0].shape, spacing)
    found = weigh_labels(truths, tolerance=reach, spacing=spacing, cache=job.cache, fresh=job.fresh)
    given = replace(job.protocol, truth="given")  # the labels are boundaries already

    def counts(maps: Any) -> Any:
        return sweep(output, maps, protocol=given, mask=mask, spacing=spacing).counts.as_dict()

    draws = [
        partial_labels(found, level=job.levels[-1], seed=[job.seed, draw, *os.fsencode(case.id)])
        for draw in range(job.draws)
    ]
    seen = output if mask is None else np.where(mask, output, 0.0)
    return {
        "shape": list(found.shape),
        "tolerance": found.tolerance,
        "annotators": found.annotators,
        "levels": [counts(found.at_least(level)) for level in job.levels],
        "partial": [counts(maps) for maps in draws],
        "outputs": output_strength(seen, found, thinned=job.protocol.thin).counts.tolist(),
    }


def _entry(
    name: str, images: Mapping[str, Any], protocol: Protocol, levels: tuple[float, ...], draws: int
) -> dict[str, Any]:
    rows, curves = [], []
    for place, level in enumerate(levels):
        found = _result(images, protocol, "levels", place)
        rows.append({"strength": level, **found.ods.as_dict(), **_bonus(images, found, protocol)})
        if place in (0, len(levels) - 1):
            curves.append({"strength": level, "control": False, **_mean_curve([found])})
    controls = [_result(images, protocol, "partial", draw) for draw in range(draws)]
    partial = [one.ods for one in controls]
    if controls:
        curves.append({"strength": levels[-1], "control": True, **_mean_curve(controls)})
    parts = [
        OutputStrength(
            counts=np.array(one["outputs"]), strengths=np.arange(1, one["annotators"] + 1) / one["annotators"]
        )
        for one in images.values()
    ]
    return {
        "name": name,
        "images": len(images),
        "levels": rows,
        "partial": None if not partial else {"strength": levels[-1], **_mean_point(partial)},
        "curves": curves,
        "outputs": pool_output_strength(parts).as_dict(),
    }


def _mean_curve(found: Sequence[BenchmarkResult]) -> dict[str, list[float]]:
    """Return recall and precision over the thresholds, the mean over several results."""
    return {
        name: [
            round(float(value), 6) for value in np.mean([getattr(one.summary, name) for one in found], axis=0)
        ]
        for name in ("recall", "precision")
    }


def _result(images: Mapping[str, Any], protocol: Protocol, part: str, place: int) -> BenchmarkResult:
    benchmark = Benchmark(protocol)
    for name in sorted(images):
        benchmark.add_counts(name, Counts.from_dict(images[name][part][place]))
    return benchmark.result(draws=0)


def _bonus(images: Mapping[str, Any], found: BenchmarkResult, protocol: Protocol) -> dict[str, float]:
    """Return precision by union and by annotator, at the threshold of the grid next to the optimum.

    Matchings are one to one: the matched truth pixels of an annotator are as many as the candidate pixels
    that match that annotator.
    """
    nearest = int(np.argmin(np.abs(protocol.threshold_values() - float(found.ods.threshold or 0.0))))
    hits = total = matched = single = 0.0
    for name, one in images.items():
        counts = found.counts[name]
        matched += counts.matched_candidate[nearest]
        total += counts.candidate[nearest]
        hits += counts.matched_truth[nearest]
        single += one["annotators"] * counts.candidate[nearest]
    union = matched / total if total else 0.0
    each = hits / single if single else 0.0
    return {"union_precision": union, "annotator_precision": each, "precision_bonus": union - each}


def _mean_point(points: Sequence[Any]) -> dict[str, float | None]:
    """Return the mean over draws, and the standard deviation of F if there are several."""
    f = np.array([point.f for point in points])
    return {
        "f": float(f.mean()),
        "sd": float(f.std(ddof=1)) if f.size > 1 else None,
        "precision": float(np.mean([point.precision for point in points])),
        "recall": float(np.mean([point.recall for point in points])),
    }
