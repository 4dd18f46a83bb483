"""ODS, OIS, AP and R50 against a plain loop, published files and stored counts of the original program."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgecritic.errors import InputError, UnknownNameError
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.curves import (
    AP_RULES,
    ap_rule_name,
    average_precision,
    best_interpolated_f,
    recall_at_half_precision,
)
from edgecritic.protocols.presets import get_protocol
from edgecritic.protocols.summary import CountTable, count_table, summarise
from edgecritic.report.classic import read_curve, read_summary


def counted(tables, zeros=None):
    """Counts of rows (threshold, cntR, sumR, cntP, sumP) and rows at 0."""
    zeros = [None] * len(tables) if zeros is None else zeros
    return [Counts.from_rows(rows, zero=zero) for rows, zero in zip(tables, zeros, strict=True)]


def twin_f(r, p):
    return 2 * p * r / (p + r) if p + r > 0 else 0.0


def twin_point(counts):
    r = counts[0] / counts[1] if counts[1] else 0.0
    p = counts[2] / counts[3] if counts[3] else 0.0
    return r, p


def twin_best(thresholds, points):
    best = (thresholds[0], *points[0], twin_f(*points[0]))
    for k in range(1, len(points)):
        for share in np.linspace(0, 1, 100):
            t = thresholds[k] * share + thresholds[k - 1] * (1 - share)
            r = points[k][0] * share + points[k - 1][0] * (1 - share)
            p = points[k][1] * share + points[k - 1][1] * (1 - share)
            if twin_f(r, p) > best[3]:
                best = (t, r, p, twin_f(r, p))
    return best


def twin_ap(points, recalls):
    """Straight lines between neighbouring recalls, the first point of equal ones."""
    kept = {}
    for r, p in points:
        kept.setdefault(r, p)
    known = sorted(kept)
    if len(known) < 2:
        return 0.0
    total = 0.0
    for r in recalls:
        if known[0] <= r <= known[-1]:
            total += np.interp(r, known, [kept[x] for x in known])
    return total / 100


def twin_summary(tables, zeros=None):
    thresholds = [row[0] for row in tables[0]]
    pooled = [twin_point([sum(t[k][c] for t in tables) for c in range(1, 5)]) for k in range(len(thresholds))]
    chosen = np.zeros(4)
    for table in tables:
        scores = [twin_f(*twin_point(row[1:])) for row in table]
        chosen += table[scores.index(max(scores))][1:]
    grid = [k / 100 for k in range(101)]
    best_above = [max([p for r, p in pooled if r >= t], default=0.0) for t in grid[:100]]
    precisions = {}
    for r, p in pooled:
        precisions.setdefault(p, r)
    known = sorted(precisions)
    half = max(known[0], 0.5)
    r50 = 0.0
    if len(known) > 1 and half <= known[-1]:
        r50 = float(np.interp(half, known, [precisions[p] for p in known]))
    b = None
    if zeros is not None:
        b = twin_ap([twin_point(np.sum(zeros, axis=0)), *pooled], grid)
    return {
        "ods": twin_best(thresholds, pooled),
        "ois": (*twin_point(chosen), twin_f(*twin_point(chosen))),
        "aps": [twin_ap(pooled, grid), b, twin_ap(pooled, grid[:100]), sum(best_above) / 101],
        "r50": r50,
        "images": [twin_best(thresholds, [twin_point(row[1:]) for row in table]) for table in tables],
    }


def check(tables, zeros=None):
    found, expected = summarise(counted(tables, zeros)), twin_summary(tables, zeros)
    ods = (found.ods.threshold, found.ods.recall, found.ods.precision, found.ods.f)
    assert ods == pytest.approx(expected["ods"], abs=1e-12)
    assert (found.ois.recall, found.ois.precision, found.ois.f) == pytest.approx(expected["ois"], abs=1e-12)
    for value, other in zip(found.aps.values(), expected["aps"], strict=True):
        assert value is None if other is None else value == pytest.approx(other, abs=1e-12)
    assert found.r50 == pytest.approx(expected["r50"], abs=1e-12)
    for image, best in zip(found.images, expected["images"], strict=True):
        point = image.best
        assert (point.threshold, point.recall, point.precision, point.f) == pytest.approx(best, abs=1e-12)
    return found


@st.composite
def count_tables(draw):
    steps = draw(st.integers(1, 5))
    small = st.integers(0, 6)
    images = []
    for _ in range(draw(st.integers(1, 4))):
        rows = []
        for k in range(steps):
            (a, b), (c, d) = sorted([draw(small), draw(small)]), sorted([draw(small), draw(small)])
            rows.append((k / 10 + 0.1, a, b, c, d))
        images.append(rows)
    return images


@given(count_tables(), st.booleans())
def test_twin_on_small_counts(tables, with_zero):
    zeros = [(row[0][2], row[0][2], 3, 7) for row in tables] if with_zero else None
    check(tables, zeros)


def golden(data, name):
    stored = json.loads((data.parent / "golden" / f"bsds500_val_{name}_reference.json").read_text())
    return {image: entry["rows"] for image, entry in stored["images"].items()}, stored["images"]


@pytest.mark.parametrize("name", ["ucm", "gradient"])
def test_twin_on_stored_counts(data, name):
    if not (data.parent / "golden").is_dir():
        pytest.skip("stored counts not found")
    tables, images = golden(data, name)
    zeros = [
        (
            rows[0][2],
            rows[0][2],
            min(rows[0][2], math.prod(images[image]["shape"])),
            math.prod(images[image]["shape"]),
        )
        for image, rows in tables.items()
    ]
    found = check(list(tables.values()), zeros)
    assert found.aps["interpolated-101+zero"] > found.aps["interpolated-101"]
    named = summarise(dict(zip(tables, counted(list(tables.values())), strict=True)))
    assert [image.name for image in named.images] == list(tables)
    assert named.ods == found.ods


@pytest.mark.parametrize("test", [1, 2, 3, 4])
def test_published_summary_follows_from_the_published_curve(data, test):
    folder = data / "bsds_bench" / f"test_{test}"
    curve, stated = read_curve(folder / "eval_bdry_thr.txt"), read_summary(folder / "eval_bdry.txt")
    scale = 10**9
    rows = np.column_stack(
        [
            curve.thresholds,
            curve.recall * scale,
            np.full(5, scale),
            curve.precision * scale,
            np.full(5, scale),
        ]
    )
    found = summarise(counted([rows]))
    assert found.ods.threshold == stated.ods.threshold
    assert (found.ods.recall, found.ods.precision) == (stated.ods.recall, stated.ods.precision)
    assert found.ods.f == pytest.approx(stated.ods.f, abs=1e-6)
    assert found.ap == pytest.approx(stated.ap, abs=2e-6)


def test_perfect_curve_may_exceed_one():
    rows = [(0.2, 10, 10, 10, 10), (0.8, 0, 10, 10, 10)]
    found = summarise(counted([rows]))
    assert found.aps["interpolated-101"] == pytest.approx(1.01)
    assert found.aps["interpolated-100"] == pytest.approx(1.0)
    assert found.aps["max-precision-100"] == pytest.approx(100 / 101)
    assert found.ap == found.aps["interpolated-101"]


def test_ods_interpolates_and_ois_does_not():
    rows = [(0.2, 90, 100, 50, 100), (0.4, 50, 100, 90, 100)]
    found = summarise(counted([rows]))
    assert found.ois.f == pytest.approx(2 * 0.45 / 1.4)
    assert found.ods.f > 0.6999
    assert found.ois.f < found.ods.f
    assert found.ods.threshold == pytest.approx(0.3, abs=0.002)


def test_first_maximum_wins():
    rows = [(0.1, 5, 10, 5, 10), (0.2, 5, 10, 5, 10), (0.3, 5, 10, 5, 10)]
    assert summarise(counted([rows])).ods.threshold == 0.1


def test_empty_predictions():
    found = summarise(counted([[(0.1, 0, 10, 0, 0), (0.2, 0, 10, 0, 0)]]))
    assert (found.ods.f, found.ois.f, found.ap, found.r50) == (0, 0, 0, 0)
    assert found.ods.threshold == 0.1


def test_duplicate_recalls_first_or_last():
    recall, precision = np.array([0.9, 0.9, 0.5, 0.1]), np.array([0.2, 0.6, 0.9, 1.0])
    first = average_precision(recall, precision, "a")
    last = average_precision(recall, precision, "a", duplicates="last")
    steps = np.arange(10, 91) / 100
    assert first == pytest.approx(np.interp(steps, [0.1, 0.5, 0.9], [1.0, 0.9, 0.2]).sum() / 100)
    assert last == pytest.approx(np.interp(steps, [0.1, 0.5, 0.9], [1.0, 0.9, 0.6]).sum() / 100)


@pytest.mark.parametrize("rule", "acd")
def test_the_order_of_distinct_points_does_not_matter(rule):
    """Recalls that fall with the threshold are taken as they are, others are sorted."""
    rng = np.random.default_rng(3)
    recall, precision = np.sort(rng.random(40))[::-1], rng.random(40)
    falling = average_precision(recall, precision, rule)
    mixed = rng.permutation(40)
    assert average_precision(recall[mixed], precision[mixed], rule) == falling > 0
    assert average_precision(recall[::-1], precision[::-1], rule) == falling


def test_zero_threshold_joins_the_curve():
    rows, zero = [(0.5, 60, 100, 40, 50)], [(100, 100, 90, 1000)]
    found = summarise(counted([rows], zero), protocol="edter")
    assert found.thresholds.tolist() == [0, 0.5]
    assert found.recall.tolist() == [1, 0.6]
    assert found.ap == pytest.approx(twin_ap([(1.0, 0.09), (0.6, 0.8)], [k / 100 for k in range(101)]))
    assert found.aps["interpolated-101"] == 0
    with pytest.raises(InputError, match="threshold 0 as well"):
        summarise(counted([rows]), protocol="edter")


def test_r50_where_half_is_out_of_reach():
    assert recall_at_half_precision(np.array([0.9, 0.5]), np.array([0.1, 0.3])) == 0
    assert recall_at_half_precision(np.array([0.9, 0.5]), np.array([0.6, 0.8])) == pytest.approx(0.9)


@given(st.integers(0, 10**6), st.integers(1, 6), st.booleans())
def test_many_curves_at_once(seed, steps, falling):
    rng = np.random.default_rng(seed)
    recall, precision = rng.random((7, steps)), rng.random((7, steps))
    if falling:
        recall, precision = np.sort(recall)[:, ::-1], np.sort(precision)
    expected = [
        twin_best(np.arange(steps), list(zip(r, p, strict=True)))[3]
        for r, p in zip(recall, precision, strict=True)
    ]
    np.testing.assert_allclose(best_interpolated_f(recall, precision), expected, rtol=1e-14)


@pytest.mark.parametrize("steps", [20, 60])
def test_dense_curves_at_once(steps):
    """Between neighbours that are close, F exceeds the points by very little."""
    recall = np.linspace(0.95, 0.2, steps) ** np.array([[1.0], [1.5]])
    precision = np.linspace(0.3, 0.98, steps) ** np.array([[1.0], [0.7]])
    expected = [
        twin_best(np.arange(steps), list(zip(r, p, strict=True)))[3]
        for r, p in zip(recall, precision, strict=True)
    ]
    np.testing.assert_allclose(best_interpolated_f(recall, precision), expected, rtol=1e-14)


def test_results_are_frozen_and_become_json():
    found = summarise(counted([[(0.2, 9, 10, 5, 10), (0.4, 5, 10, 5, 5)]]), names=["owl"], protocol="pdollar")
    with pytest.raises(ValueError, match="read-only"):
        found.recall[0] = 1
    stored = json.loads(json.dumps(found.as_dict()))
    assert stored["digest"] == get_protocol("pdollar").digest
    assert stored["images"][0]["name"] == "owl"
    assert stored["aps"]["interpolated-101+zero"] is None
    assert f"AP {found.ap:.4f}" in repr(found)
    text = str(found)
    assert "pdollar" in text
    assert "interpolated-101" in text
    assert stored["curve"] == {
        "threshold": [0.2, 0.4],
        "recall": [0.9, 0.5],
        "precision": [0.5, 1],
        "f": pytest.approx([2 * 0.45 / 1.4, 1 / 1.5]),
    }


def test_curves_are_drawn_into_one_frame_in_colours_of_their_own():
    low, high = ([(0.2, 9, 10, 5, 10), (0.4, n, 10, n, n)] for n in (4, 6))
    axes = summarise(counted([low])).plot(label="one")
    lines = len(axes.lines)
    assert summarise(counted([high])).plot(axes) is axes
    assert len(axes.lines) == lines + 2  # a curve and its best point; the frame is there
    first, second = (line for line in axes.lines if len(line.get_xdata()) == 2)
    assert first.get_xydata().tolist() == [[0.9, 0.5], [0.4, 1]]
    assert second.get_xydata().tolist() == [[0.9, 0.5], [0.6, 1]]
    assert first.get_color() != second.get_color()
    ours, theirs = (text.get_text() for text in axes.get_legend().get_texts())
    assert ours.endswith("] one")
    recall, precision = np.linspace(0.9, 0.6, 1000), np.linspace(0.5, 1, 1000)
    assert theirs == f"[F={np.max(2 * recall * precision / (recall + precision)):.3f}]"


def test_tables_are_passed_through():
    table = count_table({"a": Counts.from_rows([(0.2, 9, 10, 5, 10)], zero=(10, 10, 9, 90))})
    assert isinstance(table, CountTable)
    assert count_table(table) is table
    assert table.counts.zero.candidate.tolist() == [[90]]


@pytest.mark.parametrize(
    ("counts", "options", "message"),
    [
        ([], {}, "at least one image"),
        ([[(0.1, 2, 3)]], {}, "must have rows"),
        ([[(0.1, 1, 2, 3, 4)], [(0.2, 1, 2, 3, 4)]], {}, "same thresholds; '2' differs from '1'"),
        ([[(0.1, 3, 2, 3, 4)]], {}, "cntR must not exceed sumR"),
        ([[(0.1, 1, 2, 5, 4)]], {}, "cntR must not exceed sumR, nor cntP sumP"),
        ([[(0.1, -1, 2, 3, 4)]], {}, "not negative"),
        ([[(0.1, np.nan, 2, 3, 4)]], {}, "finite"),
        ([[(0.2, 1, 2, 3, 4), (0.1, 1, 2, 3, 4)]], {}, "ascending"),
        ([[("a", 1, 2, 3, 4)]], {}, "must be numbers"),
        ([[(0.1, 1, 2, 3, 4)]], {"names": ["a", "b"]}, "one per image"),
        ([[(0.1, 1, 2, 3, 4)]] * 2, {"names": ["a", "a"]}, "different"),
        ([[(0.1, 1, 2, 3, 4)]], {"zero": [(1, 2, 3)]}, "one row"),
        ([[(0.1, 1, 2, 3, 4)]], {"zero": [(3, 2, 3, 4)]}, "exceed"),
        ([[(0.1, 1, 2, 3, 4)]], {"zero": "n"}, "zero of counts must be numbers"),
    ],
)
def test_bad_counts_are_refused(counts, options, message):
    more = {name: value for name, value in options.items() if name != "zero"}
    with pytest.raises(InputError, match=message):
        summarise(counted(counts, options.get("zero")), **more)


def test_rule_names():
    assert [ap_rule_name(letter) for letter in "abcd"] == list(AP_RULES)
    with pytest.raises(UnknownNameError, match="interpolated-100"):
        average_precision(np.ones(2), np.ones(2), "z")
