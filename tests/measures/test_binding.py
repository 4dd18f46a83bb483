"""A strategy and a tolerance that are given once, for all measures; what is given in place of ids."""

from __future__ import annotations

import numpy as np
import pytest

import edgecritic
from edgecritic import match, score, tune
from edgecritic.errors import EdgeCriticError, InputError
from edgecritic.measures import curves, measures
from edgecritic.measures.scoring import default_measures

pytestmark = pytest.mark.kernels

RNG = np.random.default_rng(3)
CANDIDATE, TRUTH = RNG.random((2, 30, 40)) < 0.1
NOTHING = np.zeros_like(TRUTH)


@pytest.mark.filterwarnings("ignore::edgecritic.errors.UndefinedMeasureWarning")
@pytest.mark.parametrize("strategy", ["exact", "eps", "distance", "hungarian(tolerance=2)"])
def test_f_is_the_f_of_match(strategy):
    for candidate in (CANDIDATE, NOTHING):
        for truth in (TRUTH, NOTHING):
            text = f"f(strategy={strategy})"
            assert score(candidate, truth, text)[text] == match(candidate, truth, strategy=strategy).f()


def test_given_once_means_given_to_all():
    found = score(CANDIDATE, TRUTH, ["f", "fom", "nsd", "sk"], strategy="exact", tolerance=3)
    full = ["f(strategy=exact(tolerance=3))", "fom(strategy=exact(tolerance=3))", "nsd(tolerance=3)", "sk"]
    assert found == score(CANDIDATE, TRUTH, full)
    assert list(found) == full
    assert found[full[0]] == match(CANDIDATE, TRUTH, tolerance=3).f()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("precision(strategy=eps)", "precision(strategy=eps)"),
        ("precision(strategy=distance)", "precision(strategy=distance(tolerance=2.5))"),
        ("precision(strategy=exact(tolerance=1))", "precision(strategy=exact(tolerance=1))"),
        (
            "precision(strategy=exact(relative_tolerance=0.01))",
            "precision(strategy=exact(relative_tolerance=0.01))",
        ),
        ("precision(strategy=exact(window=5))", "precision(strategy=exact(window=5))"),
        ("precision(strategy=None)", "precision"),
        ("nsd(tolerance=4)", "nsd(tolerance=4)"),
        ("pcm", "pcm(tolerance=2.5, strategy=hungarian)"),
        ("hausdorff", "hausdorff"),
    ],
)
def test_what_an_id_names_stays(given, expected):
    found = score(CANDIDATE, TRUTH, [given, "recall"], strategy="hungarian", tolerance=np.float64(2.5))
    assert list(found) == [expected, "recall(strategy=hungarian(tolerance=2.5))"]


def test_all_measures_and_one_strategy():
    found = score(CANDIDATE, TRUTH, strategy="eps(window=5)")
    able = [name for name in default_measures() if "strategy" in measures.get(name).parameters]
    assert {"f", "dice", "fom", "precision", "recall"} <= set(able)
    assert [name for name in found if "(" in name] == [f"{name}(strategy=eps(window=5))" for name in able]


def test_curves_and_tuning_take_them_too():
    options = {"strategy": "exact", "tolerance": 2, "thresholds": [0.2, 0.5]}
    strength = np.where(CANDIDATE, 0.6, 0.0)
    found = curves(strength, TRUTH, "recall", **options)
    tuned = tune(strength, TRUTH, detectors=["sobel"], measures="recall", **options)
    assert found.measures == tuned.measures == ("recall(strategy=exact(tolerance=2))",)
    assert found.values[0, 0] == match(CANDIDATE, TRUTH, tolerance=2).recall


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"strategy": "exact"}, "strategy is used by none of the measures hausdorff, sk"),
        ({"tolerance": 2}, "tolerance is used by none of the measures hausdorff, sk"),
        ({"tolerance": -1}, "tolerance must be a finite number"),
        ({"tolerance": TRUTH}, r"tolerance must be a number, got an array of shape \(30, 40\)"),
        ({"strategy": TRUTH}, r"an array of shape \(30, 40\)"),
    ],
)
def test_what_nobody_uses_is_refused(options, told):
    with pytest.raises(InputError, match=told):
        score(CANDIDATE, TRUTH, ["hausdorff", "sk"], **options)
    with pytest.raises(InputError, match="used by none"):
        score(CANDIDATE, TRUTH, "f(strategy=eps)", tolerance=2)


@pytest.mark.parametrize(
    "call",
    [
        lambda: edgecritic.detect("canny", TRUTH),
        lambda: edgecritic.detect(np.hypot, TRUTH),
        lambda: edgecritic.detect(TRUTH, TRUTH),
        lambda: edgecritic.score(CANDIDATE, TRUTH, TRUTH),
        lambda: edgecritic.score_alone(CANDIDATE, TRUTH),
        lambda: edgecritic.match(CANDIDATE, TRUTH, strategy=TRUTH),
        lambda: edgecritic.tune(CANDIDATE * 1.0, TRUTH, detectors=TRUTH),
        lambda: edgecritic.suppress(CANDIDATE * 1.0, TRUTH),
        lambda: edgecritic.get_protocol(TRUTH),
        lambda: edgecritic.available(TRUTH),
    ],
)
def test_arrays_in_place_of_ids_are_refused_in_one_short_line(call):
    with pytest.raises(EdgeCriticError) as refused:
        call()
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 120
    assert "array of shape" in str(refused.value) or "the image comes first" in str(refused.value)
