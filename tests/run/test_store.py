"""The one store: what a record is valid for, and what happens to damaged ones."""

from __future__ import annotations

import json
import os
from collections import Counter

import numpy as np
import pytest

import edgecritic
from edgecritic.cli.main import main
from edgecritic.datasets import content, files
from edgecritic.datasets.synthetic import write
from edgecritic.datasets.write import write_map
from edgecritic.report.bench import illustrate
from edgecritic.run import fit, retrain, tune_folder
from edgecritic.run.bench import run_bench
from edgecritic.run.store import Store, kept, record_key, safe_name


def test_a_record_is_valid_for_its_key_only(tmp_path):
    store = Store(tmp_path / "deep/er")
    store.save("a/b", "key", {"x": [1, 0.1, None]})
    assert store.load("a/b", "key") == {"x": [1, 0.1, None]}
    assert store.load("a/b", "other") is None
    assert store.load("missing", "key") is None
    assert store.holds("a/b", "key")
    assert not store.holds("a/b", "other")
    assert not store.holds("missing", "key")


def fifo(path, _whole):
    path.unlink()
    os.mkfifo(path)


DAMAGES = {
    "another content": lambda path, whole: path.write_text(json.dumps({**whole, "content": {"x": 2}})),
    "another kind of content": lambda path, whole: path.write_text(json.dumps({**whole, "content": [1]})),
    "no content": lambda path, whole: path.write_text(json.dumps({"key": whole["key"]})),
    "cut": lambda path, whole: path.write_text(json.dumps(whole)[:-5]),
    "empty": lambda path, _whole: path.write_bytes(b""),
    "a list": lambda path, _whole: path.write_text("[1]"),
    "no text": lambda path, _whole: path.write_bytes(b"\xff\xfe\x00"),
    "deeply nested": lambda path, _whole: path.write_text("[" * 200_000),
    "deeply nested content": lambda path, whole: path.write_text(
        f'{{"key": "{whole["key"]}", "check": "", "content": {{"a":{"[" * 900}{"]" * 900}}}}}'
    ),
    "a pipe": fifo,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_records_are_told_and_made_anew(tmp_path, damage):
    made = []

    def compute():
        made.append(1)
        return {"x": 1}

    assert kept(tmp_path, "a", "key", compute) == {"x": 1}
    path = tmp_path / f"{safe_name('a')}.json"
    whole = path.read_bytes()
    damage(path, json.loads(whole))
    with pytest.warns(UserWarning, match=r"a\.json: a damaged record is thrown away and made anew"):
        assert kept(tmp_path, "a", "key", compute) == {"x": 1}
    assert len(made) == 2
    assert path.read_bytes() == whole
    assert kept(tmp_path, "a", "key", compute) == {"x": 1}
    assert len(made) == 2


def test_a_record_of_another_version_of_the_package_is_not_used(monkeypatch):
    before = record_key({"a": 1})
    monkeypatch.setattr("edgecritic.run.store.__version__", f"{edgecritic.__version__}.1")
    assert record_key({"a": 1}) != before


def test_what_is_hashed_is_what_was_judged(tmp_path, monkeypatch):
    """A prediction that changes after it was read is judged and kept as it was when it was read."""
    truth = np.zeros((20, 20), bool)
    truth[10] = True
    write_map(tmp_path / "truth/a.png", truth)
    write_map(tmp_path / "pred/a.png", truth * 0.8)
    calm = run_bench({"x": tmp_path / "pred"}, tmp_path / "truth", draws=0, human=False).results

    real = files.read_truths

    def change(*given, **more):
        write_map(tmp_path / "pred/a.png", truth.T * 0.8)
        return real(*given, **more)

    monkeypatch.setattr("edgecritic.datasets.cases.read_truths", change)
    out = tmp_path / "out"
    hasty = run_bench({"x": tmp_path / "pred"}, tmp_path / "truth", draws=0, human=False, out=out).results
    assert hasty == calm
    monkeypatch.undo()
    changed = run_bench({"x": tmp_path / "pred"}, tmp_path / "truth", draws=0, human=False, out=out).results
    assert changed["detectors"][0]["ods"]["f"] < 0.3 < calm["detectors"][0]["ods"]["f"]


def _judge_by_a_model(home):
    from edgecritic.learned.models import load_model, shipped

    case = fit.photo_cases(home / "images", home / "truth")[0]
    retrain._judged(
        retrain._Job(case, {"all": load_model(shipped("pb"))}, {}, (), home / "judged", True, None)
    )


SEVERAL = {
    "bench": lambda home: run_bench({"x": home / "predictions/good"}, home / "truth", draws=0, jobs=1),
    "tune": lambda home: tune_folder(
        home / "images",
        home / "truth",
        detectors=[str(home / "predictions/good")],
        measures=["sk"],
        thresholds=3,
        out=home / "tuned",
        jobs=1,
    ),
    "fit": lambda home: fit._extracted(_first_stage(home)),
    "retrain": _judge_by_a_model,
}


def _first_stage(home):
    case = fit.photo_cases(home / "images", home / "truth")[0]
    return fit._Job(
        case=case,
        stage=fit.trainables.bind("pb")()[0],
        detector="pb",
        known=None,
        labels=(fit.Labels(),),
        seed=0,
        folder=None,
        fresh=False,
        binarize=None,
        cache=None,
    )


@pytest.mark.parametrize("name", SEVERAL)
def test_no_file_is_read_twice(name, tmp_path, monkeypatch):
    """What is read twice may have changed in between, and is then kept under the hash of another state."""
    home, times = write(tmp_path, 1), Counter()
    real = content._read

    def counted(file, limit):
        times[file.name, file.parent.name] += 1
        return real(file, limit)

    monkeypatch.setattr(content, "_read", counted)
    SEVERAL[name](home)
    assert len(times) >= 2
    assert [file for file, number in times.items() if number > 1] == []


@pytest.mark.parametrize("change", ["another", "gone"])
def test_no_picture_of_files_that_changed_since(tmp_path, change):
    truth = np.zeros((20, 20), bool)
    truth[10] = True
    for name in "ab":
        write_map(tmp_path / f"truth/{name}.png", truth)
        write_map(tmp_path / f"pred/{name}.png", truth * 0.8)
    run = run_bench({"x": tmp_path / "pred"}, tmp_path / "truth", draws=0)
    assert {picture.name for picture in illustrate(run)} == {"a", "b"}
    if change == "gone":
        (tmp_path / "pred/a.png").unlink()
    else:
        write_map(tmp_path / "pred/a.png", truth.T * 0.8)
    with pytest.warns(UserWarning, match="a: its files have changed since they were judged"):
        assert {picture.name for picture in illustrate(run)} == {"b"}


@pytest.mark.parametrize(
    "command",
    [
        ["study", "matching", "--inter", "0", "--canny", "0", "--tolerances", "2.5"],
        ["study", "labels", "--draws", "0", "--most", "1"],
        ["annotators"],
    ],
    ids=lambda words: words[1] if len(words) > 1 else words[0],
)
def test_what_is_kept_is_used_unless_fresh(command, tmp_path, capsys):
    home = write(tmp_path / "data", 2, detectors=())
    place = [str(home / "truth")] if command == ["annotators"] else ["--data", str(home / "truth")]
    if "labels" in command:
        place += ["--images", str(home / "images")]
    command = [*command, *place, "--out", str(tmp_path / "out")]

    def run(*more):
        assert main([*command, *more]) == 0
        capsys.readouterr()
        return {path: path.stat().st_ino for path in (tmp_path / "out/records").rglob("*.json")}

    first = run()
    assert first
    assert run() == first
    fresh = run("--fresh")
    assert fresh.keys() == first.keys()
    assert all(fresh[path] != first[path] for path in first)
