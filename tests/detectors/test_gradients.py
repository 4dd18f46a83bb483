"""Gradient detectors against SciPy, scikit-image, OpenCV and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage as ndi
from scipy.stats import norm
from skimage import filters

from edgecritic.detectors import detect
from edgecritic.errors import InputError

pytestmark = pytest.mark.kernels

RNG = np.random.default_rng(7)
PHOTO = ndi.gaussian_filter(RNG.random((40, 53)), 1.5)
SLOPES = ("central", "sobel", "prewitt", "roberts", "canny", "steerable(order=5)")
VOLUME = RNG.random((9, 11, 13))


def raw(name: str, image: np.ndarray, **options: object) -> np.ndarray:
    found = detect(image, name, **options)
    return found.strength * found.maximum


@pytest.mark.parametrize("name", ["sobel", "prewitt"])
def test_masks_against_scipy(name: str) -> None:
    for image in (PHOTO, VOLUME):
        parts = [getattr(ndi, name)(image, axis=axis) for axis in range(image.ndim)]
        expected = np.sqrt(sum(part**2 for part in parts))
        np.testing.assert_allclose(
            raw(name, image, kind="volume" if image.ndim == 3 else "auto"), expected, atol=1e-12
        )


@pytest.mark.parametrize("name, factor", [("sobel", 4 * np.sqrt(2)), ("prewitt", 3 * np.sqrt(2))])
def test_masks_against_skimage(name: str, factor: float) -> None:
    np.testing.assert_allclose(raw(name, PHOTO), factor * getattr(filters, name)(PHOTO), atol=1e-12)


def test_roberts_against_skimage() -> None:
    inner = (slice(1, -2), slice(1, -2))
    theirs = filters.roberts(PHOTO) * np.sqrt(2)
    ours = raw("roberts", PHOTO)
    # scikit-image writes the value of a square to its lower right pixel, we to the upper left one.
    shifted = np.roll(theirs, (-1, -1), axis=(0, 1))
    assert min(np.abs(ours - shifted)[inner].max(), np.abs(ours - theirs)[inner].max()) < 1e-12
    manual = np.hypot(PHOTO[:-1, :-1] - PHOTO[1:, 1:], PHOTO[:-1, 1:] - PHOTO[1:, :-1])
    np.testing.assert_allclose(ours[:-1, :-1], manual, atol=1e-12)


@pytest.mark.parametrize("sigma", [0.6, 1.0, 2.5])
def test_canny_gradient_against_scipy(sigma: float) -> None:
    for image in (PHOTO, VOLUME):
        expected = ndi.gaussian_gradient_magnitude(image, sigma)
        np.testing.assert_allclose(
            raw("canny", image, sigma=sigma, kind="volume" if image.ndim == 3 else "auto"),
            expected,
            atol=1e-12,
        )


def test_canny_with_smoothing_is_two_filters() -> None:
    inner = (slice(20, -20), slice(20, -20))
    image = RNG.random((60, 60))
    smooth = ndi.gaussian_filter(image, 1.0)
    expected = ndi.gaussian_gradient_magnitude(smooth, 2.0)
    np.testing.assert_allclose(raw("canny(sigma=2, smooth=1)", image)[inner], expected[inner], atol=1e-12)


def test_sobel_against_opencv() -> None:
    cv2 = pytest.importorskip("cv2")
    image = RNG.integers(0, 256, (30, 31), dtype=np.uint8)
    parts = [cv2.Sobel(image, cv2.CV_64F, dx, 1 - dx, borderType=cv2.BORDER_REFLECT) for dx in (0, 1)]
    np.testing.assert_allclose(raw("sobel", image) * 255, np.hypot(*parts), atol=1e-9)


def test_orientation_points_uphill() -> None:
    rows, columns = np.mgrid[:21, :23].astype(float)
    for angle in np.radians([0, 30, 90, 135, 180 - 1e-3, -60]):
        ramp = columns * np.cos(angle) + rows * np.sin(angle)
        for name in (
            *SLOPES,
            "sobel(style=matlab)",
            "canny(style=matlab)",
            "canny(style=matlab, kernel=odd)",
        ):
            image = np.stack([ramp, -0.2 * ramp, 0 * ramp], axis=-1) if name == "prewitt" else ramp
            found = detect(image, name).orientation
            assert found is not None
            turned = np.angle(np.exp(1j * (found[9:12, 9:12] - angle)))
            # Sampled third derivatives end at 4σ and do not vanish entirely on a ramp.
            np.testing.assert_allclose(turned, 0, atol=1e-3 if "steerable" in name else 1e-5)


def test_orientation_of_a_volume_is_a_unit_vector() -> None:
    planes = np.mgrid[:9, :9, :9].astype(float)
    direction = np.array([1, -2, 2]) / 3
    ramp = np.tensordot(direction, planes, 1)
    found = detect(ramp, "canny", kind="volume").orientation
    assert found is not None
    np.testing.assert_allclose(found[:, 4, 4, 4], direction, atol=1e-6)


@pytest.mark.parametrize(
    "name, expected", [("central", 1), ("sobel", 4), ("prewitt", 3), ("roberts", np.sqrt(2))]
)
def test_response_of_a_unit_step(name: str, expected: float) -> None:
    step = np.zeros((9, 10))
    step[:, 5:] = 1
    assert detect(step, name).maximum == pytest.approx(expected)
    assert detect(step.T, name).maximum == pytest.approx(expected)


def test_canny_step_response() -> None:
    step = np.zeros((9, 60))
    step[:, 30:] = 1
    for sigma in (1.0, 3.0):
        weights = norm.pdf(np.arange(-60, 61), scale=sigma)
        expected = (np.arange(-60, 61) * weights / sigma**2)[60:].sum() / weights.sum()
        assert detect(step, "canny", sigma=sigma).maximum == pytest.approx(expected, rel=2e-3)
    # At large scales the response is the density of the Gaussian at half a pixel.
    assert expected == pytest.approx(norm.pdf(0.5, scale=3), rel=1e-2)


def test_log_against_explicit_kernels() -> None:
    image = RNG.random((24, 25))
    found = detect(image, "log(sigma=1.5)")
    reference = ndi.gaussian_laplace(image, 1.5)
    pairs = np.maximum(np.abs(np.diff(reference, axis=0)).max(), np.abs(np.diff(reference, axis=1)).max())
    assert found.maximum == pytest.approx(pairs, rel=0.02)
    # Wherever SciPy's response clearly changes its sign there is a crossing next to it.
    change = (reference[1:-1, 1:-2] * reference[1:-1, 2:-1] < 0) & (
        np.minimum(np.abs(reference[1:-1, 1:-2]), np.abs(reference[1:-1, 2:-1])) > 0.01
    )
    marked = found.strength > 0
    assert change.any()
    assert (marked[1:-1, 1:-2] | marked[1:-1, 2:-1])[change].all()


@pytest.mark.parametrize("shape", [(40, 40), (24, 24, 24)])
def test_log_finds_a_ball_at_its_radius(shape: tuple[int, ...]) -> None:
    centre = (np.array(shape) - 1) / 2
    distance = np.sqrt(sum((axis - c) ** 2 for axis, c in zip(np.indices(shape), centre, strict=True)))
    ball = np.clip(8.5 - distance, 0, 1)
    found = detect(ball, "log(sigma=1)", kind="volume" if len(shape) == 3 else "auto")
    marked = distance[found.binary(0.3)]
    assert marked.size > 20
    assert np.abs(marked - 8).max() < 1


def test_central_recovers_the_rim_of_shapes() -> None:
    rows, columns = np.mgrid[:64, :64]
    disk = (rows - 31) ** 2 + (columns - 33) ** 2 <= 18**2
    square = np.zeros((64, 64), bool)
    square[12:51, 12:51] = True
    triangle = (rows >= 10) & (rows <= 50) & (np.abs(columns - 32) * 2 <= rows - 10)
    for shape in (disk, square, triangle):
        rim = ndi.binary_dilation(shape) & ~shape
        found = detect(shape + 0.5 * rim, "central")
        assert found.binary(0)[rim].all()
        # The rim has responses of at least 1; crests of equal height remain at corners with √½.
        np.testing.assert_array_equal(found.binary(0.9 / found.maximum), rim)


def test_grey_in_three_channels_is_grey() -> None:
    stacked = np.stack([PHOTO] * 3, axis=-1)
    for name in ("sobel", "canny", "central", "roberts"):
        grey, colour = detect(PHOTO, name), detect(stacked, name)
        np.testing.assert_allclose(grey.strength, colour.strength, atol=1e-9)
        np.testing.assert_array_equal(grey.thin > 0, colour.thin > 0)
        assert colour.maximum == pytest.approx(grey.maximum * np.sqrt(3))


def test_tensor_is_the_largest_singular_value() -> None:
    image = RNG.random((7, 8, 3))
    jacobian = np.stack([[ndi.sobel(image[..., c], axis) for axis in (0, 1)] for c in range(3)])
    expected = np.linalg.svd(np.moveaxis(jacobian, (0, 1), (2, 3)), compute_uv=False)[..., 0]
    np.testing.assert_allclose(raw("sobel", image), expected, atol=1e-12)


def test_opposite_channels_do_not_cancel() -> None:
    red = np.zeros((8, 8))
    red[:, 4:] = 1
    image = np.stack([red, 1 - red, np.zeros_like(red)], axis=-1)
    assert detect(image, "sobel").maximum == pytest.approx(4 * np.sqrt(2))
    assert detect(np.stack([red, 1 - red], -1) @ [0.5, 0.5], "sobel").maximum == 0


def test_transparency_is_left_out_and_luminance_mixes() -> None:
    image = RNG.integers(0, 256, (12, 13, 4), dtype=np.uint8)
    np.testing.assert_array_equal(detect(image, "sobel").strength, detect(image[..., :3], "sobel").strength)
    mixed = image[..., :3] / 255 @ [0.299, 0.587, 0.114]
    np.testing.assert_allclose(raw("sobel", image, colour="luminance"), raw("sobel", mixed), atol=1e-12)


def test_spacing_scales_slopes_and_sigmas() -> None:
    image = RNG.random((10, 12, 14))
    wide = detect(image, "sobel", spacing=(2, 1, 0.5), kind="volume")
    parts = [ndi.sobel(image, axis) / size for axis, size in enumerate((2, 1, 0.5))]
    np.testing.assert_allclose(wide.strength * wide.maximum, np.sqrt(sum(p**2 for p in parts)), atol=1e-12)
    finer = detect(PHOTO, "canny(sigma=2)", spacing=2)
    np.testing.assert_allclose(finer.strength, detect(PHOTO, "canny(sigma=1)").strength, atol=1e-12)


@pytest.mark.parametrize("name", ["roberts", "anisotropic", "half_gaussian", "steerable"])
def test_square_pixels_are_asked_for(name: str) -> None:
    with pytest.raises(InputError, match="square pixels"):
        detect(PHOTO, name, spacing=(1, 2))


@pytest.mark.parametrize("spacing", [(5.0, 1.0, 1.0), (1.0, 0.2, 3.0), (10.0, 0.5, 0.5)])
def test_gradients_of_flat_voxels_are_physical(spacing: tuple[float, float, float]) -> None:
    direction = np.array([0.6, 0.0, 0.8])
    places = np.indices((21, 21, 21)) * np.array(spacing)[:, None, None, None]
    ramp = np.tensordot(direction, places, 1)
    found = detect(ramp, "canny(sigma=1)", spacing=spacing)
    assert found.strength[10, 10, 10] * found.maximum == pytest.approx(1)
    bowl = (places - places[:, 10, 10, 10][:, None, None, None]) ** 2
    level = detect(np.sqrt(bowl.sum(axis=0)) < 4, "log(sigma=1)", spacing=spacing)
    assert level.maximum > 0


@pytest.mark.parametrize("name", ["canny", "log", "steerable", "canny(style=matlab)", "log(style=matlab)"])
def test_scales_below_the_pixels_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="at least"):
        detect(PHOTO, name, sigma=0.1)
    assert detect(PHOTO, name, sigma=0.25).maximum > 0
    with pytest.raises(InputError, match="at least"):
        detect(PHOTO, name, sigma=1, spacing=10)


def test_canny_with_sectors() -> None:
    image = RNG.random((30, 31))
    found = detect(image, "canny(sigma=1, neighbours=nearest)")
    smooth = detect(image, "canny(sigma=1)")
    np.testing.assert_array_equal(found.strength, smooth.strength)
    assert found.orientation is not None
    sector = np.round(found.orientation / (np.pi / 4)).astype(int)
    rows, columns = np.indices(image.shape)[:, 1:-1, 1:-1]
    dy, dx = (
        np.round(np.sin(sector * np.pi / 4)).astype(int),
        np.round(np.cos(sector * np.pi / 4)).astype(int),
    )
    dy, dx = dy[1:-1, 1:-1], dx[1:-1, 1:-1]
    value = found.strength
    keep = (value[1:-1, 1:-1] > value[rows - dy, columns - dx]) & (
        value[1:-1, 1:-1] >= value[rows + dy, columns + dx]
    )
    np.testing.assert_array_equal(found.thin[1:-1, 1:-1] > 0, keep)
