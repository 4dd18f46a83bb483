"""The command where streams are closed, full or interrupted, and where names hold what terminals obey."""

from __future__ import annotations

import csv
import ctypes
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import edgecritic
from edgecritic.cli import match
from edgecritic.cli.main import main
from edgecritic.datasets.write import write_image, write_map
from edgecritic.report.sections import Table, study_report
from edgecritic.report.text import report_markdown, report_text
from edgecritic.report.write import write_report
from edgecritic.tables import csv_cell, plain

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp"
OBEYED = [chr(code) for code in (*range(9), *range(11, 32), *range(127, 160), 0x202E, 0x2066)]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(edgecritic.__file__).parents[1])}


def shell(words: str, redirections: str) -> subprocess.CompletedProcess[bytes]:
    command = f"exec {sys.executable} -m edgecritic {words} {redirections}"
    return subprocess.run(["sh", "-c", command], capture_output=True, timeout=60, env=ENVIRONMENT)


@pytest.mark.parametrize("words", ["", "--help", "list protocols", "completion bash"])
@pytest.mark.parametrize("where", [">&-", pytest.param(">/dev/full", marks=pytest.mark.slow)])
def test_output_that_cannot_be_written_is_one_line_and_status_1(words, where):
    found = shell(words, where)
    assert found.returncode == 1
    assert found.stderr.startswith(b"edgecritic: cannot write the output: ")
    assert found.stderr.count(b"\n") == 1


@pytest.mark.parametrize("where", ["2>&-", "2>/dev/full", "2>&- <&-"])
def test_messages_that_cannot_be_written_change_nothing_else(where):
    assert shell("match no.png no.png", where).returncode == 1
    assert shell("nonsense", where).returncode == 2
    found = shell("list protocols --json", where)
    assert found.returncode == 0
    assert json.loads(found.stdout)["protocols"]


def test_with_all_streams_closed_the_files_are_written(tmp_path):
    write_image(tmp_path / "photo.png", np.eye(20))
    words = f"detect sobel {tmp_path / 'photo.png'} --out {tmp_path / 'maps'}"
    assert shell(words, ">&- 2>&- <&-").returncode == 1
    assert [path.name for path in (tmp_path / "maps").iterdir()] == ["photo.png"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_a_run_with_one_line(number, tmp_path):
    """The run waits in the main thread and in workers until the signal comes."""
    program = (
        "import sys, time; from pathlib import Path; from edgecritic.cli import main as command, match\n"
        "from edgecritic.run.executor import run_tasks\n"
        "def wait(task):\n"
        "    Path(sys.argv[1], str(task)).touch()\n"
        "    time.sleep(30)\n"
        "match.run = lambda args: list(run_tasks(wait, [1, 2, 3], jobs=2))\n"
        "sys.exit(command.main(['match', 'a', 'b']))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # nohup has some ignored
    )
    try:
        for _ in range(600):
            if len(list(tmp_path.iterdir())) == 2:
                break
            time.sleep(0.05)
        process.send_signal(number)
        _, told = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 128 + number
    assert told in (b"edgecritic: interrupted\n", b"edgecritic: stopped\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_foreign_code_swallows_comes_again(number, monkeypatch, capsys):
    """An exception cannot leave a callback of C code, such as those of the compiler of the kernels."""

    @ctypes.CFUNCTYPE(None)
    def callback():
        signal.raise_signal(number)

    def run(_args):
        callback()
        time.sleep(20)
        return 0

    hook = sys.unraisablehook
    monkeypatch.setattr(match, "run", run)
    before = signal.signal(number, signal.SIG_DFL)  # nohup has some ignored
    try:
        assert main(["match", "a", "b"]) == 128 + number
    finally:
        signal.signal(number, before)
    assert capsys.readouterr().err in ("edgecritic: interrupted\n", "edgecritic: stopped\n")
    assert sys.unraisablehook is hook


def test_the_handlers_of_signals_are_given_back(capsys):
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    streams = sys.stdin, sys.stdout, sys.stderr
    assert main(["list", "protocols"]) == 0
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before
    assert (sys.stdin, sys.stdout, sys.stderr) == streams


def assert_harmless(text: str) -> None:
    assert not [sign for sign in OBEYED if sign in text]


@pytest.fixture
def named(tmp_path):
    """A folder of maps and one of truths; a name holds escape sequences, another a line end and bytes."""
    names = [f"a{EVIL}", "line\nend", os.fsdecode(b"bytes\xff\xfe"), "-option", "=1+1"]
    for name in names:
        for folder in ("maps", "truth"):
            write_map(tmp_path / folder / f"{name}.png", np.eye(12, 14, dtype=bool))
        write_image(tmp_path / "images" / f"{name}.png", np.eye(12, 14))
    return tmp_path, names


COMMANDS = {
    "bench": ["bench", "maps", "--truth", "truth", "--bootstrap", "0", "-o", "out"],
    "score": ["score", "maps", "--truth", "truth", "-m", "dice"],
    "doctor": ["doctor", "maps", "--truth", "truth"],
    "detect": ["detect", "sobel", "images", "--out", "out"],
    "tune": ["tune", "images", "-d", "sobel", "-m", "entropy", "--thresholds", "3", "-q", "-o", "out"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_names_of_files_are_shown_and_not_obeyed(name, named, capsys, monkeypatch):
    home, _ = named
    monkeypatch.chdir(home)
    assert main(COMMANDS[name]) == 0
    told = capsys.readouterr()
    assert_harmless(told.out + told.err)
    for file in [path for path in home.glob("out/**/*") if path.suffix in (".txt", ".html", ".csv", ".tex")]:
        assert_harmless(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["score", "bench", "doctor"])
def test_json_keeps_names_as_they_are(name, named, capsys, monkeypatch):
    home, names = named
    monkeypatch.chdir(home)
    assert main([*COMMANDS[name], "--json"]) == 0
    text = capsys.readouterr().out
    assert_harmless(text)
    if name == "score":
        assert set(json.loads(text)["images"]) == set(names)


def test_errors_and_usage_show_names_harmlessly(tmp_path, capsys):
    assert main(["match", str(tmp_path / EVIL), "b"]) == 1
    assert main(["match", "a", "b", f"--{EVIL}"]) == 2
    assert main(["score", str(tmp_path / EVIL), "b", "-m", EVIL]) == 1
    told = capsys.readouterr()
    assert_harmless(told.out + told.err)


def test_a_line_end_in_a_name_breaks_no_table(named, capsys, monkeypatch):
    home, names = named
    monkeypatch.chdir(home)
    assert main(COMMANDS["score"]) == 0
    statistics = 4  # a blank line, the head of the table, its rule, one measure
    assert len(capsys.readouterr().out.splitlines()) == len(names) + 4 + statistics
    assert main([*COMMANDS["score"], "--csv"]) == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == len(names) + 1
    assert not [row for row in rows if row[0][0] in "=+-@"]


def test_tables_of_reports_hold_no_formula(tmp_path):
    rows = (("=cmd|' /C calc'!A0", -0.5), ("+1", 2), ("@sum", 3), ("line\nend", 4), ("-0.5", 5))
    table = Table(name="t", title=EVIL, header=("name", "-value"), body=rows)
    report = study_report("x", (EVIL,), tables=(table,))
    assert_harmless(report_text(report))
    assert_harmless(report_markdown(report))
    write_report(tmp_path, report, name="x")
    read = list(csv.reader((tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()))
    assert read[1:] == [
        ["'=cmd|' /C calc'!A0", "-0.5"],
        ["+1", "2"],
        ["'@sum", "3"],
        ["line�end", "4"],
        ["-0.5", "5"],
    ]
    assert "line end" in report_text(report)


def test_plain_text_stays():
    text = "F ½ ± 0.1\tµm – ↑ ≥ 日本\u00a0語 👩\u200d💻\nnext"
    assert plain(text) == text
    assert plain("".join(OBEYED)) == "�" * len(OBEYED)
    assert json.loads(plain(json.dumps(EVIL, ensure_ascii=False), escape=True)) == EVIL
    assert [csv_cell(cell) for cell in (None, "", 3, -2.5)] == [None, "", 3, -2.5]


@pytest.mark.parametrize(
    "text", ["id = " + "[" * 8000, "a" + ".a" * 100_000 + " = 1", "\x00", "id = 1979-05-27"]
)
def test_strange_protocol_files_are_one_line(text, tmp_path, capsys):
    (tmp_path / "p.toml").write_text(text)
    assert main(["bench", "maps", "--truth", "truth", "--protocol", str(tmp_path / "p.toml")]) == 1
    told = capsys.readouterr().err
    assert "p.toml" in told
    assert told.count("\n") == 1


@pytest.mark.parametrize("option", ["--protocol", "--curve"])
def test_a_pipe_is_refused_and_not_waited_for(option, tmp_path, capsys):
    os.mkfifo(tmp_path / "p.toml")
    place = str(tmp_path / "p.toml")
    words = ["bench", "maps", "--truth", "truth", option, f"x={place}" if option == "--curve" else place]
    assert main(words) == 1
    assert "pipe" in capsys.readouterr().err
