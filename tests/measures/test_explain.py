"""Explanations: every number is one that another part of the package, or plain counting, gives."""

from __future__ import annotations

import numpy as np
import pytest

import edgecritic


@pytest.fixture
def pair():
    """A line found one pixel too low, with a false alarm and a gap."""
    truth = np.zeros((40, 60), bool)
    truth[20, 10:50] = True
    candidate = np.zeros_like(truth)
    candidate[21, 10:40] = True
    candidate[5, 50:55] = True
    return candidate, truth


def test_counts_and_steps(pair):
    found = edgecritic.compare(*pair).explain(tolerance=2)
    assert (found.candidate, found.truth, found.shared) == (35, 40, 0)
    assert (found.hits, found.false_alarms, found.misses) == (30, 5, 10)
    assert found.shift[0] == pytest.approx(-1, abs=0.1)
    assert found.spacing is None


def test_values_are_those_of_score_on_repaired_maps(pair):
    candidate, truth = pair
    found = edgecritic.compare(*pair).explain(tolerance=2)
    matched = edgecritic.match(candidate, truth, tolerance=2)
    repaired = {
        "false alarms": matched.matched_candidate,
        "misses": candidate | (truth & ~matched.matched_truth),
        "displacement": (candidate & ~matched.matched_candidate) | matched.matched_truth,
    }
    for one in found.punished:
        name = {"nsd": "nsd(tolerance=2)", "f(strategy=exact)": "f(strategy=exact(tolerance=2))"}.get(
            one.measure, one.measure
        )
        assert one.value == edgecritic.score(candidate, truth, name)[name]
        for what, map_ in repaired.items():
            assert one.repaired[what] == edgecritic.score(map_, truth, name)[name]


def test_each_family_punishes_its_own(pair):
    most = {one.measure: one.most for one in edgecritic.compare(*pair).explain(tolerance=2).punished}
    assert most["jaccard"] == "displacement"  # nothing overlaps
    assert most["hausdorff"] == "false alarms"  # the far speck decides
    assert most["f(strategy=exact)"] == "misses"  # a shift of one pixel is within the tolerance


def test_the_words(pair):
    text = str(edgecritic.compare(*pair).explain(tolerance=2))
    assert "The candidate has 35 pixels and the truth 40." in text
    assert "most lie aside in one direction" in text
    assert "hausdorff ↓" in text
    assert max(map(len, text.splitlines())) <= 110
    nothing = np.zeros((9, 9), bool)
    line = np.eye(9, dtype=bool)
    assert str(edgecritic.compare(nothing, line).explain()).startswith("The candidate is empty")
    assert str(edgecritic.compare(line, nothing).explain()).startswith("The truth is empty")
    assert str(edgecritic.compare(nothing, nothing).explain()).startswith("Both maps are empty")
    same = edgecritic.compare(line, line).explain()
    assert "all lie where they should" in str(same)
    assert {one.most for one in same.punished} == {""}


def test_the_numbers_in_the_words():
    """6 of 12 candidate pixels are truth, 3 more lie one column beside it, 3 are far."""
    truth = np.zeros((30, 40), bool)
    truth[:24, 10] = True
    candidate = np.zeros_like(truth)
    candidate[:6, 10] = candidate[6:9, 11] = candidate[:3, 30] = True
    lines = str(edgecritic.compare(candidate, truth).explain(tolerance=1)).splitlines()
    assert lines[:4] == [
        "The candidate has 12 pixels and the truth 24.",
        "6 are in both: 50% of the candidate, 25% of the truth.",
        "9 pixels find a partner of their own within 1 px.",
        "3 false alarms and 15 misses remain.",
    ]
    assert lines[4].startswith(f"Partners are {3 / 9:.2f} px apart on average; most lie aside in one")
    assert (
        lines[5] == f"The mean step from candidate to truth is (+0.00, {-3 / 9:+.2f}) px along row, column."
    )
    candidate[6:9] = False
    candidate[6:8, 11] = candidate[8:10, 9] = True
    assert "they lie aside to and fro" in str(edgecritic.compare(candidate, truth).explain(tolerance=1))


def test_volumes_in_millimetres():
    box = np.zeros((6, 14, 14), bool)
    box[1:5, 3:9, 3:9] = True
    found = edgecritic.compare(np.roll(box, 1, axis=2), box, spacing=(3, 1, 1)).explain(tolerance=1)
    assert found.spacing == (3.0, 1.0, 1.0)
    assert len(found.shift) == 3
    assert "plane, row, column" in str(found)


def test_notebooks_show_comparisons(pair):
    pytest.importorskip("matplotlib")
    comparison = edgecritic.compare(*pair)
    assert "data:image/png;base64," in comparison._repr_html_()
    assert comparison.plot(tolerance=2).get_title().endswith("misses")
