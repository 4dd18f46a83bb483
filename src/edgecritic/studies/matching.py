"""Does the choice of the matching strategy matter?

After the survey of boundary matching by the group of C. Lopez-Molina: over many pairs of maps, how far do
F scores under different strategies correlate, and how often do they sort two candidates oppositely?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.figures import COLOURS, GREY, axes_of
from edgecritic.studies.pairs import STRATEGIES
from edgecritic.studies.sorting import (
    SortingCount,
    candidate_pairs,
    count_sortings,
    margin_histogram,
    pearson,
    sorting_margins,
)
from edgecritic.values import Value

__all__ = ["ScoreTable", "PairResult", "MatchingStudy", "analyse", "STRATEGY_PAIRS"]

STRATEGY_PAIRS = tuple(combinations(range(len(STRATEGIES)), 2))
"""The six pairs of strategies."""

MOST_MARGINS = 2_000_000
"""Of more triplets, about so many are drawn at random for the histogram of margins."""


class ScoreTable(Value):
    """F of candidates (columns) against references (rows).

    Attributes
    ----------
    f : (4, tolerances, references, candidates) float64 array
        NaN where a pair was not computed, or is a map with itself.
    reference_images, candidate_images : tuple of str
        The image that each map belongs to.
    reference_names, candidate_names : tuple of str
    tolerances : tuple of float
    symmetric : bool
        Whether references and candidates are the same maps.
    """

    f: NDArray[np.float64]
    reference_images: tuple[str, ...]
    candidate_images: tuple[str, ...]
    reference_names: tuple[str, ...]
    candidate_names: tuple[str, ...]
    tolerances: tuple[float, ...]
    symmetric: bool

    def same_image(self) -> NDArray[np.bool_]:
        """Return where reference and candidate belong to one image."""
        rows, columns = np.array(self.reference_images), np.array(self.candidate_images)
        same: NDArray[np.bool_] = rows[:, None] == columns[None, :]
        return same


class PairResult(Value):
    """Two strategies compared at one tolerance over one class of pairs.

    Attributes
    ----------
    first, second : str
    tolerance : float
    kind : "intra" or "inter"
        Pairs and triplets within one image; or across images.
    pairs : int
    pearson : float or None
    sortings : SortingCount
    """

    first: str
    second: str
    tolerance: float
    kind: str
    pairs: int
    pearson: float | None
    sortings: SortingCount

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, ready for JSON."""
        return {
            "first": self.first,
            "second": self.second,
            "tolerance": self.tolerance,
            "kind": self.kind,
            "pairs": self.pairs,
            "pearson": self.pearson,
            "triplets": self.sortings.triplets,
            "missorted": self.sortings.missorted,
            "esr": self.sortings.ratio,
        }


class MatchingStudy(Value):
    """The study of one collection of maps.

    Attributes
    ----------
    maps : str
        ``human`` or ``canny``.
    results : tuple of PairResult
    margins : dict
        By (first, second, tolerance, kind) the histogram of the negative sorting margins.
    extremes : tuple of dict
        The triplets within images with the least margins.
    mean_f : dict
        By strategy and tolerance the mean F within images.
    ranking : dict
        By (strategy, tolerance) the mean F of every kind of candidate (of a detector, of a setting), the mean
        over images of the mean over references; empty where candidates have no names in common.
    """

    maps: str
    results: tuple[PairResult, ...]
    margins: Mapping[tuple[str, str, float, str], dict[str, Any]]
    extremes: tuple[dict[str, Any], ...]
    mean_f: Mapping[tuple[str, float], float]
    ranking: Mapping[tuple[str, float], Mapping[str, float]]

    def plot(self, ax: Any = None, *, what: str = "pearson", kind: str = "intra") -> Any:
        """Draw correlations or Equal-Sorting Ratios (``esr``) over the tolerance; return the axes."""
        axes = axes_of(ax)
        known = False
        for number, (i, j) in enumerate(STRATEGY_PAIRS):
            names = (STRATEGIES[i], STRATEGIES[j])
            rows = [row for row in self.results if row.kind == kind and (row.first, row.second) == names]
            found = [row.pearson if what == "pearson" else row.sortings.ratio for row in rows]
            known |= any(value is not None for value in found)
            ys = [np.nan if value is None else value for value in found]
            xs = [row.tolerance for row in rows]
            axes.plot(xs, ys, "o-", color=COLOURS[number % len(COLOURS)], label="–".join(names))
        if not known:
            axes.text(0.5, 0.5, "too few maps", ha="center", transform=axes.transAxes, color=GREY)
        axes.set_title(f"{self.maps}, {kind}", fontsize=9)
        axes.set(xlabel="tolerance (pixels)", xticks=sorted({row.tolerance for row in self.results}))
        axes.grid(color="#dddddd", linewidth=0.6)
        return axes

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "maps": self.maps,
            "results": [one.as_dict() for one in self.results],
            "margins": [
                {"first": key[0], "second": key[1], "tolerance": key[2], "kind": key[3], **value}
                for key, value in self.margins.items()
            ],
            "extremes": list(self.extremes),
            "mean_f": [
                {"strategy": key[0], "tolerance": key[1], "f": value} for key, value in self.mean_f.items()
            ],
            "ranking": [
                {"strategy": key[0], "tolerance": key[1], "f": dict(value)}
                for key, value in self.ranking.items()
            ],
        }


def analyse(table: ScoreTable, *, maps: str = "human", seed: int = 0) -> MatchingStudy:
    """Compute correlations, Equal-Sorting Ratios and Sorting Margins for all pairs of strategies.

    Pearson's r runs over the pairs of maps; of symmetric tables every unordered pair counts once in each
    direction, as reference and candidate. The Equal-Sorting Ratio is exact: discordant pairs are counted per
    reference by merge sort, all triplets first, then those within images; the difference is the inter class.
    """
    same = table.same_image()
    results: list[PairResult] = []
    margins = {}
    extremes: list[dict[str, Any]] = []
    for k, tolerance in enumerate(table.tolerances):
        for i, j in STRATEGY_PAIRS:
            one, two = table.f[i, k], table.f[j, k]
            names = STRATEGIES[i], STRATEGIES[j]
            everything = count_sortings(one, two)
            within = count_sortings(_only(one, same), _only(two, same))
            for kind, keep, sortings in (
                ("intra", same, within),
                ("inter", ~same, everything - within),
            ):
                count, r = _pearson(one, two, keep)
                results.append(
                    PairResult(
                        first=names[0],
                        second=names[1],
                        tolerance=tolerance,
                        kind=kind,
                        pairs=count,
                        pearson=r,
                        sortings=sortings,
                    )
                )
                margins[(*names, tolerance, kind)], worst = _margins(table, (i, j, k), sortings, kind, seed)
                if kind == "intra":
                    about = {"first": names[0], "second": names[1], "tolerance": tolerance}
                    extremes += [{**about, **row} for row in worst]
    extremes.sort(key=lambda row: row["margin"])
    mean_f = {
        (name, tolerance): float(np.nanmean(_only(table.f[s, k], same)))
        for s, name in enumerate(STRATEGIES)
        for k, tolerance in enumerate(table.tolerances)
        if np.isfinite(table.f[s, k][same]).any()
    }
    return MatchingStudy(
        maps=maps,
        results=tuple(results),
        margins=margins,
        extremes=tuple(extremes[:10]),
        mean_f=mean_f,
        ranking={} if table.symmetric else _ranking(table),
    )


def join_blocks(
    blocks: Sequence[tuple[Sequence[str], Sequence[str], NDArray[np.float64]]],
    *,
    tolerances: Sequence[float],
    symmetric: bool,
) -> ScoreTable:
    """Make one table of many blocks (names of rows, names of columns, F of shape (4, t, 2, rows, columns)).

    Names are ``image#number``. Direction 0 has the columns as candidates.
    """
    if not blocks:
        raise InputError("no pair of maps was compared")
    rows = _sorted({name for block in blocks for name in block[0]})
    columns = _sorted({name for block in blocks for name in block[1]})
    if symmetric:
        rows = columns = _sorted({*rows, *columns})
    row_at = {name: place for place, name in enumerate(rows)}
    column_at = {name: place for place, name in enumerate(columns)}
    f = np.full((len(STRATEGIES), len(tolerances), len(rows), len(columns)), np.nan)
    for first, second, values in blocks:
        a = np.array([row_at[name] for name in first])
        b = np.array([column_at[name] for name in second])
        _fill(f, a, b, values[:, :, 0])
        if symmetric:
            _fill(f, b, a, values[:, :, 1].swapaxes(2, 3))
    return ScoreTable(
        f=f,
        reference_images=tuple(_image(name) for name in rows),
        candidate_images=tuple(_image(name) for name in columns),
        reference_names=tuple(rows),
        candidate_names=tuple(columns),
        tolerances=tuple(tolerances),
        symmetric=symmetric,
    )


def _fill(
    f: NDArray[np.float64], rows: NDArray[np.int64], columns: NDArray[np.int64], values: NDArray[np.float64]
) -> None:
    part = f[:, :, rows[:, None], columns[None, :]]
    f[:, :, rows[:, None], columns[None, :]] = np.where(np.isnan(values), part, values)


def _image(name: str) -> str:
    return name.rpartition("#")[0]


def _sorted(names: set[str]) -> list[str]:
    return sorted(names, key=lambda name: (_image(name), len(name), name))


def _ranking(table: ScoreTable) -> dict[tuple[str, float], dict[str, float]]:
    """Return the mean F of each kind of candidate over the images that have all of them."""
    same = table.same_image()
    images, kinds = np.array(table.candidate_images), np.array([_kind(one) for one in table.candidate_names])
    names = list(dict.fromkeys(kinds.tolist()))
    found = {}
    for s, strategy in enumerate(STRATEGIES):
        for k, tolerance in enumerate(table.tolerances):
            f = _only(table.f[s, k], same)
            known = np.isfinite(f)
            means = np.where(known, f, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
            means[~known.any(axis=0)] = np.nan
            by_image = np.array(
                [
                    [float(means[(images == image) & (kinds == name)].mean()) for name in names]
                    for image in dict.fromkeys(table.candidate_images)
                    if all(
                        np.isfinite(means[(images == image) & (kinds == name)]).sum() == 1 for name in names
                    )
                ]
            )
            if by_image.size:
                found[strategy, tolerance] = dict(zip(names, by_image.mean(axis=0).tolist(), strict=True))
    return found


def _kind(name: str) -> str:
    return name.rpartition("#")[2]


def _only(values: NDArray[np.float64], keep: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.where(keep, values, np.nan)


def _pearson(
    one: NDArray[np.float64], two: NDArray[np.float64], keep: NDArray[np.bool_]
) -> tuple[int, float | None]:
    there = keep & np.isfinite(one) & np.isfinite(two)
    return int(np.count_nonzero(there)), pearson(one[there], two[there])


def _margins(
    table: ScoreTable, pair: tuple[int, int, int], sortings: SortingCount, kind: str, seed: int
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the histogram of the margins of a class, and its worst triplets.

    Of more than `MOST_MARGINS` triplets that share is drawn, alike for every pair of strategies.
    """
    i, j, k = pair
    one, two, same = table.f[i, k], table.f[j, k], table.same_image()
    part = min(1.0, MOST_MARGINS / max(sortings.triplets, 1))
    collected = [np.zeros(0)]
    worst: list[dict[str, Any]] = []
    for row in range(len(one)):
        columns = np.flatnonzero(np.isfinite(one[row]) & np.isfinite(two[row]))
        own = same[row, columns]
        if kind == "intra":
            columns, own = columns[own], own[own]
        b, c = candidate_pairs(columns.size, part, seed=(seed, row))
        if kind == "inter":
            across = ~(own[b] & own[c])
            b, c = b[across], c[across]
        margins = sorting_margins(one[row, columns], two[row, columns], (b, c))
        collected.append(margins)
        least = int(np.argmin(margins)) if margins.size else -1
        if least >= 0 and margins[least] < 0:
            worst.append(
                {
                    "reference": table.reference_names[row],
                    "candidates": [table.candidate_names[columns[place[least]]] for place in (b, c)],
                    "margin": float(margins[least]),
                }
            )
    worst.sort(key=lambda found: found["margin"])
    return margin_histogram(np.concatenate(collected)), worst[:3]
