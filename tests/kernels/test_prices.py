"""The prices of the exact solver prove its matching best, after whatever changes."""

from __future__ import annotations

import importlib
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import edgecritic
from edgecritic.assignment.solver import empty_state, solved
from edgecritic.kernels import assign, auction
from edgecritic.kernels.changing import new_changing, sweep
from edgecritic.kernels.links import Groups, Links, WebOfLinks, from_columns
from edgecritic.kernels.state import ABSENT, ALONE, FAR, new_state

pytestmark = pytest.mark.kernels

FEW = settings(max_examples=30 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 300)


def check_prices(links, state):
    """Say what `edgecritic.kernels.state` promises, link by link and node by node, in plain Python."""
    rows, columns = state.rows, state.columns
    for row, column in enumerate(rows.mate.tolist()):
        assert column in (ABSENT, ALONE) or columns.mate[column] == row
        if column == ABSENT:
            continue
        near = slice(links.start[row], links.start[row + 1])
        reduced = {
            other: cost * int(state.scale) - int(rows.price[row]) - int(columns.price[other])
            for other, cost in zip(links.other[near].tolist(), links.cost[near].tolist(), strict=True)
        }
        assert all(left >= 0 for left in reduced.values())
        assert column == ALONE or reduced[column] == 0
    for side in (rows, columns):
        for mate, price, alone in zip(*(each.tolist() for each in side[:3]), strict=True):
            assert price <= side.price_limit
            if mate != ABSENT:
                assert price == alone if mate == ALONE else price <= alone
    for column, row in enumerate(columns.mate.tolist()):
        assert row == ALONE or rows.mate[row] == column


def links_of(costs):
    """Return the links of the rows of a matrix in which −1 stands for no link."""
    found = [sorted((cost, at) for at, cost in enumerate(row) if cost >= 0) for row in costs.tolist()]
    return Links(
        np.cumsum([0, *map(len, found)], dtype=np.int64),
        np.array([at for row in found for _, at in row], dtype=np.int32),
        np.array([cost for row in found for cost, _ in row], dtype=np.int32),
    )


@st.composite
def problems(draw):
    """Costs of links, the state without any row, and a source of random numbers."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    highest = draw(st.sampled_from([1, 6, 300]))
    costs = np.where(
        rng.random(shape) < draw(st.sampled_from([0.3, 0.6, 1.0])), rng.integers(0, highest, shape), -1
    )
    scale = draw(st.sampled_from([1, 8]))  # 1: no room for hashes, so that ties are many
    alone = draw(st.sampled_from([1, 4, 900])) * scale
    rows, columns = (rng.integers(0, scale, size) for size in shape)
    return costs, new_state(alone + rows, -columns, scale), rng


@FEW
@given(problems(), st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_prices_prove_the_matching_after_every_update(problem, shares):
    """Each pixel with links has one row here; at every step a random part of the pixels is wanted."""
    costs, everyone, rng = problem
    count = len(costs)
    linked = np.flatnonzero((costs >= 0).any(axis=1)).astype(np.int32)
    near = costs[linked]
    state = new_state(everyone.rows.alone[linked], everyone.columns.alone, int(everyone.scale))
    web = WebOfLinks(links_of(near), links_of(near.T), linked, np.array([0, linked.size]))
    changing = new_changing(web, state, count)
    present = np.zeros(count, dtype=bool)
    for share in shares:
        wanted = rng.random(count) < share
        new, gone = (rng.permutation(np.flatnonzero(part)) for part in (wanted & ~present, present & ~wanted))
        groups = (Groups(np.array([0, part.size]), part.astype(np.int32)) for part in (new, gone))
        counts = sweep(changing, *groups)
        present = wanted
        np.testing.assert_array_equal(changing.present, present)
        np.testing.assert_array_equal(state.rows.mate != ABSENT, present[linked])
        check_prices(web.rows, state)
        assert counts.tolist() == [[np.count_nonzero(state.rows.mate >= 0)] * 2]
        np.testing.assert_array_equal(changing.partners[linked], state.rows.mate >= 0)


@FEW
@given(problems())
def test_prices_prove_the_matching_of_all_rows_at_once(problem):
    costs, state, _ = problem
    links = links_of(costs)
    optimum = assign.solve(links, state.rows.alone, state.columns.alone, int(state.scale))
    assign.solve_by_auction(links, state)
    for found in (optimum, state):
        assert (found.rows.mate != ABSENT).all()
        check_prices(links, found)


@pytest.fixture
def problem_of(monkeypatch):
    """Return the links and an empty state of the problem that `match` solves."""

    def problem(candidate, truth, tolerance):
        caught = []
        strategy = importlib.import_module("edgecritic.matching.exact")

        def catch(links, *problem, **options):
            caught.append((links, empty_state(*problem, **options)))
            return solved(links, *problem, **options)

        monkeypatch.setattr(strategy, "solved", catch)
        edgecritic.match(candidate, truth, strategy="exact", tolerance=tolerance)
        return caught[0]

    return problem


@pytest.mark.parametrize("halves", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_an_auction_ends_with_the_same_pixels(problem_of, seed, halves, monkeypatch):
    """By searches alone and after an auction; and the prices prove that both are the optimum.

    Two halves may bid at the same time, as on large problems.
    """
    rng = np.random.default_rng(seed)
    densities = rng.choice([0.1, 0.3, 0.5, 0.8], (2, 1, 1))
    candidate, truth = rng.random((2, 9, 11)) < densities
    if seed % 4 == 0:
        candidate = np.indices((9, 11)).sum(axis=0) % 2 == 0
        truth = ~candidate
    links, state = problem_of(candidate, truth, rng.choice([1.0, 2.0, 3.5]))
    again = new_state(state.rows.alone, state.columns.alone, int(state.scale))
    state = assign.solve(links, state.rows.alone, state.columns.alone, int(state.scale))
    if halves:
        for module in (assign, auction):
            monkeypatch.setattr(module, "MANY_ROWS", 1)
        monkeypatch.setattr(auction, "_FEW_BIDDERS", 1)
    assign.solve_by_auction(links, again)
    np.testing.assert_array_equal(again.rows.mate >= 0, state.rows.mate >= 0)
    np.testing.assert_array_equal(again.columns.mate >= 0, state.columns.mate >= 0)
    check_prices(links, again)


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow without the compiler")
def test_rows_of_thick_shells_do_not_give_up(problem_of):
    """Two shells as far apart as the tolerance: every voxel has a partner, many after long chains."""
    places = np.indices((30, 30, 30)) - 15.0
    first, second = (
        np.abs(np.linalg.norm(places - np.reshape([shift, 0, 0], (3, 1, 1, 1)), axis=0) - 10) < 3
        for shift in (0, 2)
    )
    links, state = problem_of(first, second, 2.0)
    rows, columns = state.rows, state.columns

    def given_up():
        """Count columns that are left at a low price, but for those of rows that come back."""
        owed = (columns.mate == ALONE) & (columns.price < columns.alone.min())
        return np.count_nonzero(owed) - np.count_nonzero(rows.mate == ABSENT)

    auction._hold_rounds(links, state, *auction._PLANS[0], None)
    assert given_up() > 100
    auction.hold_auction(links, state)
    assert given_up() <= 10
    assign.solve_by_auction(links, state)
    weights = sparse.csr_array(
        (links.cost + 1.0, links.other, links.start), (rows.mate.size, columns.mate.size)
    )
    paid = weights[sparse.csgraph.min_weight_full_bipartite_matching(weights)].sum() - rows.mate.size
    partner = np.repeat(rows.mate, np.diff(links.start))
    assert (rows.mate >= 0).all()
    assert links.cost[links.other == partner].sum() == paid


def test_one_auction_is_enough_for_crowds_without_long_chains(problem_of, monkeypatch):
    """Rows that gave up in the end and come back are no reason for another."""
    links, state = problem_of(*(np.random.default_rng(0).random((2, 12, 12, 12)) < 0.3), 1.5)
    held, hold = [], auction._hold_rounds

    def counted(*problem):
        held.append(problem[2])
        return hold(*problem)

    monkeypatch.setattr(auction, "_hold_rounds", counted)
    auction.hold_auction(links, state)
    assert held == [3]


@pytest.mark.parametrize("seed", range(40))
def test_rows_that_left_come_back_to_the_same_pixels(problem_of, seed):
    """They drive out others with smaller and with larger numbers, some of which then have to search."""
    rng = np.random.default_rng(seed)
    links, state = problem_of(*(rng.random((2, 9, 11)) < rng.choice([0.3, 0.5])), 3.5)
    state = assign.solve(links, state.rows.alone, state.columns.alone, int(state.scale))
    rows, columns = state.rows, state.columns
    matched = [side.mate >= 0 for side in (rows, columns)]
    leaving = np.flatnonzero(matched[0] & (rng.random(rows.mate.size) < 0.5))
    columns.mate[rows.mate[leaving]] = ALONE
    rows.mate[leaving] = ABSENT
    assign._bid_and_add(links, state, FAR)
    assign._settle_owed(from_columns(links, columns.mate.size), state)
    check_prices(links, state)
    for side, expected in zip((rows, columns), matched, strict=True):
        np.testing.assert_array_equal(side.mate >= 0, expected)


@pytest.mark.parametrize("shift", [0, 1])
def test_no_column_is_wanted_by_rows_of_both_halves(problem_of, shift):
    """And the rows in between are those that may want a column of both."""
    rng = np.random.default_rng(shift)
    links, state = problem_of(*(rng.random((2, 12, 40)) < 0.3), 2.0)
    rows = links.start.size - 1
    half_of = auction._half_of_rows(links, state.columns.mate.size, shift)
    quarter = np.arange(rows) * 4 // rows
    plain = quarter // 2 if shift == 0 else (quarter == 1) | (quarter == 2)
    wanted = [set(links.other[slice(*links.start[row : row + 2])].tolist()) for row in range(rows)]
    of_half = [set().union(*(wanted[row] for row in np.flatnonzero(plain == half))) for half in (0, 1)]
    for row in range(rows):
        assert half_of[row] == (2 if wanted[row] & of_half[0] & of_half[1] else plain[row])
    assert set(half_of.tolist()) == {0, 1, 2}


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow without the compiler")
def test_a_checkerboard_against_its_inverse_needs_few_visits(problem_of, monkeypatch):
    """Every domino tiling is optimal; the searches must not look through all of them."""
    candidate = np.indices((321, 321)).sum(axis=0) % 2 == 0
    links, state = problem_of(candidate, ~candidate, 2.0)
    visits = []

    def counting(kernel):
        def count(*args):
            found = kernel(*args)
            visits.append(found[-1])
            return found

        return count

    for name in ("_begin", "_bid_and_add"):
        monkeypatch.setattr(assign, name, counting(getattr(assign, name)))
    state = assign.solve(links, state.rows.alone, state.columns.alone, int(state.scale))
    assert np.count_nonzero(state.rows.mate >= 0) == candidate.size // 2
    assert sum(visits) < 4 * state.rows.mate.size
