"""Which labels are right if annotators differ in care? STAPLE, and Dawid and Skene, beside k of n."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, Spacing, as_mask, mask_of
from edgecritic.matching import match
from edgecritic.values import Value

__all__ = ["Raters", "RatedLabels", "dawid_skene", "matched_units", "rated_labels", "staple"]

Array = NDArray[np.float64]
_ROUNDS = 1000
_STILL = 1e-10
_START = 0.99999
_TINY = 1e-300


class Raters(Value):
    """What an estimate says of raters and of what they rated.

    Attributes
    ----------
    probability : (units,) float array
        That the unit is a boundary.
    sensitivity, specificity : (raters,) float arrays
        Share of boundaries that each marked, and of the others that each left alone.
    prior : float
        Share of units that are boundaries.
    rounds : int
    """

    probability: Array
    sensitivity: Array
    specificity: Array
    prior: float
    rounds: int


class RatedLabels(Value):
    """The labels of several annotators as one list: each boundary pixel once.

    Attributes
    ----------
    shape : tuple of int
    pixels : (units,) int array
        Raster index of each unit: of its pixels the one nearest to their middle.
    votes : (units, annotators) bool array
        Who drew it.
    raters : Raters
    """

    shape: tuple[int, ...]
    pixels: NDArray[np.int64]
    votes: NDArray[np.bool_]
    raters: Raters

    def map(self, least: float = 0.5) -> BoolArray:
        """Return the units with at least this probability."""
        return self._marked(self.raters.probability >= least)

    def at_least(self, number: int) -> BoolArray:
        """Return the units that at least so many annotators drew: k of n."""
        return self._marked(self.votes.sum(axis=1) >= number)

    def _marked(self, kept: NDArray[np.bool_]) -> BoolArray:
        return mask_of(self.pixels[kept], self.shape)


def staple(votes: Any) -> Raters:
    """Estimate truth and raters by STAPLE (Warfield, Zou, Wells 2004).

    W = g·α/(g·α + (1 − g)·β) with α = Π p_i or (1 − p_i), β = Π (1 − q_i) or q_i; p_i = Σ_{marked} W/ΣW,
    q_i = Σ_{not marked} (1 − W)/Σ(1 − W). The prior g is the mean of all votes and stays; p = q = .99999 at
    the start.

    Parameters
    ----------
    votes : (units, raters) array_like of 0 and 1

    Examples
    --------
    >>> found = staple([[1, 1, 0], [1, 1, 1], [0, 0, 1], [0, 0, 0]])
    >>> found.probability.round(3).tolist()
    [1.0, 1.0, 0.0, 0.0]
    """
    table = _as_votes(votes)
    prior = float(table.mean())
    start = np.full(table.shape[1], _START)
    return _estimate(table, prior, start, start, fixed=True)


def dawid_skene(votes: Any) -> Raters:
    """Estimate truth and raters after Dawid and Skene (1979), with two classes.

    As `staple`, but the prior is the mean of W in each round, and W begins as the mean vote.
    """
    table = _as_votes(votes)
    weights = table.mean(axis=1)
    return _estimate(table, float(weights.mean()), *_rates(table, weights), fixed=False)


def rated_labels(
    truths: Sequence[Any],
    *,
    method: Literal["staple", "dawid_skene"] = "staple",
    tolerance: float | None = None,
    relative_tolerance: float | None = None,
    spacing: Spacing = None,
) -> RatedLabels:
    """Match the maps of annotators and estimate which of their labels are boundaries.

    Every two maps are matched one to one, exactly; pixels that are matched make a unit, with at most one
    pixel of each annotator (pairs are joined in order of distance, then of their places). A unit is marked by
    those who have a pixel in it. Where nobody drew anything there is no unit: the endless background would
    make everybody specific.

    Examples
    --------
    >>> long, short = np.zeros((8, 12), bool), np.zeros((8, 12), bool)
    >>> long[2, 1:11] = True
    >>> short[3, 1:5] = True
    >>> found = rated_labels([long, short, long], tolerance=1)
    >>> found.votes.shape, int(found.map().sum()), int(found.at_least(3).sum())
    ((10, 3), 10, 4)
    """
    methods = {"staple": staple, "dawid_skene": dawid_skene}
    if method not in methods:
        raise InputError(f"method must be one of {', '.join(methods)}, got {method!r}")
    maps = [as_mask(one, f"map {number}") for number, one in enumerate(truths, start=1)]
    if len(maps) < 2 or len({one.shape for one in maps}) > 1:
        raise InputError("give the maps of two or more annotators, all of one shape")
    if not any(one.any() for one in maps):
        raise InputError("nobody drew anything", remedy="leave this image out")
    options: dict[str, Any] = {"tolerance": tolerance, "relative_tolerance": relative_tolerance}
    pixels, votes = matched_units(maps, {**options, "spacing": spacing})
    return RatedLabels(shape=maps[0].shape, pixels=pixels, votes=votes, raters=methods[method](votes))


def _as_votes(votes: Any) -> Array:
    table = np.asarray(votes, dtype=np.float64)
    if table.ndim != 2 or min(table.shape) < 1 or not np.isin(table, (0, 1)).all():
        raise InputError("votes are a table of 0 and 1 with a row per unit and a column per rater")
    return table


def _estimate(table: Array, prior: float, hits: Array, rejections: Array, *, fixed: bool) -> Raters:
    weights = table.mean(axis=1)
    for rounds in range(1, _ROUNDS + 1):
        before = weights
        weights = _posterior(table, prior, hits, rejections)
        hits, rejections = _rates(table, weights)
        if not fixed:
            prior = float(weights.mean())
        if rounds > 1 and np.abs(weights - before).max() < _STILL:
            break
    return Raters(probability=weights, sensitivity=hits, specificity=rejections, prior=prior, rounds=rounds)


def _posterior(table: Array, prior: float, hits: Array, rejections: Array) -> Array:
    """Return W, by logarithms so that many raters do not underflow."""

    def log(values: Any) -> Any:
        return np.log(np.maximum(values, _TINY))

    for_it = log(prior) + table @ log(hits) + (1 - table) @ log(1 - hits)
    against = log(1 - prior) + table @ log(1 - rejections) + (1 - table) @ log(rejections)
    weights: Array = 1 / (1 + np.exp(np.clip(against - for_it, -700, 700)))
    return weights


def _rates(table: Array, weights: Array) -> tuple[Array, Array]:
    total, other = weights.sum(), (1 - weights).sum()
    hits = weights @ table / total if total > 0 else np.ones(table.shape[1])
    rejections = (1 - weights) @ (1 - table) / other if other > 0 else np.ones(table.shape[1])
    return hits, rejections


def matched_units(
    maps: Sequence[BoolArray], options: Mapping[str, Any]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the units of maps, some of them not empty: the raster index of each, and who has a pixel in it.

    `options` are those of `edgecritic.match`; see `rated_labels`.
    """
    rasters = [np.flatnonzero(one) for one in maps]
    begins = np.concatenate([[0], np.cumsum([len(raster) for raster in rasters])])
    rows = []
    for i, j in combinations(range(len(maps)), 2):
        pairs = match(maps[i], maps[j], **options).pairs
        if pairs is None or not len(pairs):
            continue
        ends = [np.ravel_multi_index(tuple(pairs[:, side].T), maps[0].shape) for side in (0, 1)]
        far = ((pairs[:, 0] - pairs[:, 1]) ** 2).sum(axis=1)
        nodes = [
            begins[who] + np.searchsorted(rasters[who], end) for who, end in zip((i, j), ends, strict=True)
        ]
        rows.append(np.column_stack([far, *nodes]))
    joined = np.concatenate(rows) if rows else np.zeros((0, 3), dtype=np.int64)
    owner = _joined(joined[np.lexsort(joined.T[::-1])], begins)
    places = np.concatenate(rasters)
    _, unit = np.unique(owner, return_inverse=True)
    votes = np.zeros((unit.max() + 1, len(maps)), dtype=np.bool_)
    people = np.repeat(np.arange(len(maps)), np.diff(begins))
    votes[unit, people] = True
    return _middles(places, unit, maps[0].shape), votes


def _joined(pairs: NDArray[np.int64], begins: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the unit of every pixel: pairs are joined if no annotator would have two pixels in a unit."""
    total = int(begins[-1])
    parent = list(range(total))
    people = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    members = [1 << int(who) for who in people]

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for _, first, second in pairs.tolist():
        one, two = root(first), root(second)
        if one != two and not members[one] & members[two]:
            parent[two] = one
            members[one] |= members[two]
    return np.array([root(node) for node in range(total)], dtype=np.int64)


def _middles(places: NDArray[np.int64], unit: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return of every unit the pixel that is nearest to the mean of its pixels, the first of equals."""
    spots = np.stack(np.unravel_index(places, shape), axis=1).astype(np.float64)
    sizes = np.bincount(unit)
    means = np.stack([np.bincount(unit, column) / sizes for column in spots.T], axis=1)
    far = ((spots - means[unit]) ** 2).sum(axis=1).round(9)
    order = np.lexsort((places, far, unit))
    first = order[np.unique(unit[order], return_index=True)[1]]
    return places[first]
