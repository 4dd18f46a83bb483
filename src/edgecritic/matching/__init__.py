"""Correspondence between a candidate edge map and a truth: one strategy per file."""

from __future__ import annotations

from edgecritic.matching.base import Matching, Pair, match, strategies, strategy

__all__ = ["Matching", "Pair", "match", "strategies", "strategy"]
