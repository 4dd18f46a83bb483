"""A distance that equals the tolerance meets it: in measures, in matchings, and as the libraries have it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import ndimage

from edgecritic import match
from edgecritic.kernels.grid import ball, box, longest
from edgecritic.measures import compare, measures

RNG = np.random.default_rng(41)
SLICES = [
    tuple(float(size) for size in (plane, plane, slice_))
    for plane in (0.3125, 0.4883, 0.5859, 0.68, 0.7031, 0.78125, 0.82, 0.8594, 0.9375, 0.9766)
    for slice_ in (0.6, 0.7, 0.8, 1.25, 1.5, 2.5, 3.3)
]


def draw(number):
    """Random voxel sizes with a tolerance that is the length of a random step, and two objects."""
    for _ in range(number):
        spacing = RNG.uniform(0.2, 4, 3)
        if RNG.random() < 0.5:
            spacing = np.round(spacing, int(RNG.integers(1, 5)))
        step = RNG.integers(0, 3, 3)
        step[RNG.integers(3)] += 1
        tolerance = float(np.sqrt(((step * spacing) ** 2).sum()))
        truth = ndimage.gaussian_filter(RNG.random((10, 11, 12)), 1.5) > 0.505
        yield truth, np.roll(truth, step, axis=(0, 1, 2)), tuple(spacing.tolist()), tolerance


CASES = [case for case in draw(400) if case[0].any()]


def border(mask):
    return mask ^ ndimage.binary_erosion(mask)


def nsd_of_the_libraries(candidate, truth, spacing, tolerance):
    """The share as MONAI, MetricsReloaded and others count it: transform of the borders, then `<=`."""
    first, second = border(candidate), border(truth)
    lists = [
        ndimage.distance_transform_edt(~second, sampling=spacing)[first],
        ndimage.distance_transform_edt(~first, sampling=spacing)[second],
    ]
    return float((np.concatenate(lists) <= tolerance).mean())


def value(text, candidate, truth, spacing):
    return measures.bind(text)(compare(candidate, truth, spacing=spacing))


@pytest.mark.parametrize("spacing", SLICES)
def test_a_shift_by_one_slice_is_within_a_slice(spacing):
    truth = np.zeros((12, 12, 9), dtype=bool)
    truth[3:9, 3:9, 2:6] = True
    candidate = np.roll(truth, 1, axis=2)
    for surface in ("voxel", "subvoxel"):
        assert value(f"nsd(tolerance={spacing[2]!r}, surface={surface})", candidate, truth, spacing) == 1


@pytest.mark.parametrize(
    ("size", "steps", "tolerance"), [(0.1, 3, 0.3), (0.7, 17, 11.9), (0.1, 31, 3.1), (1.1, 3, 3.3)]
)
def test_a_decimal_tolerance_is_met_by_as_many_voxels(size, steps, tolerance):
    truth = np.zeros((6, 80), dtype=bool)
    truth[1:5, 3:40] = True
    candidate = np.roll(truth, steps, axis=1)
    assert value(f"nsd(tolerance={tolerance})", candidate, truth, (size, size)) == 1
    assert value(f"nsd(tolerance={tolerance * 0.999})", candidate, truth, (size, size)) < 1
    # The same by a transform of the whole image, which sums the sizes up.
    found = compare(candidate, truth, spacing=(size, size))
    assert found.transforms[1].max() > tolerance * 0.999
    assert measures.bind(f"nsd(tolerance={tolerance})")(found) == 1


def test_a_tolerance_on_a_voxel_distance_counts_as_in_the_libraries():
    assert len(CASES) > 390
    differ = [
        (spacing, tolerance)
        for truth, candidate, spacing, tolerance in CASES
        if value(f"nsd(tolerance={tolerance!r})", candidate, truth, spacing)
        != pytest.approx(nsd_of_the_libraries(candidate, truth, spacing, tolerance), abs=1e-12)
    ]
    assert differ == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_tolerance_on_a_voxel_distance_counts_as_by_surface_distance():
    peer = pytest.importorskip("surface_distance")
    for truth, candidate, spacing, tolerance in CASES:
        theirs = peer.compute_surface_distances(truth, candidate, spacing)
        expected = peer.compute_surface_dice_at_tolerance(theirs, tolerance)
        found = value(f"nsd(tolerance={tolerance!r}, compat=deepmind)", candidate, truth, spacing)
        assert found == pytest.approx(expected, abs=1e-9), (spacing, tolerance)


@pytest.mark.filterwarnings("ignore")
def test_a_tolerance_on_a_voxel_distance_counts_as_by_monai():
    peer = pytest.importorskip("monai.metrics")
    torch = pytest.importorskip("torch")
    for truth, candidate, spacing, tolerance in CASES:
        maps = [torch.as_tensor(mask[None, None].astype(np.float32)) for mask in (candidate, truth)]
        expected = peer.compute_surface_dice(*maps, [tolerance], include_background=True, spacing=spacing)
        found = value(f"nsd(tolerance={tolerance!r}, compat=monai)", candidate, truth, spacing)
        assert found == pytest.approx(float(expected), abs=1e-6), (spacing, tolerance)


@pytest.mark.parametrize("strategy", ["exact", "distance", "area", "validation", "csa"])
@pytest.mark.parametrize(("size", "steps"), [(0.1, 3), (0.7, 3), (0.9375, 2), (1 / 3, 3), (0.3, 7)])
def test_strategies_match_at_the_tolerance(strategy, size, steps):
    # A decimal tolerance such as 0.3 lies below 3 · 0.1 in floating point.
    truth, candidate = np.zeros((2, 1, 24), dtype=bool)
    truth[0, 4] = candidate[0, 4 + steps] = True
    tolerance = round(size * steps, 12)
    found = match(candidate, truth, strategy=strategy, tolerance=tolerance, spacing=size)
    less = match(candidate, truth, strategy=strategy, tolerance=tolerance * 0.999, spacing=size)
    if strategy == "area":
        assert found.matched_truth.any()
        assert not less.matched_truth.any()
    else:
        assert (found.tp, less.tp) == (1, 0)


def test_the_rule():
    assert 3 * 0.1 > 0.3
    assert 3 * 0.1 <= longest(0.3) < 0.3 * (1 + 2e-9)
    assert longest(0) == 0
    assert longest(math.inf) == math.inf


@pytest.mark.parametrize(
    "spacing", [(0.9375, 0.9375, 1.25), (0.1, 0.3, 0.2), (0.7, 0.7, 0.7), (1 / 3, 1.0, 2.0)]
)
@pytest.mark.parametrize("hood", [lambda spacing: ball(2.5, spacing), lambda spacing: box(9, spacing)])
def test_lengths_are_exact_and_equal_where_they_are_equal(hood, spacing):
    found = hood(spacing)
    exact = np.array([math.hypot(*(step * np.array(spacing))) for step in found.offsets])
    np.testing.assert_allclose(found.distances, exact, rtol=1e-12)
    # Among steps of one length raster order decides: equal lengths are one number.
    for length in np.unique(np.round(exact, 9)):
        same = np.isclose(exact, length, rtol=1e-9, atol=1e-9)
        assert np.unique(found.distances[same]).size == 1
        assert (np.lexsort(found.offsets[same].T[::-1]) == np.arange(same.sum())).all()
