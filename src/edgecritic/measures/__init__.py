"""Every measure of an edge map as one family: one small function each, registered with its metadata."""

from __future__ import annotations

from edgecritic.measures.base import FAR, Empty, MeasureInfo, Special, describe, measure, measures
from edgecritic.measures.evidence import Comparison, Confusion, compare

__all__ = [
    "FAR",
    "Comparison",
    "Confusion",
    "Empty",
    "MeasureInfo",
    "Special",
    "compare",
    "describe",
    "measure",
    "measures",
]
