"""The embedded data set `synthetic`: generated scenes, annotators, detectors and phantoms.

Nothing is downloaded; every function is a pure function of its arguments and seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets.files import PathLike
from edgecritic.datasets.shapes import SHAPES, SOLIDS, rim
from edgecritic.datasets.write import write_bsds_mat, write_image, write_map
from edgecritic.errors import InputError, UnknownNameError
from edgecritic.inputs import BoolArray, as_mask

__all__ = [
    "DETECTORS",
    "Scene",
    "SyntheticCase",
    "scene",
    "phantom",
    "add_noise",
    "annotators",
    "detect",
    "dataset",
    "write",
]

Image = NDArray[np.float64]

DETECTORS = ("good", "noisy", "thick")
"""Names of the simulated detectors of `detect`."""

_TRIES = 60
_LEAST_CONTRAST = 0.05


@dataclass(frozen=True, slots=True)
class Scene:
    """An image (or volume) and the only possible truth of its edges."""

    image: Image
    truth: BoolArray


@dataclass(frozen=True, slots=True)
class SyntheticCase:
    """One image of the synthetic data set with the maps of its annotators."""

    id: str
    image: Image
    truths: tuple[BoolArray, ...]


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


def annotators(
    truth: Any, count: int = 5, *, seed: int = 0, shift: float = 1.0, omit: float = 0.1, add: float = 0.05
) -> list[BoolArray]:
    """Return the maps of simulated annotators who shift, omit and add.

    Parameters
    ----------
    truth : array_like
        Binary map of 2 or 3 dimensions.
    count : int
        Number of annotators.
    shift : float
        Standard deviation, in pixels, by which each connected contour is displaced along each axis.
    omit : float
        Share of pieces of contours (about 40 pixels each) that an annotator leaves out.
    add : float
        Pixels of straight strokes that an annotator adds, as a share of the truth's.
    """
    mask = as_mask(truth, "truth")
    if count < 1 or shift < 0 or not 0 <= omit <= 1 or add < 0:
        raise InputError("count must be at least 1, shift and add at least 0, omit in [0, 1]")
    points = np.argwhere(mask)
    contours, pieces = _contours(mask), _pieces(points, np.random.default_rng(seed))
    maps = []
    for person in range(count):
        rng = np.random.default_rng((seed, person))
        moves = np.rint(rng.normal(0, shift, (contours.max(initial=0) + 1, mask.ndim))).astype(np.int64)
        kept = rng.random(pieces.max(initial=0) + 1) >= omit
        moved = (points + moves[contours])[kept[pieces]]
        strokes = _strokes(rng, mask.shape, round(add * len(points)))
        maps.append(_marked(mask.shape, np.concatenate([moved, strokes])))
    return maps


def detect(image: Image, detector: str = "good", *, seed: int = 0) -> Image:
    """Return the strength map of a simulated detector, in [0, 1].

    ``"good"`` is a smoothed gradient with suppression of non-maxima, ``"noisy"`` an unsmoothed gradient
    with noise, ``"thick"`` a strongly smoothed gradient as it is. They are meant for demonstrations.
    """
    from scipy.ndimage import gaussian_filter

    if detector not in DETECTORS:
        raise UnknownNameError(f"unknown simulated detector {detector!r} (known: {', '.join(DETECTORS)})")
    scale = {"good": 1.4, "noisy": 0.6, "thick": 2.4}[detector]
    grey = image.mean(axis=-1) if image.ndim == 3 else image
    slopes = np.gradient(gaussian_filter(grey, scale))
    strength = np.hypot(slopes[0], slopes[1])
    if detector == "good":
        strength = strength * _is_ridge(strength, slopes[0], slopes[1])
    if detector == "noisy":
        rng = np.random.default_rng(seed)
        strength = strength + 0.15 * strength.max() * rng.random(strength.shape)
    return np.asarray(strength / max(float(strength.max()), 1e-12))


def dataset(
    images: int = 8, seed: int = 0, *, size: tuple[int, int] = (160, 200), annotator_count: int = 5
) -> list[SyntheticCase]:
    """Return the embedded data set: scenes from easy to hard, each with several annotators.

    Examples
    --------
    >>> [case.id for case in dataset(2, size=(40, 50))]
    ['synthetic-1', 'synthetic-2']
    """
    styles: list[dict[str, Any]] = [
        {},
        {"grey": True, "overlap": True, "count": 14},
        {"snr": 10.0, "blur": 0.7},
        {"grey": True, "ramp": 0.4, "count": 12},
        {"colour": True, "overlap": True, "snr": 14.0},
        {"texture": 0.15, "blur": 0.5},
        {"grey": True, "overlap": True, "snr": 8.0, "blur": 0.8, "count": 16},
        {"texture": 0.1, "ramp": 0.3, "snr": 4.0},
    ]
    cases = []
    for index in range(images):
        drawn = scene(seed * 1000 + index, size, **styles[index % len(styles)])
        people = annotators(drawn.truth, annotator_count, seed=seed * 1000 + index)
        cases.append(SyntheticCase(f"synthetic-{index + 1}", drawn.image, tuple(people)))
    return cases


def write(
    folder: PathLike,
    images: int = 8,
    *,
    seed: int = 0,
    truth: Literal["mat", "png"] = "mat",
    detectors: Sequence[str] = DETECTORS,
) -> Path:
    """Write the data set as files and return the folder.

    ``images/NAME.png``; ``truth/NAME.mat`` (BSDS form) or ``truth/NAME/1.png`` …; and
    ``predictions/DETECTOR/NAME.png`` for each of the simulated `detectors`.
    """
    if truth not in ("mat", "png"):
        raise InputError(f"truth must be 'mat' or 'png', got {truth!r}")
    root = Path(folder)
    for case in dataset(images, seed):
        write_image(root / "images" / f"{case.id}.png", case.image)
        if truth == "mat":
            write_bsds_mat(root / "truth" / f"{case.id}.mat", case.truths)
        else:
            for number, found in enumerate(case.truths, start=1):
                write_map(root / "truth" / case.id / f"{number}.png", found)
        for detector in detectors:
            strength = detect(case.image, detector, seed=seed)
            write_map(root / "predictions" / detector / f"{case.id}.png", strength)
    return root


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


def _contours(mask: BoolArray) -> NDArray[np.int64]:
    """Return the number of the connected contour of each marked pixel."""
    from scipy.ndimage import label

    labels, _ = label(mask, structure=np.ones((3,) * mask.ndim))
    return np.asarray(labels[mask], dtype=np.int64) - 1


def _pieces(points: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Cut the marked pixels into pieces of about 40 by the nearest of randomly chosen ones."""
    from scipy.spatial import KDTree

    if not len(points):
        return np.zeros(0, dtype=np.int64)
    centres = points[rng.choice(len(points), max(1, len(points) // 40), replace=False)]
    return np.asarray(KDTree(centres).query(points)[1], dtype=np.int64)


def _strokes(rng: np.random.Generator, shape: tuple[int, ...], pixels: int) -> NDArray[np.int64]:
    """Return the pixels of straight strokes of up to 30 pixels, `pixels` in all."""
    strokes = [np.zeros((0, len(shape)), dtype=np.int64)]
    while pixels > 0:
        length = min(pixels, int(rng.integers(8, 31)))
        start = rng.uniform(0, np.array(shape) - 1)
        direction = rng.normal(size=len(shape))
        steps = np.arange(length)[:, None] * direction / abs(direction).max()
        strokes.append(np.rint(start + steps).astype(np.int64))
        pixels -= length
    return np.concatenate(strokes)


def _marked(shape: tuple[int, ...], points: NDArray[np.int64]) -> BoolArray:
    inside = ((points >= 0) & (points < np.array(shape))).all(axis=1)
    result = np.zeros(shape, dtype=np.bool_)
    result[tuple(points[inside].T)] = True
    return result


def _is_ridge(strength: Image, down: Image, right: Image) -> BoolArray:
    """Return where the strength is largest along the gradient, in one of four directions."""
    sector = np.rint(np.arctan2(down, right) / (np.pi / 4)).astype(np.int64) % 4
    padded = np.pad(strength, 1)
    rows, columns = strength.shape
    result = np.zeros(strength.shape, dtype=np.bool_)
    for index, (dy, dx) in enumerate(((0, 1), (1, 1), (1, 0), (1, -1))):
        ahead = padded[1 + dy : 1 + dy + rows, 1 + dx : 1 + dx + columns]
        behind = padded[1 - dy : 1 - dy + rows, 1 - dx : 1 - dx + columns]
        result |= (sector == index) & (strength > behind) & (strength >= ahead)
    return result
