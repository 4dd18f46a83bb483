"""People judge maps, and so measures: the design of pairs, agreement, and simulated subjects."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from edgecritic.annotators.answers import comparisons_csv, read_choices, trials_json, votes_csv
from edgecritic.annotators.choice import Answer, EdgeMap, Trial
from edgecritic.annotators.pairs import (
    DAMAGES,
    damaged,
    judging_measures,
    pair_trials,
    pool_of,
    spoiled_trials,
)
from edgecritic.annotators.preferences import holm, judge_measures, preference, simulate_judge
from edgecritic.annotators.votes import majority, risks, screening
from edgecritic.datasets.synthetic import dataset
from edgecritic.detectors import detect
from edgecritic.errors import DataError, InputError
from edgecritic.measures import score

NEAR = "f(strategy=exact(tolerance=3))"
MEASURES = ["f", NEAR, "precision", "recall", "baddeley", "hausdorff", "fom", "dk"]


@pytest.fixture(scope="module")
def cases():
    return dataset(4, size=(80, 100))


@pytest.fixture(scope="module")
def pools(cases):
    made = []
    for number, case in enumerate(cases):
        strengths = {name: detect(case.image, name).thin for name in ("canny(sigma=2)", "sobel")}
        thresholds = dict.fromkeys(strengths, 0.3)
        made.append(pool_of(str(number), list(case.truths), strengths, thresholds, measures=MEASURES))
    return made


def leads_of(pools, trials):
    by = {pool.image: pool for pool in pools}
    rows = []
    for trial in trials:
        pool = by[trial.image]
        names = [one.condition for one in pool.maps]
        left, right = (pool.goodness[names.index(name)] for name in trial.conditions)
        rows.append(left - right)
    return dict(zip(pools[0].measures, np.array(rows).T, strict=True))


def pair(name="1", image="a", mode="detector", left="x", right="y"):
    ends = {"left": EdgeMap(condition=left), "right": EdgeMap(condition=right)}
    return Trial(id=name, image=image, detector="", mode=mode, **ends)


def test_maps_are_packed_and_come_back():
    mask = np.random.default_rng(0).random((13, 17)) < 0.3
    packed = EdgeMap.of(mask, "canny")
    assert np.array_equal(packed.map, mask)
    again = Trial.from_dict(
        Trial(id="1", image="a", detector="", mode="damage", left=packed, right=packed).as_dict()
    )
    assert np.array_equal(again.left.map, mask)


@pytest.mark.parametrize("packed", ["", "!", "AAAA", EdgeMap.of(np.ones((2, 2), bool), "x").packed])
def test_maps_with_other_pixels_are_refused(packed):
    with pytest.raises(DataError):
        _ = EdgeMap(condition="a", shape=(30, 40), packed=packed).map


@pytest.mark.parametrize(
    "change",
    [
        {"mode": "hard"},
        {"part": "check"},
        {"right": {"kind": "label", "centre": [0, 0], "pixels": []}},
        {"right": {"kind": "map", "centre": [0, 0], "pixels": []}},
    ],
)
def test_trials_of_maps_that_are_none_are_refused(change):
    with pytest.raises(DataError):
        Trial.from_dict(pair().as_dict() | change)


def test_every_damage_changes_the_map_as_it_says(cases):
    mask = cases[0].truths[0]
    rng = np.random.default_rng(1)
    made = {kind: damaged(mask, kind, rng) for kind in DAMAGES}
    assert not (made["holes"] & ~mask).any()
    assert made["holes"].sum() <= 0.7 * mask.sum()
    assert (made["specks"] & mask).sum() == mask.sum()
    assert made["specks"].sum() - mask.sum() == round(0.3 * mask.sum())
    assert (made["thick"] & mask).sum() == mask.sum()
    assert made["random"].sum() == mask.sum()
    assert made["shifted"].sum() <= mask.sum()
    with pytest.raises(InputError):
        damaged(mask, "burnt", rng)


def test_goodness_is_the_measure_turned(pools, cases):
    pool = pools[0]
    found = score(pool.maps[1].map, list(cases[0].truths), MEASURES)
    signs = [1 if better == "higher" else -1 for better in found.better]
    np.testing.assert_allclose(pool.goodness[1], np.array(list(found.values())) * signs)


def test_design_is_seeded_balanced_and_separates_measures(pools):
    trials = pair_trials(pools, 12, seed=3)
    assert trials == pair_trials(pools, 12, seed=3)
    assert trials != pair_trials(pools, 12, seed=4)
    assert len({trial.id for trial in trials}) == len(trials)
    kinds = Counter(trial.mode for trial in trials)
    assert kinds == {"detector": 4, "threshold": 4, "damage": 4}
    images = Counter(trial.image for trial in trials)
    assert set(images.values()) == {3}
    sides = Counter(trial.conditions[0] for trial in trials), Counter(trial.conditions[1] for trial in trials)
    assert all(abs(sides[0][name] - sides[1][name]) <= 3 for name in {*sides[0], *sides[1]})
    assert all(trial.left.packed != trial.right.packed for trial in trials)
    everything = pair_trials(pools, 10_000)
    assert disagreement(pools, trials, "damage") > 1.2 * disagreement(pools, everything, "damage")


def disagreement(pools, trials, kind):
    signs = np.sign(list(leads_of(pools, [trial for trial in trials if trial.mode == kind]).values()))
    return float((signs[:, None] * signs[None, :] < 0).mean())


def test_spoiled_maps_are_what_nobody_prefers(pools):
    trials = spoiled_trials(pools, 2, 3)
    assert [trial.part for trial in trials] == ["practice"] * 2 + ["check"] * 3
    assert all(getattr(trial, trial.expected).condition == "annotator" for trial in trials)
    assert all(getattr(trial, trial.false_alarm).kind == "spoiled map" for trial in trials)


@pytest.mark.parametrize("hidden", [NEAR, "baddeley", "recall"])
def test_simulated_subjects_give_their_measure_away(pools, hidden):
    trials = [*spoiled_trials(pools, 0, 2), *pair_trials(pools, 80, seed=1)]
    leads = leads_of(pools, trials[2:])
    leads = {name: [np.nan, np.nan, *values] for name, values in leads.items()}
    answers = [one for n in range(15) for one in simulate_judge(trials, leads[hidden], name=str(n))]
    found = preference(trials, answers, leads, draws=200)
    assert found.measures[0].measure == hidden
    assert np.isnan(found.measures[0].worse_than_best)
    assert found.measures[-1].worse_than_best < 0.05
    assert found.better[0, -1]
    assert not found.better[-1].any()
    assert found.trials + found.tied == len(trials) - 2
    assert found.measures[0].low <= found.measures[0].share <= found.measures[0].high
    assert set(found.measures[0].kinds) == {trial.mode for trial in trials}
    assert screening(trials, answers)["0"].checks_passed == 1


def test_agreement_counts_as_defined():
    asked = [pair(name, image=name) for name in "1234"]
    given = [
        Answer(name, str(subject), "left" if subject < won else "right")
        for name, won in zip("1234", (5, 4, 3, 1), strict=True)
        for subject in range(5)
    ]
    found = preference(asked, given, {"m": [0.2, 0.1, -0.1, 0]}, draws=20)
    one = found.measures[0]
    assert (one.share, one.singles, found.ceiling, one.equal) == (0.625, 0.675, 0.8, 0.25)


def test_ties_are_halves_and_trials_without_a_judgement_do_not_count():
    asked = [pair(name, image=name) for name in "123"]
    words = {"1": ("left", "left", "tie"), "2": ("left", "right", "tie"), "3": ("right", "right", "right")}
    given = [Answer(name, str(n), word) for name, some in words.items() for n, word in enumerate(some)]
    assert majority(given) == {"1": "left", "2": None, "3": "right"}
    found = preference(asked, given, {"m": [1.0, 1.0, np.nan]}, draws=20)
    assert found.measures[0].share == 1
    np.testing.assert_allclose(found.measures[0].singles, (2.5 + 1.5) / 6)
    np.testing.assert_allclose(found.ceiling, (2.5 + 1.5 + 3) / 9)
    assert found.scale.wins.sum() == 9
    assert found.tied == 1


def test_intervals_cover_what_a_bootstrap_of_plain_loops_gives():
    rng = np.random.default_rng(5)
    asked = [pair(str(n), image=str(n % 6)) for n in range(18)]
    given = [
        Answer(t.id, str(s), ("left", "right")[int(rng.random() < 0.4)]) for t in asked for s in range(5)
    ]
    leads = rng.normal(size=18)
    found = preference(asked, given, {"m": leads}, draws=2000).measures[0]
    assert found.low <= found.share <= found.high
    table = np.array([[1 if a.choice == "left" else -1 for a in given if a.trial == t.id] for t in asked])
    shares, singles = [], []
    for _ in range(2000):
        images, subjects = rng.integers(6, size=6), rng.integers(5, size=5)
        rows = [row for image in images for row in range(18) if asked[row].image == str(image)]
        shares.append(np.mean([np.sign(table[row].sum()) == np.sign(leads[row]) for row in rows]))
        singles.append(np.mean([table[row, subjects] == np.sign(leads[row]) for row in rows]))
    ends = [0.025, 0.975]
    np.testing.assert_allclose([found.low, found.high], np.quantile(shares, ends), atol=0.03)
    np.testing.assert_allclose([found.singles_low, found.singles_high], np.quantile(singles, ends), atol=0.03)


def test_holm_is_that_of_the_textbook():
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])


def test_measures_judge_the_left_map_minus_the_right(pools, cases):
    trial = pair_trials(pools[:1], 1)[0]
    found = judge_measures([trial, pair("2", image="?")], {"0": cases[0].truths}, MEASURES)
    expected = leads_of(pools, [trial])
    np.testing.assert_allclose(
        [found[name][0] for name in MEASURES], [expected[name][0] for name in MEASURES]
    )
    assert all(np.isnan(values[1]) for values in found.values())


def test_all_measures_that_can_judge_are_asked():
    names = judging_measures()
    assert {"hausdorff", "complexity", "pq", "nsd", "f(strategy=exact)"} <= set(names)
    assert not {"pri", "voi", "f_star"} & set(names)
    assert "pq" not in judging_measures(objects=False)


def test_files_keep_maps_ties_and_sides(pools, tmp_path):
    trials = [*spoiled_trials(pools, 1, 1), *pair_trials(pools, 6)]
    answers = [Answer(trial.id, "ann", "tie", n % 2 == 0, n) for n, trial in enumerate(trials)]
    (tmp_path / "a.json").write_text(trials_json(trials, answers))
    assert read_choices(tmp_path / "a.json") == (trials, answers)
    (tmp_path / "a.csv").write_text(comparisons_csv(trials, answers))
    bare, given = read_choices(tmp_path / "a.csv")
    assert [(one.id, one.conditions, one.mode, one.part, one.false_alarm) for one in bare] == [
        (one.id, one.conditions, one.mode, one.part, one.false_alarm) for one in trials
    ]
    assert [(one.choice, one.mirrored) for one in given] == [(one.choice, one.mirrored) for one in answers]
    assert "tie" in votes_csv(trials, answers)
    assert risks(trials, answers) == []


def test_choices_of_other_programs_are_read(tmp_path):
    text = (
        "observer,session,scene,condition_1,condition_2,selection\n"
        "ann,1,street,b,a,1\nbob,1,street,a,b,2\neve,1,street,a,b,0\nann,2,street,a,b,a\n"
    )
    (tmp_path / "a.csv").write_text(text)
    asked, answers = read_choices(tmp_path / "a.csv")
    found = preference(asked, answers, draws=20)
    assert found.scale.conditions == ("b", "a")
    assert found.scale.wins.tolist() == [[0, 2.5], [1.5, 0]]
    (tmp_path / "b.csv").write_text("observer,condition_1,condition_2,selection\nann,a,b,3\n")
    with pytest.raises(DataError, match="1, 2 or 0"):
        read_choices(tmp_path / "b.csv")


def test_without_answers_to_maps_nothing_is_said():
    with pytest.raises(InputError, match="no answer"):
        preference([pair()], [])
    with pytest.raises(InputError, match="twice"):
        preference([pair()], [Answer("1", "a", "left"), Answer("1", "a", "right")])
