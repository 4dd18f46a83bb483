"""The number of pairs of the exact matching, counted without making it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from edgecritic.assignment import counting
from edgecritic.assignment.counting import PairCounter
from edgecritic.kernels.cardinality import (
    Prices,
    bid,
    enlarge,
    excess_cost,
    exchange,
    new_board,
    part_excess,
    place_columns,
    plain_excess,
)
from edgecritic.kernels.grid import Grid, ball
from edgecritic.kernels.ranks import nearest_ranks, shared_bits
from edgecritic.kernels.state import ALONE
from edgecritic.kernels.windows import bits_of, nearest_set, windows_of
from edgecritic.matching import match

pytestmark = pytest.mark.kernels


TOLERANCES = [1.0, 2.5, 4.0]


def counts(one: np.ndarray, other: np.ndarray, tolerances: list[float]) -> list[int]:
    around = ball(tolerances[-1], (1.0, 1.0))
    grid = Grid.around(one.shape, around.radii)
    counter = PairCounter(grid, around, tolerances, (1.0, 1.0))
    maps = counter.locate(one), counter.locate(other)
    return counter.count(*maps, counter.reached(*maps), counter.reached(*maps[::-1]))


class Problem:
    """Two maps, what the kernels need of them, and the same as matrices: distance, links, costs."""

    def __init__(self, rows: np.ndarray, columns: np.ndarray) -> None:
        around = ball(TOLERANCES[-1], (1.0, 1.0))
        self.grid = Grid.around(rows.shape, around.radii)
        below = [int((around.distances <= t).sum()) for t in TOLERANCES]
        self.near = windows_of(self.grid, around, below)
        self.cost = around.costs
        self.rows, self.columns = self.grid.locate(rows), self.grid.locate(columns)
        self.board = new_board(self.grid)
        place_columns(self.board, self.columns, bits_of(self.grid.embed(columns)))
        self.mate = np.full(self.rows.size, -1)
        places = [np.argwhere(one).reshape(-1, 2) for one in (rows, columns)]
        apart = np.sqrt(((places[0][:, None] - places[1]) ** 2).sum(axis=2))
        self.costs = np.floor(100 * apart + 0.5).astype(int)
        self.links = [apart <= t for t in TOLERANCES]

    def enlarge(self, level: int) -> int:
        return enlarge(self.rows, self.near, level, self.board, self.mate)

    def pairs(self, level: int) -> list[tuple[int, int]]:
        """The pairs, checked: they are links, and both sides know of them."""
        numbers = {cell: number for number, cell in enumerate(self.columns)}
        found = [(row, numbers[cell]) for row, cell in enumerate(self.mate) if cell >= 0]
        assert len({column for _, column in found}) == len(found)
        for row, column in found:
            assert self.links[level][row, column]
            assert self.board.owner[self.columns[column]] == row
        return found

    def least(self, level: int, size: int) -> int:
        """The least cost of so many pairs: SciPy, with columns that cost more than any matching saves."""
        from scipy.optimize import linear_sum_assignment

        n, m = self.links[level].shape
        table = np.full((n, m + n - size), 10**6)
        table[:, :m] = np.where(self.links[level], self.costs, 10**6)
        table[:, m:] = 0
        rows, columns = linear_sum_assignment(table)
        return int(table[rows, columns].sum())


@settings(max_examples=25)
@given(*[arrays(np.bool_, (9, 13), elements=st.booleans()) for _ in range(2)])
def test_counts_are_those_of_the_exact_matching(one, other):
    exact = [match(one, other, tolerance=t).tp for t in TOLERANCES]
    assert counts(one, other, TOLERANCES) == counts(other, one, TOLERANCES) == exact


def test_a_chain_that_costs_too_much_is_not_made(monkeypatch):
    """A row of n pixels moved by one: n pairs exist, but cost n pixels more than n − 1; at most 100·t."""
    solved = []
    real = counting.solve
    monkeypatch.setattr(counting, "solve", lambda *given: solved.append(1) or real(*given))
    for n, pairs in ((90, 90), (100, 100), (101, 100), (150, 149)):
        one, other = np.zeros((2, 3, 160), bool)
        one[1, :n] = other[1, 1 : n + 1] = True
        assert counts(one, other, [1.0]) == [pairs] == [match(one, other, tolerance=1).tp]
    assert solved, "no case has needed the solver, so none has tested when it is called"


def test_a_chain_is_made_if_it_costs_as_much_as_it_is_worth_though_another_must_be_solved():
    one, other = np.zeros((2, 9, 160), bool)
    for row, n in ((1, 150), (6, 100)):
        one[row, :n] = other[row, 1 : n + 1] = True
    assert counts(one, other, [1.0, 2.0]) == [149 + 100, 250]


def test_what_bids_leave_is_where_the_next_tolerance_begins():
    rng = np.random.default_rng(3)
    one, other = rng.random((2, 12, 160)) < 0.4
    row = rng.integers(1, 11)
    one[row, :150] = other[row, 1:151] = True
    tolerances = [1.0, 1.5, 3.0]
    assert counts(one, other, tolerances) == [match(one, other, tolerance=t).tp for t in tolerances]


maps = arrays(np.bool_, (6, 8), elements=st.booleans())


@settings(max_examples=25)
@given(maps, maps)
def test_the_largest_matching_has_the_size_of_scipys(rows, columns):
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    problem = Problem(rows, columns)
    before = problem.board.there.copy()
    for level, links in enumerate(problem.links):
        found = maximum_bipartite_matching(csr_array(links.astype(int)), perm_type="column")
        assert problem.enlarge(level) == np.count_nonzero(found >= 0) == len(problem.pairs(level))
        taken = bits_of(np.isin(np.arange(problem.grid.size), problem.mate))
        assert np.array_equal(problem.board.there, before)
        assert np.array_equal(problem.board.free, before ^ taken)


@settings(max_examples=25)
@given(maps, maps, st.integers(0, 2), st.integers(0, 400), st.booleans())
def test_the_last_pair_costs_no_more_than_the_limits(rows, columns, level, limit, bids):
    check_limits(rows, columns, level, limit, bids)


@pytest.mark.parametrize("bids", [False, True])
def test_limits_are_those_of_the_part_where_they_are_highest(bids):
    parts = [
        check_limits(*(np.random.default_rng(seed).random((2, 12, 40)) < 0.07), level, 200, bids)
        for seed in range(6)
        for level in (1, 2)
    ]
    assert max(parts) >= 3


def check_limits(rows: np.ndarray, columns: np.ndarray, level: int, limit: int, bids: bool) -> int:
    """Compare the limits with what SciPy finds; return how many parts cost more than need be."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    problem = Problem(rows, columns)
    if bids:
        bid(
            problem.rows,
            problem.columns,
            problem.near,
            level,
            problem.board,
            problem.mate,
            problem.cost,
            limit,
        )
        problem.pairs(level)
    size = problem.enlarge(level)
    if size == 0:
        return 0
    links, costs = problem.links[level], problem.costs
    last = problem.least(level, size) - problem.least(level, size - 1)
    found = excess_cost(
        *(problem.rows, problem.columns, problem.near, level, problem.board, problem.mate, problem.cost)
    )
    assert found >= last
    value = np.where(links, costs - problem.board.price[problem.columns], 10**9)
    lowest = value.min(axis=1)
    n, m = links.shape
    graph = np.zeros((n + m, n + m), bool)
    graph[:n, n:] = links
    parts = connected_components(csr_array(graph), directed=False)[1]
    total = np.zeros(n + m)
    for row, column in problem.pairs(level):
        total[parts[row]] += value[row, column] - lowest[row]
    assert found == max(lowest[row] for row, _ in problem.pairs(level)) + total.max()
    if bids:
        return int(np.count_nonzero(total))
    plain, part = plain_excesses(problem, rows, columns, level)
    near = np.where(links, costs, 10**9)
    more = np.zeros((2, n + m))
    for row, column in problem.pairs(level):
        own = costs[row, column]
        more[:, parts[row]] += own - near[row].min(), own - near[:, column].min()
    assert plain == more.sum(axis=1).min()
    assert part == more.min(axis=0).max()
    assert plain + near[links].max() >= part + near[links].max() >= last
    return int(np.count_nonzero(more.min(axis=0)))


def plain_excesses(problem: Problem, rows: np.ndarray, columns: np.ndarray, level: int) -> list[int]:
    around = ball(TOLERANCES[-1], (1.0, 1.0))
    steps = problem.grid.flat_offsets(around.offsets)
    of_step = np.zeros(2 * steps.max() + 1, np.int64)
    of_step[steps + steps.max()] = around.costs
    counter = PairCounter(problem.grid, around, TOLERANCES, (1.0, 1.0))
    prices = Prices(around.costs, of_step, *[counter.locate(one).ranks for one in (columns, rows)])
    bits = bits_of(problem.grid.embed(rows))
    part = part_excess(problem.rows, bits, problem.mate, problem.near, level, problem.board, prices)
    return [plain_excess(problem.rows, problem.mate, prices), part]


@pytest.mark.parametrize(
    ("places", "limit", "prices", "mates"),
    [
        ((1, 3), 350, [-250, -50], [2, 6]),  # the second has another choice, which is 50 cheaper than none
        ((1, 3), 250, [-150, 0], [2, -1]),
        ((1, 3), 99, [0, 0], [-1, -1]),
        ((1, 2), 350, [-350, 0], [-1, 2]),  # the second drives the first out, which gives up
    ],
)
def test_bids_raise_prices_to_the_second_choice(places, limit, prices, mates):
    rows, columns = np.zeros((2, 1, 8), bool)
    rows[0, list(places)] = columns[0, [2, 6]] = True
    problem = Problem(rows, columns)
    bid(problem.rows, problem.columns, problem.near, 2, problem.board, problem.mate, problem.cost, limit)
    assert problem.board.price[problem.columns].tolist() == prices
    begin = problem.columns[0] - 2
    assert problem.mate.tolist() == [begin + mate if mate >= 0 else -1 for mate in mates]


@pytest.mark.parametrize(("shape", "radius"), [((9, 11), 4.0), ((5, 300), 70.0), ((4, 5, 6), 3.0)])
def test_windows_find_the_nearest_pixel_as_a_look_at_all_does(shape, radius):
    rng = np.random.default_rng(5)
    around = ball(radius, (1.0,) * len(shape))
    grid = Grid.around(shape, around.radii)
    below = [int((around.distances <= limit).sum()) for limit in (radius / 2, radius)]
    near = windows_of(grid, around, below)
    assert set(near.number.ravel()) == set(range(below[1]))
    for share in (0.01, 0.1):
        cells = grid.embed(rng.random(shape) < share)
        for here in grid.locate(rng.random(shape) < 20 / cells.size):
            for level, limit in enumerate(below):
                set_ones = np.flatnonzero(cells[here + grid.flat_offsets(around.offsets[:limit])])
                wanted = here + grid.flat_offsets(around.offsets[set_ones[:1]])
                mask = near.mask[level, : near.used[level]]
                found = nearest_set(bits_of(cells), here, near.step, near.number, near.least, mask)
                assert [found] == [*wanted, -1][:1]


@settings(max_examples=25)
@given(arrays(np.bool_, (6, 9), elements=st.booleans()))
def test_ranks_are_those_of_scipys_distances(mask):
    from scipy.ndimage import distance_transform_edt

    around = ball(3.0, (1.0, 1.0))
    grid = Grid.around(mask.shape, around.radii)
    numbers = np.searchsorted(around.distances, around.distances).astype(np.uint16)
    ranks = nearest_ranks(grid.size, grid.locate(mask), grid.flat_offsets(around.offsets), numbers)
    inside = ranks.reshape(grid.padded)[3:-3, 3:-3]
    far = np.full(mask.shape, np.inf) if not mask.any() else distance_transform_edt(~mask)
    assert np.array_equal(inside == around.distances.size, far > 3)
    near = inside < around.distances.size
    assert np.allclose(around.distances[inside[near]], far[near])


def test_shared_bits_are_counted_row_by_row():
    one, two = np.random.default_rng(3).integers(0, 2, (2, 4, 320)).astype(bool)
    words = [np.packbits(table, axis=1).view(np.uint64) for table in (one, two)]
    assert shared_bits(*words).tolist() == (one & two).sum(axis=1).tolist()


def test_more_offsets_than_sixteen_bits_can_number():
    """A tolerance of 150 px has 70,681 offsets; pixels beyond it would look near."""
    one, other, apart = (np.zeros((3, 500), bool) for _ in range(3))
    one[0, [0, 7, 200]] = other[2, [149, 152, 499]] = apart[2, 451] = True
    around = ball(150.0, (1.0, 1.0))
    counter = PairCounter(Grid.around(one.shape, around.radii), around, [148.5, 150.0], (1.0, 1.0))
    for far, sizes in ((apart, [0, 0]), (other, [2, 3])):
        assert counter.reached(counter.locate(one), counter.locate(far)).sizes.tolist() == sizes


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_exchanges_keep_the_pairs_and_cost_no_more(seed):
    rng = np.random.default_rng(seed)
    shape = (8, 9)
    around = ball(3.0, (1.0, 1.0))
    grid = Grid.around(shape, around.radii)
    counter = PairCounter(grid, around, [3.0], (1.0, 1.0))
    rows, columns = (grid.locate(rng.random(shape) < 0.4) for _ in range(2))
    cells = np.zeros(grid.size, dtype=bool)
    cells[columns] = True
    place_columns(counter._board, columns, bits_of(cells))
    mate = np.full(rows.size, ALONE, dtype=np.int64)
    size = enlarge(rows, counter._near, 0, counter._board, mate)
    costs = dict(zip(grid.flat_offsets(around.offsets).tolist(), around.costs.tolist(), strict=True))

    def cost():
        matched = mate != ALONE
        assert np.count_nonzero(matched) == np.unique(mate[matched]).size == size
        return sum(costs[step] for step in (mate[matched] - rows[matched]).tolist())

    before = cost()
    exchange(
        rows, counter._near, 0, around.costs.size, counter._board, mate, around.costs, counter._number_of
    )
    assert cost() <= before
    owners = {int(column): row for row, column in enumerate(mate.tolist()) if column != ALONE}
    assert {int(c): int(counter._board.owner[c]) for c in columns} == {
        int(c): owners.get(int(c), ALONE) for c in columns
    }
