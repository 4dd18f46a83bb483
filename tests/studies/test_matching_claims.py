"""What the matching study says follows from its numbers, also where they contradict the paper."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from edgecritic.report.matching import matching_report
from edgecritic.report.matching_claims import matching_claims
from edgecritic.report.sections import Table
from edgecritic.report.text import report_text
from edgecritic.studies import matching
from edgecritic.studies.matching import ScoreTable, analyse
from edgecritic.studies.pairs import STRATEGIES, TOLERANCES


def table(noise: float, *, maps: int = 12) -> ScoreTable:
    """Return F of maps of two images: alike under all strategies but for noise of this size."""
    rng = np.random.default_rng(3)
    shape = (len(STRATEGIES), len(TOLERANCES), maps, maps)
    f = np.clip(rng.uniform(0.2, 0.8, shape[1:])[None] + noise * rng.uniform(-1, 1, shape), 0, 1)
    f[:, :, np.arange(maps), np.arange(maps)] = np.nan
    images = tuple("ab"[number % 2] for number in range(maps))
    names = tuple(f"{image}#{number}" for number, image in enumerate(images))
    return ScoreTable(
        f=f,
        reference_images=images,
        candidate_images=images,
        reference_names=names,
        candidate_names=names,
        tolerances=TOLERANCES,
        symmetric=True,
    )


@pytest.mark.parametrize(("noise", "holds"), [(0.0005, True), (0.4, False)])
def test_claims_follow_from_the_numbers(noise, holds):
    found = {one.what: one for one in matching_claims([analyse(table(noise))])}
    assert found["lowest r, human maps"].agrees is holds
    assert found["lowest ESR, human maps"].agrees is holds
    canny = {one.what: one for one in matching_claims([analyse(table(noise), maps="canny")])}
    assert canny["lowest r, human against Canny maps"].agrees is holds
    assert canny["lowest ESR, human against Canny maps"].agrees is holds
    assert canny["largest share of triplets with a margin below -0.03"].agrees is holds


@pytest.mark.parametrize("turn", [1, -1])
def test_orders_of_tolerances_follow_from_the_numbers(turn):
    """Noise that grows with the tolerance is what the survey saw; noise that shrinks contradicts it."""
    found = table(0.0, maps=24)
    noise = np.random.default_rng(5).uniform(-1, 1, found.f.shape)
    f = found.f + noise * np.array([0.01, 0.04, 0.15])[::turn].reshape(1, 3, 1, 1)
    study = analyse(replace(found, f=f), maps="human")
    claims = {one.what: one for one in matching_claims([study])}
    assert claims["mean r over the tolerance, human maps"].agrees is (turn == 1)
    assert claims["mean ESR over the tolerance, human maps"].agrees is (turn == 1)
    canny = {one.what: one for one in matching_claims([analyse(replace(found, f=f), maps="canny")])}
    assert canny["median size of the margins of missorted triplets, within images"].agrees is (turn == 1)


def test_margins_across_images_are_those_of_listing():
    found = table(0.1, maps=6)
    study = analyse(found)
    one, two = (found.f[STRATEGIES.index(name), 1] for name in ("distance", "exact"))
    images = found.reference_images
    for kind in ("intra", "inter"):
        listed = [
            np.sign(product) * np.sqrt(abs(product))
            for a in range(6)
            for b, c in combinations([b for b in range(6) if b != a], 2)
            if (len({images[a], images[b], images[c]}) == 1) == (kind == "intra")
            for product in [(one[a, b] - one[a, c]) * (two[a, b] - two[a, c])]
        ]
        told = study.margins["distance", "exact", 5.0, kind]
        assert told["triplets"] == len(listed)
        assert told["missorted"] == sum(margin < 0 for margin in listed)
        assert told["least"] == pytest.approx(min(listed))
        assert told["percentile_2_5"] == pytest.approx(np.percentile(listed, 2.5))


def test_margins_that_are_drawn_are_near_all_of_them(monkeypatch):
    found = table(0.1, maps=40)
    whole = analyse(found).margins["area", "exact", 5.0, "inter"]
    monkeypatch.setattr(matching, "MOST_MARGINS", 5000)
    part = analyse(found).margins["area", "exact", 5.0, "inter"]
    assert part["triplets"] == pytest.approx(5000, rel=0.3)
    assert part["percentile_2_5"] == pytest.approx(whole["percentile_2_5"], abs=0.01)
    assert analyse(found).margins["area", "exact", 5.0, "inter"] == part


@pytest.mark.parametrize("noise", [0.0005, 0.4])
def test_no_sentence_calls_scores_close(noise):
    text = report_text(matching_report([analyse(table(noise))]))
    assert "close" not in text
    assert ("does not hold" in text) is (noise > 0.1)


def test_percentiles_over_all_and_over_missorted_triplets():
    study = analyse(table(0.1))
    one = study.margins["distance", "exact", 5.0, "intra"]
    assert 0 < one["missorted"] < one["triplets"]
    assert one["least"] <= one["missorted_percentile_2_5"] < one["percentile_2_5"] <= 0
    tables = {one.name: one for one in matching_report([study]).blocks(Table)}
    rows = [row for row in tables["margins-human"].body if row[:3] == ("distance–exact", "intra", 5.0)]
    assert rows[0][5:7] == (one["percentile_2_5"], one["missorted_percentile_2_5"])


def test_strategies_that_always_agree_are_said_to():
    text = report_text(matching_report([analyse(table(0.0))]))
    assert "none is sorted oppositely" in text
