"""Matchings of a candidate that walks down the thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.assignment.dynamic import ExactState
from edgecritic.ids import Id
from edgecritic.inputs import BoolArray
from edgecritic.maps.walk import Walk
from edgecritic.matching.base import match

__all__ = ["Followed", "follow"]

_EXACT_OPTIONS = {"tolerance", "relative_tolerance", "window"}


class Followed(NamedTuple):
    """What is matched at every threshold of a walk.

    Attributes
    ----------
    truth : (K,) int64 array
        Matched truth pixels, summed over the truths.
    candidate : (K,) int64 array
        Candidate pixels that are matched by at least one of the truths.
    """

    truth: NDArray[np.int64]
    candidate: NDArray[np.int64]


def follow(
    walk: Walk,
    truths: Sequence[BoolArray],
    *,
    strategy: str | Id = "exact",
    tolerance: float | None = None,
    spacing: tuple[float, ...] | None = None,
) -> Followed:
    """Match a walking candidate with each of some truths at every threshold.

    The exact matching is kept and changed step by step, and is the optimum at each. Other strategies match
    anew wherever the candidate has changed.

    Parameters
    ----------
    walk : Walk
    truths : sequence of bool arrays of one shape
    strategy, tolerance, spacing
        As for `edgecritic.match`.

    Examples
    --------
    >>> truth = np.array([[0, 1, 1, 0]], bool)
    >>> walk = Walk(np.array([[0.2, 0.9, 0.5, 0.0]]), np.array([0.1, 0.4, 0.8]))
    >>> follow(walk, [truth], tolerance=0).truth
    array([2, 2, 1])
    """
    parsed = Id.parse(strategy)
    if parsed.name == "exact" and set(parsed.options) <= _EXACT_OPTIONS:
        options = {"tolerance": tolerance, **parsed.options}
        state = ExactState(truths, spacing=spacing, universe=walk.ever_on, **options)  # type: ignore[arg-type]
        found = state.sweep([(step.gained, step.lost) for step in walk])
    else:
        found = _anew(walk, truths, parsed, tolerance, spacing)
    return Followed(walk.at_thresholds(found[:, 0]), walk.at_thresholds(found[:, 1]))


def _anew(
    walk: Walk,
    truths: Sequence[BoolArray],
    strategy: Id,
    tolerance: float | None,
    spacing: tuple[float, ...] | None,
) -> NDArray[np.int64]:
    found = np.zeros((len(walk), 2), dtype=np.int64)
    for number, (step, candidate) in enumerate(walk.candidates()):
        if step.rests:
            found[number] = found[number - 1] if number else 0
            continue
        hit = np.zeros(walk.shape, dtype=np.bool_)
        for truth in truths:
            matching = match(candidate, truth, strategy=strategy, tolerance=tolerance, spacing=spacing)
            found[number, 0] += np.count_nonzero(matching.matched_truth)
            hit |= matching.matched_candidate
        found[number, 1] = np.count_nonzero(hit)
    return found
