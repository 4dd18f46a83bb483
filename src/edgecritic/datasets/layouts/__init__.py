"""The layouts of truths, one record each: a new module of this package that registers one is all it takes.

Truths may lie in folders in several ways at once: single layouts take what they understand out of a folder.
"""

from __future__ import annotations

from edgecritic.datasets.layouts.base import Layout, Listing, Place, find_maps, find_truths, layout, layouts

__all__ = ["Layout", "Listing", "Place", "find_maps", "find_truths", "layout", "layouts"]
