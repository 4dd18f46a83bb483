"""Statistics over cases, beside NumPy and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from edgecritic.errors import InputError
from edgecritic.protocols.statistics import compare_cases, describe_cases

VALUES = np.random.default_rng(3).normal(10, 2, 25)


def test_numbers_are_those_of_numpy():
    found = describe_cases([*VALUES, math.nan])
    assert (found.count, found.left_out) == (25, 1)
    expected = (VALUES.mean(), VALUES.std(ddof=1), *np.percentile(VALUES, [25, 50, 75]))
    assert (found.mean, found.sd, found.q1, found.median, found.q3) == pytest.approx(expected)
    assert str(found).startswith(f"{VALUES.mean():.4g} [")
    assert str(found).endswith(f"median {np.median(VALUES):.4g}, 25 cases")


def test_the_interval_is_that_of_scipy():
    found = describe_cases(VALUES, draws=20_000, level=0.9)
    other = stats.bootstrap(
        (VALUES,), np.mean, confidence_level=0.9, method="percentile", n_resamples=20_000, rng=1
    )
    interval = other.confidence_interval
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=0.03)
    assert describe_cases(VALUES) == describe_cases(VALUES, draws=1000, level=0.95, seed=0)
    assert describe_cases(VALUES, seed=1) != describe_cases(VALUES)


@pytest.mark.filterwarnings("error")
def test_few_and_infinite_values():
    assert describe_cases([]).count == 0
    one = describe_cases([2.0])
    assert (one.mean, one.median) == (2, 2)
    assert math.isnan(one.sd)
    assert math.isnan(one.low)
    assert describe_cases([0.1, 0.1, 0.1]).sd == 0 < np.std([0.1, 0.1, 0.1])  # the mean is rounded
    endless = describe_cases([1.0, 2.0, math.inf])
    assert endless.mean == math.inf
    assert endless.median == 2


def test_pairs():
    first = {str(place): value for place, value in enumerate(VALUES)}
    second = {name: value - 0.5 + 0.3 * math.sin(place) for place, (name, value) in enumerate(first.items())}
    second["only here"], second["0"] = 3.0, math.nan
    found = compare_cases(first, second, draws=2000)
    names = [name for name in first if name != "0"]
    apart = np.array([first[name] - second[name] for name in names])
    assert found.cases == 24
    assert found.estimate == pytest.approx(apart.mean())
    assert found.wilcoxon == pytest.approx(
        stats.wilcoxon([first[n] for n in names], [second[n] for n in names]).pvalue
    )
    assert found.low < apart.mean() < found.high
    assert str(found).startswith(f"{apart.mean():+.4g} [")
    assert str(found).endswith(f"Wilcoxon p = {found.wilcoxon:.3g}, 24 cases")
    assert found.greater + found.less == 24
    assert compare_cases(first, first).wilcoxon == 1
    assert compare_cases({"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 4.0}).estimate == -1.5
    with pytest.raises(InputError, match="at least two"):
        compare_cases({"a": 1.0}, {"a": 2.0})
    with pytest.raises(InputError, match="draws"):
        compare_cases(first, second, draws=0)
