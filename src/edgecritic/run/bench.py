"""A benchmark run over folders: many images, several detectors, resumable, one result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from edgecritic.datasets.cases import Case, Dataset, find_cases
from edgecritic.errors import DataError, EdgeCriticError, InputError
from edgecritic.protocols.benchmark import BenchmarkResult
from edgecritic.protocols.presets import Protocol
from edgecritic.run.bench_results import crispness_of, oracle_of, pooled, results_record
from edgecritic.run.cache import open_cache
from edgecritic.run.class_results import class_notes
from edgecritic.run.classes import judge_all_classes
from edgecritic.run.executor import Progress, absolute, run_tasks
from edgecritic.run.files import write_json
from edgecritic.run.judge import EXTRAS, Job, Judged, judge
from edgecritic.run.protocol_file import find_protocol
from edgecritic.run.results import Failure, Run
from edgecritic.run.store import RECORDS

__all__ = ["BenchRun", "run_bench"]

_THICK = 0.5  # thin maps have an average crispness above .85, the maps of networks and filters below .45


class BenchRun(Run):
    """A finished benchmark; `results` is what ``results.json`` holds.

    Attributes
    ----------
    details : dict of BenchmarkResult
        The full numbers by detector.
    cases : dict of dict of Case
        By detector and image the files that were judged.
    protocol : Protocol
    binarize : float or None
        Where grey truths were cut.
    resize : str or None
        How predictions of classes were resized.
    """

    details: dict[str, BenchmarkResult]
    cases: dict[str, dict[str, Case]]
    protocol: Protocol
    binarize: float | None = None
    resize: str | None = None


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
    oracle: bool = False,
    curves: Sequence[dict[str, Any]] = (),
    cache: bool = True,
    resize: str | None = None,
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
    oracle : bool
        Say as well how far choosing among the given predictions with the truth in hand would lead, an upper
        bound: see :func:`edgecritic.protocols.granularity.granularity_oracle`. Needs two detectors.
    curves : sequence of dict
        Published curves that are kept with the results and drawn beside them.
    cache : bool
        Keep what depends on the truths alone across runs, in the user's cache folder
        (`edgecritic.run.cache.cache_folder`).
    resize : "nearest", "bilinear", "bicubic", optional
        How predictions of classes are resized to the size of their truths; without it they must have it.
    progress : callable, optional
        Called with (done, total).
    """
    chosen = find_protocol(protocol)
    _check_settings(detectors, extras, binarize, draws)
    if resize is not None and chosen.classes is None:
        raise InputError(f"protocol {chosen.id} has no classes, and only their predictions are resized")
    if oracle and len(detectors) < 2:
        raise InputError("an oracle chooses among predictions: give those of at least two detectors")
    _check_places(detectors, truth, out)
    folder = None if out is None else _made(Path(out).absolute())
    if chosen.classes is not None:
        sets, finished = judge_all_classes(
            detectors,
            truth,
            protocol=chosen,
            extras=tuple(extras),
            folder=folder,
            images=images,
            masks=masks,
            split=split,
            fresh=fresh,
            resize=resize,
            jobs=jobs,
            cluster=cluster,
            progress=progress,
        )
    else:
        sets = {
            name: _cases(place, truth, images=absolute(images), masks=absolute(masks), split=split)
            for name, place in detectors.items()
        }
        with open_cache(cache and human) as kept:
            work = _jobs(sets, chosen, tuple(extras), folder, fresh, human, binarize, kept)
            finished = list(run_tasks(judge, work, jobs=jobs, cluster=cluster, progress=progress))
    found_by = _by_detector(item for item in finished if isinstance(item, Judged))
    judged = {name: found_by[name] for name in detectors if name in found_by}
    failures = [item for item in finished if isinstance(item, Failure)]
    failures += [
        Failure(id=missing, message="has a truth but no prediction", detector=name)
        for name, found in sets.items()
        for missing in found.without_prediction
    ]
    details, undefined = _results(chosen, judged, draws)
    chosen_best, no_oracle = oracle_of(details, chosen) if oracle else (None, [])
    record = results_record(
        protocol=chosen,
        truth=Path(truth).resolve().name,
        judged=judged,
        details=details,
        extras=tuple(extras),
        draws=draws,
        curves=curves,
        oracle=chosen_best,
        failures=[*failures, *undefined],
        notes=[*_notes(sets, judged, chosen, binarize), *class_notes(chosen, details, resize), *no_oracle],
    )
    if folder is not None:
        write_json(folder / "results.json", record)
    return BenchRun(
        results=record,
        details=details,
        cases={name: {case.id: case for case in found} for name, found in sets.items()},
        protocol=chosen,
        binarize=binarize,
        resize=resize,
    )


def _check_settings(
    detectors: Mapping[str, str | Path], extras: Sequence[str], binarize: float | None, draws: int
) -> None:
    unknown = sorted(set(extras) - set(EXTRAS))
    if unknown:
        raise InputError(f"unknown extras {', '.join(unknown)}; known are {', '.join(EXTRAS)}")
    if not detectors:
        raise InputError("give at least one folder of predictions")
    if binarize is not None and not 0 < binarize <= 1:
        raise InputError(f"binarize must be a share in (0, 1], got {binarize!r}")
    if draws < 0:
        raise InputError(f"the number of bootstrap draws must be at least 0, got {draws}")


def _cases(place: str | Path, truth: str | Path, **options: Any) -> Dataset:
    found = find_cases(absolute(place), Path(truth).absolute(), **options)
    if not found.cases:
        raise DataError(f"{place}: {'; '.join(found.no_case())}")
    return found


def _jobs(
    sets: Mapping[str, Dataset],
    protocol: Protocol,
    extras: tuple[str, ...],
    folder: Path | None,
    fresh: bool,
    human: bool,
    binarize: float | None,
    cache: Path | None,
) -> list[Job]:
    """List the work; annotators are judged together with the first detector that has the image."""
    records = None if folder is None else folder / RECORDS
    jobs = []
    people: set[str] = set()
    for name, found in sets.items():
        for case in found:
            first = human and case.id not in people
            jobs.append(Job(name, case, protocol, extras, records, fresh, first, binarize, cache))
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


def _by_detector(items: Iterable[Judged]) -> dict[str, dict[str, Judged]]:
    found: dict[str, dict[str, Judged]] = {}
    for item in sorted(items, key=lambda one: (one.detector, one.id)):
        found.setdefault(item.detector, {})[item.id] = item
    return found


def _results(
    protocol: Protocol, judged: Mapping[str, Mapping[str, Judged]], draws: int
) -> tuple[dict[str, BenchmarkResult], list[Failure]]:
    """Sum up every detector; one whose numbers are undefined becomes a failure."""
    details, failures = {}, []
    for name, items in judged.items():
        try:
            details[name] = pooled(protocol, items, "main", draws)
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
