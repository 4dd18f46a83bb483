"""The coherence of a map against its formula written out, and directions against principal axes."""

from __future__ import annotations

import numpy as np
import pytest

from edgecritic.errors import InputError
from edgecritic.measures import score_alone
from edgecritic.measures.coherence import edge_coherence


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("rows", "step", "expected"),
    [((10,), 1, (0.95, 1.0)), ((10, 11), 1, (0.95, 0.516667)), ((10,), 2, (0.0, 1.0))],
)
def test_coherence_has_its_unit_values(rows, step, expected, turned):
    """A line across 20 × 20 pixels, two pixels thick, and every second pixel of it."""
    drawn = np.zeros((20, 20), bool)
    drawn[list(rows), :] = True
    drawn[:, np.arange(20) % step != 0] = False
    edges, across = (drawn.T, 0.0) if turned else (drawn, np.pi / 2)
    for direction in (None, np.full((20, 20), across)):
        found = edge_coherence(edges, direction)
        assert (found.continuation, found.thinness) == pytest.approx(expected, abs=1e-6)
    value = 0.3 * expected[0] + 0.7 * expected[1]
    alone = score_alone(edges, "kitchen_rosenfeld(gamma=0.3)").mean
    assert next(iter(alone.values())) == pytest.approx(value, abs=1e-6)


def plain_coherence(edges, direction, turn=2 * np.pi):
    """The measure pixel by pixel, as it is written; directions that differ by a turn are the same."""

    def a(alpha, beta, turn=2 * np.pi):
        apart = abs(alpha - beta) % turn
        return (np.pi - min(apart, turn - apart)) / np.pi

    around = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]
    goes, thin = [], []
    for r, c in np.argwhere(edges):
        d, scores, used = direction[r, c], [], []
        inside = [0 <= r + y < edges.shape[0] and 0 <= c + x < edges.shape[1] for y, x in around]
        edge = [ok and edges[r + y, c + x] for ok, (y, x) in zip(inside, around, strict=True)]
        for side in (d + np.pi / 2, d - np.pi / 2):
            three = sorted(range(8), key=lambda k: -a(k * np.pi / 4, side))[:3]
            value = {
                k: a(d, direction[r + around[k][0], c + around[k][1]], turn) * a(k * np.pi / 4, side)
                if edge[k]
                else 0.0
                for k in three
            }
            used.append(max(three, key=lambda k: value[k]))
            scores.append(value[used[-1]])
        goes.append(sum(scores) / 2)
        thin.append(sum(not edge[k] for k in range(8) if k not in used) / 6)
    return np.mean(goes), np.mean(thin)


def test_coherence_equals_the_plain_loop():
    rng = np.random.default_rng(3)
    edges = rng.random((14, 17)) < 0.3
    direction = rng.uniform(-np.pi, np.pi, edges.shape)
    found = edge_coherence(edges, direction)
    assert (found.continuation, found.thinness) == pytest.approx(plain_coherence(edges, direction))
    assert edge_coherence(np.zeros((5, 5), bool)).value == 0
    with pytest.raises(InputError, match="shape of the map"):
        edge_coherence(edges, direction[1:])
    with pytest.raises(InputError, match="2 dimensions"):
        edge_coherence(np.ones((3, 3, 3), bool))
    with pytest.raises(InputError, match="from 0 to 1"):
        score_alone(edges, "kitchen_rosenfeld(gamma=2)")


def principal_direction(edges, row, column):
    """The angle of the axis along which the pixels of the 7 × 7 window vary least, by their covariance."""
    places = np.argwhere(edges)
    near = places[(np.abs(places - (row, column)) <= 3).all(axis=1)]
    across = np.linalg.eigh(np.cov(near.T, bias=True))[1][:, 0]
    return np.arctan2(*across)


@pytest.mark.parametrize("slope", [-2.3, -0.7, 0.2, 0.45, 1.4])
def test_without_directions_they_are_those_of_the_line_through_a_pixel(slope):
    """Two lines beside each other, in all directions; an axis is the same after half a turn."""
    edges = np.zeros((26, 28), bool)
    rows, columns = np.mgrid[:26, :28]
    for shift in (-4.5, 5.25):
        apart = rows - 13 - slope * (columns - 14) - shift
        edges |= np.abs(apart) <= max(1, abs(slope)) / 2
    direction = np.zeros(edges.shape)
    for row, column in np.argwhere(edges):
        direction[row, column] = principal_direction(edges, row, column)
    found = edge_coherence(edges)
    assert (found.continuation, found.thinness) == pytest.approx(plain_coherence(edges, direction, np.pi))
