"""Precision and recall under the exact matching at all thresholds: one matching follows the candidate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.assignment.dynamic import ExactState
from edgecritic.ids import Id
from edgecritic.inputs import BoolArray

__all__ = ["exact_rates"]

Step = tuple[NDArray[np.int64], NDArray[np.int64]]
_OPTIONS = {"tolerance", "relative_tolerance", "window"}


def exact_rates(
    cut: Callable[[float], BoolArray],
    thresholds: NDArray[np.float64],
    truths: Sequence[BoolArray],
    chosen: Sequence[Any],
    spacing: tuple[float, ...],
) -> dict[int, NDArray[np.float64]]:
    """Return the columns of `chosen` that are precision or recall under the strategy ``exact``.

    The values are those of the measures, at a small part of the cost: candidates of a sweep differ little.

    Parameters
    ----------
    cut : callable
        Gives the candidate at a threshold.
    thresholds : float array
    truths : sequence of boolean arrays
        The means over them are returned; none of them empty.
    chosen : sequence of bound measures
    spacing : tuple of float

    Returns
    -------
    dict
        From the place in `chosen` to a value per threshold; 0 where the candidate is empty and has no rates.
    """
    wanted = {place: found for place, each in enumerate(chosen) if (found := _strategy(each)) is not None}
    if not wanted:
        return {}
    order = np.argsort(-thresholds, kind="stable")
    steps = _steps(cut(float(thresholds[place])) for place in order)
    sizes = np.cumsum([gained.size - lost.size for gained, lost in steps])
    matches = {
        strategy: [_matches(steps, truth, strategy, spacing) for truth in truths]
        for strategy in set(wanted.values())
    }
    columns = {}
    for place, strategy in wanted.items():
        rows = []
        for truth, hits in zip(truths, matches[strategy], strict=True):
            precision = chosen[place].entry.name == "precision"
            whole = np.maximum(sizes, 1) if precision else np.full(sizes.size, np.count_nonzero(truth))
            rows.append(hits / whole)
        columns[place] = np.empty(sizes.size)
        columns[place][order] = np.mean(rows, axis=0)
    return columns


def _steps(candidates: Iterable[BoolArray]) -> list[Step]:
    """Return the raster indices of the pixels that each candidate gains and loses."""
    steps: list[Step] = []
    before: BoolArray | None = None
    for mask in candidates:
        old = np.zeros_like(mask) if before is None else before
        steps.append((np.flatnonzero(mask & ~old), np.flatnonzero(old & ~mask)))
        before = mask
    return steps


def _strategy(bound: Any) -> Id | None:
    """Return the strategy of a measure if it is one that a sweep can follow."""
    if bound.entry.name not in ("precision", "recall") or bound.id.options.get("strategy") is None:
        return None
    strategy = Id.parse(bound.id.options["strategy"])
    return strategy if strategy.name == "exact" and set(strategy.options) <= _OPTIONS else None


def _matches(
    steps: Sequence[Step], truth: BoolArray, strategy: Id, spacing: tuple[float, ...]
) -> NDArray[np.int64]:
    """Return the number of matches after each step."""
    universe = np.zeros_like(truth)
    for gained, _ in steps:
        universe.reshape(-1)[gained] = True
    options: dict[str, Any] = dict(strategy.options)
    return ExactState(truth, spacing=spacing, universe=universe, **options).sweep(steps)[:, 0]
