"""How sure a score is: bootstrap over images, and a paired test between two detectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from edgecritic.errors import InputError
from edgecritic.protocols.counts import COLUMNS, Counts
from edgecritic.protocols.curves import Array, average_precision, best_interpolated_f
from edgecritic.protocols.presets import get_protocol
from edgecritic.protocols.protocol import Protocol
from edgecritic.protocols.summary import CountTable, ImageCounts, count_table
from edgecritic.values import Value

__all__ = [
    *("Interval", "Bootstrap", "Difference", "PairedTest", "bootstrap", "paired_bootstrap"),
    *("check_settings", "difference_of", "draw_weights"),
]

Method = Literal["percentile", "bca"]

SCORES = ("ods", "ois", "ap")

_ALL = ""  # the whole beside its groups, whose names are never empty

_NUMBERS_AT_ONCE = 65_536  # half a megabyte, which stays in the processor's cache


class Interval(Value):
    """A score with its confidence interval."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}]"


class Difference(Value):
    """First score minus second, its confidence interval, and how surprising it is if there is none."""

    estimate: float
    low: float
    high: float
    p_value: float

    def __str__(self) -> str:
        return f"{self.estimate:+.4f} [{self.low:+.4f}, {self.high:+.4f}]  p = {self.p_value:.3g}"


class _Drawn(Value):
    """Three numbers from draws of images, and how they were made."""

    ods: Interval | Difference
    ois: Interval | Difference
    ap: Interval | Difference
    ap_rule: str
    level: float
    method: str
    draws: int
    seed: int
    images: int

    def _lines(self, head: str) -> str:
        return f"{head}\n  ODS  {self.ods}\n  OIS  {self.ois}\n  AP   {self.ap} ({self.ap_rule})"


class Bootstrap(_Drawn):
    """Confidence intervals of ODS, OIS and AP.

    Attributes
    ----------
    ods, ois : Interval
        Of the F-measures; where counts have groups (classes), of their means.
    ap : Interval
        Of the average precision by `ap_rule`.
    ap_rule, level, method, draws, seed, images
        How they were made.
    groups : mapping of str to Bootstrap
        The same of every group. All groups share the draws of images; a draw without truth of a group is
        left out for it.
    """

    ods: Interval
    ois: Interval
    ap: Interval
    groups: Mapping[str, Bootstrap] = field(default_factory=dict)

    def __str__(self) -> str:
        share = f"{100 * self.level:g} % {self.method}"
        return self._lines(f"{share} intervals, {self.draws} draws of {self.images} images")


class PairedTest(_Drawn):
    """Differences between two detectors on the same images; fields as in :class:`Bootstrap`."""

    ods: Difference
    ois: Difference
    ap: Difference
    groups: Mapping[str, PairedTest] = field(default_factory=dict)

    def __str__(self) -> str:
        made = f"{self.draws} paired draws of {self.images} images, {100 * self.level:g} %"
        return self._lines(f"first − second, {made}")


def bootstrap(
    counts: ImageCounts | CountTable,
    *,
    protocol: str | Protocol = "bsds",
    names: Sequence[str] | None = None,
    draws: int = 1000,
    level: float = 0.95,
    method: Method = "percentile",
    seed: int = 0,
) -> Bootstrap:
    """Return confidence intervals of ODS, OIS and AP by drawing images with replacement.

    Parameters
    ----------
    counts, names
        As in :func:`edgecritic.protocols.summary.count_table`; at least two images.
    protocol : str or Protocol
        As in :func:`edgecritic.protocols.summary.summarise`; all scores are computed exactly as there.
    draws : int
        How many sets of images are drawn.
    level : float
        Coverage of the intervals.
    method : "percentile" or "bca"
        Quantiles of the draws, or the same corrected for bias and skew (with a jackknife over images).
    seed : int
        Of NumPy's default generator; the same seed gives the same numbers.

    References
    ----------
    .. [1] B. Efron, R. J. Tibshirani, "An introduction to the bootstrap", Chapman & Hall, 1993.

    Examples
    --------
    >>> from edgecritic.protocols.counts import COLUMNS, Counts
    >>> counts = [Counts.from_rows([(0.5, 60 + i, 100, 40 + i, 80)]) for i in range(20)]
    >>> found = bootstrap(counts, draws=200)
    >>> found.ods.low < found.ods.estimate < found.ods.high
    True
    """
    chosen = get_protocol(protocol)
    table = _at_least_two(count_table(counts, names=names))
    check_settings(draws, level, seed)
    if method not in ("percentile", "bca"):
        raise InputError(f"method must be percentile or bca, got {method!r}")
    estimate = _scores(table, np.ones((1, len(table))), chosen)
    drawn = _scores(table, draw_weights(len(table), draws, seed), chosen)
    left_out = _scores(table, 1 - np.eye(len(table)), chosen) if method == "bca" else None

    def found(name: str, groups: Mapping[str, Bootstrap]) -> Bootstrap:
        outs = None if left_out is None else left_out[name]
        return Bootstrap(
            **_intervals(estimate[name], drawn[name], outs, level),
            ap_rule=chosen.ap_rule,
            level=level,
            method=method,
            draws=draws,
            seed=seed,
            images=len(table),
            groups=groups,
        )

    return found(_ALL, {name: found(name, {}) for name in drawn if name != _ALL})


def _intervals(
    estimate: dict[str, Array], drawn: dict[str, Array], left_out: dict[str, Array] | None, level: float
) -> dict[str, Interval]:
    intervals = {}
    for name, values in drawn.items():
        value = float(estimate[name][0])
        shares = ((1 - level) / 2, (1 + level) / 2)
        if left_out is not None:
            shares = _bca_shares(shares, value, _known(values), _known(left_out[name]))
        low, high = np.quantile(_known(values), shares)
        intervals[name] = Interval(estimate=value, low=float(low), high=float(high))
    return intervals


def _known(values: Array) -> Array:
    """Return the draws that have a value; there is one whenever all images have."""
    known = values[np.isfinite(values)]
    return known if known.size else np.zeros(1)


def paired_bootstrap(
    first: ImageCounts | CountTable,
    second: ImageCounts | CountTable,
    *,
    protocol: str | Protocol = "bsds",
    names: Sequence[str] | None = None,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> PairedTest:
    """Return the differences in ODS, OIS and AP of two detectors on the same images, and whether they hold.

    Parameters
    ----------
    first, second
        Counts of the two detectors, as in :func:`edgecritic.protocols.summary.count_table`. Mappings are
        put into the order of the first; sequences must have the same order.
    protocol, names, draws, level, seed
        As in :func:`bootstrap`.

    Notes
    -----
    Every draw takes the same images for both. The interval is the percentile interval of the differences;
    the two-sided p = min(1, 2·(1 + min(#{Δ* ≤ 0}, #{Δ* ≥ 0})) / (draws + 1)), so it is never 0.
    Means over groups (classes) are over those that both have; a class of an image that only one of the two
    was judged on is left out on both sides.

    Examples
    --------
    >>> from edgecritic.protocols.counts import COLUMNS, Counts
    >>> worse = [Counts.from_rows([(0.5, 60 + i, 100, 40 + i, 80)]) for i in range(20)]
    >>> better = [Counts.from_rows([(0.5, 62 + i, 100, 42 + i, 80)]) for i in range(20)]
    >>> paired_bootstrap(better, worse, draws=999).ods.p_value
    0.002
    """
    chosen = get_protocol(protocol)
    table = _at_least_two(count_table(first, names=names))
    other = _in_order(count_table(second, names=names), table)
    table, other = _in_common(table, other)
    check_settings(draws, level, seed)
    weights = draw_weights(len(table), draws, seed)
    whole = np.ones((1, len(table)))
    exact = [_scores(each, whole, chosen) for each in (table, other)]
    drawn = [_scores(each, weights, chosen) for each in (table, other)]

    def found(group: str, groups: Mapping[str, PairedTest]) -> PairedTest:
        gaps = {
            name: difference_of(
                float(exact[0][group][name][0] - exact[1][group][name][0]),
                _known(drawn[0][group][name] - drawn[1][group][name]),
                level,
            )
            for name in SCORES
        }
        return PairedTest(
            **gaps,
            ap_rule=chosen.ap_rule,
            level=level,
            method="percentile",
            draws=draws,
            seed=seed,
            images=len(table),
            groups=groups,
        )

    return found(_ALL, {name: found(name, {}) for name in drawn[0] if name != _ALL})


def difference_of(estimate: float, drawn: Array, level: float) -> Difference:
    """Return a difference with the interval and the two-sided p of its draws."""
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    fewer = min(np.count_nonzero(drawn <= 0), np.count_nonzero(drawn >= 0))
    p_value = min(1.0, 2 * (1 + int(fewer)) / (drawn.size + 1))
    return Difference(estimate=estimate, low=float(low), high=float(high), p_value=p_value)


def _scores(table: CountTable, weights: Array, protocol: Protocol) -> dict[str, dict[str, Array]]:
    """Return ODS, OIS and AP for every row of weights (draws, images), of the whole and of every group.

    Those of the whole are means over the groups of which a draw has a truth; of others they are NaN.
    """
    if not table.counts.groups:
        return {_ALL: _scores_of(table.under(protocol), weights, protocol)}
    found = {}
    for name in table.by_group():
        counts = table.under(protocol).group(name)
        absent = weights @ counts.truth[:, 0] == 0
        scores = _scores_of(counts, weights, protocol)
        found[name] = {score: np.where(absent, np.nan, values) for score, values in scores.items()}
    whole = {score: _mean_of_known([one[score] for one in found.values()]) for score in SCORES}
    return {_ALL: whole, **found}


def _scores_of(curve: Counts, weights: Array, protocol: Protocol) -> dict[str, Array]:
    ods, ap = np.empty(len(weights)), np.empty(len(weights))
    block = max(1, _NUMBERS_AT_ONCE // (4 * curve.thresholds.size))
    for start in range(0, len(weights), block):
        part = slice(start, start + block)
        drawn = curve.weighted(weights[part])
        recall, precision = drawn.recall, drawn.precision
        ods[part] = best_interpolated_f(recall, precision)
        ap[part] = _average_precisions(recall, precision, protocol)
    ois = curve.best().weighted(weights).f[:, 0]
    return {"ods": ods, "ois": ois, "ap": ap}


def _mean_of_known(values: list[Array]) -> Array:
    """Return the mean over groups of what is known, 0 if nothing is."""
    stacked = np.stack(values)
    known = np.isfinite(stacked)
    total: Array = np.where(known, stacked, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return total


def _average_precisions(recall: Array, precision: Array, protocol: Protocol) -> list[float | None]:
    """Return one AP per curve; with `zero_threshold` the curves begin with the point of threshold 0."""
    rule, duplicates = protocol.ap_rule, protocol.duplicates
    if not protocol.zero_threshold:
        return [
            average_precision(r, p, rule, duplicates=duplicates)
            for r, p in zip(recall, precision, strict=True)
        ]
    return [
        average_precision(r[1:], p[1:], rule, zero=(r[0], p[0]), duplicates=duplicates)
        for r, p in zip(recall, precision, strict=True)
    ]


def draw_weights(images: int, draws: int, seed: int) -> Array:
    """Return how often each image is in each draw: (draws, images)."""
    rng = np.random.default_rng(seed)
    chosen = rng.multinomial(images, np.full(images, 1 / images), size=draws)
    return chosen.astype(np.float64)


def _bca_shares(
    shares: tuple[float, float], value: float, drawn: Array, left_out: Array
) -> tuple[float, float]:
    """Return the quantiles to read off, corrected for bias (z₀) and acceleration (a)."""
    normal = NormalDist()
    below = (np.count_nonzero(drawn < value) + 0.5 * np.count_nonzero(drawn == value) + 0.5) / (
        drawn.size + 1
    )
    bias = normal.inv_cdf(float(below))
    spread = left_out.mean() - left_out
    scale = 6 * float((spread**2).sum()) ** 1.5
    acceleration = float((spread**3).sum()) / scale if scale > 0 else 0.0
    low, high = (bias + normal.inv_cdf(share) for share in shares)
    return (
        normal.cdf(bias + low / (1 - acceleration * low)),
        normal.cdf(bias + high / (1 - acceleration * high)),
    )


def _in_order(table: CountTable, model: CountTable) -> CountTable:
    if set(table.names) != set(model.names):
        odd = sorted(set(table.names) ^ set(model.names))
        shown = ", ".join(odd[:3]) + (", …" if len(odd) > 3 else "")
        raise InputError(f"a paired test needs the same images on both sides; only on one side: {shown}")
    if not np.array_equal(table.counts.thresholds, model.counts.thresholds):
        raise InputError("a paired test needs the same thresholds on both sides")
    where = {name: index for index, name in enumerate(table.names)}
    order = [where[name] for name in model.names]
    return CountTable(names=model.names, counts=table.counts[order])


def _in_common(first: CountTable, second: CountTable) -> tuple[CountTable, CountTable]:
    """Return both tables without the groups, or those of an image, of which one side alone has a truth."""
    names = [name for name in first.counts.groups if name in second.counts.groups]
    if not (first.counts.groups or second.counts.groups):
        return first, second
    tables = [_of_groups(each.counts, names) for each in (first, second)] if names else []
    there = [(counts.truth > 0).any(axis=-1) for counts in tables]
    if not names or not (there[0] & there[1]).any():
        raise InputError("a paired test needs classes that both sides have; there is no class in common")
    both = (there[0] == there[1])[..., None]
    one, other = (_of_groups(counts, names, both) for counts in tables)
    return CountTable(names=first.names, counts=one), CountTable(names=second.names, counts=other)


def _of_groups(counts: Counts, names: Sequence[str], keep: Any = 1) -> Counts:
    """Return the counts of some groups, 0 where they are not kept."""
    places = [counts.groups.index(name) for name in names]
    return Counts(
        thresholds=counts.thresholds,
        **{name: getattr(counts, name)[..., places, :] * keep for name in COLUMNS},
        zero=None if counts.zero is None else _of_groups(counts.zero, names, keep),
        groups=tuple(names),
    )


def _at_least_two(table: CountTable) -> CountTable:
    if len(table) < 2:
        raise InputError(f"a bootstrap over images needs at least two, got {len(table)}")
    return table


def check_settings(draws: Any, level: Any, seed: Any) -> None:
    """Refuse settings of draws that mean nothing."""
    if not isinstance(draws, int) or isinstance(draws, bool) or draws < 1:
        raise InputError(f"draws must be a whole number ≥ 1, got {draws!r}")
    if not isinstance(level, int | float) or not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, for instance 0.95, got {level!r}")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise InputError(f"seed must be a whole number ≥ 0, got {seed!r}")
