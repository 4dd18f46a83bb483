"""Regions in which nothing counts."""

from __future__ import annotations

import numpy as np
import pytest

from edgecritic import match, tune
from edgecritic.cli.main import main
from edgecritic.datasets.synthetic import scene
from edgecritic.datasets.write import write_map
from edgecritic.detectors import detect
from edgecritic.errors import InputError

STRATEGY = "closest(window=5)"
MEASURES = [f"precision(strategy={STRATEGY})", f"recall(strategy={STRATEGY})"]


@pytest.fixture(scope="module")
def drawn():
    return scene(seed=4, size=(60, 70))


def test_counts_and_rates_are_those_of_what_counts(drawn):
    count = np.ones(drawn.truth.shape, bool)
    count[:25, 10:40] = False
    shifted = np.roll(drawn.truth, 1, axis=0)
    found = tune(
        drawn.image, shifted, detectors=["sobel"], measures=MEASURES, thresholds=[0.2, 0.6], mask=count
    )
    rates = found.rates("sobel", STRATEGY)
    for place, level in enumerate((0.2, 0.6)):
        edges, truth = detect(drawn.image, "sobel").binary(level) & count, shifted & count
        expected = (edges & truth, edges & ~truth & count, truth & ~edges, ~edges & ~truth & count)
        assert found.confusion[0, place].tolist() == [np.count_nonzero(part) for part in expected]
        paired = match(edges, truth, strategy=STRATEGY)
        assert rates.true_positive[place] == pytest.approx(paired.tp / truth.sum())
        assert rates.precision[place] == pytest.approx(paired.tp / edges.sum())
        negatives = np.count_nonzero(count & ~truth)
        assert rates.false_positive[place] == pytest.approx(paired.fp / negatives)


def test_errors_of_the_best_map(drawn):
    found = tune(drawn.image, [drawn.truth, np.roll(drawn.truth, 1, 0)], detectors=["sobel"], measures=["sk"])
    best = found.best_map("sobel", "sk")
    truths = (drawn.truth, np.roll(drawn.truth, 1, 0))
    alarms = np.mean([np.count_nonzero(best & ~truth) for truth in truths])
    misses = np.mean([np.count_nonzero(truth & ~best) for truth in truths])
    assert found.errors("sobel", "sk") == (alarms, misses)
    told = found.as_dict()["measures"][0]["best"]["sobel"]
    assert (told["false_alarms"], told["misses"]) == (alarms, misses)


def test_masks_that_do_not_fit(drawn):
    with pytest.raises(InputError, match="mask must have the shape"):
        tune(drawn.image, drawn.truth, detectors=["sobel"], measures=["sk"], mask=np.ones((3, 3)))
    mask = np.ones(drawn.truth.shape)
    with pytest.raises(InputError, match="matlab"):
        tune(drawn.image, drawn.truth, detectors=["sobel"], measures=["sk"], thresholds="matlab", mask=mask)


def test_the_command_takes_masks_and_draws_every_measure(drawn, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    write_map(tmp_path / "photos/a.png", drawn.image)
    write_map(tmp_path / "truth/a.png", drawn.truth)
    write_map(tmp_path / "count/a.png", np.arange(70) > 30 * np.ones((60, 1)))
    base = [
        "tune",
        str(tmp_path / "photos"),
        "--truth",
        str(tmp_path / "truth"),
        "-d",
        "sobel",
        "-m",
        "sk",
        "psi",
    ]
    base += ["--thresholds", "5", "-q", "--out"]
    for name, more in (("all", []), ("part", ["--masks", str(tmp_path / "count")])):
        assert main([*base, str(tmp_path / name), *more]) == 0
    texts = [(tmp_path / name / "a" / "tuning.json").read_text("utf-8") for name in ("all", "part")]
    assert texts[0] != texts[1]
    assert (tmp_path / "part" / "a" / "montage.png").is_file()
    capsys.readouterr()
    (tmp_path / "empty").mkdir()
    write_map(tmp_path / "empty/b.png", drawn.truth)
    assert main([*base, str(tmp_path / "none"), "--masks", str(tmp_path / "empty")]) == 1
    assert "no mask for a" in capsys.readouterr().err
