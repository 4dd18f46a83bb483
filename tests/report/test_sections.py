"""Sections are values; text, Markdown and HTML are renderings of the same sections."""

from __future__ import annotations

import errno
import re
import sys
import types
from html.parser import HTMLParser

import pytest

from edgecritic.figures import leave_out
from edgecritic.report import benchmark, html
from edgecritic.report.benchmark import protocol
from edgecritic.report.sections import Cell, Notes, Report, Section, Table, draw, study_report
from edgecritic.report.text import markdown_table, report_markdown, report_text, table_csv, table_tex
from edgecritic.report.view import View
from edgecritic.report.write import write_report

TABLE = Table(
    name="values",
    title="Values",
    header=("detector", "F", "count"),
    body=(
        (Cell(text="net|<b>_1_</b>", swatch=2), 0.123456, 7),
        ("other", None, Cell(text="8", strong=True, mark="*", note="low to high")),
    ),
    digits=3,
)
REPORT = study_report("A study", ("One finding of [x](y).",), tables=(TABLE,), problems=("a <problem>",))


class Words(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.words, self.tags = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        if self.tags and self.tags[-1] not in ("script", "style"):
            self.words.append(data)


def test_all_renderings_show_the_same_contents():
    page = " ".join(Words(html.report_html(REPORT)).words)
    markdown = report_markdown(REPORT).replace("\\", "")
    for shown in (page, markdown, report_text(REPORT)):
        for text in (
            "A study",
            "One finding of [x](y).",
            "Values",
            "net|<b>_1_</b>",
            "0.123",
            "low to high",
            "–",
        ):
            assert text in shown, (text, shown)
    assert "a <problem>" in page
    assert "a <problem>" in markdown
    assert "0.123456" in table_csv(TABLE)


def test_places_in_a_figure_are_found_once_for_all_files(monkeypatch):
    engine = pytest.importorskip("matplotlib.layout_engine").ConstrainedLayoutEngine
    found, execute = [], engine.execute
    monkeypatch.setattr(engine, "execute", lambda *given: found.append(execute(*given)))
    figure = draw("a", "A", "Some lines.", lambda figure: figure.subplots(1, 2)[0].plot([1, 3, 2]))
    assert {kind: content[:5] for kind, content in figure.content.items()} == {
        "png": b"\x89PNG\r",
        "svg": b"<?xml",
    }
    assert len(found) == 1


def test_markdown_obeys_nothing_that_comes_from_outside():
    lines = report_markdown(REPORT).splitlines()
    (row,) = [line for line in lines if "net" in line]
    assert len(re.findall(r"(?<!\\)\|", row)) == 4  # the bars of the table, not that of the name
    assert not re.search(r"(?<!\\)[<\[_]", row)
    assert "\\[x\\](y)" in "".join(lines)
    assert markdown_table(["a"], [["`x|y`"]], marked=True).splitlines()[-1] == r"| `x\|y` |"


def test_latex_marks_the_best():
    text = table_tex(TABLE, ["a comment"])
    assert text.startswith("% a comment\n")
    assert r"\textbf{8}$^{*}$" in text
    assert r"net\textbar{}\textless{}b\textgreater{}\_1\_" in text


def test_without_jinja_the_page_is_left_out(tmp_path, monkeypatch):
    (tmp_path / "report.html").write_text("of an earlier run")
    monkeypatch.setitem(sys.modules, "jinja2", None)
    html._templates.cache_clear()
    leave_out.cache_clear()
    with pytest.warns(UserWarning, match=r"report.html is left out: .*edgecritic\[report\]"):
        written = write_report(tmp_path, REPORT, name="study")
    assert {path.name for path in written} == {"report.md", "report.txt", "values.csv"}
    assert not (tmp_path / "report.html").exists()


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """The folder of what is kept compiled, and a function that makes a page as a new process would."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "kept"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)

    def page():
        html._templates.cache_clear()
        return html.report_html(REPORT)

    yield tmp_path / "kept", page
    html._templates.cache_clear()


def files_below(folder):
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_compiled_templates_are_kept_as_modules_are(compiled, monkeypatch):
    folder, page = compiled
    first, files = page(), files_below(folder)
    tag = sys.implementation.cache_tag
    assert sorted(file.name for file in files) == [f"blocks.{tag}.pyc", f"page.{tag}.pyc"]
    monkeypatch.setattr("jinja2.Environment.compile", None)  # it is not called any more
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert page() == first
    assert files_below(folder) == files


@pytest.mark.parametrize("kept", [0, 10, 40, 60, 80, 110, 2000, -1])
def test_damaged_compiled_templates_are_made_anew(compiled, kept):
    folder, page = compiled
    first, files = page(), files_below(folder)
    for file, content in files.items():
        file.write_bytes(content[:kept])
    assert page() == first
    assert files_below(folder) == files
    for file, content in files.items():
        file.write_bytes(content[:kept] + bytes([content[kept] ^ 1]) + content[kept:][1:])
    assert page() == first
    assert files_below(folder) == files


@pytest.mark.parametrize("what", ["edgecritic.__version__", "edgecritic.report.compiled.__version__"])
def test_templates_are_compiled_anew_by_other_versions(compiled, monkeypatch, what):
    folder, page = compiled
    page()
    files = files_below(folder)
    monkeypatch.setattr(what, "another")
    page()
    others = files_below(folder)
    assert others.keys() == files.keys()
    assert all(others[file] != files[file] for file in files)


@pytest.mark.parametrize("why", ["no bytecode", "no folder", "no tag"])
def test_compiled_templates_need_not_be_kept(compiled, monkeypatch, why):
    folder, page = compiled
    if why == "no bytecode":
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
    elif why == "no folder":
        folder.write_bytes(b"")
    else:
        monkeypatch.setattr(sys.implementation, "cache_tag", None)
    assert "A study" in page()
    assert not folder.is_dir()


def test_a_disk_that_is_full_costs_no_page(compiled, monkeypatch):
    folder, page = compiled

    def full(_path, _data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("edgecritic.report.compiled.write_bytes", full)
    assert "A study" in page()
    assert not folder.exists()


def test_a_file_of_the_package_is_a_section(make_results, monkeypatch):
    """What a newcomer adds is found by itself and stands where its number says."""
    made = types.SimpleNamespace(
        ORDER=15,
        __name__="own",
        section=lambda view: Section(key="own", title="Own", blocks=(Notes(lines=("hello",)),)),
    )
    monkeypatch.setattr(benchmark.pkgutil, "iter_modules", lambda path: [types.SimpleNamespace(name="own")])
    monkeypatch.setattr(benchmark.importlib, "import_module", lambda name: made)
    benchmark.section_modules.cache_clear()
    try:
        report = benchmark.benchmark_report(View(make_results(1, 1)))
    finally:
        benchmark.section_modules.cache_clear()
    assert [section.key for section in report.sections] == ["own"]


def test_sections_stand_in_the_order_of_their_numbers(make_results):
    modules = benchmark.section_modules()
    assert [module.ORDER for module in modules] == sorted({module.ORDER for module in modules})
    own = Section(key="own", title="Own", blocks=())
    report = benchmark.benchmark_report(View(make_results(2, 3)), [(15, own)])
    assert [section.key for section in report.sections[:3]] == ["leaderboard", "own", "curves"]


def test_of_several_tables_each_has_its_title():
    """Three tables with one header cannot be told apart without."""
    tables = tuple(
        Table(name=name, title=f"{name} by strategy", header=("a",), body=((1,),)) for name in "pq"
    )
    report = Report(title="x", sections=(Section(key="s", title="S", blocks=tables),))
    assert [line for line in report_markdown(report).splitlines() if line.startswith("### ")] == [
        "### p by strategy",
        "### q by strategy",
    ]
    assert re.findall("<h3>(.*?)</h3>", html.report_html(report)) == ["p by strategy", "q by strategy"]
    alone = Report(title="x", sections=(Section.of(tables[0]),))
    assert "###" not in report_markdown(alone)
    assert "<h3>" not in html.report_html(alone)


def test_the_protocol_is_told_in_words(make_results):
    """Every choice has a name for people, none that of its field."""
    view = View(make_results())
    fields = {"judges": "boundaries", "strategy": "exact", "mask": "before"}
    view.results["protocol"].update(fields)
    (record,) = protocol.section(view).blocks
    assert not {name for name, _ in record.items} & set(fields)


def test_rows_of_a_result_are_a_table():
    rows = [{"name": "a", "value": 1.5}, {"name": "b", "value": None}]
    table = Table.of_rows(rows, name="n", title="t", digits=2)
    assert (table.header, table.body, table.digits) == (("name", "value"), (("a", 1.5), ("b", None)), 2)
