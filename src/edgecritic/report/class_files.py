"""What a run over classes leaves beside its report: classic files of every class, and pictures."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from edgecritic.assignment.dynamic import match_truths
from edgecritic.datasets.class_cases import ClassCase
from edgecritic.errors import EdgeCriticError
from edgecritic.protocols.benchmark import BenchmarkResult
from edgecritic.protocols.class_sweep import class_candidates
from edgecritic.protocols.classes import ClassRules
from edgecritic.protocols.summary import count_table
from edgecritic.report.classic import CLASSIC_FILES, write_all
from edgecritic.report.pictures import RANKS, matching_picture, ranked_picture
from edgecritic.report.sections import Picture
from edgecritic.run.bench import BenchRun
from edgecritic.run.class_results import class_folder
from edgecritic.run.classes import ClassJob, case_hashes, class_case_maps, class_strengths

__all__ = ["illustrate_classes", "write_classes"]


def write_classes(place: Path, result: BenchmarkResult, rules: ClassRules) -> list[Path]:
    """Write the classic files of every class into the folders ``class_001``, … of a detector."""
    tables = count_table(result.counts).by_group()
    numbers = rules.chosen
    written: list[Path] = []
    for name, summary in result.groups.items():
        written += write_all(place / class_folder(numbers[name]), summary, tables[name])
    known = [place / class_folder(number) for number in range(1, len(rules.names) + 1)]
    names = ("*_ev1.txt", *CLASSIC_FILES)
    found = {file for folder in known for name in names for file in folder.rglob(name)}
    for left in found - set(written):  # of images and classes that are no longer judged
        left.unlink(missing_ok=True)
    return written


def illustrate_classes(run: BenchRun) -> Iterator[Picture]:
    """Draw for every detector its best, median and worst image, every class at the threshold of its ODS.

    Pixels of all classes are shown together: a candidate is a hit if it is matched in one of its classes.
    """
    for entry in run.results["detectors"]:
        rows = sorted(entry["per_image"], key=lambda row: (row["f"], row["id"]))
        places: dict[int, str] = {}
        for place, rank in zip((len(rows) - 1, len(rows) // 2, 0), RANKS, strict=True):
            places.setdefault(place, rank)
        levels = {name: float(one["ods"]["threshold"]) for name, one in entry["classes"].items()}
        for place, rank in places.items():
            row = rows[place]
            case = run.cases[entry["name"]][row["id"]]
            png = _draw(case, run, levels, row) if isinstance(case, ClassCase) else None
            if png is not None:
                yield ranked_picture(entry["name"], row["id"], row["f"], rank, png)


def _draw(
    case: ClassCase, run: BenchRun, levels: Mapping[str, float], row: Mapping[str, Any]
) -> bytes | None:
    rules = run.protocol.classes
    if rules is None:
        return None
    try:
        read = case.read()
        if case_hashes(read)["prediction_hash"] != row["prediction_hash"]:
            raise EdgeCriticError("changed")
        job = ClassJob("", read, run.protocol, rules.only(list(levels)), (), None, resize=run.resize)
        truths, labels = class_case_maps(read, rules)
        strengths, _ = class_strengths(read, job, next(iter(truths.values())).shape)
        pairs = class_candidates(
            strengths, truths, levels, protocol=run.protocol, labels=labels, mask=read.load_mask()
        )
    except EdgeCriticError:
        warnings.warn(
            f"{case.id}: its files have changed since they were judged; no picture is drawn", stacklevel=2
        )
        return None
    return _picture(list(pairs.values()), run)


def _picture(pairs: list[tuple[Any, Any]], run: BenchRun) -> bytes | None:
    if not pairs:
        return None
    found, matched, drawn, missed = (np.zeros(pairs[0][0].shape, dtype=np.bool_) for _ in range(4))
    tolerance = run.protocol.tolerance_for(found.shape)
    for candidate, truth in pairs:
        hit, (known,) = match_truths(candidate, [truth], tolerance=tolerance)
        found |= candidate
        matched |= hit
        drawn |= truth
        missed |= truth & ~known
    return matching_picture(found, matched & found, [drawn], [missed])
