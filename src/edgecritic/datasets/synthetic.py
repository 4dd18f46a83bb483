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

from edgecritic.datasets.content import PathLike
from edgecritic.datasets.scenes import Image, Scene, add_noise, phantom, scene
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

DETECTORS = ("good", "noisy", "thick")
"""Names of the simulated detectors of `detect`."""


@dataclass(frozen=True, slots=True)
class SyntheticCase:
    """One image of the synthetic data set with the maps of its annotators."""

    id: str
    image: Image
    truths: tuple[BoolArray, ...]


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
