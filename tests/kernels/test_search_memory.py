"""Searches of the exact solver with as little memory as may be: overtaken entries must make room."""

from __future__ import annotations

import numpy as np
import pytest

import edgecritic
from edgecritic.assignment import solver
from edgecritic.assignment.dynamic import ExactState
from edgecritic.kernels import changing, heap, search

pytestmark = pytest.mark.kernels


@pytest.fixture
def tight(monkeypatch):
    """A heap for one entry per node and one that is being added; a list for twice as many."""
    roomy = search.new_search

    def small(nodes):
        made = roomy(nodes)
        most = {"heap_key": nodes + 1, "heap_node": nodes + 1, "far_key": 2 * nodes, "far_node": 2 * nodes}
        return made._replace(**{name: getattr(made, name)[:size].copy() for name, size in most.items()})

    def tighten():
        for user in (solver, changing):
            monkeypatch.setattr(user, "new_search", small)

    return tighten


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("shape", "tolerance"), [((14, 15), 6.0), ((5, 6, 7), 3.5)])
def test_little_memory_changes_nothing(tight, shape, tolerance, seed):
    rng = np.random.default_rng(seed)
    candidate, truth = rng.random((2, *shape)) < rng.choice([0.2, 0.4, 0.6], (2, *[1] * len(shape)))
    expected = edgecritic.match(candidate, truth, strategy="exact", tolerance=tolerance)
    state = ExactState([truth], tolerance=tolerance, universe=candidate)
    pixels = rng.permutation(np.flatnonzero(candidate))
    tight()
    found = edgecritic.match(candidate, truth, strategy="exact", tolerance=tolerance)
    assert found.tp == expected.tp
    assert found.distances.sum() == pytest.approx(expected.distances.sum())
    for each in (state, ExactState([truth], tolerance=tolerance, universe=candidate)):
        for part in np.array_split(pixels, 5):
            each.update(added=part)
        assert each.matches == each.matched_pixels == expected.tp


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
