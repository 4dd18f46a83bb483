"""Conventions of surface measures: the lists of another library, empty objects, and small cases by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import ndimage

from edgecritic.maps.nearest import border, nearest_distances
from edgecritic.maps.target import Target
from edgecritic.measures import compare, measures, score
from edgecritic.measures.objects import _eroded
from edgecritic.measures.subvoxel import corner_codes, element_sizes

RNG = np.random.default_rng(12)


def blob(shape):
    return ndimage.gaussian_filter(RNG.random(shape), 1.5) > 0.505


PAIRS = [
    (blob((13, 12, 11)), blob((13, 12, 11)), (2.0, 0.8, 1.1)),
    (blob((26, 31)), blob((26, 31)), (0.6, 1.5)),
]


@pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")
@pytest.mark.parametrize(("candidate", "truth", "spacing"), PAIRS)
def test_elements_are_those_of_deepmind(candidate, truth, spacing):
    peer = pytest.importorskip("surface_distance")
    theirs = peer.compute_surface_distances(truth, candidate, spacing)
    lists = [theirs[f"distances_{way}"] for way in ("gt_to_pred", "pred_to_gt")]
    areas = [theirs[f"surfel_areas_{side}"] for side in ("gt", "pred")]
    both, area = np.concatenate(lists), np.concatenate(areas)
    expected = {
        "hd95(surface=subvoxel)": max(np.percentile(each, 95) for each in lists),
        "hd(surface=subvoxel)": both.max(),
        "hd(compat=deepmind)": peer.compute_robust_hausdorff(theirs, 100),
        "hd95(surface=subvoxel, percentile=pooled)": np.percentile(both, 95),
        "assd(surface=subvoxel)": both.mean(),
        "masd(surface=subvoxel)": (lists[0].mean() + lists[1].mean()) / 2,
        "nsd(surface=subvoxel, tolerance=0.7)": (both <= 0.7).mean(),
        "assd(surface=subvoxel, weights=area)": np.average(both, weights=area),
        "assd(compat=deepmind)": np.average(both, weights=area),
        "nsd(tolerance=0, compat=deepmind)": area[both <= 0].sum() / area.sum(),
        "nsd(tolerance=2.5, compat=deepmind)": peer.compute_surface_dice_at_tolerance(theirs, 2.5),
    }
    for percent in (1, 50, 99, 100):
        text = f"hd95(percent={percent}, surface=subvoxel, weights=area)"
        expected[text] = peer.compute_robust_hausdorff(theirs, percent)
    found = compare(candidate, truth, spacing=spacing)
    for text, value in expected.items():
        assert measures.bind(text)(found) == pytest.approx(value, abs=1e-9), text


@pytest.mark.parametrize(("candidate", "truth", "spacing"), PAIRS)
def test_pooled_weighted_percentile_is_the_first_that_reaches_the_share(candidate, truth, spacing):
    ours = measures.bind("hd95(percent=60, percentile=pooled, surface=subvoxel, weights=area)")
    codes = [corner_codes(mask) for mask in (candidate, truth)]
    sizes = element_sizes(spacing)
    there = [(code > 0) & (code < code.dtype.type(2**2**truth.ndim - 1)) for code in codes]
    to = [ndimage.distance_transform_edt(~mask, sampling=spacing) for mask in there]
    values = np.concatenate([to[1][there[0]], to[0][there[1]]])
    weights = np.concatenate([sizes[code[on]] for code, on in zip(codes, there, strict=True)])
    reached = min(v for v in values if weights[values <= v].sum() >= 0.6 * weights.sum())
    assert ours(compare(candidate, truth, spacing=spacing)) == pytest.approx(reached)


def test_the_shared_table_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        element_sizes((1.0, 1.0))[3] = 0


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("axis", [0, 1])
def test_erosion_along_one_axis(steps, axis):
    mask = RNG.random((23, 19)) < 0.9
    structure = np.ones((2 * steps + 1, 1) if axis == 0 else (1, 2 * steps + 1), dtype=bool)
    np.testing.assert_array_equal(_eroded(mask, steps, axis), ndimage.binary_erosion(mask, structure))


def test_the_band_is_as_wide_as_the_rounded_share_of_the_diagonal():
    # The diagonal is 50, so that 0.05 is 2.5 pixels, rounded to even; in pixels whatever the spacing.
    mask = np.zeros((30, 40), dtype=bool)
    mask[5:25, 5:35] = True
    core = ndimage.binary_erosion(mask, np.ones((5, 5)))
    for share, spacing in ((0.05, None), (0.05, 7.0), (0.04, None)):
        bound = measures.bind(f"boundary_iou(dilation={share})")
        found = bound(compare(core, mask, spacing=spacing))
        inner, outer = core & ~ndimage.binary_erosion(core, np.ones((5, 5))), mask & ~core
        assert found == (inner & outer).sum() / (inner | outer).sum() == 0
    band = mask & ~ndimage.binary_erosion(mask, np.ones((5, 5)))
    assert score(band, mask, "boundary_iou(dilation=0.05)").mean == {"boundary_iou(dilation=0.05)": 1}


@pytest.mark.parametrize(("share", "steps"), [(0.0001, 1), (0.02, 1), (0.07, 2), (0.1, 3)])
def test_the_band_is_at_least_one_pixel_wide(share, steps):
    """The diagonal is 30; SciPy erodes by squares, and outside of the image nothing is set."""
    first, second = np.zeros((2, 18, 24), dtype=bool)
    first[0:12, 2:20] = second[3:16, 4:24] = True
    square = np.ones((2 * steps + 1, 2 * steps + 1))
    bands = [mask & ~ndimage.binary_erosion(mask, square) for mask in (first, second)]
    name = f"boundary_iou(dilation={share:g})"
    expected = (bands[0] & bands[1]).sum() / (bands[0] | bands[1]).sum()
    assert score(first, second, name)[name] == expected > 0


def test_skeletons_that_vanish_are_replaced_by_the_object():
    # scikit-image thins a cube of two voxels to nothing.
    skeletonize = pytest.importorskip("skimage.morphology").skeletonize
    cube = np.zeros((6, 6, 6), dtype=bool)
    cube[2:4, 2:4, 2:4] = True
    rod = np.zeros_like(cube)
    rod[2, 2, 1:6] = True
    skeleton = skeletonize(cube.copy())
    chosen = skeleton if skeleton.any() else cube
    precise, sensitive = (chosen & rod).sum() / chosen.sum(), (rod & cube).sum() / rod.sum()
    expected = 2 * precise * sensitive / (precise + sensitive)
    assert score(cube, rod, "cldice")["cldice"] == pytest.approx(expected)


@pytest.mark.parametrize("shape", [(1, 5, 6), (5, 1, 6), (5, 6, 1), (1, 1, 6), (2, 5, 6)])
def test_border_of_flat_volumes(shape):
    mask = np.ones(shape, dtype=bool)
    flat = shape.index(1) if 1 in shape else None
    structure = ndimage.generate_binary_structure(3, 1)
    if flat is not None:
        structure &= np.moveaxis(np.array([False, True, False])[:, None, None], 0, flat)
    np.testing.assert_array_equal(border(mask), mask & ~ndimage.binary_erosion(mask, structure))


def test_targets_know_their_border_and_their_distances():
    mask = np.zeros((9, 9), dtype=bool)
    mask[2:7, 2:7] = True
    target = Target(mask, (1.0, 2.0), 99.0)
    ring = mask & ~ndimage.binary_erosion(mask)
    assert (target.count, target.solid, target.is_mapped) == (25, True, False)
    np.testing.assert_allclose(target.to_border, ndimage.distance_transform_edt(~ring, sampling=(1, 2)))
    np.testing.assert_allclose(target.to_mask, ndimage.distance_transform_edt(~mask, sampling=(1, 2)))
    assert target.is_mapped
    thin = Target(ring, (1.0, 2.0), 99.0)
    assert not thin.solid
    assert thin.to_mask is thin.to_border


@pytest.mark.parametrize("spacing", [(1.0, 1.0), (3.0, 0.25)])
def test_the_nearest_of_one_far_pixel(spacing):
    of, to = np.zeros((2, 60, 70), dtype=bool)
    of[0, 0] = to[59, 69] = to[50, 66] = True
    expected = min(math.hypot(59 * spacing[0], 69 * spacing[1]), math.hypot(50 * spacing[0], 66 * spacing[1]))
    np.testing.assert_allclose(nearest_distances(of, to, spacing), [expected])
