"""Classes where features meet: masks with other strategies, detectors that lack classes, odd names."""

from __future__ import annotations

import numpy as np
import pytest

from edgecritic.protocols.class_sweep import sweep_classes
from edgecritic.protocols.presets import get_protocol
from edgecritic.protocols.sweep import sweep

NAMES = ("road", "car")


def maps(seed=0, shape=(20, 30)):
    rng = np.random.default_rng(seed)
    truth = rng.random((2, *shape)) < 0.1
    return truth * rng.random(truth.shape), truth, rng.random(shape) < 0.7


@pytest.mark.parametrize("strategy", ["exact", "eps", "distance", "area"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_with_a_mask_each_class_counts_as_alone(strategy, when):
    strength, truth, mask = maps()
    protocol = get_protocol("edter").with_changes(
        "mine", strategy=strategy, mask=when, nms="none", tolerance=2.0, thresholds=9
    )
    found = sweep_classes(strength, truth, protocol=protocol, groups=NAMES, mask=mask).counts.with_zero()
    for place, name in enumerate(NAMES):
        alone = sweep(strength[place], truth[place], protocol=protocol, mask=mask).counts.with_zero()
        np.testing.assert_array_equal(found.group(name).table(), alone.table())
