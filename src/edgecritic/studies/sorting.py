"""Do two scores sort candidates alike? Equal-Sorting Ratio and Sorting Margin.

After the survey of boundary matching by the group of C. Lopez-Molina. For a reference A and two candidates
B and C, the scores q1 and q2 sort alike unless one puts B and the other C first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.kernels.discordance import count_inversions
from edgecritic.values import Value

__all__ = [
    *("discordant_pairs", "SortingCount", "count_sortings", "candidate_pairs", "sorting_margins"),
    *("margin_histogram", "pearson"),
]

BIN = 0.01
"""Width of the bins of margins."""

RARE = -0.03
"""Margins below it are rare, the survey says."""


class SortingCount(Value):
    """Triplets and those that are sorted in opposite orders; additive.

    Attributes
    ----------
    triplets : int
        Number of (A, {B, C}).
    missorted : int
        Those with (q1(A,B) − q1(A,C))·(q2(A,B) − q2(A,C)) < 0; ties agree.
    """

    triplets: int = 0
    missorted: int = 0

    def __add__(self, other: SortingCount) -> SortingCount:
        return SortingCount(
            triplets=self.triplets + other.triplets, missorted=self.missorted + other.missorted
        )

    def __sub__(self, other: SortingCount) -> SortingCount:
        return SortingCount(
            triplets=self.triplets - other.triplets, missorted=self.missorted - other.missorted
        )

    @property
    def ratio(self) -> float | None:
        """The Equal-Sorting Ratio 1 − missorted/triplets, ``None`` without triplets."""
        return 1 - self.missorted / self.triplets if self.triplets else None


def discordant_pairs(first: Any, second: Any) -> int:
    """Return how many unordered pairs two lists of scores put into opposite orders.

    The places are sorted by the first score, equal ones by the second; the strict inversions of the second
    score in that order are counted by merge sort, in O(n log n).

    Examples
    --------
    >>> discordant_pairs([1, 2, 3, 3], [1, 3, 2, 0])
    3
    """
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != two.shape or one.ndim != 1:
        raise InputError(f"scores must be two lists of one length, got {one.shape} and {two.shape}")
    return int(count_inversions(np.ascontiguousarray(two[np.lexsort((two, one))])))


def count_sortings(first: NDArray[np.float64], second: NDArray[np.float64]) -> SortingCount:
    """Count over all rows A the pairs of columns that two tables of scores sort oppositely.

    Entries that are NaN in a row (A itself, or what was not computed) take no part.

    Examples
    --------
    >>> found = count_sortings(np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 3.0, 2.0]]))
    >>> found.triplets, found.missorted
    (3, 1)
    """
    total = SortingCount()
    for one, two in zip(first, second, strict=True):
        there = np.isfinite(one) & np.isfinite(two)
        number = int(np.count_nonzero(there))
        total += SortingCount(
            triplets=number * (number - 1) // 2, missorted=discordant_pairs(one[there], two[there])
        )
    return total


def pearson(first: NDArray[np.float64], second: NDArray[np.float64]) -> float | None:
    """Return Pearson's correlation of two lists, ``None`` of fewer than two values or of a constant.

    Examples
    --------
    >>> pearson(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    1.0
    """
    if first.size < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return float(np.corrcoef(first, second)[0, 1])


Places = tuple[NDArray[np.int64], NDArray[np.int64]]


def candidate_pairs(size: int, part: float = 1.0, *, seed: Sequence[int] = (0,)) -> Places:
    """Return the places of all pairs of `size` candidates, or of a share of them drawn with repetition.

    Examples
    --------
    >>> candidate_pairs(3)
    (array([0, 0, 1]), array([1, 2, 2]))
    """
    if part >= 1:
        first, second = np.triu_indices(size, 1)
        return first, second
    rng = np.random.default_rng(seed)
    number = round(part * size * (size - 1) / 2)
    one, two = rng.integers(0, max(size, 1), number), rng.integers(0, max(size - 1, 1), number)
    return one, two + (two >= one)


def sorting_margins(
    first: NDArray[np.float64], second: NDArray[np.float64], places: Places | None = None
) -> NDArray[np.float64]:
    """Return for one reference the margins of all pairs of candidates, or of those at some places.

    a = (q1(B) − q1(C))·(q2(B) − q2(C)); the margin is sign(a)·sqrt(abs(a)), negative where the scores sort
    oppositely.

    Examples
    --------
    >>> sorting_margins(np.array([0.5, 0.6]), np.array([0.7, 0.3])).round(3)
    array([-0.2])
    """
    i, j = candidate_pairs(first.size) if places is None else places
    product = (first[i] - first[j]) * (second[i] - second[j])
    return np.sign(product) * np.sqrt(np.abs(product))


def margin_histogram(margins: NDArray[np.float64]) -> dict[str, Any]:
    """Count the negative margins in bins of 0.01 down from 0, with their extremes.

    The 2.5-percentile is given over all triplets and over those that are sorted oppositely (missorted): the
    survey does not say which it means; `rare` is the share of all triplets with a margin below −0.03.

    Examples
    --------
    >>> margin_histogram(np.array([0.2, -0.005, -0.024]))["counts"]
    [1, 0, 1]
    """
    negative = margins[margins < 0]
    bins = np.floor(-negative / BIN * (1 - 1e-12)).astype(np.int64)
    return {
        "bin": BIN,
        "counts": np.bincount(bins).tolist(),
        "triplets": int(margins.size),
        "percentile_2_5": float(np.percentile(margins, 2.5)) if margins.size else None,
        "missorted": int(negative.size),
        "missorted_percentile_2_5": float(np.percentile(negative, 2.5)) if negative.size else None,
        "missorted_median": float(np.median(negative)) if negative.size else None,
        "rare": float(np.mean(margins < RARE)) if margins.size else None,
        "least": float(margins.min()) if margins.size else None,
    }
