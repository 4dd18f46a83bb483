"""What ``results.json`` holds of classes: the scores of each, their means, the differences of pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgecritic.protocols.benchmark import BenchmarkResult
from edgecritic.protocols.bootstrap import Bootstrap, PairedTest
from edgecritic.protocols.protocol import Protocol
from edgecritic.protocols.summary import Summary

__all__ = ["class_differences", "class_entries", "class_folder", "class_notes"]

_SCORES = ("ods", "ois", "ap")


def class_entries(result: BenchmarkResult) -> dict[str, Any]:
    """Return the entries of a detector about its classes, none if it has no classes."""
    groups = result.groups
    if not groups:
        return {}
    intervals = {} if result.intervals is None else result.intervals.groups
    numbers = result.summary.protocol.classes.chosen if result.summary.protocol.classes else {}
    classes = {
        name: {"folder": class_folder(numbers[name]), **_class_entry(one, intervals.get(name))}
        for name, one in groups.items()
    }
    return {"classes": classes, "mf_ods": result.mf_ods, "mean_ap": result.ap}


def class_folder(number: int) -> str:
    """Return the name of the folder that holds the files of a class."""
    return f"class_{number:03d}"


def _class_entry(summary: Summary, found: Bootstrap | None) -> dict[str, Any]:
    whole = summary.as_dict()
    ois = {key: value for key, value in whole["ois"].items() if key != "threshold"}
    intervals = None
    if found is not None:
        parts = {key: getattr(found, key) for key in _SCORES}
        intervals = {"level": found.level, **{key: [one.low, one.high] for key, one in parts.items()}}
    return {
        "images": len(summary.images),
        "ods": whole["ods"],
        "ois": ois,
        "ap": whole["ap"],
        "ap_rules": whole["aps"],
        "r50": whole["r50"],
        "intervals": intervals,
        "curve": whole["curve"],
    }


def class_differences(test: PairedTest) -> dict[str, Any]:
    """Return the differences of two detectors class by class, nothing if there are no classes."""
    if not test.groups:
        return {}
    return {
        "classes": {
            name: {
                key: {"difference": part.estimate, "low": part.low, "high": part.high, "p": part.p_value}
                for key, part in ((key, getattr(one, key)) for key in _SCORES)
            }
            for name, one in test.groups.items()
        }
    }


def class_notes(protocol: Protocol, details: Mapping[str, BenchmarkResult], resize: str | None) -> list[str]:
    """Say which classes the means are made of, where these are not all, and how maps were resized."""
    if protocol.classes is None:
        return []
    notes = (
        [] if resize is None else [f"predictions of another size than their truth were resized ({resize})"]
    )
    names = list(protocol.classes.chosen)
    for detector, result in details.items():
        absent = [name for name in names if name not in result.groups]
        if absent:
            notes.append(
                f"{detector}: means are over {len(result.groups)} of {len(names)} classes; without truth or "
                f"prediction are {', '.join(absent)}"
            )
    return notes
