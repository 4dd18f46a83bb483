"""Presets of libraries where they disagree: empty objects, volumes of one slice, options beside a preset."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy import ndimage

from edgecritic.errors import InputError
from edgecritic.measures import compare, measures, score
from edgecritic.measures.conventions import COMPAT

RNG = np.random.default_rng(5)
INF, NAN = math.inf, math.nan


def value(text, candidate, truth, spacing=None):
    return measures.bind(text)(compare(candidate, truth, spacing=spacing))


# What the libraries returned for a square and a cube, with the candidate, the truth, or both empty. MONAI
# 1.6.1, surface-distance 0.1, MedPy 0.5.2 and panoptica 2.1.7 were run; "refuses" is an exception (of the
# evaluator of panoptica, whose table has no entry); masd of the first two is the mean of two asd.
EMPTY = {
    "hd(compat=monai)": (INF, INF, NAN),
    "hd(direction=to_truth, compat=monai)": (INF, INF, NAN),
    "hd95(compat=monai)": (NAN, NAN, NAN),
    "hd95(percent=100, compat=monai)": (NAN, NAN, NAN),
    "asd(compat=monai)": (INF, INF, NAN),
    "assd(compat=monai)": (INF, INF, NAN),
    "masd(compat=monai)": (INF, INF, NAN),
    "nsd(compat=monai)": (0, 0, NAN),
    "dice(compat=monai)": (0, NAN, NAN),
    "hd(compat=deepmind)": (INF, INF, INF),
    "hd95(compat=deepmind)": (INF, INF, INF),
    "asd(compat=deepmind)": (NAN, INF, NAN),
    "asd(direction=to_candidate, compat=deepmind)": (INF, NAN, NAN),
    "masd(compat=deepmind)": (NAN, NAN, NAN),
    "nsd(compat=deepmind)": (0, 0, NAN),
    "nsd(direction=to_truth, compat=deepmind)": (NAN, 0, NAN),
    "nsd(direction=to_candidate, compat=deepmind)": (0, NAN, NAN),
    "dice(compat=deepmind)": (0, 0, NAN),
    "hd(compat=medpy)": "refuses",
    "hd95(compat=medpy)": "refuses",
    "asd(compat=medpy)": "refuses",
    "assd(compat=medpy)": "refuses",
    "dice(compat=medpy)": (0, 0, 1),
    "hd(compat=panoptica)": "refuses",
    "hd95(compat=panoptica)": "refuses",
    "nsd(compat=panoptica)": "refuses",
    "assd(compat=panoptica)": (INF, INF, NAN),
    "dice(compat=panoptica)": (0, 0, NAN),
    # MetricsReloaded, by its code: distances "need to be set to worst" where one side is empty.
    "hd(compat=metricsreloaded)": (NAN, NAN, 0),
    "hd95(compat=metricsreloaded)": (NAN, NAN, 0),
    "assd(compat=metricsreloaded)": (NAN, NAN, 0),
    "masd(compat=metricsreloaded)": (NAN, NAN, 0),
    "nsd(compat=metricsreloaded)": (0, 0, 1),
    "dice(compat=metricsreloaded)": (0, 0, 1),
    "hd95(surface=subvoxel)": (13, 13, 0),
    "asd": (13, 13, 0),
    "asd(direction=to_candidate)": (13, 13, 0),
    "nsd(tolerance=3)": (0, 0, 1),
    "dice": (0, 0, 1),
}


@pytest.mark.parametrize("text", EMPTY)
def test_empty_objects_have_the_values_of_the_library(text):
    nothing, some = np.zeros((2, 5, 12), dtype=bool)
    some[1:3, 2:6] = True
    pairs = (nothing, some), (some, nothing), (nothing, nothing)
    if EMPTY[text] == "refuses":
        for pair in pairs:
            with pytest.raises(InputError, match=r"no edge pixels, and compat=\w+ refuses this"):
                score(*pair, text)
        return
    for pair, expected in zip(pairs, EMPTY[text], strict=True):
        with warnings.catch_warnings(action="ignore"):
            assert score(*pair, text).mean[text] == pytest.approx(expected, nan_ok=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ndim", [2, 3])
def test_empty_objects_beside_the_libraries(ndim, monkeypatch):
    monai, torch = pytest.importorskip("monai.metrics"), pytest.importorskip("torch")
    deepmind = pytest.importorskip("surface_distance")
    # That library says np.Inf and np.NaN.
    monkeypatch.setattr(np, "Inf", math.inf, raising=False)
    monkeypatch.setattr(np, "NaN", math.nan, raising=False)
    nothing, some = np.zeros((2, *(9,) * ndim), dtype=bool)
    some[(slice(2, 5),) * ndim] = True
    for candidate, truth in ((nothing, some), (some, nothing), (nothing, nothing)):
        maps = [torch.as_tensor(mask[None, None].astype(np.float32)) for mask in (candidate, truth)]
        all_classes = {"include_background": True}
        lists = deepmind.compute_surface_distances(truth, candidate, (1.0,) * ndim)
        averages = deepmind.compute_average_surface_distance(lists)
        overlaps = deepmind.compute_surface_overlap_at_tolerance(lists, 1)
        expected = {
            "hd(compat=monai)": monai.compute_hausdorff_distance(*maps, **all_classes),
            "hd95(compat=monai)": monai.compute_hausdorff_distance(*maps, percentile=95, **all_classes),
            "asd(compat=monai)": monai.compute_average_surface_distance(*maps, **all_classes),
            "assd(compat=monai)": monai.compute_average_surface_distance(
                *maps, symmetric=True, **all_classes
            ),
            "nsd(compat=monai)": monai.compute_surface_dice(*maps, [1.0], **all_classes),
            "dice(compat=monai)": monai.compute_dice(*maps),
            "hd(compat=deepmind)": deepmind.compute_robust_hausdorff(lists, 100),
            "hd95(compat=deepmind)": deepmind.compute_robust_hausdorff(lists, 95),
            "asd(direction=to_candidate, compat=deepmind)": averages[0],
            "asd(compat=deepmind)": averages[1],
            "masd(compat=deepmind)": sum(averages) / 2,
            "nsd(direction=to_candidate, compat=deepmind)": overlaps[0],
            "nsd(direction=to_truth, compat=deepmind)": overlaps[1],
            "nsd(compat=deepmind)": deepmind.compute_surface_dice_at_tolerance(lists, 1),
            "dice(compat=deepmind)": deepmind.compute_dice_coefficient(truth, candidate),
        }
        for text, number in expected.items():
            assert value(text, candidate, truth) == pytest.approx(float(number), nan_ok=True), text


def lists_of_the_libraries(candidate, truth, spacing):
    """Borders by a plain erosion and transforms of them, as all libraries of voxels, in any dimension."""
    borders = [mask ^ ndimage.binary_erosion(mask) for mask in (candidate, truth)]
    to = [ndimage.distance_transform_edt(~mask, sampling=spacing) for mask in borders]
    return to[1][borders[0]], to[0][borders[1]]


def expected_of_libraries(candidate, truth, spacing):
    first, second = lists_of_the_libraries(candidate, truth, spacing)
    both = np.concatenate([first, second])
    directed = max(np.percentile(first, 95), np.percentile(second, 95))
    means, shares = (first.mean(), second.mean()), ((first <= 1.3).mean(), (second <= 1.3).mean())
    return {
        "hd(compat=medpy)": both.max(),
        "hd95(compat=monai)": directed,
        "hd95(compat=metricsreloaded)": directed,
        "hd95(compat=medpy)": np.percentile(both, 95),
        "hd95(compat=panoptica)": np.percentile(both, 95),
        "asd(compat=medpy)": means[0],
        "asd(direction=to_candidate, compat=medpy)": means[1],
        "assd(compat=medpy)": both.mean(),
        "assd(compat=panoptica)": sum(means) / 2,
        "masd(compat=metricsreloaded)": sum(means) / 2,
        "nsd(tolerance=1.3, compat=monai)": (both <= 1.3).mean(),
        "nsd(tolerance=1.3, compat=panoptica)": sum(shares) / 2,
        "nsd(tolerance=1.3, direction=to_truth, compat=monai)": shares[0],
        "nsd(tolerance=1.3, direction=to_candidate, compat=monai)": shares[1],
    }


@pytest.mark.parametrize("shape", [(1, 17, 19), (17, 1, 19), (17, 19, 1), (1, 1, 30), (8, 17, 19), (17, 19)])
def test_presets_of_voxels_on_volumes_of_any_thickness(shape):
    for _ in range(8):
        spacing = tuple(RNG.uniform(0.5, 3, len(shape)).tolist())
        candidate, truth = (ndimage.gaussian_filter(RNG.random(shape), 1.5) > 0.5 for _ in range(2))
        assert candidate.any()
        assert truth.any()
        for text, expected in expected_of_libraries(candidate, truth, spacing).items():
            assert value(text, candidate, truth, spacing) == pytest.approx(expected, abs=1e-9), text


@pytest.mark.parametrize("shape", [(1, 17, 19), (8, 9, 10), (17, 19)])
def test_panoptica(shape):
    peer = pytest.importorskip("panoptica.metrics").Metric
    candidate, truth = (ndimage.gaussian_filter(RNG.random(shape), 1.5) > 0.5 for _ in range(2))
    spacing = tuple(RNG.uniform(0.5, 3, len(shape)).tolist())
    for name in ("hd", "hd95", "assd", "nsd"):
        expected = getattr(peer, name.upper())(truth, candidate, voxelspacing=spacing)
        text = (
            f"nsd(tolerance={min(spacing)!r}, compat=panoptica)"
            if name == "nsd"
            else f"{name}(compat=panoptica)"
        )
        assert value(text, candidate, truth, spacing) == pytest.approx(expected, abs=1e-9), text


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_one_slice_between_voxels_is_that_of_deepmind(axis):
    peer = pytest.importorskip("surface_distance")
    candidate, truth = (
        np.expand_dims(ndimage.gaussian_filter(RNG.random((15, 16)), 1.5) > 0.5, axis) for _ in range(2)
    )
    lists = peer.compute_surface_distances(truth, candidate, (1.0, 0.7, 2.0))
    found = value("hd95(compat=deepmind)", candidate, truth, (1.0, 0.7, 2.0))
    assert found == pytest.approx(peer.compute_robust_hausdorff(lists, 95), abs=1e-9)


def test_our_own_surface_of_one_slice_is_that_of_the_plane():
    candidate, truth = (ndimage.gaussian_filter(RNG.random((17, 19)), 1.5) > 0.5 for _ in range(2))
    assert value("assd", candidate[None], truth[None]) == value("assd", candidate, truth)
    assert value("assd(compat=medpy)", candidate[None], truth[None]) != value("assd", candidate, truth)


@pytest.mark.parametrize(
    "text",
    [
        "assd(surface=subvoxel, compat=monai)",
        "hd(surface=voxel, compat=deepmind)",
        "asd(weights=area, compat=medpy)",
        "masd(weights=none, compat=deepmind)",
        "nsd(surface=subvoxel, weights=area, compat=metricsreloaded)",
        "hd95(percentile=directed, compat=medpy)",
        "hd95(percentile=pooled, compat=monai)",
    ],
)
def test_an_option_that_a_preset_would_override_is_refused(text):
    square, nothing = np.zeros((2, 9, 9), dtype=bool)
    square[2:7, 2:7] = True
    for truth in (square, nothing):
        with pytest.raises(InputError, match=r"compat=\w+ measures with \w+=\w+, and \w+=\w+ was asked for"):
            score(square, truth, text)


def test_an_option_that_says_the_same_as_the_preset_is_none_too_many():
    square = np.zeros((9, 9), dtype=bool)
    square[2:7, 2:7] = True
    moved = np.roll(square, 1, axis=0)
    assert value("hd95(percentile=pooled, compat=medpy)", moved, square) == value(
        "hd95(compat=medpy)", moved, square
    )


@pytest.mark.parametrize(
    "text", ["dice(compat=itk)", "hd95(compat=itk)", "nsd(direction=back)", "asd(direction=both)"]
)
def test_unknown_words_are_refused(text):
    square = np.zeros((9, 9), dtype=bool)
    square[2:7, 2:7] = True
    with pytest.raises(InputError, match="must be one of"):
        value(text, square, square)


def test_every_preset_says_what_an_empty_dice_is():
    assert all("dice" in preset.empty for preset in COMPAT.values())


@pytest.mark.parametrize("shape", [(14, 15, 13), (30, 25), (1, 22, 20)])
@pytest.mark.parametrize("distance", [1.2, 2.0, 3.7])
def test_boundary_bands_of_a_distance(shape, distance):
    spacing = {3: (2.5, 0.7, 1.1), 2: (0.5, 1.2)}[len(shape)]
    candidate, truth = (ndimage.gaussian_filter(RNG.random(shape), 2) > 0.49 for _ in range(2))
    flat = 0 if shape[0] == 1 else None
    bands = []
    for mask in (candidate, truth):
        padded = np.pad(mask, [(0, 0) if axis == flat else (1, 1) for axis in range(mask.ndim)])
        bands.append(padded & (ndimage.distance_transform_edt(padded, sampling=spacing) <= distance))
    expected = (bands[0] & bands[1]).sum() / (bands[0] | bands[1]).sum()
    found = value(f"boundary_iou(distance={distance})", candidate, truth, spacing)
    assert found == pytest.approx(expected, abs=1e-12)
    assert 0 < found < 1


def test_a_band_as_wide_as_a_voxel_and_one_that_is_said_twice():
    square = np.zeros((20, 20), dtype=bool)
    square[2:18, 2:18] = True
    assert value("boundary_iou(distance=0.3)", square, square, 0.1 * 3) == 1
    with pytest.raises(InputError, match=r"at least 0\.5, the smallest side of a voxel, got 0\.4"):
        value("boundary_iou(distance=0.4)", square, square, (0.5, 2.0))
    with pytest.raises(InputError, match="both say how wide the band is"):
        value("boundary_iou(distance=2, dilation=0.1)", square, square)
    assert value("boundary_iou(dilation=0.02)", square, np.roll(square, 1)) == value(
        "boundary_iou", square, np.roll(square, 1)
    )


def test_volumes_beside_medpy():
    peer = pytest.importorskip("medpy.metric.binary")
    for _ in range(20):
        candidate, truth = RNG.random((2, 6, 7, 8)) < RNG.uniform(0.05, 0.9, (2, 1, 1, 1))
        signed = peer.ravd(candidate, truth)
        assert value("relative_volume_difference(signed=True)", candidate, truth) == pytest.approx(signed)
        assert value("relative_volume_difference", candidate, truth) == pytest.approx(abs(signed))
        assert value("specificity", candidate, truth) == pytest.approx(peer.specificity(candidate, truth))
        assert value("sensitivity", candidate, truth) == pytest.approx(peer.sensitivity(candidate, truth))


def test_volumes_by_hand():
    candidate, truth = np.zeros((2, 4, 5, 6), dtype=bool)
    candidate[:2], truth[1:] = True, True
    spacing = (2.0, 0.5, 0.25)
    assert value("volume_difference", candidate, truth, spacing) == 30 * 0.25
    assert value("volume_difference(signed=True)", candidate, truth, spacing) == -30 * 0.25
    assert value("volume_similarity", candidate, truth, spacing) == pytest.approx(1 - 30 / 150)
    assert value("relative_volume_difference(signed=True)", candidate, truth) == pytest.approx(-1 / 3)
    assert value("specificity", candidate, truth) == 0
    assert value("specificity", np.ones_like(truth), np.ones_like(truth)) == 1


def test_skeletons_of_volumes_are_not_thinned_as_planes():
    cube = np.ones((3, 4, 5), dtype=bool)
    with pytest.raises(InputError, match="skeleton=thin is for planes"):
        value("cldice(skeleton=thin)", cube, cube)
    with pytest.raises(InputError, match="skeleton must be one of"):
        value("cldice(skeleton=medial)", cube, cube)
