"""Reports and tables as text: for a terminal, as Markdown, CSV and LaTeX."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from edgecritic.report.sections import (
    Block,
    Cell,
    Chart,
    Content,
    Figure,
    Links,
    Notes,
    Record,
    Report,
    Section,
    Table,
    Text,
)
from edgecritic.tables import cell_text, csv_text, plain, text_table

__all__ = [
    "report_text",
    "report_markdown",
    "section_text",
    "table_text",
    "table_csv",
    "table_tex",
    "tex_escape",
    "wrapped",
    "markdown_table",
]

_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def report_text(report: Report, *, width: int | None = None) -> str:
    """Return title, facts, findings and tables for a terminal.

    With a `width` in columns of text, lines are wrapped, and columns of a table that do not fit come below
    the others, each time with the first one.
    """
    parts = [report.title, "=" * len(report.title), ""]
    parts += [wrapped(f"{name}: {value}" if name else value, width) for name, value in report.facts]
    lines = (f"* {line}" for line in (report.verdict, *report.findings) if line)
    parts += ["", *(wrapped(line, width) for line in lines)]
    for table in report.blocks(Table):
        parts += ["", wrapped(table.title, width), table_text(table, width=width)]
    return plain("\n".join(parts))


def section_text(section: Section, *, width: int | None = None) -> str:
    """Return title, lead and tables of a section for a terminal."""
    parts = [
        section.title,
        "-" * len(section.title),
        *([wrapped(section.lead, width)] if section.lead else []),
    ]
    for block in section.blocks:
        if isinstance(block, Table):
            parts += ["", block.title, table_text(block, width=width)]
    return plain("\n".join([*parts, ""]))


def table_text(table: Table, *, width: int | None = None, shortened: int | None = None) -> str:
    """Return a table and its note for a terminal."""
    rows = [[_words(cell, table.digits) for cell in row] for row in table.body[: table.most]]
    header = [_words(cell, table.digits) for cell in table.header]
    shown = text_table(rows, header, align=table.align, width=width, shortened=shortened)
    return "\n".join([shown, *(wrapped(note, width) for note in (table.rest, table.note) if note)])


def wrapped(text: str, width: int | None, indent: str = "") -> str:
    """Return a line in several, those of a list indented."""
    if width is None:
        return text
    indent = "  " if text.startswith("* ") else indent
    return textwrap.fill(text, width, subsequent_indent=indent, break_long_words=False)


def table_csv(table: Table) -> str:
    """Return a table as CSV: numbers in full, what is not known empty."""
    rows = ([cell.text if isinstance(cell, Cell) else cell for cell in row] for row in table.body)
    return csv_text([cell.text if isinstance(cell, Cell) else cell for cell in table.header], rows)


def table_tex(table: Table, comments: Sequence[str] = (), *, rules: Sequence[int] = ()) -> str:
    """Return a LaTeX ``tabular`` (booktabs) below lines of comment; `rules` follow these rows."""
    lines = [f"% {line}" for line in (*comments, r"\usepackage{booktabs}")]
    lines += [rf"\begin{{tabular}}{{l{'c' * (len(table.header) - 1)}}}", r"\toprule"]
    for number, row in enumerate((table.header, *table.body)):
        lines.append(" & ".join(_tex_cell(cell, table.digits) for cell in row) + r" \\")
        if number in (0, *rules):
            lines.append(r"\midrule")
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*lines, *([f"% {table.note}"] if table.note else [])]) + "\n"


def tex_escape(text: str) -> str:
    r"""Return text that LaTeX prints as it is.

    Examples
    --------
    >>> print(tex_escape("my_net 50%"))
    my\_net 50\%
    """
    return "".join(_TEX.get(sign, sign) for sign in text)


def _tex_cell(cell: Content, digits: int) -> str:
    whole = cell if isinstance(cell, Cell) else Cell(text=cell_text(cell, digits))
    text = tex_escape(whole.text).replace("–", "--").replace("−", "$-$")
    text = rf"\textbf{{{text}}}" if whole.strong else text
    return text + (f"$^{{{whole.mark}}}$" if whole.mark else "")


def report_markdown(report: Report) -> str:
    """Return the whole report as Markdown, its pictures as links to the files beside it."""
    parts = [f"# {_md(report.title)}", _md(report.verdict), _md_list(report.findings)]
    parts.append(_md_list([f"{name}: {value}" if name else value for name, value in report.facts]))
    rows = tuple((name, value, span, words) for name, words, value, span in report.tiles)
    if rows:
        parts.append(markdown_table(("", "", "", ""), rows))
    parts += [_md_section(section) for section in report.sections]
    return "\n\n".join(part for part in parts if part) + "\n"


def markdown_table(
    header: Sequence[Content], rows: Sequence[Sequence[Content]], align: str = "l", *, marked: bool = False
) -> str:
    r"""Return a table of Markdown; contents that are `marked` are Markdown already.

    Examples
    --------
    >>> print(markdown_table(["id", "hits"], [["a|b", 12]], align="lr"))
    | id | hits |
    |---|---:|
    | a\|b | 12 |
    """
    sides = (align[min(place, len(align) - 1)] for place in range(len(header)))
    lines = [
        [str(cell).replace("|", "\\|") if marked else _md_cell(cell) for cell in row]
        for row in (header, *rows)
    ]
    shown = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join(
        [shown[0], f"|{'|'.join('---:' if side == 'r' else '---' for side in sides)}|", *shown[1:]]
    )


def _md_section(section: Section) -> str:
    blocks = []
    for block in section.blocks:
        title = f"### {_md(block.title)}\n\n" if section.titled and isinstance(block, Table) else ""
        blocks.append(title + _md_block(block))
    parts = [f"## {_md(section.title)}", _md(section.lead), *blocks]
    return "\n\n".join(part for part in parts if part)


def _md_block(block: Block) -> str:
    match block:
        case Text():
            return f"**{_md(block.strong)}** {_md(block.text)}" if block.strong else _md(block.text)
        case Notes():
            return _md_list(block.lines)
        case Table():
            rows = [[_rounded(cell, block.digits) for cell in row] for row in block.body[: block.most]]
            shown = markdown_table(block.header, rows, block.align)
            return "\n\n".join(part for part in (shown, _md(block.rest), _md(block.note)) if part)
        case Figure() if block.content:
            kind = "png" if "png" in block.content else next(iter(block.content))
            return f"![{_md(block.title)}]({block.name}.{kind})\n\n{_md(block.caption)}"
        case Chart() if block.image:
            return f"![{_md(block.label)}]({block.image})"
        case Record():
            title = f"### {_md(block.title)}\n\n" if block.title else ""
            return title + _md_list([f"{name}: {cell.text}" for name, cell in block.items])
        case Links():
            title = f"### {_md(block.title)}\n\n" if block.title else ""
            return title + "\n".join(
                "- "
                + " ".join(
                    [*([_md(of.text)] if of else []), *(f"[{one.name}]({one.href})" for one in found), words]
                )
                for of, found, words in block.items
            )
    return ""


def _md_list(lines: Sequence[str]) -> str:
    return "\n".join(f"- {_md(line)}" for line in lines)


def _md_cell(cell: Content) -> str:
    whole = cell if isinstance(cell, Cell) else Cell(text=cell_text(cell))
    text = _md(whole.text).replace("|", "\\|")
    text = f"**{text}**" if whole.strong and text else text
    return " ".join(part for part in (text + whole.mark.replace("*", "\\*"), _md(whole.note)) if part)


def _md(text: str) -> str:
    """Return text that Markdown shows as it is: no markup, no links, on one line."""
    shown = plain(" ".join(text.split())).replace("\\", "\\\\")
    for sign in "<>[]*_`":
        shown = shown.replace(sign, f"\\{sign}")
    return shown


def _rounded(cell: Content, digits: int) -> Content:
    return cell_text(cell, digits) if isinstance(cell, float) else cell


def _words(cell: Content, digits: int) -> str:
    """Return a cell as text of a terminal: its mark and its note behind it."""
    if not isinstance(cell, Cell):
        return cell_text(cell, digits)
    return f"{cell.text}{cell.mark}{f' [{cell.note}]' if cell.note else ''}"
