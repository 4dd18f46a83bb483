"""Classes where features meet: masks with other strategies, detectors that lack classes, odd names."""

from __future__ import annotations

import numpy as np
import pytest

from edgecritic.errors import InputError
from edgecritic.protocols.bootstrap import paired_bootstrap
from edgecritic.protocols.class_sweep import sweep_classes
from edgecritic.protocols.classes import truth_maps
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.granularity import granularity_oracle
from edgecritic.protocols.presets import get_protocol
from edgecritic.protocols.protocol import Protocol
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


def counted(name_rows):
    """Make counts of rows (cntR, sumR, cntP, sumP) at two thresholds, by class."""
    return Counts.of_groups(
        {
            name: Counts.from_rows(
                [(t, *row) for t, row in zip((0.25, 0.75), rows, strict=True)],
                zero=(rows[0][1], rows[0][1], rows[0][1], 100 if rows[0][1] else 0),
            )
            for name, rows in name_rows.items()
        }
    )


ROAD = [(8, 10, 8, 10), (5, 10, 5, 5)]
CAR = [(2, 10, 2, 20), (0, 10, 0, 4)]
NONE = [(0, 0, 0, 0)] * 2


@pytest.mark.parametrize("protocol", ["bsds", "edter"])
def test_an_oracle_chooses_among_those_that_have_the_class(protocol):
    """The first detector has no car: nothing is left out where the second finds none of it."""
    seen = [(2, 10, 2, 20), (6, 10, 6, 6)]
    both = {"x": counted({"road": ROAD, "car": CAR}), "y": counted({"road": ROAD, "car": seen})}
    without = {name: counted({"road": ROAD, "car": NONE}) for name in both}
    found = granularity_oracle([without, both], protocol=protocol)
    assert found == granularity_oracle([both, without], protocol=protocol)
    alone = granularity_oracle([both], protocol=protocol)
    assert (found.ods, found.ois) == (alone.ods, alone.ois)


def test_a_paired_test_is_over_the_classes_that_both_have():
    """With no difference in what both have, a class that one lacks makes none."""
    one = {name: counted({"road": ROAD, "car": CAR}) for name in "xyz"}
    other = {name: counted({"road": ROAD, "car": NONE}) for name in "xyz"}
    found = paired_bootstrap(one, other, draws=20)
    assert set(found.groups) == {"road"}
    assert (found.ods.estimate, found.ois.estimate, found.ap.estimate) == (0, 0, 0)
    assert found.ods.p_value == 1


def test_a_paired_test_leaves_an_image_out_of_a_class_that_one_side_lacks_there():
    poor = [(1, 10, 1, 20), (0, 10, 0, 4)]
    one = {"x": counted({"car": CAR}), "y": counted({"car": poor}), "z": counted({"car": poor})}
    other = {**one, "y": counted({"car": NONE})}
    assert paired_bootstrap(one, other, draws=20).groups["car"].ods.estimate == 0


def test_one_pixel_of_truth_makes_a_class():
    one = {name: counted({"road": ROAD, "car": [(1, 1, 1, 1), (0, 1, 0, 0)]}) for name in "xy"}
    assert set(paired_bootstrap(one, one, draws=20).groups) == {"road", "car"}
    alone = {name: counted({"car": [(1, 1, 1, 1), (0, 1, 0, 0)]}) for name in "xy"}
    assert set(paired_bootstrap(alone, alone, draws=20).groups) == {"car"}


def test_without_a_class_in_common_there_is_no_paired_test():
    one = {name: counted({"road": ROAD, "car": NONE}) for name in "xy"}
    other = {name: counted({"road": NONE, "car": CAR}) for name in "xy"}
    with pytest.raises(InputError, match="no class in common"):
        paired_bootstrap(one, other, draws=20)


@pytest.mark.parametrize("groups", ["ab", ("a", "a"), (1, 2)])
def test_names_of_classes_are_different_texts_in_a_row(groups):
    strength, truth, _ = maps()
    with pytest.raises(InputError, match="groups must be different names"):
        sweep_classes(strength, truth, protocol="bsds", groups=groups)


def test_counts_of_classes_are_shown():
    strength, truth, _ = maps()
    found = sweep_classes(strength, truth, protocol="bsds", groups=NAMES)
    pooled = found.counts.group("road") + found.counts.group("car")
    assert str(pooled) in str(found)
    assert str(pooled + pooled) == str(Counts.stack([found.counts, found.counts]))


def test_instances_of_another_size_are_refused():
    rules = get_protocol("cityscapes-thin-inst").classes
    with pytest.raises(InputError, match="instances must have the shape of the labels"):
        truth_maps(rules, labels=np.zeros((6, 6), int), instances=np.zeros((5, 5), int))


def test_a_protocol_judges_regions_or_classes():
    with pytest.raises(InputError, match="regions"):
        Protocol(id="x", title="x", judges="regions", classes={"names": ["road"]})


def test_a_protocol_of_regions_can_be_based_on_one_of_boundaries():
    found = Protocol.from_toml('id = "mine"\nbase = "bsds"\njudges = "regions"\nthresholds = 9')
    assert (found.relative_tolerance, found.threshold_values().size) == (None, 9)
    with pytest.raises(InputError, match="no tolerance"):
        Protocol.from_toml('id = "mine"\nbase = "bsds"\njudges = "regions"\ntolerance = 2')
