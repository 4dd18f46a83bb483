"""The command that writes maps."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest

from edgecritic.cli import detect as command
from edgecritic.datasets.files import read_mask, read_strength
from edgecritic.datasets.write import write_image
from edgecritic.detectors import detect
from edgecritic.detectors.matlab import edge_matlab
from edgecritic.errors import InputError, UnknownNameError


def run(*words: str | Path) -> int:
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    args = parser.parse_args(["detect", *map(str, words)])
    return int(args.run(args))


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    image = np.zeros((12, 16))
    image[4:9, 5:11] = 0.8
    return write_image(tmp_path / "in" / "photo.png", image)


def grey(path: Path) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.open(path))


def test_maps_are_written_for_a_folder(
    photo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_image(photo.parent / "colour.png", np.random.default_rng(0).random((9, 8, 3)))
    assert run("sobel", photo.parent, "-o", tmp_path / "out") == 0
    saved = read_strength(tmp_path / "out" / "photo.png")
    np.testing.assert_allclose(saved, detect(grey(photo), "sobel").strength, atol=1 / 500)
    colour = detect(grey(photo.parent / "colour.png"), "sobel").strength
    np.testing.assert_allclose(read_strength(tmp_path / "out" / "colour.png"), colour, atol=1 / 500)
    assert "photo.png" in capsys.readouterr().out


def test_thin_maps_and_numpy_files(photo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("canny(sigma=1)", photo, "-o", tmp_path, "--thin", "--format", "npy", "--json") == 0
    found = detect(grey(photo) / 255, "canny(sigma=1)")
    np.testing.assert_allclose(np.load(tmp_path / "photo.npy"), found.thin)
    document = json.loads(capsys.readouterr().out)
    assert document["detector"] == "canny(sigma=1)"
    assert document["images"][0]["pixels"] == np.count_nonzero(found.thin)
    assert document["failures"] == []


def test_binary_maps(photo: Path, tmp_path: Path) -> None:
    assert run("sobel", photo, "-o", tmp_path, "--threshold", "0.5") == 0
    np.testing.assert_array_equal(read_mask(tmp_path / "photo.png"), detect(grey(photo), "sobel").binary(0.5))
    assert run("canny", photo, "-o", tmp_path, "--threshold", "auto") == 0
    np.testing.assert_array_equal(
        read_mask(tmp_path / "photo.png"), detect(grey(photo), "canny").hysteresis()
    )
    assert run("canny(sigma=2)", photo, "-o", tmp_path, "--style", "matlab", "--threshold", "0.3") == 0
    expected = edge_matlab(grey(photo), "canny", 0.3, sigma=2).edges
    assert expected.any()
    np.testing.assert_array_equal(read_mask(tmp_path / "photo.png"), expected)


def test_volumes_become_numpy_files(tmp_path: Path) -> None:
    volume = np.random.default_rng(0).random((5, 6, 3))
    np.save(tmp_path / "brain.npy", volume)
    assert run("central", tmp_path / "brain.npy", "-o", tmp_path / "out") == 0
    np.testing.assert_allclose(
        np.load(tmp_path / "out" / "brain.npy"), detect(volume, "central", kind="volume").strength
    )


def test_bad_files_are_reported_and_good_ones_finished(
    photo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.png"
    bad.write_bytes(b"no picture")
    assert run("sobel", bad, photo, tmp_path / "missing.png", "-o", tmp_path / "out") == 1
    assert (tmp_path / "out" / "photo.png").exists()
    error = capsys.readouterr().err
    assert "bad.png" in error
    assert "missing.png" in error


def test_usage_errors(photo: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError):
        run("nothing", photo, "-o", tmp_path)
    with pytest.raises(InputError, match="--threshold"):
        run("sobel", photo, "-o", tmp_path, "--threshold", "much")
    with pytest.raises(InputError, match="from 0 to 1, got 40"):
        run("sobel", photo, "-o", tmp_path, "--threshold", "40")
    with pytest.raises(InputError, match="same map"):
        run("sobel", photo, tmp_path / "photo.jpg", "-o", tmp_path)
