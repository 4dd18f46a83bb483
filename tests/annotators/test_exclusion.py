"""Who is left out of a forced choice, by rules that are fixed before."""

from __future__ import annotations

import pytest

from edgecritic.annotators.choice import Answer, Trial
from edgecritic.annotators.exclusion import Rules, excluded, without
from edgecritic.annotators.votes import risks
from edgecritic.errors import InputError


def trials():
    about = {"image": "a", "detector": "d", "mode": "hard"}
    main = [Trial.bare("left", id=f"m{n}", **about) for n in range(20)]
    return [*main, *(Trial.bare("left", id=f"c{n}", part="check", **about) for n in range(4))]


def answers(subject, *, lefts=10, passed=4, time=900, pauses=0):
    main = [
        Answer(f"m{n}", subject, "left" if n < lefts else "right", reaction_ms=time, pauses=pauses)
        for n in range(20)
    ]
    return [*main, *(Answer(f"c{n}", subject, "right" if n < passed else "left") for n in range(4))]


def test_each_rule_leaves_out_whom_it_says():
    given = [
        *answers("fine"),
        *answers("inattentive", passed=2),
        *answers("just attentive", passed=3),
        *answers("left", lefts=19),
        *answers("right", lefts=1),
        *answers("just both", lefts=18),
        *answers("hasty", time=299),
        *answers("interrupted", time=100, pauses=1),
    ]
    found = excluded(trials(), given, Rules())
    assert set(found) == {"inattentive", "left", "right", "hasty"}
    assert found["inattentive"] == ("passed 50 % of the checks, at least 75 % are asked for",)
    assert "took the right in 95 %" in found["right"][0]
    assert "299 ms" in found["hasty"][0]
    assert excluded(trials(), given, Rules(checks=None, one_side=None, median_ms=None)) == {}


def test_a_few_answers_tell_nothing_of_sides():
    given = [Answer(f"m{n}", "new", "left", reaction_ms=50) for n in range(9)]
    assert excluded(trials(), given, Rules()) == {}


def test_results_are_those_of_the_others():
    given = [*answers("a", lefts=0), *answers("b", lefts=20), *answers("c", lefts=10, passed=0)]
    left_out = excluded(trials(), given, Rules(one_side=None))
    assert set(left_out) == {"c"}
    kept = without(given, left_out)
    assert len(kept) == 48
    assert risks(trials(), given)[0].risk == 0.5
    assert risks(trials(), kept) == []  # every trial is a tie of two


def test_rules_are_checked_and_read_back():
    with pytest.raises(InputError, match=r"one_side must lie in 0\.5"):
        Rules(one_side=0.2)
    rules = Rules(checks=0.5, median_ms=None)
    assert Rules.from_dict(rules.as_dict()) == rules
    assert Rules.from_dict({}) == Rules(checks=None, one_side=None, median_ms=None)
