"""The reference: one page per strategy, measure, detector and protocol; the command; the Python names."""

from __future__ import annotations

import argparse
import importlib
import inspect
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docstrings
import samples

from edgecritic.cli.listing import KINDS, entries
from edgecritic.cli.main import build_parser

CONTENTS = (
    ("Overview", "index.md"),
    ("The command", "command.md"),
    ("Python", "api.md"),
    ("Strategies of matching", "strategies/index.md"),
    ("Measures", "measures/index.md"),
    ("Detectors", "detectors/index.md"),
    ("Protocols", "protocols/index.md"),
    ("Recipes of suppression", "recipes.md"),
    ("Formats of files", "formats.md"),
    ("Layouts of truths", "layouts.md"),
    ("Published curves", "published.md"),
)
"""Title and page of everything in the navigation."""

ROOMS = (
    "",
    ".errors",
    ".annotators",
    ".datasets",
    ".datasets.synthetic",
    ".detectors",
    ".learned",
    ".matching",
    ".measures",
    ".protocols",
    ".training",
)
SINGLE = {
    "recipes": "Recipes of non-maximum suppression",
    "formats": "Formats of files",
    "layouts": "Layouts of truths",
    "published": "Published curves",
}
HIDDEN = ("name", "parameters", "summary", "title")
SIZES = ((321, 481), (425, 560), (720, 1280), (1024, 2048))


def pages(*, pictures: bool = True) -> dict[str, str | bytes]:
    """Return the text (or picture) of every generated file by its name below ``reference/``."""
    found: dict[str, str | bytes] = {
        "index.md": _index(),
        "command.md": command_page(),
        "api.md": api_page(),
        **{f"{kind}.md": _table_page(kind) for kind in SINGLE},
        **measure_pages(pictures),
    }
    found |= _kind("strategies", "Strategies of matching", samples.strategy if pictures else None)
    found |= _kind("detectors", "Detectors", samples.detector if pictures else None)
    found |= _kind("protocols", "Protocols", samples.protocol if pictures else None)
    return found


def _index() -> str:
    lines = [f"- [{title}]({page})" for title, page in CONTENTS[1:]]
    return "\n".join(["# Reference", "", "Made from the program itself.", "", *lines]) + "\n"


def command_page() -> str:
    """Return the help of the command and of every sub-command."""
    parser = build_parser()
    lines = ["# The command", "", *_literal(parser.format_help())]
    for path, command in commands(parser):
        lines += [
            "",
            f"{'#' * (1 + len(path))} edgecritic {' '.join(path)}",
            "",
            *_literal(command.format_help()),
        ]
    return "\n".join(lines) + "\n"


def commands(
    parser: argparse.ArgumentParser, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """Return every sub-command, and theirs, with the words that call it."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                yield (*path, name), command
                yield from commands(command, (*path, name))


def api_page() -> str:
    """Return every public name with its signature and docstring."""
    lines = ["# Python", "", "Names that are not on this page may change at any time."]
    seen: list[object] = []
    for room in ROOMS:
        module = importlib.import_module(f"edgecritic{room}")
        lines += ["", f"## edgecritic{room}", "", docstrings.markdown(inspect.getdoc(module) or "")]
        for name in sorted(module.__all__, key=str.lower):
            thing = getattr(module, name)
            if any(thing is each for each in seen) or not callable(thing):
                continue
            seen.append(thing)
            lines += ["", f"### {name}", "", *_literal(f"edgecritic{room}.{name}{_signature(thing)}"), ""]
            lines.append(docstrings.markdown(inspect.getdoc(thing) or ""))
            if inspect.isclass(thing):
                lines += _members(thing)
    return "\n".join(lines) + "\n"


def _members(thing: type) -> list[str]:
    lines = []
    for name, member in sorted(vars(thing).items()):
        function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if name.startswith("_") or not (inspect.isfunction(function) or isinstance(member, property)):
            continue
        text = (inspect.getdoc(member) or "").partition("\n\n")[0]
        call = "" if isinstance(member, property) else _signature(getattr(thing, name))
        lines.append(f"- `.{name}{call}`: {docstrings.inline(text)}")
    return ["", *lines] if lines else []


def _signature(thing: Any) -> str:
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return ""
    found = inspect.signature(thing)
    bare = [each.replace(annotation=each.empty) for each in found.parameters.values() if each.name != "self"]
    return str(found.replace(parameters=bare, return_annotation=found.empty))


def _kind(kind: str, title: str, draw: Any) -> dict[str, str | bytes]:
    """Return an index and one page per entry, with a picture where `draw` makes one."""
    found: dict[str, str | bytes] = {}
    rows = []
    for entry in entries(kind):
        name = entry["name"]
        drawn = draw(name) if draw else None
        rows.append(f"| [`{name}`]({name}.md) | {_cell(docstrings.inline(entry['summary']))} |")
        if drawn:
            found[f"{kind}/{name}{drawn.suffix}"] = drawn.content
        found[f"{kind}/{name}.md"] = _entry_page(kind, entry, drawn)
    lines = [f"# {title}", "", "| id | what it is |", "|---|---|", *rows]
    found[f"{kind}/index.md"] = "\n".join(lines) + "\n"
    return found


def _entry_page(kind: str, entry: dict[str, Any], drawn: samples.Drawn | None) -> str:
    name = entry["name"]
    lines = [f"# {name}"]
    if kind == "protocols":
        lines += ["", entry["summary"]]
    if drawn:
        lines += ["", f"![{drawn.caption}]({name}{drawn.suffix})", "", f"*{drawn.caption}*"]
    lines += ["", *_facts(entry)]
    if kind == "protocols":
        lines += ["", *_tolerances(name)]
    else:
        lines += ["", docstrings.markdown(_docstring(kind, name), skip=("spacing", "pair"))]
    return "\n".join(lines) + "\n"


def _facts(entry: dict[str, Any]) -> list[str]:
    rows = [f"| `{key}` | `{_cell(value)}` |" for key, value in entry["parameters"].items()]
    lines = ["| parameter | default |", "|---|---|", *rows, ""] if rows else []
    facts = {key.replace("_", " "): value for key, value in entry.items() if key not in HIDDEN}
    shown = [f"| {key} | {_cell(value)} |" for key, value in facts.items() if value not in ("", None)]
    return [*lines, "| | |", "|---|---|", *shown] if shown else lines


def _tolerances(name: str) -> list[str]:
    from edgecritic import get_protocol

    protocol = get_protocol(name)
    if protocol.judges == "regions":
        return ["Regions are compared pixel by pixel; there is no tolerance."]
    rows = [
        f"| {width} × {height} | {protocol.tolerance_for((height, width)):.2f} |" for height, width in SIZES
    ]
    return ["## Tolerance in pixels", "", "| image | tolerance |", "|---|---|", *rows]


def _docstring(kind: str, name: str) -> str:
    module, attribute = KINDS[kind]
    return inspect.getdoc(getattr(importlib.import_module(module), attribute).get(name).function) or ""


def _table_page(kind: str) -> str:
    found = entries(kind)
    facts = [key for key in found[0] if key not in HIDDEN]
    head = ["id", "what it is", *(key.replace("_", " ") for key in facts)]
    lines = [f"# {SINGLE[kind]}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for entry in found:
        given = ", ".join(f"{key}={value}" for key, value in entry["parameters"].items())
        call = f"{entry['name']}({given})" if given else entry["name"]
        cells = [f"`{call}`", _cell(entry["summary"]), *(_cell(entry[key]) for key in facts)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def measure_pages(pictures: bool) -> dict[str, str | bytes]:
    """Return one page and picture per measure."""
    from edgecritic.report.measure_pages import write_measure_pages

    with tempfile.TemporaryDirectory() as folder:
        write_measure_pages(folder, pictures=pictures)
        return {f"measures/{path.name}": path.read_bytes() for path in sorted(Path(folder).iterdir())}


def _literal(text: str) -> list[str]:
    return [f"    {line}".rstrip() for line in text.splitlines()]


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "–"
    text = ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
    return text.replace("|", "\\|").replace("\n", " ")
