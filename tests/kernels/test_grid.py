"""The flat padded grid: offsets by brute force, indices against NumPy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from edgecritic.kernels.grid import COST_UNIT, Grid, ball, ball_size, box

pytestmark = pytest.mark.kernels

SPACINGS = [(1.0, 1.0), (2.0, 0.5), (1.0, 1.0, 1.0), (3.0, 0.7, 0.7)]


@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize("radius", [0, 0.4, 1, math.sqrt(2), 2.5, 4.337])
def test_ball_holds_every_offset_within_the_radius(spacing, radius):
    hood = ball(radius, spacing)
    reach = [int(radius / size) + 2 for size in spacing]
    expected = {
        step
        for step in itertools.product(*[range(-r, r + 1) for r in reach])
        if math.dist([0] * len(step), np.multiply(step, spacing)) <= radius * (1 + 1e-9)
    }
    assert set(map(tuple, hood.offsets.tolist())) == expected
    assert len(hood.offsets) == len(expected)


@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize("hood", [lambda spacing: ball(3.2, spacing), lambda spacing: box(5, spacing)])
def test_offsets_are_sorted_by_length_with_rounded_costs(hood, spacing):
    found = hood(spacing)
    lengths = np.linalg.norm(found.offsets * np.asarray(spacing), axis=1)
    np.testing.assert_allclose(found.distances, lengths, atol=1e-8)
    assert (np.diff(found.distances) >= 0).all()
    assert not found.offsets[0].any()
    np.testing.assert_allclose(found.costs, COST_UNIT * lengths / min(spacing), atol=0.5 + 1e-6)
    assert found.radii == tuple(np.abs(found.offsets).max(axis=0))


def test_box_has_the_zones_of_the_pairing_paper():
    """Zones of a 5×5 and a 5×5×5 window: squared length to number of offsets."""
    for ndim, zones in (
        (2, {0: 1, 1: 4, 2: 4, 4: 4, 5: 8, 8: 4}),
        (3, {0: 1, 1: 6, 2: 12, 3: 8, 4: 6, 5: 24, 6: 24, 8: 12, 9: 24, 12: 8}),
    ):
        squares = np.round(box(5, (1.0,) * ndim).distances ** 2).astype(int)
        assert dict(zip(*np.unique(squares, return_counts=True), strict=True)) == zones


def test_ties_are_in_raster_order():
    hood = box(3, (1.0, 1.0))
    assert hood.offsets[1:5].tolist() == [[-1, 0], [0, -1], [0, 1], [1, 0]]


@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize("radius", [2.0, 5.0, 9.5])
def test_ball_size_is_about_right(spacing, radius):
    assert ball(radius, spacing).costs.size / 2.5 < ball_size(radius, spacing)
    assert ball_size(radius, spacing) < 2.5 * ball(radius, spacing).costs.size


@pytest.mark.parametrize(("shape", "radii"), [((4, 6), (1, 2)), ((3, 4, 5), (2, 0, 1)), ((1, 1), (3, 3))])
def test_flat_indices_are_those_of_the_padded_array(shape, radii):
    mask = np.random.default_rng(3).random(shape) < 0.5
    padded = np.pad(mask, [(radius, radius) for radius in radii])
    grid = Grid.around(shape, radii)
    flat = grid.locate(mask)
    np.testing.assert_array_equal(flat, np.flatnonzero(padded))
    np.testing.assert_array_equal(grid.embed(mask), padded.reshape(-1))
    np.testing.assert_array_equal(grid.raster(flat), np.flatnonzero(mask))
    np.testing.assert_array_equal(grid.flatten(grid.raster(flat)), flat)
    assert grid.size >= padded.size


def test_a_neighbour_is_one_addition_away():
    grid = Grid.around((5, 6), (2, 2))
    hood = box(5, (1.0, 1.0))
    here = grid.flatten(np.array([2 * 6 + 3]))[0]
    places = here + grid.flat_offsets(hood.offsets)
    inside = [(r, c) for r, c in (np.array([2, 3]) + hood.offsets) if 0 <= r < 5 and 0 <= c < 6]
    assert len(inside) == len(places)
    rasters = grid.raster(places)
    np.testing.assert_array_equal(rasters, [r * 6 + c for r, c in inside])
