"""Pixelwise validation against a slow reading of its rule, and its behaviour on lines."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from edgecritic.errors import InputError
from edgecritic.matching import match

pytestmark = pytest.mark.kernels


def half_away(x):
    return int(math.copysign(math.floor(abs(x) + 0.5), x))


def confirmed(p, source, target, t, degrees, spacing, preaccept8):
    """The rule, word by word, on sets of coordinates; all coordinates are positive."""
    ndim = len(p)

    def length(v):
        return math.sqrt(sum((x * size) ** 2 for x, size in zip(v, spacing, strict=True)))

    def minus(a, b):
        return tuple(x - y for x, y in zip(a, b, strict=True))

    def angle(v, w):
        dot = sum(x * y * size**2 for x, y, size in zip(v, w, spacing, strict=True))
        return math.degrees(math.acos(max(-1.0, min(1.0, dot / (length(v) * length(w))))))

    if p in target:
        return True
    if preaccept8 and any(max(map(abs, minus(q, p))) <= 1 for q in target):
        return True
    reach = [math.floor(t / size + 1e-9) for size in spacing]
    for q in sorted(target, key=lambda q: length(minus(q, p))):
        way = minus(q, p)
        if length(way) > t + 1e-9:
            break
        if sum(map(abs, way)) == 1:
            return True
        pixels = math.sqrt(sum(x * x for x in way))
        clear = True
        s = 1
        while s <= pixels - 1:
            z = [x + s * d / pixels for x, d in zip(p, way, strict=True)]
            box = [range(half_away(x - 0.25), half_away(x + 0.25) + 1) for x in z]
            if any(cell in source for cell in itertools.product(*box)):
                clear = False
            s += 1
        if not clear:
            continue
        window = [n for n in source if n != q and all(abs(n[a] - p[a]) <= reach[a] for a in range(ndim))]
        nearest = min(length(minus(n, q)) for n in window)
        if math.isclose(nearest, length(way)):
            return True
        if any(
            math.isclose(length(minus(n, q)), nearest) and angle(way, minus(q, n)) <= degrees + 1e-6
            for n in window
        ):
            return True
    return False


@st.composite
def cases(draw):
    shape = draw(st.one_of(hnp.array_shapes(min_dims=2, max_dims=2, max_side=9), st.just((4, 5, 4))))
    maps = []
    rarity = draw(st.sampled_from([2, 4, 9]))
    for _ in range(2):
        values = draw(hnp.arrays(np.int8, shape, elements=st.integers(0, rarity)))
        maps.append(values == 0)
    spacing = draw(st.sampled_from([(1.0,) * len(shape), (1.0, 1.5, 0.7)[: len(shape)]]))
    tolerance = draw(st.sampled_from([0.5, 1, 2.5, 3, 4.34, 6]))
    return *maps, spacing, tolerance, draw(st.sampled_from([30, 45, 90, 120])), draw(st.booleans())


@settings(max_examples=120)
@given(cases())
def test_against_the_rule_word_by_word(case):
    candidate, truth, spacing, tolerance, degrees, preaccept8 = case
    strategy = f"validation(angle={degrees}, preaccept8={preaccept8})"
    found = match(candidate, truth, strategy=strategy, tolerance=tolerance, spacing=spacing)
    both = ((candidate, truth, found.matched_candidate), (truth, candidate, found.matched_truth))
    for source, target, result in both:
        a, b = ({tuple(int(x) + 1 for x in p) for p in np.argwhere(mask)} for mask in (source, target))
        expected = {p for p in a if confirmed(p, a, b, tolerance, degrees, spacing, preaccept8)}
        assert {tuple(int(x) + 1 for x in p) for p in np.argwhere(result)} == expected


@settings(max_examples=25)
@given(cases())
def test_pairs_are_what_confirms_what(case):
    candidate, truth, spacing, tolerance, degrees, _ = case
    found = match(
        candidate, truth, strategy=f"validation(angle={degrees})", tolerance=tolerance, spacing=spacing
    )
    pairs = [tuple(tuple(int(x) + 1 for x in p) for p in pair) for pair in found.pairs]
    far = dict(zip(pairs, found.distances, strict=True))
    assert len(far) == len(pairs)
    a, b = ({tuple(int(x) + 1 for x in p) for p in np.argwhere(mask)} for mask in (candidate, truth))
    named = set()
    for source, target, way in ((a, b, 1), (b, a, -1)):
        for p in source:
            able = [q for q in target if confirmed(p, source, {q}, tolerance, degrees, spacing, False)]
            if able:
                lengths = [np.linalg.norm(np.subtract(q, p) * spacing) for q in able]
                chosen = [q for q in able if (p, q)[::way] in far]
                nearest = [q for q in chosen if math.isclose(far[(p, q)[::way]], min(lengths), abs_tol=1e-9)]
                assert nearest
                named |= {(p, q)[::way] for q in nearest}
    assert named == set(pairs)


def example():
    truth, candidate = np.zeros((10, 12), bool), np.zeros((10, 12), bool)
    truth[4, 2:10] = True
    candidate[4, 2:5] = candidate[5, 5:8] = candidate[1, 10] = True
    return candidate, truth


@pytest.mark.parametrize("degrees", [45, 90])
@pytest.mark.parametrize(
    "tolerance, candidates, truths, f", [(1, 6, 6, 0.8), (2.5, 6, 7, 0.865979), (5, 6, 8, 0.923077)]
)
def test_worked_example(degrees, tolerance, candidates, truths, f):
    found = match(*example(), strategy=f"validation(angle={degrees})", tolerance=tolerance)
    assert (found.tp, found.fp, found.fn) == (candidates, 7 - candidates, 8 - truths)
    assert (found.precision, found.recall) == (candidates / 7, truths / 8)
    assert found.f() == pytest.approx(f, abs=5e-7)
    assert not found.matched_candidate[1, 10]


def test_confusion_recall():
    found = match(*example(), strategy="validation(recall=confusion)", tolerance=2.5)
    assert found.recall == 6 / 7


def rows(*numbers):
    mask = np.zeros((16, 20), bool)
    mask[list(numbers), 3:17] = True
    return mask


@pytest.mark.parametrize("tolerance", [2.5, 5])
def test_a_line_between_two(tolerance):
    found = match(rows(5, 9), rows(7), strategy="validation", tolerance=tolerance)
    assert found.tp == 28


def test_a_line_behind_another_is_hidden():
    found = match(rows(5, 9, 10), rows(7), strategy="validation", tolerance=5)
    assert found.matched_candidate[[5, 9]].sum() == 28
    assert not found.matched_candidate[10].any()


def test_the_farther_line_on_the_other_side_is_refused():
    found = match(rows(5, 10), rows(7), strategy="validation", tolerance=5)
    assert found.matched_candidate[5].sum() == 14
    assert not found.matched_candidate[10].any()


def points(*places):
    mask = np.zeros((20, 24), bool)
    mask[tuple(np.transpose(places))] = True
    return mask


def test_source_pixels_outside_the_window_are_not_seen():
    """(10, 16) is nearer to (10, 14) than (10, 10) is, but six columns from it."""
    candidate, truth = points((10, 10), (10, 16)), points((10, 14))
    for tolerance, seen in ((4, False), (5.9, False), (6, True)):
        found = match(candidate, truth, strategy="validation", tolerance=tolerance)
        assert found.matched_candidate[10, 10] != seen
    wide = {"tolerance": 2 * 5.9, "spacing": 2.0}
    assert match(candidate, truth, strategy="validation", **wide).matched_candidate[10, 10]


def test_a_direct_neighbour_confirms_whatever_its_side():
    """With long rows (11, 10) is nearer to (11, 11) than (10, 11) is; the angle is 90 degrees."""
    candidate, truth = points((10, 11), (11, 10)), points((11, 11))
    found = match(candidate, truth, strategy="validation(angle=45)", tolerance=3, spacing=(2, 1))
    assert found.tp == 2


@settings(max_examples=40)
@given(cases())
def test_properties(case):
    candidate, truth, spacing, tolerance, degrees, _ = case
    options = {"tolerance": tolerance, "spacing": spacing}
    there = match(candidate, truth, strategy=f"validation(angle={degrees})", **options)
    back = match(truth, candidate, strategy=f"validation(angle={degrees})", **options)
    assert there.f() == pytest.approx(back.f())
    reach = match(candidate, truth, strategy="distance", **options)
    if tolerance >= max(spacing):
        assert not (there.matched_candidate & ~reach.matched_candidate).any()
    assert match(truth, truth, strategy="validation", **options).f() == 1


def test_empty_maps():
    candidate, truth = example()
    empty = np.zeros_like(truth)
    assert match(empty, empty, strategy="validation", tolerance=2).f() == 1
    for pair in ((empty, truth), (candidate, empty)):
        found = match(*pair, strategy="validation", tolerance=2)
        assert (found.precision, found.recall, found.f()) == (0, 0, 0)


def test_options_are_checked():
    candidate, truth = example()
    for angle in ("wide", -1, 181, True):
        with pytest.raises(InputError, match="degrees"):
            match(candidate, truth, strategy=f"validation(angle={angle})", tolerance=2)
    counts = [
        match(candidate, truth, strategy=f"validation(angle={a})", tolerance=2).tp for a in (0, 90, 180)
    ]
    assert counts == sorted(counts)
    with pytest.raises(InputError, match="'confusion' or 'gt'"):
        match(candidate, truth, strategy="validation(recall=other)", tolerance=2)
    with pytest.raises(InputError, match="smaller tolerance"):
        match(candidate, truth, strategy="validation", tolerance=1000)
    for size in (1e6, 1e-6):  # what is too large is so in pixels
        found = match(candidate, truth, strategy="validation", tolerance=2 * size, spacing=size)
        assert found.tp == match(candidate, truth, strategy="validation", tolerance=2).tp
        with pytest.raises(InputError, match="smaller tolerance"):
            match(candidate, truth, strategy="validation", tolerance=1000 * size, spacing=size)


@pytest.mark.parametrize("tolerance", [0.0, 0.5, 1.0])
def test_the_last_pixel_of_a_row_is_no_neighbour_of_the_first_of_the_next(tolerance):
    candidate, truth = np.zeros((2, 4, 5), bool)
    candidate[1, 4] = truth[2, 0] = True
    assert match(candidate, truth, strategy="validation(preaccept8=True)", tolerance=tolerance).tp == 0
    assert match(truth, candidate, strategy="validation(preaccept8=True)", tolerance=tolerance).tp == 0
