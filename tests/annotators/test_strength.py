"""Strength of labels against single matchings, hand counts and the published shares."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from edgecritic.annotators import Census, partial_labels, shares, strength
from edgecritic.errors import InputError
from edgecritic.matching import match
from edgecritic.protocols.human import human_counts
from edgecritic.run.annotators import run_annotators

maps = st.lists(arrays(np.bool_, (7, 9), elements=st.booleans()), min_size=2, max_size=4)


@settings(max_examples=40)
@given(maps, st.sampled_from([1.0, 1.5, 2.5]))
def test_equals_single_matchings(truths, tolerance):
    found = strength(truths, tolerance=tolerance)
    for i, one in enumerate(truths):
        partners = np.zeros(one.shape, int)
        for j, other in enumerate(truths):
            # The later map is the candidate: then ties are broken alike.
            pair = (one, other) if j < i else (other, one)
            if i != j:
                result = match(*pair, tolerance=tolerance)
                partners += result.matched_candidate if j < i else result.matched_truth
                assert found.matches[i, j] == result.tp
        assert np.array_equal(found.partners[i], partners[one])
        assert np.array_equal(found.orphans()[i], one & (partners == 0))
        assert np.array_equal(found.consensus()[i], one & (partners == len(truths) - 1))
        assert np.allclose(found.strengths[i], np.where(one, (partners + 1) / len(truths), 0))
    assert found.human_counts() == human_counts(truths, tolerance=tolerance)


@given(maps)
@settings(max_examples=20)
def test_levels_are_nested(truths):
    found = strength(truths, tolerance=1)
    kept = [found.at_least(level) for level in (0, 0.2, 0.5, 0.8, 1)]
    assert all(np.array_equal(a, b) for a, b in zip(kept[0], truths, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(kept[-1], found.consensus(), strict=True))
    for fewer, more in zip(kept[1:], kept[:-1], strict=True):
        assert all(not (a & ~b).any() for a, b in zip(fewer, more, strict=True))


def test_one_third_is_not_lost_to_rounding():
    line = np.zeros((5, 9), bool)
    line[2] = True
    found = strength([line, np.zeros_like(line), np.zeros_like(line)], tolerance=1)
    assert found.at_least(1 / 3)[0].sum() == 9
    assert found.at_least(0.34)[0].sum() == 0
    assert found.agreement[1, 2] == 1.0


def test_shares_by_hand():
    counted = [Census(counts=(30, 20)), Census(counts=(6, 0, 12))]
    # distinct: 30 + 10 and 6 + 0 + 4
    both = shares(counted)
    assert both.orphan == pytest.approx(36 / 50)
    assert both.consensus == pytest.approx(14 / 50)
    assert sum(both.levels) == pytest.approx(1)
    plain = shares(counted, weight="label")
    assert plain.orphan == pytest.approx(36 / 68)
    assert plain.consensus == pytest.approx(32 / 68)


@pytest.mark.parametrize(
    ("truths", "words"),
    [
        ([np.zeros((4, 4), bool)], "at least two"),
        ([], "at least two"),
        ([np.zeros((4, 4), bool), np.zeros((4, 5), bool)], "one shape"),
    ],
)
def test_bad_input_is_refused_in_words(truths, words):
    with pytest.raises(InputError, match=words):
        strength(truths)


def test_partial_labels_keep_the_number_and_cut_by_a_line():
    rng = np.random.default_rng(1)
    truths = [rng.random((30, 40)) < 0.2 for _ in range(3)]
    found = strength(truths, tolerance=1)
    cut = partial_labels(found, seed=5)
    assert [one.sum() for one in cut] == [one.sum() for one in found.consensus()]
    for kept, whole in zip(cut, truths, strict=True):
        assert not (kept & ~whole).any()
        inside, outside = np.argwhere(kept), np.argwhere(whole & ~kept)
        # Some line separates what is kept from what is not.
        angles = np.linspace(0, 2 * np.pi, 2000)
        ways = np.stack([np.sin(angles), np.cos(angles)])
        assert ((inside @ ways).max(axis=0) <= (outside @ ways).min(axis=0) + 1e-9).any()
    again = partial_labels(found, seed=5)
    assert all(np.array_equal(a, b) for a, b in zip(cut, again, strict=True))
    assert any(not np.array_equal(a, b) for a, b in zip(cut, partial_labels(found, seed=6), strict=True))


def test_published_shares_of_bsds300(data):
    found = run_annotators(data / "bsds500" / "groundTruth").results
    assert found["images"] == 300
    assert found["maps"] == 1633
    assert found["orphan_share"] == pytest.approx(0.2940, abs=0.0015)
    assert found["consensus_share"] == pytest.approx(0.2899, abs=0.0015)
