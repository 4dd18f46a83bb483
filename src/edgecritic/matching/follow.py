"""Matchings of a candidate that walks down the thresholds."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.assignment.dynamic import sweep_truths
from edgecritic.ids import Id
from edgecritic.inputs import BoolArray
from edgecritic.maps.walk import Walk
from edgecritic.matching.base import match, strategies, within_tolerance
from edgecritic.matching.result import Matching

__all__ = ["Followed", "follow", "pool_matchings"]

_EXACT_OPTIONS = {"tolerance", "relative_tolerance", "window"}


class Followed(NamedTuple):
    """What is matched at every threshold of a walk, and of how much.

    Attributes
    ----------
    truth, truth_total : (K,) int64 arrays
        Matched and all truth pixels, summed over the truths.
    candidate, candidate_total : (K,) int64 arrays
        Candidate pixels that are matched by at least one of the truths, and all of them.
    places : int
        Pixels that at least one of the truths has.
    """

    truth: NDArray[np.int64]
    truth_total: NDArray[np.int64]
    candidate: NDArray[np.int64]
    candidate_total: NDArray[np.int64]
    places: int

    @property
    def columns(self) -> tuple[NDArray[np.int64], ...]:
        """What is counted at every threshold, in the order of `edgecritic.protocols.counts.COLUMNS`."""
        return self[:-1]


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
    anew wherever the candidate has changed. One that compares areas counts pixels of area: those of the
    candidate that it shares with all truths together.

    Parameters
    ----------
    walk : Walk
    truths : sequence of bool arrays of one shape
    strategy, tolerance, spacing
        As for `edgecritic.match`; a strategy that searches a window takes its side from the tolerance
        (`edgecritic.matching.base.within_tolerance`).

    Examples
    --------
    >>> truth = np.array([[0, 1, 1, 0]], bool)
    >>> walk = Walk(np.array([[0.2, 0.9, 0.5, 0.0]]), np.array([0.1, 0.4, 0.8]))
    >>> follow(walk, [truth], tolerance=0).truth
    array([2, 2, 1])
    """
    parsed = Id.parse(strategy)
    if parsed.name == "exact" and set(parsed.options) <= _EXACT_OPTIONS:
        options: dict[str, Any] = {"tolerance": tolerance, **parsed.options}
        counts, total, places = sweep_truths(truths, walk.gained, walk.lost, spacing=spacing, **options)
        found = _with_totals(walk, total, counts)
    else:
        found = _anew(walk, truths, parsed, tolerance, spacing)
        places = int(np.count_nonzero(functools.reduce(np.logical_or, truths)))
    truth, truth_total, candidate, candidate_total = walk.at_thresholds(found.T)
    return Followed(truth, truth_total, candidate, candidate_total, places)


def _anew(
    walk: Walk,
    truths: Sequence[BoolArray],
    strategy: Id,
    tolerance: float | None,
    spacing: tuple[float, ...] | None,
) -> NDArray[np.int64]:
    ndim = len(walk.shape)
    chosen = (
        strategy if tolerance is None else within_tolerance(strategy, tolerance, spacing or (1.0,) * ndim)
    )
    areas = strategies.get(chosen.name).info.areas
    total = sum(int(np.count_nonzero(truth)) for truth in truths)
    found = _with_totals(walk, total, np.zeros((len(walk), 2), dtype=np.int64))
    for number, (step, candidate) in enumerate(walk.candidates()):
        if step.rests and number:
            found[number] = found[number - 1]
        elif areas or not step.rests:
            matchings = [match(candidate, truth, strategy=chosen, spacing=spacing) for truth in truths]
            found[number] = pool_matchings(matchings, candidate, truths, strategy=chosen, spacing=spacing)
    return found


def pool_matchings(
    matchings: Sequence[Matching],
    candidate: BoolArray,
    truths: Sequence[BoolArray],
    *,
    strategy: str | Id = "exact",
    spacing: tuple[float, ...] | None = None,
) -> tuple[int, int, int, int]:
    """Count what the matchings of one candidate with each of some truths found together.

    Returns matched and all truth pixels, summed over the truths, and the candidate pixels that any of the
    matchings has matched and all of them. A strategy that compares areas counts pixels of area: those of the
    candidate that it shares with all truths together.

    Parameters
    ----------
    matchings : sequence of Matching
        Those of `edgecritic.match` with `strategy` and `spacing`, a matching for each truth.

    Examples
    --------
    >>> candidate, truth = np.array([[1, 1, 0]], bool), np.array([[0, 1, 1]], bool)
    >>> found = [match(candidate, one, tolerance=0) for one in (truth, candidate)]
    >>> pool_matchings(found, candidate, (truth, candidate))
    (3, 4, 2, 2)
    """
    if strategies.get(Id.parse(strategy).name).info.areas:
        union = match(candidate, np.any(truths, axis=0), strategy=strategy, spacing=spacing)
        shared = sum(one.tp for one in matchings)
        return shared, shared + sum(one.fn for one in matchings), union.tp, union.tp + union.fp
    hit = np.any([one.matched_candidate for one in matchings], axis=0)
    return (
        sum(int(np.count_nonzero(one.matched_truth)) for one in matchings),
        sum(int(np.count_nonzero(truth)) for truth in truths),
        int(np.count_nonzero(hit)),
        int(np.count_nonzero(candidate)),
    )


def _with_totals(walk: Walk, total: int, matched: NDArray[np.int64]) -> NDArray[np.int64]:
    """Put the pixels of truths and candidate beside those that are matched, step by step."""
    found = np.empty((len(walk), 4), dtype=np.int64)
    found[:, ::2] = matched
    found[:, 1] = total
    found[:, 3] = walk.gained.start[1:] - walk.lost.start[1:]
    return found
