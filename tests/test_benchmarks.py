"""The table of ``make bench``: a line for every bar, whatever is missing or breaks."""

from __future__ import annotations

import dataclasses
import importlib
import io
import json
import sys
from pathlib import Path

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
def parts(benchmarks, monkeypatch):
    """A run with a part whose checks are good, bad, missing and broken."""
    bars, run = benchmarks("bars"), benchmarks("run")
    monkeypatch.setattr(bars, "CHECKS", [])
    monkeypatch.setattr(run, "CHECKS", bars.CHECKS)
    monkeypatch.setattr(run, "PARTS", {"matching": ()})

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
