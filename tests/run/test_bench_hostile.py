"""The bench command where everything is odd: names, files that are none, nothing that can be judged."""

from __future__ import annotations

import json
import os
import stat
import threading

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from edgecritic.cli.main import main
from edgecritic.datasets.write import write_map
from edgecritic.errors import InputError
from edgecritic.protocols.human import human_level
from edgecritic.report.bench import load_results
from edgecritic.run.bench import run_bench
from edgecritic.run.bench_results import detector_folder
from edgecritic.run.files import write_text
from edgecritic.run.finished import load_run

TRUTH = np.zeros((20, 24), bool)
TRUTH[8, 3:20] = True
NOISE = np.random.default_rng(3).random(TRUTH.shape)


@pytest.fixture
def place(tmp_path):
    """Two images with one annotator each: truth/, good/."""
    for name in ("a", "b"):
        write_map(tmp_path / f"truth/{name}.png", TRUTH)
        write_map(tmp_path / f"good/{name}.png", np.where(TRUTH, 0.9, 0.1 * NOISE))
    return tmp_path


def bench(place, *detectors, more=()):
    folders = [str(one) for one in detectors]
    return main(["bench", *folders, "--truth", str(place / "truth"), "--bootstrap", "20", "-j", "1", *more])


@pytest.mark.parametrize("as_json", [False, True])
def test_nothing_could_be_judged(place, capsys, as_json):
    for name in ("a", "b"):
        write_map(place / f"flat/{name}.png", np.full(TRUTH.shape, 0.3))
    more = ["--out", str(place / "out"), *(["--json"] if as_json else [])]
    assert bench(place, place / "flat", more=more) == 1
    shown = capsys.readouterr()
    assert [line for line in shown.err.splitlines() if "constant" not in line] == []
    assert len(shown.err.splitlines()) == 2
    results = load_results(place / "out")
    assert results["detectors"] == []
    assert results["protocol"]["tolerance_pixels"] is None
    assert (place / "out/report.html").exists()
    if as_json:
        assert json.loads(shown.out) == results
    else:
        assert "No detector was evaluated" in shown.out


def test_maps_without_crispness(place):
    segmentations = np.empty((1, 2), dtype=object)
    segmentations[0, 0] = np.repeat([[1], [2]], 10, axis=0) * np.ones((20, 24), np.uint16)
    segmentations[0, 1] = np.ones((20, 24), np.uint16)
    (place / "segments").mkdir()
    for name in ("a", "b"):
        savemat(place / f"segments/{name}.mat", {"segs": segmentations})
        write_map(place / f"empty/{name}.png", np.zeros(TRUTH.shape))
    more = ["--also", "all", "--out", str(place / "out")]
    assert bench(place, place / "segments", place / "empty", more=more) == 0
    assert [entry["crispness"] for entry in load_results(place / "out")["detectors"]] == [None, None]
    assert main(["doctor", str(place / "segments"), "--truth", str(place / "truth")]) == 0


def test_a_detector_may_have_the_name_of_a_file(place):
    names = ["results.json", "REPORT.html", "pr.svg", "table.csv", "eval_bdry.txt", "records", "@human"]
    detectors = [f"{name}={place / 'good'}" for name in names]
    assert bench(place, *detectors, more=["--out", str(place / "out")]) == 0
    entries = load_results(place / "out")["detectors"]
    assert [entry["name"] for entry in entries] == names
    assert len({entry["folder"] for entry in entries}) == len(names)
    for entry in entries:
        assert (place / "out" / entry["folder"] / "a_ev1.txt").exists()
    assert detector_folder("Records").lower() != "records"


def test_records_are_the_same_when_a_run_is_repeated(place):
    more = ["--out", str(place / "out")]
    assert bench(place, f"_human={place / 'good'}", more=more) == 0
    kept = {path: path.read_bytes() for path in (place / "out/records").glob("*/*.json")}
    assert sorted(len(list(folder.iterdir())) for folder in (place / "out/records").iterdir()) == [1, 1, 2]
    assert len(kept) == 4  # two images, the pictures, and where the files are
    assert bench(place, f"_human={place / 'good'}", more=more) == 0
    assert {path: path.read_bytes() for path in (place / "out/records").glob("*/*.json")} == kept


@pytest.mark.parametrize("order", ["one two", "two one", "two"])
def test_the_annotators_are_counted_once_whoever_is_first(place, order):
    """The record of the first detector tells of them; another one may be the first when a run goes on."""
    out = ["--out", str(place / "out")]
    for name in ("a", "b"):
        (place / f"truth/{name}.png").unlink()
        np.savez(place / f"truth/{name}.npz", first=TRUTH, second=np.roll(TRUTH, 1, axis=0) | TRUTH)
        write_map(place / f"other/{name}.png", np.where(TRUTH, 0.5, 0.1 * NOISE))
    folders = {"one": place / "good", "two": place / "other"}
    assert bench(place, *(f"{name}={folder}" for name, folder in folders.items()), more=out) == 0
    human = load_results(place / "out")["human"]
    assert human["images"] == 2
    assert bench(place, *(f"{name}={folders[name]}" for name in order.split()), more=out) == 0
    assert load_results(place / "out")["human"] == human
    judged = load_run(place / "out").judged
    told = [item.human for items in judged.values() for item in items.values() if item.human is not None]
    assert len(told) == 2
    assert human_level(told).as_dict() == human


def test_names_that_are_not_unicode(place, capsys):
    odd = os.fsdecode(b"x\xff")
    try:
        (place / "good/a.png").rename(place / f"good/{odd}.png")
    except (OSError, UnicodeError):
        pytest.skip("this file system takes Unicode names only")
    (place / "truth/a.png").rename(place / f"truth/{odd}.png")
    more = ["--out", str(place / "out"), "--json"]
    assert bench(place, f"{odd}={place / 'good'}", more=more) == 0
    assert json.loads(capsys.readouterr().out)["detectors"][0]["images"] == 2
    rows = load_results(place / "out")["detectors"][0]["per_image"]
    assert {row["id"] for row in rows} == {"b", odd}


def test_what_is_no_regular_file_is_named(place, capsys):
    (place / "good/b.png").unlink()
    os.mkfifo(place / "good/b.png")
    assert bench(place, place / "good") == 1
    assert "b.png: is a pipe, socket or device" in capsys.readouterr().err


def test_messages_of_broken_pictures_repeat(place):
    (place / "good/b.png").write_bytes(b"")
    runs = [run_bench({"x": place / "good"}, place / "truth", draws=0).results for _ in range(2)]
    assert runs[0]["failures"] == runs[1]["failures"]
    assert "0x" not in runs[0]["failures"][0]["message"]


def test_bad_options_are_refused_before_the_work(place, capsys, monkeypatch):
    def never(*_args, **_more):
        raise AssertionError("worked")

    monkeypatch.setattr("edgecritic.run.bench.run_tasks", never)
    (place / "file").write_text("")
    for more, word in (
        (["--out", str(place / "file")], "cannot be made"),
        (["--out", str(place / "file/below")], "cannot be made"),
        (["--bootstrap", "-1"], "at least 0"),
        (["--split", "test"], "no split 'test'"),
    ):
        assert bench(place, place / "good", more=more) == 1, more
        assert word in capsys.readouterr().err
    assert main(["demo", "--seed", "-1", "--out", str(place / "demo")]) == 1
    assert "--seed" in capsys.readouterr().err
    with pytest.raises(InputError, match="at least 0"):
        run_bench({"x": place / "good"}, place / "truth", draws=-1)


def test_warnings_are_told(place, capsys):
    for name in ("a", "b"):
        picture = Image.fromarray((np.where(TRUTH, 0.9, 0.0) * 255).astype(np.uint8))
        (place / "lossy").mkdir(exist_ok=True)
        picture.save(place / f"lossy/{name}.jpg")
    assert bench(place, place / "lossy") == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all("warning" in line and "JPEG" in line for line in lines)
    assert bench(place, *(f"{n}={place / 'lossy'}" for n in range(4))) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 6
    assert "3 more warnings" in lines[-1]


def test_files_of_an_earlier_run_with_one_detector_go(place):
    more = ["--out", str(place / "out")]
    assert bench(place, place / "good", more=more) == 0
    assert (place / "out/eval_bdry.txt").exists()
    (place / "truth/b.png").unlink()
    assert bench(place, place / "good", more=more) == 0
    assert [path.name for path in (place / "out/good").glob("*_ev1.txt")] == ["a_ev1.txt"]
    assert bench(place, f"x={place / 'good'}", f"y={place / 'good'}", more=more) == 0
    assert not list((place / "out").glob("eval_bdry*"))


def test_writing_leaves_the_mask_of_the_process_alone(tmp_path):
    before = os.umask(0o077)
    try:
        paths = [tmp_path / f"{n}.txt" for n in range(40)]
        threads = [threading.Thread(target=write_text, args=(path, "x")) for path in paths]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert os.umask(0o077) == 0o077
    finally:
        os.umask(before)
    if os.name == "posix":
        assert {stat.S_IMODE(path.stat().st_mode) for path in paths} == {0o600}
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in paths)
