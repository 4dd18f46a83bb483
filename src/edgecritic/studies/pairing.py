"""How close cheap pairing strategies come to the optimal assignment, and how their time grows.

After S. Smith and I. Williams: Efficient one-to-one pair matching for 2-D and 3-D edge detection evaluation
(VISAPP 2020). Accuracy: the figure of merit of each strategy on many small images, correlated with that of
the Hungarian method. Time: pairs of point sets of growing number and constant density.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError, MissingExtraError
from edgecritic.figures import COLOURS, axes_of
from edgecritic.inputs import BoolArray
from edgecritic.matching import match
from edgecritic.measures import compare
from edgecritic.measures.merit import fom
from edgecritic.values import Value

__all__ = [
    "SIDES",
    "METHODS",
    "DENSE",
    "PairingAccuracy",
    "PairingTime",
    "accuracy",
    "accuracy_of_samples",
    "synthetic_samples",
    "brain_samples",
    "time_pairing",
]

SIDES = tuple(range(11, 30, 2))
"""Sides of the sub-images in pixels."""

WINDOW = 5
"""T_match: the side of the search window."""

METHODS: dict[str, str | None] = {
    "hungarian": f"hungarian(window={WINDOW}, remove_hits=True)",
    "csa": f"csa(window={WINDOW})",
    "eps": f"eps(window={WINDOW})",
    "closest": f"closest(window={WINDOW})",
    "closest, shared": f"closest(window={WINDOW}, exclusive=False)",
    "fom": None,
}
"""The strategies that are compared; Pratt's own figure of merit pairs nothing."""

DENSE = "hungarian, dense"
"""The textbook method, timed for comparison; ``hungarian`` works group by group of connected pixels."""

_FORBIDDEN = 1e4

Sample = tuple[BoolArray, BoolArray]


class PairingAccuracy(Value):
    """Correlation with the Hungarian method.

    Attributes
    ----------
    data : str
    sides : tuple of int
    methods : tuple of str
    samples : tuple of int
        Number of sub-images of each side.
    pearson : (sides, methods) tuple of tuples
        ``None`` where a method could not run or scores do not vary.
    mean : (sides, methods) tuple of tuples
        The mean figure of merit.
    """

    data: str
    sides: tuple[int, ...]
    methods: tuple[str, ...]
    samples: tuple[int, ...]
    pearson: tuple[tuple[float | None, ...], ...]
    mean: tuple[tuple[float | None, ...], ...]

    def plot(self, ax: Any = None) -> Any:
        """Draw the correlations over the side of sub-images into `ax`, or a new figure; return the axes."""
        axes = axes_of(ax)
        for number, name in enumerate(self.methods):
            values = [np.nan if row[number] is None else row[number] for row in self.pearson]
            axes.plot(self.sides, values, "o-", ms=4, color=COLOURS[number % len(COLOURS)], label=name)
        axes.set_title(self.data, fontsize=9)
        axes.set(xlabel="side of the sub-image (pixels)", xticks=self.sides[::2])
        axes.grid(color="#dddddd", linewidth=0.6)
        return axes

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "data": self.data,
            "rows": [
                {
                    "side": side,
                    "samples": number,
                    "pearson": dict(zip(self.methods, r, strict=True)),
                    "mean": dict(zip(self.methods, mean, strict=True)),
                }
                for side, number, r, mean in zip(
                    self.sides, self.samples, self.pearson, self.mean, strict=True
                )
            ],
        }


class PairingTime(Value):
    """Seconds of one method on one number of points; the least of several runs."""

    method: str
    ndim: int
    points: int
    seconds: float


def scores(candidate: BoolArray, truth: BoolArray) -> dict[str, float]:
    """Return the figure of merit of every method; those whose extra is missing are left out."""
    found = {}
    comparison = compare(candidate, truth)
    comparison.warned = True  # sub-images may be empty: the value is that of the table, without a word
    for name, strategy in METHODS.items():
        try:
            found[name] = fom(comparison, strategy=strategy)
        except MissingExtraError:
            continue
    return found


def accuracy_of_samples(samples: Iterable[Sample]) -> list[dict[str, float]]:
    """Return the scores of sub-images; empty ones are left out."""
    return [scores(candidate, truth) for candidate, truth in samples if candidate.any() or truth.any()]


def accuracy(data: str, tables: dict[int, list[dict[str, float]]]) -> PairingAccuracy:
    """Correlate the scores of every side with those of the Hungarian method."""
    methods = tuple(name for name in METHODS if name != "hungarian")
    pearson, means, numbers = [], [], []
    for rows in tables.values():
        best = np.array([row["hungarian"] for row in rows])
        line: list[float | None] = []
        mean: list[float | None] = []
        for name in methods:
            values = np.array([row.get(name, np.nan) for row in rows])
            known = values.size > 1 and bool(np.isfinite(values).all())
            varied = known and np.ptp(values) > 0 and np.ptp(best) > 0
            line.append(float(np.corrcoef(values, best)[0, 1]) if varied else None)
            mean.append(float(values.mean()) if known else None)
        pearson.append(tuple(line))
        means.append((*mean, float(best.mean()) if best.size else None))
        numbers.append(len(rows))
    return PairingAccuracy(
        data=data,
        sides=tuple(tables),
        methods=methods,
        samples=tuple(numbers),
        pearson=tuple(pearson),
        mean=tuple(row[:-1] for row in means),
    )


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


def brain_samples(
    folder: str | Path, sides: Sequence[int], number: int, *, detector: str = "sobel", seed: int = 0
) -> dict[int, list[Sample]]:
    """Cut sub-images around truth points of brain slices: tissue borders against a detector's edges.

    The truth is the border of the white matter (share ≥ ½) in coronal slices of the MNI152 template; the
    candidate is a detector's thinned answer to the T1 image, cut at the threshold of the best F over the
    slice. Every truth point far enough from the frame can be drawn.

    Parameters
    ----------
    folder : path
        With the NIfTI files ``*t1*`` and ``*wm*`` of the template.
    sides : sequence of odd int
    number : int
        Sub-images of each side, around the same points for all sides.
    detector : str
    seed : int
    """
    from edgecritic.datasets.files import read_volume

    t1 = read_volume(_only_file(folder, "*t1*.nii*")).array.astype(np.float64)
    white = read_volume(_only_file(folder, "*wm*.nii*")).array.astype(np.float64)
    white /= white.max()
    t1 /= t1.max()
    rng = np.random.default_rng(seed)
    half = max(sides) // 2
    planes = np.linspace(0.3, 0.7, 8)
    maps = [_slice_maps(t1, white, int(share * t1.shape[1]), detector) for share in planes]
    points = [
        (plane, row, column)
        for plane, (_, truth) in enumerate(maps)
        for row, column in np.argwhere(truth[half : truth.shape[0] - half, half : truth.shape[1] - half])
        + half
    ]
    drawn = rng.permutation(len(points))[:number]
    found: dict[int, list[Sample]] = {}
    for side in sides:
        reach = side // 2
        found[side] = []
        for place in drawn:
            plane, row, column = points[place]
            window = np.s_[row - reach : row + reach + 1, column - reach : column + reach + 1]
            candidate, truth = maps[plane]
            found[side].append((candidate[window].copy(), truth[window].copy()))
    return found


def time_pairing(
    ndim: int, points: int, methods: Sequence[str], *, repeats: int = 2, seed: int = 0
) -> list[PairingTime]:
    """Time methods on point sets with a perfect pairing inside the window, at constant density.

    Every truth point has one detection at a random place of its window, so that both sets have as many
    points; the image grows with their number.
    """
    candidate, truth = _point_sets(ndim, points, seed)
    found = []
    for name in methods:
        call = _method(name)
        try:
            call(candidate, truth)
        except MissingExtraError:
            continue
        seconds = []
        for _ in range(repeats):
            begin = time.perf_counter()
            call(candidate, truth)
            seconds.append(time.perf_counter() - begin)
        found.append(
            PairingTime(method=name, ndim=ndim, points=int(np.count_nonzero(truth)), seconds=min(seconds))
        )
    return found


def _method(name: str) -> Callable[[BoolArray, BoolArray], Any]:
    if name == DENSE:
        return _dense_hungarian
    strategy = f"exact(window={WINDOW})" if name == "exact" else METHODS[name]
    if strategy is None:
        return lambda candidate, truth: fom(compare(candidate, truth))
    return lambda candidate, truth: match(candidate, truth, strategy=strategy)


def _dense_hungarian(candidate: BoolArray, truth: BoolArray) -> int:
    """Assign with the full matrix of costs, as a textbook does; return the number of pairs."""
    from scipy.optimize import linear_sum_assignment

    found, wanted = np.argwhere(candidate), np.argwhere(truth)
    steps = np.abs(found[:, None] - wanted[None])
    costs = np.where(steps.max(axis=2) <= WINDOW // 2, np.sqrt((steps**2).sum(axis=2)), _FORBIDDEN)
    rows, columns = linear_sum_assignment(costs)
    return int(np.count_nonzero(costs[rows, columns] < _FORBIDDEN))


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


def _slice_maps(t1: NDArray[np.float64], white: NDArray[np.float64], plane: int, detector: str) -> Sample:
    from edgecritic.detectors import detect
    from edgecritic.maps.boundaries import label_boundaries
    from edgecritic.maps.thinning import thin

    truth = thin(label_boundaries((white[:, plane] >= 0.5).astype(np.int64)))
    found = detect(t1[:, plane], detector, kind="grey")
    levels = np.linspace(0.1, 0.9, 17)
    maps = [found.binary(float(level)) for level in levels]
    best = max(range(len(maps)), key=lambda place: match(maps[place], truth, tolerance=2).f())
    return maps[best], truth


def _point_sets(ndim: int, points: int, seed: int) -> Sample:
    rng = np.random.default_rng([seed, ndim, points])
    reach = WINDOW // 2
    density = 0.05 if ndim == 2 else 0.01
    side = int(np.ceil((points / density) ** (1 / ndim))) + 2 * reach
    shape = (side,) * ndim
    inner = (side - 2 * reach,) * ndim
    chosen = rng.permutation(int(np.prod(inner)))[:points]
    places = np.stack(np.unravel_index(chosen, inner), axis=1) + reach
    truth = np.zeros(shape, dtype=np.bool_)
    truth[tuple(places.T)] = True
    candidate = np.zeros(shape, dtype=np.bool_)
    for place in places:  # one by one: each detection takes a place that is still free
        for _ in range(50):
            spot = tuple(place + rng.integers(-reach, reach + 1, ndim))
            if not candidate[spot]:
                candidate[spot] = True
                break
    return candidate, truth
