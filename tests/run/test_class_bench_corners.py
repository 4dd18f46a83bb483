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


def test_labels_follow_the_truth_to_its_scale(home, capsys):
    """Internal candidates are left out of predictions at half size too."""
    (home / "half.toml").write_text(PROTOCOL + 'scale = 0.5\ninternal = "remove"\n')
    (home / "half").mkdir()
    for image in ("x", "y"):
        labels = np.array(Image.open(home / f"truth/{image}.png"))[1::2, 1::2]
        maps = 0.8 * class_boundaries(labels, [1, 2], radius=1)
        centre = tuple(7 * np.argwhere(labels[3::7, 3::7] == 1)[0] + 3)  # of a block of road
        maps[0][centre] = 0.8
        np.save(home / f"half/{image}.npy", maps)
    assert bench(home, "half", protocol="half.toml") == 0, capsys.readouterr().err
    (found,) = load_results(home / "run")["detectors"]
    assert found["classes"]["road"]["ods"]["precision"] == 1
    capsys.readouterr()


def test_truths_are_cut_nowhere(home, capsys):
    assert bench(home, "all", more=["--binarize", "0.5"]) == 1
    assert "--binarize" in capsys.readouterr().err


def test_folders_of_other_classes_only_are_told(home, capsys):
    assert bench(home, "roads", more=["--classes", "car"]) == 1
    assert "there is no folder class_002 (car) of predictions" in capsys.readouterr().err


@pytest.mark.parametrize("given", ["", " , "])
def test_a_list_of_no_classes_is_refused(home, capsys, given):
    assert bench(home, "all", more=["--classes", given]) == 1
    assert "--classes" in capsys.readouterr().err


def test_pictures_are_called_by_their_rank(home, capsys):
    """Of two images one is the best and one the worst; none is the median alone."""
    bench(home, "all")
    page = (home / "run/report.html").read_text(encoding="utf-8")
    assert [word in page for word in ("best image", "worst image")] == [True, True]
    capsys.readouterr()


def test_files_of_classes_that_are_no_longer_judged_go(home, capsys):
    bench(home, "all")
    assert (home / "run/all/class_001/x_ev1.txt").is_file()
    for path in (home / "truth/x.png", *home.glob("all/*/x.png")):
        path.unlink()
    bench(home, "all", more=["--classes", "car"])
    left = {path.relative_to(home / "run/all").as_posix() for path in (home / "run/all").rglob("*_ev1.txt")}
    assert left == {"class_002/y_ev1.txt"}
    capsys.readouterr()


@pytest.mark.parametrize("command", ["bench", "doctor"])
def test_folders_of_classes_want_a_protocol_of_classes(home, capsys, command):
    assert main([command, str(home / "all"), "--truth", str(home / "truth"), "-q"]) == 1
    told = capsys.readouterr()
    assert "bench judges them by a protocol of classes" in " ".join((told.out + told.err).split())
