"""The demo: everything it promises is there, and the commands it prints work."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import time

import pytest

from edgecritic.cli.main import build_parser, main
from edgecritic.detectors.base import detectors


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Run the demo; give the folder and what was printed."""
    home, text = tmp_path_factory.mktemp("demo"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(text):
        patch.chdir(home)
        assert main(["demo", "--scenes", "2"]) == 0
    return home / "demo", text.getvalue()


@pytest.fixture
def demo(printed):
    return printed[0]


def test_all_detectors_are_judged(demo):
    results = json.loads((demo / "results.json").read_text(encoding="utf-8"))
    names = {entry.name for entry in detectors}
    assert {detector["name"] for detector in results["detectors"]} == names
    assert not results["failures"]
    for name in names:
        assert len(list((demo / "data" / "edges" / name).iterdir())) == 2


def test_one_page_holds_bench_and_tune(demo):
    page = (demo / "report.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") > 3
    for key in ("leaderboard", "tuning", "pictures"):
        assert f'<section id="{key}"' in page
        assert f'href="#{key}"' in page
    assert "Best maps of synthetic-2 by measure and detector" in page
    assert not re.search(r"src=.https?:", page)


def test_tuning_is_beside_it(demo):
    for name in ("table.csv", "table.txt", "boxes.png", "synthetic-2/montage.png", "synthetic-2/rates.png"):
        assert (demo / "tuning" / name).stat().st_size > 100


def test_printed_commands_are_valid(printed):
    lines = [line.strip() for line in printed[1].splitlines() if line.startswith("  edgecritic ")]
    assert len(lines) == 4
    for line in lines:
        words = shlex.split(line.partition("   ")[0])
        assert hasattr(build_parser().parse_args(words[1:]), "run")


def test_too_few_images(capsys):
    assert main(["demo", "--scenes", "1"]) == 1
    assert "at least 2" in capsys.readouterr().err


@pytest.mark.slow
def test_another_demo_has_the_same_bytes(demo, tmp_path, monkeypatch, capsys):
    """Elsewhere, years later, one image at a time, and where a demo with more scenes left some."""
    years_on = time.time() + 1e8
    monkeypatch.setattr(time, "time", lambda: years_on)
    monkeypatch.setattr(time, "asctime", lambda *_: "another day")
    for left in ("images/synthetic-3.png", "truth/synthetic-3.mat", "edges/sobel/synthetic-3.png"):
        (tmp_path / "new/data" / left).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "new/data" / left).write_bytes(b"")
    (tmp_path / "new/data/images/mine.txt").write_bytes(b"stays")
    assert main(["demo", "--scenes", "2", "--jobs", "1", "--out", str(tmp_path / "new")]) == 0
    capsys.readouterr()
    assert (tmp_path / "new/data/images/mine.txt").read_bytes() == b"stays"
    (tmp_path / "new/data/images/mine.txt").unlink()
    one, two = (
        {path.relative_to(home): path.read_bytes() for path in home.rglob("*") if path.is_file()}
        for home in (demo, tmp_path / "new")
    )
    assert one.keys() == two.keys()
    assert [str(path) for path in one if one[path] != two[path]] == []
