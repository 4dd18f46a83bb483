"""What README and documentation show really runs, and names everything there is."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from edgecritic.cli.main import build_parser
from edgecritic.matching import strategies

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name
)
def test_python_examples_run(page, tmp_path, monkeypatch, capsys):
    """The blocks of a page run one after the other; a comment after print starts with what is printed."""
    monkeypatch.chdir(tmp_path)
    code = "\n".join(blocks(page, "python"))
    exec(compile(code, str(page), "exec"), {})
    printed = capsys.readouterr().out
    for promise in re.findall(r"^print\(.*\)\s+# (\d.*)$", code, re.MULTILINE):
        for number in re.findall(r"\d+\.\d+|\b\d+\b", promise):
            assert number in printed


def test_the_strategy_of_the_contributors_guide_is_complete():
    (code,) = blocks(ROOT / "CONTRIBUTING.md", "python")
    compile(code, "CONTRIBUTING.md", "exec")


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "sh")], ids=lambda page: page.name)
def test_commands_are_valid(page):
    parser = build_parser()
    for line in "".join(blocks(page, "sh")).splitlines():
        words = shlex.split(line, comments=True)
        if words and words[0] == "edgecritic":
            assert hasattr(parser.parse_args(words[1:]), "run")


@pytest.mark.parametrize("page", ["README.md", "docs/matching.md"])
def test_every_strategy_is_named(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    missing = [
        name for name in strategies.names() if not re.search(rf"`{name}\b|^## {name}$", text, re.MULTILINE)
    ]
    assert missing == []


def test_links_lead_somewhere():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists() or target.startswith("reference/"), (page.name, target)
