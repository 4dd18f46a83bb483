"""Finished runs, read back from their folders and put together."""

from __future__ import annotations

import json
import shutil
import threading

import pytest

from edgecritic.cli.main import main
from edgecritic.datasets.synthetic import write
from edgecritic.errors import DataError, InputError, ProtocolMismatchError
from edgecritic.report.bench import write_run
from edgecritic.report.join import follow_runs
from edgecritic.run.bench import run_bench
from edgecritic.run.finished import join_runs, load_run
from edgecritic.run.plan import read_plan

EXTRAS = ("crispness", "ceval")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    place = tmp_path_factory.mktemp("finished")
    write(place / "data", 3)
    for name in ("good", "noisy"):
        bench(place, place / name, name)
    bench(place, place / "both", "good", "noisy")
    shutil.rmtree(place / "data" / "predictions")  # nothing but the folders of runs is needed from here on
    return place


def bench(place, out, *names, truth="data/truth", **more):
    detectors = {name: place / "data" / "predictions" / name for name in names}
    run = run_bench(detectors, place / truth, out=out, draws=50, extras=EXTRAS, jobs=1, **more)
    write_run(out, run)
    return run


def files(folder):
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and "records" not in file.parts and file.name != "run.json"
    }


def test_joined_runs_are_the_bytes_of_one_run(home, tmp_path, capsys):
    assert main(["report", str(home / "good"), str(home / "noisy"), "-o", str(tmp_path / "joined")]) == 0
    assert "noisy" in capsys.readouterr().out
    joined, whole = files(tmp_path / "joined"), files(home / "both")
    assert joined.keys() == whole.keys()
    assert [name for name in whole if joined[name] != whole[name]] == []


def test_a_report_drawn_anew_is_the_same(home, tmp_path):
    shutil.copytree(home / "both", tmp_path / "copy")
    before = files(tmp_path / "copy")
    (tmp_path / "copy" / "report.html").unlink()
    assert main(["report", str(tmp_path / "copy"), "-q"]) == 0
    assert files(tmp_path / "copy") == before


def test_the_plan_is_read_as_it_was_written(home):
    plan = read_plan(home / "both")
    assert [one.name for one in plan.detectors] == ["good", "noisy"]
    assert plan.extras == EXTRAS
    assert plan.protocol.id == "bsds"
    assert load_run(home / "both").finished


def test_protocols_that_differ_are_refused_by_their_fields(home, tmp_path):
    write(tmp_path / "data", 3)
    bench(tmp_path, tmp_path / "other", "good", protocol="strict")
    runs = {"one": load_run(home / "good"), "other": load_run(tmp_path / "other")}
    with pytest.raises(ProtocolMismatchError, match=r"relative_tolerance 0\.0075 and 0\.003"):
        join_runs(runs)


def test_truths_that_differ_are_refused(home, tmp_path):
    write(tmp_path / "data", 3, seed=5)
    bench(tmp_path, tmp_path / "other", "noisy")
    with pytest.raises(InputError, match="different truths"):
        join_runs({"one": load_run(home / "good"), "other": load_run(tmp_path / "other")})


def test_images_that_differ_are_refused_or_left_out(home, tmp_path):
    write(tmp_path / "data", 3)
    next(iter(sorted((tmp_path / "data" / "predictions" / "noisy").iterdir()))).unlink()
    bench(tmp_path, tmp_path / "other", "noisy")
    runs = {"one": load_run(home / "good"), "other": load_run(tmp_path / "other")}
    with pytest.raises(InputError, match="lacks 1 of the 3 images"):
        join_runs(runs)
    joined = join_runs(runs, common=True)
    assert [len(one.counts) for one in joined.details.values()] == [2, 2]


def test_detectors_of_one_name_are_told_apart(home):
    one = load_run(home / "good")
    assert list(join_runs({"a": one, "b": load_run(home / "good")}).details) == ["a", "b"]
    both = load_run(home / "both")
    assert list(join_runs({"a": one, "b": both}).details) == ["a", "b/good", "noisy"]


def test_people_are_counted_once(home):
    joined = join_runs({"a": load_run(home / "good"), "b": load_run(home / "noisy")})
    assert joined["human"] == load_results(home / "both")["human"]


def load_results(folder):
    return json.loads((folder / "results.json").read_text())


def test_records_of_other_options_are_not_taken(home, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(home / "good", folder)
    (folder / "results.json").unlink()
    plan = json.loads((folder / "run.json").read_text())
    plan["detectors"][0]["settings"] = "of another run"
    (folder / "run.json").write_text(json.dumps(plan))
    assert load_run(folder).done == 0
    with pytest.raises(InputError, match="nothing is judged"):
        join_runs({"a": load_run(folder)})


def test_lost_and_damaged_records_are_told(home, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(home / "good", folder)
    first, second, _ = sorted((folder / "records" / "good").iterdir())
    first.unlink()
    second.write_bytes(second.read_bytes()[:-40])
    with pytest.warns(UserWarning, match="damaged"), pytest.raises(DataError, match="2 record"):
        load_run(folder)


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"schema": 2}', '{"schema": 1}', "[" * 50000])
def test_other_files_as_plans_are_refused_in_one_line(tmp_path, content, capsys):
    (tmp_path / "run.json").write_text(content)
    assert main(["report", str(tmp_path)]) != 0
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(DataError, match="no folder of a benchmark run"):
        load_run(tmp_path)


def test_a_report_grows_with_its_run(home, tmp_path):
    """Two of three images give a page that says so and loads itself anew; with all of them it ends."""
    pytest.importorskip("jinja2")
    folder = tmp_path / "going"
    shutil.copytree(home / "good", folder)
    results = folder / "results.json"
    kept = results.read_bytes()
    results.unlink()
    last = sorted((folder / "records" / "good").iterdir())[-1]
    record = last.read_bytes()
    last.unlink()
    told = []

    def finish(_seconds):
        page = (folder / "report.html").read_text()
        assert '<meta http-equiv="refresh" content="2">' in page
        assert "2 of 3 maps are judged so far" in page
        last.write_bytes(record)
        results.write_bytes(kept)
        return False

    runs = follow_runs({"going": folder}, folder, every=1, tell=told.append, stop=finish)
    assert runs["going"].finished
    assert told == ["2 of 3 maps are judged"]
    ended = threading.Event()
    ended.set()
    results.unlink()
    assert follow_runs({"going": folder}, folder, every=1, stop=ended.wait) is None


def test_bench_lets_its_report_grow(tmp_path, capsys):
    write(tmp_path / "data", 2)
    arguments = ["bench", str(tmp_path / "data/predictions/good"), "--truth", str(tmp_path / "data/truth")]
    assert main([*arguments, "--follow"]) == 1
    assert "--out" in capsys.readouterr().err
    assert main([*arguments, "--follow", "1", "-o", str(tmp_path / "run"), "--bootstrap", "0"]) == 0
    assert 'http-equiv="refresh"' not in (tmp_path / "run" / "report.html").read_text()


def test_rows_are_those_of_papers(home):
    rows = (home / "both" / "rows.tex").read_text().splitlines()
    assert "% Method & ODS & OIS & AP" in rows
    wide = [row for row in rows if row.count("&") == 7 and not row.startswith("%")]
    assert len(wide) == 2
    assert all(row.endswith(r" \\") for row in wide)
