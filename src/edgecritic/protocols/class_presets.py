"""The protocols of semantic boundaries, as values of `edgecritic.protocols.protocol.Protocol`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from edgecritic.protocols.classes import CITYSCAPES_CLASSES, SBD_CLASSES, ClassRules

__all__ = ["class_presets"]

_SEAL = "evaluation code of SEAL (Yu et al. 2018)"
_RELABELLED = "Publications on re-annotated truths take a tolerance of .0075."
_HALF = "Truths are judged at half size, as predictions must be; SEAL's own numbers are those of -inst."
_APART = "instances kept apart"


def class_presets() -> Iterator[dict[str, Any]]:
    """Yield the fields of each protocol; those of SEAL with their instance-sensitive variants."""
    sbd = ClassRules(names=SBD_CLASSES, ignored=(255,), truth="stored")
    yield {
        "id": "sbd",
        "title": "SBD semantic boundaries of 2011 (pre-SEAL)",
        "relative_tolerance": 0.02,
        "ap_rule": "max-precision-100",
        "duplicates": "last",
        "classes": replace(sbd, internal="remove", absent="skip"),
        "source": "benchmark code of SBD (Hariharan et al. 2011)",
        "notes": "Images without a class are skipped for it. Its 'area' is the AP rule interpolated-101.",
    }
    slim = replace(sbd, crop=5)
    thick = replace(slim, truth="labels", radius=2.0)
    for width, rules, thin in (("thin", slim, True), ("raw", thick, False)):
        title = f"SBD as SEAL judges it, {width}"
        own = replace(rules, instances=True, thin=thin)
        yield _seal(f"sbd-seal-{width}", title, 0.02, rules, _RELABELLED)
        yield _seal(f"sbd-seal-{width}-inst", f"{title}, {_APART}", 0.02, own, _RELABELLED)
    for width, rules in _cityscapes().items():
        title = f"Cityscapes semantic boundaries, {width}"
        own = replace(rules, instances=True)
        yield _seal(f"cityscapes-{width}", title, 0.0035, rules, _HALF)
        yield _seal(f"cityscapes-{width}-inst", f"{title}, {_APART}", 0.0035, own, _HALF)


def _cityscapes() -> dict[str, ClassRules]:
    ids = tuple(CITYSCAPES_CLASSES.values())
    rest = tuple(sorted(set(range(34)) - set(ids) - {2, 3}))
    rules = ClassRules(names=tuple(CITYSCAPES_CLASSES), labels=ids, others=rest, ignored=(2, 3), scale=0.5)
    return {
        "thin": replace(rules, radius=1.0, thin=True, scaled="labels"),
        "raw": replace(rules, radius=2.0, scaled="boundaries"),
    }


def _seal(name: str, title: str, tolerance: float, rules: ClassRules, notes: str) -> dict[str, Any]:
    return {
        "id": name,
        "title": title,
        "relative_tolerance": tolerance,
        "thin": "-thin" in name,
        "duplicates": "last",
        "classes": rules,
        "source": _SEAL,
        "notes": notes,
    }
