"""The record of a benchmark run: what ``results.json`` holds."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from edgecritic import __version__
from edgecritic.annotators.calibration import Reliability, pool_reliability
from edgecritic.errors import InputError
from edgecritic.protocols.benchmark import Benchmark, BenchmarkResult
from edgecritic.protocols.crispness import summarise_crispness
from edgecritic.protocols.granularity import granularity_oracle
from edgecritic.protocols.human import human_level
from edgecritic.protocols.protocol import Protocol
from edgecritic.run.class_results import class_differences, class_entries
from edgecritic.run.judge import TOLERANCE_SHARES, Judged, variants
from edgecritic.run.results import Failure, failure_rows
from edgecritic.run.store import RECORDS, safe_name
from edgecritic.run.volumes import tolerance_unit

__all__ = ["results_record", "versions", "pooled", "crispness_of", "detector_folder", "SCHEMA"]

SCHEMA = 1
"""Version of the layout of ``results.json``."""

_TAKEN = re.compile(
    rf"{RECORDS}|results\.json|run\.json|report\.html|table\.\w+|rows\.tex|pr\.\w+|eval_\w*\.txt",
    re.IGNORECASE,
)


def results_record(
    *,
    protocol: Protocol,
    truth: str,
    judged: Mapping[str, Mapping[str, Judged]],
    details: Mapping[str, BenchmarkResult],
    extras: tuple[str, ...],
    draws: int,
    curves: Sequence[dict[str, Any]],
    oracle: dict[str, Any] | None,
    failures: Iterable[Failure],
    notes: list[str],
    regions: Mapping[str, dict[str, Any]],
) -> dict[str, Any]:
    """Return everything about a run, ready for JSON; `judged` and `details` are by detector."""
    return {
        "schema": SCHEMA,
        "protocol": _protocol_record(protocol, judged),
        "versions": versions(),
        "truth": truth,
        "human": _human(judged),
        "oracle": oracle,
        "detectors": [
            {**_entry(name, details[name], judged[name], protocol, extras), "regions": regions.get(name)}
            for name in details
        ],
        "comparisons": _comparisons(details, draws),
        "curves": list(curves),
        "failures": failure_rows(failures),
        "notes": notes,
    }


def pooled(protocol: Protocol, judged: Mapping[str, Judged], variant: str) -> BenchmarkResult:
    """Pool the counts of all images under one of the protocols of `variants`; without intervals."""
    benchmark = Benchmark(protocol)
    for name, item in judged.items():
        benchmark.add_counts(name, item.counts[variant])
    return benchmark.result(draws=0)


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
        "crispness": crispness_of(judged) if "crispness" in extras else None,
        **({"calibration": calibration_of(judged)} if "calibration" in extras else {}),
        "ceval": _ceval(judged, protocol, extras),
        "tolerances": _tolerances(judged, protocol, extras),
        "strategies": _strategies(judged, protocol, extras),
        "per_image": [_image_row(row, judged[row["name"]]) for row in whole["images"]],
        **class_entries(result),
    }


def detector_folder(name: str) -> str:
    """Return the name of the folder that holds a detector's files; none of a file of the run itself.

    Examples
    --------
    >>> detector_folder("canny"), detector_folder("records")[:8]
    ('canny', 'records-')
    """
    return safe_name(f"{name}/" if _TAKEN.fullmatch(name) else name)


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
        **({"spacing": item.numbers["spacing"]} if item.numbers.get("spacing") else {}),
    }


def _intervals(result: BenchmarkResult) -> dict[str, Any] | None:
    found = result.intervals
    if found is None:
        return None
    parts = {"ods": found.ods, "ois": found.ois, "ap": found.ap}
    return {"level": found.level, **{key: [part.low, part.high] for key, part in parts.items()}}


def calibration_of(judged: Mapping[str, Judged]) -> dict[str, Any] | None:
    """Return how far strengths are shares of annotators, over all images; ``None`` if no image tells."""
    found = [item.numbers.get("calibration") for item in judged.values()]
    parts = [Reliability.from_dict(one) for one in found if one is not None]
    return pool_reliability(parts).summary() if parts else None


def crispness_of(judged: Mapping[str, Judged]) -> dict[str, Any] | None:
    """Return the average crispness over the images; ``None`` if no image has one."""
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
    found = pooled(variants(protocol, extras)["ceval"], judged, "ceval").summary.as_dict()
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
        found = pooled(one, judged, variant)
        pixels = [
            one.tolerance_for(item.numbers["shape"], item.numbers.get("spacing")) for item in judged.values()
        ]
        rows.append(
            {
                "relative_tolerance": one.relative_tolerance,
                "pixels": float(np.mean(pixels)),
                "ods": found.ods.f,
                "ois": found.ois.f,
            }
        )
    return rows


def _strategies(
    judged: Mapping[str, Judged], protocol: Protocol, extras: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Return ODS, OIS and AP by every strategy, the protocol's own first."""
    if "strategies" not in extras:
        return []
    rows = []
    for variant, one in variants(protocol, extras).items():
        if variant == "main" or variant.startswith("strategy-"):
            found = pooled(one, judged, variant).summary.as_dict()
            rows.append({"strategy": one.strategy, **{key: found[key] for key in ("ods", "ois", "ap")}})
    return rows


def _comparisons(details: Mapping[str, BenchmarkResult], draws: int) -> list[dict[str, Any]]:
    """Test every pair of detectors on the images that both have.

    Segmentations and soft maps are not tested against each other: they have no thresholds in common. Nor are
    detectors without a class in common.
    """
    rows: list[dict[str, Any]] = []
    names = list(details)
    for at, first in enumerate(names):
        for second in names[at + 1 :]:
            common = sorted(details[first].counts.keys() & details[second].counts.keys())
            if not draws or len(common) < 2 or not _same_thresholds(details[first], details[second]):
                continue
            try:
                test = details[first].only(common).against(details[second].only(common), draws=draws)
            except InputError:  # these images have no class of which both have a truth and predictions
                continue
            row: dict[str, Any] = {"first": first, "second": second, "images": len(common)}
            for key, part in (("ods", test.ods), ("ois", test.ois), ("ap", test.ap)):
                row[key] = {
                    "difference": part.estimate,
                    "low": part.low,
                    "high": part.high,
                    "p": part.p_value,
                }
            rows.append({**row, **class_differences(test)})
    return rows


def _same_thresholds(first: BenchmarkResult, second: BenchmarkResult) -> bool:
    one, other = (next(iter(result.counts.values())).thresholds for result in (first, second))
    return np.array_equal(one, other)


def _human(judged: Mapping[str, Mapping[str, Judged]]) -> dict[str, Any] | None:
    counts = [item.human for items in judged.values() for item in items.values() if item.human is not None]
    level = human_level(counts)
    return None if level is None else level.as_dict()


def oracle_of(
    details: Mapping[str, BenchmarkResult], protocol: Protocol
) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the upper bound over all detectors on the images that all have, or a note why there is none."""
    results = list(details.values())
    if not results:
        return None, []
    if not all(_same_thresholds(results[0], one) for one in results[1:]):
        return None, ["there is no oracle: segmentations and soft maps have no thresholds in common"]
    common = sorted(set.intersection(*(set(one.counts) for one in results)))
    if not common:
        return None, ["there is no oracle: no image was judged for all detectors"]
    found = granularity_oracle([one.only(common).counts for one in results], protocol=protocol)
    return {**found.as_dict(), "detectors": list(details)}, []


def _protocol_record(protocol: Protocol, judged: Mapping[str, Mapping[str, Judged]]) -> dict[str, Any]:
    pixels = [item.numbers["tolerance"] for items in judged.values() for item in items.values()]
    return {
        **protocol.as_dict(),
        "digest": protocol.digest,
        "tolerance_pixels": [min(pixels), max(pixels)] if pixels else None,
        "tolerance_unit": tolerance_unit(judged),
    }


def versions() -> dict[str, str]:
    """Return the versions that made a run."""
    others = {name: version(name) for name in ("numpy", "numba", "scipy")}
    return {"python": platform.python_version(), "edgecritic": __version__, **others}
