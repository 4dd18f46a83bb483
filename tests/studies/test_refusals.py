"""What studies refuse, and the words of the noise study."""

from __future__ import annotations

import numpy as np
import pytest

from edgecritic.errors import InputError
from edgecritic.studies.cuts import brain_volumes
from edgecritic.studies.matching import join_blocks
from edgecritic.studies.noise import noise
from edgecritic.studies.pairing import scores
from edgecritic.studies.pairs import Comparer

EYE, NOTHING = np.eye(6, dtype=bool), np.zeros((6, 6), dtype=bool)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Comparer((4, 5, 6)), "must be images"),
        (lambda: Comparer((4, 5), [3, 1]), "ascending"),
        (lambda: Comparer((4, 5), [0, 1]), "positive"),
        (lambda: Comparer((4, 5), [1]).prepare(EYE), "expected a map of shape"),
        (lambda: join_blocks([], tolerances=[1], symmetric=True), "no pair"),
        (lambda: brain_volumes("nowhere"), "MNI152"),
    ],
)
def test_refused_in_words(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_figures_of_merit_of_empty_maps():
    assert set(scores(NOTHING, NOTHING).values()) == {1.0}
    assert set(scores(EYE, NOTHING).values()) == {0.0}
    assert set(scores(NOTHING, EYE).values()) == {0.0}


def test_tables_of_the_noise_study():
    told = []
    study = noise(
        detectors=["sobel", "canny"],
        measures=["sk", "f"],
        ratios=[4, 14],
        seeds=1,
        thresholds=11,
        size=(64, 64),
        progress=lambda done, total: told.append((done, total)),
    )
    assert told[-1][0] == told[-1][1] == len(told)
    lines = str(study).splitlines()
    # Measures that sort all maps alike are counted once.
    judges = study.judges
    assert set(judges) <= {"sk", "f"}
    assert lines[0] == f"mean rank over {len(judges)} measures and 1 scene (1 is best)"
    assert lines[1].split() == ["detector", "4", "dB", "14", "dB"]
    # Of two detectors the ranks are 1 and 2, or twice 1.5: every column adds up to 3.
    ranks = np.array([[float(cell) for cell in line.split()[1:]] for line in lines[3:5]])
    np.testing.assert_allclose(ranks.sum(axis=0), 3)
    assert ranks[0].mean() <= ranks[1].mean()
    for name in judges:
        shown = [line.split()[1:] for line in lines if line.split()[:1] == [name]]
        assert list(study.order(name, 4)) in shown
