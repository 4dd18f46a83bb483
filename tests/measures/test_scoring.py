"""Scores of several truths, sweeps over thresholds, and refusals in words."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import edgecritic.maps.target as targets
from edgecritic.errors import InputError, UndefinedMeasureWarning, UnknownNameError
from edgecritic.measures import compare, curves, describe, measures, score, score_alone
from edgecritic.measures.scoring import FAMILIES, default_measures

RNG = np.random.default_rng(11)
CANDIDATE, FIRST, SECOND = RNG.random((3, 14, 17)) < 0.2


def test_default_is_every_pixel_measure_by_family():
    found = score(CANDIDATE, FIRST)
    assert list(found) == default_measures()
    ranks = [FAMILIES.index(family) for family in found.families]
    assert ranks == sorted(ranks)
    assert {"fom", "baddeley", "psi", "kappa", "hd95", "boundary_iou"} <= set(found)


def test_all_at_once_equals_one_by_one():
    together = score(CANDIDATE, FIRST, spacing=(1.5, 0.5))
    for name in together:
        assert together[name] == pytest.approx(
            score(CANDIDATE, FIRST, name, spacing=(1.5, 0.5))[name], abs=1e-12
        )


def test_volumes_have_all_the_default_measures():
    volumes = RNG.random((2, 5, 6, 7)) < 0.3
    found = score(*volumes, spacing=(2, 1, 0.5))
    assert np.isfinite(found.annotators).all()
    flipped = score(*volumes[:, ::-1, :, ::-1], spacing=(2, 1, 0.5))
    np.testing.assert_allclose(found.annotators, flipped.annotators, rtol=1e-9)


def test_confusion_counts_add_up():
    first, second = compare(CANDIDATE, FIRST).confusion, compare(CANDIDATE, SECOND).confusion
    total = first + second
    assert total.tp == first.tp + second.tp
    assert total.size == 2 * CANDIDATE.size


def test_two_transforms_serve_all_measures(monkeypatch):
    made = []
    real = targets.distance_map
    monkeypatch.setattr(targets, "distance_map", lambda *args: made.append(1) or real(*args))
    score(CANDIDATE, FIRST)
    assert len(made) == 2


def test_several_truths():
    found = score(CANDIDATE, [FIRST, SECOND], ["fom", "cosine"])
    each = [score(CANDIDATE, truth, ["fom", "cosine"]) for truth in (FIRST, SECOND)]
    assert found.per_annotator == [one.mean for one in each]
    assert found["fom"] == pytest.approx((each[0]["fom"] + each[1]["fom"]) / 2)
    assert found.best["fom"] == max(one["fom"] for one in each)
    assert found.best["cosine"] == max(one["cosine"] for one in each)
    assert "best" in str(found).splitlines()[0]


def test_a_volume_is_one_truth_and_a_list_is_several():
    volume = np.stack([FIRST, SECOND])
    assert len(score(volume, volume, "dice").annotators) == 1
    with pytest.raises(InputError, match="same shape"):
        score(CANDIDATE, volume, "dice")


def test_json_is_valid():
    with pytest.warns(UndefinedMeasureWarning):
        found = score(CANDIDATE, np.zeros_like(FIRST), ["gamma", "hausdorff"])
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))["scores"]["gamma"] == "inf"
    missing = score(np.zeros_like(FIRST), np.zeros_like(FIRST), "gamma", on_degenerate="nan")
    assert missing.as_dict()["scores"] == {"gamma": None}


def test_look_up_by_any_spelling_of_an_id():
    found = score(CANDIDATE, FIRST, "baddeley( k=1 , w=identity)")
    assert found.measures == ("baddeley(k=1)",)
    assert found["baddeley(k=1, w=identity)"] == found["baddeley(k=1)"]
    with pytest.raises(InputError, match="was not computed"):
        _ = found["fom"]


def test_measures_are_functions_of_arrays_too():
    from edgecritic.measures.distances import hausdorff

    assert hausdorff(CANDIDATE, FIRST) == score(CANDIDATE, FIRST, "hausdorff")["hausdorff"]
    assert hausdorff(CANDIDATE, FIRST, spacing=2) == pytest.approx(2 * hausdorff(CANDIDATE, FIRST))


@pytest.mark.parametrize(
    "text",
    [
        "fom(kappa=0)",
        "fom(kappa=2)",
        "f(alpha=1.5)",
        "f(alpha=-0.5)",
        "hausdorff(percent=101)",
        "hausdorff(percent=-0.5)",
        "hausdorff(mode=mean)",
        "dk(k=0)",
        "theta(delta=-1)",
        "theta(k=0)",
        "omega(delta=0)",
        "omega(k=-1)",
        "baddeley(k=0)",
        "sk(k=0)",
        "baddeley(w=square)",
        "baddeley(c=0)",
        "sk(denominator=all)",
        "fom_star(kappa=0)",
        "fom_e(kappa=0)",
        "fom_revisited(kappa=0)",
        "d4(kappa=0)",
        "sfom(kappa=0)",
        "mfom(kappa=0)",
        "dp(kappa=0)",
        "dp(target=truth)",
        "dp(no_tp=maybe)",
        "hd95(percent=-0.5)",
        "hd95(percent=100.5)",
        "hd95(percentile=median)",
        "hd95(surface=meshes)",
        "hd95(weights=area)",
        "hd95(compat=itk)",
        "nsd(tolerance=-0.5)",
        "assd(weights=volume)",
        "boundary_iou(dilation=0)",
        "fom_revisited(beta=-0.5)",
        "pcm(tolerance=0)",
        "fom(kappa=nought)",
    ],
)
def test_bad_parameters(text):
    """They are refused before anything is computed, not because that led nowhere."""
    with pytest.raises(InputError) as refused:
        score(CANDIDATE, FIRST, text)
    assert "floating-point" not in str(refused.value)


@pytest.mark.parametrize(
    ("candidate", "truth", "message"),
    [
        (CANDIDATE, FIRST[:-1], "same shape"),
        (CANDIDATE * 0.3, FIRST, "must be binary"),
        (np.full((3, 3), np.nan), np.eye(3), "NaN"),
        (CANDIDATE, [], "no map"),
        (np.zeros((0, 3)), np.zeros((0, 3)), "no pixels"),
    ],
)
def test_bad_maps(candidate, truth, message):
    with pytest.raises(InputError, match=message):
        score(candidate, truth)


def test_unknown_names_suggest_the_nearest():
    with pytest.raises(UnknownNameError, match="did you mean 'hausdorff'"):
        score(CANDIDATE, FIRST, "hausdorf")
    with pytest.raises(InputError, match="did you mean 'kappa'"):
        score(CANDIDATE, FIRST, "fom(kapa=0.1)")
    with pytest.raises(InputError, match="on_degenerate"):
        compare(CANDIDATE, FIRST, on_degenerate="zero")
    with pytest.raises(InputError, match="empty_distance"):
        compare(CANDIDATE, FIRST, empty_distance=-1)
    with pytest.raises(InputError, match="measures is empty"):
        score(CANDIDATE, FIRST, [])


def test_empty_under_compat():
    nothing = np.zeros_like(FIRST)
    with pytest.warns(UndefinedMeasureWarning):
        assert score(nothing, FIRST, "hd95(compat=deepmind)").mean == {"hd95(compat=deepmind)": math.inf}
    with pytest.warns(UndefinedMeasureWarning):
        assert math.isnan(score(nothing, nothing, "nsd(compat=monai)")["nsd(compat=monai)"])
    with pytest.raises(InputError, match="medpy"):
        score(nothing, FIRST, "assd(compat=medpy)")


def test_descriptions_are_json():
    for entry in measures:
        about = json.loads(json.dumps(describe(entry), allow_nan=False))
        assert about["id"] == entry.name
        assert about["better"] in ("lower", "higher")


STRENGTH = np.where(RNG.random((14, 17)) < 0.4, RNG.random((14, 17)), 0)


def test_sweep_equals_the_plain_loop():
    levels = [0.0, 0.2, 0.21, 0.5, 0.9]
    found = curves(STRENGTH, FIRST, thresholds=levels, spacing=(1, 2))
    for index, level in enumerate(levels):
        candidate = (level <= STRENGTH) & (STRENGTH > 0)
        expected = score(candidate, FIRST, spacing=(1, 2))
        assert found.counts[index] == candidate.sum()
        np.testing.assert_allclose(found.values[index], list(expected.mean.values()), atol=1e-12)


def test_sweep_finds_the_best_threshold():
    strength = np.where(FIRST, 0.7, np.where(SECOND, 0.3, 0))
    best = curves(strength, FIRST, ["performance", "dice", "omega"], thresholds=np.linspace(0, 0.7, 8)).best()
    assert best["performance"] == (pytest.approx(0.4), 1.0)
    assert best["dice"] == (pytest.approx(0.4), 1.0)
    assert best["omega"] == (0.0, 0.0)


def test_sweep_warns_once_of_empty_candidates():
    with pytest.warns(UndefinedMeasureWarning) as caught:
        found = curves(STRENGTH * 0.5, FIRST, ["fom", "hausdorff", "gamma"], thresholds=[0.1, 0.8, 0.9, 1])
    assert len(caught) == 1
    assert found["fom"][-1] == 0


def test_sweep_may_include_measures_without_truth():
    found = curves(STRENGTH, FIRST, ["complexity"], thresholds=[0.3])
    assert found["complexity"][0] == score_alone(STRENGTH >= 0.3, "complexity")["complexity"]


@pytest.mark.parametrize("thresholds", [1, [], [math.nan], [0.5, math.nan], "many"])
def test_bad_thresholds(thresholds):
    with pytest.raises(InputError, match="thresholds"):
        curves(STRENGTH, FIRST, thresholds=thresholds)
