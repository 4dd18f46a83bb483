"""Thinning against scikit-image, and the growing form against thinning at once."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from skimage import draw
from skimage.morphology import thin as reference

from edgecritic.errors import InputError
from edgecritic.kernels.grid import Grid
from edgecritic.kernels.thinning import grow, start_growth
from edgecritic.maps.thinning import ThinningSweep, pixels_by_threshold, thin

pytestmark = pytest.mark.kernels


def real_strength(data, name, number):
    from PIL import Image
    from scipy.io import loadmat

    if name == "ucm2":
        file = sorted((data / "bsds500" / "ucm2" / "val").glob("*.mat"))[number]
        return loadmat(file)["ucm2"][2::2, 2::2]
    file = sorted((data / "bsds500" / "gradient" / "val").glob("*.png"))[number]
    return np.asarray(Image.open(file)) / 255


@pytest.mark.parametrize("density", [0.05, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1.0])
def test_random_maps_of_every_density(density):
    rng = np.random.default_rng(1)
    for shape in [(41, 53), (1, 30), (30, 1), (2, 2), (17, 64)]:
        mask = rng.random(shape) < density
        assert np.array_equal(thin(mask), reference(mask))


def test_many_small_maps():
    """Small maps often lose nothing in the first sub-iteration but something in the second."""
    rng = np.random.default_rng(8)
    for _ in range(2000):
        map_ = rng.random(rng.integers(1, 8, 2)) < rng.random()
        assert np.array_equal(thin(map_), reference(map_)), map_.astype(int)


def test_smooth_blobs():
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng(2)
    for sigma in (1, 2, 4, 8):
        field = gaussian_filter(rng.standard_normal((120, 90)), sigma)
        for quantile in (0.1, 0.5, 0.9):
            mask = field > np.quantile(field, quantile)
            assert np.array_equal(thin(mask), reference(mask))


def test_thick_shapes():
    for paint in (
        lambda m: draw.disk((40, 45), 35, shape=m.shape),
        lambda m: draw.ellipse(40, 45, 10, 44, shape=m.shape, rotation=0.4),
        lambda m: draw.polygon([2, 70, 35, 79], [3, 10, 80, 88], shape=m.shape),
        lambda m: np.s_[:, :],
    ):
        mask = np.zeros((80, 90), bool)
        mask[paint(mask)] = True
        assert np.array_equal(thin(mask), reference(mask))
        mask[30:38, 20:60] = False
        assert np.array_equal(thin(mask), reference(mask))


@pytest.mark.parametrize("name, thresholds", [("ucm2", (0.01, 0.1, 0.4)), ("gradient", (0.05, 0.2, 0.6))])
def test_real_maps(data, name, thresholds):
    for number in range(3):
        strength = real_strength(data, name, number)
        for threshold in thresholds:
            assert np.array_equal(thin(strength >= threshold), reference(strength >= threshold))


def test_empty_map_and_input_kinds():
    assert not thin(np.zeros((5, 6))).any()
    mask = np.ones((9, 11), np.uint8) * 255
    mask.setflags(write=False)
    assert np.array_equal(thin(mask), reference(mask > 0))
    assert mask.all()
    assert np.array_equal(thin(mask.T), reference(mask.T > 0))


def test_volumes_are_refused():
    with pytest.raises(InputError, match="2-D"):
        thin(np.zeros((3, 4, 5), bool))
    with pytest.raises(InputError, match="2-D"):
        ThinningSweep((3, 4, 5))


def test_indices_outside_are_refused():
    for outside in (-1, 12):
        with pytest.raises(InputError, match="between 0 and 11"):
            ThinningSweep((3, 4)).grow([outside])


def check_steps(shape, steps):
    """Grow a map by lists of raster indices; each step must tell the change of the thin map."""
    sweep = ThinningSweep(shape)
    mask, before = np.zeros(shape, bool), np.zeros(shape, bool)
    for added in steps:
        mask.reshape(-1)[added] = True
        gained, lost = sweep.grow(added)
        now = thin(mask)
        assert np.array_equal(np.sort(gained), np.flatnonzero(now & ~before))
        assert np.array_equal(np.sort(lost), np.flatnonzero(before & ~now))
        assert np.array_equal(sweep.thin, now)
        before = now


@settings(max_examples=150)
@given(
    hnp.arrays(np.int8, hnp.array_shapes(min_dims=2, max_dims=2, max_side=14), elements=st.integers(0, 6)),
)
def test_small_growing_maps(levels):
    flat = levels.reshape(-1)
    check_steps(levels.shape, [np.flatnonzero(flat == level) for level in range(6, 0, -1)])


@pytest.mark.parametrize("batch", [1, 3, 40])
def test_growing_in_small_batches(batch):
    """Few pixels per step go the way pixel by pixel, whatever the order of their coming."""
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng(batch)
    shape = (24, 21)
    smooth = gaussian_filter(rng.standard_normal(shape), 2).reshape(-1)
    for order in (rng.permutation(smooth.size), np.argsort(smooth)):
        check_steps(shape, [order[k : k + batch] for k in range(0, order.size, batch)])


def test_pixels_given_again_change_nothing():
    check_steps((6, 7), [[8, 9, 10], [], [9, 9, 15, 16, 17], [8, 10]])


@pytest.mark.parametrize("name, count, stride", [("ucm2", 100, 1), ("gradient", 34, 4)])
def test_real_sweep(data, name, count, stride):
    strength = real_strength(data, name, 4)
    thresholds = np.arange(count - 1, 0, -stride) / count
    pixels, bounds = pixels_by_threshold(strength, thresholds[::-1])
    steps = [pixels[start:end] for start, end in itertools.pairwise(bounds)]
    check_steps(strength.shape, steps)


def test_growth_works_on_a_grid_with_a_wider_margin():
    mask = np.random.default_rng(5).random((20, 30)) < 0.7
    grid = Grid.around(mask.shape, (4, 5))
    growth = start_growth(grid)
    n_gained, n_lost = grow(growth, grid.locate(mask))
    assert n_lost == 0
    assert np.array_equal(np.sort(growth.gained[:n_gained]), grid.locate(thin(mask)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pixels_by_threshold_are_the_thresholded_maps(dtype):
    strength = (np.random.default_rng(6).integers(0, 11, (13, 17)) / 10).astype(dtype)
    even, low, high = np.arange(1, 10) / 10, [0.1, 0.11, 0.12, 0.9], [0.05, 0.8, 0.85, 0.9]
    steps = [even, low, high, [0.05], [0.5, 0.5, 2.0], [*low, np.inf], [-np.inf, *high]]
    for thresholds in map(np.array, steps):
        pixels, bounds = pixels_by_threshold(strength, thresholds)
        assert all(np.all(np.diff(pixels[i:j]) > 0) for i, j in itertools.pairwise(bounds))
        for k, threshold in enumerate(thresholds[::-1]):
            expected = np.flatnonzero(strength.astype(np.float64) >= threshold)
            assert np.array_equal(np.sort(pixels[: bounds[k + 1]]), expected)
