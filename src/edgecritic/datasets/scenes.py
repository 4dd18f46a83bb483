"""Drawn images and volumes whose edges are known: shapes, solids and noise, from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets.shapes import SHAPES, SOLIDS, rim
from edgecritic.errors import InputError, UnknownNameError
from edgecritic.inputs import BoolArray

__all__ = ["Image", "Scene", "scene", "phantom", "add_noise"]

Image = NDArray[np.float64]

_TRIES = 60
_LEAST_CONTRAST = 0.05


@dataclass(frozen=True, slots=True)
class Scene:
    """An image (or volume) and the only possible truth of its edges."""

    image: Image
    truth: BoolArray


def scene(
    seed: int = 0,
    size: tuple[int, int] = (160, 200),
    *,
    shapes: Sequence[str] = tuple(SHAPES),
    count: int = 9,
    overlap: bool = False,
    grey: bool = False,
    ramp: float = 0.0,
    texture: float = 0.0,
    blur: float = 0.0,
    snr: float | None = None,
    colour: bool = False,
) -> Scene:
    """Return an image of shapes with its truth.

    Each shape of level a on a background b has a rim of one pixel with the level (a + b)/2; the truth
    is exactly this rim, which is where the response of [−1 0 1] is largest. White on black gives the
    levels 1, ½ and 0.

    Parameters
    ----------
    seed : int
    size : (rows, columns)
    shapes : sequence of str
        Which of ``square, disk, triangle, star, bar, dot`` to draw, in turns.
    count : int
        How many shapes to draw; fewer are drawn where no place is left.
    overlap : bool
        Whether later shapes may cover earlier ones (and their truth).
    grey, colour : bool
        Draw random levels or colours instead of white on black. Colour images have shape
        (rows, columns, 3).
    ramp, texture : float
        Contrast of a linear change of light, and of smooth random texture, added to the image.
    blur : float
        Standard deviation of a Gaussian blur in pixels.
    snr : float, optional
        Add Gaussian noise of this signal-to-noise ratio in decibels; see `add_noise`.

    Examples
    --------
    >>> import numpy as np
    >>> drawn = scene(seed=1, size=(80, 100))
    >>> np.unique(drawn.image).tolist(), bool((drawn.truth == (drawn.image == 0.5)).all())
    ([0.0, 0.5, 1.0], True)
    """
    if len(size) != 2 or min(size) < 16:
        raise InputError(f"size must be (rows, columns) of at least 16 each, got {size!r}")
    for name in shapes:
        if name not in SHAPES:
            raise UnknownNameError(f"unknown shape {name!r} (known: {', '.join(SHAPES)})")
    rng = np.random.default_rng(seed)
    image, truth = _draw(rng, size, shapes, count, overlap, _palette(rng, grey, colour))
    if ramp:
        image += _ramp(rng, size, ramp)[..., None]
    if texture:
        image += texture * _smooth_noise(rng, size)[..., None]
    if blur:
        from scipy.ndimage import gaussian_filter

        image = gaussian_filter(image, (blur, blur, 0))
    if not colour:
        image = np.ascontiguousarray(image[..., 0])
    if snr is not None:
        image = add_noise(image, snr, seed=int(rng.integers(2**31)))
    return Scene(image, truth)


def phantom(
    kind: Literal["ball", "tube", "gyroid"] = "ball", size: int | Sequence[int] = 48, seed: int = 0
) -> Scene:
    """Return a volume with one solid and its surface as truth, by the rim rule of `scene`.

    Examples
    --------
    >>> volume = phantom("ball", 20)
    >>> volume.image.shape, int(volume.truth.sum()) > 0
    ((20, 20, 20), True)
    """
    if kind not in SOLIDS:
        raise UnknownNameError(f"unknown phantom {kind!r} (known: {', '.join(SOLIDS)})")
    shape = (size,) * 3 if isinstance(size, int) else tuple(size)
    if len(shape) != 3 or min(shape) < 8:
        raise InputError(
            f"size must be one number or (planes, rows, columns) of at least 8 each, got {size!r}"
        )
    z, y, x = np.ogrid[tuple(slice(-1, 1, complex(length)) for length in shape)]
    solid = SOLIDS[kind](z, y, x, np.random.default_rng(seed))
    truth = rim(solid)
    return Scene(solid + 0.5 * truth, truth)


def add_noise(
    image: Image, snr: float, *, seed: int = 0, reference: Literal["variance", "peak"] = "variance"
) -> Image:
    """Return the image with white Gaussian noise of a signal-to-noise ratio, not clipped.

    σ = std(image) · 10^(−snr/20) for ``"variance"``, (max − min) · 10^(−snr/20) for ``"peak"``, with
    `snr` in decibels.
    """
    if reference not in ("variance", "peak"):
        raise InputError(f"reference must be 'variance' or 'peak', got {reference!r}")
    signal = float(image.std() if reference == "variance" else np.ptp(image))
    noise = np.random.default_rng(seed).standard_normal(image.shape)
    return np.asarray(image + signal * 10 ** (-snr / 20) * noise)


def _palette(rng: np.random.Generator, grey: bool, colour: bool) -> tuple[Image, ...]:
    """Return background and shape colours; neighbours in the list differ by at least 0.25."""
    if not (grey or colour):
        return np.zeros(3), np.ones(3)
    levels = rng.permutation(np.linspace(0.0, 1.0, 5))
    if not colour:
        return tuple(np.full(3, level) for level in levels)
    return tuple(
        np.roll(np.array([level, 1 - level, rng.random()]), turn) for turn, level in enumerate(levels)
    )


def _draw(
    rng: np.random.Generator,
    size: tuple[int, int],
    shapes: Sequence[str],
    count: int,
    overlap: bool,
    palette: tuple[Image, ...],
) -> tuple[Image, BoolArray]:
    image = np.empty((*size, 3))
    image[:] = palette[0]
    truth = np.zeros(size, dtype=np.bool_)
    taken = np.zeros(size, dtype=np.bool_)
    for index in range(count):
        mask = _place(rng, size, shapes[index % len(shapes)], None if overlap else taken)
        if mask is None:
            continue
        edge = rim(mask)
        level = palette[1 + index % (len(palette) - 1)]
        seen = edge & (abs(image - level).max(axis=-1) > _LEAST_CONTRAST)
        image[edge] = (image[edge] + level) / 2
        image[mask] = level
        truth = (truth & ~mask) | seen
        taken |= _grown(mask, 4)
    return image, truth


def _place(
    rng: np.random.Generator, size: tuple[int, int], shape: str, taken: BoolArray | None
) -> BoolArray | None:
    """Return the mask of a shape at a random free place, or None if none was found."""
    largest = min(size) / 5
    for _ in range(_TRIES):
        radius = rng.uniform(0.5, 1.0) * largest
        row, column = (rng.uniform(0.05 * length, 0.95 * length) for length in size)
        y, x = np.ogrid[: size[0], : size[1]]
        mask = SHAPES[shape](y - np.rint(row), x - np.rint(column), radius, rng.uniform(0, 2 * np.pi))
        touches_border = mask[:2].any() or mask[-2:].any() or mask[:, :2].any() or mask[:, -2:].any()
        if mask.any() and not touches_border and not (taken is not None and (mask & taken).any()):
            return mask
    return None


def _grown(mask: BoolArray, steps: int) -> BoolArray:
    for _ in range(steps):
        mask = mask | rim(mask)
    return mask


def _ramp(rng: np.random.Generator, size: tuple[int, int], contrast: float) -> Image:
    angle = rng.uniform(0, 2 * np.pi)
    y, x = np.ogrid[-0.5 : 0.5 : complex(size[0]), -0.5 : 0.5 : complex(size[1])]
    return np.asarray(contrast * (y * np.sin(angle) + x * np.cos(angle)))


def _smooth_noise(rng: np.random.Generator, size: tuple[int, int]) -> Image:
    from scipy.ndimage import gaussian_filter

    noise = gaussian_filter(rng.standard_normal(size), 1.5)
    return np.asarray(noise / max(float(abs(noise).max()), 1e-12))
