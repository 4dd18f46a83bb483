"""A benchmark run over folders: many images, several detectors, resumable, one result."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from edgecritic import __version__
from edgecritic.datasets.cases import Case, Dataset, find_cases
from edgecritic.errors import DataError, EdgeCriticError, InputError
from edgecritic.protocols.benchmark import Benchmark, BenchmarkResult
from edgecritic.protocols.crispness import summarise_crispness
from edgecritic.protocols.human import human_level
from edgecritic.protocols.presets import Protocol
from edgecritic.protocols.sweep import Sweep
from edgecritic.run.executor import Progress, absolute, run_tasks
from edgecritic.run.files import write_text
from edgecritic.run.judge import EXTRAS, TOLERANCE_SHARES, Failure, Job, Judged, judge, variants
from edgecritic.run.protocol_file import find_protocol
from edgecritic.run.store import safe_name

__all__ = ["BenchRun", "run_bench", "detector_folder", "SCHEMA"]

SCHEMA = 1
"""Version of the layout of ``results.json``."""

_RECORDS = "records"
_THICK = 0.5  # thin maps have an average crispness above .85, the maps of networks and filters below .45
_TAKEN = re.compile(r"records|results\.json|report\.html|table\.\w+|pr\.\w+|eval_bdry\w*\.txt", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchRun:
    """A finished run.

    Attributes
    ----------
    results : dict
        What ``results.json`` holds.
    details : dict of BenchmarkResult
        The full numbers by detector.
    cases : dict of dict of Case
        By detector and image the files that were judged.
    protocol : Protocol
    binarize : float or None
        Where grey truths were cut.
    """

    results: dict[str, Any]
    details: dict[str, BenchmarkResult]
    cases: dict[str, dict[str, Case]]
    protocol: Protocol
    binarize: float | None = None

    @property
    def failed(self) -> bool:
        """Whether at least one image could not be judged."""
        return bool(self.results["failures"])


def run_bench(
    detectors: Mapping[str, str | Path],
    truth: str | Path,
    *,
    protocol: str | Path | Protocol = "bsds",
    out: str | Path | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    extras: Sequence[str] = ("crispness",),
    images: str | Path | None = None,
    masks: str | Path | None = None,
    split: str | None = None,
    binarize: float | None = None,
    fresh: bool = False,
    draws: int = 1000,
    human: bool = True,
    curves: Sequence[dict[str, Any]] = (),
    progress: Progress | None = None,
) -> BenchRun:
    """Judge every image of every detector under one protocol.

    Parameters
    ----------
    detectors : mapping of name to folder
        One prediction per image; names of files tell which truth belongs to it.
    truth : path
        Folder of truths in any known layout.
    protocol : str, path of a TOML file, or Protocol
    out : path, optional
        Where finished images and ``results.json`` are kept. Started again after an interruption, or with
        more detectors, only what is missing is computed.
    jobs : int, optional
        Images judged at a time (default: one per processor).
    cluster : str, optional
        Address of a Dask scheduler, ``tcp://host:port``, whose workers see the same files.
    extras : sequence of str
        Any of ``crispness``, ``ceval`` (the protocol without suppression and thinning), ``tolerances``
        (ODS at ½ and ¼ of the tolerance).
    images, masks, split
        See `edgecritic.datasets.cases.find_cases`.
    binarize : float, optional
        Take values of truths of at least this share of the largest possible one as edges. Without it
        grey truths are refused, because where they are cut changes the score.
    fresh : bool
        Compute everything anew.
    draws : int
        Of the bootstrap; 0 leaves confidence intervals and tests out.
    human : bool
        Measure the human level where images have several annotators.
    curves : sequence of dict
        Published curves that are kept with the results and drawn beside them.
    progress : callable, optional
        Called with (done, total).
    """
    chosen = find_protocol(protocol)
    unknown = sorted(set(extras) - set(EXTRAS))
    if unknown:
        raise InputError(f"unknown extras {', '.join(unknown)}; known are {', '.join(EXTRAS)}")
    if not detectors:
        raise InputError("give at least one folder of predictions")
    if binarize is not None and not 0 < binarize <= 1:
        raise InputError(f"binarize must be a share in (0, 1], got {binarize!r}")
    if draws < 0:
        raise InputError(f"the number of bootstrap draws must be at least 0, got {draws}")
    _check_places(detectors, truth, out)
    folder = None if out is None else _made(Path(out).absolute())
    sets = {
        name: find_cases(
            absolute(place),
            Path(truth).absolute(),
            images=absolute(images),
            masks=absolute(masks),
            split=split,
        )
        for name, place in detectors.items()
    }
    for name, found in sets.items():
        if not found.cases:
            raise DataError(f"{detectors[name]}: {'; '.join(found.no_case())}")
    work = _jobs(sets, chosen, tuple(extras), folder, fresh, human, binarize)
    finished = list(run_tasks(judge, work, jobs=jobs, cluster=cluster, progress=progress))
    found_by = _by_detector(item for item in finished if isinstance(item, Judged))
    judged = {name: found_by[name] for name in detectors if name in found_by}
    failures = [item for item in finished if isinstance(item, Failure)]
    failures += [
        Failure(name, missing, "has a truth but no prediction")
        for name, found in sets.items()
        for missing in found.without_prediction
    ]
    details: dict[str, BenchmarkResult] = {}
    for name, items in judged.items():
        try:
            details[name] = _result(chosen, items, "main", draws)
        except EdgeCriticError as error:
            failures.append(Failure(name, "all images", str(error)))
    results = {
        "schema": SCHEMA,
        "protocol": _protocol_record(chosen, judged),
        "versions": _versions(),
        "truth": Path(truth).resolve().name,
        "human": _human(judged),
        "detectors": [_entry(name, details[name], judged[name], chosen, tuple(extras)) for name in details],
        "comparisons": _comparisons(details, draws),
        "curves": list(curves),
        "failures": _failure_rows(failures),
        "notes": _notes(sets, judged, chosen, binarize),
    }
    run = BenchRun(
        results=results,
        details=details,
        cases={name: {case.id: case for case in found} for name, found in sets.items()},
        protocol=chosen,
        binarize=binarize,
    )
    if folder is not None:
        write_text(folder / "results.json", json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    return run


def _jobs(
    sets: Mapping[str, Dataset],
    protocol: Protocol,
    extras: tuple[str, ...],
    folder: Path | None,
    fresh: bool,
    human: bool,
    binarize: float | None,
) -> list[Job]:
    """List the work; annotators are judged together with the first detector that has the image."""
    records = None if folder is None else folder / _RECORDS
    jobs = []
    people: set[str] = set()
    for name, found in sets.items():
        for case in found:
            first = human and case.id not in people
            jobs.append(Job(name, case, protocol, extras, records, fresh, first, binarize))
            people.add(case.id)
    return jobs


def _check_places(detectors: Mapping[str, str | Path], truth: str | Path, out: str | Path | None) -> None:
    """Refuse results among the maps, and the files of a folder given in its place."""
    if out is not None and any(
        Path(out).resolve() == Path(one).resolve() for one in (*detectors.values(), truth)
    ):
        raise InputError(f"{out}: holds maps that are judged; write the results to another folder")
    files = [Path(place) for place in detectors.values() if Path(place).is_file()]
    if len(files) > 1 and Path(truth).is_dir():
        raise InputError(
            f"{files[0]} and {len(files) - 1} more are files, but a detector is a folder of predictions; "
            f"give {files[0].parent}"
        )


def _made(folder: Path) -> Path:
    """Make the folder of results now rather than find out after the work that this is impossible."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"{folder}: cannot be made a folder of results ({error.strerror or error})"
        ) from error
    return folder


def detector_folder(name: str) -> str:
    """Return the name of the folder that holds a detector's files; none of a file of the run itself.

    Examples
    --------
    >>> detector_folder("canny"), detector_folder("records")[:8]
    ('canny', 'records-')
    """
    return safe_name(f"{name}/" if _TAKEN.fullmatch(name) else name)


def _by_detector(items: Iterable[Judged]) -> dict[str, dict[str, Judged]]:
    found: dict[str, dict[str, Judged]] = {}
    for item in sorted(items, key=lambda one: (one.detector, one.id)):
        found.setdefault(item.detector, {})[item.id] = item
    return found


def _result(protocol: Protocol, judged: Mapping[str, Judged], variant: str, draws: int) -> BenchmarkResult:
    benchmark = Benchmark(protocol)
    for name, item in judged.items():
        plain = item.counts[variant]
        benchmark.add_counts(
            name,
            Sweep(
                protocol=protocol,
                shape=tuple(item.numbers["shape"]),
                tolerance=item.numbers["tolerance"],
                annotators=item.numbers["annotators"],
                counts=np.array(plain["counts"]),
                zero=np.array(plain["zero"]),
            ),
        )
    return benchmark.result(draws=draws)


def _entry(
    name: str,
    result: BenchmarkResult,
    judged: Mapping[str, Judged],
    protocol: Protocol,
    extras: tuple[str, ...],
) -> dict[str, Any]:
    whole = result.summary.as_dict()
    ois = {key: value for key, value in whole["ois"].items() if key != "threshold"}
    return {
        "name": name,
        "folder": detector_folder(name),
        "images": len(judged),
        "ods": whole["ods"],
        "ois": ois,
        "ap": whole["ap"],
        "ap_rule": whole["ap_rule"],
        "ap_rules": whole["aps"],
        "r50": whole["r50"],
        "intervals": _intervals(result),
        "curve": whole["curve"],
        "crispness": _crispness(judged) if "crispness" in extras else None,
        "ceval": _ceval(judged, protocol, extras),
        "tolerances": _tolerances(judged, protocol, extras),
        "per_image": [_image_row(row, judged[row["name"]]) for row in whole["images"]],
    }


def _image_row(row: dict[str, Any], item: Judged) -> dict[str, Any]:
    return {
        "id": row["name"],
        "threshold": row["threshold"],
        "recall": row["recall"],
        "precision": row["precision"],
        "f": row["f"],
        "annotators": item.numbers["annotators"],
        "prediction_hash": item.numbers["prediction_hash"],
        "truth_hash": item.numbers["truth_hash"],
    }


def _intervals(result: BenchmarkResult) -> dict[str, Any] | None:
    found = result.intervals
    if found is None:
        return None
    parts = {"ods": found.ods, "ois": found.ois, "ap": found.ap}
    return {"level": found.level, **{key: [part.low, part.high] for key, part in parts.items()}}


def _crispness(judged: Mapping[str, Judged]) -> dict[str, Any] | None:
    values = [item.numbers.get("crispness") for item in judged.values()]
    numbers = [np.nan if value is None else float(value) for value in values]
    found = summarise_crispness(numbers).as_dict()
    if found["mean"] is None:  # segmentations, or empty maps only
        return None
    return {
        "mean": found["mean"],
        "min": found["least"],
        "max": found["most"],
        "images": found["images"] - found["empty"],
    }


def _ceval(
    judged: Mapping[str, Judged], protocol: Protocol, extras: tuple[str, ...]
) -> dict[str, Any] | None:
    if "ceval" not in extras:
        return None
    found = _result(variants(protocol, extras)["ceval"], judged, "ceval", 0).summary.as_dict()
    return {"ods": found["ods"], "ois": found["ois"], "ap": found["ap"]}


def _tolerances(
    judged: Mapping[str, Judged], protocol: Protocol, extras: tuple[str, ...]
) -> list[dict[str, Any]]:
    if "tolerances" not in extras:
        return []
    rows = []
    for share in TOLERANCE_SHARES:
        variant = "main" if share == 1 else f"tolerance-{share:g}"
        one = variants(protocol, extras)[variant]
        found = _result(one, judged, variant, 0)
        pixels = [one.tolerance_for(item.numbers["shape"]) for item in judged.values()]
        rows.append(
            {
                "relative_tolerance": one.relative_tolerance,
                "pixels": float(np.mean(pixels)),
                "ods": found.ods.f,
                "ois": found.ois.f,
            }
        )
    return rows


def _comparisons(details: Mapping[str, BenchmarkResult], draws: int) -> list[dict[str, Any]]:
    """Test every pair of detectors on the images that both have.

    Segmentations and soft maps are not tested against each other: they have no thresholds in common.
    """
    rows: list[dict[str, Any]] = []
    names = list(details)
    for at, first in enumerate(names):
        for second in names[at + 1 :]:
            common = sorted(details[first].counts.keys() & details[second].counts.keys())
            if not draws or len(common) < 2 or not _same_thresholds(details[first], details[second]):
                continue
            pair = [_only(details[name], common) for name in (first, second)]
            test = pair[0].against(pair[1], draws=draws)
            row: dict[str, Any] = {"first": first, "second": second, "images": len(common)}
            for key, part in (("ods", test.ods), ("ois", test.ois), ("ap", test.ap)):
                row[key] = {
                    "difference": part.estimate,
                    "low": part.low,
                    "high": part.high,
                    "p": part.p_value,
                }
            rows.append(row)
    return rows


def _same_thresholds(first: BenchmarkResult, second: BenchmarkResult) -> bool:
    one, other = (next(iter(result.counts.values()))[:, 0] for result in (first, second))
    return np.array_equal(one, other)


def _only(result: BenchmarkResult, names: Sequence[str]) -> BenchmarkResult:
    return BenchmarkResult(
        summary=result.summary,
        intervals=result.intervals,
        counts={name: result.counts[name] for name in names},
        zero={name: result.zero[name] for name in names},
    )


def _human(judged: Mapping[str, Mapping[str, Judged]]) -> dict[str, Any] | None:
    counts = [
        np.array(item.human) for items in judged.values() for item in items.values() if item.human is not None
    ]
    level = human_level(counts)
    return None if level is None else level.as_dict()


def _protocol_record(protocol: Protocol, judged: Mapping[str, Mapping[str, Judged]]) -> dict[str, Any]:
    pixels = [item.numbers["tolerance"] for items in judged.values() for item in items.values()]
    return {
        **protocol.as_dict(),
        "digest": protocol.digest,
        "tolerance_pixels": [min(pixels), max(pixels)] if pixels else None,
    }


def _versions() -> dict[str, str]:
    names = ("numpy", "numba", "scipy")
    versions = {name: version(name) for name in names}
    return {"python": platform.python_version(), "edgecritic": __version__, **versions}


def _failure_rows(failures: Iterable[Failure]) -> list[dict[str, str]]:
    rows = [{"detector": item.detector, "id": item.id, "message": item.message} for item in failures]
    return sorted(rows, key=lambda row: (row["detector"], row["id"]))


def _thick_notes(judged: Mapping[str, Mapping[str, Judged]], protocol: Protocol) -> list[str]:
    """Say which maps need the suppression that the protocol does not have."""
    if protocol.nms != "none" or not protocol.thin:
        return []
    means = {name: (_crispness(items) or {}).get("mean", 1.0) for name, items in judged.items()}
    return [
        f"{name}: the maps are thick (average crispness {mean:.2f}) and {protocol.id} suppresses no "
        "non-maxima, which costs precision; maps of networks are judged with a recipe, such as --nms hed"
        for name, mean in means.items()
        if mean < _THICK
    ]


def _notes(
    sets: Mapping[str, Dataset],
    judged: Mapping[str, Mapping[str, Judged]],
    protocol: Protocol,
    binarize: float | None,
) -> list[str]:
    kept = {name: replace(found, without_prediction=()) for name, found in sets.items()}  # they are failures
    notes = (
        [] if binarize is None else [f"grey truths were cut at {binarize:g} of the largest possible value"]
    )
    notes += _thick_notes(judged, protocol)
    notes += [f"{name}: {problem}" for name, found in kept.items() for problem in found.problems()]
    for name, items in judged.items():
        notes += [f"{name}: {note}" for item in items.values() for note in item.numbers["notes"]]
    return notes
