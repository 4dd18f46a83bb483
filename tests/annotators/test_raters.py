"""STAPLE and Dawid–Skene: against SimpleITK, a twin of plain loops, and made-up raters."""

from __future__ import annotations

import numpy as np
import pytest

from edgecritic.annotators import strength
from edgecritic.annotators.raters import dawid_skene, rated_labels, staple
from edgecritic.errors import InputError


def simulated(seed, units=400, hits=(0.95, 0.8, 0.7, 0.6), rejections=(0.9, 0.95, 0.8, 0.7)):
    rng = np.random.default_rng(seed)
    truth = rng.random(units) < 0.4
    chance = np.where(truth[:, None], hits, 1 - np.array(rejections))
    return truth, rng.random(chance.shape) < chance


@pytest.mark.parametrize("seed", range(3))
def test_staple_equals_simpleitk(seed):
    sitk = pytest.importorskip("SimpleITK")
    _, votes = simulated(seed)
    images = [sitk.GetImageFromArray(votes[:, rater].reshape(20, 20).astype(np.uint8)) for rater in range(4)]
    filter_ = sitk.STAPLEImageFilter()
    theirs = sitk.GetArrayFromImage(filter_.Execute(images)).reshape(-1)
    found = staple(votes)
    np.testing.assert_allclose(found.probability, theirs, atol=2e-5)
    np.testing.assert_allclose(found.sensitivity, filter_.GetSensitivity(), atol=2e-5)
    np.testing.assert_allclose(found.specificity, filter_.GetSpecificity(), atol=2e-5)


@pytest.mark.parametrize("method", [staple, dawid_skene])
def test_estimates_are_fixed_points_of_the_formulas(method):
    _, votes = simulated(5, units=60)
    found = method(votes)
    prior = votes.mean() if method is staple else found.probability.mean()
    for unit, row in enumerate(votes):
        alpha = np.prod([p if vote else 1 - p for p, vote in zip(found.sensitivity, row, strict=True)])
        beta = np.prod([1 - q if vote else q for q, vote in zip(found.specificity, row, strict=True)])
        expected = prior * alpha / (prior * alpha + (1 - prior) * beta)
        np.testing.assert_allclose(found.probability[unit], expected, atol=1e-7)
    w = found.probability
    np.testing.assert_allclose(found.sensitivity, (w[:, None] * votes).sum(axis=0) / w.sum(), atol=1e-7)


def test_careful_raters_are_told_from_careless_ones():
    truth, votes = simulated(8, units=3000)
    found = dawid_skene(votes)
    np.testing.assert_allclose(found.sensitivity, (0.95, 0.8, 0.7, 0.6), atol=0.05)
    np.testing.assert_allclose(found.specificity, (0.9, 0.95, 0.8, 0.7), atol=0.05)
    right = ((found.probability > 0.5) == truth).mean()
    assert right > ((votes.mean(axis=1) > 0.5) == truth).mean()


def test_units_have_one_pixel_of_each_annotator_and_all_pixels():
    rng = np.random.default_rng(2)
    base = rng.random((40, 50)) < 0.06
    maps = [np.roll(base, shift, axis=1) | (rng.random(base.shape) < 0.01) for shift in (0, 1, 0, 2)]
    found = rated_labels(maps, tolerance=2)
    assert found.votes.sum() == sum(one.sum() for one in maps)
    assert found.votes.sum(axis=0).tolist() == [one.sum() for one in maps]
    assert len(found.pixels) == len(found.votes)
    assert set(found.pixels.tolist()) <= set(np.flatnonzero(np.any(maps, axis=0)).tolist())


def test_two_annotators_have_the_units_of_their_matching():
    rng = np.random.default_rng(6)
    maps = [rng.random((30, 30)) < 0.1 for _ in range(2)]
    votes = rated_labels(maps, tolerance=2).votes
    matched = strength(maps, tolerance=2).matches[0, 1]
    assert votes.all(axis=1).sum() == matched
    assert len(votes) == maps[0].sum() + maps[1].sum() - matched


def test_bad_votes_and_maps_are_refused():
    for votes in ([1, 0], [[0, 2]], np.zeros((0, 3))):
        with pytest.raises(InputError):
            staple(votes)
    empty = np.zeros((4, 4), bool)
    for maps in ([empty], [empty, empty], [empty, np.ones((3, 3), bool)]):
        with pytest.raises(InputError):
            rated_labels(maps)
    with pytest.raises(InputError, match="method"):
        rated_labels([~empty, ~empty], method="mean")
