"""What is done to maps in bands of rows equals what is done to the whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage
from skimage.morphology import thin as peer_thin

from edgecritic.maps import bands as module
from edgecritic.maps.bands import bands, border_in_bands, distances_in_bands, thin_levels

SHAPES = st.tuples(st.integers(1, 40), st.integers(1, 30))


def blobs(seed, shape):
    """Return thick shapes, specks and holes."""
    rng = np.random.default_rng(seed)
    smooth = ndimage.gaussian_filter(rng.standard_normal(shape), rng.uniform(0, 4))
    return smooth > np.quantile(smooth, rng.uniform(0.1, 0.95))


@given(seed=st.integers(0, 2**20), shape=SHAPES, rows=st.integers(1, 9), halo=st.sampled_from([2, 4, 32]))
@settings(max_examples=80, deadline=None)
def test_thinning(seed, shape, rows, halo):
    mask = blobs(seed, shape)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_THINNING_HALO", halo)
        found = thin_levels(np.where(mask, 5, 4).astype(np.uint8), 5, rows=rows)
    assert (found == np.flatnonzero(peer_thin(mask))).all()


def test_a_thick_shape_is_thinned_in_several_passes():
    mask = np.ones((150, 130), bool)
    found = thin_levels(mask.astype(np.uint8), 1, rows=7)
    assert (found == np.flatnonzero(peer_thin(mask))).all()


@given(seed=st.integers(0, 2**20), shape=SHAPES)
@settings(max_examples=40, deadline=None)
def test_borders(seed, shape):
    mask = blobs(seed, shape)
    cross = ndimage.generate_binary_structure(2, 1)
    expected = mask & ~ndimage.binary_erosion(mask, cross)
    assert (border_in_bands(np.flatnonzero(mask), shape) == np.flatnonzero(expected)).all()


@given(
    seed=st.integers(0, 2**20),
    shape=SHAPES,
    rows=st.integers(1, 9),
    halo=st.sampled_from([1, 3, 64]),
    spacing=st.sampled_from([(1.0, 1.0), (3.0, 1.0), (0.5, 2.0)]),
)
@settings(max_examples=80, deadline=None)
def test_distances(seed, shape, rows, halo, spacing):
    rng = np.random.default_rng(seed)
    of, to = (rng.random(shape) < share for share in (0.3, rng.choice([0.005, 0.2])))
    to.flat[rng.integers(to.size)] = True
    expected = ndimage.distance_transform_edt(~to, sampling=spacing)[of]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_DISTANCE_HALO", halo)
        found = distances_in_bands(np.flatnonzero(of), np.flatnonzero(to), shape, spacing, rows=rows)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_bands_cover_the_map_once():
    found = bands((20_000, 20_000), halo=10)
    assert [band.start for band in found[1:]] == [band.stop for band in found[:-1]]
    assert (found[0].start, found[-1].stop) == (0, 20_000)
    assert max((band.bottom - band.top) * 20_000 for band in found) <= 2**24
