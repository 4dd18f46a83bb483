"""Searches of the exact solver with as little memory as may be: overtaken entries must make room."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import edgecritic
from edgecritic.assignment.dynamic import ExactState
from edgecritic.kernels import _jit, changing, heap, search
from edgecritic.kernels.assign import add
from edgecritic.kernels.links import Links
from edgecritic.kernels.state import ALONE, FAR, new_state

pytestmark = pytest.mark.kernels


@pytest.fixture
def tight(monkeypatch):
    """A heap for one entry per node and one that is being added; a list for twice as many."""
    roomy = search.new_search

    def small(nodes):
        made = roomy(nodes)
        most = {"heap_key": nodes + 1, "heap_node": nodes + 1, "far_key": 2 * nodes, "far_node": 2 * nodes}
        return made._replace(**{name: getattr(made, name)[:size].copy() for name, size in most.items()})

    monkeypatch.setattr(changing, "new_search", small)
    return small


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("shape", "tolerance"), [((14, 15), 6.0), ((5, 6, 7), 3.5)])
@pytest.mark.usefixtures("tight")
def test_little_memory_changes_nothing(monkeypatch, shape, tolerance, seed):
    """Memory is made inside a kernel, which must be plain Python to take what the test gives it."""
    rng = np.random.default_rng(seed)
    candidate, truth = rng.random((2, *shape)) < rng.choice([0.2, 0.4, 0.6], (2, *[1] * len(shape)))
    expected = edgecritic.match(candidate, truth, strategy="exact", tolerance=tolerance)
    monkeypatch.setattr(_jit._mode, "plain", True)
    state = ExactState([truth], tolerance=tolerance, universe=candidate)
    for part in np.array_split(rng.permutation(np.flatnonzero(candidate)), 5):
        state.update(added=part)
    assert state.matches == state.matched_pixels == expected.tp


@pytest.mark.parametrize("seed", range(12))
def test_rows_are_added_with_little_memory(tight, seed):
    """Every row is linked with every column, so that lists are full; SciPy knows the sum."""
    rng = np.random.default_rng(seed)
    size = 9
    costs = rng.integers(0, 99, (size, size))
    order = np.argsort(costs, axis=1)
    cheapest_first = np.take_along_axis(costs, order, axis=1).astype(np.int32)
    links = Links(np.arange(0, size * size + 1, size), order.ravel().astype(np.int32), cheapest_first.ravel())
    state = new_state(np.full(size, 1000), np.zeros(size, dtype=np.int64), 1)
    memory = tight(size)
    for row in rng.permutation(size):
        assert add(links, state, memory, row) == ALONE
        assert (memory.arrival == FAR).all()
    best = linear_sum_assignment(costs)
    assert costs[np.arange(size), state.rows.mate].sum() == costs[best].sum()


@pytest.mark.parametrize("seed", range(4))
def test_a_tidied_heap_holds_what_was_not_overtaken(seed):
    rng = np.random.default_rng(seed)
    price = rng.integers(-50, 50, 12)
    arrival = price + rng.integers(0, 99, 12)
    nodes = np.concatenate([rng.permutation(12), rng.integers(0, 12, 9)]).astype(np.int32)
    keys = arrival[nodes] - price[nodes]
    keys[12:] += rng.integers(1, 30, 9)  # offers that came before the best one
    shuffled = rng.permutation(nodes.size)
    keys, nodes = keys[shuffled], nodes[shuffled]
    kept = heap.tidy(keys, nodes, nodes.size, arrival, price)
    assert kept == 12
    np.testing.assert_array_equal(np.sort(nodes[:kept]), np.arange(12))
    np.testing.assert_array_equal(keys[:kept], arrival[nodes[:kept]] - price[nodes[:kept]])
    assert all(keys[(place - 1) // 2] <= keys[place] for place in range(1, kept))
