"""Reliability of strengths, against the definition, a brute-force twin and figures of real maps."""

from __future__ import annotations

import numpy as np
import pytest

from edgecritic.annotators.calibration import Reliability, pool_reliability, reliability
from edgecritic.datasets.cases import find_cases
from edgecritic.errors import InputError


def test_every_number_is_that_of_the_definition():
    rng = np.random.default_rng(3)
    strength = np.round(rng.random((30, 40)), 3) * (rng.random((30, 40)) < 0.2)
    truths = [(rng.random((30, 40)) < 0.3) for _ in range(3)]
    found = reliability(strength, truths, tolerance=0.5, thinned=False, bins=7)
    on = strength > 0
    p = strength[on]
    y = np.mean([truth[on] for truth in truths], axis=0)  # half a pixel: a match is an overlap
    bins = np.minimum((7 * p).astype(int), 6)
    gaps = {k: abs(p[bins == k].mean() - y[bins == k].mean()) for k in set(bins.tolist())}
    sizes = {k: (bins == k).mean() for k in gaps}
    np.testing.assert_allclose(found.expected_error, sum(sizes[k] * gaps[k] for k in gaps))
    np.testing.assert_allclose(found.summary()["largest_error"], max(gaps.values()))
    np.testing.assert_allclose(found.summary()["mean_error"], np.mean(list(gaps.values())))
    np.testing.assert_allclose(found.brier, ((p - y) ** 2).mean())
    any_gaps = {k: abs(p[bins == k].mean() - (y[bins == k] > 0).mean()) for k in gaps}
    np.testing.assert_allclose(found.any_error, sum(sizes[k] * any_gaps[k] for k in gaps))


def test_images_add_and_sums_come_back():
    rng = np.random.default_rng(4)
    maps = [rng.random((12, 14)) * (rng.random((12, 14)) < 0.3) for _ in range(2)]
    truths = [rng.random((12, 14)) < 0.3 for _ in range(2)]
    parts = [reliability(one, truths, tolerance=0.5, thinned=False) for one in maps]
    both = reliability(
        np.hstack(maps), [np.hstack([one, one]) for one in truths], tolerance=0.5, thinned=False
    )
    pooled = pool_reliability(parts)
    np.testing.assert_allclose(pooled.expected_error, both.expected_error)
    np.testing.assert_allclose(pooled.brier, both.brier)
    again = Reliability.from_dict(pooled.as_dict())
    assert again == pooled


def test_nothing_found_has_no_error():
    found = reliability(np.zeros((5, 6)), [np.ones((5, 6), bool)])
    assert np.isnan(found.expected_error)
    assert found.summary()["brier"] is None


@pytest.mark.parametrize("options", [{"bins": 0}, {"truths": []}, {"truths": [np.zeros((3, 3))]}])
def test_bad_input_is_refused(options):
    arguments = {"truths": [np.zeros((5, 6), bool)]} | options
    with pytest.raises(InputError):
        reliability(np.zeros((5, 6)), **arguments)


def test_maps_of_the_benchmark_have_the_known_errors(data):
    found = find_cases(data / "bsds_bench/png", data / "bsds_bench/groundTruth")
    parts = [
        reliability(case.load_strength(), case.load_truths(), relative_tolerance=0.0075) for case in found
    ]
    pooled = pool_reliability(parts)
    assert int(pooled.pixels.sum()) == 106510
    np.testing.assert_allclose(pooled.expected_error, 0.025153, atol=2e-6)
    np.testing.assert_allclose(pooled.brier, 0.038314, atol=2e-6)
    np.testing.assert_allclose(pooled.any_error, 0.135041, atol=2e-6)
