"""The matching study: pair scores, sorting counts, blocks, shares and bars."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import kendalltau

from edgecritic.datasets import synthetic
from edgecritic.datasets.cases import find_cases
from edgecritic.errors import DataError, InputError
from edgecritic.matching import match
from edgecritic.run.matching import combine_parts, make_plan, parse_share, run_parts, study_parts
from edgecritic.studies.matching import ScoreTable, analyse
from edgecritic.studies.pairs import STRATEGIES, TOLERANCES, Comparer
from edgecritic.studies.sorting import count_sortings, discordant_pairs, margin_histogram, sorting_margins

masks = arrays(np.bool_, (12, 15), elements=st.booleans())
scores = st.lists(st.integers(0, 5).map(float), min_size=0, max_size=20)


@settings(max_examples=30)
@given(st.lists(masks, min_size=3, max_size=3))
def test_scores_equal_single_matchings(maps):
    comparer = Comparer((12, 15), [1.0, 2.5, 4.0])
    ready = [comparer.prepare(one) for one in maps]
    for i, j in ((0, 1), (0, 2), (1, 2), (1, 1)):
        found = comparer.f(ready[i], ready[j])
        for s, strategy in enumerate(STRATEGIES):
            for k, tolerance in enumerate(comparer.tolerances):
                forth = match(maps[j], maps[i], strategy=strategy, tolerance=tolerance).f()
                back = match(maps[i], maps[j], strategy=strategy, tolerance=tolerance).f()
                assert found[s, k, 0] == forth
                assert found[s, k, 1] == back


def test_scores_of_the_worked_example(worked_example):
    candidate, truth = worked_example
    comparer = Comparer(truth.shape, [1.0, 2.5, 5.0])
    found = comparer.f(comparer.prepare(truth), comparer.prepare(candidate))[:, :, 0]
    expected = [
        [0.8, 0.923077, 1.0],
        [0.666667, 0.823529, 0.995708],
        [0.8, 0.8, 0.933333],
        [0.8, 0.865979, 0.923077],
    ]
    assert found == pytest.approx(np.array(expected), abs=5e-7)


@given(
    st.integers(0, 20).flatmap(
        lambda n: st.tuples(*[st.lists(st.integers(0, 5), min_size=n, max_size=n)] * 2)
    )
)
def test_discordance_equals_listing(pair):
    one, two = pair
    listed = sum((one[i] - one[j]) * (two[i] - two[j]) < 0 for i, j in combinations(range(len(one)), 2))
    assert discordant_pairs(one, two) == listed


def test_discordance_equals_kendall_without_ties():
    rng = np.random.default_rng(4)
    one, two = rng.random(500), rng.random(500)
    pairs = 500 * 499 / 2
    assert kendalltau(one, two).statistic == pytest.approx(1 - 2 * discordant_pairs(one, two) / pairs)


def test_study_of_a_small_table_by_listing():
    rng = np.random.default_rng(7)
    images = ("a", "a", "a", "b", "b", "b", "b")
    n = len(images)
    f = rng.random((4, 1, n, n)).round(1)
    f[:, :, range(n), range(n)] = np.nan
    table = ScoreTable(
        f=f,
        reference_images=images,
        candidate_images=images,
        reference_names=tuple(f"{name}#{k}" for k, name in enumerate(images)),
        candidate_names=tuple(f"{name}#{k}" for k, name in enumerate(images)),
        tolerances=(5.0,),
        symmetric=True,
    )
    found = {(row.first, row.second, row.kind): row for row in analyse(table).results}
    for i, j in combinations(range(4), 2):
        for kind in ("intra", "inter"):
            wrong = total = 0
            xs, ys = [], []
            for a in range(n):
                others = [b for b in range(n) if b != a]
                xs += [f[i, 0, a, b] for b in others if (images[a] == images[b]) == (kind == "intra")]
                ys += [f[j, 0, a, b] for b in others if (images[a] == images[b]) == (kind == "intra")]
                for b, c in combinations(others, 2):
                    if (len({images[a], images[b], images[c]}) == 1) != (kind == "intra"):
                        continue
                    total += 1
                    wrong += (f[i, 0, a, b] - f[i, 0, a, c]) * (f[j, 0, a, b] - f[j, 0, a, c]) < 0
            row = found[STRATEGIES[i], STRATEGIES[j], kind]
            assert (row.sortings.triplets, row.sortings.missorted) == (total, wrong)
            assert row.pairs == len(xs)
            assert row.pearson == pytest.approx(np.corrcoef(xs, ys)[0, 1])


def test_margins_by_hand():
    margins = sorting_margins(np.array([0.5, 0.6, 0.7]), np.array([0.5, 0.4, 0.9]))
    assert margins == pytest.approx([-0.1, np.sqrt(0.2 * 0.4), np.sqrt(0.1 * 0.5)])
    assert margin_histogram(np.array([-0.01, -0.010001, 0.4]))["counts"] == [1, 1]
    assert count_sortings(np.array([[np.nan, 1.0, 2.0]]), np.array([[1.0, 2.0, 1.0]])).missorted == 1


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    home = synthetic.write(tmp_path_factory.mktemp("data"), 3)
    return find_cases(None, home / "truth", images=home / "images").cases


def test_shares_together_are_the_whole(cases, tmp_path):
    parts = study_parts(cases, tolerances=[2.5], inter=None, canny=1)
    whole = combine_parts(parts, run_parts(parts, jobs=1)[0])
    for number in (1, 2):
        with pytest.raises(DataError, match="not finished"):
            combine_parts(parts, folders=[tmp_path / "one", tmp_path / "two"])
        place = tmp_path / ("one" if number == 1 else "two")
        found, failures = run_parts(parts, out=place, share=(number, 2), jobs=1)
        assert found
        assert not failures
    joined = combine_parts(parts, folders=[tmp_path / "one", tmp_path / "two"])
    assert [one.as_dict() for one in joined] == [one.as_dict() for one in whole]
    plan = make_plan(parts, tmp_path / "one", seconds=0.05)
    assert 0 < plan.done < plan.tasks
    assert plan.core_hours > 0


def test_canny_maps_are_the_documented_ones(cases):
    from edgecritic.detectors import detect
    from edgecritic.studies.blocks import Source

    (case, *_) = cases
    found = Source.of(case, kind="canny").load()
    assert len(found) == 6
    for smooth in (1, 2):
        for sigma in (1, 2, 3):
            wanted = detect(case.load_image(), f"canny(sigma={sigma}, smooth={smooth}, neighbours=nearest)")
            assert np.array_equal(found[f"{case.id}#canny({smooth},{sigma})"], wanted.hysteresis())


def test_all_means_every_annotator_against_every_canny_map(cases):
    (_, machines) = study_parts(cases, tolerances=[2.5], inter=None, canny=None)
    people = {name for block in machines.blocks for row in block.rows for name in row.load()}
    pairs = [
        (a, b)
        for block in machines.blocks
        for row in block.rows
        for a in row.load()
        for column in block.columns
        for b in [column.image]
    ]
    assert len(people) == sum(len(case.load_truths()) for case in cases)
    assert len(pairs) == len(set(pairs)) == len(people) * len(cases)


def test_finished_blocks_are_not_computed_again(cases, tmp_path, monkeypatch):
    parts = study_parts(cases, tolerances=[2.5], inter=2, canny=0)
    first, _ = run_parts(parts, out=tmp_path, jobs=1)
    damaged = min((tmp_path / "records").rglob("*.json"))
    damaged.write_bytes(damaged.read_bytes()[:-9])
    calls = []
    from edgecritic.run import matching

    real = matching.compare_block
    monkeypatch.setattr(matching, "compare_block", lambda *given: calls.append(given) or real(*given))
    with pytest.warns(UserWarning, match=rf"{damaged.name}: a damaged record is thrown away"):
        second, _ = run_parts(parts, out=tmp_path, jobs=1)
    assert len(calls) == 1
    assert all(np.array_equal(first[key].f, second[key].f, equal_nan=True) for key in first)
    run_parts(parts, out=tmp_path, jobs=1, fresh=True)
    assert len(calls) == 1 + len(first)


def test_another_data_set_with_the_same_names_is_another(tmp_path):
    def scores(seed, out):
        home = synthetic.write(tmp_path / "data", 2, seed=seed)
        parts = study_parts(find_cases(None, home / "truth").cases, tolerances=[2.5], inter=0, canny=0)
        found, _ = run_parts(parts, out=out, jobs=1)
        return {name: one.f for name, one in found.items()}

    one, two = scores(0, tmp_path / "out"), scores(1, tmp_path / "out")
    assert all(np.array_equal(two[name], f, equal_nan=True) for name, f in scores(1, None).items())
    assert any(not np.array_equal(one[name], two[name], equal_nan=True) for name in one)


def test_maps_of_different_sizes_are_named(tmp_path):
    for name, size in (("a", (20, 30)), ("b", (20, 31))):
        for k in (1, 2):
            line = np.zeros(size, np.uint8)
            line[10 + k] = 255
            synthetic.write_map(tmp_path / "t" / name / f"{k}.png", line > 0)
    parts = study_parts(find_cases(None, tmp_path / "t").cases, tolerances=[2.5], inter=2, canny=0)
    found, failures = run_parts(parts, jobs=1)
    assert len(found) == 2
    assert "a, b differ in shape" in failures[0].message


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "-1/3"])
def test_bad_shares_are_refused(text):
    with pytest.raises(InputError, match="N/TOTAL"):
        parse_share(text)


def test_published_correlations_on_bsds(data):
    cases = find_cases(None, data / "bsds500" / "groundTruth", split="val").cases[:40]
    parts = study_parts(cases, inter=0, canny=0)
    (study,) = combine_parts(parts, run_parts(parts)[0])
    rows = [row for row in study.results if row.kind == "intra"]
    assert min(row.pearson for row in rows) > 0.95
    assert min(row.sortings.ratio for row in rows) > 0.75
    by = {(row.first, row.second, row.tolerance): row.pearson for row in rows}
    for first, second in combinations(STRATEGIES, 2):
        values = [by[first, second, tolerance] for tolerance in TOLERANCES]
        assert values == sorted(values, reverse=True)
    for tolerance in TOLERANCES[1:]:
        assert by["area", "exact", tolerance] == min(
            by[a, b, tolerance] for a, b in combinations(STRATEGIES, 2)
        )
