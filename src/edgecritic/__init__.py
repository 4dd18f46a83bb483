"""EdgeCritic says how good an edge map is.

The public names below are loaded on first use, so that ``import edgecritic`` is quick and loads
neither Numba nor SciPy nor matplotlib.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edgecritic.errors import EdgeCriticError as EdgeCriticError
    from edgecritic.matching import Matching as Matching
    from edgecritic.matching import match as match

__version__ = "0.1.0"

_HOMES = {
    "EdgeCriticError": "edgecritic.errors",
    "Matching": "edgecritic.matching",
    "match": "edgecritic.matching",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'edgecritic' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
