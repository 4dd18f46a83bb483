"""The rules of MATLAB's edge() against slow twins written pixel by pixel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage as ndi

from edgecritic.detectors import detect
from edgecritic.detectors.canny import matlab_kernels
from edgecritic.detectors.log import laplacian_kernel
from edgecritic.detectors.matlab import edge_matlab
from edgecritic.errors import InputError

MASKS = {
    "sobel": (
        np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]) / 8,
        np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]]) / 8,
    ),
    "prewitt": (np.array([[-1, 0, 1]] * 3) / 6, np.array([[-1, 0, 1]] * 3).T / 6),
}


def random_image(seed: int, shape: tuple[int, int] = (9, 10)) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 5, shape) / 4


def slow_thin(b: np.ndarray, bx: np.ndarray, by: np.ndarray, steps: list[tuple[int, int]]) -> np.ndarray:
    keep = np.zeros(b.shape, bool)

    def at(r: int, c: int) -> float:
        return b[r, c] if 0 <= r < b.shape[0] and 0 <= c < b.shape[1] else -np.inf

    for r, c in np.ndindex(*b.shape):
        for (dr, dc), main, other in zip(steps, (bx, by), (by, bx), strict=True):
            if abs(main[r, c]) >= abs(other[r, c]) - 100 * np.finfo(float).eps:
                keep[r, c] |= at(r - dr, c - dc) <= b[r, c] and b[r, c] > at(r + dr, c + dc)
    return keep


@given(st.integers(0, 10**6), st.sampled_from(["sobel", "prewitt"]), st.sampled_from([0.05, 0.1, 0.3]))
@settings(max_examples=40)
def test_sobel_and_prewitt(seed: int, method: str, level: float) -> None:
    image = random_image(seed)
    # Powers of two and thirds: rounding to 12 digits makes ties exact in the twin as well.
    bx, by = (np.round(ndi.correlate(image, mask, mode="nearest"), 12) for mask in MASKS[method])
    b = np.round(bx**2 + by**2, 12)
    found = edge_matlab(image * 96, method, level * 96)  # whole numbers: exact ties
    if method == "sobel":
        expected = (b > level**2) & slow_thin(b, bx, by, [(0, 1), (1, 0)])
        np.testing.assert_array_equal(found.edges, expected)
    np.testing.assert_array_equal(edge_matlab(image, method, level, thinning=False).edges, b > level**2)


@given(st.integers(0, 10**6))
@settings(max_examples=40)
def test_roberts(seed: int) -> None:
    image = random_image(seed)
    padded = np.pad(image, ((0, 1), (0, 1)), mode="edge")
    bx = (padded[:-1, :-1] - padded[1:, 1:]) / 2
    by = (padded[:-1, 1:] - padded[1:, :-1]) / 2
    b = bx**2 + by**2
    thick = edge_matlab(image, "roberts", 0.2, thinning=False).edges
    np.testing.assert_array_equal(thick, b > 0.04)
    thin = edge_matlab(image, "roberts", 0.2).edges
    np.testing.assert_array_equal(thin, (b > 0.04) & slow_thin(np.round(b, 12), bx, by, [(1, 1), (1, -1)]))


def test_automatic_thresholds() -> None:
    image = np.random.default_rng(3).random((30, 31))
    bx, by = (ndi.correlate(image, mask, mode="nearest") for mask in MASKS["sobel"])
    assert edge_matlab(image, "sobel").threshold == pytest.approx(2 * np.sqrt(np.mean(bx**2 + by**2)))
    response = ndi.correlate(image, laplacian_kernel(2), mode="nearest")
    assert edge_matlab(image, "log").threshold == pytest.approx(0.75 * np.abs(response).mean())
    eight = (image * 255).astype(np.uint8)
    assert edge_matlab(eight, "log").threshold == pytest.approx(edge_matlab(eight / 255, "log").threshold)
    assert edge_matlab(eight, "sobel").threshold == pytest.approx(edge_matlab(eight / 255, "sobel").threshold)


def test_unit_step_gives_a_half() -> None:
    step = np.zeros((6, 8))
    step[:, 4:] = 1
    for method in ("sobel", "prewitt"):
        assert detect(step, method, style="matlab").maximum == pytest.approx(0.5)


def test_log_kernel() -> None:
    kernel = laplacian_kernel(np.sqrt(2))
    assert kernel.shape == (11, 11)
    assert kernel.sum() == pytest.approx(0, abs=1e-15)
    np.testing.assert_allclose(kernel, kernel.T)
    # Twice the second moment along one axis is 2 for a Laplacian.
    x = np.arange(-5, 6)
    assert (kernel * x**2).sum() == pytest.approx(2, rel=0.1)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.01, 0.05]))
@settings(max_examples=25)
def test_log_crossings(seed: int, level: float) -> None:
    image = random_image(seed, (12, 13))
    b = ndi.correlate(image, laplacian_kernel(0.7), mode="nearest")
    b[np.abs(b) < 1e-12] = 0
    expected = np.zeros(b.shape, bool)
    for r in range(1, b.shape[0] - 1):
        for c in range(1, b.shape[1] - 1):
            here = b[r, c]
            around = [b[r, c + 1], b[r, c - 1], b[r + 1, c], b[r - 1, c]]
            if here < 0:
                expected[r, c] = any(other > 0 and abs(here - other) > level for other in around)
            elif here == 0:
                expected[r, c] = any(
                    p * q < 0 and abs(p - q) > 2 * level for p, q in (around[:2], around[2:])
                )
    np.testing.assert_array_equal(edge_matlab(image, "log", level, sigma=0.7).edges, expected)


def test_log_without_threshold_closes_its_contours() -> None:
    rows, columns = np.mgrid[:40, :40]
    disk = ((rows - 20) ** 2 + (columns - 19) ** 2 < 100).astype(float)
    edges = edge_matlab(disk, "log", 0).edges
    outside, _ = ndi.label(~edges)
    assert outside[20, 19] != outside[2, 2]


def slow_canny(image: np.ndarray, sigma: float) -> tuple[np.ndarray, np.ndarray]:
    """Magnitude and crests by 2-D convolutions of the replicated image, then pixel by pixel."""
    half = (8 * int(np.ceil(sigma)) - 1) / 2
    x = np.arange(-half, half + 1)
    bell = np.exp(-(x**2) / (2 * sigma**2))
    bell /= bell.sum()
    slope = np.gradient(bell)
    slope[slope > 0] /= slope[slope > 0].sum()
    slope[slope < 0] /= abs(slope[slope < 0].sum())
    m = bell.size // 2
    wide = np.pad(image, m, mode="edge")

    def same(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        full = np.apply_along_axis(np.convolve, 0, wide, rows)
        full = np.apply_along_axis(np.convolve, 1, full, columns)
        # The central part of the full convolution, as conv2(…, 'same') takes it.
        return full[2 * m : 2 * m + image.shape[0], 2 * m : 2 * m + image.shape[1]]

    gx, gy = same(bell, slope), same(slope, bell)
    magnitude = np.hypot(gx, gy)
    keep = np.zeros(image.shape, bool)
    for r in range(1, image.shape[0] - 1):
        for c in range(1, image.shape[1] - 1):
            step = np.array([gy[r, c], gx[r, c]])
            if magnitude[r, c] < 1e-12:
                continue
            step /= np.abs(step).max()
            sides = [
                ndi.map_coordinates(magnitude, (np.array([r, c]) + sign * step)[:, None], order=1)[0]
                for sign in (-1, 1)
            ]
            keep[r, c] = magnitude[r, c] >= max(sides)
    return magnitude / magnitude.max(), keep


@pytest.mark.parametrize("sigma", [1.0, np.sqrt(2)])
def test_canny(sigma: float) -> None:
    image = ndi.gaussian_filter(np.random.default_rng(5).random((26, 29)), 1)
    magnitude, keep = slow_canny(image, sigma)
    found = detect(image, "canny", sigma=sigma, style="matlab")
    np.testing.assert_allclose(found.strength, magnitude, atol=1e-12)
    np.testing.assert_array_equal(found.thin > 0, keep)
    edges = edge_matlab(image, "canny", (0.2, 0.5), sigma=sigma).edges
    labels, _ = ndi.label(keep & (magnitude > 0.2), np.ones((3, 3)))
    np.testing.assert_array_equal(
        edges, np.isin(labels, np.unique(labels[keep & (magnitude > 0.5)])) & (labels > 0)
    )
    counts, _ = np.histogram(np.floor(magnitude * 63 + 0.5), np.arange(65) - 0.5)
    high = (np.flatnonzero(np.cumsum(counts) > 0.7 * image.size)[0] + 1) / 64
    assert edge_matlab(image, "canny", sigma=sigma).threshold == pytest.approx((0.4 * high, high))
    assert edge_matlab(image, "canny", 0.5, sigma=sigma).threshold == pytest.approx((0.2, 0.5))


def test_canny_kernels_and_their_half_pixel() -> None:
    for kernel in ("even", "odd"):
        smooth, slope = matlab_kernels(np.sqrt(2), kernel)
        assert smooth.sum() == pytest.approx(1)
        assert slope[slope > 0].sum() == pytest.approx(1)
        assert slope.sum() == pytest.approx(0, abs=1e-12)
        middle = smooth.size // 2
        offset = (smooth * (np.arange(smooth.size) - middle)).sum()
        assert offset == pytest.approx(0.5 if kernel == "even" else 0)
    # A step between columns 9 and 10 is at 9.5: the even kernel puts its crest onto column 9 exactly.
    step = np.zeros((20, 20))
    step[:, 10:] = 1
    found = detect(step, "canny", style="matlab")
    assert np.unique(np.nonzero(found.thin)[1]).tolist() == [9]


@pytest.mark.parametrize(
    "method, options, message",
    [
        ("kirsch", {}, "method must be one of sobel"),
        ("sobel", {"sigma": 1.0}, "no sigma"),
        ("sobel", {"threshold": (0.1, 0.2)}, "one number"),
        ("sobel", {"threshold": -1.0}, "≥ 0"),
        ("canny", {"threshold": 1.5}, "0 ≤ low < high ≤ 1"),
        ("canny", {"threshold": (0.5, 0.2)}, "0 ≤ low < high ≤ 1"),
    ],
)
def test_wrong_options(method: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        edge_matlab(np.eye(5), method, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["sobel", "log", "canny"])
def test_matlab_works_on_images_only(name: str) -> None:
    with pytest.raises(InputError, match="native"):
        detect(np.zeros((5, 6, 7)), name, style="matlab")
