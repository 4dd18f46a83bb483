"""Half-disc gradients against a plain double loop, closed forms and symmetries; the parabola's filter."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from edgecritic.learned.gradients import ORIENTATIONS, half_disc_gradient, smooth_across

RNG = np.random.default_rng(4)


def plain(labels: NDArray[np.uint8], radius: float, bins: int, smooth: int) -> NDArray[np.float64]:
    """Return the same by definition: every pixel, orientation and point of the disc one by one."""
    rows, columns = labels.shape
    reach = int(radius)
    box = np.ones(2**smooth)
    triangle = np.convolve(box, box)
    spread = np.zeros((bins, bins))
    for b in range(bins):
        for j, weight in enumerate(triangle):
            if 0 <= b + j - len(triangle) // 2 < bins:
                spread[b, b + j - len(triangle) // 2] = weight
        spread[b] /= spread[b].sum()
    out = np.zeros((ORIENTATIONS, rows, columns))
    for o in range(ORIENTATIONS):
        angle = math.pi * o / ORIENTATIONS
        for y in range(rows):
            for x in range(columns):
                sides = np.zeros((2, bins))
                for dy in range(-reach, reach + 1):
                    for dx in range(-reach, reach + 1):
                        inside = 0 <= y + dy < rows and 0 <= x + dx < columns
                        if (dy or dx) and dy * dy + dx * dx <= radius * radius and inside:
                            side = dy * math.cos(angle) - dx * math.sin(angle)
                            share = 0.5 if abs(side) < 1e-9 else float(side > 0)
                            sides[0, labels[y + dy, x + dx]] += share
                            sides[1, labels[y + dy, x + dx]] += 1 - share
                if (sides.sum(axis=1) > 0).all():
                    g, h = (side @ spread / side.sum() for side in sides)
                    some = g + h > 0
                    out[o, y, x] = 0.5 * ((g - h)[some] ** 2 / (g + h)[some]).sum()
    return out


@pytest.mark.parametrize(
    ("radius", "bins", "smooth", "low", "high"),
    [(1.5, 8, 0, 0, 8), (3.2, 32, 3, 0, 32), (3.2, 32, 1, 13, 19), (2.9, 64, 0, 0, 64), (2.5, 16, 2, 14, 16)],
)
@pytest.mark.kernels
def test_equals_a_double_loop(radius: float, bins: int, smooth: int, low: int, high: int) -> None:
    labels = RNG.integers(low, high, (9, 11)).astype(np.uint8)
    for _ in range(2):  # nothing may be left over from the first time
        found = half_disc_gradient(labels, radius, bins, smooth=smooth)
        np.testing.assert_allclose(found, plain(labels, radius, bins, smooth), atol=2e-6)


def test_a_step_at_a_distance() -> None:
    """(1 − p)/(1 + p) with p = (2/π)(asin t + t√(1 − t²)), t = d/r, for the diameter along the step."""
    radius, size = 60.0, 141
    for distance in (0, 15, 30, 50):
        labels = np.zeros((size, size), np.uint8)
        labels[:, size // 2 + distance :] = 1
        found = half_disc_gradient(labels, radius, 8)[4, size // 2, size // 2]
        t = abs(distance - 0.5) / radius  # the step is between two columns
        p = 2 / math.pi * (math.asin(t) + t * math.sqrt(1 - t * t))
        assert found == pytest.approx((1 - p) / (1 + p), abs=5e-4)


def test_a_step_that_is_turned() -> None:
    """(1 − 2φ/π)² for a step through the centre, φ away from the diameter."""
    rows, columns = np.mgrid[-70:71, -70:71]
    labels = (rows * math.cos(math.pi / 8) > columns * math.sin(math.pi / 8)).astype(np.uint8)
    found = half_disc_gradient(labels, 60.0, 8)[:, 70, 70]
    for o in range(ORIENTATIONS):
        turned = min(abs(o - 1), 8 - abs(o - 1)) * math.pi / ORIENTATIONS
        assert found[o] == pytest.approx((1 - 2 * turned / math.pi) ** 2, abs=0.003)


@pytest.mark.parametrize("smooth", [0, 1, 3])
@pytest.mark.kernels
def test_a_constant_image_has_no_gradient(smooth: int) -> None:
    assert not half_disc_gradient(np.full((9, 12), 31, np.uint8), 3.3, 32, smooth=smooth).any()


@pytest.mark.parametrize("smooth", [0, 1, 3])
@pytest.mark.kernels
def test_turned_and_mirrored_images_give_the_same_bits(smooth: int) -> None:
    labels = RNG.integers(0, 32, (13, 17)).astype(np.uint8)
    found = half_disc_gradient(labels, 4.1, 32, smooth=smooth)
    order = np.arange(ORIENTATIONS)
    turned = half_disc_gradient(np.rot90(labels).copy(), 4.1, 32, smooth=smooth)
    np.testing.assert_array_equal(turned[(order + 4) % 8], np.rot90(found, axes=(1, 2)))
    mirrored = half_disc_gradient(labels[:, ::-1].copy(), 4.1, 32, smooth=smooth)
    np.testing.assert_array_equal(mirrored[(8 - order) % 8], found[:, :, ::-1])


def test_the_parabola_is_exact_on_parabolas() -> None:
    rows, columns = np.mgrid[0:40, 0:40] - 20.0
    for o in range(ORIENTATIONS):
        angle = math.pi * o / ORIENTATIONS
        across = rows * math.cos(angle) - columns * math.sin(angle)
        plane = 9 + 0.3 * across + 0.02 * across**2
        stack = np.tile(plane.astype(np.float32), (ORIENTATIONS, 1, 1))
        found = smooth_across(stack, 6.0)[o]
        np.testing.assert_allclose(found[8:-8, 8:-8], plane[8:-8, 8:-8], rtol=1e-5)
    assert smooth_across(-stack, 6.0).min() == 0
