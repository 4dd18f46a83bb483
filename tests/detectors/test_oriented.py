"""Oriented and steerable detectors against direct convolution and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage as ndi
from scipy.special import eval_hermitenorm

from edgecritic.detectors import detect
from edgecritic.detectors.anisotropic import anisotropic_kernels
from edgecritic.detectors.base import bind, operator_for
from edgecritic.detectors.half_gaussian import half_gaussian_kernels
from edgecritic.detectors.operators import apply
from edgecritic.detectors.picture import as_picture
from edgecritic.detectors.steerable import template_terms
from edgecritic.errors import InputError

RNG = np.random.default_rng(11)
PHOTO = 3 + ndi.gaussian_filter(RNG.random((37, 46)), 1.2)


def raw(name: str, image: np.ndarray) -> np.ndarray:
    found = detect(image, name)
    return found.strength * found.maximum


def convolved(image: np.ndarray, kernels: list[np.ndarray]) -> np.ndarray:
    radius = kernels[0].shape[0] // 2
    if 2 * radius > min(image.shape):
        # SciPy's own mirroring reads wrong values if the kernel is much larger than the image.
        image = np.pad(image, 2 * radius, mode="symmetric")
        inner = (slice(2 * radius, -2 * radius),) * 2
        return np.stack([ndi.convolve(image, kernel)[inner] for kernel in kernels])
    return np.stack([ndi.convolve(image, kernel, mode="reflect") for kernel in kernels])


@pytest.mark.parametrize("shape", [(37, 46), (5, 46), (1, 1), (2, 9)])
def test_anisotropic_against_direct_convolution(shape: tuple[int, int]) -> None:
    image = PHOTO[: shape[0], : shape[1]]
    expected = np.abs(convolved(image, anisotropic_kernels(1, 3, step=15))).max(axis=0)
    np.testing.assert_allclose(raw("anisotropic(sigma_v=3, step=15)", image), expected, atol=1e-10)


@pytest.mark.parametrize("shape", [(37, 46), (5, 46), (1, 1), (2, 9)])
def test_half_gaussian_against_direct_convolution(shape: tuple[int, int]) -> None:
    image = PHOTO[: shape[0], : shape[1]]
    every = convolved(image, half_gaussian_kernels(1, 3, step=15))
    np.testing.assert_allclose(
        raw("half_gaussian(sigma_v=3, step=15)", image), every.max(axis=0) - every.min(axis=0), atol=1e-10
    )


def test_kernels_are_derivatives_of_elongated_gaussians() -> None:
    for kernel, angle in zip(
        anisotropic_kernels(1, 4, step=30), np.radians(np.arange(0, 180, 30)), strict=True
    ):
        y, x = np.mgrid[-16:17, -16:17]
        cross, along = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
        ideal = -cross * np.exp(-(cross**2) / 2 - along**2 / 32)
        np.testing.assert_allclose(kernel * ideal[ideal > 0].sum(), ideal, atol=1e-12)
    for kernel in half_gaussian_kernels(1, 4, step=10):
        assert kernel[kernel > 0].sum() == pytest.approx(1)
        assert kernel.sum() == pytest.approx(0, abs=1e-12)
    # Gradient to the right: after the flip of the convolution the kernel looks at rows further down.
    first = half_gaussian_kernels(1, 4, step=10)[0]
    assert first[:16].any()
    assert not first[17:].any()
    assert ndi.convolve(np.eye(1, 33, 20).T @ np.ones((1, 33)) * (np.arange(33) > 16), first)[16, 16] > 0


def test_halves_make_a_whole_on_straight_edges() -> None:
    step = np.zeros((61, 61))
    step[:, 31:] = 1
    step[:, 30] = 0.5
    every = convolved(step, half_gaussian_kernels(1, 3, step=15))
    middle = every[:, 30, 30]
    np.testing.assert_allclose(middle[:12], -middle[12:], atol=1e-12)
    sharp = (step > 0).astype(float)
    assert detect(sharp, "half_gaussian(sigma_v=3)").maximum == pytest.approx(2)
    assert detect(sharp, "anisotropic(sigma_v=3)").maximum == pytest.approx(1)


def test_half_kernels_see_corners_better() -> None:
    image = np.zeros((64, 64))
    image[32:, 32:] = 1
    whole, half = detect(image, "anisotropic"), detect(image, "half_gaussian")
    assert half.strength[32, 32] > whole.strength[32, 32]
    assert half.orientation is not None
    assert half.orientation[32, 32] == pytest.approx(np.pi / 4, abs=np.radians(6))


@pytest.mark.parametrize(
    "name", ["anisotropic", "half_gaussian", "steerable(order=3, sigma=2)", "steerable(sigma=2)"]
)
def test_orientation_of_turned_steps(name: str) -> None:
    rows, columns = np.mgrid[:61, :61] - 30.0
    for degrees in (0, 20, 45, 90, 130, 180, -75):
        angle = np.radians(degrees)
        step = np.clip(columns * np.cos(angle) + rows * np.sin(angle) + 0.5, 0, 1)
        found = detect(step, name)
        assert found.orientation is not None
        turned = np.angle(np.exp(1j * (found.orientation[30, 30] - angle)))
        assert abs(turned) < np.radians(3)


@pytest.mark.parametrize(
    "name",
    [
        "central",
        "sobel",
        "prewitt",
        "canny",
        "log",
        "steerable(order=1)",
        "steerable(order=3)",
        "steerable",
        "anisotropic(step=15)",
        "half_gaussian(step=15)",
    ],
)
def test_turning_the_image_turns_the_response(name: str) -> None:
    found, turned = detect(PHOTO, name), detect(np.rot90(PHOTO).copy(), name)
    np.testing.assert_allclose(turned.strength, np.rot90(found.strength), atol=1e-9)
    np.testing.assert_array_equal(turned.thin > 0, np.rot90(found.thin > 0))
    assert turned.maximum == pytest.approx(found.maximum)


def template(order: int, sigma: float, angle: float, radius: int) -> np.ndarray:
    """The filter turned by an angle, sampled from the formula with SciPy's Hermite polynomials."""
    rows, columns = np.mgrid[-radius : radius + 1, -radius : radius + 1].astype(float) / sigma
    x, y = columns * np.cos(angle) + rows * np.sin(angle), rows * np.cos(angle) - columns * np.sin(angle)
    gauss = np.exp(-(x**2 + y**2) / 2) / (2 * np.pi * sigma**2)
    return gauss * sum(
        factor * (-1 / sigma) ** (a + b) * eval_hermitenorm(a, x) * eval_hermitenorm(b, y)
        for (a, b), factor in template_terms(order, sigma).items()
    )


@pytest.mark.parametrize("order, gain, width", [(1, 3.92, 65), (3, 4.41, 55), (5, 4.79, 50)])
def test_steerable_step_and_noise(order: int, gain: float, width: int) -> None:
    sigma, radius = 2.0, 8
    step = np.zeros((41, 41))
    step[:, 20:] = 1
    step[:, 20] = 0.5
    responses = [
        ndi.convolve(step, template(order, sigma, np.radians(angle), radius))[20, 20]
        for angle in range(0, 95, 5)
    ]
    noise = np.sqrt((template(order, sigma, 0.0, radius) ** 2).sum())
    found = detect(step, "steerable", order=order, sigma=sigma)
    assert found.maximum == pytest.approx(responses[0], rel=2e-3)
    assert found.maximum / noise == pytest.approx(gain, abs=0.02)
    first_below_half = next(5 * i for i, value in enumerate(responses) if value < responses[0] / 2 - 1e-9)
    assert first_below_half == width


@pytest.mark.parametrize("order", [3, 5])
def test_steerable_is_the_largest_of_many_templates(order: int) -> None:
    image = ndi.gaussian_filter(RNG.random((18, 20)), 1)
    angles = np.radians(np.arange(0, 360, 2))
    every = convolved(image, [template(order, 1.5, angle, 6) for angle in angles])
    inner = (slice(6, -6), slice(6, -6))
    np.testing.assert_allclose(
        raw(f"steerable(order={order}, sigma=1.5)", image)[inner], every.max(axis=0)[inner], rtol=2e-3
    )


def test_steerable_of_order_one_is_canny() -> None:
    one, canny = detect(PHOTO, "steerable(order=1, sigma=2)"), detect(PHOTO, "canny(sigma=2)")
    np.testing.assert_allclose(one.strength, canny.strength, atol=1e-9)
    assert one.maximum == pytest.approx(np.sqrt(2 / np.pi) * canny.maximum)


@pytest.mark.parametrize("name", ["anisotropic(step=30)", "half_gaussian(step=30)", "steerable"])
def test_colours_take_the_strongest_channel(name: str) -> None:
    image = RNG.random((20, 21, 3))
    singles = [raw(name, image[..., channel]) for channel in range(3)]
    np.testing.assert_allclose(raw(name, image), np.max(singles, axis=0), atol=1e-9)


@pytest.mark.parametrize(
    "name",
    [
        "sobel",
        "sobel(style=matlab)",
        "roberts(style=matlab)",
        "canny",
        "canny(style=matlab)",
        "log",
        "log(style=matlab)",
        "steerable",
        "anisotropic(step=30, sigma_v=3)",
        "half_gaussian(step=60, sigma_v=3)",
    ],
)
def test_blocks_do_not_show(name: str) -> None:
    picture = as_picture(PHOTO)
    operator = operator_for(bind(name), picture)
    whole, blocks = apply(operator, picture), apply(operator, picture, side=11)
    np.testing.assert_allclose(blocks.magnitude, whole.magnitude, atol=1e-12)
    np.testing.assert_array_equal(blocks.thin > 0, whole.thin > 0)


def test_blocks_of_volumes_do_not_show() -> None:
    picture = as_picture(RNG.random((9, 10, 11)), "volume")
    for name in ("canny", "log(sigma=1)"):
        operator = operator_for(bind(name), picture)
        whole, blocks = apply(operator, picture), apply(operator, picture, side=4)
        np.testing.assert_allclose(blocks.magnitude, whole.magnitude, atol=1e-12)
        np.testing.assert_array_equal(blocks.thin > 0, whole.thin > 0)


@pytest.mark.parametrize("step", [0, 7, "x", 1e-9, True])
def test_wrong_steps(step: object) -> None:
    with pytest.raises(InputError, match="step"):
        detect(PHOTO, "anisotropic", step=step)
