"""Commands that judge maps in tiles, beside the same commands on the whole maps."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from edgecritic.cli.main import main
from edgecritic.maps import bands

MAKERS = runpy.run_path(str(Path(__file__).parents[1] / "tiff_files.py"))
tiled, geo = MAKERS["tiled"], MAKERS["geo"]


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Some rows at a time."""
    monkeypatch.setattr(bands, "_CELLS", 500)


@pytest.fixture
def maps(tmp_path):
    rng = np.random.default_rng(8)
    for name in ("candidate", "truth"):
        mask = rng.random((60, 70)) < 0.1
        np.save(tmp_path / f"{name}.npy", mask)
        Image.fromarray(255 * mask.astype(np.uint8)).save(tmp_path / f"{name}.tif", compression="tiff_lzw")
    return tmp_path


def told(capsys, *words):
    assert main([*map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("suffix", [".npy", ".tif"])
def test_match(maps, capsys, suffix):
    words = ["match", maps / f"candidate{suffix}", maps / f"truth{suffix}", "-t", "2"]
    whole, parts = told(capsys, *words), told(capsys, *words, "--tiles")
    assert parts.pop("tiles") > 5
    assert parts.pop("mean_distance") == pytest.approx(whole.pop("mean_distance"))
    assert {"coherence", "jumps"} == whole.keys() - parts.keys()  # which need the whole maps
    assert parts == {name: value for name, value in whole.items() if name in parts}
    assert main([*map(str, words), "--tiles"]) == 0
    assert "tile(s), with the result of the whole" in capsys.readouterr().out


def test_what_needs_whole_maps_is_refused(maps, capsys):
    words = ["match", maps / "candidate.npy", maps / "truth.npy", "--tiles"]
    for more in (["--overlay", maps / "a.png"], ["--json", "--pairs"], ["-s", "eps(window=5)"]):
        assert main([*map(str, words), *map(str, more)]) == 1
        printed = capsys.readouterr()
        assert "tiles" in printed.out + printed.err


def test_grids_of_geotiffs(tmp_path, capsys):
    """Sizes of pixels are used, in tiles and without; other places are refused in words."""
    rng = np.random.default_rng(2)
    values = [255 * (rng.random((40, 50)) < 0.1).astype(np.uint8) for _ in range(2)]
    paths = [tmp_path / name for name in ("candidate.tif", "truth.tif")]
    for path, one in zip(paths, values, strict=True):
        path.write_bytes(tiled(one, geo=geo()))
    words = ["match", *paths, "-t", "2"]
    whole, parts = told(capsys, *words), told(capsys, *words, "--tiles")
    assert parts["judged"] == whole["judged"]
    assert parts["judged"]["spacing"] == [2.0, 0.5]
    assert [parts[name] for name in ("tp", "fp", "fn")] == [whole[name] for name in ("tp", "fp", "fn")]
    others = {
        "its first pixel lies 30 m off": geo(tie=(0.0, 0.0, 0.0, 1030.0, 5000.0, 0.0)),
        "its pixels have 2 × 1": geo(scale=(1.0, 2.0, 0.0)),
        "its coordinates are EPSG:25832, not EPSG:32632": geo(system=25832),
    }
    for text, tags in others.items():
        paths[0].write_bytes(tiled(values[0], geo=tags))
        for more in ([], ["--tiles"]):
            assert main([*map(str, words), *more]) == 1
            assert text in capsys.readouterr().err
    assert told(capsys, *words, "--tiles", "--resample", "stored")["tp"] == whole["tp"]


def test_score_of_files_and_folders(maps, capsys):
    words = ["score", maps / "candidate.tif", maps / "truth.npy", "-m", "dice", "hd95", "baddeley", "pcm"]
    whole, parts = told(capsys, *words), told(capsys, *words, "--tiles")
    assert parts["scores"] == pytest.approx({name: whole["scores"][name] for name in ("dice", "hd95", "pcm")})
    assert "baddeley needs whole maps and is left out in tiles" in parts["notes"]
    for folder in ("candidate", "truth"):
        (maps / folder).mkdir()
        (maps / f"{folder}.npy").rename(maps / folder / "a.npy")
    words = ["score", maps / "candidate", "--truth", maps / "truth", "-m", "dice", "hd95", "-q"]
    whole, parts = told(capsys, *words), told(capsys, *words, "--tiles", "-o", maps / "out")
    assert parts["images"]["a"]["scores"] == whole["images"]["a"]["scores"]
    assert main([*map(str, words), "--tiles", "--alone"]) != 0


def test_bench(tmp_path, capsys):
    """Soft, thick maps of two annotators: counts of whole maps at every threshold, kept as theirs are."""
    rng = np.random.default_rng(4)
    for name in ("a", "b"):
        truth = np.zeros((50, 60), bool)
        truth[rng.integers(5, 45), :] = truth[:, rng.integers(5, 55)] = True
        soft = ndimage.gaussian_filter(truth + rng.normal(0, 0.05, truth.shape), 1.5).clip(0)
        (tmp_path / "found").mkdir(exist_ok=True)
        np.save(tmp_path / "found" / f"{name}.npy", (soft / soft.max()).astype(np.float32))
        for annotator in (1, 2):
            folder = tmp_path / "truth" / name
            folder.mkdir(parents=True, exist_ok=True)
            np.save(folder / f"{annotator}.npy", np.roll(truth, annotator, axis=1))
    words = ["bench", f"x={tmp_path / 'found'}", "--truth", tmp_path / "truth", "-q", "--bootstrap", "0"]
    words += ["--protocol", "bsds(tolerance=3, thresholds=15)", "--also", "none"]
    whole = told(capsys, *words)["detectors"][0]
    for _ in range(2):  # the second time from the records
        parts = told(capsys, *words, "--tiles", "-o", tmp_path / "out")
        for name in ("ods", "ois", "ap", "curve", "per_image"):
            assert parts["detectors"][0][name] == whole[name]
    assert any("judged in tiles" in note for note in parts["notes"])
    words[words.index("bsds(tolerance=3, thresholds=15)")] = "edter"
    assert main([*map(str, words), "--tiles"]) == 1
    assert "suppresses by hed, which is not done in tiles" in capsys.readouterr().err


def test_a_report_of_maps_that_do_not_fit(tmp_path, monkeypatch, capsys):
    """Nothing is drawn of them, and the report is written all the same."""
    from edgecritic.datasets import rasters

    monkeypatch.setattr(rasters, "PIXEL_LIMIT", 100)
    for folder in ("found", "truth"):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "a.npy", np.eye(20, dtype=bool))
    monkeypatch.setattr("edgecritic.datasets.cases.read_content", None)  # the whole file is never read
    words = ["bench", tmp_path / "found", "--truth", tmp_path / "truth", "-q", "--bootstrap", "0", "-j", "1"]
    assert (
        main([*map(str, words), "-o", str(tmp_path / "out"), "--protocol", "bsds(tolerance=1, thresholds=3)"])
        == 0
    )
    assert "judged in tiles" in capsys.readouterr().err
    assert (tmp_path / "out" / "report.html").stat().st_size > 1000
