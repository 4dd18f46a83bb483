"""What of a matching is unique, so that flips and transposes cannot change it, and what is not."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest

from edgecritic import match, score

pytestmark = pytest.mark.kernels

VIEWS = {
    "upside down": lambda mask: mask[::-1],
    "mirrored": lambda mask: mask[:, ::-1],
    "transposed": lambda mask: mask.T,
    "turned": lambda mask: np.rot90(mask),
}
RNG = np.random.default_rng(5)
DENSE = [RNG.random((2, 12, 14)) < density for density in (0.1, 0.25, 0.5) for _ in range(4)]
ROWS = RNG.random((60, 2, 1, 8)) < 0.45  # along a row many matchings cost the same
SMALL = [pair for pair in ROWS if pair.sum(axis=(1, 2)).min() >= 2 and pair.sum(axis=(1, 2)).max() <= 5]


def cost(found):
    """The sum of the distances in hundredths, each rounded, which the one-to-one strategies make least."""
    return int(np.rint(100 * found.distances).sum())


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("strategy", ["exact", "hungarian"])
def test_number_of_pairs_and_cost_are_unique(strategy, view):
    for candidate, truth in DENSE:
        found = match(candidate, truth, strategy=strategy, tolerance=2.5)
        turned = match(view(candidate), view(truth), strategy=strategy, tolerance=2.5)
        assert (turned.tp, turned.fp, turned.fn, cost(turned)) == (
            *(found.tp, found.fp, found.fn),
            cost(found),
        )
        assert (turned.precision, turned.recall, turned.f()) == (found.precision, found.recall, found.f())


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("strategy", ["distance", "validation", "area"])
def test_strategies_without_pairs_turn_with_the_maps(strategy, view):
    for candidate, truth in DENSE:
        found = match(candidate, truth, strategy=strategy, tolerance=2.5)
        turned = match(view(candidate), view(truth), strategy=strategy, tolerance=2.5)
        np.testing.assert_array_equal(turned.matched_candidate, view(found.matched_candidate))
        np.testing.assert_array_equal(turned.matched_truth, view(found.matched_truth))
        assert (turned.tp, turned.fp, turned.fn) == (found.tp, found.fp, found.fn)


def optima(candidate, truth, tolerance):
    """All one-to-one matchings of least cost and then most pairs, as lists of distances; by trying all."""
    rows, columns = np.argwhere(candidate), np.argwhere(truth)
    alone = math.ceil(1e4 * tolerance)
    found = {}
    for chosen in itertools.product((*range(len(columns)), None), repeat=len(rows)):
        taken = [column for column in chosen if column is not None]
        distances = [
            math.dist(row, columns[column])
            for row, column in zip(rows, chosen, strict=True)
            if column is not None
        ]
        if len(set(taken)) == len(taken) and all(distance <= tolerance for distance in distances):
            total = sum(round(100 * distance) for distance in distances)
            rank = total + alone * (len(rows) - len(taken)), -len(taken)
            found.setdefault(rank, []).append(distances)
    return found[min(found)]


@functools.cache
def possible_merits(place):
    candidate, truth = SMALL[place]
    largest = max(candidate.sum(), truth.sum())
    return [sum(1 / (1 + d**2 / 9) for d in each) / largest for each in optima(candidate, truth, 3)]


@pytest.mark.parametrize("view", [np.array, *VIEWS.values()], ids=["as it is", *VIEWS])
def test_the_figure_of_merit_is_that_of_one_of_the_best_matchings(view):
    several = 0
    for place, (candidate, truth) in enumerate(SMALL):
        possible = possible_merits(place)
        several += max(possible) - min(possible) > 1e-9
        ((_, value),) = score(view(candidate), view(truth), "fom", strategy="exact", tolerance=3).items()
        assert min(abs(value - each) for each in possible) < 1e-9
    assert several > 2  # where partners are not unique, neither is the figure of merit


def test_two_steps_of_one_cost_as_much_as_one_of_two():
    # 0 → 1 and 1 → 2, or 1 → 1 and 0 → 2: as many pairs, the same cost, other distances.
    candidate, truth = np.array([[1, 1, 0]]), np.array([[0, 1, 1]])
    assert sorted(map(sorted, optima(candidate, truth, 3))) == [[0, 2], [1, 1]]
    found = match(candidate, truth, tolerance=3)
    assert (found.tp, found.distances.sum()) == (2, 2)


@pytest.mark.parametrize("strategy", ["closest", "eps"])
def test_greedy_strategies_depend_on_the_raster_order(strategy):
    candidate, truth = np.array([[0, 0, 0, 1, 0, 0, 1, 0]]), np.array([[0, 0, 1, 0, 1, 0, 0, 0]])
    # From the left the first truth pixel takes its only partner; from the right it comes too late.
    assert match(candidate, truth, strategy=strategy).tp == 2
    assert match(candidate[:, ::-1], truth[:, ::-1], strategy=strategy).tp == 1
