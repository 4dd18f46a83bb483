"""The greedy strategies `eps` and `closest` against slow and obvious twins."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgecritic import match, sweep
from edgecritic.assignment.reach import zone_ends
from edgecritic.errors import InputError
from edgecritic.kernels.grid import Grid, box

pytestmark = pytest.mark.kernels


def zones_of(window, spacing):
    """Offsets of the window by exact squared length, nearest first, raster order inside a zone."""
    radius = window // 2
    zones = {}
    for offset in itertools.product(range(-radius, radius + 1), repeat=len(spacing)):
        square = sum((step * size) ** 2 for step, size in zip(offset, spacing, strict=True))
        zones.setdefault(square, []).append(offset)
    return [zones[square] for square in sorted(zones)]


def padded(mask, radius):
    return np.pad(mask, radius)


def slow_eps(candidate, truth, window, spacing):
    """Count every miss anew before each pairing."""
    radius = window // 2
    free = padded(candidate & ~truth, radius)
    misses = np.argwhere(padded(truth & ~candidate, radius))
    pairs = {tuple(p): tuple(p) for p in np.argwhere(candidate & truth).tolist()}
    for zone in zones_of(window, spacing)[1:]:
        while True:
            there = misses[:, None, :] + np.array(zone)
            live = free[tuple(np.moveaxis(there, -1, 0))]
            counts = live.sum(axis=1)
            if not counts.any():
                break
            chosen = np.flatnonzero(counts == counts[counts > 0].min())[0]
            taken = there[chosen, np.flatnonzero(live[chosen])[0]]
            free[tuple(taken)] = False
            pairs[tuple((misses[chosen] - radius).tolist())] = tuple((taken - radius).tolist())
            misses = np.delete(misses, chosen, axis=0)
    return pairs


def slow_closest(candidate, truth, window, spacing, exclusive, farthest=False):
    free = {tuple(p) for p in np.argwhere(candidate).tolist()}
    zones = list(zones_of(window, spacing))
    order = list(itertools.chain.from_iterable(reversed(zones) if farthest else zones))
    pairs = {}
    for pixel in map(tuple, np.argwhere(truth).tolist()):
        near = (tuple(a + b for a, b in zip(pixel, offset, strict=True)) for offset in order)
        taken = next((place for place in near if place in free), None)
        if taken is not None:
            pairs[pixel] = taken
            if exclusive:
                free.remove(taken)
    return pairs


def pairs_of(matching):
    return {tuple(truth): tuple(candidate) for candidate, truth in matching.pairs.tolist()}


def random_maps(shape, seed, densities):
    rng = np.random.default_rng(seed)
    return rng.random(shape) < densities[0], rng.random(shape) < densities[1]


sizes = {
    2: st.tuples(st.integers(1, 14), st.integers(1, 14)),
    3: st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(1, 6)),
}


@st.composite
def cases(draw):
    ndim = draw(st.sampled_from([2, 3]))
    densities = draw(st.tuples(*[st.sampled_from([0.05, 0.2, 0.5, 0.8])] * 2))
    maps = random_maps(draw(sizes[ndim]), draw(st.integers(0, 10**6)), densities)
    spacing = draw(
        st.just((Fraction(1),) * ndim)
        | st.tuples(
            *[st.sampled_from([Fraction(1), Fraction(3, 10), Fraction(1, 10), Fraction(7, 3)])] * ndim
        )
    )
    return *maps, draw(st.sampled_from([3, 5, 7])), spacing


@given(cases())
@settings(max_examples=150)
def test_eps_is_its_definition(case):
    candidate, truth, window, spacing = case
    found = match(candidate, truth, strategy=f"eps(window={window})", spacing=[float(s) for s in spacing])
    assert pairs_of(found) == slow_eps(candidate, truth, window, spacing)


@pytest.mark.parametrize(
    "shape, densities", [((90, 90), (0.3, 0.35)), ((17, 18, 17), (0.4, 0.4)), ((18, 20, 17), (0.06, 0.2))]
)
def test_eps_is_its_definition_when_the_rank_sets_are_deep(shape, densities):
    candidate, truth = random_maps(shape, 7, densities)
    assert np.count_nonzero(truth & ~candidate) > 1024
    assert pairs_of(match(candidate, truth, strategy="eps")) == slow_eps(
        candidate, truth, 5, (1,) * len(shape)
    )


@given(cases(), st.booleans(), st.booleans())
@settings(max_examples=150)
def test_closest_is_its_definition(case, exclusive, farthest):
    candidate, truth, window, spacing = case
    id_ = f"closest(window={window}, exclusive={exclusive}, farthest={farthest})"
    found = match(candidate, truth, strategy=id_, spacing=[float(s) for s in spacing])
    expected = slow_closest(candidate, truth, window, spacing, exclusive, farthest)
    assert pairs_of(found) == expected
    taken = len(set(expected.values()))
    assert (found.tp, found.fp, found.fn) == (
        len(expected),
        candidate.sum() - taken,
        truth.sum() - len(expected),
    )
    if candidate.any() and truth.any():
        assert found.precision == taken / candidate.sum()
        assert found.recall == len(expected) / truth.sum()
    assert np.count_nonzero(found.matched_candidate) == taken


@pytest.mark.parametrize("strategy", ["eps", "closest"])
def test_many_pairs_keep_their_coordinates(strategy):
    candidate, truth = random_maps((6, 200, 90), 11, (0.5, 0.4))
    spacing = np.array([1.5, 1.0, 0.5])
    found = match(candidate, truth, strategy=strategy, spacing=spacing)
    first, second = found.pairs[:, 0], found.pairs[:, 1]
    assert found.tp == len(first) > 30_000
    assert (np.diff(np.ravel_multi_index(tuple(first.T), truth.shape)) > 0).all()
    assert np.allclose(
        found.distances, np.linalg.norm((first - second) * spacing, axis=1), rtol=1e-14, atol=0
    )
    for places, matched, given_map in (
        (first, found.matched_candidate, candidate),
        (second, found.matched_truth, truth),
    ):
        assert matched[tuple(places.T)].all()
        assert np.count_nonzero(matched) == found.tp
        assert not (matched & ~given_map).any()


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 3)), min_size=2, max_size=3), st.integers(0, 99))
@settings(max_examples=40)
def test_grid_indices_are_those_of_the_padded_array(axes, seed):
    shape, radii = zip(*axes, strict=True)
    mask = np.random.default_rng(seed).random(shape) < 0.5
    grid = Grid.around(shape, radii)
    flat = grid.locate(mask)
    assert np.array_equal(flat, np.flatnonzero(np.pad(mask, [(r, r) for r in radii])))
    assert np.array_equal(grid.raster(flat), np.flatnonzero(mask))


@pytest.mark.parametrize(
    "ndim, counts", [(2, [4, 4, 4, 8, 4]), (3, [6, 12, 8, 6, 24, 24, 12, 24, 8])], ids=["2-D", "3-D"]
)
def test_zones_of_the_5_window(ndim, counts):
    ends = zone_ends(box(5, (1.0,) * ndim))
    assert np.diff(ends).tolist() == counts


def test_zones_join_lengths_that_only_rounding_tells_apart():
    hood = box(7, (0.3, 0.1))
    lengths = {tuple(o): d for o, d in zip(hood.offsets.tolist(), hood.distances, strict=True)}
    assert lengths[1, 0] == lengths[0, 3] == lengths[0, -3]
    assert np.diff(zone_ends(hood), prepend=0).tolist() == [len(zone) for zone in zones_of(7, (3, 1))]


def worked_example():
    """A truth row of 8 pixels; 3 found, 3 found one row lower, 1 false alarm far away."""
    truth, candidate = np.zeros((2, 10, 12), bool)
    truth[4, 2:10] = True
    candidate[4, 2:5] = candidate[5, 5:8] = candidate[1, 10] = True
    return candidate, truth


def fom(found, scale=1 / 9):
    larger = max(found.candidate.sum(), found.truth.sum())
    return (1 / (1 + scale * found.distances**2)).sum() / larger


@pytest.mark.parametrize("strategy", ["eps", "hungarian(window=5, remove_hits=True)"])
def test_worked_example(strategy):
    found = match(*worked_example(), strategy=strategy)
    assert sorted(found.distances**2) == [0, 0, 0, 1, 1, 1]
    assert (found.tp, found.fn, found.fp) == (6, 2, 1)
    assert found.tolerance is None
    assert fom(found) == pytest.approx(0.7125, abs=1e-12)


def test_scarcity_decides_before_raster_order():
    """In zone 2 the first miss has two candidates, the second one, the third none (it pairs in zone 3)."""
    truth, candidate = np.zeros((2, 12, 12), bool)
    for pixel in [(3, 5), (5, 3), (8, 8), (0, 0)]:
        truth[pixel] = True
    for pixel in [(4, 4), (4, 6), (8, 10), (0, 0)]:
        candidate[pixel] = True
    found = match(candidate, truth, strategy="eps")
    assert pairs_of(found) == {(3, 5): (4, 6), (5, 3): (4, 4), (8, 8): (8, 10), (0, 0): (0, 0)}
    assert found.distances.tolist() == pytest.approx([0, 2**0.5, 2**0.5, 2])


def test_pixel_sizes_decide_what_is_near():
    truth, candidate = np.zeros((2, 5, 5), bool)
    truth[2, 2] = candidate[1, 2] = candidate[2, 4] = True
    for strategy in ("eps", "closest"):
        assert pairs_of(match(candidate, truth, strategy=strategy))[2, 2] == (1, 2)
        stretched = match(candidate, truth, strategy=strategy, spacing=(3, 1))
        assert pairs_of(stretched)[2, 2] == (2, 4)
        assert stretched.distances.tolist() == [2]


@pytest.mark.parametrize("strategy", ["eps", "closest", "closest(exclusive=False)", "eps(window=3)"])
def test_an_image_is_a_volume_of_one_plane(strategy):
    candidate, truth = random_maps((40, 50), 3, (0.2, 0.2))
    flat = match(candidate, truth, strategy=strategy, spacing=(1, 2))
    for axis in range(3):
        spacing = np.insert([1.0, 2.0], axis, 0.7)
        deep = match(
            np.expand_dims(candidate, axis), np.expand_dims(truth, axis), strategy=strategy, spacing=spacing
        )
        assert np.array_equal(np.delete(deep.pairs, axis, axis=2), flat.pairs)
        told = [{**one.as_dict(), "judged": None} for one in (deep, flat)]
        assert told[0] == told[1]


@pytest.mark.parametrize("strategy", ["eps", "closest", "closest(exclusive=False)"])
@pytest.mark.parametrize("shape", [(1, 1), (4, 5), (3, 4, 2)])
def test_empty_maps(strategy, shape):
    empty, full = np.zeros(shape, bool), np.ones(shape, bool)
    both = match(empty, empty, strategy=strategy)
    assert (both.tp, both.precision, both.recall, both.pairs.shape) == (0, 1.0, 1.0, (0, 2, len(shape)))
    missed = match(empty, full, strategy=strategy)
    assert (missed.tp, missed.fp, missed.fn, missed.precision, missed.recall) == (0, 0, full.size, 0.0, 0.0)
    alarm = match(full, empty, strategy=strategy)
    assert (alarm.tp, alarm.fp, alarm.fn, alarm.precision, alarm.recall) == (0, full.size, 0, 0.0, 0.0)


@pytest.mark.parametrize("strategy", ["eps", "closest"])
def test_input_may_be_read_only_strided_and_stays_as_it_is(strategy):
    candidate, truth = random_maps((20, 24, 6), 5, (0.2, 0.2))
    expected = match(candidate[:, ::2], truth[:, ::2], strategy=strategy)
    before = candidate.copy(), truth.copy()
    candidate.setflags(write=False)
    truth.setflags(write=False)
    for prepare in (lambda a: a[:, ::2], lambda a: np.asfortranarray(a[:, ::2]), lambda a: a[:, ::2] * 255.0):
        found = match(prepare(candidate), prepare(truth), strategy=strategy)
        assert np.array_equal(found.pairs, expected.pairs)
    assert np.array_equal(candidate, before[0])
    assert np.array_equal(truth, before[1])


@pytest.mark.parametrize(
    "strategy",
    ["eps(window=4)", "eps(window=1)", "eps(window=-3)", "eps(window=7.0)", "closest(window=wide)"],
)
def test_windows_are_odd(strategy):
    with pytest.raises(InputError, match="window must be an odd whole number of pixels of at least 3"):
        match(np.eye(3), np.eye(3), strategy=strategy)


def test_other_refusals():
    with pytest.raises(InputError, match=r"more than the .* that can be searched"):
        match(np.eye(3), np.eye(3), strategy="eps(window=100001)")
    with pytest.raises(InputError, match="exclusive must be True or False"):
        match(np.eye(3), np.eye(3), strategy="closest(exclusive=no)")
    with pytest.raises(InputError, match="farthest"):
        match(np.eye(3), np.eye(3), strategy="closest(farthest=far)")
    with pytest.raises(InputError, match="leave the tolerance out"):
        match(np.eye(3), np.eye(3), strategy="eps", tolerance=2)


@pytest.mark.parametrize("strategy", ["eps", "closest"])
def test_in_a_window_of_one_pixel_only_the_overlap_is_matched(strategy):
    """A tolerance below one pixel of a protocol leaves no window around a pixel."""
    rng = np.random.default_rng(3)
    candidate, truth = rng.random((2, 12, 14)) < 0.4
    candidate[0, 0] = truth[0, 0] = True
    protocol = f"pixels(tolerance=0.5, strategy={strategy}, thresholds=1, thin=False)"
    counts = sweep(candidate.astype(float), truth, protocol=protocol).counts
    assert counts.matched_truth.tolist() == counts.matched_candidate.tolist() == [(candidate & truth).sum()]
