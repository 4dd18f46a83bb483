"""The command that tunes thresholds."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage

from edgecritic.cli import tune as command
from edgecritic.datasets.files import read_mask
from edgecritic.datasets.write import write_image, write_map
from edgecritic.detectors import detect
from edgecritic.errors import InputError, UnknownNameError
from edgecritic.tuning.tune import tune


def run(*words: str | Path) -> int:
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    args = parser.parse_args(["tune", *map(str, words)])
    return int(args.run(args))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(2):
        truth = np.zeros((24, 26), bool)
        truth[:, 8 + number] = True
        image = 1.0 * (np.arange(26) > 8 + number) + 0.5 * truth
        noise = np.random.default_rng(number).normal(0, 0.05, truth.shape)
        write_image(tmp_path / "images" / f"{number}.png", image + noise)
        write_map(tmp_path / "truth" / f"{number}.png", truth)
    return tmp_path


def test_a_data_set_with_truth(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "out"
    words = ["-d", "sobel", "canny", "-m", "sk", "f", "--thresholds", "21", "-o", str(out), "-q"]
    assert run(folder / "images", "--truth", folder / "truth", *words) == 0
    text = capsys.readouterr().out
    assert "2 images" in text
    assert "sobel" in text
    for name in (
        "boxes.png",
        "table.csv",
        "0/curves.png",
        "0/curves.csv",
        "0/montage.png",
        "1/rates.png",
        "1/tuning.json",
    ):
        assert (out / name).stat().st_size > 100
    best = json.loads((out / "0" / "tuning.json").read_text())["measures"][0]["best"]["sobel"]["threshold"]
    from PIL import Image

    image = np.asarray(Image.open(folder / "images" / "0.png"))
    expected = detect(image, "sobel").binary(best)
    np.testing.assert_array_equal(read_mask(out / "0" / "best" / "sk" / "sobel.png"), expected)
    lines = (out / "table.csv").read_text().splitlines()
    assert lines[0] == "measure,better,detector,value,threshold,wins,images"
    assert len(lines) == 5


def test_best_maps_are_written_for_every_measure(folder: Path) -> None:
    out = folder / "out"
    measures = ["jaccard", "sk", "f", "dice", "hausdorff", "hd95", "fom", "baddeley(k=1)"]
    words = ["-d", "sobel", "-m", *measures, "--thresholds", "5", "-o", str(out), "-q"]
    assert run(folder / "images" / "0.png", "--truth", folder / "truth" / "0.png", *words) == 0
    assert {place.name for place in (out / "0" / "best").iterdir()} == set(measures)
    assert all((out / "0" / "best" / name / "sobel.png").stat().st_size for name in measures)


def test_one_image_without_truth(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder / "images" / "0.png", "-d", "sobel", "--thresholds", "matlab", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    rows = document["images"]["0"]["measures"]
    assert [row["measure"] for row in rows] == ["complexity", "equilibrium", "entropy"]
    assert document["failures"] == []


def test_one_image_with_a_truth_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["-d", "central", "-m", "sk", "--thresholds", "11"]
    assert run(folder / "images" / "0.png", "--truth", folder / "truth" / "0.png", *words) == 0
    assert "central" in capsys.readouterr().out


def test_failures(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "images" / "2.png").write_bytes(b"no picture")
    write_map(folder / "truth" / "2.png", np.ones((3, 3), bool))
    words = ["-d", "central", "-m", "sk", "--thresholds", "3"]
    assert run(folder / "images", "--truth", folder / "truth", *words) == 1
    assert "2.png" in capsys.readouterr().err
    with pytest.raises(InputError, match="one file for 3 images"):
        run(folder / "images", "--truth", folder / "truth" / "0.png")
    (folder / "truth" / "1.png").unlink()
    with pytest.raises(InputError, match="no truth for 1"):
        run(folder / "images", "--truth", folder / "truth")
    with pytest.raises(InputError, match="--thresholds"):
        run(folder / "images" / "0.png", "--thresholds", "many")


def test_several_at_a_time_with_matching_and_a_folder(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The number of jobs changes nothing; the maps of the truth itself reach the perfect score."""
    words = [
        "-d",
        "sobel",
        folder / "truth",
        "-m",
        "sk",
        "--thresholds",
        "11",
        "--strategy",
        "exact(tolerance=2)",
    ]
    images = ["tune", folder / "images", "--truth", folder / "truth"]
    texts = []
    for jobs in ("1", "2"):
        out = folder / f"out{jobs}"
        assert run(*images[1:], *words, "-j", jobs, "-o", out) == 0
        texts.append(capsys.readouterr().out.replace(str(out), "OUT") + (out / "table.csv").read_text())
        assert (out / "1" / "rates-matched.png").stat().st_size > 10_000
    assert texts[0] == texts[1]
    perfect = [line for line in texts[0].splitlines() if line.startswith("sk,lower,truth,")]
    assert perfect == ["sk,lower,truth,0.0,0.0,2,2"]
    with pytest.raises(InputError, match="--strategy needs --truth"):
        run(folder / "images", "--strategy", "exact")
    with pytest.raises(UnknownNameError):
        run(*images[1:], "--strategy", "nearest_star")


def test_ids_and_thresholds_as_people_write_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    image = folder / "images" / "0.png"
    words = ["-d", "sobel", "-d", "canny", "-m", "sk", "-m", "f", "--thresholds", "0.1,0.3", "--json"]
    assert run(image, "--truth", folder / "truth" / "0.png", *words) == 0
    found = json.loads(capsys.readouterr().out)["images"]["0"]
    assert found["detectors"] == ["sobel", "canny"]
    assert [row["measure"] for row in found["measures"]] == ["sk", "f"]
    assert {best["threshold"] for row in found["measures"] for best in row["best"].values()} <= {0.1, 0.3}
    with pytest.raises(InputError, match="--thresholds"):
        run(image, "--thresholds", "many")


def test_a_table_for_a_narrow_terminal() -> None:
    drawn = tune(np.eye(12), np.eye(12, dtype=bool), detectors=["sobel", "canny", "prewitt"], measures="sk")
    whole, narrow = drawn.table(), drawn.table(30)
    assert len(whole.splitlines()) == 2
    assert max(map(len, narrow.splitlines())) <= 30
    assert len(narrow.split("\n\n")) == 3
    heads = [block.split()[1] for block in narrow.split("\n\n")]
    assert heads == ["sobel", "canny", "prewitt"]
    assert sum(block.count("*") for block in narrow.split("\n\n")) == 1


def test_truths_may_be_objects_in_volumes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(3)
    away = np.linalg.norm(np.indices((12, 14, 13)).reshape(3, -1).T - 6, axis=1).reshape(12, 14, 13)
    ball = away < 4
    shell = ball & ~ndimage.binary_erosion(ball)
    (tmp_path / "images").mkdir()
    np.save(tmp_path / "images" / "a.npy", ball + rng.normal(0, 0.05, ball.shape))
    for name, truth in (("objects", 7 * ball.astype(np.uint8)), ("shells", shell)):
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "a.npy", truth)
    words = ["-d", "sobel", "-m", "f", "hausdorff", "--thresholds", "11", "--json", "-q"]
    found = []
    for name, more in (("objects", ["--surface", "inner"]), ("shells", [])):
        assert run(tmp_path / "images", "--truth", tmp_path / name, *words, *more) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1]
    assert run(tmp_path / "images", "--truth", tmp_path / "objects", *words) == 1
