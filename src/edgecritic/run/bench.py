"""A benchmark run over folders: many images, several detectors, resumable, one result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from edgecritic.datasets.cases import Case, Dataset
from edgecritic.datasets.spacing import Sizes
from edgecritic.errors import DataError, InputError
from edgecritic.geometry import Resample
from edgecritic.protocols.benchmark import BenchmarkResult
from edgecritic.protocols.protocol import Protocol
from edgecritic.run.cache import open_cache
from edgecritic.run.classes import class_jobs, judge_classes
from edgecritic.run.executor import Progress, absolute, run_tasks
from edgecritic.run.files import make_folder, write_json
from edgecritic.run.judge import EXTRAS, Job, Judged, Reading, judge
from edgecritic.run.places import check_places, data_sets, without_prediction
from edgecritic.run.plan import OnCurves, plan_of, summed_up, write_plan
from edgecritic.run.protocol_file import find_protocol
from edgecritic.run.results import Failure, Run
from edgecritic.run.seen import without_seen
from edgecritic.run.sources import Sources, keep_sources
from edgecritic.run.store import RECORDS

if TYPE_CHECKING:
    from edgecritic.protocols.regions import Regions

__all__ = ["BenchRun", "run_bench"]

_EXACT = ("exact", "hungarian", "csa")  # by which the annotators are matched with each other


class BenchRun(Run):
    """A finished benchmark; `results` is what ``results.json`` holds.

    Attributes
    ----------
    details : dict of BenchmarkResult
        The full numbers by detector.
    cases : dict of dict of Case
        By detector and image the files that were judged.
    protocol : Protocol
    reading : Reading
        How files became maps.
    regions : dict of dict of Regions
        By detector and image, where regions were judged too.
    resize : str or None
        How predictions of classes were resized.
    pictures : tuple of dict or None
        The fields of pictures that were drawn before, of runs that were put together; None of a new run.
    """

    details: dict[str, BenchmarkResult]
    cases: dict[str, dict[str, Case]]
    protocol: Protocol
    reading: Reading = Reading()
    regions: dict[str, dict[str, Regions]] = field(default_factory=dict)
    resize: str | None = None
    pictures: tuple[dict[str, Any], ...] | None = None


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
    spacing: Sizes | Literal["file"] | None = None,
    resample: Resample = None,
    tiles: bool = False,
    fresh: bool = False,
    draws: int = 1000,
    human: bool = True,
    oracle: bool = False,
    curves: Sequence[dict[str, Any]] = (),
    cache: bool = True,
    resize: str | None = None,
    seen: bool = False,
    progress: Progress | None = None,
    on_curves: OnCurves | None = None,
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
        (ODS at ½ and ¼ of the tolerance), ``strategies`` (ODS, OIS and AP by every strategy), ``regions``
        (covering, PRI and VOI of hierarchies and segmentations), ``calibration`` (strengths against the share
        of annotators).
    images, masks, split
        See `edgecritic.datasets.cases.find_cases`.
    binarize : float, optional
        Take values of truths of at least this share of the largest possible one as edges. Without it
        grey truths are refused, because where they are cut changes the score.
    spacing : tuple of float, "file" or None
        Voxel size; by default that of the files, which must agree. Tolerances are in its unit.
    resample : "nearest" or "stored", optional
        Bring predictions of other grids onto that of their truth; see `edgecritic.geometry.place`. Without it
        they are refused.
    tiles : bool
        Judge maps in bands of rows; those that do not fit in memory always are.
    fresh : bool
        Compute everything anew.
    draws : int
        Of the bootstrap; 0 leaves confidence intervals and tests out.
    human : bool
        Measure the human level where images have several annotators; it is matched exactly, and left out if
        the protocol names a strategy that is not.
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
    seen : bool
        Judge maps of photos that their detector has learned from, too. By default those that
        :func:`edgecritic.run.detect_folder` has listed beside its maps are failures.
    progress : callable, optional
        Called with (done, total).
    on_curves : callable, optional
        Called with results that hold what figures show, before confidence intervals are drawn.
    """
    chosen = find_protocol(protocol)
    if chosen.judges != "boundaries":
        raise InputError(f"protocol {chosen.id} judges {chosen.judges}", remedy="use run_regions")
    _check_settings(detectors, extras, binarize, draws)
    if chosen.classes is not None and "regions" in extras:
        raise InputError(
            f"protocol {chosen.id} judges boundaries of classes", remedy="leave out --also regions"
        )
    if chosen.classes is not None and (spacing is not None or resample is not None):
        raise InputError(
            f"protocol {chosen.id} judges classes in pixels", remedy="leave spacing and resample out"
        )
    if chosen.classes is not None and binarize is not None:
        raise InputError(
            f"protocol {chosen.id} takes labels, or boundaries that are on or off, as truths; none is cut",
            remedy="leave out --binarize",
        )
    if resize is not None and chosen.classes is None:
        raise InputError(f"protocol {chosen.id} has no classes, and only their predictions are resized")
    if oracle and len(detectors) < 2:
        raise InputError("an oracle chooses among predictions: give those of at least two detectors")
    check_places(detectors, truth, out)
    folder = None if out is None else make_folder(Path(out).absolute())
    reading = Reading(binarize, spacing, resample, tiles)
    places: dict[str, Any] = {"images": absolute(images), "masks": absolute(masks), "split": split}
    people = human and chosen.classes is None and chosen.strategy in _EXACT and chosen.annotators == "each"
    failures: list[Failure] = []
    with open_cache(cache and people) as kept:
        work: list[Any]
        if chosen.classes is not None:
            sets, work, failures = class_jobs(
                detectors,
                truth,
                protocol=chosen,
                extras=tuple(extras),
                folder=folder,
                fresh=fresh,
                resize=resize,
                **places,
            )
        else:
            sets = data_sets(detectors, truth, **places)
            for name, place in detectors.items() if not seen else ():
                sets[name], lost = without_seen(name, place, sets[name])
                failures += lost
            work = _jobs(sets, chosen, tuple(extras), folder, fresh, people, reading, kept)
        if not work and failures:
            raise DataError(f"no image can be judged: {failures[0].message}")
        plan = plan_of(work, sets, Path(truth).resolve().name, draws)
        if folder is not None:
            write_plan(folder, plan)
            keep_sources(folder, _sources(detectors, truth, places, reading))
        act: Callable[[Any], Any] = judge if chosen.classes is None else judge_classes
        finished = [
            one
            for items in run_tasks(act, work, jobs=jobs, cluster=cluster, progress=progress)
            for one in (items if isinstance(items, list) else [items])
        ]
    found_by = _by_detector(item for item in finished if isinstance(item, Judged))
    judged = {name: found_by[name] for name in detectors if name in found_by}
    failures += [item for item in finished if isinstance(item, Failure)]
    failures += without_prediction(sets)
    regions: dict[str, dict[str, Regions]] = {}
    entries: dict[str, dict[str, Any]] = {}
    if "regions" in extras:
        from edgecritic.run.regions import judge_regions, region_entries

        regions, lost = judge_regions(sets, chosen, folder, jobs=jobs, cluster=cluster, fresh=fresh)
        entries = region_entries(regions, lost)
        told = {(one.detector, one.id) for one in failures}
        failures += [one for one in lost if (one.detector, one.id) not in told]
    record, details = summed_up(
        plan, judged, failures, curves=curves, oracle=oracle, regions=entries, on_curves=on_curves
    )
    if folder is not None:
        write_json(folder / "results.json", record)
    return BenchRun(
        results=record,
        details=details,
        cases={name: {case.id: case for case in found} for name, found in sets.items()},
        protocol=chosen,
        reading=reading,
        regions={name: regions[name] for name in entries},
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


def _sources(
    detectors: Mapping[str, str | Path], truth: str | Path, places: Mapping[str, Any], reading: Reading
) -> Sources:
    return Sources(
        detectors={name: str(absolute(place)) for name, place in detectors.items()},
        truth=str(absolute(truth)),
        **{name: None if place is None else str(place) for name, place in places.items()},
        reading=reading,
    )


def _jobs(
    sets: Mapping[str, Dataset],
    protocol: Protocol,
    extras: tuple[str, ...],
    folder: Path | None,
    fresh: bool,
    human: bool,
    reading: Reading,
    cache: Path | None,
) -> list[Job]:
    """List the work; annotators are judged together with the first detector that has the image."""
    records = None if folder is None else folder / RECORDS
    jobs = []
    people: set[str] = set()
    for name, found in sets.items():
        for case in found:
            first = human and case.id not in people
            jobs.append(Job(name, case, protocol, extras, records, fresh, first, reading, cache))
            people.add(case.id)
    return jobs


def _by_detector(items: Iterable[Judged]) -> dict[str, dict[str, Judged]]:
    found: dict[str, dict[str, Judged]] = {}
    for item in sorted(items, key=lambda one: (one.detector, one.id)):
        found.setdefault(item.detector, {})[item.id] = item
    return found
