"""Detectors by label strength: the toy case whose numbers follow by counting."""

from __future__ import annotations

import numpy as np
import pytest

from edgecritic.datasets.write import write_bsds_mat, write_map
from edgecritic.errors import DataError, InputError
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
