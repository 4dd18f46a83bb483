"""The work on one image of a benchmark: load, check, sweep, and keep what was found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from edgecritic.datasets.cases import Case
from edgecritic.datasets.content import digest
from edgecritic.datasets.doctor import check_case, check_lossy
from edgecritic.datasets.files import holds_segmentations
from edgecritic.errors import DataError, InputError
from edgecritic.inputs import BoolArray
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.crispness import average_crispness
from edgecritic.protocols.human import human_counts
from edgecritic.protocols.presets import Protocol
from edgecritic.protocols.sweep import sweep, sweep_maps
from edgecritic.run.cache import weigh_labels
from edgecritic.run.results import Failure, attempt
from edgecritic.run.store import kept, record_key, safe_name

__all__ = ["Job", "Judged", "judge", "variants", "EXTRAS", "STRATEGIES", "TOLERANCE_SHARES"]

EXTRAS = ("crispness", "ceval", "tolerances", "strategies", "regions")
"""What can be measured beside the protocol's own numbers."""

STRATEGIES = ("exact", "eps", "closest", "distance", "area", "validation")
"""Ways to match that are compared with each other; those left out count as ``exact`` does, but slower."""

TOLERANCE_SHARES = (1.0, 0.5, 0.25)
"""The tolerance curve: these shares of the protocol's tolerance."""

HUMAN = "@human"
"""The folder of the annotators' counts; no detector's safe name has an @."""

RECORD_VERSION = 3
"""Raised when what a record holds or how it is computed changes."""


@dataclass(frozen=True, slots=True)
class Job:
    """One image of one detector; everything needed to judge it anywhere.

    Attributes
    ----------
    folder : Path or None
        Where the records of finished images are kept.
    human : bool
        Whether to judge the annotators against each other too.
    binarize : float or None
        Where grey truths are cut; without it they are refused.
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
    binarize: float | None = None
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
    case = _Loaded(job.case, job.binarize)
    hashes = case.hashes()
    version: dict[str, Any] = {"version": RECORD_VERSION, "protocol": job.protocol.digest}
    if job.binarize is not None:
        version["binarize"] = job.binarize
    extras = sorted(set(job.extras) - {"regions"})  # which have records of their own
    key = record_key({**version, "extras": extras, **hashes})
    content = _kept(job, safe_name(job.detector), key, lambda: _measure(case, job))
    human = None
    if job.human:
        people = {name: value for name, value in hashes.items() if name != "prediction_hash"}
        key = record_key({**version, **people})
        human = Counts.from_dict(_kept(job, HUMAN, key, lambda: _human(case, job))["counts"])
    counts = {name: Counts.from_dict(one) for name, one in content["counts"].items()}
    return Judged(job.detector, job.case.id, counts, {**content["numbers"], **hashes}, human)


def _kept(job: Job, group: str, key: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    folder = None if job.folder is None else job.folder / group
    return kept(folder, job.case.id, key, compute, fresh=job.fresh)


class _Loaded:
    """The maps of one case: its files are read once, and decoded only if that is needed."""

    def __init__(self, case: Case, binarize: float | None) -> None:
        if case.prediction is None:
            raise DataError(f"{case.id}: has no prediction")
        self.case = case.read()
        self.prediction = self.case.contents[case.prediction]
        self.binarize = binarize

    def hashes(self) -> dict[str, str]:
        contents = self.case.contents
        hashes = {
            "truth_hash": digest(contents[path] for path in self.case.truths),
            "prediction_hash": digest([self.prediction]),
        }
        if self.case.mask is not None:
            hashes["mask_hash"] = digest([contents[self.case.mask]])
        return hashes

    @cached_property
    def truths(self) -> list[BoolArray]:
        return self.case.load_truths(binarize=self.binarize)

    @cached_property
    def mask(self) -> BoolArray | None:
        return self.case.load_mask()

    @cached_property
    def segmented(self) -> bool:
        return holds_segmentations(self.prediction)


def _measure(loaded: _Loaded, job: Job) -> dict[str, Any]:
    truths, mask = loaded.truths, loaded.mask
    protocols = variants(job.protocol, job.extras)
    numbers: dict[str, Any] = {}
    if loaded.segmented:
        maps = loaded.case.load_candidates()
        numbers["notes"] = _refuse_errors(loaded.case, None, truths, mask)
        swept = {name: sweep_maps(maps, truths, protocol=one, mask=mask) for name, one in protocols.items()}
    else:
        strength = loaded.case.load_strength()
        numbers["notes"] = _refuse_errors(loaded.case, strength, truths, mask)
        swept = {name: sweep(strength, truths, protocol=one, mask=mask) for name, one in protocols.items()}
        if "crispness" in job.extras:
            crisp = average_crispness(strength)
            numbers["crispness"] = None if np.isnan(crisp) else crisp
    main = swept["main"]
    numbers |= {"annotators": main.annotators, "tolerance": main.tolerance, "shape": list(main.shape)}
    return {"counts": {name: one.counts.as_dict() for name, one in swept.items()}, "numbers": numbers}


def _human(loaded: _Loaded, job: Job) -> dict[str, Any]:
    truths, mask = loaded.truths, loaded.mask
    if mask is not None:
        truths = [one & mask for one in truths]
    if len(truths) == 1:
        return {"counts": human_counts(truths).as_dict()}
    tolerance = job.protocol.tolerance_for(truths[0].shape)
    found = weigh_labels(truths, tolerance=tolerance, cache=job.cache, fresh=job.fresh)
    return {"counts": found.human_counts().as_dict()}


def _refuse_errors(case: Case, strength: Any, truths: Any, mask: Any) -> list[str]:
    """Raise for what would falsify a score; return the warnings."""
    findings = [*check_lossy(case), *check_case(strength, truths, name=case.id, mask=mask)]
    for finding in findings:
        if finding.severity == "error":
            raise InputError(f"{finding.what}; {finding.remedy}" if finding.remedy else finding.what)
    return [f"{case.id}: {finding.what}" for finding in findings if finding.severity == "warning"]
