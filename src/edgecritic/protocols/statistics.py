"""Values of many cases in a few numbers, and two methods on the same cases: paired intervals and tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from edgecritic.errors import InputError
from edgecritic.protocols.bootstrap import check_settings, difference_of, draw_weights
from edgecritic.protocols.curves import Array
from edgecritic.values import Value

__all__ = ["CaseDifference", "CaseStatistics", "compare_cases", "describe_cases", "shared_cases"]


class CaseStatistics(Value):
    """What the values of one measure over cases have in common.

    Attributes
    ----------
    count, left_out : int
        Cases with a value, and without.
    mean, sd, median, q1, q3 : float
        `sd` is of the sample (divided by count − 1); quartiles interpolate linearly.
    low, high : float
        Percentile interval of the mean, by drawing cases with replacement.
    """

    count: int
    left_out: int
    mean: float
    sd: float
    median: float
    q1: float
    q3: float
    low: float
    high: float

    def __str__(self) -> str:
        return (
            f"{self.mean:.4g} [{self.low:.4g}, {self.high:.4g}], median {self.median:.4g}, {self.count} cases"
        )


class CaseDifference(Value):
    """First method minus second on the cases that both have a value of.

    Attributes
    ----------
    cases : int
    estimate, low, high : float
        The mean difference and the percentile interval of it, by drawing cases with replacement.
    p_value : float
        Two-sided, of the same draws, as in `edgecritic.protocols.bootstrap.paired_bootstrap`.
    wilcoxon : float
        Two-sided p of Wilcoxon's signed-rank test; cases without a difference drop out; 1 if all do.
    greater, less : int
        Cases where the first value is the greater one, and the lesser.
    """

    cases: int
    estimate: float
    low: float
    high: float
    p_value: float
    wilcoxon: float
    greater: int
    less: int

    def __str__(self) -> str:
        return (
            f"{self.estimate:+.4g} [{self.low:+.4g}, {self.high:+.4g}]  p = {self.p_value:.3g}, "
            f"Wilcoxon p = {self.wilcoxon:.3g}, {self.cases} cases"
        )


def describe_cases(
    values: Sequence[float], *, draws: int = 1000, level: float = 0.95, seed: int = 0
) -> CaseStatistics:
    """Return mean, spread, quartiles and a bootstrap interval of the mean; NaN is left out and counted.

    Without any value all are NaN; with one the spread and the interval are. Infinite values are taken as they
    are: the mean is infinite then.

    Examples
    --------
    >>> found = describe_cases([0.8, 0.9, 0.7, float("nan")])
    >>> found.count, found.left_out, round(found.mean, 3), round(found.sd, 3), round(found.median, 3)
    (3, 1, 0.8, 0.1, 0.8)
    """
    check_settings(draws, level, seed)
    given = np.asarray(values, dtype=np.float64)
    known = given[~np.isnan(given)]
    count, nothing = known.size, math.nan
    if count == 0:
        return CaseStatistics(
            count=0,
            left_out=given.size,
            **dict.fromkeys(("mean", "sd", "median", "q1", "q3", "low", "high"), nothing),
        )
    finite = bool(np.isfinite(known).all())
    low = high = nothing
    if count > 1 and finite:
        low, high = np.quantile(_means(known, draws, seed), [(1 - level) / 2, (1 + level) / 2])
    q1, median, q3 = (_quantile(known, share) for share in (0.25, 0.5, 0.75))
    return CaseStatistics(
        count=count,
        left_out=given.size - count,
        mean=float(known.mean()),
        sd=_deviation(known) if count > 1 and finite else nothing,
        median=median,
        q1=q1,
        q3=q3,
        low=float(low),
        high=float(high),
    )


def _deviation(values: Array) -> float:
    """Return the standard deviation, exactly 0 where all values are the same."""
    return 0.0 if (values == values[0]).all() else float(values.std(ddof=1))


def compare_cases(
    first: Mapping[str, float],
    second: Mapping[str, float],
    *,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> CaseDifference:
    """Compare the values of two methods on the same cases.

    Only cases count where both have a finite value.

    References
    ----------
    .. [1] F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1(6), 1945.

    Examples
    --------
    >>> one = {str(k): 0.8 + 0.01 * k for k in range(10)}
    >>> other = {name: value - 0.02 - 0.001 * place for place, (name, value) in enumerate(one.items())}
    >>> found = compare_cases(one, other, draws=999)
    >>> found.cases, round(found.estimate, 4), found.p_value, round(found.wilcoxon, 5)
    (10, 0.0245, 0.002, 0.00195)
    """
    check_settings(draws, level, seed)
    shared = shared_cases(first, second)
    if len(shared) < 2:
        raise InputError(f"a paired test needs at least two cases that both methods have, got {len(shared)}")
    apart = np.array([first[name] - second[name] for name in shared])
    found = difference_of(float(apart.mean()), _means(apart, draws, seed), level)
    return CaseDifference(
        cases=len(shared),
        estimate=found.estimate,
        low=found.low,
        high=found.high,
        p_value=found.p_value,
        wilcoxon=_wilcoxon(apart),
        greater=int(np.count_nonzero(apart > 0)),
        less=int(np.count_nonzero(apart < 0)),
    )


def shared_cases(first: Mapping[str, float], second: Mapping[str, float]) -> list[str]:
    """Return the cases where both methods have a finite value, in the order of the first."""
    both = [name for name in first if name in second]
    return [name for name in both if math.isfinite(first[name]) and math.isfinite(second[name])]


def _means(values: Array, draws: int, seed: int) -> Array:
    """Return the means of sets of cases drawn with replacement."""
    means: Array = draw_weights(values.size, draws, seed) @ values / values.size
    return means


def _quantile(values: Array, share: float) -> float:
    """Return a quantile; between a number and infinity there is nothing, so the number is taken."""
    finite = bool(np.isfinite(values).all())
    return float(np.quantile(values, share, method="linear" if finite else "lower"))


def _wilcoxon(apart: Array) -> float:
    if not apart.any():
        return 1.0
    from scipy import stats

    return float(stats.wilcoxon(apart).pvalue)
