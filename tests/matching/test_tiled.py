"""Matching in tiles equals matching the whole."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgecritic import match
from edgecritic.assignment import ExactState
from edgecritic.errors import InputError
from edgecritic.matching.tiled import match_pixels


def compared(candidate, truth, *, rows, **options):
    """Match in tiles and as a whole; compare counts, cost, and which pixels are matched."""
    whole = match(candidate, truth, **options)
    found = match_pixels(
        np.flatnonzero(candidate), np.flatnonzero(truth), candidate.shape, rows=rows, **options
    )
    assert (found.tp, found.fp, found.fn) == (whole.tp, whole.fp, whole.fn)
    assert (found.precision, found.recall, found.f()) == (whole.precision, whole.recall, whole.f())
    state = ExactState(truth, **options, universe=candidate)
    state.update(added=np.flatnonzero(candidate))
    assert found.cost == state.cost
    assert (found.pairs[:, 0] == np.flatnonzero(whole.matched_candidate)).all()
    assert (np.sort(found.pairs[:, 1]) == np.flatnonzero(whole.matched_truth)).all()
    np.testing.assert_allclose(found.distances.sum(), whole.distances.sum())
    return found


@given(
    seed=st.integers(0, 2**20),
    shape=st.tuples(st.integers(1, 30), st.integers(1, 30)),
    density=st.sampled_from([0.02, 0.1, 0.4]),
    tolerance=st.sampled_from([0.0, 1.0, 2.5, 7.0]),
    rows=st.integers(1, 12),
    spacing=st.sampled_from([None, (2.0, 1.0), (1.0, 2.0)]),
)
@settings(max_examples=80, deadline=None)
def test_random_maps(seed, shape, density, tolerance, rows, spacing):
    rng = np.random.default_rng(seed)
    candidate, truth = (rng.random(shape) < density for _ in range(2))
    compared(candidate, truth, rows=rows, tolerance=tolerance, spacing=spacing)


def test_a_real_image(data):
    from edgecritic.datasets import read_truths

    first, second, *_ = read_truths(data / "bsds_bench" / "groundTruth" / "2018.mat")
    for rows in (1, 10, 64):
        found = compared(first, second, rows=rows, relative_tolerance=0.0075)
    assert found.tiles == -(-first.shape[0] // 64)


def test_one_component_through_all_tiles():
    """Diagonal lines beside each other: a chain of links that ends in no tile but the last."""
    truth = np.eye(200, dtype=bool)
    candidate = np.roll(truth, 1, axis=1)
    candidate[50] = False
    compared(candidate, truth, rows=3, tolerance=2)


def test_it_tells_what_the_whole_tells_and_the_tiles():
    candidate, truth = np.eye(9, dtype=bool), np.eye(9, 9, 1, dtype=bool)
    whole = match(candidate, truth, tolerance=1)
    found = match_pixels(np.flatnonzero(candidate), np.flatnonzero(truth), (9, 9), tolerance=1, rows=4)
    assert found.as_dict() == whole.as_dict() | {"tiles": 3}
    assert str(found).startswith("exact in 3 tile(s)")
    assert str(found).partition(": ")[2] == str(whole).partition(": ")[2]


def test_tiles_and_what_is_around_them_fill_the_room_there_is(monkeypatch):
    """Rows are 3 apart, so that a tile needs one row more above and below it: 18 of 20 rows are its own."""
    monkeypatch.setattr("edgecritic.maps.bands._CELLS", 200)
    pixels = np.arange(0, 300, 7)
    assert match_pixels(pixels, pixels, (30, 10), tolerance=3, spacing=(3, 1)).tiles == 2
    assert match_pixels(pixels, pixels, (36, 10), tolerance=3, spacing=(3, 1)).tiles == 2
    assert match_pixels(pixels, pixels, (37, 10), tolerance=3, spacing=(3, 1)).tiles == 3


def test_nothing_to_match():
    empty = np.zeros((5, 5), bool)
    some = np.eye(5, dtype=bool)
    for candidate, truth in ((empty, empty), (some, empty), (empty, some)):
        compared(candidate, truth, rows=2, tolerance=1)


def test_what_tiles_cannot():
    pixels = np.arange(3)
    with pytest.raises(InputError, match="not computed in tiles"):
        match_pixels(pixels, pixels, (3, 3), strategy="eps(window=3)")
    with pytest.raises(InputError, match="2-D maps"):
        match_pixels(pixels, pixels, (3, 3, 3))
    with pytest.raises(InputError, match="at least one row"):
        match_pixels(pixels, pixels, (3, 3), rows=0)
    assert match_pixels(pixels, pixels, (3, 3), strategy="exact(tolerance=1)").tp == 3


@pytest.mark.parametrize(("most", "fits"), [(9, True), (8, False)])
def test_more_links_than_memory_holds_are_refused(monkeypatch, most, fits):
    """Three pixels of one row, all within two pixels of each other, have nine links."""
    monkeypatch.setattr("edgecritic.assignment.banded.MOST_LINKS", most)
    pixels = np.arange(3)
    with nullcontext() if fits else pytest.raises(InputError, match="do not fit in memory"):
        assert match_pixels(pixels, pixels, (3, 3), tolerance=2).tp == 3


def test_a_tolerance_beyond_the_prices_is_refused_before_anything_is_linked():
    """The default, a share of the diagonal, of a large raster: nobody waits for minutes to be told."""
    pixels = np.arange(0, 4 * 10**8, 10**6)
    with pytest.raises(InputError, match="smaller tolerance"):
        match_pixels(pixels, pixels, (20_000, 20_000))
