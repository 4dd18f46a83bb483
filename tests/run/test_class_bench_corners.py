"""The bench command over classes where it meets other options, and detectors that lack classes."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from edgecritic.cli.main import main
from edgecritic.maps.classes import class_boundaries
from edgecritic.report.bench import load_results

PROTOCOL = """
id = "blocks"
tolerance = 2.0
thresholds = 9
[classes]
names = ["road", "car"]
radius = 1
"""


@pytest.fixture
def home(tmp_path):
    """Labels of two images with predictions: `all` by class, `roads` and `cars` with one class each."""
    (tmp_path / "blocks.toml").write_text(PROTOCOL)
    (tmp_path / "truth").mkdir()
    rng = np.random.default_rng(0)
    for image in ("x", "y"):
        labels = np.kron(rng.permuted([0, 1, 2, 1, 2, 0]).reshape(2, 3), np.ones((14, 14))).astype(np.uint8)
        Image.fromarray(labels).save(tmp_path / f"truth/{image}.png")
        maps = class_boundaries(labels, [1, 2], radius=1) * rng.integers(60, 255, (2, *labels.shape))
        for number, name in enumerate(("roads", "cars"), start=1):
            for detector in ("all", name):
                folder = tmp_path / detector / f"class_{number:03d}"
                folder.mkdir(parents=True, exist_ok=True)
                Image.fromarray(maps[number - 1].astype(np.uint8)).save(folder / f"{image}.png")
    return tmp_path


def bench(home, *detectors, more=(), protocol="blocks.toml"):
    places = [f"{name}={home / name}" for name in detectors]
    fixed = ["--truth", str(home / "truth"), "--protocol", str(home / protocol), "--bootstrap", "20", "-q"]
    return main(["bench", *places, *fixed, "-j", "1", "-o", str(home / "run"), *more])


def test_detectors_are_tested_on_the_classes_that_both_have(home, capsys):
    assert bench(home, "all", "roads", "cars", more=["--oracle"]) == 1
    found = {(row["first"], row["second"]): row for row in load_results(home / "run")["comparisons"]}
    assert set(found) == {("all", "roads"), ("all", "cars")}
    for (_, second), row in found.items():
        assert set(row["classes"]) == {"road" if second == "roads" else "car"}
        assert row["ods"]["difference"] == 0
    oracle, first = load_results(home / "run")["oracle"], load_results(home / "run")["detectors"][0]
    assert oracle["ods"]["f"] == pytest.approx(first["ods"]["f"])
    capsys.readouterr()
