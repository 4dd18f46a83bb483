"""Generated street scenes with the labels of Cityscapes, and predictions of their boundaries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, map_coordinates, zoom

_THINGS = {
    24: (60, 24),
    25: (60, 30),
    26: (70, 130),
    27: (110, 160),
    28: (130, 180),
    31: (120, 300),
    32: (50, 60),
}
_THINGS |= {33: (45, 60)}
"""Height and width, in a picture of 1024 rows, of the objects that are kept apart."""


def street(seed: int, shape: tuple[int, int] = (1024, 2048)) -> NDArray[np.uint16]:
    """Return a map of instance ids: label, or 1000 · label + number of the object.

    All 19 classes that are judged occur, and the labels 0 to 3 which are not.

    Examples
    --------
    >>> ids = street(0, (256, 512))
    >>> len(np.unique(np.where(ids >= 1000, ids // 1000, ids))) >= 20
    True
    """
    rng = np.random.default_rng(seed)
    rows, columns = shape
    size = rows / 1024
    y, x = np.mgrid[:rows, :columns]
    ids = np.full(shape, 11, dtype=np.uint16)  # building
    ids[y < _line(rng, columns, 0.25, 0.08) * rows] = 23  # sky
    ids[(y > _line(rng, columns, 0.2, 0.1) * rows) & (_blobs(rng, shape) > 0.9)] = 21  # vegetation
    ground = _line(rng, columns, 0.6, 0.02) * rows
    for label, above in ((12, 60), (13, 40)):  # wall, fence: pieces along the ground
        start = rng.integers(0, columns // 2)
        piece = (x > start) & (x < start + columns // 4)
        ids[piece & (y > ground - above * size)] = label
    ids[y > ground] = 8  # sidewalk
    ids[(y > ground) & (_blobs(rng, shape) > 1.1)] = 22  # terrain
    ids[y > ground + (60 + 40 * np.sin(x / columns * 3)) * size] = 7  # road
    for _ in range(8):
        left, top = rng.integers(0, columns), int(ground[0] - rng.integers(200, 330) * size)
        ids[max(0, top) : int(ground[0] + 20 * size), left : left + max(2, int(10 * size))] = 17  # pole
        for label in (19, 20):  # light and sign
            high = top + int(rng.integers(0, 60) * size)
            ids[max(0, high) : high + int(40 * size), left : left + int(22 * size)] = label
            left = int(rng.integers(0, columns))
    number = 0
    for label, (high, wide) in _THINGS.items():
        for _ in range(rng.integers(2, 7) if label in (24, 26) else 1):
            grown = rng.uniform(0.6, 1.6) * size
            at = (rng.uniform(0.58, 0.8) * rows, rng.uniform(0.03, 0.97) * columns)
            inside = ((y - at[0]) / (high * grown / 2)) ** 4 + ((x - at[1]) / (wide * grown / 2)) ** 4 < 1
            ids[inside] = 1000 * label + number
            number += 1
    ids[y > rows - 50 * size + 20 * size * np.sin(x / columns * np.pi)] = 1  # ego vehicle
    edge = max(1, int(6 * size))
    frame = (y < edge) | (x < edge) | (y >= rows - edge) | (x >= columns - edge)
    ids[frame] = 3
    ids[: edge * 2, : columns // 5] = 2
    ids[_blobs(rng, shape) > 2.4] = 0
    return ids


def predicted(truth: NDArray[np.bool_], seed: int, skill: float = 0.8) -> NDArray[np.uint8]:
    """Return 8-bit strength maps (classes, rows, columns) of a detector of some skill.

    Boundaries are bent by some pixels, blurred, weakened in places, and joined by some that are not there.
    """
    rng = np.random.default_rng(seed)
    shape = truth.shape[1:]
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float32)
    bend = [3.5 * (1.2 - skill) * _blobs(rng, shape, 30) for _ in range(2)]
    result = np.zeros(truth.shape, dtype=np.uint8)
    for place, one in enumerate(truth):
        if not one.any() and rng.random() < 0.7:
            continue
        bent = map_coordinates(one.astype(np.float32), [y + bend[0], x + bend[1]], order=1)
        soft = gaussian_filter(bent, 1.0)
        soft /= max(float(soft.max()), 1e-6)
        sure = np.clip(skill + 0.35 * _blobs(rng, shape, 25), 0, 1)
        noise = np.abs(_blobs(rng, shape, 12)) < 0.04 * (1.3 - skill)
        stray = gaussian_filter(noise.astype(np.float32), 1.0) * np.clip(_blobs(rng, shape, 40) - 1.2, 0, 1)
        values = np.clip(soft * sure + stray, 0, 1)
        values[values < 0.02] = 0
        result[place] = np.rint(255 * values)
    return result


def write_streets(
    folder: Path, images: int, shape: tuple[int, int], *, skills: dict[str, float]
) -> list[str]:
    """Write label files as Cityscapes has them, and folders of predictions at half size, one per class."""
    from PIL import Image

    from edgecritic.protocols.classes import truth_maps
    from edgecritic.protocols.presets import get_protocol

    rules = get_protocol("cityscapes-thin").classes
    names = [f"town_{number:06d}_000019" for number in range(images)]
    (folder / "gtFine" / "val" / "town").mkdir(parents=True)
    for seed, name in enumerate(names):
        ids = street(seed, shape)
        labels = np.where(ids >= 1000, ids // 1000, ids).astype(np.uint8)
        place = folder / "gtFine" / "val" / "town"
        Image.fromarray(labels).save(place / f"{name}_gtFine_labelIds.png", compress_level=1)
        Image.fromarray(ids).save(place / f"{name}_gtFine_instanceIds.png", compress_level=1)
        truth = np.stack(list(truth_maps(rules, labels=labels).values()))
        for detector, skill in skills.items():
            maps = predicted(truth, 1000 + seed, skill)
            for number, one in enumerate(maps, start=1):
                home = folder / detector / f"class_{number:03d}"
                home.mkdir(parents=True, exist_ok=True)
                Image.fromarray(one).save(home / f"{name}.png", compress_level=1)
    return names


def _line(rng: np.random.Generator, length: int, middle: float, swing: float) -> NDArray[np.float64]:
    t = np.arange(length) / length
    waves = sum(rng.normal() / k * np.sin(2 * np.pi * k * t + rng.uniform(0, 6)) for k in range(1, 6))
    line: NDArray[np.float64] = middle + swing * waves / 2
    return line


def _blobs(rng: np.random.Generator, shape: tuple[int, ...], grain: int = 40) -> NDArray[np.float64]:
    """Return smooth noise of mean 0 and spread 1."""
    coarse = gaussian_filter(rng.normal(size=[n // grain + 4 for n in shape]), 1.0)
    coarse /= coarse.std()
    fine = zoom(coarse, [(n + grain) / m for n, m in zip(shape, coarse.shape, strict=True)], order=1)
    return fine[: shape[0], : shape[1]]
