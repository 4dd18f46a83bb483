"""Sweeps in tiles equal sweeps of whole maps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from edgecritic import get_protocol, sweep
from edgecritic.errors import InputError
from edgecritic.protocols.tiled import level_thresholds, sweep_levels


def levels_of(strength, protocol):
    return (strength[..., None] >= level_thresholds(protocol)).sum(axis=-1).astype(np.uint8)


@given(
    seed=st.integers(0, 2**20),
    shape=st.tuples(st.integers(2, 25), st.integers(2, 25)),
    thin=st.booleans(),
    rows=st.integers(1, 8),
)
@settings(max_examples=30, deadline=None)
def test_counts_of_random_maps(seed, shape, thin, rows):
    rng = np.random.default_rng(seed)
    soft = ndimage.gaussian_filter(rng.random(shape), rng.uniform(0, 2))
    strength = np.round(soft / soft.max(), 2)
    truths = [rng.random(shape) < 0.2 for _ in range(2)]
    protocol = get_protocol(f"bsds(thresholds=9, thin={thin}, tolerance=2)")
    found = sweep_levels(
        levels_of(strength, protocol), [np.flatnonzero(one) for one in truths], protocol=protocol, rows=rows
    )
    assert found == sweep(strength, truths, protocol=protocol)


def test_a_real_image(data):
    from edgecritic.datasets import read_strength, read_truths

    strength = read_strength(data / "bsds_bench" / "ucm2" / "2018.mat")
    truths = read_truths(data / "bsds_bench" / "groundTruth" / "2018.mat")[:2]
    protocol = get_protocol("bsds(thresholds=5)")
    lists = [np.flatnonzero(one) for one in truths]
    found = sweep_levels(levels_of(strength, protocol), lists, protocol=protocol, rows=40)
    assert found == sweep(strength, truths, protocol=protocol)


@pytest.mark.parametrize("protocol", ["edter", "sbd", "volume", "bsds(strategy=distance)"])
def test_protocols_that_need_whole_maps(protocol):
    with pytest.raises(InputError, match="not done in tiles"):
        level_thresholds(protocol)
