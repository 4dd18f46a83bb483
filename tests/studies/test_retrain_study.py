"""The retraining study: labels weighted by strength, the learning curve, Fig. 7, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgecritic.annotators import output_strength, pool_output_strength, strength
from edgecritic.datasets.synthetic import write
from edgecritic.detectors import detect
from edgecritic.errors import InputError
from edgecritic.protocols.bootstrap import Difference
from edgecritic.report.retrain import retrain_report
from edgecritic.run.fit import NEAR, Labels, fit_folder, photo_cases
from edgecritic.run.images import load_image
from edgecritic.run.retrain import _sizes, run_retrain
from edgecritic.studies.retrain import change, claim_of_no_gain, verdict

SCHEMES = tuple(map(Labels.parse, ("all", "consensus", "weighted")))


def test_the_whole_study_on_few_photos(tmp_path: Path) -> None:
    home = write(tmp_path / "data", 4)
    where = {"photos": home / "images", "split": None, "on": None, "cache": False, "jobs": 1}
    found = run_retrain(home / "truth", tmp_path, schemes=SCHEMES, curve=[1], draws=20, **where)  # type: ignore[arg-type]
    study = found.study
    assert not found.failures
    assert study.trained == ("all", "consensus", "weighted by strength")
    assert (study.photos, study.images) == (2, 2)
    # The last point of the curve is the study's own model, the first that of one photo alone.
    points = {(one.photos, one.trained, one.judged): one.ods for one in study.curve}
    assert len(points) == 8
    for trained in ("all", "consensus"):
        for judged in ("all", "consensus"):
            assert points[2, trained, judged] == study.result(trained, "colour", judged).ods.f
    # Fig. 7 by the functions of the annotators' room, on maps of the detector that anybody can run.
    cases = photo_cases(home / "images", home / "truth")[2:]
    for name in ("all", "consensus"):
        parts = []
        for case in cases:
            maps = detect(
                load_image(case.image, grey=False)[0], f"pb(model='{tmp_path / 'models' / name}.json')"
            )
            own = strength(case.load_truths(), relative_tolerance=NEAR)
            parts.append(output_strength(maps.thin, own))
        np.testing.assert_array_equal(study.outputs[name].counts, pool_output_strength(parts).counts)
    told = " ".join(study.findings())
    assert "weighting labels by their strength changes ODS by" in told
    assert "Spearman's ρ" in told
    assert f"{points[1, 'all', 'all']:.4f} from 1, {points[2, 'all', 'all']:.4f} from 2 photos" in told
    names = [block.name for section in retrain_report(found).sections for block in section.blocks]  # type: ignore[union-attr]
    assert names == ["figure8", "figure7", "learning", "paper", "scores", "weights", "curve"]
    claims = study.claims()
    assert [one.source.split(", “")[0] for one in claims] == ["Sec. 5.1, Fig. 8"] * 2 + ["Fig. 7"] * 2
    assert all(one.ours for one in claims)
    without = run_retrain(home / "truth", tmp_path, schemes=SCHEMES, curve=[], draws=0, **where)  # type: ignore[arg-type]
    assert without.study.curve == ()


def test_sizes_of_the_learning_curve() -> None:
    assert _sizes(200, None) == [25, 50, 100]
    assert _sizes(3, None) == [1]
    assert _sizes(8, [4, 2, 8, 99, 2]) == [2, 4]
    assert _sizes(8, []) == []
    with pytest.raises(InputError, match="from 1 on"):
        _sizes(8, [0])


def test_what_is_said_follows_from_the_numbers() -> None:
    assert "does not hold" in verdict(0.02, 0.01, 0.03)
    assert "less than 0.005" in verdict(0.002, 0.001, 0.003)
    assert "loses" in verdict(-0.02, -0.03, -0.01)
    assert "no gain of practical use" in verdict(-0.001, -0.004, 0.002)
    assert "up to 0.04 is not ruled out" in verdict(0.01, -0.02, 0.04)
    assert change(-0.02, -0.03, -0.01) == "a loss"


@pytest.mark.parametrize(
    ("estimate", "low", "high", "agrees", "words"),
    [
        (0.02, 0.01, 0.03, False, "does not hold here"),
        (0.002, 0.001, 0.003, True, "holds in practice"),
        (-0.02, -0.03, -0.01, True, "loses"),
        (0.01, -0.02, 0.04, True, "not refuted"),
    ],
)
def test_the_claim_follows_from_the_numbers(
    estimate: float, low: float, high: float, agrees: bool, words: str
) -> None:
    """Also where they contradict the paper."""
    told = claim_of_no_gain("colour", Difference(estimate=estimate, low=low, high=high, p_value=0.01))
    assert told.agrees is agrees
    assert words in told.verdict
    assert told.ours == f"{estimate:+.4f} [{low:+.4f}, {high:+.4f}]"
    assert claim_of_no_gain("colour", None).agrees is None


def test_labels_of_all_are_learned_from_as_by_fit(tmp_path: Path) -> None:
    """A model is the same beside others; labels that weigh less are less likely."""
    home = write(tmp_path / "data", 2)
    both = fit_folder(home / "images", home / "truth", labels=SCHEMES, cache=False, jobs=1).models
    assert (
        both["all"].digest
        == fit_folder(home / "images", home / "truth", cache=False, jobs=1).models["all"].digest
    )
    betas = [
        both[name].parameters["weights"]["brightness"]["beta"][0] for name in ("weighted by strength", "all")
    ]
    assert betas[0] < betas[1]
