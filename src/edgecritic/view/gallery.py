"""What is shown: detectors, images, their files, and the numbers that are known of them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from edgecritic.datasets.cases import Case, Dataset
from edgecritic.datasets.class_cases import ClassCase
from edgecritic.datasets.names import natural_key
from edgecritic.errors import DataError, InputError
from edgecritic.protocols.benchmark import BenchmarkResult
from edgecritic.protocols.human import human_level
from edgecritic.protocols.protocol import Protocol
from edgecritic.protocols.summary import Summary
from edgecritic.run.bench_results import pooled
from edgecritic.run.classes import ClassJob, class_jobs, judge_classes
from edgecritic.run.finished import gather_runs, load_run
from edgecritic.run.judge import Job, Judged, Reading, judge
from edgecritic.run.judge_tiles import in_tiles
from edgecritic.run.plan import Plan
from edgecritic.run.results import Failure
from edgecritic.run.sources import Sources, read_sources

__all__ = ["Detector", "Gallery", "gallery_of_folders", "gallery_of_runs", "opaque"]


def opaque(name: str) -> str:
    """Return the id of an image or a detector in addresses, which says nothing of where its files are.

    Examples
    --------
    >>> opaque("../x") == opaque("../x"), len(opaque("../x"))
    (True, 12)
    """
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Detector:
    """One detector: its name, its cases by image, how files are read, and where the truths are."""

    name: str
    cases: Mapping[str, Case]
    reading: Reading
    truth: str


@dataclass
class Gallery:
    """Everything that is shown.

    Attributes
    ----------
    title : str
    protocol : Protocol
    detectors : dict of Detector
        By id.
    images : dict of str
        Names of images in natural order, by id.
    judged : dict of dict of Judged
        By name of the detector and image; it grows while folders are judged.
    agreement : dict of float
        By image the F of its annotators against each other.
    roots : tuple of Path
        Only files in these folders are opened.
    notes : list of str
    waiting : list of Job or ClassJob
        What is still to be judged.
    groups : tuple of str
        The classes, where the protocol judges some.
    resize : str or None
        How predictions of classes were resized.
    rasters : frozenset of str
        The images that are too large to be shown as a whole.
    """

    title: str
    protocol: Protocol
    detectors: dict[str, Detector]
    images: dict[str, str]
    judged: dict[str, dict[str, Judged]]
    agreement: dict[str, float]
    roots: tuple[Path, ...]
    notes: list[str] = field(default_factory=list)
    waiting: list[Job | ClassJob] = field(default_factory=list)
    groups: tuple[str, ...] = ()
    resize: str | None = None
    rasters: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self._pooled: dict[str, tuple[int, BenchmarkResult]] = {}

    def case(self, detector: Detector, image: str) -> Case:
        """Return the files of an image, if all of them are where they may be read."""
        case = detector.cases[image]
        maps = case.maps.values() if isinstance(case, ClassCase) else ()
        for path in (case.prediction, case.image, case.mask, *case.truths, *maps):
            if path is not None and not any(_inside(path, root) for root in self.roots):
                raise DataError(f"{image}: a file of it is a link out of the folders of this run")
        return case

    def summary(self, name: str, group: str | None) -> Summary | None:
        """Return the numbers of a detector, or of one of its classes, over all images that are judged."""
        result = self._result(name)
        if result is None or group is None:
            return None if result is None else result.summary
        return result.groups.get(group)

    def _result(self, name: str) -> BenchmarkResult | None:
        items = dict(self.judged.get(name, {}))
        known = self._pooled.get(name)
        if known is None or known[0] != len(items):
            if not items:
                return None
            known = self._pooled[name] = len(items), pooled(self.protocol, items, "main")
        return known[1]

    def judge_rest(self, ended: Any = None) -> None:
        """Judge what is not judged yet, until `ended` (an event) is set."""
        while self.waiting and not (ended is not None and ended.is_set()):
            job = self.waiting[0]
            for found in judge_classes(job) if isinstance(job, ClassJob) else [judge(job)]:
                if isinstance(found, Failure):
                    self.notes.append(f"{job.detector}, {job.case.id}: {found.message}")
                else:
                    self.add(found)
            self.waiting.pop(0)

    def add(self, item: Judged) -> None:
        """Take the numbers of an image."""
        self.judged.setdefault(item.detector, {})[item.id] = item
        level = None if item.human is None else human_level([item.human])
        if level is not None:
            self.agreement[item.id] = level.f


def _inside(path: Path, root: Path) -> bool:
    real = Path(os.path.realpath(path))
    return real == root or root in real.parents


def gallery_of_runs(places: Mapping[str, str | Path]) -> Gallery:
    """Return what finished runs, or runs that go on, have to show.

    Raises
    ------
    DataError
        If a folder is no run, or does not tell where its files are, or they are gone.
    InputError, ProtocolMismatchError
        If the runs cannot be compared.
    """
    runs = {name: load_run(place) for name, place in places.items()}
    named, judged = gather_runs(runs, common=True)
    plan = next(iter(runs.values())).plan
    _check_protocol(plan.protocol)
    sources = {id(run): read_sources(run.folder) for run in runs.values()}
    sets = {id(run): _files(sources[id(run)], plan, run.folder) for run in runs.values()}
    detectors = {
        name: Detector(name, _by_id(sets[id(run)][old]), sources[id(run)].reading, sources[id(run)].truth)
        for name, run, old in named
        if name in judged
    }
    every = {image for _, run, old in named for image in run.judged.get(old, ())}
    made = _gallery(
        " + ".join(places),
        plan.protocol,
        detectors,
        judged,
        sources.values(),
        [
            *_left_out(len(every - set(next(iter(judged.values()))))),
            *(f"{one.detector}, {one.id}: {one.message}" for run in runs.values() for one in run.failures),
        ],
    )
    made.resize = plan.resize
    return made


def gallery_of_folders(sources: Sources, protocol: Protocol) -> Gallery:
    """Return what folders of predictions, or single maps, have to show; they are judged while they are shown.

    Raises
    ------
    DataError
        If a folder is not there, or nothing in it belongs together.
    """
    _check_protocol(protocol)
    jobs: list[ClassJob] = []
    if protocol.classes is None:
        sets = sources.cases()
    else:
        sets, jobs = _class_files(sources, protocol, None)
    common = set.intersection(*(set(_by_id(found)) for found in sets.values()))
    if not common:
        raise InputError("no image has a prediction of every detector")
    detectors = {
        name: Detector(
            name,
            {image: case for image, case in _by_id(found).items() if image in common},
            sources.reading,
            sources.truth,
        )
        for name, found in sets.items()
    }
    every = {image for found in sets.values() for image in _by_id(found)}
    made = _gallery(
        ", ".join(sources.detectors), protocol, detectors, {}, [sources], _left_out(len(every - common))
    )
    first = next(iter(detectors))
    made.waiting = [job for job in jobs if job.case.id in common] or [
        Job(
            name,
            detectors[name].cases[image],
            protocol,
            (),
            None,
            human=name == first,
            reading=sources.reading,
        )
        for image in made.images.values()
        for name in detectors
    ]
    return made


def _check_protocol(protocol: Protocol) -> None:
    if protocol.judges != "boundaries":
        raise InputError(
            f"protocol {protocol.id} judges {protocol.judges}, and only boundaries can be shown",
            remedy="judge the boundaries of the same files, with regions beside them: "
            "edgecritic bench --also regions",
        )


def _files(sources: Sources, plan: Plan, folder: Path) -> dict[str, Dataset]:
    try:
        if plan.protocol.classes is None:
            return sources.cases()
        return _class_files(sources, plan.protocol, plan.resize)[0]
    except DataError as error:
        raise DataError(
            f"the files that were judged cannot be found: {error}",
            path=folder,
            remedy="bring them back, or name them: edgecritic view NAME=FOLDER --truth FOLDER",
        ) from error


def _class_files(
    sources: Sources, protocol: Protocol, resize: str | None
) -> tuple[dict[str, Dataset], list[ClassJob]]:
    """Find the files of all classes of every detector, and the work to judge them."""
    sources.check()
    places: dict[str, Any] = {"images": sources.images, "masks": sources.masks, "split": sources.split}
    sets, jobs, _ = class_jobs(
        sources.detectors,
        sources.truth,
        protocol=protocol,
        extras=(),
        folder=None,
        fresh=False,
        resize=resize,
        **places,
    )
    return sets, jobs


def _by_id(found: Dataset) -> dict[str, Case]:
    return {case.id: case for case in found}


def _left_out(count: int) -> list[str]:
    return [f"{count} image(s) that not every detector has are left out"] if count else []


def _gallery(
    title: str,
    protocol: Protocol,
    detectors: Mapping[str, Detector],
    judged: Mapping[str, Mapping[str, Judged]],
    sources: Iterable[Sources],
    notes: list[str],
) -> Gallery:
    names = sorted(
        set.intersection(
            *(set(judged.get(name, one.cases)) & set(one.cases) for name, one in detectors.items())
        ),
        key=natural_key,
    )
    if not names:
        raise DataError(
            "none of the files that were judged is there any more",
            remedy="name them: edgecritic view NAME=FOLDER --truth FOLDER",
        )
    made = Gallery(
        title=title,
        protocol=protocol,
        detectors={opaque(name): one for name, one in detectors.items()},
        images={opaque(name): name for name in names},
        judged={},
        agreement={},
        roots=_roots(sources, detectors.values()),
        notes=notes,
        groups=tuple(protocol.classes.chosen) if protocol.classes else (),
        rasters=frozenset(
            name for name in names if any(in_tiles(one.cases[name]) for one in detectors.values())
        ),
    )
    for name, items in judged.items():
        for image, item in items.items():
            made.add(replace(item, detector=name, id=image))
    return made


def _roots(sources: Iterable[Sources], detectors: Iterable[Detector]) -> tuple[Path, ...]:
    """Return the folders that were named, and those of files that a list of pairs names."""
    found: set[Path] = set()
    for one in sources:
        for place in one.places():
            real = Path(os.path.realpath(place))
            found.add(real if real.is_dir() else real.parent)
        if Path(one.truth).suffix == ".lst":
            cases = [case for each in detectors for case in each.cases.values()]
            paths = [path for case in cases for path in (*case.truths, case.image) if path is not None]
            found |= {Path(os.path.realpath(path.parent)) for path in paths}
    return tuple(sorted(found))
