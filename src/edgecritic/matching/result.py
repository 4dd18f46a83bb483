"""The matching that a strategy returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from edgecritic.assignment.pair import Pair
from edgecritic.errors import InputError
from edgecritic.figures import FALSE_ALARM, HIT, MISS, show_map
from edgecritic.geometry import judged
from edgecritic.inputs import BoolArray, mask_of
from edgecritic.values import Value

__all__ = ["Counted", "Matching", "Partners", "f_measure", "share"]

_PORTION = 1 << 14
_LARGE = 1 << 22  # pixels
_BYTES_OF_INDEX = 8

Partners = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Raster indices of pixels of a map, and of the pixel of the other map that each is linked with."""


T = TypeVar("T")


class Counted:
    """What a matching of whole maps and one in tiles have in common; for the attributes see `Matching`."""

    strategy: str
    tolerance: float | None
    tp: int
    fp: int
    fn: int
    precision: float
    recall: float
    distances: NDArray[np.float64] | None
    spacing: tuple[float, ...] | None

    if TYPE_CHECKING:

        @property
        def shape(self) -> tuple[int, ...]:
            """Shape of the maps."""

    def f(self, alpha: float = 0.5) -> float:
        """Return F_α = P·R / (α·R + (1 − α)·P), 0 where nothing is matched.

        `alpha` in [0, 1] is the weight of precision; ½ is the harmonic mean.
        """
        return f_measure(self.precision, self.recall, alpha)

    @property
    def mean_distance(self) -> float | None:
        """Mean distance of the matched pairs; ``None`` if there are none or the strategy has no pairs."""
        if self.distances is None or self.distances.size == 0:
            return None
        return float(self.distances.mean())

    def as_dict(self) -> dict[str, Any]:
        """Return the scalars, ready for JSON."""
        return {
            "strategy": self.strategy,
            "tolerance": self.tolerance,
            "tp": self.tp,
            "fp": self.fp,
            "fn": self.fn,
            "precision": self.precision,
            "recall": self.recall,
            "f": self.f(),
            "mean_distance": self.mean_distance,
            "judged": judged(self.shape, self.spacing),
        }


class _Made(Generic[T]):
    """An array of a matching that may be given by raster indices, and is made of them when it is asked for.

    Maps of volumes take more memory than all that is in them, coordinates two or three times as much.
    """

    def __init__(self, ndim: int, make: Callable[..., Any], *, optional: bool = False) -> None:
        self._ndim = ndim  # of an array of raster indices
        self._make = make
        self._optional = optional

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, matching: Matching | None, owner: type | None = None) -> T:
        if matching is None:
            if self._optional:
                return cast("T", None)  # the default
            raise AttributeError(self._name)  # so that it has none
        held = vars(matching)[self._name]
        if isinstance(held, np.ndarray) and held.ndim == self._ndim:
            held = self._make(held, matching.shape)
            held.flags.writeable = False
            vars(matching)[self._name] = held
        return cast("T", held)

    def __set__(self, matching: Matching, given: T | NDArray[np.int64]) -> None:
        vars(matching)[self._name] = given


def _places(raster: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the coordinates of pairs, given as two rows of raster indices; made in portions."""
    places = np.empty((raster.shape[1], 2, len(shape)), dtype=np.int64)
    for begin in range(0, len(places), _PORTION):
        part = slice(begin, begin + _PORTION)
        for axis, both in enumerate(np.unravel_index(raster[:, part], shape)):
            places[part, :, axis] = both.T
    return places


class Matching(Counted, Value):
    """What was matched and what was not; its arrays can only be read.

    Attributes
    ----------
    strategy : str
        The id of the strategy, such as ``exact`` or ``eps(window=7)``.
    tolerance : float or None
        Largest distance of a match in pixels (in units of `spacing` if that was given); ``None`` for
        strategies that search a window instead.
    tp, fp, fn : int
        Hits, false alarms and misses as the strategy counts them.
    precision, recall : float
        Shares of the candidate and of the truth that are matched. An empty side has the value 0,
        two empty sides agree perfectly and have the value 1.
    candidate, truth : bool arrays
        The maps that were compared.
    matched_candidate, matched_truth : bool arrays
        The pixels of each map that are matched.
    pairs : (n, 2, ndim) int array or None
        The coordinates of candidate pixel and truth pixel of every match, in raster order of the candidate.
        One-to-one strategies have a pixel in one pair at most, ``validation`` in several; ``distance`` and
        ``area`` have none.
    distances : (n,) float array or None
        The distance of every match, in the units of the tolerance.
    spacing : tuple of float or None
        The pixel sizes that were given; ``None`` if lengths are in pixels.
    notes : tuple of str
        What was done to bring images with a geometry onto one grid.
    """

    strategy: str
    tolerance: float | None
    tp: int
    fp: int
    fn: int
    precision: float
    recall: float
    candidate: _Made[BoolArray] = _Made(1, mask_of)
    truth: BoolArray
    matched_candidate: _Made[BoolArray] = _Made(1, mask_of)
    matched_truth: _Made[BoolArray] = _Made(1, mask_of)
    pairs: NDArray[np.int64] | None = cast("Any", _Made(2, _places, optional=True))
    distances: NDArray[np.float64] | None = None
    spacing: tuple[float, ...] | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def from_counts(
        cls,
        pair: Pair,
        *,
        tp: int,
        fp: int,
        fn: int,
        matched_candidate: BoolArray | NDArray[np.int64],
        matched_truth: BoolArray | NDArray[np.int64],
        precision: float | None = None,
        recall: float | None = None,
        pairs: NDArray[np.int64] | None = None,
        distances: NDArray[np.float64] | None = None,
    ) -> Matching:
        """Make the result of a strategy; ratios that are not given follow from the counts.

        The pixels that are matched are given as maps or as raster indices, pairs as two rows of these.
        """
        agree = not (pair.candidate.any() or pair.truth.any())
        if precision is None:
            precision = share(tp, tp + fp)
        if recall is None:
            recall = share(tp, tp + fn)
        return cls(
            strategy=pair.strategy,
            tolerance=None if pair.windowed else pair.tolerance,
            tp=tp,
            fp=fp,
            fn=fn,
            precision=1.0 if agree else precision,
            recall=1.0 if agree else recall,
            candidate=_candidate_to_keep(pair),
            truth=pair.own(pair.truth),
            matched_candidate=pair.own(matched_candidate),
            matched_truth=pair.own(matched_truth),
            pairs=pairs,
            distances=distances,
            spacing=None if pair.in_pixels else pair.spacing,
            notes=pair.notes,
        )

    @classmethod
    def from_pairs(
        cls,
        pair: Pair,
        candidate_raster: NDArray[np.int64],
        truth_raster: NDArray[np.int64],
    ) -> Matching:
        """Make the result of a strategy with pairs from raster indices of the matched pixels.

        Every truth pixel is there once. A candidate pixel that several share counts once for `fp` and
        precision. The pairs are put into raster order of the candidate.
        """
        order = np.argsort(candidate_raster, kind="stable")
        pairs = np.stack([candidate_raster[order], truth_raster[order]])
        first, second = pairs
        present = int(np.count_nonzero(pair.candidate))
        taken = min(first.size, 1) + int(np.count_nonzero(first[1:] != first[:-1]))
        return cls.from_counts(
            pair,
            tp=first.size,
            fp=present - taken,
            fn=int(np.count_nonzero(pair.truth)) - first.size,
            precision=share(taken, present),
            matched_candidate=first,
            matched_truth=second,
            pairs=pairs,
            distances=_distances(pairs, pair.candidate.shape, pair.spacing),
        )

    @classmethod
    def from_links(cls, pair: Pair, of_candidate: Partners, of_truth: Partners, *, recall: str) -> Matching:
        """Make the result of a strategy that links each matched pixel of either map with one of the other.

        A pair that both sides name is kept once. Counts and `recall` are as in `from_masks`.
        """
        size, shape = pair.truth.size, pair.truth.shape
        named = np.concatenate([of_candidate[0] * size + of_candidate[1], of_truth[1] * size + of_truth[0]])
        pairs = np.stack(np.divmod(np.unique(named), size))
        return cls.from_masks(
            pair,
            mask_of(of_candidate[0], shape),
            mask_of(of_truth[0], shape),
            recall=recall,
            traced=(pairs, _distances(pairs, shape, pair.spacing)),
        )

    @classmethod
    def from_masks(
        cls,
        pair: Pair,
        matched_candidate: BoolArray,
        matched_truth: BoolArray,
        *,
        recall: str,
        traced: tuple[NDArray[np.int64], NDArray[np.float64]] | None = None,
    ) -> Matching:
        """Make the result of a strategy that looks for partners on each side by itself.

        TP are the matched candidate pixels, FP the others, FN the truth pixels that are not matched.
        `recall` is ``"gt"`` for the matched share of the truth, ``"confusion"`` for TP / (TP + FN).
        `traced` are raster indices of the pairs, two rows, and their distances, where there are any.
        """
        if recall not in ("confusion", "gt"):
            raise InputError(f"recall must be 'confusion' or 'gt', got {recall!r}")
        size, tp, found = (
            int(np.count_nonzero(mask)) for mask in (pair.truth, matched_candidate, matched_truth)
        )
        return cls.from_counts(
            pair,
            tp=tp,
            fp=int(np.count_nonzero(pair.candidate)) - tp,
            fn=size - found,
            recall=share(found, size) if recall == "gt" else None,
            matched_candidate=matched_candidate,
            matched_truth=matched_truth,
            pairs=None if traced is None else traced[0],
            distances=None if traced is None else traced[1],
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the maps."""
        return self.truth.shape

    @property
    def coherence(self) -> float | None:
        """Mean difference of the offsets of neighbouring matched pixels, 0 if all go the same way.

        The mean of |δ(p) − δ(p′)| over all neighbouring (also diagonally) matched pixels p, p′ of each map,
        both maps together, in the units of `distances`; δ leads from candidate to truth. ``None`` without
        such neighbours, and where a pixel is in several pairs.
        """
        steps = self._steps_between_neighbours()
        return float(steps.mean()) if steps.size else None

    @property
    def jumps(self) -> float | None:
        """Share of the neighbours of `coherence` whose offsets differ by more than 2 px."""
        steps = self._steps_between_neighbours()
        smallest = 1.0 if self.spacing is None else min(self.spacing)
        return float((steps > 2 * smallest).mean()) if steps.size else None

    def _steps_between_neighbours(self) -> NDArray[np.float64]:
        if self.pairs is None or not (
            len(self.pairs) == self.matched_candidate.sum() == self.matched_truth.sum()
        ):
            return np.zeros(0)
        sizes = np.ones(self.truth.ndim) if self.spacing is None else np.asarray(self.spacing)
        moved = self.pairs[:, 1] - self.pairs[:, 0]
        shape = tuple(size + 2 for size in self.truth.shape)
        around = np.indices((3,) * self.truth.ndim).reshape(self.truth.ndim, -1).T - 1
        found = [np.zeros(0)]
        for side in (0, 1):
            number = np.full(shape, -1, dtype=np.int64)
            places = self.pairs[:, side] + 1
            number[tuple(places.T)] = np.arange(len(places))
            for step in around[len(around) // 2 + 1 :]:
                other = number[tuple((places + step).T)]
                one = np.flatnonzero(other >= 0)
                apart = (moved[one] - moved[other[one]]) * sizes
                found.append(np.sqrt((apart**2).sum(axis=1)))
        return np.concatenate(found)

    def overlay(self, background: Any = None) -> NDArray[np.uint8]:
        """Draw the matching: hits green, false alarms orange, misses blue, on white or on an image.

        Parameters
        ----------
        background : array of the maps' shape, optional
            A grey image in [0, 1] or 0…255 that is shown faintly below.

        Returns
        -------
        (…, 3) uint8 array
        """
        picture = _canvas(background, self.candidate.shape)
        picture[self.truth & ~self.matched_truth] = MISS
        picture[self.matched_truth] = HIT
        picture[self.candidate & ~self.matched_candidate] = FALSE_ALARM
        picture[self.matched_candidate] = HIT
        return picture

    def plot(self, ax: Any = None, *, background: Any = None) -> Any:
        """Draw `overlay` into `ax`, or into a new figure; of a volume the plane with most pixels.

        Returns
        -------
        matplotlib.axes.Axes
        """
        picture, title = self.overlay(background), f"{self.tp} hits, {self.fp} false alarms, {self.fn} misses"
        if self.truth.ndim == 3:
            plane = int((self.candidate | self.truth).sum(axis=(1, 2)).argmax())
            picture, title = picture[plane], f"plane {plane} of a volume with {title}"
        return show_map(ax, picture, title)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per matched pair, its two pixels and their distance; the counts without pairs."""
        if self.pairs is None or self.distances is None:
            return Value.rows(self)
        axes = ("plane", "row", "column")[-self.candidate.ndim :]
        names = [f"{side}_{axis}" for side in ("candidate", "truth") for axis in axes]
        places = self.pairs.reshape(len(self.pairs), len(names)).tolist()
        return [
            {**dict(zip(names, place, strict=True)), "distance": distance}
            for place, distance in zip(places, self.distances.tolist(), strict=True)
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return the scalars, ready for JSON."""
        return super().as_dict() | ({"notes": list(self.notes)} if self.notes else {})

    def __str__(self) -> str:
        unit = " px" if self.spacing is None else ""
        reach = "" if self.tolerance is None else f" within {self.tolerance:.3g}{unit}"
        return (
            f"{self.strategy}{reach}: {self.tp} hits, {self.fp} false alarms, {self.fn} misses; "
            f"P {self.precision:.4f}  R {self.recall:.4f}  F {self.f():.4f}"
        )


def f_measure(precision: float, recall: float, alpha: float = 0.5) -> float:
    """Return F_α = P·R / (α·R + (1 − α)·P), 0 where nothing is matched."""
    if not 0 <= alpha <= 1:
        raise InputError(f"alpha must lie in [0, 1], got {alpha!r}")
    below = alpha * recall + (1 - alpha) * precision
    return precision * recall / below if below > 0 else 0.0


def share(part: int, whole: int) -> float:
    """Return a share, 0 of nothing."""
    return part / whole if whole else 0.0


def _candidate_to_keep(pair: Pair) -> NDArray[Any]:
    """Return a copy of the candidate, or of a large map with few pixels their raster indices."""
    map_ = pair.candidate
    if map_.size >= _LARGE and _BYTES_OF_INDEX * np.count_nonzero(map_) < map_.size:
        return np.flatnonzero(map_)
    return pair.own(map_)


def _distances(
    pairs: NDArray[np.int64], shape: tuple[int, ...], spacing: Sequence[float]
) -> NDArray[np.float64]:
    """Return the distances of pairs of raster indices, made in portions that stay in the cache."""
    distances = np.zeros(pairs.shape[1])
    for begin in range(0, distances.size, _PORTION):
        part = slice(begin, begin + _PORTION)
        for (first, second), size in zip(np.unravel_index(pairs[:, part], shape), spacing, strict=True):
            distances[part] += ((first - second) * size) ** 2
    return np.sqrt(distances, out=distances)


def _canvas(background: Any, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    if background is None:
        return np.full((*shape, 3), 255, dtype=np.uint8)
    grey = np.asarray(background, dtype=np.float64)
    if grey.shape != shape:
        raise InputError(f"background must have the maps' shape {shape}, got {grey.shape}")
    if not np.isfinite(grey).all():
        raise InputError("background holds NaN or infinite values", remedy="replace them before it is shown")
    top = 255.0 if grey.max(initial=0.0) > 1 else 1.0
    faint = 128 + 127 * np.clip(grey / top, 0, 1)
    return np.repeat(faint.astype(np.uint8)[..., None], 3, axis=-1)
