"""The work on one image whose classes are judged: read labels and maps, convert, sweep every class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets.cases import Dataset
from edgecritic.datasets.class_cases import ClassCase, find_class_cases
from edgecritic.datasets.content import digest
from edgecritic.datasets.files import read_class_strength, read_classes, read_strength
from edgecritic.errors import DataError, EdgeCriticError, InputError
from edgecritic.inputs import BoolArray, FloatArray
from edgecritic.protocols.class_sweep import sweep_classes
from edgecritic.protocols.classes import ClassRules, nearest_indices, scaled_labels, truth_maps
from edgecritic.protocols.counts import packed
from edgecritic.protocols.protocol import Protocol
from edgecritic.run.executor import absolute
from edgecritic.run.judge import Judged, variants
from edgecritic.run.results import Failure, attempt
from edgecritic.run.store import RECORDS, Store, record_key, safe_name

__all__ = [
    "RESIZES",
    "ClassJob",
    "case_hashes",
    "class_case_maps",
    "class_strengths",
    "class_jobs",
    "class_settings",
    "judge_classes",
    "resized",
]

RESIZES = ("nearest", "bilinear", "bicubic")
"""How predictions of another size than the truth may be resized, if that is asked for."""

RECORD_VERSION = 3


@dataclass(frozen=True, slots=True)
class ClassJob:
    """One image of one detector, with all its classes; fields as in `edgecritic.run.judge.Job`."""

    detector: str
    case: ClassCase
    protocol: Protocol
    rules: ClassRules
    extras: tuple[str, ...]
    folder: Path | None
    fresh: bool = False
    resize: str | None = None


def class_jobs(
    detectors: Mapping[str, str | Path],
    truth: str | Path,
    *,
    protocol: Protocol,
    extras: tuple[str, ...],
    folder: Path | None,
    images: str | Path | None,
    masks: str | Path | None,
    split: str | None,
    fresh: bool,
    resize: str | None,
) -> tuple[dict[str, Dataset], list[ClassJob], list[Failure]]:
    """List the work on every image of every detector; return the files, the jobs, and what is missing."""
    rules = protocol.classes
    if rules is None:
        raise InputError(f"protocol {protocol.id} has no classes")
    if resize is not None and resize not in RESIZES:
        raise InputError(f"resize must be one of {', '.join(RESIZES)}, got {resize!r}")
    sets: dict[str, Dataset] = {}
    lost: list[Failure] = []
    work = []
    for name, place in detectors.items():
        found, missing = find_class_cases(
            Path(place).absolute(),
            Path(truth).absolute(),
            rules.chosen,
            instances=rules.instances,
            thin=rules.thin,
            masks=absolute(masks),
            images=absolute(images),
            split=split,
        )
        if not found.cases:
            raise DataError(f"{place}: {'; '.join(found.no_case())}")
        sets[name] = found
        lost += [Failure(id=one, message=told, detector=name) for one, told in missing.items()]
        records = None if folder is None else folder / RECORDS
        skipped = frozenset(missing)
        for case in found:
            if isinstance(case, ClassCase):
                job = ClassJob(name, case, protocol, rules, extras, records, fresh, resize)
                work.append(_without(job, skipped))
    return sets, work, lost


def _without(job: ClassJob, classes: frozenset[str]) -> ClassJob:
    """Return a job that does not ask for classes of which no image has a prediction."""
    if not classes:
        return job
    left = [name for name in job.rules.chosen if name not in classes]
    return replace(job, rules=job.rules.only(left))


def judge_classes(job: ClassJob) -> list[Judged | Failure]:
    """Judge one image; a bad file of one class is a failure of that class, the others are counted."""
    return attempt(
        lambda: _judge(job), lambda message: [Failure.of_case(job.case, message, detector=job.detector)]
    )


def _judge(job: ClassJob) -> list[Judged | Failure]:
    case = job.case.read()
    hashes = case_hashes(case)
    common = class_settings(job)
    key = record_key({**common, "maps": list(case.maps), **hashes})
    store = None if job.folder is None else Store(job.folder / safe_name(job.detector))
    content = None if store is None or job.fresh else store.load(case.id, key)
    failures: list[Failure] = []
    if content is None:
        content, failures = _measure(case, job)
        content |= {"settings": record_key(common)}
        content["numbers"] |= hashes
        if store is not None and not failures:
            store.save(case.id, key, content)
    return [Judged.of_record(job.detector, case.id, content), *failures]


def class_settings(job: ClassJob) -> dict[str, Any]:
    """Return what the records of all images of a detector have in common."""
    return {
        "version": RECORD_VERSION,
        "protocol": job.protocol.digest,
        "classes": list(job.rules.chosen),
        "resize": job.resize,
        "extras": sorted(set(job.extras) & {"ceval", "strategies", "tolerances"}),
    }


def case_hashes(case: ClassCase) -> dict[str, str]:
    """Return the hashes of the files of a case that was read."""
    predicted = [case.prediction, *case.maps.values()]
    hashes = {
        "truth_hash": digest(case.contents[path] for path in case.truths),
        "prediction_hash": digest(case.contents[path] for path in predicted if path is not None),
    }
    if case.mask is not None:
        hashes["mask_hash"] = digest([case.contents[case.mask]])
    return hashes


def _measure(case: ClassCase, job: ClassJob) -> tuple[dict[str, Any], list[Failure]]:
    truths, labels = class_case_maps(case, job.rules)
    shape = next(iter(truths.values())).shape
    strengths, failures = class_strengths(case, job, shape)
    if not strengths:
        raise InputError("; ".join(one.message for one in failures) or "has no prediction of any class")
    mask = case.load_mask()
    names = tuple(job.protocol.classes.chosen) if job.protocol.classes else ()
    empty = np.zeros(shape, dtype=np.bool_)
    every = {name: truths.get(name, empty) for name in names}
    swept = {
        variant: sweep_classes(strengths, every, protocol=one, groups=names, labels=labels, mask=mask)
        for variant, one in variants(job.protocol, job.extras).items()
    }
    main = swept["main"]
    numbers = {
        "annotators": 1,
        "tolerance": main.tolerance,
        "shape": list(main.shape),
        "notes": [],
    }
    return {
        "counts": {name: packed(one.counts) for name, one in swept.items()},
        "numbers": numbers,
    }, failures


def class_case_maps(case: ClassCase, rules: ClassRules) -> tuple[dict[str, BoolArray], NDArray[Any] | None]:
    """Return the boundaries of every class of an image, and its labels where they are needed."""
    path = case.truths[0]
    found = read_classes(case.source(path))
    try:
        truths = truth_maps(rules, labels=found.labels, instances=found.instances, stored=found.stored)
    except InputError as error:
        raise InputError(error.message, path=path, remedy=error.remedy) from error
    if found.labels is None or rules.internal != "remove":
        return truths, None
    return truths, scaled_labels(rules, found.labels)


def class_strengths(
    case: ClassCase, job: ClassJob, shape: tuple[int, ...]
) -> tuple[dict[str, FloatArray], list[Failure]]:
    """Return the strength maps of the classes that can be read, and why the others cannot."""
    if case.prediction is not None:
        stack = read_class_strength(case.source(case.prediction), len(job.rules.names))
        return {
            name: _fitting(stack[number - 1], shape, job.resize, case.prediction)
            for name, number in job.rules.chosen.items()
        }, []
    found: dict[str, FloatArray] = {}
    failures = []
    for name, number in job.rules.chosen.items():
        path = case.maps.get(name)
        try:
            if path is None:
                raise DataError(f"has no prediction of class {name} (folder class_{number:03d})")
            found[name] = _fitting(read_strength(case.source(path)), shape, job.resize, path)
        except EdgeCriticError as error:
            file = "" if path is None else f"{path.parent.name}/{path.name}"
            failures.append(Failure(id=case.id, message=str(error), path=file, detector=job.detector))
    return found, failures


def _fitting(strength: FloatArray, shape: tuple[int, ...], resize: str | None, path: Path) -> FloatArray:
    if strength.shape == shape:
        return strength
    if resize is None:
        raise InputError(
            f"is {_size(strength.shape)}, but the truth is judged at {_size(shape)} (rows × columns)",
            path=path,
            remedy="store it at that size, or let it be resized: --resize nearest",
        )
    return resized(strength, shape, resize)


def resized(strength: FloatArray, shape: tuple[int, ...], rule: str) -> FloatArray:
    """Return a strength map at another size.

    ``nearest`` takes sample ⌊(i + ½) · n / m⌋; ``bilinear`` and ``bicubic`` (a = −½) are those of Pillow,
    which widens the kernel where a map shrinks; values are cut to [0, 1].

    Examples
    --------
    >>> resized(np.eye(4), (2, 2), "nearest")
    array([[1., 0.],
           [0., 1.]])
    """
    if rule == "nearest":
        rows, columns = (nearest_indices(n, m) for n, m in zip(strength.shape, shape, strict=True))
        return strength[np.ix_(rows, columns)]
    from PIL import Image

    kernel = {"bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}[rule]
    picture = Image.fromarray(strength.astype(np.float32)).resize((shape[1], shape[0]), kernel)
    values: FloatArray = np.clip(np.asarray(picture), 0, 1)
    return values


def _size(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))
