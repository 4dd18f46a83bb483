"""The plan of a benchmark run, kept beside its records: what is judged, how, and what results are made of it.

``run.json`` and the records are all that a report needs, on any machine, finished or not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from edgecritic.datasets.cases import Dataset
from edgecritic.datasets.content import read_text
from edgecritic.errors import DataError, EdgeCriticError
from edgecritic.protocols.benchmark import BenchmarkResult
from edgecritic.protocols.protocol import Protocol
from edgecritic.run.bench_results import crispness_of, oracle_of, pooled, results_record
from edgecritic.run.class_results import class_notes
from edgecritic.run.classes import ClassJob, class_settings
from edgecritic.run.files import with_tuples, write_json
from edgecritic.run.judge import Job, Judged, settings
from edgecritic.run.results import Failure
from edgecritic.run.store import RECORDS, REGIONS, record_key
from edgecritic.run.volumes import volume_notes
from edgecritic.values import Value

__all__ = ["PLAN", "DetectorPlan", "OnCurves", "Plan", "plan_of", "read_plan", "summed_up", "write_plan"]

OnCurves = Callable[[dict[str, Any]], None]
"""What is called with the curves of a run before its confidence intervals are known."""

PLAN = "run.json"
"""The file of the plan, in the folder of a run."""

_SCHEMA = 3
_MOST_BYTES = 2**28
_THICK = 0.5  # thin maps have an average crispness above .85, the maps of networks and filters below .45


class DetectorPlan(Value):
    """What is judged of one detector.

    Attributes
    ----------
    name : str
    images : tuple of str
    settings : str
        What its records have in common; others in the same folder are left from earlier runs.
    notes : tuple of str
        What is to be said of its files.
    """

    name: str
    images: tuple[str, ...]
    settings: str
    notes: tuple[str, ...] = ()


class Plan(Value):
    """What a run judges, and how.

    Attributes
    ----------
    protocol : Protocol
    truth : str
        The name of the folder of truths.
    extras : tuple of str
    draws : int
        Of the bootstrap.
    detectors : tuple of DetectorPlan
    human : bool
        Whether records tell of the annotators too.
    binarize : float or None
    resize : str or None
    """

    protocol: Protocol
    truth: str
    extras: tuple[str, ...]
    draws: int
    detectors: tuple[DetectorPlan, ...]
    human: bool = False
    binarize: float | None = None
    resize: str | None = None


def plan_of(work: Sequence[Job | ClassJob], sets: Mapping[str, Dataset], truth: str, draws: int) -> Plan:
    """Return the plan of the jobs of a run; there is at least one."""
    first = work[0]
    found: dict[str, list[Job | ClassJob]] = {name: [] for name in sets}
    for job in work:
        found[job.detector].append(job)
    detectors = tuple(
        DetectorPlan(
            name=name,
            images=tuple(job.case.id for job in jobs),
            settings=record_key(_settings(jobs[0])) if jobs else "",
            notes=_file_notes(sets[name]),
        )
        for name, jobs in found.items()
    )
    return Plan(
        protocol=first.protocol,
        truth=truth,
        extras=first.extras,
        draws=draws,
        detectors=detectors,
        human=any(isinstance(job, Job) and job.human for job in work),
        binarize=first.reading.binarize if isinstance(first, Job) else None,
        resize=first.resize if isinstance(first, ClassJob) else None,
    )


def _settings(job: Job | ClassJob) -> dict[str, Any]:
    return class_settings(job) if isinstance(job, ClassJob) else settings(job)


def _file_notes(found: Dataset) -> tuple[str, ...]:
    """Return what is to be said of the files of a detector; those without a prediction are failures."""
    kept = replace(found, without_prediction=())
    return (*kept.notes(), *kept.problems())


def write_plan(folder: Path, plan: Plan) -> None:
    """Write ``run.json``."""
    write_json(folder / PLAN, {"schema": _SCHEMA, **plan.as_dict()})


def read_plan(folder: Path) -> Plan:
    """Read ``run.json`` of a folder.

    Raises
    ------
    DataError
        If the folder holds no run, or one of another version.
    """
    file = folder / PLAN
    if not file.exists() and (folder / RECORDS / REGIONS).is_dir():
        raise DataError(
            "is a run of regions alone, which has no numbers of boundaries",
            path=folder,
            remedy="judge the boundaries of the same files, with regions beside them: "
            "edgecritic bench --also regions",
        )
    if not file.exists():
        raise DataError(
            "is no folder of a benchmark run",
            path=folder,
            remedy="give the folder --out of edgecritic bench; runs of earlier versions are judged again",
        )
    try:
        content = json.loads(read_text(file, limit=_MOST_BYTES))
        if content.pop("schema") != _SCHEMA:
            raise DataError("is of another version", path=file, remedy="run edgecritic bench again")
        fields = {**content, "protocol": Protocol(**with_tuples(content["protocol"]))}
        detectors = tuple(DetectorPlan(**with_tuples(one)) for one in content["detectors"])
        return Plan(**{**fields, "extras": tuple(content["extras"]), "detectors": detectors})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(f"is no plan of a run: {error}", path=file) from error


def summed_up(
    plan: Plan,
    judged: Mapping[str, Mapping[str, Judged]],
    failures: Sequence[Failure],
    *,
    curves: Sequence[dict[str, Any]] = (),
    oracle: bool = False,
    regions: Mapping[str, dict[str, Any]] | None = None,
    notes: Sequence[str] = (),
    on_curves: OnCurves | None = None,
) -> tuple[dict[str, Any], dict[str, BenchmarkResult]]:
    """Make the results of all images that were judged: what ``results.json`` holds, and the full numbers.

    Parameters
    ----------
    judged : dict of dict of Judged
        By detector and image.
    failures : sequence of Failure
    curves, oracle, regions
        As for `edgecritic.run.bench.run_bench`; `regions` are the entries of detectors.
    notes : sequence of str
        What is to be said beside what the plan and the records say.
    on_curves : callable, optional
        As for `edgecritic.run.bench.run_bench`.
    """
    details, undefined = _results(plan, judged)
    if on_curves is not None:
        on_curves(_curves_record(plan, judged, details, curves))
    details = {name: one.with_intervals(draws=plan.draws) for name, one in details.items()}
    best, no_oracle = oracle_of(details, plan.protocol) if oracle else (None, [])
    order = {one.name: place for place, one in enumerate(plan.detectors)}
    record = results_record(
        protocol=plan.protocol,
        truth=plan.truth,
        judged=judged,
        details=details,
        extras=plan.extras,
        draws=plan.draws,
        curves=curves,
        oracle=best,
        failures=sorted([*failures, *undefined], key=lambda one: order.get(one.detector, len(order))),
        notes=[
            *_notes(plan, judged),
            *class_notes(plan.protocol, details, plan.resize),
            *no_oracle,
            *notes,
        ],
        regions=regions or {},
    )
    return record, details


def _curves_record(
    plan: Plan,
    judged: Mapping[str, Mapping[str, Judged]],
    details: Mapping[str, BenchmarkResult],
    curves: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """Return the part of the results that figures show, which is known before intervals are drawn."""
    return results_record(
        protocol=plan.protocol,
        truth=plan.truth,
        judged=judged,
        details=details,
        extras=(),
        draws=0,
        curves=curves,
        oracle=None,
        failures=(),
        notes=[],
        regions={},
    )


def _results(
    plan: Plan, judged: Mapping[str, Mapping[str, Judged]]
) -> tuple[dict[str, BenchmarkResult], list[Failure]]:
    """Sum up every detector, without intervals; one whose numbers are undefined becomes a failure."""
    details, failures = {}, []
    for name, items in judged.items():
        try:
            details[name] = pooled(plan.protocol, items, "main")
        except EdgeCriticError as error:
            failures.append(Failure(id="all images", message=str(error), detector=name))
    return details, failures


def _thick_notes(judged: Mapping[str, Mapping[str, Judged]], protocol: Protocol) -> list[str]:
    """Say which maps need the suppression that the protocol does not have."""
    if protocol.nms != "none" or not protocol.thin:
        return []
    means = {name: (crispness_of(items) or {}).get("mean", 1.0) for name, items in judged.items()}
    return [
        f"{name}: the maps are thick (average crispness {mean:.2f}) and {protocol.id} suppresses no "
        "non-maxima, which costs precision; maps of networks are judged with a recipe, such as --nms hed"
        for name, mean in means.items()
        if mean < _THICK
    ]


def _notes(plan: Plan, judged: Mapping[str, Mapping[str, Judged]]) -> list[str]:
    cut = plan.binarize
    notes = [] if cut is None else [f"grey truths were cut at {cut:g} of the largest possible value"]
    notes += [*_thick_notes(judged, plan.protocol), *volume_notes(judged, plan.extras)]
    notes += [f"{one.name}: {note}" for one in plan.detectors for note in one.notes]
    for name, items in judged.items():
        notes += [f"{name}: {note}" for item in items.values() for note in item.numbers["notes"]]
    return notes
