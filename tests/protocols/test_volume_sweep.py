"""The benchmark in volumes: counts beside single matchings, voxel sizes, objects as truths, ids."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

import edgecritic
from edgecritic import Benchmark, get_protocol, match, sweep
from edgecritic.errors import InputError, UnknownNameError
from edgecritic.maps.boundaries import inner_boundary
from edgecritic.protocols import human_counts
from edgecritic.protocols.sweep import candidate_at, sweep_maps
from edgecritic.run.protocol_file import find_protocol

SPACING = (3.0, 0.8, 1.1)


def example(seed, shape=(7, 16, 15), truths=2):
    """Return a smooth random strength volume and surfaces of smooth random objects."""
    rng = np.random.default_rng(seed)
    strength = ndimage.gaussian_filter(rng.random(shape), 1.0)
    strength = (strength - strength.min()) / np.ptp(strength)
    objects = [ndimage.gaussian_filter(rng.random(shape), 2.0) > 0.5 for _ in range(truths)]
    return strength, [one & ~ndimage.binary_erosion(one, border_value=1) for one in objects]


@pytest.mark.parametrize("spacing", [None, 1.0, SPACING])
@pytest.mark.parametrize("seed", range(3))
def test_counts_are_those_of_single_matchings(seed, spacing):
    strength, truths = example(seed)
    protocol = get_protocol("volume(tolerance=2.5, thresholds=19, truth=given)")
    found = sweep(strength, truths, protocol=protocol, spacing=spacing)
    counts = found.counts
    assert (found.tolerance, found.shape, found.annotators) == (2.5, strength.shape, 2)
    for place, threshold in enumerate(protocol.threshold_values()):
        candidate = strength >= threshold
        np.testing.assert_array_equal(
            candidate, candidate_at(strength, threshold, protocol=protocol, spacing=spacing)
        )
        single = [match(candidate, one, tolerance=2.5, spacing=spacing) for one in truths]
        hit = np.any([one.matched_candidate for one in single], axis=0)
        assert counts.matched_truth[place] == sum(one.tp for one in single)
        assert counts.matched_candidate[place] == hit.sum()
        assert counts.candidate[place] == candidate.sum()
        assert counts.truth[place] == sum(one.sum() for one in truths)


@pytest.mark.parametrize("strategy", ["eps", "distance", "area"])
def test_other_strategies_and_masks(strategy):
    strength, truths = example(4, truths=1)
    mask = np.ones(strength.shape, bool)
    mask[:2] = False
    protocol = get_protocol(f"volume(tolerance=3.2, thresholds=5, truth=given, strategy={strategy})")
    eps = strategy == "eps"
    spacing = None if eps else SPACING
    counts = sweep(strength, truths, protocol=protocol, mask=mask, spacing=spacing).counts
    reach = {"strategy": "eps(window=7)"} if eps else {"strategy": strategy, "tolerance": 3.2}
    for place, threshold in enumerate(protocol.threshold_values()):
        found = match((strength >= threshold) & mask, truths[0] & mask, spacing=spacing, **reach)
        hits = found.tp if strategy == "area" else found.matched_truth.sum()
        assert counts.matched_truth[place] == hits


def test_voxel_sizes_decide_what_is_near():
    truth = np.zeros((9, 9, 9), bool)
    truth[4, 2:7, 2:7] = True
    protocol = get_protocol("volume(tolerance=2, thresholds=1)")
    for axis, spacing, reached in ((0, (2, 1, 1), 25), (0, (2.1, 1, 1), 0), (2, (2.1, 1, 1), 25)):
        moved = np.roll(truth, 1, axis=axis) & ~truth if axis == 0 else np.roll(truth, 1, axis=axis)
        counts = sweep(0.9 * moved, truth, protocol=protocol, spacing=spacing).counts
        assert counts.matched_truth.item() == reached
        same = sweep_maps([moved], truth, protocol=protocol, spacing=spacing).counts
        assert same.matched_truth.item() == reached


def test_benchmark_pools_volumes_and_images_of_any_voxel_size():
    benchmark = Benchmark("volume")
    counts = []
    for seed, spacing in enumerate((None, SPACING)):
        strength, truths = example(seed)
        benchmark.update(strength, truths, spacing=spacing)
        counts.append(sweep(strength, truths, protocol="volume", spacing=spacing).counts)
    pooled = sum(one.matched_truth for one in counts) / sum(one.truth for one in counts)
    np.testing.assert_allclose(benchmark.result().summary.recall, pooled)


def test_human_level_in_millimetres():
    _, truths = example(2, truths=3)
    found = human_counts(truths, tolerance=2.5, spacing=SPACING)
    pairs = sum(
        match(one, two, tolerance=2.5, spacing=SPACING).tp
        for i, one in enumerate(truths)
        for two in truths[:i]
    )
    assert found.matched_truth.item() == 2 * pairs
    assert pairs != sum(
        match(one, two, tolerance=2.5).tp for i, one in enumerate(truths) for two in truths[:i]
    )


@pytest.mark.parametrize("shape", [(9, 10), (6, 7, 8)])
def test_inner_boundary_beside_plain_loops_and_scipy(shape):
    labels = ndimage.zoom(np.random.default_rng(1).integers(0, 4, [3] * len(shape)), 3, order=0)
    labels = labels[tuple(slice(length) for length in shape)]
    expected = np.zeros(labels.shape, bool)
    for at in np.ndindex(labels.shape):
        for axis in range(labels.ndim):
            for step in (-1, 1):
                there = list(at)
                there[axis] += step
                inside = 0 <= there[axis] < labels.shape[axis]
                expected[at] |= labels[at] != 0 and inside and labels[tuple(there)] != labels[at]
    for kind in (np.int16, np.uint8, np.float32):
        np.testing.assert_array_equal(inner_boundary(labels.astype(kind)), expected)
    solid = labels > 1
    eroded = ndimage.binary_erosion(solid, border_value=1)
    np.testing.assert_array_equal(inner_boundary(solid), solid & ~eroded)
    np.testing.assert_array_equal(inner_boundary(inner_boundary(solid)), inner_boundary(solid))


def test_truths_may_be_objects_labels_or_their_surfaces():
    strength, _ = example(5)
    labels = np.zeros(strength.shape, np.int16)
    labels[1:6, 3:12, 2:9] = 4
    labels[1:6, 3:12, 9:13] = 7
    surface = inner_boundary(labels)
    expected = sweep(strength, surface, protocol="volume(truth=given)").counts
    for given in (labels, [labels], labels[None], surface, labels.astype(float)):
        assert sweep(strength, given, protocol="volume").counts == expected
    solid = labels > 0
    counts = sweep(strength, [solid, labels], protocol="volume").counts
    assert counts.truth[0] == inner_boundary(solid).sum() + surface.sum()
    with pytest.raises(InputError, match="binary"):
        sweep(strength, labels, protocol="volume(truth=given)")
    with pytest.raises(InputError, match="whole numbers"):
        sweep(strength, labels / 2, protocol="volume")


@pytest.mark.parametrize("call", [sweep, lambda one, two: sweep_maps([one > 0.5], two)])
def test_protocols_that_thin_refuse_volumes(call):
    strength, truths = example(0)
    with pytest.raises(InputError, match="thins candidates"):
        call(strength, truths)
    with pytest.raises(InputError, match="thins candidates"):
        candidate_at(strength, 0.5)
    with pytest.raises(InputError, match="classes are judged in pixels"):
        Benchmark("volume").update(strength, truths[0], groups=["one"], spacing=2)


def test_ids_change_fields_of_presets():
    base = get_protocol("volume")
    assert (base.tolerance, base.strategy, base.thin, base.thresholds, base.nms, base.truth) == (
        *(2, "exact", False, 99, "none", "inner"),
    )
    changed = get_protocol("volume(tolerance=3, nms=surface(smooth=2))")
    assert (changed.tolerance, changed.nms, changed.title) == (3, "surface(smooth=2)", base.title)
    assert changed.id == "volume-tolerance-3-nms-surface-smooth-2"
    same = base.with_changes("x", tolerance=3, nms="surface(smooth=2)")
    assert changed.digest == same.digest != base.digest
    assert find_protocol("bsds(thresholds=33)").threshold_values().size == 33
    assert get_protocol("bsds(tolerance=2.5)").relative_tolerance is None
    assert get_protocol("sbd-seal-thin(mask=before)").classes is not None
    assert get_protocol("volume( tolerance = 2.0 )") is base
    assert get_protocol("bsds(thresholds=(0.2, 0.5))").thresholds == (0.2, 0.5)
    assert edgecritic.get_protocol("volume()") is base


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("volume(tolerence=3)", InputError, "did you mean 'tolerance'"),
        ("volume(id=mine)", InputError, "no field 'id'"),
        ("volume(3)", InputError, "as in volume"),
        ("volume(tolerance=3", InputError, "as in volume"),
        ("volume(tolerance=-3)", InputError, "finite number"),
        ("volumes(tolerance=3)", UnknownNameError, "did you mean 'volume'"),
        ("bsds(truth=outer)", InputError, "given, inner"),
    ],
)
def test_bad_ids_are_refused_in_words(text, kind, message):
    with pytest.raises(kind, match=message):
        get_protocol(text)


def test_truths_of_an_image_and_of_a_volume_do_not_go_together():
    image, volume = np.zeros((5, 6), bool), np.zeros((2, 5, 6), bool)
    inner = get_protocol("bsds(truth=inner)")
    with pytest.raises(InputError, match="one shape"):
        sweep(np.zeros((5, 6)), [image, volume], protocol=inner)
    with pytest.raises(InputError, match="cannot be read as an array"):
        sweep(np.zeros((5, 6)), [volume, image], protocol=inner)


def test_a_sweep_says_what_was_counted():
    image, volume = np.zeros((5, 6)), np.zeros((2, 5, 6))
    one = sweep(image, [image > 0], protocol="bsds(thresholds=3)")
    assert repr(one) == f"<Sweep: 5 × 6 pixels, 1 annotator, protocol {one.protocol.id}, 3 thresholds>"
    two = sweep(volume, [volume > 0] * 2, protocol="volume(thresholds=3)")
    assert str(two).startswith(f"2 × 5 × 6 voxels, 2 annotators, protocol {two.protocol.id}; ")
