"""Correspondence between a candidate edge map and a truth: one strategy per file."""

from __future__ import annotations

from edgecritic.matching.base import Matching, Pair, match, strategies, strategy
from edgecritic.matching.tiled import TiledMatching, match_pixels

__all__ = ["Matching", "Pair", "TiledMatching", "match", "match_pixels", "strategies", "strategy"]
