"""The worked examples of the papers' formulas, to six digits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from edgecritic.errors import UnknownNameError
from edgecritic.matching import strategies
from edgecritic.measures import compare, measures, score, score_alone
from edgecritic.measures.distances import baddeley

TRUTH = np.zeros((10, 12), dtype=bool)
TRUTH[4, 2:10] = True
CANDIDATE = np.zeros_like(TRUTH)
CANDIDATE[4, 2:5] = CANDIDATE[5, 5:8] = CANDIDATE[1, 10] = True

VALUES = {
    "performance_star": 0.75,
    "phi_star": 0.638393,
    "chi2_star": 0.869604,
    "f_star": 0.6,
    "fom_star": 0.228289,
    "fom_e": 0.206579,
    "fom_revisited": 0.403247,
    "d4": 0.520424,
    "d4(literal=True)": 0.561146,
    "sfom": 0.166580,
    "mfom": 0.228289,
    "dp": 0.146376,
    "dp(target=detected)": 0.056124,
    "yasnoff": 3.004626,
    "hausdorff": 3.162278,
    "hausdorff(percent=5)": 3.162278,
    "dk": 0.880325,
    "dk(k=2)": 0.515079,
    "f2d6": 0.880325,
    "theta": 1.540569,
    "omega": 1.330056,
    "baddeley": 0.955984,
    "baddeley(c=5)": 0.955620,
    "sk": 1.067713,
    "sk(denominator=sum)": 0.854171,
    "sk(k=2)": 1.384437,
    "sk(k=2, denominator=sum)": 1.238278,
    "gamma": 0.507031,
    "psi": 0.674414,
    "cosine": 0.400892,
    "fom": 0.771711,
}
STARRED = [name for name in VALUES if name.endswith("_star")]


def test_confusion_counts():
    counts = compare(CANDIDATE, TRUTH).confusion
    assert (counts.tp, counts.fp, counts.fn, counts.tn) == (3, 4, 5, 108)


@pytest.mark.parametrize(("name", "value"), VALUES.items())
def test_worked_example(name, value):
    assert score(CANDIDATE, TRUTH, name)[name] == pytest.approx(value, abs=6e-7)


@pytest.mark.parametrize("name", STARRED)
def test_a_star_is_the_complement_of_a_similarity(name):
    plain = name.removesuffix("_star")
    assert score(CANDIDATE, TRUTH, plain)[plain] == pytest.approx(1 - VALUES[name], abs=6e-7)
    assert score(TRUTH, TRUTH, [plain, name]).mean == {plain: 1, name: 0}


def test_fom_with_exchanged_roles():
    assert score(TRUTH, CANDIDATE, "fom_star")["fom_star"] == pytest.approx(0.104870, abs=6e-7)


@pytest.mark.parametrize("strategy", ["eps(window=5)", "hungarian(window=5)"])
def test_one_to_one_merit(strategy):
    try:
        strategies.bind(strategy)
    except UnknownNameError:
        pytest.skip(f"no strategy {strategy}")
    found = score(CANDIDATE, TRUTH, ["fom", "fom_star"], strategy=strategy)
    assert found[f"fom(strategy={strategy})"] == pytest.approx(0.7125, abs=1e-12)
    assert found[f"fom_star(strategy={strategy})"] == pytest.approx(0.2875, abs=1e-12)


def test_pratt_on_shifted_edges():
    truth = np.zeros((5, 11), dtype=bool)
    truth[2] = True
    assert measures.bind("fom")(np.roll(truth, 1, axis=0), truth) == pytest.approx(0.9, abs=1e-12)
    zigzag = np.zeros_like(truth)
    zigzag[2, ::2] = zigzag[3, 1::2] = True
    assert measures.bind("fom")(zigzag, truth) == pytest.approx(0.9545, abs=5e-5)


def horizontal(rows):
    mask = np.zeros((21, 21), dtype=bool)
    mask[rows] = True
    return mask


POINT = np.zeros((21, 21), dtype=bool)
POINT[10, 10] = True
ALONE = [
    (horizontal(10), "equilibrium(border=valid)", 1.0),
    (horizontal(10), "equilibrium", 0.9549),
    (horizontal(10), "entropy", 0.4881),
    (horizontal([10, 11]), "equilibrium(border=valid)", 0.7071),
    (horizontal([9, 10, 11]), "equilibrium(border=valid)", 0.5774),
    (np.ones((21, 21), dtype=bool), "equilibrium(border=valid)", 0.3780),
    (np.ones((21, 21), dtype=bool), "entropy", 0.9529),
    (POINT, "equilibrium", 0.3780),
    (POINT, "entropy", 0.25),
    (np.eye(21, dtype=bool), "equilibrium(border=valid)", 1.0),
    (np.eye(21, dtype=bool), "entropy", 0.7262),
]


@pytest.mark.parametrize(("mask", "name", "value"), ALONE)
def test_without_truth(mask, name, value):
    assert score_alone(mask, name)[name] == pytest.approx(value, abs=6e-5)


def test_complexity_is_the_product():
    found = score_alone(np.eye(21, dtype=bool))
    assert found["complexity"] == pytest.approx(found["equilibrium"] * found["entropy"], abs=1e-15)


def test_hausdorff_rank():
    # 20 candidate pixels in the row of distances 1 … 20: 5 % leaves out the largest only.
    truth = np.zeros((1, 40), dtype=bool)
    truth[0, 0] = True
    candidate = np.zeros_like(truth)
    candidate[0, 1:21] = True
    found = compare(candidate, truth)
    assert measures.bind("hausdorff(percent=5)")(found) == 19
    assert measures.bind("hausdorff(percent=95)")(found) == 1
    assert measures.bind("hausdorff(percent=100)")(found) == 1
    assert measures.bind("hausdorff(percent=10, mode=tail_mean)")(found) == 19.5


def test_baddeley_of_infinite_power_is_hausdorff():
    assert baddeley(CANDIDATE, TRUTH, k=math.inf) == pytest.approx(math.sqrt(10), abs=1e-12)
