"""Suppression, hysteresis and the double threshold against slow twins and scikit-image."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage as ndi
from skimage import filters

from edgecritic.detectors import detect
from edgecritic.detectors.bowstring import bowstring, rosin_bin
from edgecritic.detectors.nms import crests
from edgecritic.errors import InputError
from edgecritic.maps.hysteresis import connected_to, hysteresis

pytestmark = pytest.mark.kernels


def twin(magnitude: np.ndarray, direction: np.ndarray, strict: bool, nearest: bool) -> np.ndarray:
    """Look at the point where the direction leaves the cube of neighbours, with SciPy's interpolation."""
    keep = np.zeros(magnitude.shape, bool)
    for place in itertools.product(*[range(1, n - 1) for n in magnitude.shape]):
        step = direction[(slice(None), *place)]
        if magnitude[place] <= 0 or not step.any():
            continue
        step = step / np.abs(step).max()
        if nearest:
            step = np.sign(step) * (np.abs(step) > np.tan(np.pi / 8))
        values = [
            ndi.map_coordinates(magnitude, (np.array(place) + sign * step)[:, None], order=1)[0]
            for sign in (-1, 1)
        ]
        behind, ahead = np.round(values, 9)
        here = magnitude[place]
        keep[place] = (here > behind if strict else here >= behind) and here >= ahead
    return keep


@given(st.integers(0, 10**6), st.sampled_from([(7, 8), (4, 5, 6)]), st.booleans(), st.booleans())
def test_crests_against_a_slow_twin(seed: int, shape: tuple[int, ...], strict: bool, nearest: bool) -> None:
    rng = np.random.default_rng(seed)
    magnitude = rng.integers(0, 4, shape) / 4
    direction = rng.integers(-2, 3, (len(shape), *shape)).astype(float)
    found = crests(
        magnitude,
        direction,
        ties="one" if strict else "both",
        neighbours="nearest" if nearest else "interpolated",
        slack=1e-9,
    )
    np.testing.assert_array_equal(found, twin(magnitude, direction, strict, nearest))


def test_crests_refuse_what_does_not_fit() -> None:
    plane = np.ones((3, 3))
    with pytest.raises(InputError, match="one array for each"):
        crests(plane, [plane])
    with pytest.raises(InputError, match="same shape"):
        crests(plane, [plane, plane[:2]])
    with pytest.raises(InputError, match="neighbours"):
        crests(plane, [plane, plane], neighbours="far")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="ties"):
        crests(plane, [plane, plane], ties="none")  # type: ignore[arg-type]


@given(st.integers(0, 10**6), st.sampled_from([(9, 11), (5, 6, 7), (1, 1)]))
def test_hysteresis_against_skimage(seed: int, shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(seed).random(shape) ** 3
    # scikit-image links the 4 (6) nearest neighbours only; label with all 8 (26) instead.
    labels, _ = ndi.label(values > 0.2, structure=np.ones((3,) * len(shape)))
    strong = np.unique(labels[values >= 0.6])
    expected = np.isin(labels, strong[strong > 0])
    np.testing.assert_array_equal(hysteresis(values, 0.2, 0.6), expected)
    assert not (filters.apply_hysteresis_threshold(values, 0.2, 0.6) & ~expected).any()


def test_hysteresis_at_zero_and_wrong_thresholds() -> None:
    assert not hysteresis(np.zeros((3, 3)), 0, 0).any()
    assert hysteresis([[0.2, 0.3, 0.6]], 0.2, 0.6).tolist() == [[False, True, True]]
    with pytest.raises(InputError, match="low must not exceed high"):
        hysteresis(np.zeros((3, 3)), 0.5, 0.2)
    with pytest.raises(InputError, match="2-D or 3-D"):
        hysteresis(np.zeros(3), 0.1, 0.2)
    with pytest.raises(InputError, match="same shape"):
        connected_to(np.zeros((2, 2), bool), np.zeros((3, 3), bool))


def distance_to_chord(heights: np.ndarray, first: int, last: int, place: int) -> float:
    start, end = np.array([first, heights[first]]), np.array([last, heights[last]])
    point = np.array([place, heights[place]])
    along = (end - start) / np.linalg.norm(end - start)
    return float(np.linalg.norm((point - start) - (point - start) @ along * along))


@given(st.lists(st.integers(0, 50), min_size=3, max_size=12))
def test_rosin_bin_is_the_farthest_from_the_chord(counts: list[int]) -> None:
    heights = np.array(counts, float)
    peak = int(heights.argmax())
    end = next((i for i in range(peak, heights.size) if heights[i] == 0), heights.size - 1)
    inner = range(peak + 1, end)
    found = rosin_bin(counts)
    if not inner:
        assert found == peak
    else:
        distances = [distance_to_chord(heights, peak, end, place) for place in inner]
        assert found in inner
        assert distances[found - peak - 1] == pytest.approx(max(distances), abs=1e-9)


def test_bowstring_separates_a_background_from_edges() -> None:
    rng = np.random.default_rng(0)
    background = np.abs(rng.normal(0, 0.04, 9500))
    edges = rng.uniform(0.4, 1.0, 500)
    values = np.clip(np.concatenate([background, edges]), 0, 1).reshape(100, 100)
    low, high = bowstring(values)
    assert 0 < low < high < 0.4
    assert np.mean(background > high) < 0.1


def test_bowstring_of_flat_maps_and_wrong_bins() -> None:
    assert bowstring(np.zeros((4, 4))) == (0, 0)
    assert bowstring(np.ones((4, 4))).high == pytest.approx(100 / 101)
    with pytest.raises(InputError, match="bins"):
        bowstring(np.zeros((4, 4)), bins=2)


def test_detection_thresholds() -> None:
    step = np.zeros((20, 20))
    step[5:15, 5:15] = 1
    found = detect(step, "canny(sigma=1)")
    np.testing.assert_array_equal(found.binary(0), found.thin > 0)
    np.testing.assert_array_equal(found.binary(0.5), found.thin >= 0.5)
    np.testing.assert_array_equal(found.hysteresis(high=0.5), hysteresis(found.thin, 0.2, 0.5))
    low, high = bowstring(found.strength)
    np.testing.assert_array_equal(found.hysteresis(), hysteresis(found.thin, low, high))
    with pytest.raises(InputError, match="low needs high"):
        found.hysteresis(low=0.1)
    assert "canny" in str(found)
