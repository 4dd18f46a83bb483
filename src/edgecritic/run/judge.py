"""The work on one image of a benchmark: load, check, sweep, and keep what was found."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from edgecritic.datasets.cases import Case
from edgecritic.datasets.doctor import check_case
from edgecritic.datasets.files import holds_segmentations
from edgecritic.errors import DataError, EdgeCriticError, InputError
from edgecritic.protocols.crispness import average_crispness
from edgecritic.protocols.human import human_counts
from edgecritic.protocols.presets import Protocol
from edgecritic.protocols.sweep import Sweep, sweep, sweep_maps
from edgecritic.run.store import Store, hash_files

__all__ = ["Job", "Judged", "Failure", "judge", "EXTRAS", "TOLERANCE_SHARES"]

EXTRAS = ("crispness", "ceval", "tolerances")
"""What can be measured beside the protocol's own numbers."""

TOLERANCE_SHARES = (1.0, 0.5, 0.25)
"""The tolerance curve: these shares of the protocol's tolerance."""

RECORD_VERSION = 1
"""Raised when what a record holds or how it is computed changes."""


@dataclass(frozen=True, slots=True)
class Job:
    """One image of one detector; everything needed to judge it anywhere.

    Attributes
    ----------
    detector : str or None
        ``None`` for the annotators themselves (human level).
    """

    detector: str | None
    case: Case
    protocol: Protocol
    extras: tuple[str, ...]
    folder: Path | None
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """What is known of one image: counts by protocol id, and single numbers."""

    detector: str | None
    id: str
    counts: dict[str, Any]
    numbers: dict[str, Any]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one image could not be judged."""

    detector: str | None
    id: str
    message: str


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
    return found


def judge(job: Job) -> Judged | Failure:
    """Judge one image, or take it from the store; a bad file becomes a failure, never a zero."""
    try:
        return _judge(job)
    except EdgeCriticError as error:
        return Failure(job.detector, job.case.id, str(error))
    except MemoryError:
        return Failure(job.detector, job.case.id, "not enough memory for this image")


def _judge(job: Job) -> Judged:
    hashes = _hashes(job.case, job.detector is not None)
    key = _key(job, hashes)
    store = None if job.folder is None else Store(job.folder)
    content = None if store is None or job.fresh else store.load(job.case.id, key)
    if content is None:
        content = _human(job) if job.detector is None else _measure(job)
        if store is not None:
            store.save(job.case.id, key, content)
    notes = tuple(content["numbers"].pop("notes", ()))
    return Judged(job.detector, job.case.id, content["counts"], {**content["numbers"], **hashes}, notes)


def _hashes(case: Case, predicted: bool) -> dict[str, str]:
    hashes = {"truth_hash": hash_files(case.truths)}
    if predicted:
        if case.prediction is None:
            raise DataError(f"{case.id}: has no prediction")
        hashes["prediction_hash"] = hash_files([case.prediction])
    if case.mask is not None:
        hashes["mask_hash"] = hash_files([case.mask])
    return hashes


def _key(job: Job, hashes: dict[str, str]) -> str:
    parts = {
        "version": RECORD_VERSION,
        "protocol": job.protocol.digest,
        "extras": sorted(job.extras) if job.detector is not None else [],
        **hashes,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _measure(job: Job) -> dict[str, Any]:
    case = job.case
    truths, mask = case.load_truths(), case.load_mask()
    if case.prediction is not None and holds_segmentations(case.prediction):
        maps = case.load_candidates()
        _refuse_errors(case, None, truths, mask)
        swept = {
            name: sweep_maps(maps, truths, protocol=one, mask=mask)
            for name, one in variants(job.protocol, job.extras).items()
        }
        numbers: dict[str, Any] = {"notes": []}
    else:
        strength = case.load_strength()
        notes = _refuse_errors(case, strength, truths, mask)
        swept = {
            name: sweep(strength, truths, protocol=one, mask=mask)
            for name, one in variants(job.protocol, job.extras).items()
        }
        numbers = {"notes": notes}
        if "crispness" in job.extras:
            crisp = average_crispness(strength)
            numbers["crispness"] = None if np.isnan(crisp) else crisp
    main = swept["main"]
    numbers |= {"annotators": main.annotators, "tolerance": main.tolerance, "shape": list(main.shape)}
    return {"counts": {name: _plain(one) for name, one in swept.items()}, "numbers": numbers}


def _human(job: Job) -> dict[str, Any]:
    truths, mask = job.case.load_truths(), job.case.load_mask()
    if mask is not None:
        truths = [one & mask for one in truths]
    tolerance = job.protocol.tolerance_for(truths[0].shape)
    return {"counts": {}, "numbers": {"human": human_counts(truths, tolerance=tolerance).tolist()}}


def _plain(swept: Sweep) -> dict[str, Any]:
    return {"counts": swept.counts.tolist(), "zero": swept.zero.tolist()}


def _refuse_errors(case: Case, strength: Any, truths: Any, mask: Any) -> list[str]:
    """Raise for what would falsify a score; return the warnings."""
    findings = check_case(strength, truths, name=case.id, mask=mask)
    for finding in findings:
        if finding.severity == "error":
            raise InputError(f"{finding.what}; {finding.remedy}" if finding.remedy else finding.what)
    return [f"{case.id}: {finding.what}" for finding in findings if finding.severity == "warning"]
