"""The best thresholds of detectors on the images of folders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from edgecritic.datasets.cases import find_cases
from edgecritic.datasets.content import digest, read_content
from edgecritic.datasets.files import read_mask, read_truths
from edgecritic.datasets.formats.base import find_format
from edgecritic.datasets.geometry import find_grid
from edgecritic.datasets.layouts import find_maps
from edgecritic.datasets.names import split_name
from edgecritic.detectors.base import bind
from edgecritic.detectors.external import FolderDetector
from edgecritic.errors import EdgeCriticError, InputError, OutputError
from edgecritic.maps.boundaries import check_truth_rule
from edgecritic.matching import match
from edgecritic.measures.scoring import choose, default_measures
from edgecritic.run.executor import Progress, absolute, run_tasks
from edgecritic.run.images import list_images, load_image
from edgecritic.run.results import Failure, attempt, failure_rows
from edgecritic.run.seen import SEEN, name_in_model
from edgecritic.run.store import RECORDS, Store, record_key
from edgecritic.tuning.ladder import Detector, Thresholds
from edgecritic.tuning.result import Tuning, matched_measures
from edgecritic.tuning.summary import TuningSummary, summarise_tunings
from edgecritic.tuning.tune import tune
from edgecritic.values import Value

__all__ = ["TuneRun", "tune_folder"]

RECORD_VERSION = 3
_NAMES = ("detectors", "measures", "better")
_ARRAYS = {"thresholds": np.float64, "values": np.float64, "counts": np.int64, "confusion": np.int64}


class TuneRun(Value):
    """What was found on every image, without the maps.

    Attributes
    ----------
    images : dict of Tuning
        By the name of the image.
    failures : tuple of Failure
    """

    images: dict[str, Tuning]
    failures: tuple[Failure, ...]

    @property
    def summary(self) -> TuningSummary | None:
        """Mean best values over all images; None if there are none."""
        return summarise_tunings(self.images) if self.images else None

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        images = {name: one.as_dict() for name, one in self.images.items()}
        return {"images": images, "failures": failure_rows(self.failures)}


@dataclass(frozen=True, slots=True)
class _Job:
    id: str
    path: Path
    truths: tuple[Path, ...]
    options: dict[str, Any]
    grey: bool
    binarize: float | None
    surface: str
    mask: Path | None
    folder: Path | None
    fresh: bool
    seen: bool


def tune_folder(
    images: str | Path | Sequence[str | Path],
    truth: str | Path | None = None,
    *,
    detectors: Sequence[Detector] | None = None,
    measures: Sequence[str] | None = None,
    thresholds: Thresholds = 101,
    strategy: str | None = None,
    grey: bool = False,
    split: str | None = None,
    binarize: float | None = None,
    surface: str = "given",
    masks: str | Path | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    fresh: bool = False,
    seen: bool = False,
    each: Callable[[str, Tuning, Any], None] | None = None,
    progress: Progress | None = None,
) -> TuneRun:
    """Find the best thresholds of detectors on every image.

    Parameters
    ----------
    images : path or paths
        Images, volumes, or folders of them.
    truth : path, optional
        Truths in any known layout; without them measures that need none choose.
    detectors, measures, thresholds
        As for :func:`edgecritic.tune`; text that names a folder is a folder of saved maps.
    strategy : str, optional
        Compute precision and recall under this matching strategy too.
    grey : bool
        Use the luminance of colour images.
    split, binarize
        As for :func:`edgecritic.run.bench.run_bench`.
    masks : path, optional
        Folder of maps that are on where pixels count, called like the images: what lies elsewhere is taken
        out of candidates and truths.
    surface : {"given", "inner"}
        As for :func:`edgecritic.run.annotators.run_annotators`.
    out : path, optional
        Where finished images are kept; started again, only what is missing is computed.
    jobs, cluster, progress
        See :func:`edgecritic.run.executor.run_tasks`.
    fresh : bool
        Compute everything anew.
    seen : bool
        Take photos that a detector has learned from, too; by default they are failures.
    each : callable, optional
        Called with name, tuning (with its maps) and image for every image that was computed now.
    """
    check_truth_rule(surface)
    bound = _detectors(detectors)
    ids = _measures(measures, strategy, truth)
    choose(ids, ())
    places = [images] if isinstance(images, str | Path) else list(images)
    cases = _cases(places, truth, split)
    valid = _masks(masks, cases)
    home = absolute(out)
    records = None if home is None else home / RECORDS / "@tune"
    options: dict[str, Any] = {"detectors": bound, "measures": ids, "thresholds": thresholds}
    work = [
        _Job(
            id=name,
            path=path.absolute(),
            truths=tuple(one.absolute() for one in truths),
            options=options,
            grey=grey,
            binarize=binarize,
            surface=surface,
            mask=valid.get(name),
            folder=records,
            fresh=fresh,
            seen=seen,
        )
        for name, (path, truths) in cases.items()
    ]
    found: dict[str, Tuning] = {}
    failed: dict[str, Failure] = {}
    for name, result in run_tasks(_tuned, work, jobs=jobs, cluster=cluster, progress=progress):
        if isinstance(result, str):
            failed[name] = Failure(id=name, path=str(cases[name][0]), message=result)
            continue
        tuning, image, key = result
        if image is not None and each is not None:
            try:
                each(name, tuning, image)
            except OutputError:
                raise  # no other image would fare better
            except EdgeCriticError as error:
                failed[name] = Failure(id=name, path=str(cases[name][0]), message=str(error))
                continue
        found[name] = tuning.without_maps()
        if image is not None and records is not None and key is not None:
            Store(records).save(name, key, _as_record(tuning))
    return TuneRun(
        images={name: found[name] for name in cases if name in found},
        failures=tuple(failed[name] for name in cases if name in failed),
    )


def _detectors(given: Sequence[Detector] | None) -> list[Detector] | None:
    """Return ids as they are, folders of saved maps as detectors; refuse unknown ids."""
    if given is None:
        return None
    chosen: list[Detector] = [
        FolderDetector(one) if isinstance(one, str) and Path(one).is_dir() else one for one in given
    ]
    for one in chosen:
        if isinstance(one, str):
            bind(one)
    return chosen


def _measures(ids: Sequence[str] | None, strategy: str | None, truth: str | Path | None) -> list[str] | None:
    """Return the chosen measures, with those that the curves under a matching strategy need."""
    if strategy is None:
        return list(ids) if ids else None
    if truth is None:
        raise InputError("a strategy needs truths: --strategy needs --truth")
    match([[True]], [[True]], strategy=strategy)
    return [*(ids or default_measures(starred=True)), *matched_measures(strategy)]


def _cases(
    places: Sequence[str | Path], truth: str | Path | None, split: str | None
) -> dict[str, tuple[Path, tuple[Path, ...]]]:
    files = list_images(places)
    if truth is None:
        return {split_name(file.name)[0]: (file, ()) for file in files}
    if Path(truth).is_file() and len(files) != 1 and find_format(truth) is not None:
        raise InputError(
            f"--truth {truth} is one file for {len(files)} images", remedy="give a folder of truths"
        )
    found: dict[str, tuple[Path, tuple[Path, ...]]] = {}
    missing: list[str] = []
    for place in places:
        known = find_cases(place, truth, split=split)
        missing += known.without_truth
        found |= {case.id: (case.prediction, case.truths) for case in known if case.prediction is not None}
    if missing:
        raise InputError(f"holds no truth for {', '.join(missing[:5])}; names must be the same", path=truth)
    return found


def _masks(place: str | Path | None, names: Iterable[str]) -> dict[str, Path]:
    """Return the mask of every image."""
    if place is None:
        return {}
    found = {name: paths[0].absolute() for name, paths in find_maps(Path(place)).files.items()}
    missing = [name for name in names if name not in found]
    if missing:
        raise InputError(f"holds no mask for {', '.join(missing[:5])}; names must be the same", path=place)
    return found


def _tuned(job: _Job) -> tuple[str, tuple[Tuning, Any, str | None] | str]:
    """Tune one image, or take it from the store, then without the image; a bad file becomes a message."""
    return job.id, attempt(lambda: _tuning(job), str)


def _tuning(job: _Job) -> tuple[Tuning, Any, str | None]:
    image_file, *truth_files = (read_content(path) for path in (job.path, *job.truths))
    masks = [] if job.mask is None else [read_content(job.mask)]
    detectors = _with_maps(job)
    key = _key(job, detectors, [digest([one]) for one in (image_file, *truth_files, *masks)])
    if job.folder is not None and key is not None and not job.fresh:
        content = Store(job.folder).load(job.id, key)
        if content is not None:
            return _as_tuning(content), None, key
    image, kind = load_image(image_file, grey=job.grey)
    _refuse_seen(job, image, kind)
    grid = find_grid(image_file, [*(truth_files or [image_file]), *masks])
    image = grid.bring(image_file, image)
    maps = [
        grid.bring(file, one)
        for file in truth_files
        for one in read_truths(file, binarize=job.binarize, rule=job.surface)
    ]
    sizes = grid.spacing if kind == "volume" else None
    mask = next((grid.bring(file, read_mask(file)) for file in masks), None)
    found = tune(
        image,
        maps or None,
        kind=kind,
        name=job.id,
        spacing=sizes,
        mask=mask,
        **{**job.options, "detectors": detectors},
    )
    return found, image, key


def _refuse_seen(job: _Job, image: Any, kind: Any) -> None:
    for one in () if job.seen else job.options["detectors"] or ():
        if isinstance(one, str) and name_in_model(one, image, kind) is not None:
            raise InputError(
                f"{bind(one).entry.name} has learned from this photo: {SEEN}",
                remedy="use other photos, another model, or say --seen",
            )


def _with_maps(job: _Job) -> list[Detector] | None:
    """Return the detectors; folders of saved maps with the bytes of the map of this image."""
    given = job.options["detectors"]
    if given is None:
        return None
    return [one.read(job.id) if isinstance(one, FolderDetector) else one for one in given]


def _key(job: _Job, detectors: Sequence[Detector] | None, files: list[str]) -> str | None:
    """Return the key of a record; None if a detector is a function, which has no contents to compare."""
    names: list[Any] = []
    for one in detectors or ():
        if isinstance(one, FolderDetector):
            saved = one.content(job.id)
            names.append([str(one), one.recipe, digest([] if saved is None else [saved])])
        elif callable(one):
            return None
        else:
            names.append(str(bind(one)))
    thresholds = job.options["thresholds"]
    shown = thresholds if isinstance(thresholds, int | str) else [float(one) for one in thresholds]
    settings = [
        names,
        job.options["measures"],
        shown,
        job.grey,
        job.binarize,
        job.surface,
        job.mask is not None,
        job.seen,
    ]
    return record_key([RECORD_VERSION, settings, files])


def _as_record(tuning: Tuning) -> dict[str, Any]:
    names = {name: list(getattr(tuning, name)) for name in _NAMES}
    return {**names, **{name: getattr(tuning, name).tolist() for name in _ARRAYS}, "truths": tuning.truths}


def _as_tuning(content: dict[str, Any]) -> Tuning:
    names: dict[str, Any] = {name: tuple(content[name]) for name in _NAMES}
    arrays: dict[str, Any] = {name: np.array(content[name], dtype=kind) for name, kind in _ARRAYS.items()}
    return Tuning(**names, **arrays, truths=content["truths"], ladders=())
