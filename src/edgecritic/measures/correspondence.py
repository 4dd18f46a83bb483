"""Measures of a one-to-one matching."""

from __future__ import annotations

from edgecritic.errors import InputError
from edgecritic.ids import Id
from edgecritic.measures.base import Empty, measure
from edgecritic.measures.checks import check_positive
from edgecritic.measures.evidence import Comparison

__all__ = ["pcm"]


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
def pcm(comparison: Comparison, /, *, tolerance: float = 3, strategy: str | Id = "exact") -> float:
    """Return the pixel correspondence metric 100·(1 − C/|candidate ∪ truth|) in percent.

    C is the cost of the one-to-one matching within `tolerance`: distance/tolerance for a matched pair and 1
    for every unmatched pixel. This is the metric for binary maps, without its term for differences in
    strength; the matching has the most pairs, and among these the smallest sum of distances.

    Examples
    --------
    >>> pcm([[1, 0, 0, 1]], [[1, 0, 1, 0]], strategy="hungarian")
    88.8888889
    """
    check_positive("tolerance", tolerance)
    parsed = Id.parse(strategy)
    found = comparison.matching(Id(parsed.name, (*parsed.params, ("tolerance", tolerance))))
    if found.distances is None:
        raise InputError(f"strategy must be one-to-one to have distances of pairs, got {strategy}")
    cost = float(found.distances.sum()) / tolerance + found.fp + found.fn
    union = comparison.n_candidate + comparison.n_truth - comparison.confusion.tp
    return 100 * max(0.0, 1 - cost / union)
