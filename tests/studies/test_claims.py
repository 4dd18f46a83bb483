"""Verdicts follow from the numbers."""

from __future__ import annotations

import math

import pytest

from edgecritic.errors import InputError
from edgecritic.report.claims import claims_table
from edgecritic.studies.claims import claim, claim_of_order, count_claims


@pytest.mark.parametrize(
    ("paper", "ours", "agrees"),
    [
        (".049", 0.0494, True),
        (".049", 0.0485, True),
        (".049", 0.04949, True),
        (".049", 0.0496, False),
        ("−.094", -0.0944, True),
        ("−.094", -0.088, False),
        ("−.094", 0.094, False),
        ("12", 12.4, True),
        ("12", 13, False),
        ("> .95", 0.9501, True),
        ("> .95", 0.95, False),
        ("≥ .95", 0.95, True),
        ("≤ 3", 3, True),
        ("< 3", 3, False),
        (".90 to .95", 0.954, True),
        (".90 to .95", 0.894, False),
        ("−28.7 %", -0.2873, True),
        ("−28.7 %", -0.291, False),
    ],
)
def test_a_number_is_compared_to_the_printed_digits(paper: str, ours: float, agrees: bool) -> None:
    found = claim("x", paper, ours, source="Fig. 1")
    assert found.agrees is agrees
    assert ("agrees" in found.verdict or "holds" in found.verdict) is agrees


def test_a_difference_says_which_way_and_how_far() -> None:
    assert claim("x", "−.094", -0.088, source="").verdict == "differs, here higher by 0.0060"
    assert claim("x", "> .95", 0.9, source="").verdict == "does not hold, here lower by 0.050"
    assert claim("x", "> .95", 0.95, source="").verdict == "does not hold, here equal"
    assert claim("x", ".90 to .95", 0.99, source="").verdict == "differs, here higher by 0.040"
    assert claim("x", "−9 %", -0.044, source="").verdict == "differs, here higher by 4.6"


def test_a_reason_is_given_for_differences_only() -> None:
    assert "other maps" not in claim("x", "> .9", 0.95, source="", why="other maps").verdict
    assert claim("x", "> .9", 0.8, source="", why="other maps").verdict.endswith("(other maps)")


@pytest.mark.parametrize("nothing", [None, math.nan])
def test_what_was_not_measured_has_no_verdict(nothing: float | None) -> None:
    found = claim("x", "> .9", nothing, source="")
    assert found.agrees is None
    assert found.ours == ""
    assert "not measured" in found.verdict
    assert claim_of_order("x", ["a", "b"], {"a": 1.0, "b": nothing}, source="").agrees is None


def test_orders_are_compared_pair_by_pair() -> None:
    assert claim_of_order("x", ["a", "b", "c"], {"a": 3, "b": 2, "c": 2}, source="").agrees
    wrong = claim_of_order("x", ["a", "b", "c"], {"a": 3, "b": 1, "c": 2}, source="")
    assert not wrong.agrees
    assert wrong.verdict == "another order: a > c > b"


@pytest.mark.parametrize("text", ["", "much", "> much", "1 to", "1, 2", "1 2"])
def test_a_claim_without_a_number_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="a claim is a number"):
        claim("x", text, 1.0, source="")


def test_the_sentence_counts() -> None:
    good, bad = claim("x", "1", 1.0, source=""), claim("x", "1", 2.0, source="")
    assert "3 agree and 1 differs." in count_claims([good, good, good, bad])
    assert "1 agrees and 2 differ" in count_claims([good, bad, bad])
    assert "none" in count_claims([claim("x", "1", None, source="")])


def test_the_table_has_a_row_for_each() -> None:
    table = claims_table([claim("x", "1", 2.0, source="p. 3"), claim("y", "1", None, source="")], paper="P")
    assert [row["verdict"] for row in table.rows()] == ["differs, here higher by 1.0", "not measured here"]
    assert table.rows()[0]["source"] == "p. 3"
    assert table.rows()[1]["here"] is None
