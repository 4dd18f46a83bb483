"""Figures by a process beside: the bytes of those drawn here, whatever happens to the process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from edgecritic.report import beside
from edgecritic.report.beside import Artist, artist_beside
from edgecritic.report.figures import write_pr

pytest.importorskip("matplotlib")


@pytest.fixture
def results(make_results):
    return make_results()


@pytest.fixture
def unloaded(monkeypatch):
    """Let it seem that matplotlib was not imported yet."""
    monkeypatch.setattr(beside, "_is_imported", lambda: False)


def drawn(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_the_bytes_are_the_same(results, tmp_path, unloaded, monkeypatch):
    """And what lies in the current folder is not imported, and nothing is left in temporary folders."""
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path / "matplotlib.py" / "settings"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    (tmp_path / "matplotlib.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with artist_beside() as artist:
        assert artist._process is not None
        artist.begin(results, tmp_path / "beside")
        files = artist.finish()
    assert artist._process.returncode == 0
    assert not list((tmp_path / "temporary").iterdir())
    write_pr(results, tmp_path / "here")
    assert sorted(file.name for file in files) == sorted(drawn(tmp_path / "here"))
    assert drawn(tmp_path / "beside") == drawn(tmp_path / "here")


@pytest.mark.parametrize("gone", [False, True])
def test_a_process_that_fails_is_replaced(results, tmp_path, gone):
    process = subprocess.Popen(
        [sys.executable, "-c", "raise SystemExit(1)"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    if gone:
        process.wait()  # nobody reads what is written to it
    artist = Artist(process)
    artist.begin(results, tmp_path)
    assert sorted(file.suffix for file in artist.finish()) == [".pdf", ".png", ".svg"]
    process.stdout.close()
    process.wait()


@pytest.mark.parametrize("in_process", [False, True])
def test_what_has_begun_is_not_begun_again(results, tmp_path, unloaded, in_process):
    """A run hands its curves over before its intervals are known, and all of its results later."""
    with artist_beside(not in_process) as artist:
        artist.begin(results, tmp_path / "first")
        artist.begin({}, tmp_path / "first")
        assert {file.parent for file in artist.finish()} == {tmp_path / "first"}
        artist.begin(results, tmp_path / "second")
        assert {file.parent for file in artist.finish()} == {tmp_path / "second"}
        artist.begin({}, tmp_path / "given up")
        artist.begin(results, tmp_path / "third")
        artist.finish()
    assert drawn(tmp_path / "first") == drawn(tmp_path / "second") == drawn(tmp_path / "third")
    assert not (tmp_path / "given up").exists()


def test_figures_are_no_files_before_they_are_asked_for(results, tmp_path, unloaded):
    """A run that is stopped while it computes intervals leaves the figures of the one before."""
    with artist_beside() as artist:
        artist.begin(results, tmp_path)
        artist._sender.join()
        artist._process.stdin.close()  # as if this process had been stopped
        assert artist._process.wait(60) == 0
    assert not list(tmp_path.iterdir())


def test_a_process_that_is_not_needed_ends(unloaded):
    with pytest.raises(ValueError, match="on the way"), artist_beside() as artist:
        raise ValueError("on the way")
    assert artist._process.returncode is not None
    with artist_beside() as artist:
        assert artist.finish() == ()


def test_nothing_is_imported_before_the_process_is_started():
    """Both processes import at the same time."""
    code = "import sys, edgecritic.report.beside, edgecritic.run.executor\nprint('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_nothing_is_started_where_matplotlib_is_there():
    import matplotlib as mpl

    with artist_beside() as artist:
        assert artist._process is None, mpl.__version__
