"""Non-maximum suppression against a plain NumPy twin, and what it must do to simple ridges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from edgecritic.errors import InputError, UnknownNameError
from edgecritic.kernels import suppression as kernels
from edgecritic.maps.suppression import (
    RECIPES,
    Recipe,
    edge_orientation,
    get_recipe,
    suppress,
    triangle_filter,
)

pytestmark = pytest.mark.kernels

F = np.float32


def triangle_weights(radius):
    if radius <= 1:
        middle = 12 / (radius * (radius + 2)) - 2
        return np.array([1, middle, 1]) / (2 + middle)
    return np.convolve(np.ones(int(radius) + 1), np.ones(int(radius) + 1)) / (radius + 1) ** 2


def twin_filter(image, radius):
    """SciPy's correlation; mode "reflect" repeats the border pixels."""
    if radius == 0:
        return np.asarray(image, F)
    weights = triangle_weights(radius)
    wide = ndimage.correlate1d(np.asarray(image, float), weights, axis=1, mode="reflect")
    return ndimage.correlate1d(wide, weights, axis=0, mode="reflect")


def twin_orientation(image):
    """The formula in float64, with NumPy's gradient."""
    along_y, along_x = np.gradient(image)
    xx = np.gradient(along_x, axis=1)
    yy, xy = np.gradient(along_y)
    return np.mod(np.arctan(yy * np.sign(-xy) / (xx + 1e-5)), np.pi)


def twin_margin(image, angle, radius, lenient):
    """For each pixel: the smallest of lenient·E(p) − E(neighbour), by SciPy's bilinear interpolation."""
    rows, columns = image.shape
    y, x = np.mgrid[:rows, :columns].astype(float)
    margin = np.full(image.shape, np.inf)
    for step in range(-radius, radius + 1):
        if step:
            there = [
                np.clip(y + step * np.sin(angle), 0, rows - 1.001),
                np.clip(x + step * np.cos(angle), 0, columns - 1.001),
            ]
            margin = np.minimum(margin, lenient * image - ndimage.map_coordinates(image, there, order=1))
    return margin


def twin_ramp(shape, border):
    def one(size):
        width = min(border, shape[0] // 2, shape[1] // 2)
        steps = np.minimum(np.arange(size), np.arange(size)[::-1])
        return np.minimum(steps / width, 1) if width else np.ones(size)

    return np.outer(one(shape[0]), one(shape[1]))


def smooth_noise(seed, shape, sigma=1.5):
    noise = ndimage.gaussian_filter(np.random.default_rng(seed).random(shape), sigma)
    return ((noise - noise.min()) / (noise.max() - noise.min())).astype(F)


@pytest.mark.parametrize("radius", [0.3, 0.5, 1, 2, 4, 7])
@pytest.mark.parametrize("shape", [(17, 23), (1, 30), (30, 1), (2, 3), (3, 2)])
def test_triangle_filter_is_scipys_correlation(radius, shape):
    image = np.random.default_rng(5).random(shape)
    found = triangle_filter(image, radius)
    assert found.dtype == F
    np.testing.assert_allclose(found, twin_filter(image, radius), atol=2e-6)


def test_orientation_follows_the_formula():
    image = smooth_noise(1, (40, 50))
    expected = twin_orientation(twin_filter(image, 4).astype(float))
    difference = np.abs(edge_orientation(image) - expected)
    difference = np.minimum(difference, np.pi - difference)
    # Second differences in float32 carry noise of about 1e-7 / 1e-3; sign flips where Oxy is near 0.
    assert np.quantile(difference, 0.97) < 2e-2


@given(st.integers(0, 10**6), st.sampled_from(["hed", "rcf", "rcf_nyud", "cats", "opencv", "sdped", "teed"]))
def test_suppress_agrees_with_the_twin(seed, name):
    recipe = RECIPES[name]
    image = smooth_noise(seed, (24, 31)) * F(0.8)
    angle = np.random.default_rng(seed).uniform(0, np.pi, image.shape).astype(F)
    found = suppress(image, name, orientation=angle)
    base = image / image.max() if recipe.normalise else image
    base = np.asarray(twin_filter(base, recipe.smooth), float)
    margin = twin_margin(base, angle.astype(float), recipe.radius, recipe.lenient)
    ramp = twin_ramp(image.shape, recipe.border)
    sure = (np.abs(margin) > 1e-4) & (base > 1e-4) & (ramp > 0)
    np.testing.assert_array_equal((found > 0)[sure], (margin >= 0)[sure])
    kept = found > 0
    np.testing.assert_allclose(found[kept], (base * ramp)[kept], atol=2e-6)
    assert not found[ramp == 0].any()
    assert 0.02 < kept.mean() < 0.9


def look_up(strength, y, x):
    """Interpolate as the recipe says, in float32."""
    rows, columns = strength.shape
    x = np.maximum(np.minimum(x, F(columns) - F(1.001)), F(0))
    y = np.maximum(np.minimum(y, F(rows) - F(1.001)), F(0))
    left, top = x.astype(int), y.astype(int)
    right, bottom = np.minimum(left + 1, columns - 1), np.minimum(top + 1, rows - 1)
    x1, y1 = x - left.astype(F), y - top.astype(F)
    x0, y0 = F(1) - x1, F(1) - y1
    value = strength[top, left] * x0 * y0 + strength[top, right] * x1 * y0
    return value + strength[bottom, left] * x0 * y1 + strength[bottom, right] * x1 * y1


DIRECTIONS = [0, 0.5, 1, -1, 0.7071068, -0.25, 1e-8, -1e-8, 1.0000001, 3.5, -1e6]


@pytest.mark.parametrize("steps", ["unit", "any", "even"])
@pytest.mark.parametrize("lenient", [1.0, 1.01, 0.9])
def test_every_pixel_is_kept_or_not_as_one_by_one(steps, lenient):
    """To the last bit, ties and the frame included, and steps longer than 1, which rounding may give."""
    for seed in range(80):
        rng = np.random.default_rng(seed)
        shape, radius = (rng.integers(1, 9), rng.integers(1, 24)), 1 + seed % 3
        strength = (rng.integers(0, 6, shape) / F(5)).astype(F)
        angle = rng.uniform(0, 2 * np.pi, shape)
        cosine, sine = np.cos(angle).astype(F), np.sin(angle).astype(F)
        if steps == "any":
            places = rng.random(shape) < 0.1
            cosine[places], sine[places] = rng.choice(DIRECTIONS, (2, places.sum())).astype(F)
        elif steps == "even":  # many look-ups are ties, unless one is clamped
            cosine, sine = rng.choice([-1, -0.5, 0.5, 1], (2, *shape)).astype(F)
        y, x = np.mgrid[: shape[0], : shape[1]].astype(F)
        highest = np.zeros(shape, F)
        for step in range(1, radius + 1):
            dy, dx = F(step) * sine, F(step) * cosine
            highest = np.maximum(highest, look_up(strength, y + dy, x + dx))
            highest = np.maximum(highest, look_up(strength, y - dy, x - dx))
        expected = np.where(strength * F(lenient) < highest, F(0), strength)
        found = kernels.keep_maxima(strength, cosine, sine, radius, F(lenient))
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("taps", [1, 3, 5, 7, 9, 11])
def test_filter_rounds_as_tap_by_tap(taps):
    rng = np.random.default_rng(taps)
    image, weights = rng.random((13, 17)).astype(F), rng.random(taps).astype(F)
    padded = np.pad(image, taps // 2, mode="symmetric")
    columns = np.zeros((13, padded.shape[1]), F)
    for tap, weight in enumerate(weights):
        columns += weight * padded[tap : tap + 13]
    expected = np.zeros((13, 17), F)
    for tap, weight in enumerate(weights):
        expected += weight * columns[:, tap : tap + 17]
    np.testing.assert_array_equal(kernels.convolve(image, weights), expected)


def test_default_orientation_is_used():
    image = smooth_noise(3, (60, 70))
    smoothed = triangle_filter(image, 1)
    given_angle = suppress(image, "hed", orientation=edge_orientation(smoothed))
    agree = (suppress(image, "hed") > 0) == (given_angle > 0)
    assert agree.mean() > 0.999


def test_vertical_ridge_keeps_its_crest():
    profile = np.exp(-(((np.arange(41) - 20) / 3.0) ** 2))
    ridge = np.tile(profile, (31, 1))
    thin = suppress(ridge, "nms(border=0, smooth=0)")
    assert (thin[:, 20] == 1).all()
    assert np.count_nonzero(thin[:, 11:30]) == 31


def test_slanted_ridge_keeps_its_crest():
    y, x = np.mgrid[:61, :61]
    for degrees in (20, 45, 70, 110, 135, 160):
        normal = math.radians(degrees)
        distance = (x - 30) * math.cos(normal) + (y - 30) * math.sin(normal)
        ridge = np.exp(-((distance / 2.5) ** 2))
        thin = suppress(ridge, "nms(border=0, smooth=0)")[8:-8, 8:-8]
        assert np.abs(distance[8:-8, 8:-8][thin > 0.05]).max() < 1.0
        assert (thin > 0.05).any(axis=0 if 45 < degrees < 135 else 1).all()


def test_quarter_turn_turns_the_result():
    image = smooth_noise(8, (80, 80), 2.5)
    turned = np.rot90(suppress(np.rot90(image), "rcf(border=0)"), -1)
    agree = (turned > 0) == (suppress(image, "rcf(border=0)") > 0)
    assert agree[2:-2, 2:-2].mean() > 0.98


def test_border_fades_linearly():
    flat = np.full((40, 30), 0.5, F)
    faded = suppress(flat, "nms(border=5, smooth=0)")
    np.testing.assert_allclose(faded[20, :6], 0.5 * np.array([0, 0.2, 0.4, 0.6, 0.8, 1]), atol=1e-7)
    np.testing.assert_allclose(faded, np.flip(faded), atol=0)
    np.testing.assert_allclose(faded[2, 1], 0.5 * 0.4 * 0.2, atol=1e-7)
    tiny = suppress(np.full((4, 20), 0.5, F), "nms(border=5, smooth=0)")
    np.testing.assert_allclose(tiny[:, 10], [0, 0.25, 0.25, 0], atol=1e-7)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (2, 2)])
def test_tiny_maps(shape):
    found = suppress(np.full(shape, 0.5), "hed(border=0)")
    np.testing.assert_allclose(found, 0.5, atol=1e-6)


def test_input_kinds_and_read_only():
    eight_bit = (smooth_noise(2, (20, 25)) * 255).astype(np.uint8)
    expected = suppress(eight_bit / 255)
    view = np.repeat(eight_bit, 2, axis=1)[:, ::2]
    view.flags.writeable = False
    np.testing.assert_array_equal(suppress(view), expected)
    assert expected.dtype == F


def test_none_returns_a_copy():
    image = smooth_noise(4, (6, 7))
    found = suppress(image, "none")
    np.testing.assert_array_equal(found, image)
    assert not np.shares_memory(found, image)


@pytest.mark.parametrize("name", RECIPES)
def test_recipes_round_trip(name):
    recipe = get_recipe(name)
    assert get_recipe(str(recipe)) == recipe
    assert recipe.source


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ("nms(radius=1.5)", "radius must be a whole number"),
        ("nms(radius=-1)", "radius"),
        ("nms(border=True)", "border"),
        ("nms(lenient=0)", "lenient"),
        ("nms(smooth=2.5)", "whole number"),
        ("nms(smooth=-1)", "smooth"),
        ("nms(normalise=3)", "normalise"),
        ("nms(width=3)", "no parameter 'width'"),
        ("none(radius=3)", "no parameters"),
        ("hed radius", "an id has the form"),
    ],
)
def test_bad_recipes_are_refused(recipe, message):
    with pytest.raises(InputError, match=message):
        get_recipe(recipe)


def test_unknown_recipe_names_a_near_one():
    with pytest.raises(UnknownNameError, match="did you mean 'dexined'"):
        get_recipe("dexinet")


def test_bad_arrays_are_refused():
    with pytest.raises(InputError, match="2-D"):
        suppress(np.zeros((3, 4, 5)))
    with pytest.raises(InputError, match="orientation must have"):
        suppress(np.zeros((3, 4)), orientation=np.zeros((4, 3)))
    with pytest.raises(InputError, match="NaN"):
        suppress(np.zeros((3, 4)), orientation=np.full((3, 4), np.nan))
    with pytest.raises(InputError, match="2 dimensions"):
        triangle_filter(np.zeros(4), 1)


def test_recipe_defaults_are_the_hed_numbers():
    assert Recipe() == RECIPES["hed"] == get_recipe("hed")
