"""The work on one image of a benchmark: load, check, sweep, and keep what was found."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from edgecritic.annotators.calibration import Reliability, reliability
from edgecritic.datasets.cases import Case
from edgecritic.datasets.content import digest
from edgecritic.datasets.doctor import check_case, check_lossy
from edgecritic.datasets.files import holds_segmentations
from edgecritic.datasets.geometry import Grid
from edgecritic.datasets.spacing import Sizes
from edgecritic.errors import DataError, InputError
from edgecritic.geometry import Resample
from edgecritic.inputs import BoolArray, FloatArray
from edgecritic.lazy import cached_property
from edgecritic.protocols.counts import Counts, packed, unpacked
from edgecritic.protocols.crispness import crispness_of
from edgecritic.protocols.human import human_counts
from edgecritic.protocols.protocol import Protocol
from edgecritic.protocols.sweep import sweep_checked, sweep_maps
from edgecritic.run.cache import count_people
from edgecritic.run.judge_tiles import in_tiles, measure_in_tiles, raster_hashes
from edgecritic.run.results import Failure, attempt
from edgecritic.run.store import kept, narrowed_key, record_key, safe_name

__all__ = [
    "Job",
    "Judged",
    "Loaded",
    "Reading",
    "judge",
    "variants",
    "settings",
    "EXTRAS",
    "STRATEGIES",
    "TOLERANCE_SHARES",
]

EXTRAS = ("crispness", "ceval", "tolerances", "strategies", "regions", "calibration")
"""What can be measured beside the protocol's own numbers."""

STRATEGIES = ("exact", "eps", "closest", "distance", "area", "validation", "coherent")
"""Ways to match that are compared with each other; those left out count as ``exact`` does, but slower."""

TOLERANCE_SHARES = (1.0, 0.5, 0.25)
"""The tolerance curve: these shares of the protocol's tolerance."""

RECORD_VERSION = 6
"""Raised when what a record holds or how it is computed changes."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How files become maps.

    Attributes
    ----------
    binarize : float or None
        Where grey truths are cut; without it they are refused.
    spacing : tuple of float, "file" or None
        Pixel size, as for `edgecritic.datasets.geometry.find_grid`.
    resample : "nearest", "stored" or None
        What is done with a prediction on another grid than its truth, as for the same function.
    tiles : bool
        Whether maps are judged in bands of rows though they fit in memory; those that do not always are.
    """

    binarize: float | None = None
    spacing: Sizes | Literal["file"] | None = None
    resample: Resample = None
    tiles: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return what differs from the usual, ready for JSON."""
        given = {"binarize": self.binarize, "spacing": self.spacing, "resample": self.resample}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Job:
    """One image of one detector; everything needed to judge it anywhere.

    Attributes
    ----------
    folder : Path or None
        Where the records of finished images are kept.
    human : bool
        Whether to judge the annotators against each other too.
    reading : Reading
    cache : Path or None
        Where what depends on the truths alone is kept across runs.
    """

    detector: str
    case: Case
    protocol: Protocol
    extras: tuple[str, ...]
    folder: Path | None
    fresh: bool = False
    human: bool = False
    reading: Reading = Reading()
    cache: Path | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """What is known of one image.

    Attributes
    ----------
    counts : dict of Counts
        The counts under the protocol (``main``) and those of the extras.
    numbers : dict
        Single numbers, hashes of the files, and notes.
    human : Counts or None
        Counts of the annotators against each other.
    """

    detector: str
    id: str
    counts: dict[str, Counts]
    numbers: dict[str, Any]
    human: Counts | None = None

    @classmethod
    def of_record(
        cls, detector: str, case: str, content: Mapping[str, Any], *, human: bool = False
    ) -> Judged:
        """Return what the record of an image says; of the annotators only if that is wanted."""
        counts = {name: unpacked(one) for name, one in content["counts"].items()}
        people = unpacked(content["human"]) if human and "human" in content else None
        return cls(detector, case, counts, dict(content["numbers"]), people)


def variants(protocol: Protocol, extras: tuple[str, ...]) -> dict[str, Protocol]:
    """Return all protocols under which an image is swept: the main one and those of the extras."""
    found = {"main": protocol}
    if "ceval" in extras:
        found["ceval"] = protocol.with_changes("ceval-of-this", thin=False, nms="none")
    if "tolerances" in extras:
        name = "tolerance" if protocol.tolerance is not None else "relative_tolerance"
        for share in TOLERANCE_SHARES[1:]:
            changed: dict[str, Any] = {name: getattr(protocol, name) * share}
            found[f"tolerance-{share:g}"] = protocol.with_changes("tolerance-of-this", **changed)
    if "strategies" in extras:
        for name in STRATEGIES:
            if name != protocol.strategy:
                found[f"strategy-{name}"] = protocol.with_changes("strategy-of-this", strategy=name)
    return found


def judge(job: Job) -> Judged | Failure:
    """Judge one image, or take it from the store; a bad file becomes a failure, never a zero."""
    return attempt(
        lambda: _judge(job), lambda message: Failure.of_case(job.case, message, detector=job.detector)
    )


def _judge(job: Job) -> Judged:
    if job.reading.tiles or in_tiles(job.case):
        return _judge_in_tiles(job)
    case = Loaded(job.case, job.protocol, job.reading)
    made: list[Judged] = []

    def measure() -> dict[str, Any]:
        counts, numbers = _measure(case, job)
        made.append(Judged(job.detector, job.case.id, counts, numbers, _human(case, job)))
        return _content(made[0])

    content = _kept(job, case.hashes, measure)
    people = _human(case, job) if "human" not in content else None
    if people is not None:  # another detector was the first when this one was judged
        content = _kept(job, case.hashes, lambda: {**content, "human": packed(people)}, fresh=True)
    return made[0] if made else Judged.of_record(job.detector, job.case.id, content, human=job.human)


def _content(judged: Judged) -> dict[str, Any]:
    """Return the content of the record of an image."""
    counts = {name: packed(one) for name, one in judged.counts.items()}
    people = {} if judged.human is None else {"human": packed(judged.human)}
    return {"counts": counts, "numbers": judged.numbers, **people}


def _judge_in_tiles(job: Job) -> Judged:
    hashes = raster_hashes(job.case)

    def measure() -> dict[str, Any]:
        found = measure_in_tiles(job.case, job.protocol, job.extras, job.reading)
        return {**found, "numbers": {**found["numbers"], **hashes}}

    content = _kept(job, {**hashes, "tiles": "used"}, measure)
    return Judged.of_record(job.detector, job.case.id, content)


def settings(job: Job) -> dict[str, Any]:
    """Return what the records of all images of a detector have in common."""
    return _common(job.protocol.digest, job.reading, job.extras)[0]


@lru_cache(maxsize=64)  # every image of a run asks for the same
def _common(protocol: str, reading: Reading, extras: tuple[str, ...]) -> tuple[dict[str, Any], str]:
    """Return what records have in common, and the key of it."""
    found: dict[str, Any] = {"version": RECORD_VERSION, "protocol": protocol, **reading.as_dict()}
    found["extras"] = sorted(set(extras) - {"regions"})  # which have records of their own
    return found, record_key(found)


def _kept(
    job: Job, hashes: dict[str, str], compute: Callable[[], dict[str, Any]], *, fresh: bool = False
) -> dict[str, Any]:
    """Return the record of an image, or make it and keep it."""
    folder = None if job.folder is None else f"{job.folder}{os.sep}{safe_name(job.detector)}"
    settings_key = _common(job.protocol.digest, job.reading, job.extras)[1]

    def whole() -> dict[str, Any]:
        return {**compute(), "settings": settings_key}

    return kept(folder, job.case.id, narrowed_key(settings_key, hashes), whole, fresh=fresh or job.fresh)


class Loaded:
    """The maps of one case on the grid of its truth: files are read once, and decoded only if needed."""

    def __init__(self, case: Case, protocol: Protocol, reading: Reading) -> None:
        if case.prediction is None:
            raise DataError(f"{case.id}: has no prediction")
        self.case = case if case.contents else case.read()
        self.prediction = self.case.contents[case.prediction]
        self.protocol = protocol
        self.reading = reading

    @cached_property
    def hashes(self) -> dict[str, str]:
        """The hashes of the files, by what they hold."""
        contents = self.case.contents
        hashes = {
            "truth_hash": digest(contents[path] for path in self.case.truths),
            "prediction_hash": digest([self.prediction]),
        }
        if self.case.mask is not None:
            hashes["mask_hash"] = digest([contents[self.case.mask]])
        return hashes

    @cached_property
    def grid(self) -> Grid:
        """How the prediction comes onto the grid of its truth."""
        return self.case.grid(spacing=self.reading.spacing, resample=self.reading.resample)

    @cached_property
    def truths(self) -> list[BoolArray]:
        """The boundaries of each annotator."""
        return self.truths_by(self.protocol.truth)

    def truths_by(self, rule: str) -> list[BoolArray]:
        """Return the boundaries of each annotator by a rule of a protocol."""
        return self.case.load_truths(binarize=self.reading.binarize, rule=rule)

    @cached_property
    def strength(self) -> FloatArray:
        """The prediction, on the grid of its truth."""
        brought: FloatArray = self.grid.bring(self.prediction, self.case.load_strength())
        return brought

    @property
    def spacing(self) -> Sizes | None:
        """The pixel size; that of images counts only if it is asked for."""
        if self.truths[0].ndim == 2 and self.reading.spacing is None:
            return None
        return self.grid.spacing

    @cached_property
    def mask(self) -> BoolArray | None:
        """Where pixels count; None where all of them do."""
        return self.case.load_mask()

    @cached_property
    def segmented(self) -> bool:
        """Whether the prediction holds segmentations in place of a strength map."""
        return holds_segmentations(self.prediction)


def _measure(loaded: Loaded, job: Job) -> tuple[dict[str, Counts], dict[str, Any]]:
    """Return the counts of an image, and its numbers."""
    truths, mask = loaded.truths, loaded.mask
    options: dict[str, Any] = {"mask": mask, "spacing": loaded.spacing}
    protocols = variants(job.protocol, job.extras)
    numbers: dict[str, Any] = {}
    if loaded.segmented:
        maps = loaded.case.load_candidates()
        numbers["notes"] = _refuse_errors(loaded.case, None, truths, mask)
        swept = {name: sweep_maps(maps, truths, protocol=one, **options) for name, one in protocols.items()}
    else:
        strength = loaded.strength
        numbers["notes"] = _refuse_errors(loaded.case, strength, truths, mask)
        swept = {
            name: sweep_checked(strength, truths, protocol=one, **options) for name, one in protocols.items()
        }
        if "crispness" in job.extras and strength.ndim == 2:
            crisp = crispness_of(strength)
            numbers["crispness"] = None if np.isnan(crisp) else crisp
        if "calibration" in job.extras:
            numbers["calibration"] = _calibration(loaded, job.protocol).as_dict()
    main = swept["main"]
    numbers["notes"] += [f"{loaded.case.id}: {note}" for note in loaded.grid.notes]
    numbers |= {"annotators": main.annotators, "tolerance": main.tolerance, "shape": list(main.shape)}
    numbers |= {"spacing": None if main.spacing is None else list(main.spacing), **loaded.hashes}
    return {name: one.counts for name, one in swept.items()}, numbers


def _calibration(loaded: Loaded, protocol: Protocol) -> Reliability:
    """Return how far the strengths are the shares of annotators, at the protocol's tolerance."""
    strength, truths = loaded.strength, loaded.truths
    if loaded.mask is not None:
        strength, truths = np.where(loaded.mask, strength, 0), [one & loaded.mask for one in truths]
    reach = protocol.tolerance_for(strength.shape, loaded.spacing)
    return reliability(strength, truths, tolerance=reach, spacing=loaded.spacing, thinned=strength.ndim == 2)


def _human(loaded: Loaded, job: Job) -> Counts | None:
    """Return the counts of the annotators against each other where they are asked for."""
    if not job.human:
        return None
    truths, mask = loaded.truths, loaded.mask
    if mask is not None:
        truths = [one & mask for one in truths]
    if len(truths) == 1:
        return human_counts(truths)
    sizes = loaded.spacing
    tolerance = job.protocol.tolerance_for(truths[0].shape, sizes)
    files = f"{loaded.hashes['truth_hash']}/{loaded.hashes.get('mask_hash', '')}"
    return count_people(
        truths,
        source=f"{files}/{job.reading.binarize}/{job.protocol.truth}",
        tolerance=tolerance,
        spacing=sizes,
        cache=job.cache,
        fresh=job.fresh,
    )


def _refuse_errors(case: Case, strength: Any, truths: Any, mask: Any) -> list[str]:
    """Raise for what would falsify a score; return the warnings."""
    findings = [*check_lossy(case), *check_case(strength, truths, name=case.id, mask=mask)]
    for finding in findings:
        if finding.severity == "error":
            raise InputError(f"{finding.what}; {finding.remedy}" if finding.remedy else finding.what)
    return [f"{case.id}: {finding.what}" for finding in findings if finding.severity == "warning"]
