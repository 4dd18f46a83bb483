"""Against other libraries where they can be imported, and against straightforward twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import ndimage
from scipy.spatial.distance import cdist, directed_hausdorff

from edgecritic.measures import compare, measures, score

RNG = np.random.default_rng(3)
CASES = [
    ((14, 15, 13), (1.0, 1.0, 1.0)),
    ((14, 15, 13), (2.0, 0.7, 1.3)),
    ((30, 25), (1.0, 1.0)),
    ((30, 25), (0.5, 1.7)),
]


def blobs(shape):
    return ndimage.gaussian_filter(RNG.random(shape), 1.2) > 0.51


OBJECTS = [(blobs(shape), blobs(shape), spacing) for shape, spacing in CASES]


def value(text, candidate, truth, spacing=None):
    return measures.bind(text)(compare(candidate, truth, spacing=spacing))


def nonempty(shape):
    return arrays(bool, shape, elements=st.booleans()).filter(np.any)


shapes = st.sampled_from([(5, 7), (1, 9), (4, 3, 5)])
pairs = shapes.flatmap(lambda shape: st.tuples(nonempty(shape), nonempty(shape)))


@given(pairs, st.sampled_from([1.0, 0.4, 2.5]))
@settings(max_examples=60)
def test_distances_are_those_of_all_pairs(pair, size):
    candidate, truth = pair
    spacing = np.array([size, *[1.0] * (candidate.ndim - 1)])
    table = cdist(np.argwhere(candidate) * spacing, np.argwhere(truth) * spacing)
    found = compare(candidate, truth, spacing=tuple(spacing))
    np.testing.assert_allclose(found.distances.to_truth, table.min(axis=1), atol=1e-12)
    np.testing.assert_allclose(found.distances.to_candidate, table.min(axis=0), atol=1e-12)


@given(pairs)
@settings(max_examples=60)
def test_surfaces_are_eroded_borders(pair):
    borders = [mask & ~ndimage.binary_erosion(mask) for mask in pair]
    if 1 in pair[0].shape[:1] and pair[0].ndim == 3:
        return
    table = cdist(np.argwhere(borders[0]), np.argwhere(borders[1]))
    found = compare(*pair)
    np.testing.assert_allclose(found.surface.to_truth, table.min(axis=1), atol=1e-12)
    np.testing.assert_allclose(found.surface.to_candidate, table.min(axis=0), atol=1e-12)


@given(pairs)
@settings(max_examples=40)
def test_whole_image_transforms_give_the_same_lists(pair):
    found, other = compare(*pair), compare(*pair)
    first, second = other.transforms
    np.testing.assert_allclose(found.distances.to_truth, second[other.candidate], atol=1e-12)
    np.testing.assert_allclose(found.distances.to_candidate, first[other.truth], atol=1e-12)
    np.testing.assert_array_equal(other.distances.to_truth, second[other.candidate])
    reference = ndimage.distance_transform_edt(~pair[0])
    np.testing.assert_allclose(first, reference, atol=1e-12)


@pytest.mark.parametrize(("candidate", "truth", "spacing"), OBJECTS)
def test_hausdorff_of_scipy_and_scikit_image(candidate, truth, spacing):
    points = [np.argwhere(mask) * spacing for mask in (candidate, truth)]
    expected = max(directed_hausdorff(*points)[0], directed_hausdorff(*points[::-1])[0])
    assert value("hausdorff", candidate, truth, spacing) == pytest.approx(expected, abs=1e-9)
    peer = pytest.importorskip("skimage.metrics")
    plain = value("hausdorff", candidate, truth)
    assert plain == pytest.approx(peer.hausdorff_distance(candidate, truth), abs=1e-9)
    modified = peer.hausdorff_distance(candidate, truth, method="modified")
    assert value("f2d6", candidate, truth) == pytest.approx(modified, abs=1e-9)


@pytest.mark.parametrize(("candidate", "truth", "spacing"), OBJECTS)
def test_partial_hausdorff_is_the_rank_statistic(candidate, truth, spacing):
    found = compare(candidate, truth, spacing=spacing)
    lists = found.distances.to_truth, found.distances.to_candidate
    for percent in (5, 12.5, 50):
        expected = max(np.quantile(each, 1 - percent / 100, method="inverted_cdf") for each in lists)
        assert measures.get("hausdorff").function(found, percent=percent) == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")
@pytest.mark.parametrize(("candidate", "truth", "spacing"), OBJECTS)
def test_deepmind_surface_distance(candidate, truth, spacing):
    peer = pytest.importorskip("surface_distance")
    found = compare(candidate, truth, spacing=spacing)
    theirs = peer.compute_surface_distances(truth, candidate, spacing)
    averages = peer.compute_average_surface_distance(theirs)
    expected = {
        "hd95(compat=deepmind)": peer.compute_robust_hausdorff(theirs, 95),
        "hd95(percent=100, compat=deepmind)": peer.compute_robust_hausdorff(theirs, 100),
        "masd(compat=deepmind)": sum(averages) / 2,
        "nsd(compat=deepmind)": peer.compute_surface_dice_at_tolerance(theirs, 1),
    }
    for text, number in expected.items():
        assert measures.bind(text)(found) == pytest.approx(number, abs=1e-9)


@pytest.mark.parametrize(("candidate", "truth", "spacing"), OBJECTS)
def test_medpy(candidate, truth, spacing):
    peer = pytest.importorskip("medpy.metric.binary")
    found = compare(candidate, truth, spacing=spacing)
    expected = {
        "hd95(compat=medpy)": peer.hd95(candidate, truth, spacing),
        "hd95(percent=100, compat=medpy)": peer.hd(candidate, truth, spacing),
        "assd(compat=medpy)": peer.assd(candidate, truth, spacing),
        "dice": peer.dc(candidate, truth),
        "jaccard": peer.jc(candidate, truth),
    }
    for text, number in expected.items():
        assert measures.bind(text)(found) == pytest.approx(number, abs=1e-9)


@pytest.mark.parametrize(("candidate", "truth", "spacing"), [OBJECTS[0], OBJECTS[2]])
def test_simple_itk(candidate, truth, spacing):
    peer = pytest.importorskip("SimpleITK")
    images = [peer.GetImageFromArray(mask.astype(np.uint8)) for mask in (candidate, truth)]
    found = peer.HausdorffDistanceImageFilter()
    found.Execute(*images)
    assert value("hausdorff", candidate, truth) == pytest.approx(found.GetHausdorffDistance(), abs=1e-6)
    overlap = peer.LabelOverlapMeasuresImageFilter()
    overlap.Execute(*images)
    assert value("dice", candidate, truth) == pytest.approx(overlap.GetDiceCoefficient())
    assert value("jaccard", candidate, truth) == pytest.approx(overlap.GetJaccardCoefficient())


def border_lists(candidate, truth, spacing):
    borders = [mask ^ ndimage.binary_erosion(mask) for mask in (candidate, truth)]
    to = [ndimage.distance_transform_edt(~mask, sampling=spacing) for mask in borders]
    return to[1][borders[0]], to[0][borders[1]]


@pytest.mark.parametrize(("candidate", "truth", "spacing"), OBJECTS)
def test_twins_of_the_voxel_conventions(candidate, truth, spacing):
    first, second = border_lists(candidate, truth, spacing)
    both = np.concatenate([first, second])
    expected = {
        "hd95(compat=medpy)": np.percentile(both, 95),
        "hd95(percentile=pooled)": np.percentile(both, 95),
        "hd95(compat=monai)": max(np.quantile(first, 0.95), np.quantile(second, 0.95)),
        "hd95": max(np.quantile(first, 0.95), np.quantile(second, 0.95)),
        "assd": both.mean(),
        "masd": (first.mean() + second.mean()) / 2,
        "nsd(tolerance=1.5)": (both <= 1.5).mean(),
    }
    found = score(candidate, truth, list(expected), spacing=spacing)
    for text, number in expected.items():
        assert found[text] == pytest.approx(number, abs=1e-12)


@pytest.mark.filterwarnings("ignore:Setting the shape on a NumPy array:DeprecationWarning")  # by the peer
@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (1.0, 2.0, 3.0)])
def test_areas_are_those_of_marching_cubes(spacing):
    from edgecritic.measures.subvoxel import element_sizes

    peer = pytest.importorskip("skimage.measure")
    sizes = element_sizes(spacing)
    np.testing.assert_array_equal(sizes, sizes[::-1])
    for code in range(1, 255):
        if code.bit_count() <= 4:  # of more, the peer joins corners that we keep apart
            cell = np.array([code >> (7 - bit) & 1 for bit in range(8)], dtype=float).reshape(2, 2, 2)
            mesh = peer.marching_cubes(cell, 0.5, spacing=spacing, method="lorensen")
            assert peer.mesh_surface_area(*mesh[:2]) == pytest.approx(sizes[code], abs=1e-5)


def test_area_of_a_box():
    # A box of a×b×c voxels: flat faces are full size, edges and corners are cut off.
    from edgecritic.measures.subvoxel import corner_codes, element_sizes

    spacing = (1.0, 2.0, 3.0)
    sizes = element_sizes(spacing)
    a, b, c = 4, 5, 6
    total = sizes[corner_codes(np.ones((a, b, c), dtype=bool))].sum()
    faces = 2 * ((b - 1) * 2 * (c - 1) * 3 + (a - 1) * 1 * (c - 1) * 3 + (a - 1) * 1 * (b - 1) * 2)
    edges = 4 * (
        (a - 1) * 1 * math.hypot(2, 3) / 2
        + (b - 1) * 2 * math.hypot(1, 3) / 2
        + (c - 1) * 3 * math.hypot(1, 2) / 2
    )
    corner = np.linalg.norm(np.cross([-0.5, 1, 0], [-0.5, 0, 1.5])) / 2
    assert total == pytest.approx(faces + edges + 8 * corner, rel=1e-12)


def test_length_of_a_rectangle():
    from edgecritic.measures.subvoxel import corner_codes, element_sizes

    total = element_sizes((1.0, 2.0))[corner_codes(np.ones((4, 5), dtype=bool))].sum()
    assert total == pytest.approx(2 * 3 * 1 + 2 * 4 * 2 + 4 * math.hypot(0.5, 1), rel=1e-12)


@pytest.mark.parametrize(("candidate", "truth", "spacing"), OBJECTS)
def test_boundary_iou_by_repeated_erosion(candidate, truth, spacing):
    steps = max(1, round(0.1 * math.sqrt(sum(n * n for n in truth.shape))))
    structure = np.ones((3,) * truth.ndim, dtype=bool)
    first, second = (
        mask & ~ndimage.binary_erosion(mask, structure, iterations=steps) for mask in (candidate, truth)
    )
    expected = (first & second).sum() / (first | second).sum()
    assert value("boundary_iou(dilation=0.1)", candidate, truth) == pytest.approx(expected)


def test_boundary_iou_of_solid_squares():
    square = np.zeros((40, 40), dtype=bool)
    square[5:35, 5:35] = True
    smaller = np.zeros_like(square)
    smaller[7:33, 7:33] = True
    # Bands of one pixel (2 % of the diagonal is 1.1): they do not meet.
    assert value("boundary_iou", smaller, square) == 0
    # Bands of five pixels (9 % of the diagonal): of the inner one all lies in the outer one but its core.
    overlap, union = (26**2 - 20**2), (30**2 - 16**2)
    assert value("boundary_iou(dilation=0.09)", smaller, square) == pytest.approx(overlap / union)


@pytest.mark.parametrize(
    ("case", "way", "text"),
    [
        (0, "skeletonize", "cldice"),
        (2, "skeletonize", "cldice"),
        (2, "thin", "cldice(skeleton=thin)"),
    ],
)
def test_cldice_by_definition(case, way, text):
    thin = getattr(pytest.importorskip("skimage.morphology"), way)
    candidate, truth, _ = OBJECTS[case]
    first, second = (thin(mask.copy()) for mask in (candidate, truth))
    precise = (first & truth).sum() / first.sum()
    sensitive = (second & candidate).sum() / second.sum()
    expected = 2 * precise * sensitive / (precise + sensitive)
    assert value(text, candidate, truth) == pytest.approx(expected)


@given(pairs)
@settings(max_examples=60)
def test_confusion_measures_by_numpy(pair):
    candidate, truth = (mask.ravel() for mask in pair)
    found = compare(*pair)
    tp = (candidate & truth).sum()
    assert measures.bind("dice")(found) == pytest.approx(2 * tp / (candidate.sum() + truth.sum()))
    assert measures.bind("cosine")(found) == pytest.approx(tp / math.sqrt(candidate.sum() * truth.sum()))
    agree = (candidate == truth).mean()
    chance = candidate.mean() * truth.mean() + (1 - candidate.mean()) * (1 - truth.mean())
    if chance < 1:
        assert measures.bind("kappa")(found) == pytest.approx((agree - chance) / (1 - chance), abs=1e-12)
    if not (candidate.all() or truth.all()):
        correlation = np.corrcoef(candidate, truth)[0, 1]
        assert measures.bind("mcc")(found) == pytest.approx(correlation, abs=1e-12)
        assert measures.bind("chi2")(found) == pytest.approx(correlation**2, abs=1e-12)


@given(pairs)
@settings(max_examples=60)
def test_dp_by_definition(pair):
    candidate, truth = pair
    hits = candidate & truth
    to_truth = cdist(np.argwhere(candidate), np.argwhere(truth)).min(axis=1)
    alarms = (1 - 1 / (1 + to_truth**2 / 9)).sum()
    misses = float(truth.sum())
    if hits.any():
        to_hits = cdist(np.argwhere(truth), np.argwhere(hits)).min(axis=1)
        misses = (1 - 1 / (1 + to_hits**2 / 9)).sum()
    outside = (~truth).sum()
    expected = (alarms / outside if outside else 0) / 2 + misses / truth.sum() / 2
    assert value("dp", candidate, truth) == pytest.approx(expected, abs=1e-12)
