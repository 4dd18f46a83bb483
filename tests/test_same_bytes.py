"""The same input gives the same bytes: in another folder, later, with other numbers of jobs, after a kill."""

from __future__ import annotations

import time
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.io import loadmat, savemat

from edgecritic.cli.main import main
from edgecritic.datasets.scenes import phantom
from edgecritic.datasets.synthetic import write
from edgecritic.datasets.write import UndatedZip, bsds_mat_bytes
from edgecritic.maps.boundaries import inner_boundary

pytestmark = pytest.mark.usefixtures("hasty_figures")

CLASSES = """
id = "blocks"
tolerance = 2.0
thresholds = 9
[classes]
names = ["road", "car"]
others = [3]
radius = 1
thin = true
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Photos, maps and truths; segmentations of regions, label images with maps of classes, and volumes."""
    place = write(tmp_path_factory.mktemp("data"), 2)
    for folder in ("segs", "segmentations", "labels", "classes", "objects", "volumes"):
        (place / folder).mkdir()
    (place / "blocks.toml").write_text(CLASSES)
    rng = np.random.default_rng(0)
    for name in ("one", "two"):
        blocks = np.kron(rng.integers(1, 4, (3, 4)), np.ones((8, 8), np.uint8)).astype(np.uint8)
        cells, truth = np.empty((1, 1), dtype=object), np.empty((1, 1), dtype=object)
        cells[0, 0] = np.roll(blocks, 1, axis=1)
        truth[0, 0] = {"Segmentation": blocks, "Boundaries": inner_boundary(blocks == 1)}
        savemat(place / f"segs/{name}.mat", {"segs": cells})
        savemat(place / f"segmentations/{name}.mat", {"groundTruth": truth})
        Image.fromarray(blocks).save(place / f"labels/{name}.png")
        np.save(place / f"classes/{name}.npy", rng.random((2, *blocks.shape)).round(2))
        solid = phantom("ball", (14, 12, 10), 0).image > 0.75
        np.save(place / f"objects/{name}.npy", solid)
        np.save(place / f"volumes/{name}.npy", (rng.random(solid.shape) * solid).round(2))
    return place


@pytest.fixture
def later(monkeypatch):
    """Return a function that lets years pass for everything that asks for the time of day."""

    def leap():
        now = time.time() + 1e8
        monkeypatch.setattr(time, "time", lambda: now)
        monkeypatch.setattr(time, "asctime", lambda *_: time.strftime("%c", time.gmtime(now)))
        monkeypatch.setattr(time, "localtime", lambda *_: time.gmtime(now))

    return leap


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def assert_same(one, two):
    assert one.keys() == two.keys()
    assert [str(path) for path in one if one[path] != two[path]] == []
    assert one


def untimed(files):
    """Return the files but for those of a study that holds durations, which have a folder of their own."""
    return {path: content for path, content in files.items() if path.parts[0] != "times"}


def commands(home):
    truth, images, good = home / "truth", home / "images", home / "predictions/good"
    study = ["--data", truth, "--images", images]
    return {
        "bench": ["bench", good, "--truth", truth, "--images", images, "--strength", "0,1"],
        "annotators": ["annotators", truth, "--images", images],
        "detect": ["detect", "sobel", images],
        "tune": ["tune", images, "--truth", truth, "-d", "sobel", "-m", "fom", "--thresholds", "9"],
        "matching": [
            *("study", "matching", *study, "--most", "1", "--inter", "2", "--canny", "1"),
            *("--tolerances", "2.5"),
        ],
        "labels of generated data": ["study", "labels", "--most", "1", "--draws", "1"],
        "complexity": ["study", "complexity", *study, "--most", "1"],
        "pairing": ["study", "pairing", "--samples", "12", "--points", "50,100"],
        "noise": [
            *("study", "noise", "--snr", "4", "--scenes", "1", "-d", "sobel", "log", "-m", "fom"),
            *("--thresholds", "9"),
        ],
        "displacement": ["study", "displacement", "--reach", "3"],
        "score": ["score", good, "--truth", truth, "-m", "fom", "--binarize", "0.5"],
        "regions": ["bench", home / "segs", "--truth", home / "segmentations", "--protocol", "bsds-regions"],
        "classes": [
            *("bench", home / "classes", "--truth", home / "labels"),
            *("--protocol", home / "blocks.toml"),
        ],
        "volumes": [
            *("bench", home / "volumes", "--truth", home / "objects"),
            *("--protocol", "volume(tolerance=2)"),
        ],
        "fit": ["fit", "pb", images, "--truth", truth, "--labels", "all"],
    }


QUICK = ("bench", "annotators", "detect", "tune", "score", "regions", "classes", "volumes")


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in commands(Path())],
)
def test_a_command_repeats_every_byte(name, home, tmp_path, later, capsys):
    words = [str(word) for word in commands(home)[name]]
    jobs = ["--jobs", "1"] if name not in ("detect", "displacement") else []
    found = []
    for place, more in (("one", jobs), ("the other", [])):
        out = tmp_path / place / ("model.json" if name == "fit" else "")
        out.parent.mkdir(exist_ok=True)
        assert main([*words, "--out", str(out), *more]) == 0
        found.append(contents(tmp_path / place))
        later()
    if name == "pairing":
        assert [path for path in found[0] if path.parts[0] == "times"]
    found = [untimed(one) for one in found]
    assert_same(*found)
    text = b"\n".join(found[0].values())
    assert str(tmp_path).encode() not in text
    if (tmp_path / "one/records").exists():
        records = {path: path.stat().st_ino for path in (tmp_path / "one/records").rglob("*.json")}
        assert main([*words, "--out", str(tmp_path / "one")]) == 0
        assert records == {path: path.stat().st_ino for path in (tmp_path / "one/records").rglob("*.json")}
        assert_same(untimed(contents(tmp_path / "one")), found[0])
    capsys.readouterr()


def test_time_passes_in_these_tests(later):
    found = []
    for _ in range(2):
        stream = BytesIO()
        savemat(stream, {"a": 1})
        found.append(stream.getvalue())
        later()
    assert found[0] != found[1]


def test_truth_files_and_archives_have_no_date(tmp_path, later):
    found = []
    for name in ("a.zip", "b.zip"):
        with UndatedZip(tmp_path / name, "w") as archive:
            archive.writestr("truth/a.mat", bsds_mat_bytes([np.eye(5) > 0]))
        found.append((tmp_path / name).read_bytes())
        later()
    assert found[0] == found[1]
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        (member,) = archive.infolist()
        assert member.external_attr >> 16 == 0o644  # readable when unpacked
        assert member.date_time == (1980, 1, 1, 0, 0, 0)
        held = loadmat(BytesIO(archive.read(member)))["groundTruth"]
    assert np.array_equal(held[0, 0]["Boundaries"][0, 0], np.eye(5))
