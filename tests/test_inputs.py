"""What users have becomes what kernels take, or is refused in words."""

from __future__ import annotations

import importlib.util
import math

import numpy as np
import pytest

from edgecritic.errors import InputError
from edgecritic.inputs import (
    as_array,
    as_mask,
    as_pair,
    as_spacing,
    as_strength,
    as_tolerance,
    diagonal,
)
from edgecritic.matching import match, strategies

MAP = np.array([[0, 1, 0, 0], [1, 1, 0, 1], [0, 0, 0, 1]], dtype=bool)
VOLUME = np.stack([MAP, ~MAP])


class OnlyArray:
    """Something that offers ``__array__`` and nothing else."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array if dtype is None else self.array.astype(dtype)


class OnlyDLPack:
    """Something that offers DLPack and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def read_only(array):
    copy = array.copy()
    copy.flags.writeable = False
    return copy


DTYPES = [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.uint64]
DTYPES += [np.float16, np.float32, np.float64]

FORMS = {
    "list": lambda array: array.tolist(),
    "__array__": OnlyArray,
    "DLPack": OnlyDLPack,
    "read-only": read_only,
    "strided": lambda array: np.repeat(array, 2, axis=-1)[..., ::2],
    "reversed": lambda array: array[..., ::-1].copy()[..., ::-1],
    "Fortran order": np.asfortranarray,
    "big-endian": lambda array: array.astype(array.dtype.newbyteorder(">")),
    "memory map": lambda array: np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("array", [MAP, VOLUME], ids=["2-D", "3-D"])
@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.float32])
def test_masks_of_every_form(form, array, dtype):
    mask = as_mask(FORMS[form](array.astype(dtype)))
    assert mask.dtype == np.bool_
    assert mask.flags.c_contiguous
    np.testing.assert_array_equal(mask, array)


@pytest.mark.parametrize("dtype", DTYPES)
def test_masks_of_zeros_and_ones_of_every_dtype(dtype):
    np.testing.assert_array_equal(as_mask(MAP.astype(dtype)), MAP)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, np.float32, np.float64])
def test_masks_of_zeros_and_255(dtype):
    np.testing.assert_array_equal(as_mask(MAP.astype(dtype) * dtype(255)), MAP)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("value", [0, 1])
def test_masks_of_one_value(dtype, value):
    assert (as_mask(np.full((2, 3), value, dtype)) == bool(value)).all()


def test_torch_tensors():
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    import torch

    np.testing.assert_array_equal(as_mask(torch.from_numpy(MAP.copy())), MAP)
    with pytest.raises(InputError, match="detach"):
        as_mask(torch.ones(2, 3, requires_grad=True))


def test_a_tensor_that_cannot_be_read_gets_a_hint():
    class OnDevice:
        def __array__(self, dtype=None, copy=None):
            raise TypeError("cannot convert a device tensor")

        def cpu(self):
            return MAP

    with pytest.raises(InputError, match=r"detached and on the CPU.*cannot convert a device tensor"):
        as_mask(OnDevice())


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            np.array([[0, 128, 255]], np.uint8),
            r"must be binary .* 3 values \(0, 128, 255\); threshold it first",
        ),
        (np.array([[0, 1, 255]], np.uint8), "must be binary"),
        (np.array([[0.0, 0.5]]), "must be binary"),
        (np.array([[0, -1]]), "must be binary"),
        (np.array([[-1, 1]]), "must be binary"),
        (np.array([[0, 2]]), "must be binary"),
        (np.array([[0, 254]]), "must be binary"),
        (np.array([[0.0, np.inf]]), "must be binary"),
        (np.arange(12).reshape(3, 4), r"12 values \(0, 1, 2, 3, …\)"),
        (np.array([[0.0, np.nan]]), "holds NaN"),
        (np.array([[np.nan, 1.0]]), "holds NaN"),
        (np.array([["a", "b"]]), "got dtype <U1"),
        (np.array([[0j, 1j]]), "got dtype complex128"),
        (np.array([[None, 1]], object), "got dtype object"),
        (np.zeros(4, bool), "must have 2 or 3 dimensions"),
        (np.zeros((2, 2, 2, 2), bool), "must have 2 or 3 dimensions"),
        (np.zeros((0, 4), bool), "has no pixels"),
        (True, "must have 2 or 3 dimensions"),
        (None, "must be an array, got NoneType"),
        ([[0, 1], [0]], "cannot be read as an array"),
    ],
)
def test_masks_refused_in_words(data, words):
    with pytest.raises(InputError, match=words) as caught:
        as_mask(data, "candidate")
    assert str(caught.value).startswith("candidate ")


def test_shapes_must_agree():
    with pytest.raises(InputError, match=r"same shape, got \(3, 4\) and \(4, 3\)"):
        as_pair(MAP, MAP.T)
    with pytest.raises(InputError, match="same shape"):
        as_pair(MAP, VOLUME)
    with pytest.raises(InputError, match=r"batch or channel axis: map\[0\]"):
        as_pair(MAP[None], MAP)


def test_masked_values_are_refused_rather_than_counted():
    hidden = np.ma.masked_array(MAP, mask=MAP)
    for read in (as_mask, as_strength, as_array):
        with pytest.raises(InputError, match=rf"map is a masked array with {MAP.sum()} masked.*filled\(0\)"):
            read(hidden, "map")
        assert np.array_equal(read(np.ma.masked_array(MAP, mask=False), "map"), MAP)
    assert np.array_equal(as_mask(hidden.filled(0)), np.zeros_like(MAP))


def test_a_boolean_map_is_not_copied():
    assert np.shares_memory(as_mask(MAP), MAP)
    assert as_array(MAP) is MAP


@pytest.mark.parametrize(
    ("data", "expected", "dtype"),
    [
        (np.array([[0, 51, 255]], np.uint8), [[0, 0.2, 1]], np.float64),
        (np.array([[0, 13107, 65535]], np.uint16), [[0, 0.2, 1]], np.float64),
        (np.array([[0, 0.25, 1]], np.float32), [[0, 0.25, 1]], np.float32),
        (np.array([[0, 0.25, 1]], np.float16), [[0, 0.25, 1]], np.float64),
        (np.array([[False, True]]), [[0, 1]], np.float64),
        (np.array([[0, 1]], np.int64), [[0, 1]], np.float64),
        (OnlyDLPack(np.array([[0.5]])), [[0.5]], np.float64),
    ],
)
def test_strengths(data, expected, dtype):
    strength = as_strength(data)
    assert strength.dtype == dtype
    assert strength.flags.c_contiguous
    np.testing.assert_allclose(strength, expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (np.array([[0.0, 1.5]]), r"must lie in \[0, 1\], got values from 0 to 1.5"),
        (np.array([[-0.1, 1.0]]), "must lie in .* take the sigmoid of logits"),
        (np.array([[0.0, np.inf]]), "must lie in"),
        (np.array([[0.0, np.nan]]), "holds NaN"),
        (np.array([["x"]]), "must hold numbers"),
        (np.array([[1j]]), "must hold numbers"),
        (np.zeros(3), "2 or 3 dimensions"),
        (np.zeros((3, 0)), "has no pixels"),
    ],
)
def test_strengths_refused_in_words(data, words):
    with pytest.raises(InputError, match=words):
        as_strength(data)


@pytest.mark.parametrize(
    ("spacing", "ndim", "expected"),
    [
        (None, 3, (1.0, 1.0, 1.0)),
        (0.5, 2, (0.5, 0.5)),
        ([2, 1], 2, (2.0, 1.0)),
        ((3, 0.5, 0.5), 3, (3.0, 0.5, 0.5)),
        (np.array([1.0, 2.0]), 2, (1.0, 2.0)),
    ],
)
def test_spacing(spacing, ndim, expected):
    assert as_spacing(spacing, ndim) == expected


@pytest.mark.parametrize(
    ("spacing", "words"),
    [
        ((1, 2, 3), "must have 2 numbers, one per axis, got 3"),
        (0, "positive and finite"),
        (-1, "positive and finite"),
        ((1, math.nan), "positive and finite"),
        ((1, math.inf), "positive and finite"),
        (1e-300, "positive and finite"),
        ("wide", "one number or one per axis"),
    ],
)
def test_spacing_refused_in_words(spacing, words):
    with pytest.raises(InputError, match=words):
        as_spacing(spacing, 2)


def test_tolerance():
    assert diagonal((3, 4), (1, 1)) == 5
    assert diagonal((3, 4), (2, 2)) == 10
    assert as_tolerance((3, 4), (1, 1)) == pytest.approx(0.0375)
    assert as_tolerance((3, 4), (2, 2), relative_tolerance=0.1) == pytest.approx(1)
    assert as_tolerance((3, 4), (2, 2), tolerance=3) == 3
    assert as_tolerance((3, 4), (1, 1), tolerance=0) == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tolerance": -1}, "finite number ≥ 0, got -1"),
        ({"tolerance": math.nan}, "finite number"),
        ({"tolerance": math.inf}, "finite number"),
        ({"tolerance": "near"}, "must be a number, got 'near'"),
        ({"relative_tolerance": -0.1}, "finite number"),
        ({"relative_tolerance": 4.3}, "share of the diagonal, at most 1, got 4.3; give pixels as tolerance"),
        ({"tolerance": 1, "relative_tolerance": 0.1}, "not both"),
    ],
)
def test_tolerance_refused_in_words(options, words):
    with pytest.raises(InputError, match=words):
        as_tolerance((3, 4), (1, 1), **options)


NEIGHBOURHOODS = [name for name in strategies.names() if name not in ("area", "distance")]


@pytest.mark.parametrize("name", NEIGHBOURHOODS)
def test_a_neighbourhood_that_does_not_fit_in_memory_is_refused(name):
    windowed = strategies.get(name).info.reach == "window"
    options = {"strategy": f"{name}(window=1000001)"} if windowed else {"strategy": name, "tolerance": 1e6}
    with pytest.raises(InputError, match="smaller"):
        match(MAP, MAP, **options)


@pytest.mark.parametrize("name", strategies.names())
@pytest.mark.parametrize("array", [MAP, VOLUME], ids=["2-D", "3-D"])
def test_inputs_are_never_changed(name, array):
    truth = np.roll(array, 1, axis=-1)
    maps = (array.copy(), truth.copy())
    frozen = (read_only(array), read_only(truth))
    from_writable, from_frozen = match(*maps, strategy=name), match(*frozen, strategy=name)
    np.testing.assert_array_equal(maps[0], array)
    np.testing.assert_array_equal(maps[1], truth)
    assert from_writable.as_dict() == from_frozen.as_dict()
