"""The registry of strategies, and `match`, which runs one of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from edgecritic.assignment.pair import Pair
from edgecritic.errors import InputError
from edgecritic.grids import on_one_grid
from edgecritic.ids import Id
from edgecritic.inputs import Spacing, as_array, as_pair, as_spacing, as_tolerance
from edgecritic.matching.result import Matching
from edgecritic.registry import Bound, Registry

__all__ = [
    "Pair",
    "Matching",
    "StrategyInfo",
    "strategies",
    "strategy",
    "match",
    "with_tolerance",
    "split_tolerance",
    "within_tolerance",
]

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyInfo:
    """What is known of a strategy.

    Attributes
    ----------
    one_to_one : bool
        Whether every pixel is used at most once.
    reach : "radius", "window" or "either"
        How far it looks: a tolerance, a window in pixels, or one of the two.
    reference : str
        Where it is defined.
    areas : bool
        Whether its tp, fp and fn are areas in place of pixels of the maps.
    """

    one_to_one: bool
    reach: str
    reference: str
    areas: bool


strategies: Registry[StrategyInfo] = Registry("strategy", "edgecritic.matching", "edgecritic.strategies")


def strategy(
    name: str, *, one_to_one: bool, reach: str, reference: str, areas: bool = False
) -> Callable[[Function], Function]:
    """Register a function ``(pair, *, options) -> Matching`` as the strategy `name`."""

    def register(function: Function) -> Function:
        info = StrategyInfo(one_to_one=one_to_one, reach=reach, reference=reference, areas=areas)
        strategies.add(name, function, info)
        return function

    return register


def match(
    candidate: Any,
    truth: Any,
    *,
    strategy: str | Id = "exact",
    tolerance: float | None = None,
    relative_tolerance: float | None = None,
    spacing: Spacing = None,
) -> Matching:
    """Find which pixels of a candidate edge map correspond to which pixels of a truth.

    Parameters
    ----------
    candidate, truth : array_like, 2-D or 3-D; or images of nibabel or SimpleITK
        Binary maps of one shape: booleans, 0/1 or 0/255. Three axes are a volume, never a batch. Images come
        with their geometry: axes are brought into the truth's order, other grids are refused.
    strategy : str
        The id of a strategy; ``edgecritic list strategies`` shows them. A tolerance may be part of
        it: ``exact(tolerance=4.3)``.
    tolerance : float, optional
        Largest distance of a match in pixels, or in physical units when `spacing` is given.
    relative_tolerance : float, optional
        The same as a fraction of the image diagonal; 0.0075 if neither is given.
    spacing : float or one per axis, optional
        Pixel sizes; by default those that images tell.

    Returns
    -------
    Matching

    Notes
    -----
    The same maps give the same matching, always. What flips and transposes of both maps leave as it is:

    - ``exact``, ``hungarian`` and ``csa``: the number of pairs (hence `tp`, `fp`, `fn`, precision, recall
      and F) and the total cost, the sum of the distances, each rounded to hundredths. Where several sets of
      pixels can be matched at this cost, the set may be another one, and so may the partners within a set
      (`pairs`, `distances`).
    - ``eps`` and ``closest`` go in raster order: nothing, not even the number of pairs.
    - ``distance``, ``validation`` and ``area``: everything.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.zeros((10, 12), bool)
    >>> truth[4, 2:10] = True
    >>> found = match(np.roll(truth, 1, axis=0), truth, tolerance=2)
    >>> found.tp, found.f(), found.mean_distance
    (8, 1.0, 1.0)
    """
    candidate, (truth,), spacing, notes = on_one_grid(candidate, [truth], spacing)
    first, second = map(np.ascontiguousarray, as_pair(candidate, truth))
    sizes = as_spacing(spacing, first.ndim)
    parsed, tolerance, relative_tolerance = split_tolerance(Id.parse(strategy), tolerance, relative_tolerance)
    bound = strategies.bind(parsed)
    windowed = _searches_window(bound)
    if windowed and (tolerance is not None or relative_tolerance is not None):
        raise InputError(f"{bound} searches a window of pixels", remedy="leave the tolerance out")
    reach = as_tolerance(first.shape, sizes, tolerance, relative_tolerance)
    pair = Pair(
        first,
        second,
        sizes,
        reach,
        strategy=str(bound),
        windowed=windowed,
        in_pixels=spacing is None,
        notes=notes,
        lent=(as_array(candidate), as_array(truth)),
    )
    result: Matching = bound(pair)
    return result


def with_tolerance(strategy: str | Id, tolerance: float) -> Id:
    """Return the id of a strategy with a tolerance, unless it names one or searches a window.

    Examples
    --------
    >>> [str(with_tolerance(text, 3)) for text in ("exact", "exact(tolerance=2)", "eps(window=7)")]
    ['exact(tolerance=3)', 'exact(tolerance=2)', 'eps(window=7)']
    """
    parsed = Id.parse(strategy)
    rest, *named = split_tolerance(parsed, None, None)
    given = any(each is not None for each in named) or _searches_window(strategies.bind(rest))
    return parsed if given else parsed.with_default("tolerance", tolerance)


def within_tolerance(strategy: str | Id, tolerance: float, spacing: Sequence[float]) -> Id:
    """Return the id of a strategy that searches as far as a tolerance: windows get their sides from it.

    A window is the largest whose middle is nowhere farther from a side than the tolerance; its corners
    belong to it and lie farther away. A window of a single pixel, of a tolerance below the pixel size, leaves
    nothing to choose: pixels in one place match, as by ``exact(tolerance=0)``. What the id says itself stays.

    Examples
    --------
    >>> [str(within_tolerance(text, 4.3, (1, 1))) for text in ("exact", "eps", "eps(window=7)")]
    ['exact(tolerance=4.3)', 'eps(window=9)', 'eps(window=7)']
    >>> str(within_tolerance("eps", 0.9, (1, 1)))
    'exact(tolerance=0.0)'
    """
    found = with_tolerance(strategy, tolerance)
    if strategies.get(found.name).info.reach != "window":
        return found
    steps = math.floor(tolerance / max(spacing))
    if steps == 0 and found.options.get("window") is None:
        return with_tolerance("exact", 0.0)
    return found.with_default("window", 2 * steps + 1)


def _searches_window(bound: Bound[StrategyInfo]) -> bool:
    reach = bound.entry.info.reach
    return reach == "window" or (reach == "either" and bound.id.options.get("window") is not None)


def split_tolerance(
    parsed: Id, tolerance: float | None, relative: float | None
) -> tuple[Id, float | None, float | None]:
    """Take the tolerance out of an id; it may be given there or as an argument, not twice."""
    given: dict[str, Any] = {"tolerance": tolerance, "relative_tolerance": relative}
    rest = []
    for key, value in parsed.params:
        if key not in given:
            rest.append((key, value))
        elif given[key] is not None:
            raise InputError(f"{key} is given twice: in the id {parsed} and as an argument")
        else:
            given[key] = value
    return Id(parsed.name, tuple(rest)), given["tolerance"], given["relative_tolerance"]
