"""The exact matching of maps too large for memory, given as lists of pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.assignment.pair import Pair
from edgecritic.errors import InputError
from edgecritic.ids import Id
from edgecritic.inputs import Indices, Spacing, as_spacing, as_tolerance
from edgecritic.matching.base import split_tolerance
from edgecritic.matching.result import Counted, share
from edgecritic.values import Value

__all__ = ["TiledMatching", "match_pixels"]


class TiledMatching(Counted, Value):
    """What was matched of two maps that were matched in tiles; its arrays can only be read.

    Attributes
    ----------
    strategy : str
        ``exact``.
    tolerance : float
        Largest distance of a match, in pixels or in units of `spacing`.
    tp, fp, fn : int
        Hits, false alarms and misses.
    precision, recall : float
        As of `edgecritic.matching.Matching`.
    shape : tuple of int
    tiles : int
        Number of bands of rows.
    pairs : (n, 2) int64 array
        Raster indices of candidate pixel and truth pixel of every match, in the order of the candidate.
    distances : (n,) float64 array
    cost : int
        Σ round(100·d) of the pairs + the price of the candidate pixels without a partner: what is least.
    spacing : tuple of float or None
        The pixel sizes that were given; ``None`` if lengths are in pixels.
    """

    strategy: str
    tolerance: float
    tp: int
    fp: int
    fn: int
    precision: float
    recall: float
    shape: tuple[int, ...]
    tiles: int
    pairs: NDArray[np.int64]
    distances: NDArray[np.float64]
    cost: int
    spacing: tuple[float, ...] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the scalars, ready for JSON."""
        return super().as_dict() | {"tiles": self.tiles}

    def __str__(self) -> str:
        return (
            f"{self.strategy} in {self.tiles} tile(s): {self.tp} hits, {self.fp} false alarms, "
            f"{self.fn} misses; "
            f"P {self.precision:.4f}  R {self.recall:.4f}  F {self.f():.4f}"
        )


def match_pixels(
    candidate: Indices,
    truth: Indices,
    shape: Sequence[int],
    *,
    strategy: str | Id = "exact",
    tolerance: float | None = None,
    relative_tolerance: float | None = None,
    spacing: Spacing = None,
    rows: int | None = None,
) -> TiledMatching:
    """Match two maps, given by their pixels, in tiles: bands of rows.

    Hits, false alarms, misses and the total cost are those of `edgecritic.match` on the whole maps; only
    the partners may be others where several matchings cost the same.

    Parameters
    ----------
    candidate, truth : (n,) and (m,) int64 arrays
        Raster indices (row · columns + column) of the pixels that are set, ascending.
    shape : (rows, columns)
    strategy : str
        ``exact``, with or without a tolerance; the others are not computed in tiles.
    tolerance, relative_tolerance, spacing
        As for `edgecritic.match`.
    rows : int, optional
        Rows of a tile; by default as many as take some 100 MB of work space.

    Returns
    -------
    TiledMatching

    Examples
    --------
    >>> found = match_pixels(np.array([20, 21, 22]), np.array([30, 31, 99]), (10, 10), tolerance=1, rows=3)
    >>> found.tp, found.fp, found.fn, found.tiles
    (2, 1, 1, 4)
    """
    from edgecritic.assignment.banded import match_in_bands
    from edgecritic.assignment.graph import outlier_cost
    from edgecritic.assignment.reach import reach_of
    from edgecritic.maps.bands import bands

    parsed, tolerance, relative_tolerance = split_tolerance(Id.parse(strategy), tolerance, relative_tolerance)
    if parsed.name != "exact" or parsed.params:
        raise InputError(
            f"{parsed} is not computed in tiles", remedy="take exact, or maps that fit in memory"
        )
    high, wide = _checked_shape(shape)
    sizes = as_spacing(spacing, 2)
    limit = as_tolerance((high, wide), sizes, tolerance, relative_tolerance)
    nothing = np.zeros((1, 1), dtype=np.bool_)
    around, _ = reach_of(Pair(nothing, nothing, sizes, limit))
    alone = outlier_cost(limit, sizes)
    nobody = np.zeros(0, dtype=np.int64)
    parts = [
        (nobody, nobody, nobody),
        *match_in_bands(candidate, truth, (high, wide), around, alone, rows=rows),
    ]
    first, second, costs = (np.concatenate(side) for side in zip(*parts, strict=True))
    del parts
    order = np.argsort(first, kind="stable")
    pairs = np.column_stack([first[order], second[order]])
    tp = int(first.size)
    agree = candidate.size == truth.size == 0
    return TiledMatching(
        strategy="exact",
        tolerance=limit,
        tp=tp,
        fp=int(candidate.size) - tp,
        fn=int(truth.size) - tp,
        precision=1.0 if agree else share(tp, candidate.size),
        recall=1.0 if agree else share(tp, truth.size),
        shape=(high, wide),
        tiles=len(bands((high, wide), halo=around.radii[0], rows=rows)),
        pairs=pairs,
        distances=_distances(pairs, wide, sizes),
        cost=int(costs.sum()) + alone * (int(candidate.size) - tp),
        spacing=None if spacing is None else sizes,
    )


def _checked_shape(shape: Sequence[int]) -> tuple[int, int]:
    if len(shape) != 2 or min(shape) < 1:
        raise InputError(f"tiles are made of 2-D maps with pixels, got shape {tuple(shape)}")
    return int(shape[0]), int(shape[1])


def _distances(pairs: NDArray[np.int64], wide: int, sizes: tuple[float, ...]) -> NDArray[np.float64]:
    down = (pairs[:, 0] // wide - pairs[:, 1] // wide) * sizes[0]
    across = (pairs[:, 0] % wide - pairs[:, 1] % wide) * sizes[1]
    down *= down
    down += across * across
    found: NDArray[np.float64] = np.sqrt(down.astype(np.float64))
    return found
