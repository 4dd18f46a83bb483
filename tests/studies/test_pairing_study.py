"""The pairing study against printed values and its bars."""

from __future__ import annotations

import numpy as np
import pytest

from edgecritic.matching import match
from edgecritic.studies.cuts import brain_volumes, cut_samples, point_sets, synthetic_samples, volume_maps
from edgecritic.studies.pairing import (
    SIDES,
    PairCount,
    PairingTime,
    accuracy,
    accuracy_of_samples,
    claims_of_accuracy,
    claims_of_pairs,
    claims_of_scores,
    claims_of_times,
    count_pairs,
    scores,
    time_methods,
)
from edgecritic.studies.walkthrough import paper_example, walk_through


def test_worked_example(worked_example):
    found = scores(*worked_example)
    assert found["eps"] == pytest.approx(0.7125)
    assert found["hungarian"] == pytest.approx(0.7125)
    assert found["fom"] == pytest.approx(0.771711, abs=5e-7)


def test_printed_values_of_pratt():
    line = np.zeros((7, 13), bool)
    line[3, 1:12] = True
    shifted = np.roll(line, 1, axis=0)
    half = line.copy()
    half[3, 2:12:2], half[4, 2:12:2] = False, True
    assert scores(shifted, line)["fom"] == pytest.approx(0.9)
    assert scores(half, line)["fom"] == pytest.approx(0.9545, abs=5e-5)
    assert scores(half, line)["eps"] == pytest.approx(0.9545, abs=5e-5)


def order_at_the_smallest(found):
    r = dict(zip(found.methods, found.pearson[0], strict=True))
    assert r["eps"] > r["closest"] > r["fom"]
    place = found.methods.index("eps")
    assert min(row[place] for row in found.pearson) >= 0.98


def test_bars_on_synthetic_samples():
    tables = {side: accuracy_of_samples(synthetic_samples(side, 80)) for side in (11, 19, 29)}
    order_at_the_smallest(accuracy("synthetic", tables))


def test_bars_on_brain_slices(data):
    cut = cut_samples(volume_maps(*brain_volumes(data / "mni152"), "sobel"), SIDES[::3], 80)
    assert all(candidate.shape == (side, side) for side, rows in cut.items() for candidate, _ in rows)
    assert all(truth[side // 2, side // 2] for side, rows in cut.items() for _, truth in rows)
    order_at_the_smallest(accuracy("mni152", {side: accuracy_of_samples(rows) for side, rows in cut.items()}))


@pytest.mark.parametrize("ndim", [2, 3])
def test_timed_sets_have_a_full_pairing(ndim):
    candidate, truth = point_sets(ndim, 200, 0)
    assert candidate.sum() == truth.sum() == 200
    counts = count_pairs("points", (candidate, truth), ["exact", "eps", "fom"])
    assert [(one.method, one.possible) for one in counts] == [("exact", 200), ("eps", 200), ("fom", 200)]
    assert counts[0].pairs == 200 > counts[1].pairs == match(candidate, truth, strategy="eps").tp
    assert counts[2].pairs is None
    found = time_methods("points", (candidate, truth), ["eps", "fom"], repeats=1)
    assert [(one.method, one.points) for one in found] == [("eps", 200), ("fom", 200)]


def test_p_values_are_those_of_the_t_distribution():
    from scipy.stats import t

    rows = accuracy_of_samples(synthetic_samples(11, 12))
    found = accuracy("few", {11: rows})
    r, n = found.r("fom", 11), len(rows)
    expected = 2 * t.sf(abs(r) * np.sqrt((n - 2) / (1 - r * r)), n - 2)
    assert found.p[0][found.methods.index("fom")] == pytest.approx(expected, rel=1e-9)


def test_the_worked_example_has_the_numbers_of_the_paper():
    walk = walk_through(*paper_example())
    assert [zone.candidates for zone in walk.zones[:3]] == [(0, 0, 0), (2, 1, 0), (1,)]
    assert walk.distances == pytest.approx([2**0.5, 2**0.5, 2])
    assert all(one.agrees for one in claims_of_scores())


def test_planes_of_all_axes_and_squares_around_truth_points():
    mask = np.zeros((30, 34, 38), bool)
    mask[6:24, 7:27, 8:30] = True
    maps = volume_maps(mask.astype(float), mask, "central", planes=2)
    assert [truth.shape for _, truth in maps] == [(34, 38)] * 2 + [(30, 38)] * 2 + [(30, 34)] * 2
    for candidate, truth in volume_maps(mask.astype(float), mask, "", planes=2):
        assert np.array_equal(candidate, truth)
    cut = cut_samples(maps, [3, 11], 40)
    assert [len(rows) for rows in cut.values()] == [40, 40]
    for small, large in zip(cut[3], cut[11], strict=True):
        assert small[1][1, 1]
        assert np.array_equal(small[1], large[1][4:7, 4:7])


def test_claims_follow_from_the_numbers():
    """Data that contradict the paper are said to."""
    rows = accuracy_of_samples(synthetic_samples(11, 30))
    turned = [{**row, "eps": row["fom"], "fom": row["eps"]} for row in rows]
    good, bad = (
        {one.what: one for one in claims_of_accuracy(accuracy("x", {11: r}))} for r in (rows, turned)
    )
    assert good["x: r at side 11"].agrees
    assert bad["x: r at side 11"].verdict.startswith("another order")
    assert good["x: r of eps, side 29"].agrees is None
    full = PairCount(method="eps", scene="points, 2-D", points=10, possible=10, pairs=10)
    few = PairCount(method="eps", scene="points, 2-D", points=20, possible=20, pairs=15)
    assert [one.agrees for one in claims_of_pairs([full])] == [True]
    assert [one.agrees for one in claims_of_pairs([full, few])] == [False]

    def timed(method, points, seconds):
        return PairingTime(method=method, scene="surface", points=points, seconds=seconds)

    slow = [timed(name, n, n * n * 1e-6) for name in ("eps", "csa") for n in (10, 100, 1000)]
    fast = [timed("eps", n, n * 1e-6) for n in (10, 100, 1000)] + [timed("csa", 1000, 1.0)]
    assert [one.agrees for one in claims_of_times(slow)] == [False, None, None, True]
    assert [one.agrees for one in claims_of_times(fast)] == [True, None, None, True]
    assert claims_of_times([*slow[:3], timed("csa", 1000, 0.5)])[-1].agrees is False
