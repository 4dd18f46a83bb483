"""Pixel sizes: their type and how they are shown; `edgecritic.datasets.geometry` chooses among them."""

from __future__ import annotations

from edgecritic.geometry import size_text

__all__ = ["Sizes", "size_text"]

Sizes = tuple[float, ...]
