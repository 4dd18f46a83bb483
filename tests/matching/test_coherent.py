"""The strategy `coherent` and the figure of coherence."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from edgecritic.errors import InputError
from edgecritic.matching import match

LINE = np.zeros((40, 120), bool)
LINE[20, 10:110] = True


def scattered(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((30, 40)) < 0.2


def coherent(candidate, truth, tolerance=4.3, **more):
    return match(candidate, truth, strategy="coherent", tolerance=tolerance, **more)


@pytest.mark.parametrize("text", ["coherent(slack=inf)", "coherent(slack=1e9)", "coherent(steps=0)"])
def test_without_limits_it_is_exact_pair_by_pair(text):
    one, two = scattered(1), scattered(2)
    assert np.array_equal(
        match(one, two, strategy=text, tolerance=3).pairs, match(one, two, tolerance=3).pairs
    )


def test_its_parameters_are_those_that_are_documented():
    one, two = scattered(5), scattered(6)
    named = match(one, two, strategy="coherent(slack=1.5, steps=5)", tolerance=4.3)
    assert np.array_equal(coherent(one, two).pairs, named.pairs)
    for other in ("coherent(steps=4)", "coherent(steps=6)", "coherent(slack=2)"):
        assert not np.array_equal(match(one, two, strategy=other, tolerance=4.3).pairs, named.pairs)


def test_flips_transposes_and_swaps_have_as_many_hits():
    one, two = scattered(1), scattered(2)
    hits = coherent(one, two, 3).tp
    assert 0 < hits < match(one, two, tolerance=3).tp
    for turn in (np.flipud, np.fliplr, np.transpose):
        assert coherent(turn(one).copy(), turn(two).copy(), 3).tp == hits
    assert coherent(two, one, 3).tp == hits


def test_equal_maps_match_everywhere_and_twice_the_same():
    one, two = scattered(3), scattered(4)
    assert coherent(one, one).tp == one.sum()
    assert coherent(one, two).pairs.tobytes() == coherent(one, two).pairs.tobytes()


@pytest.mark.parametrize("spacing", [None, (2.0, 1.0, 1.0)])
def test_a_shifted_shell_moves_as_a_whole(spacing):
    radius = np.sqrt(((np.indices((20, 20, 20)) - 9.5) ** 2).sum(axis=0))
    shell = abs(radius - 6) < 0.5
    found = coherent(np.roll(shell, 1, axis=0), shell, 3, spacing=spacing)
    assert (found.tp, found.coherence, found.jumps) == (shell.sum(), 0.0, 0.0)


@pytest.mark.parametrize("size", [0.5, 3.0])
def test_the_unit_of_length_does_not_matter(size):
    """Slack is in units of the smallest pixel size, so that all lengths grow alike."""
    rng = np.random.default_rng(0)
    one, two = np.zeros((2, 40, 60), bool)
    for _ in range(6):
        row, column = rng.integers(5, 35), rng.integers(2, 30)
        two[row, column : column + 12] = True
        one[row + rng.integers(-3, 4), column + rng.integers(0, 9) : column + 16] = True
    for spacing in ((1.0, 1.0), (1.0, 1.5)):
        found = coherent(one, two, 4, spacing=spacing)
        larger = coherent(one, two, 4 * size, spacing=[size * side for side in spacing])
        assert 0 < found.tp <= match(one, two, tolerance=4, spacing=spacing).tp
        assert np.array_equal(found.pairs, larger.pairs)


@pytest.mark.parametrize(("slack", "hits"), [(1.5, 16), (1.01, 16), (0.95, 15)])
def test_a_pixel_may_deviate_by_the_slack_from_its_neighbours(slack, hits):
    """One of 16 pixels lies one row further off: its step differs by 1, its fragment by 10/11 on average."""
    truth, candidate = np.zeros((2, 20, 20), bool)
    truth[10, 2:18] = candidate[11, 2:18] = True
    candidate[[11, 12], 9] = False, True
    found = match(candidate, truth, strategy=f"coherent(slack={slack})", tolerance=4)
    assert found.tp == hits
    assert found.matched_candidate[12, 9] == (hits == 16)


def test_texture_and_crossings_are_left_alone():
    texture = np.random.default_rng(0).random(LINE.shape) < 0.15
    assert coherent(texture, LINE).tp < 0.75 * match(texture, LINE, tolerance=4.3).tp
    crossing = np.eye(40, 120, 40, dtype=bool)
    assert match(crossing, LINE, tolerance=4.3).tp == 9
    assert coherent(crossing, LINE).tp == 0
    shifted = np.roll(LINE, 3, axis=0) | texture
    right = [
        (found.pairs[:, 1, 0] - found.pairs[:, 0, 0] == -3).sum()
        for found in (match(shifted, LINE, tolerance=4.3), coherent(shifted, LINE))
    ]
    assert right[1] > 2 * right[0]


def test_between_two_lines_few_pixels_jump():
    double = np.roll(LINE, 2, axis=0) | np.roll(LINE, -2, axis=0)
    exact, own = match(double, LINE, tolerance=4.3), coherent(double, LINE)
    assert own.tp >= 95
    assert own.coherence < 0.2 < exact.coherence


def test_between_two_equal_lines_ties_decide_over_a_few_pixels():
    """Both lines are as good. Where an even number of neighbours goes up and down by halves, their median is
    the way between, which deviates by more than the slack from either: such a pixel stays alone. Which ones
    there are is up to the ties of the first round, hence to the place of the line."""
    hits = []
    for columns, first in ((120, 10), (140, 20), (110, 5)):
        line = np.zeros((40, columns), bool)
        line[20, first : first + 100] = True
        hits.append(coherent(np.roll(line, 2, axis=0) | np.roll(line, -2, axis=0), line).tp)
    assert all(97 <= number <= 100 for number in hits)
    assert len(set(hits)) > 1


def test_coherence_by_hand():
    truth = np.zeros((6, 8), bool)
    truth[2, 1:5] = True
    found = np.zeros_like(truth)
    found[2, 1:3] = found[5, 3:5] = True
    both = match(found, truth, tolerance=3)
    # along the truth the offsets are 0, 0, 3, 3; along the candidate 0, 0 and 3, 3 do not touch
    assert both.coherence == pytest.approx(3 / 5)
    assert both.jumps == pytest.approx(1 / 5)
    assert match(found, truth, strategy="distance", tolerance=3).coherence is None


@pytest.mark.parametrize("empty", [(0, 0), (0, 1), (1, 0)])
def test_empty_maps_are_as_with_exact(empty):
    one, two = (LINE & bool(each) for each in empty)
    assert coherent(one, two).as_dict() | {"strategy": ""} == match(one, two, tolerance=4.3).as_dict() | {
        "strategy": ""
    }


@pytest.mark.parametrize(
    "text",
    [
        *("slack=0", "slack=-1", "slack=nan", "slack=9e-7", "slack=1.1e12", "slack=True", "slack=wide"),
        *("steps=-1", "steps=1.5", "steps=101", "steps=True"),
    ],
)
def test_bad_parameters_are_refused(text):
    with pytest.raises(InputError, match="must be a"):
        match(LINE, LINE, strategy=f"coherent({text})")


@pytest.mark.parametrize("text", ["slack=1e-6", "slack=1e12", "steps=100"])
def test_parameters_at_their_limits_are_taken(text):
    assert match(LINE, LINE, strategy=f"coherent({text})", tolerance=1).tp == LINE.sum()


def fragment(place, pixels, steps):
    """The pixels within so many steps to direct or diagonal neighbours."""
    seen = {place}
    for _ in range(steps):
        seen |= {one for one in pixels if any(max(map(abs, np.subtract(one, near))) <= 1 for near in seen)}
    return sorted(seen)


def by_definition(candidate, truth, tolerance, spacing, slack, steps):
    """The docstring of the strategy, pair by pair, with SciPy's assignment: the pairs of pixels."""
    sides = [[tuple(one) for one in np.argwhere(mask).tolist()] for mask in (candidate, truth)]
    sizes, unit = np.array(spacing), min(spacing)
    near = [[fragment(one, side, steps) for one in side] for side in sides]

    def length(step):
        return np.linalg.norm(np.multiply(step, sizes), axis=-1)

    def apart(places, side):
        return min(length(np.subtract(sides[side], places)).min(), tolerance)

    links = [(i, j) for i, p in enumerate(sides[0]) for j, q in enumerate(sides[1])]
    links = [(i, j) for i, j in links if length(np.subtract(sides[1][j], sides[0][i])) <= tolerance]
    steps_of = {(i, j): np.subtract(sides[1][j], sides[0][i]) for i, j in links}

    def added(term):
        return np.floor(100 * tolerance / unit * term / slack + 0.5)

    cost = {}
    for i, j in links:
        step = steps_of[i, j]
        there = np.mean([apart(np.add(one, step), 1) for one in near[0][i]])
        back = np.mean([apart(np.subtract(one, step), 0) for one in near[1][j]])
        e = max(there, back) / unit
        if e <= slack:
            cost[i, j] = np.floor(100 * length(step) / unit + 0.5) + added(e)
    found = assigned(cost, sides, tolerance / unit)
    for _ in range(2):
        offsets = [{side[pair[k]]: steps_of[pair] for pair in found} for k, side in enumerate(sides)]
        dearer = {}
        for i, j in cost:
            way = []
            for side, own in enumerate((i, j)):
                known = [offsets[side][one] for one in near[side][own] if one in offsets[side]]
                way.append(length(steps_of[i, j] - (np.median(known, axis=0) if known else 0 * sizes)))
            g = max(way) / unit
            if g <= slack:
                dearer[i, j] = cost[i, j] + added(g)
        found = assigned(dearer, sides, tolerance / unit)
    return sorted((*sides[0][i], *sides[1][j]) for i, j in found)


def assigned(cost, sides, tolerance):
    """The cheapest pairs where a candidate alone costs ceil(10⁴·tolerance)."""
    n, m = map(len, sides)
    matrix = np.full((n, m + n), 1e12)
    matrix[np.arange(n), m + np.arange(n)] = np.ceil(1e4 * tolerance)
    for (i, j), price in cost.items():
        matrix[i, j] = price
    return [(i, j) for i, j in zip(*linear_sum_assignment(matrix), strict=True) if j < m]


@pytest.mark.parametrize("seed", range(8))
def test_small_maps_by_the_definition(seed):
    """Pixels whose sides have no common measure hardly ever leave two matchings of the same cost."""
    rng = np.random.default_rng(seed)
    one, two = rng.random((2, 9, 11)) < 0.25
    spacing, slack, steps = (1.0, 1.37), rng.uniform(0.8, 2), int(rng.integers(1, 4))
    found = match(
        one, two, strategy=f"coherent(slack={slack}, steps={steps})", tolerance=2.9, spacing=spacing
    )
    pairs = sorted(tuple(pair.ravel().tolist()) for pair in found.pairs)
    assert len(pairs) > 0
    assert pairs == by_definition(one, two, 2.9, spacing, slack, steps)
