"""The demo: everything it promises is there, and the commands it prints work."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex

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
