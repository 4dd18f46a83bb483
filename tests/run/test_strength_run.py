"""Detectors by label strength: the toy case whose numbers follow by counting."""

from __future__ import annotations

import numpy as np
import pytest

from edgecritic.datasets.write import write_bsds_mat, write_map
from edgecritic.errors import DataError, InputError
from edgecritic.report.strength import strength_report
from edgecritic.run.bench import run_bench
from edgecritic.run.strength import run_strength


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """Three annotators drew a line of 100 pixels, one of them another of 60; X finds the first, Y more."""
    home = tmp_path_factory.mktemp("toy")
    strong, weak, wrong = (np.zeros((120, 160), bool) for _ in range(3))
    strong[20, 30:130] = True
    weak[60, 30:90] = True
    wrong[100, 30:70] = True
    write_bsds_mat(home / "truth" / "1.mat", [strong | weak, strong, strong])
    write_map(home / "X" / "1.png", strong * 0.8)
    write_map(home / "Y" / "1.png", (strong | weak | wrong) * 0.8)
    return home


def test_the_benchmark_hides_what_consensus_shows(toy, tmp_path):
    detectors = {"X": toy / "X", "Y": toy / "Y"}
    found = run_strength(detectors, toy / "truth", levels=[0, 1], draws=2, out=tmp_path)
    x, y = found["detectors"]
    first, last = x["levels"]
    assert (first["precision"], first["recall"], first["f"]) == pytest.approx(
        (1, 300 / 360, 0.9091), abs=5e-5
    )
    assert last["f"] == pytest.approx(1)
    assert first["precision_bonus"] == pytest.approx(0)
    first, last = y["levels"]
    assert (first["precision"], first["recall"], first["f"]) == pytest.approx((0.8, 1, 0.8889), abs=5e-5)
    assert (last["precision"], last["f"]) == pytest.approx((0.5, 0.6667), abs=5e-5)
    assert first["annotator_precision"] == pytest.approx((160 + 100 + 100) / 600)
    assert first["precision_bonus"] == pytest.approx(0.8 - 0.6)
    assert y["outputs"]["pairs"] == 360
    assert (tmp_path / "strength.json").exists()


def test_level_zero_is_the_benchmark(toy):
    found = run_strength({"Y": toy / "Y"}, toy / "truth", levels=[0], draws=0)
    plain = run_bench({"Y": toy / "Y"}, toy / "truth", draws=0, human=False).results["detectors"][0]["ods"]
    level = found["detectors"][0]["levels"][0]
    assert {key: level[key] for key in plain} == plain
    assert found["detectors"][0]["partial"] is None


def test_runs_go_on_and_repeat_their_bytes(toy, tmp_path, monkeypatch):
    from edgecritic.run import strength

    options = {"levels": [0, 1], "draws": 1, "out": tmp_path}
    run_strength({"X": toy / "X"}, toy / "truth", **options)
    before = (tmp_path / "strength.json").read_bytes()
    monkeypatch.setattr(strength, "_measure", lambda job: pytest.fail("computed again"))
    run_strength({"X": toy / "X"}, toy / "truth", **options)
    assert (tmp_path / "strength.json").read_bytes() == before


def test_bad_levels_and_single_annotators_are_refused(toy, tmp_path):
    with pytest.raises(InputError, match=r"\[0, 1\]"):
        run_strength({"X": toy / "X"}, toy / "truth", levels=[2])
    write_map(tmp_path / "truth" / "1.png", np.eye(20) > 0)
    write_map(tmp_path / "X" / "1.png", np.eye(20) * 0.5)
    with pytest.raises(DataError, match="at least two"):
        run_strength({"X": tmp_path / "X"}, tmp_path / "truth")


def test_the_control_has_as_many_labels_as_the_level_beside_it(toy):
    """All labels have strength 1/3 or more: as many labels chosen by place are all of them again."""
    found = run_strength({"Y": toy / "Y"}, toy / "truth", levels=[0, 0.3], draws=4)
    (entry,) = found["detectors"]
    assert entry["partial"]["strength"] == 0.3
    assert entry["partial"]["f"] == pytest.approx(entry["levels"][1]["f"])
    (sentence,) = [line for line in strength_report(found, pictures=False).findings if "by place" in line]
    assert "no better than" in sentence
    assert "two standard deviations" in sentence


def test_one_draw_gives_no_verdict(toy):
    found = run_strength({"X": toy / "X"}, toy / "truth", levels=[0, 1], draws=1)
    (sentence,) = [line for line in strength_report(found, pictures=False).findings if "by place" in line]
    assert "better" not in sentence


def test_without_labels_left_out_there_is_no_control(toy):
    found = run_strength({"X": toy / "X"}, toy / "truth", levels=[0], draws=3)
    assert found["detectors"][0]["partial"] is None


def test_grey_truths_are_cut_by_strength_too(tmp_path, capsys):
    from edgecritic.cli.main import main

    for person in "ab":
        write_map(tmp_path / "truth" / "1" / f"{person}.png", np.eye(40, 60) * 0.7)
    write_map(tmp_path / "X" / "1.png", np.eye(40, 60) * 0.5)
    options = ["bench", str(tmp_path / "X"), "--truth", str(tmp_path / "truth"), "--bootstrap", "0"]
    assert main([*options, "--binarize", "0.5", "--strength", "0,1"]) == 0
    assert "F 1.000 at strength 1" in capsys.readouterr().out


def test_what_fails_by_strength_only_is_told(tmp_path, capsys):
    """One annotator is enough for the benchmark, not for strengths."""
    from edgecritic.cli.main import main

    lone = np.zeros((30, 40), bool)
    lone[10, 5:30] = True
    for name, maps in {"1": [lone, lone], "2": [lone]}.items():
        write_bsds_mat(tmp_path / "truth" / f"{name}.mat", maps)
        write_map(tmp_path / "X" / f"{name}.png", lone * 0.8)
    options = ["bench", str(tmp_path / "X"), "--truth", str(tmp_path / "truth"), "--bootstrap", "0"]
    assert main([*options, "--strength", "0,1"]) == 1
    assert "edgecritic: X: 2: by strength:" in capsys.readouterr().err
