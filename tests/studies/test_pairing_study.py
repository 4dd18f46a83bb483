"""The pairing study against printed values and its bars."""

from __future__ import annotations

import numpy as np
import pytest

from edgecritic.matching import match
from edgecritic.studies.pairing import (
    SIDES,
    accuracy,
    accuracy_of_samples,
    brain_samples,
    scores,
    synthetic_samples,
    time_pairing,
)


def test_worked_example(worked_example):
    found = scores(*worked_example)
    assert found["eps"] == pytest.approx(0.7125)
    assert found["hungarian"] == pytest.approx(0.7125)
    assert found["fom"] == pytest.approx(0.771711, abs=5e-7)


def test_printed_values_of_pratt():
    line = np.zeros((7, 13), bool)
    line[3, 1:12] = True
    shifted = np.roll(line, 1, axis=0)
    half = line.copy()
    half[3, 2:12:2], half[4, 2:12:2] = False, True
    assert scores(shifted, line)["fom"] == pytest.approx(0.9)
    assert scores(half, line)["fom"] == pytest.approx(0.9545, abs=5e-5)
    assert scores(half, line)["eps"] == pytest.approx(0.9545, abs=5e-5)


def order_at_the_smallest(found):
    r = dict(zip(found.methods, found.pearson[0], strict=True))
    assert r["eps"] > r["closest"] > r["fom"]
    place = found.methods.index("eps")
    assert min(row[place] for row in found.pearson) >= 0.98


def test_bars_on_synthetic_samples():
    tables = {side: accuracy_of_samples(synthetic_samples(side, 80)) for side in (11, 19, 29)}
    order_at_the_smallest(accuracy("synthetic", tables))


def test_bars_on_brain_slices(data):
    cut = brain_samples(data / "mni152", SIDES[::3], 80)
    assert all(candidate.shape == (side, side) for side, rows in cut.items() for candidate, _ in rows)
    assert all(truth[side // 2, side // 2] for side, rows in cut.items() for _, truth in rows)
    order_at_the_smallest(accuracy("mni152", {side: accuracy_of_samples(rows) for side, rows in cut.items()}))


@pytest.mark.parametrize("ndim", [2, 3])
def test_timed_sets_have_a_full_pairing(ndim):
    from edgecritic.studies.pairing import _point_sets

    candidate, truth = _point_sets(ndim, 200, 0)
    found = match(candidate, truth, strategy="exact(window=5)")
    assert candidate.sum() == truth.sum() == found.tp == 200
    assert [one.method for one in time_pairing(ndim, 100, ["eps", "fom"], repeats=1)] == ["eps", "fom"]
