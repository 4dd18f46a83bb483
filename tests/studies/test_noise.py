"""The noise study: ranks against SciPy, order of work, and what holds for every seed."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import rankdata

from edgecritic.cli.main import main
from edgecritic.datasets.synthetic import Scene, scene
from edgecritic.detectors import detect
from edgecritic.errors import InputError
from edgecritic.studies.noise import PAPER_DETECTORS, combine, noise, published
from edgecritic.studies.noise_scenes import degraded, noise_tasks, noise_trial, noisy_scene


@pytest.fixture(scope="module")
def study():
    return noise(detectors=PAPER_DETECTORS, ratios=[3.3, 4.0], seeds=[11, 12], thresholds=26)


def test_ranks_are_those_of_scipy(study):
    signs = np.where(np.array(study.better) == "lower", 1, -1)
    assert study.ranks() == pytest.approx(rankdata((study.values * signs).round(12), axis=2))


def test_sobel_is_last_and_smoothing_helps(study):
    """The paper's finding that holds over seeds: of its detectors Sobel is last by most measures."""
    assert study.paper_detectors == PAPER_DETECTORS
    for snr in study.ratios:
        lasts = [study.order(name, snr)[-1] for name in study.judges]
        assert lasts.count("sobel") > len(lasts) / 2
    assert (study.mean_ranks().argmax(axis=1) == 0).all()
    assert any("last sobel" in line for line in study.findings())


def test_judges_see_both_errors_and_differ(study):
    assert {"sk", "psi", "baddeley", "dp"} <= set(study.judges)
    assert not {"precision", "recall", "theta", "omega"} & set(study.judges)
    assert len({"f_star", "dice", "jaccard", "performance_star"} & set(study.judges)) <= 1


def test_noise_is_as_loud_as_it_says():
    loud, clean = noisy_scene(4.0, 3), noisy_scene(400.0, 3)
    ratio = clean.image.var() / (loud.image - clean.image).var()
    assert 10 * np.log10(ratio) == pytest.approx(4.0, abs=0.15)


def test_less_noise_gives_better_maps():
    found = noise(detectors=["sobel"], measures=["sk", "f_star"], ratios=[0, 5, 10], seeds=3, thresholds=26)
    assert (np.diff(found.values.mean(axis=1)[:, 0], axis=0) < 0).all()


def test_the_order_of_work_does_not_matter():
    options = {"detectors": ["sobel", "canny"], "measures": ["sk"], "ratios": [4, 0], "seeds": 2}
    trials = [noise_trial(task) for task in noise_tasks(**options, thresholds=11, size=(60, 70))]
    one, other = combine(trials), combine(trials[::-1])
    assert one.ratios == (0.0, 4.0)
    assert np.array_equal(one.values, other.values)
    assert np.array_equal(one.thresholds, other.thresholds)


def test_blur_is_that_of_scipy_and_photos_keep_their_colours():
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng(0)
    photo = Scene(rng.random((40, 50, 3)), scene(1, (40, 50)).truth)
    task, other = noise_tasks(ratios=[1.5, 0], kind="blur", photos=[photo])
    expected = np.stack([gaussian_filter(photo.image[..., c], 1.5, mode="nearest") for c in range(3)], axis=2)
    assert degraded(task).image == pytest.approx(expected)
    assert np.array_equal(degraded(other).image, photo.image)
    assert np.array_equal(degraded(task).truth, photo.truth)
    loud = degraded(noise_tasks(ratios=[4], photos=[photo])[0]).image - photo.image
    assert 10 * np.log10(photo.image.var() / loud.var()) == pytest.approx(4, abs=0.15)
    with pytest.raises(InputError, match="blur"):
        noise_tasks(ratios=[-1], kind="blur")


def test_errors_are_those_of_the_best_maps(study):
    drawn = noisy_scene(study.ratios[0], study.seeds[0], study.size)
    place = study.measures.index("sk")
    edges = detect(drawn.image, "sobel").binary(float(study.thresholds[0, 0, 0, place]))
    assert study.false_alarms[0, 0, 0, place] == np.count_nonzero(edges & ~drawn.truth)
    assert study.misses[0, 0, 0, place] == np.count_nonzero(drawn.truth & ~edges)


def test_verdicts_follow_from_the_numbers(study):
    from dataclasses import replace

    found = {one.what: one for one in published(study)}
    last = [name for name in found if "put sobel last" in name]
    assert len(last) == 2
    turned = {one.what: one for one in published(replace(study, values=-study.values, misses=-study.misses))}
    assert all(float(turned[name].ours.removesuffix(" %")) < 50 for name in last)
    assert turned["4 dB: misses of the best maps"].agrees is not found["4 dB: misses of the best maps"].agrees
    assert not published(replace(study, kind="blur"))


@pytest.mark.parametrize("wrong", [{"ratios": []}, {"seeds": 0}, {"detectors": ["sobel", "sobel"]}])
def test_bad_input(wrong):
    with pytest.raises(InputError, match="one or more different"):
        noise(**wrong)
    with pytest.raises(InputError, match="not computed"):
        noise(detectors=["sobel"], measures=["sk"], ratios=[4], seeds=1, thresholds=3).order("sk", 7)


def test_the_command(tmp_path, capsys):
    words = ["-d", "sobel", "canny(sigma=1)", "-m", "sk", "f", "--snr", "4", "--scenes", "1"]
    words += ["--thresholds", "11", "--jobs", "1"]
    assert main(["study", "noise", *words, "-o", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "Mean rank over" in text
    assert (tmp_path / "noise.png").stat().st_size > 10_000
    assert len((tmp_path / "best.csv").read_text().splitlines()) == 3
    assert "data:image" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert main(["study", "noise", *words, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["best"]) == 4


def test_photos_on_the_command_line_and_kept_work(tmp_path, capsys):
    from edgecritic.datasets.synthetic import write

    home = write(tmp_path / "data", 1)
    words = ["study", "noise", "--data", str(home / "truth"), "--images", str(home / "images"), "-q"]
    words += [
        "-d",
        "sobel",
        "-m",
        "sk",
        "--blur",
        "0,2",
        "--thresholds",
        "5",
        "-o",
        str(tmp_path / "out"),
        "--json",
    ]
    assert main(words) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["kind"] == "blur"
    assert first["photos"] == ["synthetic-1"]
    assert (tmp_path / "out/records/@noise").is_dir()
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out) == first
