"""A short report of a study: text, tables and figures, for the terminal, as files and as one HTML page."""

from __future__ import annotations

import base64
import csv
import io
import json
import textwrap
import unicodedata
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import edgecritic
from edgecritic.errors import DataError, MissingExtraError
from edgecritic.report.figures import UNDATED, drawing_settings, leave_out
from edgecritic.report.view import clean, csv_cell, plain
from edgecritic.run.files import replace_file, write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Table", "Drawing", "Document", "draw", "document_text", "document_html", "write_document"]

Cell = str | int | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table; numbers are shown with `digits` digits and kept exact in the CSV file."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    digits: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A figure: its file name without ending, what it shows, and its files by ending (none if not drawn)."""

    name: str
    title: str
    caption: str
    content: Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What a study shows.

    Attributes
    ----------
    title : str
    findings : tuple of str
        Short sentences with the numbers that matter.
    facts : tuple of (str, str)
        What was measured, how, on what.
    tables : tuple of Table
    drawings : tuple of Drawing
    problems : tuple of str
        What could not be used.
    """

    title: str
    findings: tuple[str, ...]
    facts: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    problems: tuple[str, ...] = ()


def draw(
    name: str,
    title: str,
    caption: str,
    paint: Callable[[Figure], None],
    *,
    size: tuple[float, float] = (8.0, 4.0),
    kinds: Sequence[str] = ("png", "svg"),
) -> Drawing:
    """Draw a figure with matplotlib; equal input gives equal bytes.

    `paint` gets an empty figure of `size` inches. Without matplotlib a warning tells it, and the drawing has
    no files.
    """
    try:
        content = _paint(paint, size, kinds)
    except MissingExtraError as missing:
        leave_out(str(missing))
        content = {}
    return Drawing(name=name, title=title, caption=caption, content=content)


def document_text(document: Document, *, width: int | None = None) -> str:
    """Return title, findings and tables as text.

    With a `width` in columns of text, lines are wrapped, and columns of a table that do not fit come below
    the others, each time with the first one.
    """
    parts = [document.title, "=" * len(document.title), ""]
    parts += [_wrapped(f"{name}: {value}", width) for name, value in document.facts]
    parts += ["", *(_wrapped(f"* {line}", width) for line in document.findings)]
    for table in document.tables:
        pieces = ["\n".join(_aligned(piece)) for piece in _pieces(table, width)]
        parts += ["", _wrapped(table.title, width), "\n\n".join(pieces)]
        if table.note:
            parts.append(_wrapped(table.note, width))
    return plain("\n".join(parts))


def document_html(document: Document) -> str:
    """Return the document as one HTML file that needs nothing else; it has no script at all."""
    style = (files("edgecritic.report") / "assets" / "report.css").read_text(encoding="utf-8")
    facts = "".join(f"<li>{_t(name)} <b>{_t(value)}</b></li>" for name, value in document.facts)
    findings = "".join(f"<li>{_t(line)}</li>" for line in document.findings)
    body = [_html_drawing(one) for one in document.drawings if one.content]
    body += [_html_table(one) for one in document.tables]
    if document.problems:
        lines = "".join(f"<li>{_t(line)}</li>" for line in document.problems)
        body.append(f'<section><h2>Problems</h2><ul class="notes warn">{lines}</ul></section>')
    version = _t(edgecritic.__version__)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_t(document.title)} · EdgeCritic</title>\n"
        f'<link rel="icon" href="data:,">\n<style>\n{style}{_STYLE}</style>\n</head>\n<body>\n'
        f'<header><div class="masthead"><h1>{_t(document.title)}</h1>\n'
        f'<ul class="findings">{findings}</ul>\n<ul class="facts">{facts}</ul></div></header>\n'
        f'<main id="main">\n{chr(10).join(body)}\n</main>\n'
        f"<footer><p>Made by EdgeCritic {version}. This page works offline and sends nothing anywhere.</p>"
        "</footer>\n</body>\n</html>\n"
    )


def write_document(
    folder: str | Path, document: Document, results: Mapping[str, Any] | None = None, *, name: str
) -> tuple[Path, ...]:
    """Write the page ``report.html``, the tables as CSV, the figures, the text, and NAME.json.

    Raises
    ------
    DataError
        If a file cannot be written.
    """
    home = Path(folder)
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{home}: cannot be made: {error}") from error
    texts = {"report.html": document_html(document), "report.txt": document_text(document) + "\n"}
    texts |= {f"{table.name}.csv": _csv(table) for table in document.tables}
    if results is not None:
        texts[f"{name}.json"] = json.dumps(results, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    for file, text in texts.items():
        write_text(home / file, text)
    written = [home / file for file in texts]
    for drawing in document.drawings:
        for kind, content in drawing.content.items():
            file_path = home / f"{drawing.name}.{kind}"
            with replace_file(file_path) as stream:
                stream.write(content)
            written.append(file_path)
    return tuple(written)


_STYLE = """
.findings { font-size: 1.08rem; max-width: 52rem; margin: 1rem 0; padding-left: 1.2rem; }
.findings li { margin: .35rem 0; }
.drawn { display: block; max-width: 100%; height: auto; background: #fff; border: 1px solid var(--line);
  border-radius: 8px; }
"""


def _paint(
    paint: Callable[[Figure], None], size: tuple[float, float], kinds: Sequence[str]
) -> dict[str, bytes]:
    with drawing_settings(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        from matplotlib.figure import Figure

        figure = Figure(figsize=size, layout="constrained")
        paint(figure)
        content = {}
        for kind in kinds:
            stream = io.BytesIO()
            figure.savefig(stream, format=kind, metadata=UNDATED.get(kind, {}), dpi=150)
            content[kind] = stream.getvalue()
    return content


def _t(text: object) -> str:
    return escape(clean(text))


def _html_table(table: Table) -> str:
    head = "".join(f'<th scope="col">{_t(cell)}</th>' for cell in table.header)
    rows = "".join(
        "<tr>" + "".join(_html_cell(cell, place, table.digits) for place, cell in enumerate(row)) + "</tr>"
        for row in table.rows
    )
    tall = ' class="tall"' if len(table.rows) > 20 else ""
    note = f'<p class="note">{_t(table.note)}</p>' if table.note else ""
    return (
        f'<section><h2>{_t(table.title)}</h2><div class="box"><table{tall}><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{note}</section>"
    )


def _html_cell(cell: Cell, place: int, digits: int) -> str:
    text = _t(_shown(cell, digits))
    return f'<th scope="row">{text}</th>' if place == 0 else f"<td>{text}</td>"


def _html_drawing(one: Drawing) -> str:
    kind = "png" if "png" in one.content else next(iter(one.content))
    mime = {"png": "image/png", "svg": "image/svg+xml"}[kind]
    data = base64.b64encode(one.content[kind]).decode("ascii")
    return (
        f'<section><h2>{_t(one.title)}</h2><figure><img class="drawn" alt="{_t(one.caption)}" '
        f'src="data:{mime};base64,{data}"></figure><p class="note">{_t(one.caption)}</p></section>'
    )


def _shown(cell: Cell, digits: int) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:.{digits}f}"
    return " ".join(str(cell).splitlines())


def _csv(table: Table) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(csv_cell, table.header))
    writer.writerows(["" if cell is None else csv_cell(cell) for cell in row] for row in table.rows)
    return stream.getvalue()


def _aligned(table: Table) -> list[str]:
    cells = [list(table.header), *([_shown(cell, table.digits) for cell in row] for row in table.rows)]
    widths = [max(_width(row[i]) for row in cells) for i in range(len(table.header))]
    lines = []
    for row in cells:
        shown = [
            text + " " * (width - _width(text)) if i == 0 else " " * (width - _width(text)) + text
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(shown).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return lines


def _pieces(table: Table, width: int | None) -> list[Table]:
    """Return tables of some columns each that fit into the width."""
    if width is None:
        return [table]
    rows = [table.header, *([_shown(cell, table.digits) for cell in row] for row in table.rows)]
    sizes = [max(_width(row[i]) for row in rows) for i in range(len(table.header))]
    groups: list[list[int]] = [[0]]
    for place in range(1, len(sizes)):
        if len(groups[-1]) > 1 and sum(sizes[i] + 2 for i in groups[-1]) + sizes[place] > width:
            groups.append([0])
        groups[-1].append(place)
    return [
        replace(
            table,
            header=tuple(table.header[i] for i in group),
            rows=tuple(tuple(row[i] for i in group) for row in table.rows),
        )
        for group in groups
    ]


def _wrapped(text: str, width: int | None) -> str:
    """Return a line in several, those of a list indented."""
    if width is None:
        return text
    indent = "  " if text.startswith("* ") else ""
    return textwrap.fill(text, width, subsequent_indent=indent, break_long_words=False)


def _width(text: str) -> int:
    """Return how many columns a text takes in a terminal."""
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - sum(bool(unicodedata.combining(sign)) for sign in text)
