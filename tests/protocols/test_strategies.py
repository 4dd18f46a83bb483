"""Protocols with any strategy: counts of sweeps against single matchings and SciPy's distances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import distance_transform_edt
from skimage.morphology import thin

import edgecritic
from edgecritic.errors import InputError
from edgecritic.protocols.sweep import sweep
from edgecritic.run.judge import STRATEGIES

pytestmark = pytest.mark.kernels

TOLERANCE = 2.3


def protocol(strategy, **changes):
    base = {"tolerance": TOLERANCE, "thresholds": 7, "strategy": strategy, **changes}
    return edgecritic.get_protocol("bsds").with_changes("x", **base)


def example(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(6, 24, 2))
    strength = np.kron(rng.random(tuple(-(-n // 3) for n in shape)), np.ones((3, 3)))[: shape[0], : shape[1]]
    return strength, [rng.random(shape) < 0.12 for _ in range(rng.integers(1, 4))]


def near(mask):
    """The pixels within the tolerance of a map."""
    return distance_transform_edt(~mask) <= TOLERANCE if mask.any() else np.zeros_like(mask)


def by_distance(candidate, truths):
    found = sum(int((truth & near(candidate)).sum()) for truth in truths)
    hit = np.any([candidate & near(truth) for truth in truths], axis=0)
    return found, sum(map(np.sum, truths)), hit.sum(), candidate.sum()


def by_area(candidate, truths):
    grown, areas = near(candidate), [near(truth) for truth in truths]
    union = np.any(areas, axis=0)
    return (
        sum((grown & one).sum() for one in areas),
        sum(map(np.sum, areas)),
        (grown & union).sum(),
        grown.sum(),
    )


def by_matching(strategy):
    def count(candidate, truths):
        if strategy in ("eps", "closest"):
            found = [edgecritic.match(candidate, one, strategy=f"{strategy}(window=5)") for one in truths]
        else:
            found = [
                edgecritic.match(candidate, one, strategy=strategy, tolerance=TOLERANCE) for one in truths
            ]
        hit = np.any([one.matched_candidate for one in found], axis=0)
        matched = sum(int(one.matched_truth.sum()) for one in found)
        return matched, sum(map(np.sum, truths)), hit.sum(), candidate.sum()

    return count


TWINS = {name: by_matching(name) for name in STRATEGIES} | {"distance": by_distance, "area": by_area}


@settings(max_examples=8)
@given(st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_sweeps_equal_single_evaluations(strategy, seed):
    strength, truths = example(seed)
    chosen = protocol(strategy)
    counts = sweep(strength, truths, protocol=chosen).counts
    for place, threshold in enumerate(chosen.threshold_values()):
        expected = TWINS[strategy](thin(strength >= threshold), truths)
        assert counts.table()[place, 1:].tolist() == list(map(float, expected))
    every = TWINS[strategy](np.ones(strength.shape, bool), truths)
    assert counts.zero.table()[0, 1:].tolist() == list(map(float, every))


def test_a_window_is_as_wide_as_the_tolerance():
    truth = np.zeros((30, 30), bool)
    truth[15, 15] = True
    for away, found in ((4, 1), (5, 0)):
        strength = np.roll(truth, away, axis=1).astype(float)
        counts = sweep(strength, truth, protocol=protocol("eps", tolerance=4.9, thresholds=(0.5,))).counts
        assert counts.matched_truth.tolist() == [found]


@pytest.mark.parametrize("strategy", ["eps(window=5)", "closest(window=9)", "exact(window=5)"])
def test_a_protocol_has_no_window_of_its_own(strategy):
    with pytest.raises(InputError, match="names a window"):
        protocol(strategy)


@pytest.mark.parametrize("strategy", ["eps", "closest"])
def test_within_less_than_a_pixel_only_pixels_in_one_place_match(strategy):
    """On small images the tolerance is below one pixel: there is no window then, and nothing to refuse."""
    truth = np.eye(12, dtype=bool)
    strength = np.where(truth, 0.8, 0.0)
    strength[:6] = np.roll(strength[:6], 1, axis=1)
    found = sweep(strength, [truth, truth], protocol=protocol(strategy, tolerance=0.7)).counts
    np.testing.assert_array_equal(found.matched_truth[found.candidate > 0], 12)
    np.testing.assert_array_equal(found.matched_candidate[found.candidate > 0], 6)
