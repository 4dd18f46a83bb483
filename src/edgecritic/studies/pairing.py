"""How close cheap pairing strategies come to the optimal assignment, and how their time grows.

After S. Smith and I. Williams: Efficient one-to-one pair matching for 2-D and 3-D edge detection evaluation
(VISAPP 2020). Accuracy: the figure of merit of each strategy on many small images, correlated with that of
the Hungarian method. Time: pairs of point sets of growing number and constant density, and surfaces.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from edgecritic.errors import MissingExtraError
from edgecritic.figures import COLOURS, axes_of
from edgecritic.inputs import BoolArray
from edgecritic.matching import match
from edgecritic.measures import compare
from edgecritic.measures.merit import fom
from edgecritic.studies.claims import Claim, claim, claim_of_order
from edgecritic.studies.cuts import WINDOW, Sample
from edgecritic.values import Value

__all__ = [
    *("SIDES", "METHODS", "DENSE", "TABLE_1", "PairCount", "PairingAccuracy", "PairingTime"),
    *("accuracy", "accuracy_of_samples", "claims_of_accuracy", "claims_of_pairs", "claims_of_scores"),
    *("claims_of_times", "count_pairs", "growth", "time_methods"),
]

SIDES = tuple(range(11, 30, 2))
"""Sides of the sub-images in pixels."""

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

TABLE_1 = {
    "eps": (".99",) * 10,
    "csa": (".99", *("1.00",) * 9),
    "closest": (".86", ".91", ".94", ".95", ".96", *(".97",) * 5),
    "fom": (".80", ".87", ".91", ".93", ".95", ".96", ".96", ".97", ".97", ".97"),
}
"""Pearson's r with the Hungarian method at the sides 11, 13, …, 29, as the paper prints it; `closest` is its
CDM, `fom` its PFOM."""

_FORBIDDEN = 1e4
_OTHER_IMAGES = "the paper cut its sub-images from volumes of BRATS"


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
    p : (sides, methods) tuple of tuples
        Two-sided p-values of the correlations.
    mean : (sides, methods) tuple of tuples
        The mean figure of merit.
    best : tuple of float
        The mean figure of merit of the Hungarian method, for each side.
    """

    data: str
    sides: tuple[int, ...]
    methods: tuple[str, ...]
    samples: tuple[int, ...]
    pearson: tuple[tuple[float | None, ...], ...]
    p: tuple[tuple[float | None, ...], ...]
    mean: tuple[tuple[float | None, ...], ...]
    best: tuple[float | None, ...]

    def r(self, method: str, side: int) -> float | None:
        """Return the correlation of a method at a side, None if there is none."""
        if method not in self.methods or side not in self.sides:
            return None
        return self.pearson[self.sides.index(side)][self.methods.index(method)]

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
                    "p": dict(zip(self.methods, p, strict=True)),
                    "mean": {**dict(zip(self.methods, mean, strict=True)), "hungarian": best},
                }
                for side, number, r, p, mean, best in zip(
                    self.sides, self.samples, self.pearson, self.p, self.mean, self.best, strict=True
                )
            ],
        }


class PairCount(Value):
    """How many pairs a method makes on one of the sets.

    Attributes
    ----------
    method : str
    scene : str
        ``points, 2-D``, ``points, 3-D`` or ``surface``.
    points : int
        Truth points.
    possible : int
        The largest number of pairs that there can be.
    pairs : int or None
        ``None`` for a method that pairs nothing.
    """

    method: str
    scene: str
    points: int
    possible: int
    pairs: int | None


class PairingTime(Value):
    """Seconds of one method on one set; the least of several runs."""

    method: str
    scene: str
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


def accuracy(data: str, tables: Mapping[int, list[dict[str, float]]]) -> PairingAccuracy:
    """Correlate the scores of every side with those of the Hungarian method."""
    from scipy.stats import pearsonr

    methods = tuple(name for name in METHODS if name != "hungarian")
    rows = []
    for scored in tables.values():
        best = np.array([row["hungarian"] for row in scored])
        line: list[tuple[float | None, float | None, float | None]] = []
        for name in methods:
            values = np.array([row.get(name, np.nan) for row in scored])
            known = values.size > 1 and bool(np.isfinite(values).all())
            mean = float(values.mean()) if known else None
            if known and np.ptp(values) > 0 and np.ptp(best) > 0:
                found = pearsonr(values, best)
                line.append((float(found.statistic), float(found.pvalue), mean))
            else:
                line.append((None, None, mean))
        rows.append(tuple(zip(*line, strict=True)))
    return PairingAccuracy(
        data=data,
        sides=tuple(tables),
        methods=methods,
        samples=tuple(len(scored) for scored in tables.values()),
        pearson=tuple(row[0] for row in rows),
        p=tuple(row[1] for row in rows),
        mean=tuple(row[2] for row in rows),
        best=tuple(
            float(np.mean([row["hungarian"] for row in scored])) if scored else None
            for scored in tables.values()
        ),
    )


def time_methods(
    scene: str, sample: Sample, methods: Sequence[str], *, repeats: int = 2, limit: float = np.inf
) -> list[PairingTime]:
    """Time methods on one pair of maps; one that needs more than `limit` seconds is run once."""
    candidate, truth = sample
    points = int(np.count_nonzero(truth))
    found = []
    for name in methods:
        call = _method(name)
        seconds: list[float] = []
        try:
            while len(seconds) <= repeats and not (seconds and seconds[-1] > limit):
                begin = time.perf_counter()
                call(candidate, truth)
                seconds.append(time.perf_counter() - begin)
        except MissingExtraError:
            continue
        found.append(PairingTime(method=name, scene=scene, points=points, seconds=min(seconds)))
    return found


def count_pairs(scene: str, sample: Sample, methods: Sequence[str]) -> list[PairCount]:
    """Count the pairs of methods on one pair of maps, beside the largest possible number."""
    candidate, truth = sample
    possible = match(candidate, truth, strategy=f"exact(window={WINDOW})").tp
    points = int(np.count_nonzero(truth))
    found = []
    for name in methods:
        try:
            pairs = None if METHODS.get(name, "") is None else int(_method(name)(candidate, truth))
        except MissingExtraError:
            continue
        found.append(PairCount(method=name, scene=scene, points=points, possible=possible, pairs=pairs))
    return found


def growth(times: Iterable[PairingTime]) -> dict[tuple[str, str], float]:
    """Return the exponents of time over points, by method and scene, in the upper half of the sizes."""
    found = {}
    rows = list(times)
    for key in dict.fromkeys((one.method, one.scene) for one in rows):
        points = [(one.points, one.seconds) for one in rows if (one.method, one.scene) == key]
        upper = points[len(points) // 2 - 1 :] if len(points) > 2 else points
        if len(upper) > 1:
            x, y = np.log([n for n, _ in upper]), np.log([max(s, 1e-9) for _, s in upper])
            found[key] = float(np.polyfit(x, y, 1)[0])
    return found


def claims_of_scores() -> list[Claim]:
    """Compare the printed scores of Fig. 2 and the distances of the worked example (Figs. 4, 5)."""
    from edgecritic.studies.walkthrough import paper_example, walk_through

    line = np.zeros((5, 13), dtype=np.bool_)
    line[2, 1:12] = True
    broken = line.copy()
    broken[2, 2:12:2], broken[3, 2:12:2] = False, True
    shifted = np.roll(line, 1, axis=0)
    lengths = walk_through(*paper_example()).distances
    names = ("first", "second", "third")
    return [
        claim("PFOM of a fragmented edge", ".9545", fom(compare(broken, line)), source="Fig. 2"),
        claim("PFOM of a displaced edge", ".9000", fom(compare(shifted, line)), source="Fig. 2"),
        *(
            claim(f"worked example, {name} distance", printed, length, source="Figs. 4, 5")
            for name, printed, length in zip(names, ("1.41", "1.41", "2"), lengths, strict=True)
        ),
    ]


def claims_of_accuracy(found: PairingAccuracy) -> list[Claim]:
    """Compare the correlations on one kind of data with Table 1 and what the paper concludes from it."""
    why = _OTHER_IMAGES
    claims = [
        claim(
            f"{found.data}: r of {method}, side {side}",
            printed,
            found.r(method, side),
            source="Table 1",
            why=why,
        )
        for method, row in TABLE_1.items()
        for side, printed in ((SIDES[0], row[0]), (SIDES[-1], row[-1]))
    ]
    ends = {method: found.r(method, SIDES[0]) for method in TABLE_1}
    claims.append(
        claim_of_order(
            f"{found.data}: r at side {SIDES[0]}", ["eps", "closest", "fom"], ends, source="Table 1"
        )
    )
    known = [value for row in found.p for value in row if value is not None]
    claims.append(
        claim(
            f"{found.data}: largest p-value (printed as 0)",
            "0.000",
            max(known) if known else None,
            source="Table 1",
        )
    )
    first = {**dict(zip(found.methods, found.mean[0], strict=True)), "hungarian": found.best[0]}
    claims.append(
        claim_of_order(
            f"{found.data}: mean figure of merit, side {found.sides[0]}",
            ["fom", "closest", "hungarian"],
            first,
            source="Fig. 7",
            why="a score of CDM above the optimum needs pixels that share a partner, as in 'closest, shared'",
        )
    )
    return claims


def claims_of_pairs(counts: Iterable[PairCount]) -> list[Claim]:
    """Compare the share of possible pairs that EPS makes with the claim that it makes all of them."""
    largest: dict[str, PairCount] = {}
    for one in counts:
        if one.method == "eps" and (one.scene not in largest or one.points >= largest[one.scene].points):
            largest[one.scene] = one
    return [
        claim(
            f"{one.scene}, {one.points:,} points: share of the possible pairs that EPS makes",
            "100 %",
            (one.pairs or 0) / one.possible if one.possible else None,
            source="section 3.1",
            why="the pairing is greedy",
        )
        for one in largest.values()
    ]


def claims_of_times(times: Iterable[PairingTime]) -> list[Claim]:
    """Compare how times grow, and who is faster, with Figs. 8 and 9."""
    rows = list(times)
    slopes = growth(rows)
    figures = {"points, 2-D": "Fig. 8", "points, 3-D": "Fig. 9", "surface": "Fig. 9"}
    claims = []
    for scene in dict.fromkeys(one.scene for one in rows):
        source = figures.get(scene, "Fig. 9")
        for name in ("eps", "closest", "fom"):
            slope = slopes.get((name, scene))
            claims.append(
                claim(
                    f"{scene}: exponent of {name}",
                    "1",
                    slope,
                    source=source,
                    why="on few points costs rule that do not grow with them",
                )
            )
        both = [
            {one.points for one in rows if one.scene == scene and one.method == m} for m in ("csa", "eps")
        ]
        last = max(both[0] & both[1], default=None)
        timed = {one.method: one.seconds for one in rows if one.scene == scene and one.points == last}
        claims.append(
            claim_of_order(f"{scene}: seconds at {last or 0:,} points", ["csa", "eps"], timed, source=source)
        )
    return claims


def _method(name: str) -> Callable[[BoolArray, BoolArray], float]:
    """Return what runs a method and tells the number of its pairs; Pratt's figure of merit has none."""
    if name == DENSE:
        return _dense_hungarian
    strategy = f"exact(window={WINDOW})" if name == "exact" else METHODS[name]
    if strategy is None:
        return lambda candidate, truth: fom(compare(candidate, truth))
    return lambda candidate, truth: match(candidate, truth, strategy=strategy).tp


def _dense_hungarian(candidate: BoolArray, truth: BoolArray) -> int:
    """Assign with the full matrix of costs, as a textbook does; return the number of pairs."""
    from scipy.optimize import linear_sum_assignment

    found, wanted = np.argwhere(candidate), np.argwhere(truth)
    steps = np.abs(found[:, None] - wanted[None])
    costs = np.where(steps.max(axis=2) <= WINDOW // 2, np.sqrt((steps**2).sum(axis=2)), _FORBIDDEN)
    rows, columns = linear_sum_assignment(costs)
    return int(np.count_nonzero(costs[rows, columns] < _FORBIDDEN))
