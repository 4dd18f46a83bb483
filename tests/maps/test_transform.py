"""The distance transform against SciPy and against all pairs of pixels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.ndimage import distance_transform_edt

from edgecritic.errors import InputError
from edgecritic.maps.transform import distance_transform

pytestmark = pytest.mark.kernels

SHAPES = [(40, 57), (57, 40), (1, 30), (30, 1), (130, 200), (9, 14, 11), (1, 8, 9), (8, 1, 1)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("density", [0.002, 0.05, 0.5, 1.0])
def test_against_scipy(shape, density):
    rng = np.random.default_rng(len(shape))
    mask = rng.random(shape) < density
    mask.flat[rng.integers(mask.size)] = True
    for spacing in (None, 0.3, (1.5, 0.7, 2.2)[: len(shape)], (1e-3, 40.0, 1.0)[: len(shape)]):
        sampling = spacing if isinstance(spacing, tuple) else [spacing or 1] * len(shape)
        expected = distance_transform_edt(~mask, sampling=sampling)
        np.testing.assert_allclose(distance_transform(mask, spacing), expected, rtol=1e-9, atol=1e-9)


@settings(max_examples=80)
@given(
    hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=3, max_side=6)),
    st.tuples(*[st.sampled_from([0.5, 1.0, 1.7, 3.0])] * 3),
)
def test_against_all_pairs(mask, spacing):
    sizes = np.asarray(spacing[: mask.ndim])
    every = np.stack(np.indices(mask.shape), axis=-1).reshape(-1, mask.ndim) * sizes
    on = every[mask.reshape(-1)]
    apart = np.sqrt(((every[:, None] - on[None]) ** 2).sum(axis=-1))
    expected = apart.min(axis=1, initial=np.inf).reshape(mask.shape)
    np.testing.assert_allclose(distance_transform(mask, spacing[: mask.ndim]), expected, rtol=1e-9)


@pytest.mark.parametrize("shape", [(4, 5), (2, 3, 4)])
def test_empty_mask_is_infinitely_far(shape):
    assert np.isposinf(distance_transform(np.zeros(shape, bool))).all()


def test_whole_squares_are_exact():
    """With unit pixels squared distances are whole numbers: nothing is lost by rounding."""
    mask = np.random.default_rng(3).random((150, 220)) < 0.001
    found = distance_transform(mask)
    expected = np.sqrt(np.round(distance_transform_edt(~mask) ** 2))
    assert np.array_equal(found, expected)


def test_input_is_left_alone():
    mask = np.asfortranarray(np.random.default_rng(4).random((12, 13)) < 0.2)
    mask.setflags(write=False)
    copy = mask.copy()
    np.testing.assert_allclose(distance_transform(mask), distance_transform_edt(~mask))
    assert np.array_equal(mask, copy)


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="binary"):
        distance_transform(np.array([[0.0, 0.5, 1.0]]))
    with pytest.raises(InputError, match="spacing"):
        distance_transform(np.eye(3), spacing=(1, 0))
