"""Walks down the thresholds against candidates that are cut and thinned one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from skimage.morphology import thin as skimage_thin

from edgecritic import match
from edgecritic.errors import InputError
from edgecritic.maps.walk import Walk
from edgecritic.matching.follow import follow

pytestmark = pytest.mark.kernels


@st.composite
def strengths(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    return np.round(rng.random((7, 9)), 1), rng.permutation([0.1, 0.3, 0.30, 0.65, 0.9])


@given(strengths(), st.booleans())
def test_every_step_leads_to_the_candidate_of_its_threshold(given_, thinned):
    strength, thresholds = given_
    walk = Walk(strength, thresholds, thin=thinned)
    seen = set()
    for step, candidate in walk.candidates():
        on = strength >= thresholds[step.place]
        assert np.array_equal(candidate, skimage_thin(on) if thinned else on)
        assert walk.sizes[step.place] == candidate.sum()
        assert not np.intersect1d(step.gained, step.lost).size
        assert not (candidate & ~walk.ever_on).any()
        seen.add(step.place)
    assert seen == set(range(5))


@given(strengths())
def test_a_walk_through_maps_is_the_same(given_):
    strength, thresholds = given_
    maps = [strength >= t for t in thresholds]
    for (step, candidate), mask in zip(Walk.through(maps, thresholds).candidates(), maps, strict=True):
        assert np.array_equal(candidate, mask)
        assert step.rests == (step.gained.size + step.lost.size == 0)


@pytest.mark.parametrize("strategy", ["exact", "distance", "exact(window=3)", "hungarian"])
@given(strengths(), st.integers(0, 99))
def test_matchings_that_follow_are_those_made_one_by_one(strategy, given_, seed):
    strength, thresholds = given_
    rng = np.random.default_rng(seed)
    truths = [rng.random(strength.shape) < 0.2 for _ in range(2)]
    walk = Walk(strength, thresholds)
    tolerance = None if "window" in strategy else 1.5
    found = follow(walk, truths, strategy=strategy, tolerance=tolerance)
    for place, threshold in enumerate(thresholds):
        single = [
            match(strength >= threshold, truth, strategy=strategy, tolerance=tolerance) for truth in truths
        ]
        assert found.truth[place] == sum(one.matched_truth.sum() for one in single)
        assert found.candidate[place] == np.any([one.matched_candidate for one in single], axis=0).sum()


@given(strengths(), st.integers(0, 99))
def test_areas_that_follow_are_those_made_one_by_one(given_, seed):
    strength, thresholds = given_
    rng = np.random.default_rng(seed)
    truths = [rng.random(strength.shape) < 0.2 for _ in range(2)]
    found = follow(Walk(strength, thresholds), truths, strategy="area", tolerance=1.5)
    for place, threshold in enumerate(thresholds):
        candidate = strength >= threshold
        single = [match(candidate, truth, strategy="area", tolerance=1.5) for truth in truths]
        union = match(candidate, truths[0] | truths[1], strategy="area", tolerance=1.5)
        assert found.truth[place] == sum(one.tp for one in single)
        assert found.truth_total[place] == sum(one.tp + one.fn for one in single)
        assert found.candidate[place] == union.tp
        assert found.candidate_total[place] == union.tp + union.fp


def test_as_many_maps_as_thresholds():
    with pytest.raises(InputError, match="2 thresholds need as many maps, got 1"):
        Walk.through([np.ones((2, 2), bool)], np.array([0.1, 0.2]))
