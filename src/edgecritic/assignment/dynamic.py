"""The exact matching while candidate pixels come and go: what a threshold sweep stands on."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from edgecritic.assignment.graph import outlier_cost
from edgecritic.assignment.reach import as_window, reach_within
from edgecritic.assignment.solver import (
    MOST_LINKS,
    hashing,
    link_rows,
    placed,
    too_many_links,
)
from edgecritic.errors import InputError
from edgecritic.inputs import (
    BoolArray,
    Indices,
    Spacing,
    as_mask,
    as_masks,
    as_spacing,
    as_tolerance,
    mask_of,
)
from edgecritic.kernels.changing import Changing, all_absent, sweep, sweep_maps
from edgecritic.kernels.grid import Grid, Neighbourhood
from edgecritic.kernels.hashing import Hashing
from edgecritic.kernels.links import Groups, Links, Placed, WebOfLinks, from_columns
from edgecritic.maps.walk import Changes

__all__ = ["ExactState", "compile_here", "match_truths", "sweep_truths"]

Integer = TypeVar("Integer", np.int32, np.int64)


class ExactState:
    """The exact matchings of a changing candidate with one truth or with each of several.

    After every `update` each matching is the optimum that the strategy ``exact`` finds for the pixels
    present, down to the same set of matched pixels.

    Parameters
    ----------
    truths : array_like, or list of array_like of one shape; 2-D or 3-D
    tolerance, relative_tolerance, spacing
        As for `edgecritic.match`.
    window : odd int, optional
        As for the strategy ``exact(window=…)``.
    universe : array_like of the truths' shape, optional
        The pixels that may ever be present (default: all); a small universe saves time and memory.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.zeros((5, 5), bool)
    >>> truth[2, 1:4] = True
    >>> state = ExactState(truth, tolerance=1)
    >>> state.update(added=[6, 7, 8])  # row 1, columns 1 to 3
    >>> state.matches, state.cost
    (3, 300)
    >>> state.update(added=[11], removed=[6, 8])
    >>> state.matches, state.cost
    (2, 100)
    """

    def __init__(
        self,
        truths: Any,
        *,
        tolerance: float | None = None,
        relative_tolerance: float | None = None,
        spacing: Spacing = None,
        window: int | None = None,
        universe: Any = None,
    ) -> None:
        masks = as_masks(truths, "truth")
        self.shape = shape = masks[0].shape
        task = _task_of(shape, spacing, tolerance, relative_tolerance, window)
        self.tolerance, self.outlier_cost = task.tolerance, task.outlier_cost
        self._problem, where = _linked(task, [_universe(universe, shape), *masks])
        self._pixels, self._columns, self._map_start, self._number = where

    def update(self, *, added: Any = (), removed: Any = ()) -> None:
        """Remove and add candidate pixels, given by raster index (``row * columns + column``)."""
        gone, new = self._find(removed, "removed"), self._find(added, "added")
        if not self._problem.present[gone].all():
            raise InputError("removed: at least one pixel is not present")
        stays = self._problem.present.copy()
        stays[gone] = False
        if stays[new].any():
            raise InputError("added: at least one pixel is present already")
        self._follow(*(Groups(np.array([0, part.size]), part) for part in (new, gone)))

    def sweep(self, gained: Changes, lost: Changes) -> NDArray[np.int64]:
        """Make many updates at once, without the checks of `update`.

        Parameters
        ----------
        gained, lost : Changes
            The pixels that come and go at each step, all of the universe.

        Returns
        -------
        (steps, 2) int64 array
            After each step `matches` and `matched_pixels`.
        """
        return self._follow(*(Groups(one.start, self._number[one.pixels]) for one in (gained, lost)))

    def _follow(self, gained: Groups, lost: Groups) -> NDArray[np.int64]:
        web = self._problem.web
        if lost.members.size and web.columns.start.size == 0:
            links = from_columns(web.rows, self._columns.size)
            self._problem = self._problem._replace(web=web._replace(columns=links))
        counts: NDArray[np.int64] = sweep(self._problem, gained, lost)
        return counts

    @property
    def truth_pixels(self) -> int:
        """Number of pixels of all truths."""
        return self._columns.size

    @property
    def matches(self) -> int:
        """Number of matched pairs, over all truths."""
        return int(self._problem.counts[0])

    @property
    def matched_pixels(self) -> int:
        """Number of candidate pixels that are matched with at least one truth."""
        return int(self._problem.counts[1])

    @property
    def present(self) -> BoolArray:
        """Mask of the candidate pixels that are present."""
        return self._mask(self._pixels[self._problem.present])

    @property
    def matched_candidate(self) -> BoolArray:
        """Mask of the candidate pixels that are matched with at least one truth."""
        return self._mask(self._pixels[self._problem.partners > 0])

    @property
    def matched_truths(self) -> list[BoolArray]:
        """For each truth the mask of its pixels that are matched."""
        matched = self._problem.state.columns.mate >= 0
        parts = zip(self._map_start[:-1], self._map_start[1:], strict=True)
        return [self._mask(self._columns[start:stop][matched[start:stop]]) for start, stop in parts]

    @property
    def cost(self) -> int:
        """Over all truths Σ round(100·d) of the matched pairs + ow per present pixel without a partner."""
        starts, others, costs = self._problem.web.rows
        partner = np.repeat(self._problem.state.rows.mate, np.diff(starts))
        truths = self._map_start.size - 1
        alone = truths * int(np.count_nonzero(self._problem.present)) - self.matches
        return int(costs[others == partner].sum()) + self.outlier_cost * alone

    def _find(self, raster: Any, name: str) -> NDArray[np.int32]:
        given = np.atleast_1d(np.asarray(raster))
        if given.size and given.dtype.kind not in "iu":
            raise InputError(f"{name}: raster indices must be whole numbers, got {given.dtype}")
        pixels = given.astype(np.int64).ravel()
        if np.unique(pixels).size != pixels.size:
            raise InputError(f"{name}: a pixel is named twice")
        if pixels.size and not (pixels.min() >= 0 and pixels.max() < self._number.size):
            raise InputError(f"{name}: raster indices must lie in 0 … {self._number.size - 1}")
        numbers = self._number[pixels]
        if np.any(numbers < 0):
            raise InputError(f"{name}: at least one pixel is not in the universe of this state")
        return numbers

    def _mask(self, raster: Indices) -> BoolArray:
        return mask_of(raster, self.shape)


def sweep_truths(
    truths: Sequence[BoolArray],
    gained: Changes,
    lost: Changes,
    *,
    tolerance: float | None = None,
    relative_tolerance: float | None = None,
    spacing: Spacing = None,
    window: int | None = None,
) -> tuple[NDArray[np.int64], int, int]:
    """Do what `ExactState.sweep` does from no candidate pixel on, and keep nothing: sooner, for images.

    Parameters
    ----------
    truths : sequence of bool arrays of one shape
    gained, lost : Changes
    tolerance, relative_tolerance, spacing, window
        As for `ExactState`.

    Returns
    -------
    counts : (steps, 2) int64 array
    pixels, places : int
        How many pixels the truths have together, and in how many places they are.

    Examples
    --------
    >>> truth = np.array([[0, 1, 1, 0]], bool)
    >>> steps = Changes.of([np.array([1]), np.array([3])]), Changes.of([[], []])
    >>> counts, pixels, places = sweep_truths([truth, truth], *steps, tolerance=1)
    >>> counts.tolist(), pixels, places
    ([[2, 1], [4, 2]], 4, 2)
    """
    shape = truths[0].shape
    options: dict[str, Any] = {"tolerance": tolerance, "relative_tolerance": relative_tolerance}
    if len(shape) == 2:
        task = _task_of(shape, spacing, window=window, **options)
        counts, _, _, pixels, places = _swept(task, truths, gained, lost)
        return counts, pixels, places
    universe = mask_of(gained.pixels, shape)
    state = ExactState(truths, spacing=spacing, window=window, universe=universe, **options)
    drawn = functools.reduce(np.logical_or, truths)
    return state.sweep(gained, lost), state.truth_pixels, int(np.count_nonzero(drawn))


def match_truths(
    candidate: BoolArray,
    truths: Sequence[BoolArray],
    *,
    tolerance: float | None = None,
    spacing: Spacing = None,
) -> tuple[BoolArray, list[BoolArray]]:
    """Match a candidate with each of several truths.

    Parameters
    ----------
    candidate : bool array
    truths : sequence of bool arrays of its shape
    tolerance, spacing
        As for `ExactState`.

    Returns
    -------
    matched_candidate : bool array
        The pixels of the candidate that are matched with at least one truth.
    matched_truths : list of bool array
        For each truth the pixels that are matched.

    Examples
    --------
    >>> truth = np.array([[0, 1, 1, 0]], bool)
    >>> candidate = np.array([[1, 0, 0, 0]], bool)
    >>> hit, (found,) = match_truths(candidate, [truth], tolerance=1)
    >>> hit.astype(int).tolist(), found.astype(int).tolist()
    ([[1, 0, 0, 0]], [[0, 1, 0, 0]])
    """
    shape = candidate.shape
    if len(shape) == 3:
        state = ExactState(truths, tolerance=tolerance, spacing=spacing, universe=candidate)
        state.update(added=np.flatnonzero(candidate))
        return state.matched_candidate, state.matched_truths
    task = _task_of(shape, spacing, tolerance, None, None)
    steps = Changes.of([np.flatnonzero(candidate)]), Changes.of([np.zeros(0, dtype=np.int64)])
    _, hit, matched, *_ = _swept(task, truths, *steps)
    found = mask_of(matched, (1 + len(truths), *shape))
    return mask_of(hit, shape), list(found[1:])


def _swept(
    task: _Task, truths: Sequence[BoolArray], gained: Changes, lost: Changes
) -> tuple[NDArray[np.int64], Indices, Indices, int, int]:
    """Return what `edgecritic.kernels.changing.sweep_maps` finds."""
    size = truths[0].size
    end = (1 + len(truths)) * size
    flat = np.empty(-(-end // 8) * 8, dtype=np.bool_)
    np.concatenate([one.reshape(-1) for one in truths], out=flat[size:end])
    found: tuple[NDArray[np.int64], Indices, Indices, int, int]
    found = sweep_maps(flat, flat.view(np.uint64), 1 + len(truths), *_surroundings(task), *gained, *lost)
    if len(found[0]) < len(gained.start) - 1:
        raise too_many_links()
    return found


class _Task(NamedTuple):
    """What is the same for all truths of one shape."""

    tolerance: float
    outlier_cost: int
    grid: Grid
    around: Neighbourhood
    how: Hashing


def _task_of(
    shape: tuple[int, ...],
    spacing: Spacing,
    tolerance: float | None,
    relative_tolerance: float | None,
    window: int | None,
) -> _Task:
    if window is not None and (tolerance is not None or relative_tolerance is not None):
        raise InputError("give a window or a tolerance, not both")
    sizes = as_spacing(spacing, len(shape))
    reach = as_tolerance(shape, sizes, tolerance, relative_tolerance)
    return _task(shape, sizes, reach, None if window is None else as_window(window))


@functools.lru_cache(maxsize=16)  # most images of a run have one of a few shapes
def _task(shape: tuple[int, ...], spacing: tuple[float, ...], tolerance: float, window: int | None) -> _Task:
    around, limit = reach_within(tolerance, spacing, window)
    cost = outlier_cost(limit, spacing)
    grid = Grid.around(shape, around.radii)
    return _Task(tolerance, cost, grid, around, hashing(math.prod(shape), cost))


def _universe(universe: Any, shape: tuple[int, ...]) -> BoolArray:
    if universe is None:
        return np.ones(shape, dtype=np.bool_)
    possible = as_mask(universe, "universe")
    if possible.shape != shape:
        raise InputError(f"universe must have the truths' shape {shape}, got {possible.shape}")
    return possible


def _surroundings(
    task: _Task,
) -> tuple[tuple[int, ...], tuple[int, ...], Indices, Indices, int, Hashing]:
    """Return what kernels ask of a task."""
    _, _, grid, around, how = task
    return grid.shape, grid.radii, around.offsets, around.costs, MOST_LINKS, how


def _linked(task: _Task, masks: Sequence[BoolArray]) -> tuple[Changing, Placed]:
    """Link pixels that may become candidates, those of the first map, with those of the others.

    Memory is gone through in its order, which pays where there is much of it, as in volumes. Links of the
    columns, which only rows that go need, are not made.
    """
    (pixels, places), *others_placed = (placed(task.grid, one) for one in masks)
    number = np.full(masks[0].size, -1, dtype=np.int32)
    number[pixels] = np.arange(pixels.size, dtype=np.int32)
    map_start = np.cumsum([0, *(raster.size for raster, _ in others_placed)])
    parts, near_pixels = [], []
    size = 0
    for first, (_, flat) in zip(map_start, others_placed, strict=False):
        links = link_rows(task.grid, places, flat, task.around, threads=1)
        near = np.flatnonzero(links.start[1:] > links.start[:-1])
        columns_of = links.other + np.int32(first) if first else links.other
        parts.append(Links(links.start[near] + size, columns_of, links.cost))
        near_pixels.append(near.astype(np.int32))
        size += links.other.size
        if size > MOST_LINKS:
            raise too_many_links()
    starts, others, costs = zip(*parts, strict=True)
    none = np.zeros(0, dtype=np.int32)
    web = WebOfLinks(
        Links(np.concatenate([*starts, [size]]), _joined(others), _joined(costs)),
        Links(np.zeros(0, dtype=np.int64), none, none),
        _joined(near_pixels),
        np.cumsum([0, *(part.size for part in near_pixels)]),
    )
    where = Placed(pixels, _joined([raster for raster, _ in others_placed]), map_start, number)
    return all_absent(web, where, task.how), where


def _joined(parts: Sequence[NDArray[Integer]]) -> NDArray[Integer]:
    """Return all parts as one array, without a copy if there is one only."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def compile_here() -> None:
    """Compile what matches images in sweeps, and nothing else."""
    match_truths(np.ones((3, 3), dtype=np.bool_), [np.ones((3, 3), dtype=np.bool_)], tolerance=1)
