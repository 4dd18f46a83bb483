"""What there is: names of strategies, measures, detectors, protocols, recipes, formats and layouts."""

from __future__ import annotations

from collections.abc import Callable

from edgecritic.errors import UnknownNameError
from edgecritic.ids import shown

__all__ = ["available"]


def _strategies() -> list[str]:
    from edgecritic.matching.base import strategies

    return strategies.names()


def _measures() -> list[str]:
    from edgecritic.measures.base import measures

    return measures.names()


def _detectors() -> list[str]:
    from edgecritic.detectors.base import detectors

    return detectors.names()


def _protocols() -> list[str]:
    from edgecritic.protocols.presets import PRESETS

    return sorted(PRESETS)


def _recipes() -> list[str]:
    from edgecritic.maps.suppression import RECIPES

    return sorted(RECIPES)


def _formats() -> list[str]:
    from edgecritic.datasets.formats import formats

    return formats.names()


def _layouts() -> list[str]:
    from edgecritic.datasets.layouts import layouts

    return layouts.names()


_KINDS: dict[str, Callable[[], list[str]]] = {
    "strategies": _strategies,
    "measures": _measures,
    "detectors": _detectors,
    "protocols": _protocols,
    "recipes": _recipes,
    "formats": _formats,
    "layouts": _layouts,
}


def available(kind: str) -> list[str]:
    """Return the names of all things of a kind, as ``edgecritic list`` shows them.

    Parameters
    ----------
    kind : "strategies", "measures", "detectors", "protocols", "recipes", "formats" or "layouts"

    Examples
    --------
    >>> available("strategies")[:3]
    ['area', 'closest', 'csa']
    """
    if not isinstance(kind, str) or kind not in _KINDS:
        raise UnknownNameError(f"unknown kind {shown(kind)} (known: {', '.join(_KINDS)})")
    return _KINDS[kind]()
