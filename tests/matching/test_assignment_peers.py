"""The optimal assignments of SciPy (`hungarian`) and OR-Tools (`csa`)."""

from __future__ import annotations

import importlib
import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from edgecritic import match
from edgecritic.assignment.graph import build_graph
from edgecritic.assignment.pair import Pair
from edgecritic.errors import EdgeCriticError, InputError, MissingExtraError
from edgecritic.matching.csa import assign_by_cost_scaling


def peers():
    try:
        import ortools  # noqa: F401
    except ImportError:
        return ["hungarian"]
    return ["hungarian", "csa"]


def worked_example():
    truth, candidate = np.zeros((2, 10, 12), bool)
    truth[4, 2:10] = True
    candidate[4, 2:5] = candidate[5, 5:8] = candidate[1, 10] = True
    return candidate, truth


def total(found, limit, spacing):
    """Σ round(100·d) + ow·(unmatched candidates), in units of the smallest pixel side."""
    unit = min(spacing)
    alone = int(found.candidate.sum()) - found.tp
    return int(np.floor(100 * found.distances / unit + 0.5).sum()) + alone * max(
        1, math.ceil(1e4 * limit / unit)
    )


def dense_total(candidate, truth, spacing, limit, window=None):
    """Solve the whole problem in one matrix in which each candidate has a dummy of its own."""
    first, second = np.argwhere(candidate), np.argwhere(truth)
    steps = first[:, None] - second[None]
    lengths = np.sqrt(((steps * np.asarray(spacing)) ** 2).sum(axis=2))
    near = lengths <= limit + 1e-9 if window is None else (np.abs(steps) <= window // 2).all(axis=2)
    far = 1e12
    alone = np.full((len(first), len(first)), far)
    np.fill_diagonal(alone, max(1, math.ceil(1e4 * limit / min(spacing))))
    matrix = np.hstack([np.where(near, np.floor(100 * lengths / min(spacing) + 0.5), far), alone])
    return int(matrix[linear_sum_assignment(matrix)].sum())


@st.composite
def cases(draw):
    shape = draw(st.sampled_from([(9, 8), (4, 5, 4), (1, 13), (6, 1, 7)]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    densities = draw(st.tuples(*[st.sampled_from([0.05, 0.2, 0.5])] * 2))
    spacing = draw(
        st.sampled_from([(1.0,) * len(shape), (2.0, 1.0, 1.5)[: len(shape)], (0.25, 0.5, 0.25)[: len(shape)]])
    )
    return rng.random(shape) < densities[0], rng.random(shape) < densities[1], spacing


@pytest.mark.parametrize("peer", peers())
@pytest.mark.parametrize("tolerance, pairs, f", [(1, 6, 0.8), (2.5, 6, 0.8), (5, 7, 14 / 15)])
def test_worked_example(peer, tolerance, pairs, f):
    found = match(*worked_example(), strategy=peer, tolerance=tolerance)
    assert (found.tp, found.fp, found.fn) == (pairs, 7 - pairs, 8 - pairs)
    assert found.f() == pytest.approx(f, abs=1e-12)
    assert found.tolerance == tolerance


@given(cases(), st.sampled_from([0.0, 1.0, 1.5, 2.5, 4.0]))
@settings(max_examples=80)
def test_radius_reaches_the_optimum(case, limit):
    candidate, truth, spacing = case
    best = dense_total(candidate, truth, spacing, limit)
    for peer in peers():
        found = match(candidate, truth, strategy=peer, tolerance=limit, spacing=spacing)
        assert total(found, limit, spacing) == best
        assert_one_to_one(found, limit)


@given(cases(), st.sampled_from([3, 5]))
@settings(max_examples=50)
def test_window_reaches_the_optimum(case, window):
    candidate, truth, spacing = case
    limit = window // 2 * math.sqrt(sum(size**2 for size in spacing))
    best = dense_total(candidate, truth, spacing, limit, window)
    for peer in peers():
        found = match(candidate, truth, strategy=f"{peer}(window={window})", spacing=spacing)
        assert total(found, limit, spacing) == best
        assert_one_to_one(found, limit)
        assert (np.abs(found.pairs[:, 0] - found.pairs[:, 1]) <= window // 2).all()


def assert_one_to_one(found, limit):
    for side, mask in ((0, found.candidate), (1, found.truth)):
        places = found.pairs[:, side]
        assert len(np.unique(places, axis=0)) == len(places) == found.tp
        assert mask[tuple(places.T)].all()
    assert (found.distances <= limit + 1e-9).all()


@given(cases())
@settings(max_examples=40)
def test_hits_first(case):
    candidate, truth, spacing = case
    hits = candidate & truth
    limit = 2.5
    rest = dense_total(candidate & ~hits, truth & ~hits, spacing, limit)
    for peer in peers():
        found = match(
            candidate, truth, strategy=f"{peer}(remove_hits=True)", tolerance=limit, spacing=spacing
        )
        assert (found.distances == 0).sum() == hits.sum()
        assert total(found, limit, spacing) == rest


@pytest.mark.parametrize("peer", peers())
def test_greedy_never_pairs_more(peer):
    rng = np.random.default_rng(2)
    candidate, truth = rng.random((2, 40, 40)) < 0.12
    best = match(candidate, truth, strategy=f"{peer}(window=5)").tp
    assert match(candidate, truth, strategy="eps").tp < best
    assert match(candidate, truth, strategy="closest").tp < best


@pytest.mark.parametrize("peer", peers())
def test_a_long_chain_is_pushed_only_while_it_pays(peer):
    """A row shifted by one pixel is matched fully while its n·100 is at most ow = 10⁴·t."""
    for length, expected in [(99, 99), (100, 100), (101, 100)]:
        row = np.zeros((1, length + 1), bool)
        row[0, :-1] = True
        found = match(row[:, ::-1].copy(), row, strategy=peer, tolerance=1)
        assert found.tp == expected


@pytest.mark.parametrize("strategy", ["exact", *peers()])
@pytest.mark.parametrize(("straight", "diagonal", "pairs"), [(64, 61, 124), (9, 100, 109), (150, 0, 150)])
def test_a_chain_is_pushed_to_the_last_hundredth_that_pays(strategy, straight, diagonal, pairs):
    """Steps cost 100 and 141 and a pixel alone 15000: of 64 and 61 steps, 15001, one pixel stays alone."""
    steps = np.array([(0, 1)] * straight + [(1, 1)] * diagonal)
    truth, candidate = np.zeros((2, diagonal + 1, straight + diagonal + 1), bool)
    places = np.concatenate([[(0, 0)], np.cumsum(steps, axis=0)])
    truth[tuple(places[:-1].T)] = candidate[tuple(places[1:].T)] = True
    assert (100 * straight + 141 * diagonal <= 15000) == (pairs == straight + diagonal)
    assert match(candidate, truth, strategy=strategy, tolerance=1.5).tp == pairs
    assert match(truth, candidate, strategy=strategy, tolerance=1.5).tp == pairs


def test_a_solver_that_finds_nothing_is_not_believed():
    class Lost:
        OPTIMAL, INFEASIBLE = 0, 1

        def add_arcs_with_cost(self, *arcs):
            pass

        def solve(self):
            return self.INFEASIBLE

        def right_mate(self, row):
            return row

    mask = np.eye(4, dtype=bool)
    with pytest.raises(EdgeCriticError, match="no assignment"):
        assign_by_cost_scaling(build_graph(Pair(mask, mask, (1.0, 1.0), 1.0)), Lost())


@pytest.mark.parametrize("peer", peers())
@pytest.mark.parametrize("shape", [(1, 1), (3, 4), (2, 3, 4)])
def test_empty_maps(peer, shape):
    empty, full = np.zeros(shape, bool), np.ones(shape, bool)
    full.setflags(write=False)
    assert match(empty, empty, strategy=peer).f() == 1
    assert match(empty, full, strategy=peer).fn == full.size
    assert match(full, empty, strategy=peer).fp == full.size
    assert match(full, full, strategy=peer, tolerance=0).tp == full.size


def test_pixels_at_one_place_are_linked_unless_they_are_taken_out():
    mask = np.eye(4, dtype=bool)
    pair = Pair(mask, mask, (1.0, 1.0), 1.0)
    graph, rest = build_graph(pair), build_graph(pair, remove_hits=True)
    assert (graph.hits.size, graph.rows.size, graph.costs.tolist()) == (0, 4, [0] * 4)
    assert (rest.hits.tolist(), rest.rows.size) == ([0, 5, 10, 15], 0)


def test_too_large_groups_are_refused(monkeypatch):
    module = importlib.import_module("edgecritic.matching.hungarian")
    assert module.MOST_BYTES == 1024**3  # as the message says
    monkeypatch.setattr(module, "MOST_BYTES", 8 * 50)
    with pytest.raises(InputError, match=r"hungarian would need 8 × 8 costs .* use the strategy exact"):
        match(np.ones((1, 8)), np.ones((1, 8)), strategy="hungarian", tolerance=3)
    monkeypatch.setattr(module, "MOST_BYTES", 8 * 8 * 8)
    assert match(np.ones((1, 8)), np.ones((1, 8)), strategy="hungarian", tolerance=3).tp == 8


def test_refusals():
    with pytest.raises(InputError, match="remove_hits must be True or False"):
        match(np.eye(3), np.eye(3), strategy="hungarian(remove_hits=yes)")
    with pytest.raises(InputError, match="window must be an odd whole number"):
        match(np.eye(3), np.eye(3), strategy="hungarian(window=2)")
    with pytest.raises(InputError, match="leave the tolerance out"):
        match(np.eye(3), np.eye(3), strategy="hungarian(window=5)", tolerance=2)
    with pytest.raises(InputError, match="can be searched"):
        match(np.eye(3), np.eye(3), strategy="hungarian", tolerance=1e6)


def test_missing_solver_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ortools.graph.python.linear_sum_assignment", None)
    with pytest.raises(MissingExtraError, match=r"the strategy csa needs .*edgecritic\[csa\]"):
        match(np.eye(3), np.eye(3), strategy="csa")
