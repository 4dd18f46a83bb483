"""The table of ``make bench``: a line for every bar, whatever is missing or breaks."""

from __future__ import annotations

import dataclasses
import importlib
import io
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture
def benchmarks(monkeypatch):
    """Import modules of the folder, and forget them afterwards."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    for path in BENCHMARKS.glob("*.py"):
        monkeypatch.delitem(sys.modules, path.stem, raising=False)
    yield importlib.import_module
    for path in BENCHMARKS.glob("*.py"):
        sys.modules.pop(path.stem, None)


@pytest.fixture
def parts(benchmarks, monkeypatch, tmp_path):
    """A run with a part whose checks are good, bad, missing and broken."""
    bars, run = benchmarks("bars"), benchmarks("run")
    monkeypatch.setattr(bars, "CHECKS", [])
    monkeypatch.setattr(run, "CHECKS", bars.CHECKS)
    monkeypatch.setattr(run, "PARTS", {"matching": ()})
    monkeypatch.setattr(run, "HISTORY", tmp_path / "history.jsonl")

    @bars.check("matching", ("fast", "≥ 2×"), ("small", "≤ 1 MiB"))
    def good(given):
        yield bars.Figure("3×", True)
        yield bars.Figure("2 MiB" if not given.quick else "1 MiB", given.quick)

    @bars.check("matching", ("beside a peer", "≥ 2×"), needs=("no_such_peer",))
    def peerless(given):
        raise AssertionError("must not be called")

    @bars.check("matching", ("first", "1"), ("second", "2"), ("third", "3"))
    def breaks(given):
        yield bars.Figure("1", True)
        raise ValueError("two\nlines")

    @bars.check("matching", ("after all", "0"))
    def last(given):
        yield bars.Figure("0", True)

    return run


def test_nothing_stops_the_table(parts, tmp_path, capsys):
    file = tmp_path / "bars.json"
    assert parts.main(["--json", str(file)]) == 0
    rows = {row["what"]: row for row in json.loads(file.read_text(encoding="utf-8"))}
    assert [row["met"] for row in rows.values()] == [True, False, None, True, None, None, True]
    assert rows["beside a peer"]["measured"] == "not measured: no_such_peer is not installed"
    assert not rows["beside a peer"]["failed"]
    assert rows["second"]["measured"] == rows["third"]["measured"] == "error: ValueError: two lines"
    assert rows["third"]["failed"]
    shown = capsys.readouterr().out
    assert all(what in shown for what in rows)
    assert "7 bars: 3 met, 1 missed, 2 ended with an error, 1 not measured" in shown


def test_lines_are_kept_as_they_are_measured(parts, tmp_path, monkeypatch):
    file = tmp_path / "bars.json"
    seen = []
    add = parts.Table.add

    def watched(table, bar):
        seen.append(len(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else 0)
        add(table, bar)

    monkeypatch.setattr(parts.Table, "add", watched)
    parts.main(["--json", str(file)])
    assert seen == list(range(7))


def test_strict_tells_by_the_status(parts, capsys):
    assert parts.main(["--strict"]) == 1
    assert parts.main(["--quick"]) == 0
    with pytest.raises(SystemExit) as wrong:
        parts.main(["nonsense"])
    assert wrong.value.code == 2


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_table_is_aligned(benchmarks, width):
    bars, table = benchmarks("bars"), benchmarks("table")
    out = io.StringIO()
    shown = table.Table(width, out=out)
    shown.head()
    for part in ("matching", "annotators"):
        shown.add(bars.Bar(part, "a " * 60, "measured " * 9, "≤ 5 calls", True))
        shown.add(bars.Bar(part, "what", "much", "≤ 5 calls", None))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= max(width, table.NARROWEST)
    gaps = [at for at, rule in enumerate(lines[1]) if rule == " "]
    assert len(gaps) == 4 * table.GAP
    assert all(line[at : at + 1] in ("", " ") for line in lines for at in gaps)
    assert sum("annotators" in line for line in lines) == 1


def test_every_part_names_its_bars(benchmarks):
    run, bars = benchmarks("run"), benchmarks("bars")
    checks = run.checks_of(list(run.PARTS))
    assert {each.part for each in checks} == set(run.PARTS)
    assert len(checks) == len(bars.CHECKS)
    rows = [(each.part, *row) for each in checks for row in each.rows]
    assert len(set(rows)) == len(rows)
    assert all(what and bar for _, what, bar in rows)


def test_without_the_real_data_it_is_said(benchmarks, monkeypatch, tmp_path):
    bars, run = benchmarks("bars"), benchmarks("run")
    monkeypatch.setenv("EDGECRITIC_DATA", str(tmp_path / "nothing"))
    assert bars.data_root() is None
    given = bars.Given(bars.data_root())
    checks = run.checks_of(["matching", "boundary", "annotators"])
    without = [each for each in checks if set(each.needs) & set(bars.PLACES)]
    assert len(without) > 8
    for each in without:
        lines = list(each.measure(given))
        assert len(lines) == len(each.rows)
        assert all("EDGECRITIC_DATA" in line.measured and line.met is None for line in lines)


def test_an_interrupted_run_keeps_its_table(parts, capsys):
    def stopped(given):
        raise KeyboardInterrupt
        yield

    parts.CHECKS[1] = dataclasses.replace(parts.CHECKS[1], needs=(), function=stopped)
    assert parts.main([]) == 130
    assert "2 bars: 1 met, 1 missed" in capsys.readouterr().out


def test_numbers_are_found_in_the_words(benchmarks):
    bars = benchmarks("bars")
    bar = bars.Bar("boundary", "bench", "7.2 s, 6.3 times reading", "≤ 8 s", True)
    assert (bar.number, bar.better) == (7.2, "lower")
    assert dataclasses.replace(bar, value=6.3).number == 6.3
    assert dataclasses.replace(bar, measured="median 1,304× (from 499×)", bar="≥ 400×").number == 1304
    assert dataclasses.replace(bar, measured="2.7e-14").number == 2.7e-14
    assert dataclasses.replace(bar, bar="all equal").number is None
    assert dataclasses.replace(bar, measured="not measured: 3 things are missing").number is None
    assert dataclasses.replace(bar, failed=True).number is None


def test_every_run_is_kept(parts, benchmarks, tmp_path):
    file = tmp_path / "deep" / "history.jsonl"
    for _ in range(2):
        parts.main(["--history", str(file)])
    lines = list(benchmarks("history").History(file).lines())
    assert [line["row"] for line in lines] == ["fast", "small"] * 2
    assert [line["value"] for line in lines] == [3, 2] * 2
    assert {"date", "revision", "machine", "load", "quick", "better", "bar", "met"} <= set(lines[0])
    with file.open("a", encoding="utf-8") as stream:
        stream.write('{"row": "cut of')
    assert len(list(benchmarks("history").History(file).lines())) == 4


class _Made:
    """A side of made-up numbers: a list of runs, each with a text for every row."""

    def __init__(self, bars, name, *runs):
        self.bars, self.name, self.runs = bars, name, list(runs)

    def measure(self, each, quick):
        words = self.runs.pop(0)
        rows = zip(each.rows, words, strict=True)
        return [self.bars.Bar(each.part, what, text, bar, None) for (what, bar), text in rows]


def test_revisions_are_compared_row_by_row(benchmarks):
    bars, against, table = benchmarks("bars"), benchmarks("against"), benchmarks("table")
    rows = (("time", "≤ 9 s"), ("speed", "≥ 2×"), ("noisy", "≤ 9 s"), ("new", "≤ 1 s"), ("old", "≤ 1 s"))
    each = bars.Check("matching", (*rows, ("right", "all equal")), (), None)
    gone = "not measured: nothing of the kind"
    base = _Made(
        bars,
        "v1",
        *[
            ("2.0 s", "10×", "1.0 s", gone, "1 s", "yes"),
            ("2.2 s", "9×", "1.4 s", gone, "1 s", "yes"),
            ("2.0 s", "10×", "1.5 s", gone, "1 s", "yes"),
        ],
    )
    now = _Made(
        bars,
        "now",
        *[
            ("2.0 s", "8×", "1.3 s", "1 s", gone, "yes"),
            ("2.1 s", "9×", "1.2 s", "1 s", gone, "yes"),
            ("1.9 s", "9×", "1.6 s", "1 s", gone, "yes"),
        ],
    )
    out = io.StringIO()
    shown = table.Table(120, out=out)
    slower, single = against.compare(
        [each], (base, now), rounds=3, quick=False, table=shown, history=benchmarks("history").History(None)
    )
    assert slower == ["matching: speed", "matching: old"]  # 10 / 9 > 1.05, and runs of a side agree
    assert [name.partition(" (")[0] for name in single] == ["matching: new", "matching: old"]
    assert f"(only here; {gone})" in single[0]
    assert f"(only v1; {gone})" in single[1]
    assert [bar.met for bar in shown.bars] == [True, False, True, None, None, None]
    assert shown.bars[0].measured == "base 2, now 1.9: 0.950"
    assert shown.bars[2].bar == "≤ 1.05 + noise 0.400"  # 1.4 is the median of 1.0, 1.4 and 1.5


@pytest.mark.parametrize(("speed", "status"), [(10, 0), (8, 1)])
def test_a_slower_working_tree_is_noticed(tmp_path, speed, status):
    """A repository with the scripts, and a package that says how fast it is."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    (tmp_path / "benchmarks").mkdir()
    for name in ("bars", "run", "table", "history", "against"):
        shutil.copy(BENCHMARKS / f"{name}.py", tmp_path / "benchmarks")
    part = '"""One row."""\nfrom bars import Figure, check\nimport edgecritic\n\n\n'
    part += '@check("regions", ("row", "≥ 2×"))\ndef row(given):\n'
    part += '    yield Figure(f"{edgecritic.SPEED}×", True)\n'
    package = tmp_path / "src/edgecritic/__init__.py"
    package.parent.mkdir(parents=True)
    package.write_text("SPEED = 10\n", encoding="utf-8")
    module = tmp_path / "benchmarks/regions.py"
    module.write_text(part.replace('"row"', '"row of old"'), encoding="utf-8")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    module.write_text(part, encoding="utf-8")
    package.write_text(f"SPEED = {speed}\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "benchmarks/run.py", "regions", "--against", "HEAD", "--rounds", "1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert f"base 10, now {speed}" in " ".join(done.stdout.split())
    assert "regions: row of old (only HEAD)" in done.stdout
    (line,) = (tmp_path / "bench-results/history.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["ratio"] == pytest.approx(10 / speed)
    assert not list(tmp_path.glob("against-*"))


def test_an_unknown_revision_is_refused_in_words(parts):
    with pytest.raises(SystemExit, match="--against no-such-revision"):
        parts.main(["--against", "no-such-revision"])


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="the watcher is compiled")
@pytest.mark.parametrize(("held", "least", "most"), [(True, 0.9, 1.0), (False, 0.0, 0.1)])
def test_the_watcher_sees_whether_the_interpreter_lock_is_held(benchmarks, held, least, most):
    """Beside a thread that runs Python, and beside one that sleeps."""
    bars = benchmarks("bars")
    try:
        watch = benchmarks("whole_runs").watcher()
    except bars.MissingError as error:
        pytest.skip(str(error))
    flags, counts = np.array([1, 0]), np.zeros(2, dtype=np.int64)

    def work() -> None:
        end = time.monotonic() + 0.2
        while time.monotonic() < end:
            if not held:
                time.sleep(0.02)
        flags[1] = 1

    worker = threading.Thread(target=work)
    worker.start()
    watch(flags, counts)
    worker.join()
    assert counts[0] > 10
    assert least <= counts[1] / counts[0] <= most
