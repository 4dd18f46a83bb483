"""The kernels of the coherent matching against SciPy and a few lines of NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path

from edgecritic.kernels.coherence import Edge, kept_links, medians, raise_misfit, splat
from edgecritic.kernels.grid import Grid, ball, box

pytestmark = pytest.mark.kernels

REACH = 2


@pytest.fixture
def edge():
    """A map on a grid, and for every pixel which others are within the reach along the map."""
    mask = np.random.default_rng(8).random((9, 11)) < 0.35
    grid = Grid.around(mask.shape, (3, 3))
    flat = grid.locate(mask)
    number_at = np.full(grid.size, -1, dtype=np.int32)
    number_at[flat] = np.arange(flat.size)
    places = np.argwhere(mask)
    touch = abs(places[:, None] - places).max(axis=2) == 1
    near = shortest_path(touch.astype(float), unweighted=True) <= REACH
    return Edge(flat, number_at, grid.flat_offsets(box(3, (1.0, 1.0)).offsets[1:])), near, grid


def test_every_cell_has_its_shortest_step(edge):
    pixels, _, grid = edge
    around = ball(3.0, (1.0, 1.0))
    steps, lengths = grid.flat_offsets(around.offsets), around.costs
    found = splat(grid.size, pixels.flat, steps, lengths, 999)
    wanted = np.full(grid.size, 999)
    for step, length in zip(steps, lengths, strict=True):
        wanted[pixels.flat + step] = np.minimum(wanted[pixels.flat + step], length)
    assert np.array_equal(found, wanted)


def test_misfit_is_the_mean_distance_of_the_moved_window_or_what_it_was(edge):
    pixels, near, grid = edge
    rng = np.random.default_rng(9)
    count = pixels.flat.size
    start = np.append(0, np.cumsum(rng.integers(0, 4, count))).astype(np.int64)
    link = rng.permutation(start[-1])
    step = rng.choice(grid.flat_offsets(ball(3.0, (1.0, 1.0)).offsets), start[-1])
    distance = rng.integers(0, 100, grid.size)
    before = rng.random(start[-1]) * 60
    found = before.copy()
    raise_misfit(pixels, start, link, step, distance, REACH, found)
    for pixel in range(count):
        for one in link[start[pixel] : start[pixel + 1]]:
            mean = distance[pixels.flat[near[pixel]] + step[one]].mean()
            assert found[one] == pytest.approx(max(before[one], mean), rel=1e-12)
    assert 0 < np.count_nonzero(found > before) < found.size


def test_medians_are_those_of_the_matched_pixels_of_the_window(edge):
    pixels, near, _ = edge
    rng = np.random.default_rng(10)
    matched = rng.random(pixels.flat.size) < 0.4
    offsets = rng.integers(-9, 10, (pixels.flat.size, 2))
    found = medians(pixels, matched, offsets, REACH)
    sizes = set()
    for pixel in range(pixels.flat.size):
        window = offsets[near[pixel] & matched]
        sizes.add(min(len(window), 3))
        wanted = 2 * np.median(window, axis=0) if len(window) else np.zeros(2)
        assert np.array_equal(found[pixel], wanted)
    assert sizes == {0, 1, 2, 3}


def test_kept_links_are_the_cheapest_first_and_in_their_order_where_equal():
    rng = np.random.default_rng(11)
    start = np.array([0, 5, 5, 12, 20])
    other = np.arange(20, dtype=np.int32)
    cost, keep = rng.integers(0, 4, 20), rng.random(20) < 0.7
    found = kept_links(start, other, cost, keep)
    for row in range(4):
        kept = np.arange(start[row], start[row + 1])
        kept = kept[keep[kept]]
        kept = kept[np.argsort(cost[kept], kind="stable")]
        part = slice(found.start[row], found.start[row + 1])
        assert np.array_equal(found.other[part], kept)
        assert np.array_equal(found.cost[part], cost[kept])
    assert found.other.size == keep.sum()
