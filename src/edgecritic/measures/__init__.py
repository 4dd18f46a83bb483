"""Every measure of an edge map as one family: one small function each, registered with its metadata."""

from __future__ import annotations

from typing import Any

from edgecritic.errors import UnknownNameError
from edgecritic.measures.base import FAR, Empty, MeasureInfo, Special, describe, measure, measures
from edgecritic.measures.curves import MeasureCurves, curves
from edgecritic.measures.evidence import Comparison, Confusion, compare
from edgecritic.measures.scoring import Scores, score, score_alone

__all__ = [
    "FAR",
    "Comparison",
    "Confusion",
    "Empty",
    "MeasureCurves",
    "MeasureInfo",
    "Scores",
    "Special",
    "compare",
    "describe",
    "measure",
    "measures",
    "score",
    "score_alone",
    "curves",
]


def __getattr__(name: str) -> Any:
    """Find every measure by its name: ``edgecritic.measures.hausdorff(candidate, truth)``."""
    if not name.startswith("_"):
        try:
            return measures.get(name).function
        except UnknownNameError:
            pass
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *measures.names()})
