"""The reference: one page per strategy, measure, detector and protocol; the command; the Python names."""

from __future__ import annotations

import argparse
import importlib
import inspect
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docstrings
import samples

from edgecritic.cli.listing import KINDS, entries
from edgecritic.cli.main import build_parser

CONTENTS = (
    ("The command", "command.md", "every command and option, as `--help` tells it"),
    ("Python", "api/index.md", "every public name with its arguments, results and examples"),
    ("Strategies of matching", "strategies/index.md", "how pixels of two maps are paired"),
    ("Measures", "measures/index.md", "what is computed of two maps, with formula, picture and conventions"),
    ("Detectors", "detectors/index.md", "what finds edges in images"),
    ("Protocols", "protocols/index.md", "the choices behind a benchmark number"),
    ("Recipes of suppression", "recipes.md", "how strength maps are thinned to crests"),
    ("Formats of files", "formats.md", "which files can be read"),
    ("Layouts of truths", "layouts.md", "which folders of truths are understood"),
    ("Published curves", "published.md", "the curves of papers that come with the package"),
    ("results.json", "results.md", "what a run leaves behind, field by field"),
    ("JSON of the commands", "json.md", "what --json prints, and its schemas"),
    ("Errors and warnings", "errors.md", "every class, when it is raised, what to do"),
    ("Dependencies", "dependencies.md", "what is needed, in which versions and under which licences"),
)
"""Title and page of everything in the navigation, and what is on it."""

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
FORMULAS = Path(__file__).with_name("formulas.toml")
"""Formulas of measures and strategies in LaTeX."""
HIDDEN = ("name", "parameters", "summary", "title")
SIZES = ((321, 481), (425, 560), (720, 1280), (1024, 2048))


def formulas_of(kind: str) -> dict[str, str]:
    """Return the formulas of a kind of things by their ids, in LaTeX."""
    found: dict[str, str] = tomllib.loads(FORMULAS.read_text(encoding="utf-8")).get(kind, {})
    return found


def navigation() -> list[Any]:
    """Return the part of the navigation that leads to the reference."""
    parts: list[Any] = ["reference/index.md"]
    for title, page, _ in CONTENTS:
        folder, _, name = page.rpartition("/")
        below = [f"reference/{folder}/{each}.md" for each in _names(folder)] if name == "index.md" else []
        parts.append({title: [f"reference/{page}", *below]} if below else {title: f"reference/{page}"})
    return parts


def _names(folder: str) -> list[str]:
    """Return the names of the pages in a folder beside its index."""
    if folder == "api":
        return [_room_page(room) for room in ROOMS]
    return [entry["name"] for entry in entries(folder)]


def pages(*, pictures: bool = True) -> dict[str, str | bytes]:
    """Return the text (or picture) of every generated file by its name below ``reference/``."""
    found: dict[str, str | bytes] = {
        "index.md": _index(),
        "command.md": command_page(),
        **api_pages(),
        **{f"{kind}.md": _table_page(kind) for kind in SINGLE},
        **measure_pages(pictures),
    }
    found |= _kind("strategies", "Strategies of matching", samples.strategy if pictures else None)
    found |= _kind("detectors", "Detectors", samples.detector if pictures else None)
    found |= _kind("protocols", "Protocols", samples.protocol if pictures else None)
    return found


def _index() -> str:
    lines = [f"- [{title}]({page}): {text}." for title, page, text in CONTENTS]
    return (
        "\n".join(
            ["# Reference", "", "To look things up. Most of it is made from the program itself.", "", *lines]
        )
        + "\n"
    )


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


def api_pages() -> dict[str, str]:
    """Return a page per room, on which mkdocstrings puts its public names, and their index."""
    made, seen, lines = {}, [], []
    for room in ROOMS:
        module = importlib.import_module(f"edgecritic{room}")
        summary, _, more = (inspect.getdoc(module) or "").partition("\n")
        page = _room_page(room)
        names = []
        for name in sorted(module.__all__, key=str.lower):
            thing = getattr(module, name)
            if any(thing is each for each in seen) or not callable(thing):
                continue
            seen.append(thing)
            names.append((name, f"{thing.__module__}.{thing.__qualname__}"))
        body = [_directive(f"edgecritic{room}.{name}", name, path) for name, path in names]
        text = [f"# edgecritic{room}", docstrings.prose(summary), docstrings.prose(more), *body]
        made[f"api/{page}.md"] = "\n\n".join(part for part in text if part) + "\n"
        listed = ", ".join(f"[`{name}`]({page}.md#{path})" for name, path in names)
        lines.append(f"| [`edgecritic{room}`]({page}.md) | {listed} |")
    head = ["# Python", "", "Names that are not on these pages may change at any time.", ""]
    index = "\n".join([*head, "| module | names |", "|---|---|", *lines])
    return {"api/index.md": f"{index}\n", **made}


def _room_page(room: str) -> str:
    return room.lstrip(".").replace(".", "-") or "edgecritic"


def _directive(public: str, name: str, path: str) -> str:
    """Return what mkdocstrings reads: where a name is defined, and under which name it is public."""
    return f"::: {path}\n    options:\n      heading: {public}\n      toc_label: {name}"


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
    if name in formulas_of(kind):
        lines += ["", f"$$\n{formulas_of(kind)[name]}\n$$"]
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
    share = protocol.relative_tolerance
    rule = (
        []
        if share is None
        else [f"$$\nt = {share:g} \\sqrt{{\\mathrm{{width}}^2 + \\mathrm{{height}}^2}}\n$$", ""]
    )
    page = "../../explanation/benchmark.md#what-is-computed"
    numbers = f"The formulas of ODS, OIS and AP are in [What is computed]({page})."
    return ["## Tolerance in pixels", "", *rule, "| image | tolerance |", "|---|---|", *rows, "", numbers]


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
    """Return one page per measure, with its formula and pictures."""
    from edgecritic.report.measure_pages import write_measure_pages

    with tempfile.TemporaryDirectory() as folder:
        write_measure_pages(folder, pictures=pictures, formulas=formulas_of("measures"))
        return {f"measures/{path.name}": path.read_bytes() for path in sorted(Path(folder).iterdir())}


def _literal(text: str) -> list[str]:
    return [f"    {line}".rstrip() for line in text.splitlines()]


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "–"
    text = ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
    return text.replace("|", "\\|").replace("\n", " ")
