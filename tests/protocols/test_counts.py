"""Counts add, stack, keep their row at 0 and their groups, and come back from JSON."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgecritic.errors import InputError
from edgecritic.protocols.counts import COLUMNS, Counts, counted, packed, unpacked


@st.composite
def random_counts(draw, groups=0):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    shape = (groups, 4) if groups else (4,)

    def columns(shape):
        truth, candidate = rng.integers(0, 50, shape), rng.integers(0, 50, shape)
        found = (rng.binomial(truth, 0.5), truth, rng.binomial(candidate, 0.5), candidate)
        return dict(zip(COLUMNS, found, strict=True))

    zero = Counts(thresholds=np.zeros(1), **columns((*shape[:-1], 1)))
    return Counts(
        thresholds=np.arange(1, 5) / 5,
        **columns(shape),
        zero=zero,
        groups=tuple(f"class {k}" for k in range(groups)),
    )


@given(random_counts(), random_counts(), random_counts())
def test_sums_do_not_depend_on_the_order(a, b, c):
    assert (a + b) + c == a + (b + c) == c + (b + a) == Counts.stack([a, b, c]).sum()
    for name in COLUMNS:
        total = getattr(a, name) + getattr(b, name)
        assert getattr(a + b, name).tolist() == total.tolist()
        assert getattr((a + b).zero, name) == getattr(a.zero, name) + getattr(b.zero, name)


@given(random_counts(groups=3), random_counts(groups=3))
def test_groups_add_each_by_itself(a, b):
    both = a + b
    for name in a.groups:
        assert both.group(name) == a.group(name) + b.group(name)
    assert [row["group"] for row in both.rows()] == [name for name in a.groups for _ in range(4)]


@given(random_counts(groups=2), st.integers(0, 99))
def test_weighted_sums_are_those_of_a_loop(a, seed):
    stacked = Counts.stack([a, a + a, a])
    weights = np.random.default_rng(seed).integers(0, 3, (5, 3)).astype(float)
    found = stacked.weighted(weights)
    for row, w in enumerate(weights):
        loop = sum(w[i] * stacked[i].matched_truth for i in range(3))
        assert found[row].matched_truth.tolist() == loop.tolist()


@given(random_counts(groups=2))
def test_ratios_and_best_threshold_by_hand(a):
    for g in range(2):
        scores = []
        for k in range(4):
            r = a.matched_truth[g, k] / a.truth[g, k] if a.truth[g, k] else 0.0
            p = a.matched_candidate[g, k] / a.candidate[g, k] if a.candidate[g, k] else 0.0
            scores.append(2 * p * r / (p + r) if p + r else 0.0)
            assert (a.recall[g, k], a.precision[g, k]) == (r, p)
        first = scores.index(max(scores))
        assert a.best().candidate[g, 0] == a.candidate[g, first]


@given(random_counts(groups=2))
def test_json_brings_them_back(a):
    assert Counts.from_dict(json.loads(json.dumps(a.as_dict()))) == a


def test_the_row_at_0_comes_first():
    found = Counts.from_rows([(0.5, 6, 10, 4, 5)], zero=(10, 10, 9, 90)).with_zero()
    assert found.table().tolist() == [[0, 10, 10, 9, 90], [0.5, 6, 10, 4, 5]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda one: one + Counts.from_rows([(0.6, 1, 2, 1, 2)]), "same thresholds"),
        (lambda one: Counts.stack([one, Counts.from_rows([(0.6, 1, 2, 1, 2)])]), "same thresholds"),
        (lambda one: Counts.from_rows([(t, 1, 2, 1, 2) for t in (0.2, 0.4, 0.3)]), "ascending order"),
        (lambda one: Counts.from_rows([(0.2, 1, 2, 1, 2), (np.inf, 1, 2, 1, 2)]), "ascending order"),
        (lambda one: Counts.from_rows([(-np.inf, 1, 2, 1, 2), (0.2, 1, 2, 1, 2)]), "ascending order"),
        (lambda one: Counts.from_rows([(0.2, 1, np.inf, 1, 2)]), "finite and not negative, truth"),
        (lambda one: Counts.from_rows([(0.2, 1, 2, -1, 2)]), "not negative, matched_candidate"),
        (lambda one: Counts.of_groups({}), "one or more"),
        (lambda one: Counts.of_groups({"a": one, "b": Counts.stack([one, one])}), "without further axes"),
        (lambda one: one.group("cat"), "no group 'cat'"),
        (lambda one: one.with_zero(), "at 0 are missing"),
        (lambda one: Counts.of_one((1, 2, 3), threshold=0.0), "one row"),
        (lambda one: Counts.from_rows([(0.5, 1, 2, 1, 2), (0.6, 3, 2, 1, 2)]), "more pixels are matched"),
        (lambda one: Counts.from_rows([(0.5, 1, 2, 1, 2), (0.6, 1, 2, 3, 2)]), "more pixels are matched"),
        (
            lambda one: Counts(
                thresholds=one.thresholds, **{name: getattr(one, name) for name in COLUMNS}, groups=("a",)
            ),
            "1 groups need as many rows",
        ),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make(Counts.from_rows([(0.5, 1, 2, 1, 2)]))


def test_what_was_counted_here_is_as_if_it_were_checked():
    rows = [(0.25, 90, 100, 60, 120), (0.5, 70, 100, 50, 60)]
    made = counted([0.25, 0.5], [[90, 70], [100, 100], [60, 50], [120, 60]], zero=(100, 100, 80, 400))
    assert made == Counts.from_rows(rows, zero=(100, 100, 80, 400))
    assert pickle.loads(pickle.dumps(made)) == made
    with pytest.raises(ValueError, match="read-only"):
        made.truth[0] = 1


@pytest.mark.parametrize("largest", [3.0, 0.5, 2.0**52, 1e15, 1e16, 1e300])
def test_packed_counts_come_back_as_they_were(largest):
    flat = counted([1 / 3, 0.5, 1.0], [[0, 1, 0], [2, 2, largest], [1, 1, 0], [7, 8, 9]], zero=(1, 2, 3, 4))
    groups = Counts.of_groups({"road": flat, 'a "car"': flat})
    for one in (flat, groups, Counts.stack([flat, flat]), Counts.from_rows([(1, 0, 0, 0, 0)])):
        assert unpacked(json.loads(json.dumps(packed(one)))) == one
