"""Links between near pixels, compared with the distances of all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from edgecritic.assignment import dynamic, solver
from edgecritic.errors import InputError
from edgecritic.kernels.changing import link_absent
from edgecritic.kernels.grid import Grid, ball
from edgecritic.kernels.links import (
    Links,
    count_reached,
    from_columns,
    link_maps,
    links_of_rows,
    number_cells,
)
from edgecritic.kernels.windows import count_bits, lowest_bit

pytestmark = pytest.mark.kernels

CASES = [((9, 11), 2.5, 0.4), ((7, 8), 0.0, 0.5), ((3, 150), 70.0, 0.2), ((5, 6, 7), 2.9, 0.3)]


@pytest.mark.parametrize(("shape", "radius", "share"), CASES)
@pytest.mark.parametrize("seed", range(3))
def test_links_are_all_pairs_within_reach_the_cheapest_first(shape, radius, share, seed):
    rng = np.random.default_rng(seed)
    masks = rng.random((2, *shape)) < share
    around = ball(radius, (1.0,) * len(shape))
    grid = Grid.around(shape, around.radii)
    rows, columns = (rng.permutation(grid.locate(mask)) for mask in masks)
    links = solver.link_rows(grid, rows, columns, around)
    for one, other in zip(links, solver._linked_plainly(grid, rows, columns, around), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
    places = [np.stack(np.unravel_index(grid.raster(side), shape), axis=1) for side in (rows, columns)]
    distances = cdist(*places)
    for row in range(rows.size):
        mine = slice(links.start[row], links.start[row + 1])
        other, cost = links.other[mine], links.cost[mine]
        assert sorted(other.tolist()) == np.flatnonzero(distances[row] <= radius).tolist()
        np.testing.assert_array_equal(cost, np.floor(100 * distances[row, other] + 0.5))
        np.testing.assert_array_equal(cost, np.sort(cost))
    assert links.start[-1] == links.other.size


@pytest.mark.parametrize("seed", range(4))
def test_links_seen_from_their_columns_are_the_same_the_cheapest_first(seed):
    rng = np.random.default_rng(seed)
    rows, columns = np.nonzero(rng.random((13, 9)) < 0.4)
    cost = rng.integers(0, 5, rows.size)
    mine, theirs = np.lexsort((cost, rows)), np.lexsort((rows, cost, columns))
    start = np.searchsorted(rows, np.arange(14))
    links = Links(start, columns[mine].astype(np.int32), cost[mine].astype(np.int32))
    found = from_columns(links, 9)
    np.testing.assert_array_equal(found.start, np.append(0, np.cumsum(np.bincount(columns, minlength=9))))
    np.testing.assert_array_equal(found.other, rows[theirs])
    np.testing.assert_array_equal(found.cost, cost[theirs])


def webbed(masks, pixels, around, most_links=2**28):
    """Return the web of links between pixels and the maps, with both as coordinates."""
    grid = Grid.around(masks[0].shape, around.radii)
    places = [grid.locate(mask) for mask in masks]
    start = np.cumsum([0, *(place.size for place in places)], dtype=np.int64)
    pixel_at = np.full(grid.size, -1, dtype=np.int32)
    pixel_at[grid.locate(pixels)] = np.arange(np.count_nonzero(pixels))
    steps = grid.flat_offsets(around.offsets)
    count = np.count_nonzero(pixels)
    web = link_maps(np.concatenate(places), start, pixel_at, count, steps, around.costs, most_links)
    return web, start, [np.argwhere(mask) for mask in masks], np.argwhere(pixels)


@pytest.mark.parametrize(("shape", "radius", "share"), [*CASES, ((40, 50), 3.0, 0.9)])
def test_webs_link_every_map_with_the_pixels_in_reach_from_both_sides(shape, radius, share):
    rng = np.random.default_rng(5)
    masks = [rng.random(shape) < share * part for part in (1, 0, 0.3)]
    web, start, columns, pixels = webbed(masks, rng.random(shape) < share, ball(radius, (1.0,) * len(shape)))
    for number, mine in enumerate(columns):
        distances = cdist(pixels, mine)
        near = distances <= radius
        rows = np.arange(web.row_start[number], web.row_start[number + 1])
        np.testing.assert_array_equal(web.pixel_of[rows], np.flatnonzero(near.any(axis=1)))
        for row in rows:
            links = slice(web.rows.start[row], web.rows.start[row + 1])
            other, far = web.rows.other[links] - start[number], distances[web.pixel_of[row]]
            assert sorted(other.tolist()) == np.flatnonzero(far <= radius).tolist()
            np.testing.assert_array_equal(web.rows.cost[links], np.sort(np.floor(100 * far[other] + 0.5)))
        for column in range(len(mine)):
            links = slice(*web.columns.start[start[number] + column :][:2])
            pixel, far = web.pixel_of[web.columns.other[links]], distances[:, column]
            assert sorted(pixel.tolist()) == np.flatnonzero(far <= radius).tolist()
            np.testing.assert_array_equal(web.columns.cost[links], np.sort(np.floor(100 * far[pixel] + 0.5)))
    assert web.row_start[-1] == web.pixel_of.size


def test_webs_leave_links_out_beyond_the_most():
    everywhere = np.ones((9, 9), dtype=bool)
    web, *_ = webbed([everywhere] * 3, everywhere, ball(2.0, (1.0, 1.0)), most_links=200)
    assert 200 < web.rows.other.size == web.columns.other.size <= 200 + everywhere.size


def check_placed(found, pixels, masks):
    """Compare where pixels are said to be with NumPy."""
    first, *parts = (np.sort(part) for part in np.split(found.columns, found.map_start[:-1]))
    assert first.size == 0
    assert [part.tolist() for part in parts] == [np.flatnonzero(mask).tolist() for mask in masks]
    assert found.map_start[-1] == found.columns.size
    np.testing.assert_array_equal(np.sort(found.pixels), np.flatnonzero(pixels))
    numbers = np.full(pixels.size, -1, dtype=np.int32)
    numbers[found.pixels] = np.arange(found.pixels.size)
    np.testing.assert_array_equal(found.number, numbers, strict=True)


@pytest.mark.parametrize("shares", [(1, 0, 0.3), (0, 0, 1), (0.5, 0), (0.2,)])
@pytest.mark.parametrize("spacing", [(1.0, 1.0), (1.0, 2.5)])
@pytest.mark.parametrize("shape", [(9, 11), (1, 30), (30, 1), (1, 1)])
def test_webs_of_maps_tell_where_their_pixels_are(shape, spacing, shares):
    rng = np.random.default_rng(7)
    around = ball(3.0, spacing)
    pixels, *masks = (rng.random(shape) < 0.6 * share for share in (1, *shares))
    surroundings = dynamic._surroundings(dynamic._task(shape, spacing, 3.0, None))
    found = np.flatnonzero([pixels, *masks])
    problem, placed = link_absent(found, 1 + len(masks), *surroundings)
    check_placed(placed, pixels, masks)
    np.testing.assert_array_equal(placed.pixels, np.flatnonzero(pixels))
    found = problem.web
    web, start, *_ = webbed(masks, pixels, around)
    np.testing.assert_array_equal(placed.map_start, start)
    for one, other in zip((*found.rows, *found.columns), (*web.rows, *web.columns), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
    np.testing.assert_array_equal(found.pixel_of, web.pixel_of)
    np.testing.assert_array_equal(found.row_start, web.row_start)


@pytest.mark.parametrize(("shape", "radius", "share"), CASES)
def test_webs_that_are_made_row_by_row_have_the_same_links_of_rows(shape, radius, share):
    rng = np.random.default_rng(5)
    around = ball(radius, (1.0,) * len(shape))
    grid = Grid.around(shape, around.radii)
    masks = [rng.random(shape) < share * part for part in (1, 0, 0.3)]
    pixels = rng.random(shape) < share
    task = dynamic._task(shape, (1.0,) * len(shape), radius, None)
    problem, found = dynamic._linked(task, [pixels, *masks])
    check_placed(found, pixels, masks)
    web = problem.web
    pixel_at = np.full(grid.size, -1, dtype=np.int32)
    pixel_at[grid.flatten(found.pixels)] = np.arange(found.pixels.size)
    steps, places = grid.flat_offsets(around.offsets), grid.flatten(found.columns)
    slow = link_maps(places, found.map_start, pixel_at, found.pixels.size, steps, around.costs, 2**28)
    for first, second in zip(slow.rows, web.rows, strict=True):
        np.testing.assert_array_equal(first, second)
        assert first.dtype == second.dtype
    np.testing.assert_array_equal(slow.pixel_of, web.pixel_of)
    np.testing.assert_array_equal(slow.row_start, web.row_start)


@pytest.mark.parametrize("shape", [(9, 9), (5, 5, 3)])
def test_a_state_with_too_many_links_is_refused(monkeypatch, shape):
    """Though each of the truths has few."""
    everywhere = np.ones(shape, dtype=bool)
    monkeypatch.setattr(dynamic, "MOST_LINKS", 100)
    dynamic.ExactState([everywhere], tolerance=0)
    dynamic.match_truths(everywhere, [everywhere], tolerance=0)
    with pytest.raises(InputError, match="do not fit in memory"):
        dynamic.ExactState([everywhere, everywhere], tolerance=0)
    with pytest.raises(InputError, match="do not fit in memory"):
        dynamic.match_truths(everywhere, [everywhere, everywhere], tolerance=0)


def test_too_many_links_are_refused(monkeypatch):
    monkeypatch.setattr(solver, "MOST_LINKS", 50)
    around = ball(2.0, (1.0, 1.0))
    grid = Grid.around((9, 9), around.radii)
    everywhere = grid.locate(np.ones((9, 9), dtype=bool))
    with pytest.raises(InputError, match="more than 50 pairs"):
        solver.link_rows(grid, everywhere, everywhere, around)


@pytest.mark.parametrize("most", [solver.MOST_LINKS, 200])
def test_links_are_the_same_if_two_threads_make_them(monkeypatch, most):
    """And as many are refused, though each thread makes half of them."""
    around = ball(2.0, (1.0, 1.0))
    grid = Grid.around((9, 9), around.radii)
    rng = np.random.default_rng(0)
    rows, columns = (grid.locate(rng.random((9, 9)) < 0.7) for _ in range(2))
    one = solver.link_rows(grid, rows, columns, around)
    assert 200 < one.other.size < 400
    monkeypatch.setattr(solver, "MANY_ROWS", 1)
    monkeypatch.setattr(solver, "MOST_LINKS", most)
    if most == 200:
        with pytest.raises(InputError, match="more than 200 pairs"):
            solver.link_rows(grid, rows, columns, around)
        return
    for first, second in zip(one, solver.link_rows(grid, rows, columns, around), strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("size", [1, 63, 64, 65, 1000])
def test_numbered_cells_keep_their_numbers_in_the_order_of_the_cells(size):
    rng = np.random.default_rng(size)
    cells = rng.permutation(size)[: rng.integers(1, size + 1)]
    found = number_cells(size, cells)
    np.testing.assert_array_equal(found.number, np.argsort(cells))
    counts = [int(word).bit_count() for word in found.bits.tolist()]
    np.testing.assert_array_equal(found.before, np.cumsum([0, *counts[:-1]]))
    assert sum(counts) == cells.size


def test_bits_of_words_are_counted_and_found():
    words = np.random.default_rng(0).integers(0, 2**64, 200, dtype=np.uint64)
    words[:3] = 0, 2**64 - 1, 2**63
    assert [int(count_bits(word)) for word in words] == [int(word).bit_count() for word in words]
    lowest = [bin(int(word))[::-1].index("1") for word in words[1:]]
    assert [int(lowest_bit(word)) for word in words[1:]] == lowest


def test_links_up_to_the_most_are_made_and_no_more_room_than_they_need():
    grid = Grid.around((9, 9), (1, 1))
    around = ball(1.0, (1.0, 1.0))
    near, steps = solver.surroundings(grid, around)
    cells = grid.locate(np.ones((9, 9), dtype=bool))
    columns = number_cells(grid.size, cells)
    rows = np.repeat(cells, 4)  # more than the least room holds
    total = 4 * (81 + 4 * 72)  # each with itself, and two for each of 144 neighbours
    made = links_of_rows(rows, columns, near, 0, steps, around.costs, total)
    assert made.other.size == total
    assert made.other.base.size == made.cost.base.size == total + steps.size
    assert links_of_rows(rows, columns, near, 0, steps, around.costs, total - 1) is None


@pytest.mark.parametrize("count", [0, 1, 30])
def test_columns_that_are_reached_are_counted_once(count):
    other = np.random.default_rng(count).integers(0, 20, count).astype(np.int32)
    links = Links(np.array([0, count]), other, np.zeros(count, dtype=np.int32))
    assert count_reached(links, 25) == np.unique(other).size
