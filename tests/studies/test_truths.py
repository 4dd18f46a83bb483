"""The study of truths: values against `tune`, counts against the maps, claims that follow from numbers."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from edgecritic.cli.main import main
from edgecritic.datasets.synthetic import scene
from edgecritic.detectors import detect
from edgecritic.detectors.thresholds import automatic_threshold, otsu
from edgecritic.errors import InputError
from edgecritic.studies.truths import TABLE_4, TruthsStudy, judge_truths, published
from edgecritic.tuning.tune import tune

DETECTORS = ("sobel", "canny(sigma=1)", "half_gaussian")
MEASURES = ("phi_star", "d4", "dp", "baddeley", "sk", "psi", "omega", "yasnoff", "fom_star")


@pytest.fixture(scope="module")
def drawn():
    return scene(seed=3, size=(60, 80))


@pytest.fixture(scope="module")
def study(drawn):
    truths = [np.roll(drawn.truth, 2, axis=1), drawn.truth]
    one = judge_truths("a", drawn.image, truths, detectors=DETECTORS, measures=MEASURES)
    return TruthsStudy(
        detectors=DETECTORS, measures=MEASURES, better=("lower",) * len(MEASURES), images=(one,), editor="me"
    )


def test_best_values_are_those_of_tune_and_counts_those_of_the_maps(drawn, study):
    found = tune(drawn.image, drawn.truth, detectors=list(DETECTORS), measures=list(MEASURES))
    one = study.images[0]
    for d, detector in enumerate(found.detectors):
        for m, measure in enumerate(found.measures):
            best = found.best(detector, measure)
            assert one.values[1, d, m] == pytest.approx(best.value, rel=1e-12)
            assert one.thresholds[1, d, m] == pytest.approx(best.threshold)
            edges = found.best_map(detector, measure)
            assert one.false_alarms[1, d, m] == np.count_nonzero(edges & ~drawn.truth)
            assert one.misses[1, d, m] == np.count_nonzero(drawn.truth & ~edges)


def test_fixed_and_automatic_thresholds(drawn, study):
    from edgecritic.measures import score

    one = study.images[0]
    found = detect(drawn.image, "sobel")
    assert one.levels[:3, 0].tolist() == [0.1, 0.2, 0.3]
    assert one.levels[4, 0] == otsu(found.strength)
    shifted = np.roll(drawn.truth, 2, axis=1)
    for number, level in enumerate(one.levels[:, 0]):
        values = score(found.binary(float(level)), shifted, list(MEASURES))
        assert one.fixed[number, 0] == pytest.approx(list(values.values()), rel=1e-9)


def test_otsu_is_that_of_scikit_image():
    filters = pytest.importorskip("skimage.filters")
    rng = np.random.default_rng(0)
    for _ in range(5):
        values = np.clip(np.concatenate([rng.normal(0.2, 0.1, 900), rng.normal(0.7, 0.1, 300)]), 0, 1)
        assert otsu(values[None]) == pytest.approx(filters.threshold_otsu(values, nbins=256))
    assert otsu(np.full((3, 3), 0.25)) == 0.25
    with pytest.raises(InputError, match="rosin, otsu"):
        automatic_threshold([[0.1, 0.2]], "triangle")


def test_detect_cuts_at_an_automatic_threshold(drawn, tmp_path, capsys):
    from edgecritic.datasets.files import read_mask
    from edgecritic.datasets.write import write_map

    write_map(tmp_path / "a.png", drawn.image)
    found = detect(drawn.image, "sobel")
    for rule in ("rosin", "otsu"):
        out = ["--threshold", rule, "--out", str(tmp_path / rule), "-q"]
        assert main(["detect", "sobel", str(tmp_path / "a.png"), *out]) == 0
        expected = found.binary(automatic_threshold(found.strength, rule))
        assert np.array_equal(read_mask(tmp_path / rule / "a.png"), expected)
    capsys.readouterr()


def test_claims_are_contradicted_where_the_numbers_do(study):
    good = {one.what: one for one in published(study)}
    assert good["psi: mean best value by either truth"].agrees
    one = study.images[0]
    turned = replace(
        one,
        values=one.values[::-1],
        false_alarms=-one.false_alarms,
        misses=one.misses[::-1],
        pixels=one.pixels,
    )
    bad = {one.what: one for one in published(replace(study, images=(turned,)))}
    assert bad["psi: mean best value by either truth"].agrees is False
    assert bad["false alarms of the best maps, phi_star and Ψ"].agrees is not (
        good["false alarms of the best maps, phi_star and Ψ"].agrees
    )
    assert bad["share that the best maps of Ψ miss"].agrees is False
    assert good["Φ*, χ²*, P_m*, F*, d4: how many put Sobel first"].agrees is None  # χ²* was not computed


def test_table_4_is_consistent_with_itself():
    """F* and P_m* of one map belong together: P = 2F/(1 + F)."""
    for f, p in zip(*(TABLE_4[name] for name in ("f_star", "performance_star")), strict=True):
        assert 2 * np.array(f) / (1 + np.array(f)) == pytest.approx(p, abs=1.5e-3)
    assert all(min(hand) > min(own) for hand, own in TABLE_4.values())


def test_the_command_keeps_its_work(tmp_path, capsys):
    base = [
        "study",
        "truths",
        "-q",
        "--most",
        "1",
        "-d",
        "sobel",
        "central",
        "-m",
        "psi",
        "sk",
        "-o",
        str(tmp_path),
    ]
    assert main([*base, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert {row["truth"] for row in first["best"]} == {"hand-made", "semi-automatic"}
    assert main([*base, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == first
    assert (tmp_path / "best-maps.png").stat().st_size > 5000
    assert (tmp_path / "errors.csv").is_file()
    assert (tmp_path / "curves.csv").is_file()
