"""Bootstrap intervals and the paired test against plain loops, SciPy, and simulated truth."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from scipy import stats

from edgecritic.errors import InputError
from edgecritic.protocols.benchmark import Benchmark
from edgecritic.protocols.bootstrap import _bca_shares, bootstrap, paired_bootstrap
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.presets import get_protocol
from edgecritic.protocols.summary import summarise


def simulate(seed, images=15, steps=7, gain=0.0):
    """Images whose detectability varies; recall falls and precision grows with the threshold."""
    rng = np.random.default_rng(seed)
    tables = []
    for _ in range(images):
        quality = np.clip(rng.normal(0.6 + gain, 0.08), 0.05, 0.95)
        whole = rng.integers(300, 600)
        shares = np.linspace(1.0, 0.4, steps)
        hit_r = rng.binomial(whole, quality * shares)
        found = np.maximum(rng.binomial(whole, shares), 1)
        hit_p = rng.binomial(found, np.clip(quality * np.linspace(0.8, 1.3, steps), 0, 1))
        rows = [np.arange(1, steps + 1) / (steps + 1), hit_r, np.full(steps, whole), hit_p, found]
        tables.append(Counts.from_rows(np.column_stack(rows), zero=(whole, whole, whole // 2, 5000)))
    return tables


def picks(images, draws, seed):
    """The drawn sets of images, from the same generator."""
    weights = np.random.default_rng(seed).multinomial(images, np.full(images, 1 / images), size=draws)
    return [np.repeat(np.arange(images), row) for row in weights]


def loop_scores(tables, protocol, draws, seed):
    scores = []
    for chosen in picks(len(tables), draws, seed):
        drawn = summarise([tables[i] for i in chosen], protocol=protocol)
        scores.append((drawn.ods.f, drawn.ois.f, drawn.ap))
    return np.array(scores)


@pytest.mark.parametrize("name", ["bsds", "edter", "pyedgeeval"])
def test_intervals_are_those_of_a_plain_loop(name):
    tables = simulate(3)
    found = bootstrap(tables, protocol=name, draws=40, level=0.9, seed=5)
    scores = loop_scores(tables, name, 40, 5)
    whole = summarise(tables, protocol=name)
    for interval, drawn, value in zip(
        (found.ods, found.ois, found.ap), scores.T, (whole.ods.f, whole.ois.f, whole.ap), strict=True
    ):
        assert interval.estimate == value
        assert (interval.low, interval.high) == tuple(np.quantile(drawn, [0.05, 0.95]))


def test_rule_d_and_blocks(monkeypatch):
    tables = simulate(4)
    protocol = dataclasses.replace(get_protocol("bsds"), id="d", ap_rule="d")
    whole = bootstrap(tables, protocol=protocol, draws=30)
    monkeypatch.setattr("edgecritic.protocols.bootstrap._NUMBERS_AT_ONCE", 100)
    assert bootstrap(tables, protocol=protocol, draws=30) == whole
    assert whole.ap_rule == "max-precision-100"


def test_bca_is_scipys():
    """With one threshold and F from pooled counts, SciPy sees the same statistic; one image skews it."""
    tables = simulate(8, images=25, steps=1)
    tables[3] = Counts.from_rows([(0.5, 100, 3000, 100, 3000)])
    table = np.array([one.table() for one in tables])[:, 0, 1:]

    def pooled_f(index, axis=-1):
        sums = table[index.astype(int)].sum(axis=-2)
        r, p = sums[..., 0] / sums[..., 1], sums[..., 2] / sums[..., 3]
        return 2 * p * r / (p + r)

    theirs = stats.bootstrap(
        (np.arange(25),), pooled_f, n_resamples=8000, method="BCa", rng=np.random.default_rng(1)
    ).confidence_interval
    ours, plain = (
        bootstrap(tables, draws=8000, method=method, seed=1).ods for method in ("bca", "percentile")
    )
    width = theirs.high - theirs.low
    assert ours.low == pytest.approx(theirs.low, abs=0.05 * width)
    assert ours.high == pytest.approx(theirs.high, abs=0.05 * width)
    assert plain.low > theirs.low + 0.1 * width


@pytest.mark.parametrize("draws", [1, 4, 100])
def test_bca_without_bias_and_skew_is_the_percentile(draws):
    """Half of draws that all equal the value lie below it, and images of equal influence have no skew."""
    shares = 0.05, 0.95
    assert _bca_shares(shares, 0.5, np.full(draws, 0.5), np.full(6, 0.5)) == pytest.approx(shares)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_coverage_on_simulated_images(method):
    truth = summarise(simulate(10**6, images=6000)).ods.f
    hits = 0
    for seed in range(100):
        interval = bootstrap(simulate(seed, images=30), draws=200, level=0.9, method=method, seed=seed).ods
        hits += interval.low <= truth <= interval.high
    assert 79 <= hits <= 98


def test_same_seed_same_numbers():
    tables = simulate(1)
    assert bootstrap(tables, draws=50, seed=2) == bootstrap(tables, draws=50, seed=2)
    assert bootstrap(tables, draws=50, seed=2) != bootstrap(tables, draws=50, seed=3)


def test_without_settings_there_are_1000_draws_of_seed_0_and_95_percent():
    results = []
    for seed in (1, 2):
        benchmark = Benchmark()
        for name, counts in enumerate(simulate(seed, images=5, steps=3)):
            benchmark.add_counts(str(name), counts)
        results.append(benchmark.result())
    first, second = results
    settings = {"draws": 1000, "level": 0.95, "seed": 0}
    assert first.intervals == bootstrap(first.counts, **settings) == bootstrap(first.counts)
    assert first.against(second) == paired_bootstrap(first.counts, second.counts, **settings)


def test_one_draw_is_a_draw():
    interval = bootstrap(simulate(1, images=3), draws=1).ods
    assert interval.low == interval.high


def test_paired_test_is_that_of_a_plain_loop():
    first, second = simulate(1), simulate(2, gain=0.02)
    found = paired_bootstrap(first, second, draws=60, level=0.5, seed=9)
    change = loop_scores(first, "bsds", 60, 9) - loop_scores(second, "bsds", 60, 9)
    for difference, drawn in zip((found.ods, found.ois, found.ap), change.T, strict=True):
        assert (difference.low, difference.high) == tuple(np.quantile(drawn, [0.25, 0.75]))
        fewer = min((drawn <= 0).sum(), (drawn >= 0).sum())
        assert difference.p_value == min(1, 2 * (1 + fewer) / 61)
    assert found.ods.estimate == summarise(first).ods.f - summarise(second).ods.f


def test_pairs_are_found_by_name():
    tables = {f"image{i}": rows for i, rows in enumerate(simulate(5))}
    turned = dict(reversed(tables.items()))
    same = paired_bootstrap(tables, turned, draws=30, protocol="edter")
    assert (same.ods.estimate, same.ods.low, same.ods.high, same.ods.p_value) == (0, 0, 0, 1)
    assert (same.ap.estimate, same.ap.p_value) == (0, 1)


def test_null_and_real_differences():
    values = [
        paired_bootstrap(simulate(seed), simulate(seed + 500), draws=99, seed=seed).ods.p_value
        for seed in range(60)
    ]
    assert np.mean(np.array(values) <= 0.1) <= 0.25
    assert paired_bootstrap(simulate(1, gain=0.2), simulate(2), draws=199).ods.p_value == 0.01


def test_printing_and_json():
    tables = simulate(1)
    one = bootstrap(tables, draws=20)
    two = paired_bootstrap(tables, simulate(2), draws=20)
    for result in (one, two):
        stored = json.loads(json.dumps(result.as_dict()))
        assert stored["ods"]["low"] == result.ods.low
        assert stored["ap_rule"] == "interpolated-101"
        assert "ODS" in str(result)
    assert "p = " in str(two)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draws": 0}, "draws"),
        ({"draws": 2.5}, "draws"),
        ({"level": 95}, "level"),
        ({"seed": -1}, "seed"),
        ({"method": "magic"}, "percentile or bca"),
    ],
)
def test_bad_settings_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        bootstrap(simulate(1, images=3), **options)


def test_counts_at_0_are_needed_where_the_protocol_has_them():
    with pytest.raises(InputError, match="threshold 0 as well"):
        bootstrap([dataclasses.replace(one, zero=None) for one in simulate(1, images=3)], protocol="edter")


def test_bad_pairs_are_refused():
    tables = simulate(1, images=3)
    with pytest.raises(InputError, match="at least two"):
        bootstrap(tables[:1])
    with pytest.raises(InputError, match="only on one side: 3"):
        paired_bootstrap(tables, tables[:2])
    with pytest.raises(InputError, match="same thresholds"):
        paired_bootstrap(tables, [Counts.from_rows(table.table()[:-1]) for table in tables])
