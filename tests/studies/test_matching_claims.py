"""What the matching study says follows from its numbers, also where they contradict the paper."""

from __future__ import annotations

import numpy as np
import pytest

from edgecritic.report.matching import matching_claims, matching_report
from edgecritic.report.sections import Table
from edgecritic.report.text import report_text
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
    found = {one.what: one for one in matching_claims(analyse(table(noise)))}
    assert found["lowest r, human maps"].agrees is holds
    assert found["largest share of triplets with a margin below -0.03"].agrees is holds
    canny = matching_claims(analyse(table(noise), maps="canny"))
    assert [one.agrees for one in canny] == [holds, holds]


@pytest.mark.parametrize("noise", [0.0005, 0.4])
def test_no_sentence_calls_scores_close(noise):
    text = report_text(matching_report([analyse(table(noise))]))
    assert "close" not in text
    assert ("does not hold" in text) is (noise > 0.1)


def test_percentiles_over_all_and_over_missorted_triplets():
    study = analyse(table(0.1))
    one = study.margins["distance", "exact", 5.0]
    assert 0 < one["missorted"] < one["triplets"]
    assert one["least"] <= one["missorted_percentile_2_5"] < one["percentile_2_5"] <= 0
    tables = {one.name: one for one in matching_report([study]).blocks(Table)}
    rows = [row for row in tables["margins-human"].body if row[:2] == ("distance–exact", 5.0)]
    assert rows[0][4:6] == (one["percentile_2_5"], one["missorted_percentile_2_5"])


def test_strategies_that_always_agree_are_said_to():
    text = report_text(matching_report([analyse(table(0.0))]))
    assert "none is sorted oppositely" in text
