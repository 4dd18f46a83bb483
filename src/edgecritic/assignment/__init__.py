"""The machinery of one-to-one matching: what is within reach, the graph, the solver, following changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from edgecritic.lazy import attach

if TYPE_CHECKING:
    from edgecritic.assignment.dynamic import ExactState as ExactState
    from edgecritic.assignment.pixel_lists import PixelMatcher as PixelMatcher

_HOMES = {"ExactState": "dynamic", "PixelMatcher": "pixel_lists"}

__all__ = list(_HOMES)

__getattr__, __dir__ = attach(__name__, _HOMES)
