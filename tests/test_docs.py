"""What README and documentation show really runs, and everything there is has its place in it.

In a page, code runs from top to bottom in one empty folder:

- ``python`` blocks are executed; a comment after a print starts with what is printed;
- ``output`` blocks show what the ``python`` block before them printed;
- ``console`` blocks: lines with ``$ edgecritic …`` are run (``# exit 1`` tells another exit status than 0),
  and every line below must be in the output, … standing for anything;
- a block whose first line is a comment with a file name, as in ``# my-lab.toml``, becomes that file;
- ``sh`` blocks are only checked for valid options.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from edgecritic import errors
from edgecritic.catalogue import KINDS, table_of
from edgecritic.cli.listing import entries
from edgecritic.cli.main import build_parser, main
from edgecritic.matching import strategies
from edgecritic.registry import Registry

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
BUILDING = DOCS / "building"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path, *languages: str) -> list[tuple[str, str]]:
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [(language, text) for language, text in found if not languages or language in languages]


def pages_with(*languages: str) -> list[Path]:
    return [page for page in PAGES if blocks(page, *languages)]


def building(name: str):
    """Return a module of those that build the site."""
    spec = importlib.util.spec_from_file_location(name, BUILDING / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def reference(monkeypatch):
    """The module that makes the reference pages."""
    monkeypatch.syspath_prepend(str(BUILDING))
    yield building("reference")
    for name in ("docstrings", "samples"):
        sys.modules.pop(name, None)


@pytest.fixture
def own_registries(monkeypatch):
    """Let pages register things without leaving them behind."""
    for registry in filter(lambda table: isinstance(table, Registry), map(table_of, KINDS)):
        registry.names()
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))


def runnable() -> list[object]:
    """Return the pages with examples; those that import torch are marked."""
    return [
        pytest.param(page, id=name_of(page), marks=[pytest.mark.torch] if needs_torch(page) else [])
        for page in pages_with("python", "console")
    ]


def needs_torch(page: Path) -> bool:
    return any(re.search(r"^import torch$", text, re.MULTILINE) for _, text in blocks(page, "python"))


@pytest.mark.parametrize("page", runnable())
@pytest.mark.usefixtures("own_registries", "hasty_figures")
def test_examples_run(page, tmp_path, monkeypatch, capsys):
    if needs_torch(page):
        pytest.importorskip("torchmetrics")
    monkeypatch.chdir(tmp_path)
    world: dict[str, object] = {"__name__": "page"}
    printed = ""
    for language, text in blocks(page):
        title = re.match(r"# ([\w.-]+\.\w+)\n", text)
        if title:
            Path(title[1]).write_text(text, encoding="utf-8")
        if language == "python":
            exec(compile(text, str(page), "exec"), world)
            printed = capsys.readouterr().out
            check_promises(text, printed)
        elif language == "output":
            assert text.strip("\n") in printed
        elif language == "console":
            for command, shown in console(text):
                run(command, shown, capsys)


def check_promises(code: str, printed: str) -> None:
    for promise in re.findall(r"^\s*print\(.*\)\s+# (\d.*|True)$", code, re.MULTILINE):
        for number in re.findall(r"\d+\.\d+|\b\d+\b|True", promise):
            assert number in printed


def console(text: str) -> list[tuple[str, list[str]]]:
    """Return commands with the lines shown below them."""
    found: list[tuple[str, list[str]]] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.strip():
            found[-1][1].append(line)
    return found


def run(command: str, shown: list[str], capsys) -> None:
    words = shlex.split(command, comments=True)
    assert words[0] == "edgecritic", command
    expected = re.search(r"# exit (\d)", command)
    status = main(words[1:])
    told = capsys.readouterr()
    assert status == (int(expected[1]) if expected else 0), told.err
    output = " ".join((told.out + told.err).split())
    for line in shown:
        pattern = ".*?".join(re.escape(" ".join(part.split())) for part in line.split("…"))
        assert re.search(pattern, output), f"{command}\nexpected: {line}\ngot: {told.out}{told.err}"


def test_the_files_of_the_contributors_guide_work_once_they_are_there(tmp_path):
    """A strategy, a study and a section of the report, each one file, are found and used by themselves."""
    rooms = ("matching", "cli.studies", "report.benchmark")
    examples = [code for _, code in blocks(ROOT / "CONTRIBUTING.md", "python")]
    for room, code in zip(rooms, examples, strict=True):
        (tmp_path / room).mkdir()
        (tmp_path / room / "newcomer.py").write_text(code, encoding="utf-8")
    child = f"""
import importlib, runpy, sys
for room in {rooms}:
    importlib.import_module(f"edgecritic.{{room}}").__path__.append({str(tmp_path)!r} + f"/{{room}}")

import numpy as np
import edgecritic
from edgecritic.cli.main import main
from edgecritic.report.benchmark import benchmark_report, section_modules
from edgecritic.report.text import report_text
from edgecritic.report.view import View

one, two = np.eye(5, dtype=bool), np.ones((5, 5), bool)
found = edgecritic.match(one, two, strategy="overlap", tolerance=1)
assert (found.tp, found.fp, found.fn) == (5, 0, 20), found
assert found.pairs.shape == (5, 2, 2)  # one_to_one promises them
assert "overlap" in edgecritic.available("strategies")
made = runpy.run_path({str(ROOT / "tests/report_results.py")!r})
report = benchmark_report(View(made["make_results"](2, 3)))
names = [section.key for section in report.sections]
assert names.index("leaderboard") < names.index("r50") < names.index("curves"), names
assert "Recall at precision one half" in report_text(report)
orders = [module.ORDER for module in section_modules()]
assert len(orders) == len(set(orders)), orders
assert main(["study", "density", "--out", {str(tmp_path / "out")!r}]) == 0
"""
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    words = [sys.executable, "-c", child]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path}
    )
    assert done.returncode == 0, done.stderr
    assert "People mark" in done.stdout
    assert (tmp_path / "out/density.json").exists()


@pytest.mark.parametrize("page", pages_with("sh"), ids=name_of)
def test_commands_are_valid(page):
    parser = build_parser()
    text = "".join(text for _, text in blocks(page, "sh")).replace("\\\n", " ")
    for line in text.splitlines():
        words = shlex.split(line, comments=True)
        if words and words[0] == "edgecritic":
            assert hasattr(parser.parse_args(words[1:]), "run")


def everything_written() -> str:
    return "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


def test_every_command_is_explained_by_hand(reference):
    text = everything_written()
    paths = [path for path, _ in reference.commands(build_parser())]
    assert [path for path in paths if f"edgecritic {' '.join(path)}" not in text] == []


def test_every_option_has_a_help_text(reference):
    silent = [
        f"{' '.join(path)} {action.option_strings or action.dest}"
        for path, command in reference.commands(build_parser())
        for action in command._actions
        if not action.help and not hasattr(action, "_choices_actions")
    ]
    assert silent == []


def test_every_command_option_id_and_error_is_in_the_reference(reference):
    made = reference.pages(pictures=False)
    command_page = made["command.md"]
    for path, command in reference.commands(build_parser()):
        assert f" edgecritic {' '.join(path)}\n" in command_page
        for option in command._option_string_actions:
            assert option in command_page
    everything = "\n".join(text if isinstance(text, str) else text.decode() for text in made.values())
    for kind in KINDS:
        for entry in entries(kind):
            assert entry["summary"].strip(), (kind, entry["name"])
            assert f"`{entry['name']}" in everything, (kind, entry["name"])
    for name in errors.__all__:
        assert f"::: edgecritic.errors.{name}\n" in everything


def test_every_error_class_is_explained_by_hand():
    text = (DOCS / "reference/errors.md").read_text(encoding="utf-8")
    assert [name for name in errors.__all__ if f"`{name}`" not in text] == []


@pytest.mark.parametrize("page", ["README.md", "docs/explanation/matching.md"])
def test_every_strategy_is_named(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    missing = [
        name for name in strategies.names() if not re.search(rf"`{name}\b|^## {name}$", text, re.MULTILINE)
    ]
    assert missing == []


def test_every_layout_has_its_example():
    text = (DOCS / "howto/layouts.md").read_text(encoding="utf-8")
    assert [entry["name"] for entry in entries("layouts") if f"`{entry['name']}`" not in text] == []


def test_links_lead_somewhere(reference):
    made = {f"reference/{name}" for name in reference.pages(pictures=False)}
    made |= {f"notebooks/{path.stem}.md" for path in (DOCS / "notebooks").glob("*.ipynb")}
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        text = BLOCK.sub("", page.read_text(encoding="utf-8"))
        for target, anchor in re.findall(r"\]\(([^)#:]*?)(#[^)]*)?\)", text):
            goal = (page.parent / target).resolve() if target else page
            generated = goal.is_relative_to(DOCS) and goal.relative_to(DOCS).as_posix() in made
            picture = goal.suffix in (".png", ".svg") and "reference/" in target
            assert goal.exists() or generated or picture, (name_of(page), target)
            if anchor and goal.exists() and goal.suffix == ".md":
                assert anchor[1:] in anchors(goal), (name_of(page), target + anchor)


def anchors(page: Path) -> set[str]:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}


def test_every_strategy_has_its_picture():
    pytest.importorskip("ortools")
    samples = building("samples")
    for name in strategies.names():
        drawn = samples.strategy(name)
        assert drawn.content.startswith(b"\x89PNG"), name
        assert f"under {name}" in drawn.caption


@pytest.mark.parametrize("kind", ["measures", "strategies"])
def test_everything_has_its_formula_and_it_becomes_mathml(kind, reference):
    pytest.importorskip("latex2mathml")
    written = reference.formulas_of(kind)
    assert set(written) == {entry["name"] for entry in entries(kind)}
    made = reference.pages(pictures=False)
    for name, formula in written.items():
        page = made[f"{kind}/{name}.md"]
        assert f"$$\n{formula}\n$$" in (page if isinstance(page, str) else page.decode()), name
        check_formula(formula, name)


def check_formula(formula: str, where: str) -> None:
    """Fail if a formula does not become MathML, or leaves a command of LaTeX as text."""
    page = building("formulas").as_mathml(f'<p>a</p><div class="arithmatex">\\[{formula}\\]</div>')
    assert page.startswith("<p>a</p><math"), where
    assert "\\" not in page.partition("<annotation")[0], where


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_formulas_of_pages_become_mathml(page):
    pytest.importorskip("latex2mathml")
    text = re.sub(
        r"^```.*?^```$|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    found = re.findall(r"\$\$(.+?)\$\$|\$(\S(?:[^$\n]*\S)?)\$", text, re.DOTALL)
    assert len(found) == len(re.findall(r"\$\$|\$", text)) / 2
    for shown, inline in found:
        check_formula(shown or inline, name_of(page))


def test_dead_links_and_what_is_loaded_from_elsewhere_are_found(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "index.html").write_text(
        '<h1 id="top">A</h1><a href="sub/page.html#here">1</a><a href="sub/page.html#there">2</a>'
        '<a href="#top">3</a>'
        '<a href="gone.html">4</a><a href="https://example.org">5</a><img src="data:image/png;base64,AA">'
        '<script src="https://example.org/a.js"></script><link rel="stylesheet" href="//example.org/b.css">'
        '<source srcset="lost.webp 2x">',
        encoding="utf-8",
    )
    (tmp_path / "sub/page.html").write_text('<p id="here"><a href="../index.html">up</a>', encoding="utf-8")
    (tmp_path / "own.css").write_text(
        '@import "https://example.org/c.css"; a { b: url(x.png) }', encoding="utf-8"
    )
    assert building("links").faults(tmp_path) == [
        "index.html: sub/page.html#there leads nowhere",
        "index.html: gone.html leads nowhere",
        "index.html: lost.webp leads nowhere",
        "index.html: https://example.org/a.js is loaded from elsewhere",
        "index.html: //example.org/b.css is loaded from elsewhere",
        "own.css: https://example.org/c.css is loaded from elsewhere",
    ]


def test_a_notebook_becomes_a_page(tmp_path):
    (tmp_path / "notebooks").mkdir()
    cells = [
        {"cell_type": "markdown", "source": ["# First steps\n", "Some text."]},
        {
            "cell_type": "code",
            "source": "print(1)",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
                {"output_type": "stream", "name": "stderr", "text": ["50 %"]},
                {"output_type": "display_data", "data": {"image/png": "iVBORw==", "text/plain": "<Figure>"}},
                {"output_type": "execute_result", "data": {"text/html": "<b>F</b>", "text/plain": "F"}},
            ],
        },
    ]
    (tmp_path / "notebooks/first.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    notebooks = building("notebooks")
    assert notebooks.navigation(tmp_path) == [{"Notebooks": [{"First steps": "notebooks/first.md"}]}]
    made = notebooks.pages(tmp_path)
    assert made["notebooks/first-1.png"] == b"\x89PNG"
    page = made["notebooks/first.md"]
    assert page.startswith("# First steps\nSome text.")
    assert "```python\nprint(1)\n```\n\n```text\n1\n```" in page
    assert "(first-1.png)" in page
    assert '<div class="output">\n<b>F</b>\n</div>' in page
    assert "(first.ipynb)" in page
    assert "50 %" not in page


def test_tests_named_in_the_documentation_exist():
    for page in PAGES:
        for file, test in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", page.read_text(encoding="utf-8")):
            assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), (name_of(page), test)


def test_the_page_of_figures_can_be_filled():
    spec = importlib.util.spec_from_file_location("fill", ROOT / "benchmarks/fill.py")
    fill = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fill)
    page = (DOCS / "explanation/compare.md").read_text(encoding="utf-8")
    bar = {"part": "matching", "what": "exact against X", "measured": "40×", "bar": "≥ 30×", "met": True}
    unknown = {**bar, "what": "exact against Y", "measured": "not measured: no Y", "met": None}
    once = fill.filled(page, fill.table([bar, unknown, {**bar, "part": "studio", "met": False}], "a machine"))
    assert "### Matching" in once
    assert "| exact against X | 40× | ≥ 30× | met |" in once
    assert "a machine: 1 of 2 bars met" in once
    assert "**missed**" in once.partition("### Studio")[2]
    assert "not measured" not in once.partition(fill.BEGIN)[2]
    assert fill.filled(once, fill.table([bar], "a machine")) == fill.filled(
        page, fill.table([bar], "a machine")
    )
