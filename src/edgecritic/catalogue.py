"""What there is: where the table of strategies, measures, detectors, … lives, and the names in it."""

from __future__ import annotations

import importlib
from typing import Any

from edgecritic.errors import UnknownNameError
from edgecritic.ids import shown

__all__ = ["KINDS", "available", "table_of"]

KINDS = {
    "strategies": ("edgecritic.matching", "strategies"),
    "measures": ("edgecritic.measures", "measures"),
    "detectors": ("edgecritic.detectors", "detectors"),
    "protocols": ("edgecritic.protocols.presets", "PRESETS"),
    "recipes": ("edgecritic.maps.suppression", "RECIPES"),
    "formats": ("edgecritic.datasets.formats", "formats"),
    "layouts": ("edgecritic.datasets.layouts", "layouts"),
    "published": ("edgecritic.run.published", "PUBLISHED"),
}
"""Where the registry (or table) of each kind lives: module and name."""


def table_of(kind: str) -> Any:
    """Return the registry, or the mapping of names, of a kind."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise UnknownNameError(f"no kind {shown(kind)} ({', '.join(KINDS)})")
    module, name = KINDS[kind]
    return getattr(importlib.import_module(module), name)


def available(kind: str) -> list[str]:
    """Return the names of all things of a kind, as ``edgecritic list`` shows them.

    Parameters
    ----------
    kind : "strategies", "measures", "detectors", "protocols", "recipes", "formats", "layouts" or "published"

    Examples
    --------
    >>> available("strategies")[:3]
    ['area', 'closest', 'coherent']
    """
    table = table_of(kind)
    return list(table.names()) if hasattr(table, "names") else sorted(table)
