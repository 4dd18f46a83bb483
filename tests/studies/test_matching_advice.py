"""The study on the user's own maps: rankings, what is said of them, triplets, and the closer look."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from edgecritic.cli.main import main
from edgecritic.datasets.write import write_map
from edgecritic.errors import InputError
from edgecritic.matching import match
from edgecritic.studies.advice import advice, rank_changes, ranking_text
from edgecritic.studies.closer import CloserLook, look_at_pair, summarise_looks
from edgecritic.studies.triplets import disputed_areas, judge_triplet

STILL = {"exact": 0.1, "eps": 0.1, "closest": 0.1, "coherent": 0.0}
CALM = CloserLook(
    maps="own",
    tolerance=5.0,
    pairs=3,
    doubled=0.01,
    stray=0.1,
    displacement=1.0,
    f={},
    coherence={},
    jumps=STILL,
    pearson={},
    esr={},
)


def line(*rows, length=40):
    drawn = np.zeros((40, 50), bool)
    drawn[list(rows), 5 : 5 + length] = True
    return drawn


def test_the_ranking_is_said_to_change_only_where_it_does():
    alike = {("exact", 5.0): {"a": 0.7, "b": 0.6}, ("area", 5.0): {"a": 0.5, "b": 0.4}}
    assert not rank_changes(alike)
    assert ranking_text(alike) == ["Every strategy ranks the maps alike at every tolerance: a > b."]
    turned = alike | {("area", 5.0): {"a": 0.4, "b": 0.49}}
    (change,) = rank_changes(turned)
    assert change.margin == pytest.approx(-np.sqrt(0.1 * 0.09))
    told = " ".join(ranking_text(turned))
    assert "area puts b before a instead" in told
    assert "beyond the -0.03" in told
    assert "within the -0.03" in " ".join(ranking_text(alike | {("area", 5.0): {"a": 0.4, "b": 0.401}}))
    by_reach = {("exact", 5.0): {"a": 0.7, "b": 0.6}, ("exact", 9.0): {"a": 0.7, "b": 0.8}}
    assert "the tolerance matters" in ranking_text(by_reach)[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "So few make little difference"),
        ({"doubled": 0.3}, "If they are errors, take exact"),
        ({"stray": 0.5}, "many false alarms"),
        ({"displacement": 4.0}, "Area charges displacement by degrees"),
        ({"jumps": STILL | {"exact": 0.4}}, "take coherent"),
    ],
)
def test_advice_follows_from_the_numbers(change, words):
    told = " ".join(advice(replace(CALM, **change), {}))
    assert words in told
    if change:
        assert words not in " ".join(advice(CALM, {}))


def test_a_closer_look_at_second_answers_strays_and_displacement():
    truth = line(20)
    seen = look_at_pair(("t", "c"), (truth, line(18, 22) | line(35)), 5.0)
    assert (seen.doubled, seen.stray, seen.displacement) == pytest.approx((1 / 3, 1 / 3, 2.0))
    assert seen.f[2] == match(line(18, 22) | line(35), truth, tolerance=5).f()
    many = [replace(seen, candidate=str(k), f=(0.1 * k, 0.2, 0.3, 0.4, 0.1 * k)) for k in range(3)]
    told = summarise_looks(many, maps="own", tolerance=5.0)
    assert told.pearson == {"distance": pytest.approx(1), "area": None, "exact": None, "validation": None}
    assert told.esr["distance"] == 1
    opposite = [replace(one, f=(*one.f[:4], -one.f[0])) for one in many]
    assert summarise_looks(opposite, maps="own", tolerance=5.0).esr["distance"] == 0


def test_a_triplet_by_hand():
    truth, near, half = line(20), line(22), line(20, length=30)
    found = judge_triplet(("t", truth), [("near", near), ("half", half)], tolerance=2.5)
    f = {
        name: [match(one, truth, strategy=name, tolerance=2.5).f() for one in (near, half)]
        for name in ("distance", "area")
    }
    product = (f["distance"][0] - f["distance"][1]) * (f["area"][0] - f["area"][1])
    assert product < 0
    assert found.margin("distance", "area") == pytest.approx(-np.sqrt(-product))
    with pytest.raises(InputError, match="two candidates"):
        judge_triplet(("t", truth), [("near", near)], tolerance=2.5)


def test_disputed_areas_hold_what_strategies_differ_on():
    truth, twice = line(10, 30), line(9, 11) | line(30)
    found = [match(twice, truth, strategy=name, tolerance=2) for name in ("distance", "exact")]
    (first, *more) = disputed_areas(found, side=15)
    assert first[0].start <= 9 <= 11 < first[0].stop
    for other in more:
        assert (
            other[0].stop <= first[0].start
            or other[1].start >= first[1].stop
            or other[1].stop <= first[1].start
        )
    assert disputed_areas(found[:1]) == []


@pytest.fixture
def maps(tmp_path):
    """Two images: `near` is displaced by two pixels everywhere, `half` lies right but has a part only."""
    for name in ("one", "two"):
        write_map(tmp_path / "truth" / f"{name}.png", line(20))
        write_map(tmp_path / "near" / f"{name}.png", line(22))
        write_map(tmp_path / "half" / f"{name}.png", line(20, length=30))
    return tmp_path


def test_own_detectors_are_ranked_by_every_strategy(maps, capsys):
    base = ["study", "matching", "--truth", str(maps / "truth"), "--tolerances", "2.5", "--jobs", "1"]
    base += ["--predictions"]
    out = maps / "out"
    assert main([*base, str(maps / "near"), f"short={maps / 'half'}", "--quiet", "-o", str(out)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "area puts short before near instead" in told
    assert "say which one was taken" in told
    assert "the survey of boundary matching" not in told  # nothing of the paper is tested
    found = json.loads((out / "matching.json").read_text())
    ranking = {row["strategy"]: row["f"] for row in found["studies"][0]["ranking"]}
    for strategy, scores in ranking.items():
        wanted = match(line(20, length=30), line(20), strategy=strategy, tolerance=2.5).f()
        assert scores["short"] == pytest.approx(wanted)
    assert (out / "ranking-own.csv").is_file()


def test_own_detectors_are_asked_for_rightly(maps, capsys):
    near, half = str(maps / "near"), str(maps / "half")
    for words, named in (
        ([near, half], "needs --truth"),
        ([near, "--truth", str(maps / "truth")], "two folders of maps"),
        ([near, half, "--truth", near, "--data", near], "the same thing"),
        ([near, half, "--truth", str(maps / "truth"), "--threshold", "0"], "threshold"),
    ):
        assert main(["study", "matching", "--predictions", *words]) == 1
        assert named in capsys.readouterr().err
    (maps / "half" / "two.png").unlink()
    base = ["study", "matching", "--truth", str(maps / "truth"), "--jobs", "1", "-q"]
    assert main([*base, "--predictions", near, half]) == 1
    assert "half: two: has no map" in capsys.readouterr().err
