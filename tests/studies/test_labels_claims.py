"""What the study of labels says follows from its numbers."""

from __future__ import annotations

import pytest

from edgecritic.studies.labels import compare_data_sets, label_claims, mean_drops, no_better


def detector(
    name="net", first=(0.7, 0.7), last=(0.4991, 0.637), f=(0.7, 0.56), control=(0.56, 0.01), rho=0.3
):
    """Return an entry as in ``strength.json``; by default it says what the paper says."""
    rows = [
        {"strength": level, "precision": point[0], "recall": point[1], "f": one}
        for level, point, one in zip((0, 1), (first, last), f, strict=True)
    ]
    partial = {"strength": 1, "f": control[0], "sd": control[1]}
    return {"name": name, "levels": rows, "partial": partial, "outputs": {"rho": rho}}


PEOPLE = {"images": 300, "orphan_share": 0.294, "consensus_share": 0.2899}
RISKS = [
    {"mode": mode, "detector": name, "risk": risk + change}
    for mode, risk in (("hard", 0.5017), ("easy", 0.1082))
    for name, change in (("a", 0.1), ("b", -0.1))
]


def test_the_published_numbers_agree_with_themselves():
    found = label_claims(PEOPLE, {"detectors": [detector()]}, RISKS)
    assert [one.agrees for one in found] == [True] * 8


def test_data_made_to_contradict_turn_every_verdict():
    people = {"images": 300, "orphan_share": 0.1, "consensus_share": 0.9}
    other = detector(last=(0.9, 0.7), f=(0.5, 0.8), control=(0.4, 0.01), rho=0.9)
    risks = [{"mode": mode, "detector": "a", "risk": 0.9} for mode in ("hard", "easy")]
    found = label_claims(people, {"detectors": [other]}, risks)
    assert [one.agrees for one in found] == [False] * 8
    assert all(one.verdict.startswith(("differs", "does not hold")) for one in found)


def test_nothing_is_said_of_what_was_not_measured():
    without = detector()
    without["partial"] = None
    without["levels"] = without["levels"][:1]
    without["outputs"] = {"rho": None}
    found = label_claims({**PEOPLE, "images": 7}, {"detectors": [without]})
    assert [one.agrees for one in found] == [True, True, None, None, None, None, None, None]
    assert mean_drops({"detectors": [without]}) is None
    assert no_better({"detectors": [without]}) is None


def test_drops_and_controls_are_means_over_detectors():
    both = {"detectors": [detector(), detector(last=(0.7, 0.35), f=(0.7, 0.6), control=(0.5, 0.01))]}
    drops = mean_drops(both)
    assert drops["precision"] == pytest.approx((0.4991 / 0.7 - 1) / 2)
    assert drops["recall"] == pytest.approx((0.637 / 0.7 - 1 - 0.5) / 2)
    assert no_better(both) == 0.5


@pytest.mark.parametrize(("apart", "agrees"), [(0.028, [True, False]), (0.2, [False, False])])
def test_two_data_sets_are_compared_detector_by_detector(apart, agrees):
    here = {"detectors": [detector("a"), detector("b"), detector("only here")]}
    there = {"detectors": [detector(name, f=(0.7 - apart, 0.56 - apart)) for name in ("b", "a")]}
    rows, claims = compare_data_sets(here, there)
    assert [row[:2] for row in rows] == [(n, kind) for n in "ab" for kind in ("all", "consensus")]
    assert [row[4] for row in rows] == pytest.approx([apart] * 4)
    assert [one.agrees for one in claims] == agrees
