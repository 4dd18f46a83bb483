"""Measures in tiles have the values of whole maps, or say that they need those."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from edgecritic import score
from edgecritic.errors import InputError, UndefinedMeasureWarning
from edgecritic.measures.scoring import default_measures
from edgecritic.measures.tiled import score_pixels

MORE = ["f(strategy=exact(tolerance=2))", "pcm", "hd", "hd95", "assd", "nsd"]


def blob(rng, shape, solid):
    if not solid:
        return rng.random(shape) < rng.choice([0.0, 0.05, 0.3])
    smooth = ndimage.gaussian_filter(rng.standard_normal(shape), 2)
    return smooth > np.quantile(smooth, 0.8)


@given(
    seed=st.integers(0, 2**20),
    shape=st.tuples(st.integers(2, 25), st.integers(2, 25)),
    solid=st.booleans(),
    spacing=st.sampled_from([None, (2.0, 1.0)]),
)
@settings(max_examples=30, deadline=None)
def test_values_are_those_of_whole_maps(seed, shape, solid, spacing):
    rng = np.random.default_rng(seed)
    candidate, *truths = (blob(rng, shape, solid) for _ in range(3))
    lists = [np.flatnonzero(one) for one in truths]
    ids = [*default_measures(), *MORE]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        found = score_pixels(np.flatnonzero(candidate), lists, shape, ids, spacing=spacing, rows=3)
        whole = score(candidate, truths, list(found.measures), spacing=spacing)
    assert len(found) > 25
    assert found.measures == whole.measures
    np.testing.assert_allclose(found.annotators, whole.annotators, rtol=1e-12, atol=1e-12)


def test_what_is_left_out_is_named():
    pixels = np.array([3, 4])
    found = score_pixels(pixels, [pixels], (3, 5), ["baddeley", "dice", "f(strategy=eps(window=3))"])
    assert found.measures == ("dice",)
    assert score_pixels(pixels, [pixels], (3, 5), "dice").notes == ()
    assert found.notes == ("baddeley, f(strategy=eps(window=3)) need whole maps and are left out in tiles",)
    for ids in (["baddeley"], ["entropy"]):
        with pytest.raises(InputError, match="needs whole maps"):
            score_pixels(pixels, [pixels], (3, 5), ids)
