"""Measures of maps too large for memory, given as lists of pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from edgecritic.errors import InputError
from edgecritic.ids import Id
from edgecritic.inputs import Indices, Spacing, as_spacing
from edgecritic.lazy import cached_property
from edgecritic.maps.bands import border_in_bands, distances_in_bands
from edgecritic.maps.nearest import FloatMap
from edgecritic.maps.target import as_empty_distance
from edgecritic.matching.tiled import match_pixels
from edgecritic.measures.evidence import Comparison, Confusion, Distances, Judged, OnDegenerate, check_policy
from edgecritic.measures.scoring import BoundMeasure, Measures, Scores, as_scores, choose, default_measures

__all__ = ["TiledComparison", "score_pixels"]


class _NeedsWholeError(InputError):
    """A measure asks for what only whole maps have."""


class TiledComparison(Comparison):
    """What measures need of two maps that are known by their pixels; computed lazily, in bands of rows.

    Counts, distances of pixels and borders, and exact matchings are there, and equal those of whole maps.
    Maps and their distance transforms are not: a measure that asks for them is refused.
    """

    def __init__(
        self,
        candidate: Indices,
        truth: Indices,
        shape: Sequence[int],
        spacing: tuple[float, ...],
        on_degenerate: OnDegenerate,
        *,
        rows: int | None = None,
    ) -> None:
        Judged.__init__(self, on_degenerate)
        self.shape = tuple(shape)
        self.size = math.prod(self.shape)
        self._pixels = candidate, truth
        self._sizes = spacing
        self._far = as_empty_distance(None, self.shape, spacing)
        self._rows = rows
        self._matchings: dict[str, Any] = {}
        self._sums = {}

    @property
    def spacing(self) -> tuple[float, ...]:
        """Pixel size along each axis."""
        return self._sizes

    @property
    def empty_distance(self) -> float:
        """What stands for the distance to a map without pixels."""
        return self._far

    @property
    def n_candidate(self) -> int:
        """Number of candidate pixels."""
        return int(self._pixels[0].size)

    @property
    def n_truth(self) -> int:
        """Number of truth pixels."""
        return int(self._pixels[1].size)

    @cached_property
    def _borders(self) -> tuple[Indices, Indices]:
        candidate, truth = self._pixels
        return border_in_bands(candidate, self.shape), border_in_bands(truth, self.shape)

    @property
    def thin(self) -> bool:
        """Whether all pixels of both maps are border pixels."""
        return all(one.size == two.size for one, two in zip(self._borders, self._pixels, strict=True))

    @cached_property
    def _hits(self) -> Indices:
        return np.intersect1d(*self._pixels, assume_unique=True)

    @cached_property
    def confusion(self) -> Confusion:
        """Counts of hits, false alarms, misses and true negatives under strict overlap."""
        tp = int(self._hits.size)
        fp, fn = self.n_candidate - tp, self.n_truth - tp
        return Confusion(tp, fp, fn, self.size - tp - fp - fn)

    @cached_property
    def distances(self) -> Distances:
        """Distances of the pixels of each map to the other map."""
        candidate, truth = self._pixels
        return Distances(self._nearest(candidate, truth), self._nearest(truth, candidate))

    @cached_property
    def surface(self) -> Distances:
        """Distances of the border pixels of each map to the border of the other."""
        if self.thin:
            return self.distances
        candidate, truth = self._borders
        return Distances(self._nearest(candidate, truth), self._nearest(truth, candidate))

    @cached_property
    def to_hits(self) -> FloatMap:
        """Distances of the truth pixels to the nearest pixel that is in both maps; inf if there is none."""
        return self._nearest(self._pixels[1], self._hits, far=math.inf)

    def matching(self, strategy: str | Id) -> Any:
        """Return the matching of the two maps by the strategy ``exact``."""
        key = str(strategy)
        if key not in self._matchings:
            if Id.parse(strategy).name != "exact":
                self._refuse()
            self._matchings[key] = match_pixels(
                *self._pixels, self.shape, strategy=strategy, spacing=self._sizes, rows=self._rows
            )
        return self._matchings[key]

    def _nearest(self, of: Indices, to: Indices, far: float | None = None) -> FloatMap:
        if to.size == 0:
            return np.full(of.size, self._far if far is None else far)
        return distances_in_bands(of, to, self.shape, self._sizes, rows=self._rows)

    def _refuse(self) -> NoReturn:
        raise _NeedsWholeError("needs whole maps, and is not computed in tiles")

    @property
    def candidate(self) -> NoReturn:
        """Not there."""
        self._refuse()

    truth = transforms = window = targets = candidate


def score_pixels(
    candidate: Indices,
    truths: Sequence[Indices],
    shape: Sequence[int],
    measures: Measures = None,
    *,
    strategy: str | Id | None = None,
    tolerance: float | None = None,
    spacing: Spacing = None,
    on_degenerate: OnDegenerate = "value",
    rows: int | None = None,
) -> Scores:
    """Compute measures of maps given by their pixels, in bands of rows, with the values of `score`.

    Parameters
    ----------
    candidate, truths : int64 array, and a sequence of them
        Raster indices of the pixels that are set, ascending.
    shape : (rows, columns)
    measures, strategy, tolerance, spacing, on_degenerate
        As for `edgecritic.score`; matchings are exact.
    rows : int, optional
        Rows of a band.

    Returns
    -------
    Scores
        Without the measures that need whole maps; `notes` names them.

    Examples
    --------
    >>> found = score_pixels(np.array([0, 3]), [np.array([0, 2])], (1, 4), ["jaccard", "baddeley"])
    >>> dict(found), found.notes
    ({'jaccard': 0.3333333}, ('baddeley needs whole maps and is left out in tiles',))
    """
    check_policy(on_degenerate)
    chosen = choose(measures, default_measures(), strategy=strategy, tolerance=tolerance)
    sizes = as_spacing(spacing, 2)
    left_out = [one for one in chosen if one.entry.info.needs in ("candidate", "segmentation")]
    rows_of_values = []
    for truth in truths:
        pair = TiledComparison(candidate, truth, shape, sizes, on_degenerate, rows=rows)
        values = {}
        for bound in chosen:
            if bound in left_out:
                continue
            try:
                values[str(bound)] = float(bound(pair))
            except _NeedsWholeError:
                left_out.append(bound)
        rows_of_values.append(values)
    kept = [bound for bound in chosen if bound not in left_out]
    if not kept:
        raise InputError(f"{_named(left_out)} whole maps, which are judged in tiles")
    return as_scores(
        kept,
        [[values[str(bound)] for bound in kept] for values in rows_of_values],
        shape=tuple(shape),
        spacing=None if spacing is None else sizes,
        notes=_note(left_out),
    )


def _named(bounds: Sequence[BoundMeasure]) -> str:
    return f"{', '.join(map(str, bounds))} need{'s' if len(bounds) == 1 else ''}"


def _note(left_out: Sequence[BoundMeasure]) -> tuple[str, ...]:
    if not left_out:
        return ()
    return (f"{_named(left_out)} whole maps and {'is' if len(left_out) == 1 else 'are'} left out in tiles",)
