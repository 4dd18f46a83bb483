"""Measures without truth: patterns by another construction, suprema by brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from edgecritic.errors import InputError, UndefinedMeasureWarning
from edgecritic.maps.walk import Walk
from edgecritic.measures import score_alone
from edgecritic.measures.curves import judge_walk
from edgecritic.measures.scoring import choose
from edgecritic.measures.unsupervised import complexity, entropy, equilibrium, follow_evidence, line_patterns

pytestmark = pytest.mark.kernels


def maps(*shapes):
    chosen = st.sampled_from(shapes).flatmap(lambda shape: arrays(bool, shape, elements=st.booleans()))
    return chosen.filter(np.any)


def bresenham(a, b):
    """Pixels of the digital line from (0, 0) to (a, b), the longer step 1 at a time."""
    n = max(abs(a), abs(b))
    steps = np.arange(n + 1)
    longer = steps * int(np.sign(a if abs(a) >= abs(b) else b))
    short, long = (b, abs(a)) if abs(a) >= abs(b) else (a, abs(b))
    other = np.sign(short) * ((2 * abs(short) * steps + long) // (2 * long))
    return np.stack([longer, other] if abs(a) >= abs(b) else [other, longer], axis=1)


@pytest.mark.parametrize(("side", "count", "reach"), [(3, 12, 8), (5, 52, 14), (7, 140, 20)])
def test_patterns_are_the_windows_of_digital_lines(side, count, reach):
    half = side // 2
    seen = set()
    ends = range(-reach, reach + 1)
    for a, b in {(i, s * reach) for i in ends for s in (1, -1)} | {
        (s * reach, i) for i in ends for s in (1, -1)
    }:
        line = bresenham(a, b)
        for index in range(half, len(line) - half):
            near = line - line[index] + half
            near = near[((near >= 0) & (near < side)).all(axis=1)]
            window = np.zeros((side, side), dtype=bool)
            window[near[:, 0], near[:, 1]] = True
            seen.add(window.tobytes())
    ours = {pattern.tobytes() for pattern in line_patterns(side)}
    assert len(ours) == count
    assert ours == seen


@pytest.mark.parametrize(("side", "count"), [(9, 300), (11, 540)])
def test_number_of_larger_patterns(side, count):
    patterns = line_patterns(side)
    assert patterns.shape == (count, side, side)
    assert (patterns.sum(axis=(1, 2)) == side).all()
    assert patterns[:, side // 2, side // 2].all()


@given(maps((6, 9), (11, 4), (1, 7)), st.sampled_from([3, 5, 7, 9, 11]))
@settings(max_examples=60)
def test_equilibrium_by_definition(mask, window):
    half = window // 2
    padded = np.pad(mask, half)
    values = []
    for row, column in np.argwhere(mask):
        view = padded[row : row + window, column : column + window]
        best = (line_patterns(window) & view).sum(axis=(1, 2)).max()
        values.append(best / math.sqrt(window * view.sum()))
    assert equilibrium(mask, window=window) == pytest.approx(np.mean(values), abs=1e-12)


@given(maps((12, 13)))
@settings(max_examples=20)
def test_valid_border_leaves_out_the_rim(mask):
    inner = mask[3:-3, 3:-3]
    rim = mask.copy()
    rim[3:-3, 3:-3] = False
    total = equilibrium(mask) * mask.sum()
    padded = np.pad(mask, 3)
    outer = 0.0
    for row, column in np.argwhere(rim):
        view = padded[row : row + 7, column : column + 7]
        outer += (line_patterns(7) & view).sum(axis=(1, 2)).max() / math.sqrt(7 * view.sum())
    expected = (total - outer) / inner.sum() if inner.any() else 0.0
    assert equilibrium(mask, border="valid") == pytest.approx(expected, abs=1e-9)


@given(maps((4, 5), (6, 3), (3, 2, 4)))
@settings(max_examples=60)
def test_entropy_is_the_exact_supremum(mask):
    """The supremum of |F_b − F| is approached at points just before and at the coordinates."""
    shape = np.array(mask.shape)
    points = (np.argwhere(mask) + 0.5) / shape
    tiny = 1e-9
    axes = [
        np.concatenate([[0, 1 - tiny, 1], c, c - tiny]) for c in ((np.arange(n) + 0.5) / n for n in shape)
    ]
    grid = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)
    share = (points[None] <= grid[:, None]).all(axis=2).mean(axis=1)
    gap = np.abs(share - grid.prod(axis=1)).max()
    assert entropy(mask) == pytest.approx(1 - gap, abs=1e-7)


def test_entropy_knows_up_from_down_but_not_rows_from_columns():
    mask = np.zeros((8, 10), dtype=bool)
    mask[1, 2:9] = mask[5, 1] = True
    assert entropy(mask) == pytest.approx(entropy(mask.T), abs=1e-12)
    assert entropy(mask) != pytest.approx(entropy(np.flipud(mask)), abs=1e-3)


@given(maps((6, 9)))
@settings(max_examples=20)
def test_equilibrium_does_not_mind_flips_and_transposes(mask):
    known = equilibrium(mask)
    for turned in (np.flipud(mask), np.fliplr(mask), mask.T):
        assert equilibrium(turned) == pytest.approx(known, abs=1e-12)


def test_one_plane_is_an_image():
    mask = np.eye(9, dtype=bool)
    for volume in (mask[None], mask[:, None], mask[..., None]):
        assert complexity(volume) == pytest.approx(complexity(mask), abs=1e-12)


def test_volumes_have_entropy_only():
    volume = np.zeros((4, 4, 4), dtype=bool)
    volume[1, 2, 3] = True
    assert score_alone(volume).measures == ("entropy",)
    with pytest.raises(InputError, match="2 dimensions"):
        equilibrium(volume)


def test_empty_map():
    nothing = np.zeros((5, 5), dtype=bool)
    with pytest.warns(UndefinedMeasureWarning) as caught:
        found = score_alone(nothing)
    assert len(caught) == 1
    assert set(found.mean.values()) == {0.0}
    assert np.isnan(list(score_alone(nothing, on_degenerate="nan").mean.values())).all()
    with pytest.raises(InputError, match="no edge pixels"):
        score_alone(nothing, on_degenerate="raise")


def test_measures_that_need_a_truth_are_refused():
    with pytest.raises(InputError, match="needs a truth"):
        score_alone(np.eye(4, dtype=bool), "fom")


@pytest.mark.parametrize(
    "text", ["equilibrium(window=6)", "equilibrium(window=13)", "equilibrium(border=wrap)"]
)
def test_bad_parameters(text):
    with pytest.raises(InputError, match="must be one of"):
        score_alone(np.eye(4, dtype=bool), text)


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=10)
def test_over_thresholds_the_values_are_those_of_each_map_alone(seed, thinned):
    """Bit by bit, whatever maps came before; thinning lets pixels go and come again."""
    rng = np.random.default_rng(seed)
    strength, thresholds = np.round(rng.random((9, 11)), 1), np.array([0.3, 0.9, 0.5, 0.2])
    walk = Walk(strength, thresholds, thin=thinned)
    names = ["equilibrium(window=5)", "equilibrium(border=valid)", "complexity", "entropy"]
    found = judge_walk(walk, [], choose(names, ()), (1.0, 1.0)).values
    for step, mask in walk.candidates():
        assert found[step.place].tolist() == list(score_alone(mask, names).mean.values())


def test_only_what_images_have_in_common_is_followed():
    strength, thresholds = np.random.default_rng(1).random((8, 9)), np.array([0.8, 0.5])
    walk = Walk(strength, thresholds)
    found = follow_evidence(walk, choose(["equilibrium", "complexity", "entropy"], ()))
    values = [score_alone(strength >= level, "equilibrium")["equilibrium"] for level in thresholds]
    assert [list(one) for one in found.values()] == [values]  # both measures have it in common
    volume = Walk(strength[None].repeat(3, axis=0), thresholds)
    assert follow_evidence(volume, choose(["equilibrium", "entropy"], ())) == {}
