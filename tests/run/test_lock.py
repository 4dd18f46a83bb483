"""One run at a time in a folder: tested with real processes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from edgecritic.atomic import remove_parts, replace_file
from edgecritic.cli.main import build_parser, main
from edgecritic.datasets.write import write_map
from edgecritic.errors import OutputError
from edgecritic.run.lock import hold_folder

HOLD = """
import sys
from edgecritic.run.lock import hold_folder
with hold_folder(sys.argv[1], "edgecritic bench"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Start a process that holds the folder `out` until its stdin ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "out")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


@pytest.fixture
def detect(tmp_path):
    """Return a quick command that writes one map into the folder `out`."""
    write_map(tmp_path / "photo.png", np.eye(12))
    return ["detect", "sobel", str(tmp_path / "photo.png"), "--out", str(tmp_path / "out")]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_second_is_refused_with_process_and_start_of_the_first(holder, detect, tmp_path):
    told = subprocess.run([sys.executable, "-m", "edgecritic", *detect], capture_output=True, text=True)
    assert told.returncode == 1
    assert told.stdout == ""
    assert re.fullmatch(
        rf"edgecritic: .*out: in use by process {holder.pid} on .* \(edgecritic bench, started "
        r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}\); wait for its end \(--wait\), .*\n",
        told.stderr,
    )
    assert names(tmp_path / "out") == [".run.lock"]


def test_waiting(holder, detect, tmp_path):
    command = [sys.executable, "-m", "edgecritic", *detect, "--wait"]
    second = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert f"waiting for process {holder.pid} " in second.stderr.readline()
        assert names(tmp_path / "out") == [".run.lock"]
        holder.stdin.close()
        holder.wait(20)
        assert second.wait(60) == 0
        assert names(tmp_path / "out") == ["photo.png"]
    finally:
        second.kill()
        second.communicate()


def test_the_lock_of_a_killed_process_is_taken_over(holder, detect, tmp_path):
    holder.kill()
    holder.wait()
    assert names(tmp_path / "out") == [".run.lock"]
    assert main(detect) == 0
    assert names(tmp_path / "out") == ["photo.png"]


def test_two_benchmarks_never_mix(tmp_path):
    from edgecritic.datasets.synthetic import write

    home = write(tmp_path / "data", 2)
    command = [sys.executable, "-m", "edgecritic", "bench", str(home / "predictions/good")]
    command += ["--truth", str(home / "truth"), "--bootstrap", "0", "--out", str(tmp_path / "out")]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        lock, end = tmp_path / "out/.run.lock", time.monotonic() + 60
        while not (lock.exists() and lock.read_bytes()) and time.monotonic() < end:
            time.sleep(0.005)
        os.kill(first.pid, signal.SIGSTOP)
        assert json.loads(lock.read_bytes())["process"] == first.pid
        second = subprocess.run([*command, "--protocol", "pdollar"], capture_output=True, text=True)
        assert second.returncode == 1
        assert f"process {first.pid} " in second.stderr
        assert len(second.stderr.splitlines()) == 1
        os.kill(first.pid, signal.SIGCONT)
        assert first.wait(120) == 0
    finally:
        first.kill()
        first.wait()
    assert not lock.exists()
    assert json.loads((tmp_path / "out/results.json").read_text())["protocol"]["id"] == "bsds"


def commands_with_a_folder(parser, words=()):
    for action in parser._actions:
        if action.dest == "out":
            yield list(words), parser
        for name, one in (action.choices or {}).items() if hasattr(action, "_parser_class") else ():
            yield from commands_with_a_folder(one, (*words, name))


def test_every_command_with_a_folder_respects_the_lock(tmp_path, capsys):
    found = list(commands_with_a_folder(build_parser()))
    assert len(found) >= 11
    needed = {"truth": ["--truth", "t"]}
    with hold_folder(tmp_path, "edgecritic bench"), hold_folder(f"{tmp_path}.records", "edgecritic fit"):
        for words, parser in found:
            positionals = [one.dest for one in parser._actions if not one.option_strings]
            options = [part for one in parser._actions if one.required for part in needed.get(one.dest, [])]
            options = [] if "truth" in positionals else options
            assert main([*words, *positionals, *options, "--out", str(tmp_path)]) == 1, words
            assert f"in use by process {os.getpid()} " in capsys.readouterr().err, words
            assert any("--wait" in one.option_strings for one in parser._actions), words


def test_shares_of_a_study_do_not_exclude_each_other(tmp_path):
    with (
        hold_folder(tmp_path, "a", part="share-1/2"),
        hold_folder(tmp_path, "b", part="share-2/2"),
        pytest.raises(OutputError, match="in use"),
        hold_folder(tmp_path, "c", part="share-2/2"),
    ):
        pass
    assert names(tmp_path) == []


def test_a_run_that_wrote_nothing_leaves_no_folder(tmp_path, capsys):
    assert main(["annotators", str(tmp_path / "absent"), "--out", str(tmp_path / "a/b")]) == 1
    assert "absent" in capsys.readouterr().err
    assert names(tmp_path) == []


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path, detect, capsys):
    (tmp_path / "out").write_text("a file")
    assert main(detect) == 1
    told = capsys.readouterr().err
    assert len(told.splitlines()) == 1
    assert "cannot be made a folder of results" in told


@pytest.mark.parametrize("content", [b"", b"[1", b'{"process": 1}', b"[" * 100_000])
def test_a_damaged_lock_file_does_not_confuse(tmp_path, content):
    (tmp_path / ".run.lock").write_bytes(content)
    with hold_folder(tmp_path, "a"):
        (tmp_path / ".run.lock").write_bytes(content)
        with pytest.raises(OutputError, match="in use by another process"), hold_folder(tmp_path, "b"):
            pass


WRITE = """
import sys
from edgecritic.atomic import replace_file
with replace_file(sys.argv[1]) as stream:
    stream.write(b"half")
    stream.flush()
    print("open", flush=True)
    sys.stdin.read()
"""


def test_what_a_killed_process_left_is_removed_at_the_next_start(tmp_path, detect):
    target = tmp_path / "out/deep/er.txt"
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE, str(target)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"open\n"
    assert remove_parts(tmp_path) == 0  # it is being written
    process.kill()
    process.communicate()
    (left,) = target.parent.iterdir()
    assert left.read_bytes() == b"half"
    assert main(detect) == 0
    assert list(target.parent.iterdir()) == []


def test_an_interrupt_leaves_nothing(tmp_path):
    (tmp_path / "a").write_bytes(b"before")

    def write():
        with replace_file(tmp_path / "a") as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"before"


def test_names_as_long_as_the_system_allows(tmp_path):
    with replace_file(tmp_path / ("n" * 255)) as stream:
        stream.write(b"all")
    assert (tmp_path / ("n" * 255)).read_bytes() == b"all"


def test_a_full_disk_is_one_line_and_leaves_nothing_half(tmp_path):
    """The limit of a file's size stands for the end of the disk; finished records stay."""
    import resource

    from edgecritic.datasets.synthetic import write

    home = write(tmp_path / "data", 2)
    command = [sys.executable, "-m", "edgecritic", "bench", str(home / "predictions/good")]
    command += ["--truth", str(home / "truth"), "--bootstrap", "0", "--out", str(tmp_path / "out")]
    told = subprocess.run(
        command,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )
    assert told.returncode == 1
    assert re.fullmatch(r"edgecritic: .*\.json: cannot be written \(File too large\)\n", told.stderr)
    left = [path.name for path in (tmp_path / "out").rglob("*.*")] if (tmp_path / "out").exists() else []
    assert set(left) <= {"run.json", "sources.json"}  # the plan is whole
    assert subprocess.run(command, capture_output=True).returncode == 0
