"""Pages that MkDocs makes from the registries and from the command's own help."""

from __future__ import annotations

import importlib.util
import inspect
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from edgecritic.cli.listing import KINDS, entries
from edgecritic.cli.main import build_parser
from edgecritic.errors import EdgeCriticError

TITLES = {
    "strategies": "Strategies of matching",
    "measures": "Measures",
    "detectors": "Detectors",
    "protocols": "Protocols",
    "recipes": "Recipes of non-maximum suppression",
    "datasets": "Layouts of files and folders",
}


def on_config(config: Any) -> Any:
    """Add pages that the navigation does not name, and the reference, to the navigation."""
    named = {page for item in config.nav for page in item.values()}
    for path in sorted(Path(config.docs_dir).glob("*.md")):
        if path.name not in named:
            title = path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
            config.nav.append({title: path.name})
    config.nav.append({"Reference": "reference/index.md"})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages."""
    pages = {"command": ("The command", command_page())}
    measures = measure_pages()
    for kind in KINDS:
        if kind == "measures" and measures:
            continue
        try:
            pages[kind] = (TITLES[kind], kind_page(kind))
        except EdgeCriticError:
            continue  # no such things in this version
    links = [f"- [{title}]({name}.md)" for name, (title, _) in pages.items()]
    if measures:
        links.append("- [Measures](measures/index.md)")
    index = "\n".join(["# Reference", "", "Made from the program itself.", "", *links]) + "\n"
    texts = {f"{name}.md": text for name, (_, text) in pages.items()}
    for name, content in {"index.md": index, **texts, **measures}.items():
        files.append(File.generated(config, f"reference/{name}", content=content))
    return files


def kind_page(kind: str) -> str:
    """Return the page of one registry: an overview and a section per entry."""
    found = entries(kind)
    lines = [f"# {TITLES[kind]}", "", "| id | what it is |", "|---|---|"]
    lines += [
        f"| [`{entry['name']}`](#{anchor(entry['name'])}) | {cell(entry['summary'])} |" for entry in found
    ]
    for entry in found:
        lines += ["", f"## {entry['name']} {{#{anchor(entry['name'])}}}", "", entry["summary"]]
        facts = {**entry["parameters"], **{k: v for k, v in entry.items() if k not in HIDDEN}}
        rows = [f"| {key.replace('_', ' ')} | {cell(value)} |" for key, value in facts.items() if value != ""]
        if rows:
            lines += ["", "| | |", "|---|---|", *rows]
        if kind == "strategies":
            lines += ["", *literal(docstring(entry["name"]))]
    return "\n".join(lines) + "\n"


HIDDEN = ("name", "parameters", "summary")


def docstring(name: str) -> str:
    """Return what a strategy's function says of itself."""
    from edgecritic.matching import strategies

    return inspect.getdoc(strategies.get(name).function) or ""


def command_page() -> str:
    """Return the help of the command and of every sub-command."""
    parser = build_parser()
    lines = ["# The command", "", *literal(parser.format_help())]
    for action in parser._subparsers._group_actions if parser._subparsers else ():
        for name, command in dict(action.choices or {}).items():
            lines += ["", f"## edgecritic {name}", "", *literal(command.format_help())]
    return "\n".join(lines) + "\n"


def measure_pages() -> dict[str, str | bytes]:
    """Return one page and picture per measure, where this version writes them."""
    if importlib.util.find_spec("edgecritic.report.measure_pages") is None:
        return {}
    from edgecritic.report.measure_pages import write_measure_pages

    with tempfile.TemporaryDirectory() as folder:
        write_measure_pages(folder)
        return {f"measures/{path.name}": path.read_bytes() for path in sorted(Path(folder).iterdir())}


def literal(text: str) -> list[str]:
    """Return text as an indented block of Markdown, shown as it is."""
    return [f"    {line}".rstrip() for line in text.splitlines()]


def anchor(name: str) -> str:
    """Return the name of a section within a page."""
    return name.lower().replace("_", "-")


def cell(value: object) -> str:
    """Return a value for a cell of a table."""
    return str(value).replace("|", "\\|").replace("\n", " ")
