"""Sub-images, point sets and surfaces on which pairing strategies are compared.

After S. Smith and I. Williams (VISAPP 2020): small squares around truth points of edge maps, points with a
detection inside the window of each, and, beyond the paper's own figures, surfaces of an object.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import DataError, InputError
from edgecritic.inputs import BoolArray, FloatArray
from edgecritic.matching import match

__all__ = [
    *("WINDOW", "Sample", "best_cut", "brain_volumes", "cut_samples"),
    *("image_maps", "point_sets", "round_surface", "surface_slabs", "synthetic_samples", "volume_maps"),
]

WINDOW = 5
"""T_match: the side of the search window."""

LEVELS = np.linspace(0.1, 0.9, 17)
"""Thresholds among which the best F of a detector's map is sought."""

Sample = tuple[BoolArray, BoolArray]
"""Candidate and truth."""


def synthetic_samples(side: int, number: int, *, seed: int = 0) -> Iterator[Sample]:
    """Draw random polylines and a detection of them: jittered, with drop-outs and salt noise.

    Examples
    --------
    >>> candidate, truth = next(synthetic_samples(11, 1))
    >>> candidate.shape, bool(truth.any())
    ((11, 11), True)
    """
    rng = np.random.default_rng([seed, side])
    for _ in range(number):
        truth = np.zeros((side, side), dtype=np.bool_)
        for _ in range(1 + rng.poisson(side / 15)):
            _stroke(truth, rng.uniform(0, side - 1, (3, 2)))
        candidate = np.zeros_like(truth)
        places = np.argwhere(truth)
        kept = places[rng.random(len(places)) > 0.15]
        moved = kept + rng.integers(-1, 2, kept.shape) * (rng.random(len(kept)) < 0.6)[:, None]
        moved = np.clip(moved, 0, side - 1)
        candidate[moved[:, 0], moved[:, 1]] = True
        candidate |= rng.random(truth.shape) < 0.03
        yield candidate, truth


def cut_samples(
    maps: Sequence[Sample], sides: Sequence[int], number: int, *, seed: int = 0
) -> dict[int, list[Sample]]:
    """Cut squares around truth points of 2-D maps, around the same points for all sides.

    Every truth point whose largest square lies inside its map can be drawn, each once.

    Parameters
    ----------
    maps : sequence of (candidate, truth)
    sides : sequence of odd int
    number : int
        Squares of each side; all points if there are fewer.
    seed : int

    Examples
    --------
    >>> line = np.zeros((9, 9), bool)
    >>> line[4] = True
    >>> cut = cut_samples([(line, line)], [3, 5], 100)
    >>> len(cut[3]), cut[5][0][0].shape
    (5, (5, 5))
    """
    half = max(sides) // 2
    points = [
        (place, row, column)
        for place, (_, truth) in enumerate(maps)
        for row, column in np.argwhere(truth[half : truth.shape[0] - half, half : truth.shape[1] - half])
        + half
    ]
    if not points:
        side = max(sides)
        raise DataError(f"no truth point lies far enough from the frame for a square of {side} pixels")
    drawn = [points[place] for place in np.random.default_rng(seed).permutation(len(points))[:number]]
    found: dict[int, list[Sample]] = {side: [] for side in sides}
    for side, cuts in found.items():
        reach = side // 2
        for place, row, column in drawn:
            window = np.s_[row - reach : row + reach + 1, column - reach : column + reach + 1]
            candidate, truth = maps[place]
            cuts.append((candidate[window].copy(), truth[window].copy()))
    return found


def best_cut(strength: FloatArray, truth: BoolArray) -> BoolArray:
    """Return a thin map cut at the threshold of the best F, or a binary one as it is."""
    if np.isin(strength, (0, 1)).all():
        return strength > 0
    maps = [(strength >= level) & (strength > 0) for level in LEVELS]
    return max(maps, key=lambda each: match(each, truth, tolerance=2).f())


def image_maps(image: Any, truth: BoolArray, detector: str) -> Sample:
    """Return a detector's edges of an image, cut at the best F, and the truth, thinned.

    Without a detector's name the image is an edge map itself.
    """
    from edgecritic.detectors import detect
    from edgecritic.maps.thinning import thin

    goal = thin(truth)
    edges = detect(image, detector, kind="grey").thin if detector else image
    return best_cut(edges, goal), goal


def volume_maps(image: NDArray[Any], mask: BoolArray, detector: str, *, planes: int = 8) -> list[Sample]:
    """Return the edges of planes of a volume along all three axes, and the borders of a mask in them.

    Up to `planes` planes of each axis, evenly spread over those that the mask meets. The truth is the inner
    boundary of the mask in the plane, thinned; a mask that is a thin surface is its own boundary. Without a
    detector's name the image is a map itself, of strength, or a binary one of which the boundary is taken.
    """
    from edgecritic.maps.boundaries import inner_boundary
    from edgecritic.maps.thinning import thin

    found = []
    for axis in range(3):
        views = np.moveaxis(image, axis, 0), np.moveaxis(mask, axis, 0)
        met = np.flatnonzero(views[1].any(axis=(1, 2)))
        for place in met[np.unique(np.linspace(0, met.size - 1, min(planes, met.size)).astype(np.int64))]:
            truth = inner_boundary(views[1][place])
            plane = views[0][place]
            if not detector and np.isin(plane, (0, 1)).all():
                plane = thin(inner_boundary(plane > 0)).astype(np.float64)
            if truth.any():
                found.append(image_maps(plane, truth, detector))
    return found


def brain_volumes(folder: str | Path) -> tuple[NDArray[np.float64], BoolArray]:
    """Return the T1 image of the MNI152 template and where the share of white matter is ½ or more."""
    from edgecritic.datasets.files import read_volume

    t1 = read_volume(_only_file(folder, "*t1*.nii*")).array.astype(np.float64)
    white = read_volume(_only_file(folder, "*wm*.nii*")).array.astype(np.float64)
    return t1 / t1.max(), white >= 0.5 * white.max()


def point_sets(ndim: int, points: int, seed: int) -> Sample:
    """Return sets of as many points with a perfect pairing inside the window, at constant density.

    Every truth point has one detection at a random place of its window; the image grows with their number.

    Examples
    --------
    >>> candidate, truth = point_sets(2, 100, 0)
    >>> int(candidate.sum()), int(truth.sum())
    (100, 100)
    """
    rng = np.random.default_rng([seed, ndim, points])
    reach = WINDOW // 2
    density = 0.05 if ndim == 2 else 0.01
    side = int(np.ceil((points / density) ** (1 / ndim))) + 2 * reach
    inner = (side - 2 * reach,) * ndim
    chosen = rng.permutation(int(np.prod(inner)))[:points]
    places = np.stack(np.unravel_index(chosen, inner), axis=1) + reach
    truth = np.zeros((side,) * ndim, dtype=np.bool_)
    truth[tuple(places.T)] = True
    candidate = np.zeros_like(truth)
    for place in places:  # one by one: each detection takes a place that is still free
        for _ in range(50):
            spot = tuple(place + rng.integers(-reach, reach + 1, ndim))
            if not candidate[spot]:
                candidate[spot] = True
                break
    return candidate, truth


def round_surface(side: int = 48) -> BoolArray:
    """Return a wavy ball, for those who have no volume at hand.

    Examples
    --------
    >>> bool(round_surface(24)[12, 12, 12])
    True
    """
    z, y, x = np.indices((side,) * 3) - (side - 1) / 2
    radius = 0.36 * side + 0.06 * side * np.sin(6 * np.arctan2(y, x)) * np.cos(4 * np.pi * z / side)
    ball: BoolArray = z**2 + y**2 + x**2 <= radius**2
    return ball


def surface_slabs(mask: BoolArray, planes: Sequence[int]) -> Iterator[tuple[int, Sample]]:
    """Yield slabs of growing thickness around the middle of an object: its surface, and one just outside.

    The truth is the inner boundary of the object, the candidate that of the object grown by one voxel (its
    face neighbours): two dense surfaces, one voxel apart, as a person and a detector would give.

    Examples
    --------
    >>> [int(truth.sum()) > 100 for _, (_, truth) in surface_slabs(round_surface(24), [2, 4])]
    [True, True]
    """
    from edgecritic.maps.boundaries import inner_boundary

    met = np.flatnonzero(mask.any(axis=(1, 2)))
    if met.size == 0:
        raise DataError("the mask of the volume is empty: there is no surface to pair")
    middle = int(met[met.size // 2])
    surface = inner_boundary(mask)
    grown = mask.copy()
    for axis in range(3):
        along, wider = np.moveaxis(mask, axis, 0), np.moveaxis(grown, axis, 0)
        wider[1:] |= along[:-1]
        wider[:-1] |= along[1:]
    outside = inner_boundary(grown)
    for thick in planes:
        begin = max(middle - thick // 2, 0)
        part = np.s_[begin : begin + thick]
        yield thick, (outside[part].copy(), surface[part].copy())


def _stroke(mask: BoolArray, corners: NDArray[np.float64]) -> None:
    for start, end in pairwise(corners):
        steps = int(np.abs(end - start).max()) + 1
        line = np.rint(np.linspace(start, end, steps + 1)).astype(np.int64)
        mask[line[:, 0], line[:, 1]] = True


def _only_file(folder: str | Path, pattern: str) -> Path:
    found = sorted(Path(folder).glob(pattern))
    if not found:
        raise InputError(f"holds no file {pattern}; the MNI152 template was expected there", path=folder)
    return found[0]
