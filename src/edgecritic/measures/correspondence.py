"""Measures of the pairs of a matching."""

from __future__ import annotations

import math

from edgecritic.errors import InputError
from edgecritic.ids import Id
from edgecritic.measures.base import Empty, Special, measure
from edgecritic.measures.checks import check_positive
from edgecritic.measures.evidence import Comparison

__all__ = ["mean_displacement", "pcm"]

REACH: float = 3
"""Tolerance unless one is given, in pixels or units of the spacing."""


_LIMIT = Special("the tolerance")


@measure(
    "pcm",
    symbol="PCM",
    family="correspondence",
    reference="Prieto & Allen 2003, IEEE TPAMI 25(10)",
    better="higher",
    range=(0, 100),
    symmetric=True,
    sees="both",
    empty=Empty(both=100.0, candidate=0.0, truth=0.0),
    needs="matching",
    default=False,
    units="percent",
)
def pcm(comparison: Comparison, /, *, tolerance: float = REACH, strategy: str | Id = "exact") -> float:
    """Return the pixel correspondence metric 100·(1 − C/|candidate ∪ truth|) in percent.

    C is the cost of the one-to-one matching within `tolerance`: distance/tolerance for a matched pair and 1
    for every unmatched pixel. This is the metric for binary maps, without its term for differences in
    strength; the matching has the most pairs, and among these the smallest sum of distances.

    Examples
    --------
    >>> pcm([[1, 0, 0, 1]], [[1, 0, 1, 0]], strategy="hungarian")
    88.8888889
    """
    within = _within(strategy, tolerance)
    cost = float(comparison.pair_distances(within).sum()) / tolerance
    found = comparison.matching(within)
    cost += found.fp + found.fn
    union = comparison.n_candidate + comparison.n_truth - comparison.confusion.tp
    return 100 * max(0.0, 1 - cost / union)


@measure(
    "mean_displacement",
    symbol="MD",
    family="correspondence",
    reference="Liu & Haralick 2002, Pattern Recognition 35(10)",
    better="lower",
    range=(0, math.inf),
    symmetric=True,
    sees="neither",
    empty=Empty(both=0.0, candidate=_LIMIT, truth=_LIMIT),
    needs="matching",
    default=False,
    units="distance",
)
def mean_displacement(
    comparison: Comparison, /, *, tolerance: float = REACH, strategy: str | Id = "exact"
) -> float:
    """Return the mean distance of the matched pairs: how far edges that were found lie from their place.

    False alarms and misses do not matter, so it goes beside F, not in its place. `strategy` is one that has
    pairs: one to one, or ``validation``, of which every pair counts once. Where nothing is matched the value
    is `tolerance`, the largest possible one.

    Examples
    --------
    >>> mean_displacement([[1, 0, 0, 1]], [[1, 0, 1, 0]])
    0.5
    """
    found = comparison.matching(_within(strategy, tolerance))
    if found.distances is None:
        raise InputError(f"strategy must have pairs, got {strategy}")
    mean = found.mean_distance
    return tolerance if mean is None else float(mean)


def _within(strategy: str | Id, tolerance: float) -> Id:
    check_positive("tolerance", tolerance)
    parsed = Id.parse(strategy)
    return Id(parsed.name, (*parsed.params, ("tolerance", tolerance)))
