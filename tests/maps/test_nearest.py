"""Distances to the nearest pixel: every way of finding them gives the same."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

import edgecritic.maps.nearest as nearest
from edgecritic.maps.nearest import border, nearest_distances

pytestmark = pytest.mark.kernels


def expected(of, to, spacing):
    return ndimage.distance_transform_edt(~to, sampling=spacing)[of]


def scene(shape, far):
    """A dense corner in both masks, and `far` pixels of one of them all over the place."""
    rng = np.random.default_rng(5)
    of, to = np.zeros((2, *shape), dtype=bool)
    corner = tuple(slice(0, n // 4) for n in shape)
    of[corner] = rng.random(of[corner].shape) < 0.5
    to[corner] = rng.random(to[corner].shape) < 0.5
    of.flat[rng.choice(of.size, far, replace=False)] = True
    return of, to


@pytest.mark.parametrize("spacing", [1.0, 0.3])
@pytest.mark.parametrize(
    ("shape", "far"), [((90, 110), 0), ((90, 110), 30), ((90, 110), 900), ((30, 32, 40), 40)]
)
def test_near_and_far(shape, far, spacing):
    of, to = scene(shape, far)
    sizes = (spacing, *[1.0] * (len(shape) - 1))
    np.testing.assert_allclose(
        nearest_distances(of, to, sizes), expected(of, to, sizes), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize(
    ("far", "tree", "transform"), [(0, False, False), (30, True, False), (900, False, True)]
)
def test_each_way_is_taken(monkeypatch, far, tree, transform):
    taken = []
    for name in ("by_tree", "distance_map"):
        real = getattr(nearest, name)
        monkeypatch.setattr(
            nearest, name, lambda *args, name=name, real=real: taken.append(name) or real(*args)
        )
    nearest_distances(*scene((90, 110), far), (1.0, 1.0))
    assert ("by_tree" in taken, "distance_map" in taken) == (tree, transform)


@pytest.mark.parametrize("shape", [(9, 11), (1, 6), (5, 6, 7)])
def test_border_is_what_erosion_takes_away(shape):
    mask = np.random.default_rng(2).random(shape) < 0.8
    if shape[0] > 1:
        mask[1:4, 1:4] = True
    np.testing.assert_array_equal(border(mask), mask & ~ndimage.binary_erosion(mask))


def test_border_of_one_plane_is_that_of_the_image():
    mask = np.ones((5, 6), dtype=bool)
    np.testing.assert_array_equal(border(mask[None])[0], border(mask))
