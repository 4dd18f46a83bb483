"""Regions judged over folders: hierarchies and segmentations against the label maps of annotators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from edgecritic.datasets.cases import Case, Dataset
from edgecritic.datasets.content import digest
from edgecritic.datasets.formats.base import find_format
from edgecritic.errors import EdgeCriticError, InputError
from edgecritic.protocols.protocol import Protocol
from edgecritic.protocols.region_summary import summarise_regions
from edgecritic.protocols.regions import Regions, sweep_hierarchy, sweep_segmentations
from edgecritic.run.bench_results import SCHEMA, detector_folder, versions
from edgecritic.run.executor import Progress, absolute, run_tasks
from edgecritic.run.files import make_folder, write_json
from edgecritic.run.places import check_places, data_sets, without_prediction
from edgecritic.run.protocol_file import find_protocol
from edgecritic.run.results import Failure, Run, attempt, failure_rows
from edgecritic.run.store import RECORDS, REGIONS, kept, record_key, safe_name

__all__ = ["RegionRun", "judge_regions", "region_entries", "run_regions"]

RECORD_VERSION = 1

Found = dict[str, dict[str, Regions]]
"""By detector and image."""


class RegionRun(Run):
    """Detectors judged by their regions; `results` is what ``results.json`` holds.

    Attributes
    ----------
    regions : dict of dict of Regions
        By detector and image.
    """

    regions: Found


@dataclass(frozen=True, slots=True)
class _Job:
    detector: str
    case: Case
    protocol: Protocol
    folder: Path | None
    fresh: bool


def run_regions(
    detectors: Mapping[str, str | Path],
    truth: str | Path,
    *,
    protocol: str | Path | Protocol = "bsds-regions",
    out: str | Path | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    masks: str | Path | None = None,
    split: str | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> RegionRun:
    """Judge the regions of every image of every detector: covering, PRI and VOI.

    Parameters
    ----------
    detectors, truth, out, jobs, cluster, masks, split, fresh, progress
        As for :func:`edgecritic.run.bench.run_bench`. Predictions are hierarchies (`ucm2`) or segmentations
        (`segs`), truths hold the label maps of annotators (`Segmentation`).
    protocol : str, path of a TOML file, or Protocol
        One that judges regions.
    """
    chosen = find_protocol(protocol)
    if chosen.judges != "regions":
        raise InputError(f"protocol {chosen.id} judges {chosen.judges}", remedy="take bsds-regions")
    if not detectors:
        raise InputError("give at least one folder of predictions")
    check_places(detectors, truth, out)
    folder = None if out is None else make_folder(Path(out).absolute())
    sets = data_sets(detectors, truth, masks=absolute(masks), split=split)
    regions, failures = judge_regions(
        sets, chosen, folder, jobs=jobs, cluster=cluster, fresh=fresh, progress=progress
    )
    failures += without_prediction(sets)
    entries = region_entries(regions, failures)
    record = {
        "schema": SCHEMA,
        "protocol": {**chosen.as_dict(), "digest": chosen.digest},
        "versions": versions(),
        "truth": Path(truth).resolve().name,
        "detectors": [
            {"name": name, "folder": detector_folder(name), "images": len(regions[name]), "regions": entry}
            for name, entry in entries.items()
        ],
        "failures": failure_rows(failures),
        "notes": [f"{name}: {line}" for name, found in sets.items() for line in _problems(found)],
    }
    if folder is not None:
        write_json(folder / "results.json", record)
    return RegionRun(results=record, regions={name: regions[name] for name in entries})


def judge_regions(
    sets: Mapping[str, Dataset],
    protocol: Protocol,
    folder: Path | None,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> tuple[Found, list[Failure]]:
    """Judge the regions of all cases, or take them from the records below `folder`."""
    records = None if folder is None else folder / RECORDS / REGIONS
    without = [name for name, found in sets.items() if not any(map(_may_hold_regions, found))]
    work = [
        _Job(name, case, protocol, None if records is None else records / safe_name(name), fresh)
        for name, found in sets.items()
        for case in found
        if name not in without
    ]
    finished = list(run_tasks(_judge, work, jobs=jobs, cluster=cluster, progress=progress))
    judged = sorted((one for one in finished if not isinstance(one, Failure)), key=lambda one: one[:2])
    regions: Found = {}
    for name in sets:
        images = {image: found for detector, image, found in judged if detector == name}
        if images:
            regions[name] = images
    told = "regions: no prediction is a hierarchy (ucm2) or holds segmentations (segs), in a .mat file"
    failures = [one for one in finished if isinstance(one, Failure)]
    return regions, [*failures, *(Failure(id="all images", message=told, detector=name) for name in without)]


def region_entries(regions: Found, failures: list[Failure]) -> dict[str, dict[str, Any]]:
    """Return what ``results.json`` holds of the regions of each detector.

    One whose images differ in their thresholds is added to the failures.
    """
    entries = {}
    for name, images in regions.items():
        try:
            entries[name] = _entry(images)
        except EdgeCriticError as error:
            failures.append(Failure(id="all images", message=f"regions: {error}", detector=name))
    return entries


def _may_hold_regions(case: Case) -> bool:
    found = None if case.prediction is None else find_format(case.prediction)
    return found is not None and found.info.hierarchy is not None


def _problems(found: Dataset) -> list[str]:
    return replace(found, without_prediction=()).problems()  # those are failures


def _entry(images: Mapping[str, Regions]) -> dict[str, Any]:
    summary = summarise_regions(images)
    scores = {name: getattr(summary, name).as_dict() for name in ("covering", "pri", "voi")}
    for name in ("pri", "voi"):
        del scores[name]["best"]
    curves = {
        "threshold": summary.thresholds,
        "covering": summary.covering_curve,
        "pri": summary.pri_curve,
        "voi": summary.voi_curve,
    }
    return {
        **scores,
        "images": len(images),
        "curve": {name: values.tolist() for name, values in curves.items()},
        "per_image": [
            {
                "id": row["name"],
                **{key: value for key, value in row.items() if key != "name"},
                "annotators": images[row["name"]].annotators,
            }
            for row in summary.images
        ],
    }


def _judge(job: _Job) -> tuple[str, str, Regions] | Failure:
    """Judge one image, or take it from the store; a bad file becomes a failure."""

    def judged() -> tuple[str, str, Regions]:
        case = job.case.read()
        content = kept(job.folder, case.id, _key(case, job), lambda: _measure(case, job), fresh=job.fresh)
        return job.detector, case.id, Regions.from_dict(content)

    return attempt(
        judged, lambda message: Failure.of_case(job.case, f"regions: {message}", detector=job.detector)
    )


def _key(case: Case, job: _Job) -> str:
    def hashed(paths: Iterable[Path | None]) -> str:
        return digest(case.contents[path] for path in paths if path is not None)

    files = [hashed(case.truths), hashed([case.prediction]), hashed([case.mask])]
    return record_key([RECORD_VERSION, job.protocol.threshold_values().tolist(), files])


def _measure(case: Case, job: _Job) -> dict[str, Any]:
    found, truths, mask = case.load_regions(), case.load_labels(), case.load_mask()
    if isinstance(found, list):
        return sweep_segmentations(found, truths, mask=mask).as_dict()
    return sweep_hierarchy(found, truths, protocol=job.protocol, mask=mask).as_dict()
