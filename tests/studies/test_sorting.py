"""Pairs that two scores sort oppositely, counted one by one and by SciPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import kendalltau

from edgecritic.errors import InputError
from edgecritic.studies.sorting import SortingCount, discordant_pairs, margin_histogram

pytestmark = pytest.mark.kernels

RNG = np.random.default_rng(8)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 8, 33])
@pytest.mark.parametrize("values", [3, 1000])
def test_discordant_pairs_one_by_one(size, values):
    first, second = RNG.integers(0, values, (2, size))
    wrong = [
        (first[i] - first[j]) * (second[i] - second[j]) < 0 for i, j in itertools.combinations(range(size), 2)
    ]
    assert discordant_pairs(first, second) == sum(wrong)


def test_without_ties_it_is_kendall_s_tau():
    first, second = RNG.permutation(60), RNG.permutation(60)
    pairs = 60 * 59 / 2
    assert kendalltau(first, second).statistic == pytest.approx(
        1 - 2 * discordant_pairs(first, second) / pairs
    )


def test_lists_of_two_lengths_are_refused():
    with pytest.raises(InputError, match="one length"):
        discordant_pairs([1, 2], [1, 2, 3])


def test_counts_add_and_subtract():
    total = SortingCount(triplets=6, missorted=2) + SortingCount(triplets=4, missorted=1)
    assert total.ratio == pytest.approx(0.7)
    assert total - SortingCount(triplets=4, missorted=1) == SortingCount(triplets=6, missorted=2)
    assert SortingCount().ratio is None


def test_without_margins_there_are_no_extremes():
    found = margin_histogram(np.empty(0))
    assert (found["triplets"], found["least"], found["percentile_2_5"]) == (0, None, None)
