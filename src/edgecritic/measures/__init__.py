"""Every measure of an edge map as one family: one small function each, registered with its metadata."""

from __future__ import annotations

from edgecritic.measures.base import FAR, Empty, MeasureInfo, Special, describe, measure, measures
from edgecritic.measures.curves import MeasureCurves, curves
from edgecritic.measures.evidence import Comparison, Confusion, compare
from edgecritic.measures.scoring import Scores, assess, score

__all__ = [
    "FAR",
    "Comparison",
    "Confusion",
    "Empty",
    "MeasureCurves",
    "MeasureInfo",
    "Scores",
    "Special",
    "assess",
    "compare",
    "describe",
    "measure",
    "measures",
    "score",
    "curves",
]
