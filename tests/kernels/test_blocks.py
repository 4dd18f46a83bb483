"""Pixels of a volume come block by block, in raster order inside each."""

import numpy as np
import pytest

from edgecritic.kernels.blocks import block_by_block
from edgecritic.kernels.grid import Grid

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 40, 17), (33, 16, 30), (20, 1, 90)])
@pytest.mark.parametrize("radii", [(0, 0, 0), (2, 5, 3), (16, 1, 31)])
def test_order_and_places_are_those_of_sorted_coordinates(shape, radii):
    grid = Grid.around(shape, radii)
    mask = np.random.default_rng(sum(shape)).random(shape) < 0.4
    places = np.argwhere(mask) + radii
    order = np.lexsort((*places.T[::-1], *(places // 16).T[::-1]))  # the last key counts most
    raster, flat = block_by_block(np.flatnonzero(mask), grid.shape, grid.radii, grid.strides)
    assert np.array_equal(flat, np.ravel_multi_index(tuple(places[order].T), grid.padded))
    assert np.array_equal(raster, np.flatnonzero(mask)[order])
