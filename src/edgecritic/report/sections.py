"""What a report is made of: sections, which are values. Renderers know these and nothing else.

A report is a list of sections, a section a list of blocks. `edgecritic.report.text` shows them in a
terminal and as Markdown, `edgecritic.report.html` as a page; both choose by the class of a block, never by
what it is about.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from edgecritic.errors import InputError, MissingExtraError
from edgecritic.figures import drawing_settings, figure_bytes, leave_out, new_figure
from edgecritic.values import Value

__all__ = [
    *("Bar", "Cell", "Content", "Text", "Notes", "Table", "Figure", "Picture", "Pictures", "Record"),
    *("Link", "Links", "Chart", "Block", "Section", "Report", "draw", "study_report"),
]

_PNG = b"\x89PNG\r\n\x1a\n"


class Bar(Value):
    """A value with its interval on a scale, all in percent of the width; `goal` is a dashed line."""

    at: float
    begin: float = 0.0
    end: float = 0.0
    goal: float | None = None


class Cell(Value):
    """A content of a table, or a name anywhere, with what stands beside it.

    Attributes
    ----------
    text : str
    note : str
        In small letters below, for example an interval.
    mark : str
        Raised behind it.
    strong, code : bool
        Printed bold; printed as code.
    swatch : int, optional
        The number of the line that it names: a sample of its colour and dashes stands before it.
    dot : bool
        A dot of the colour of people stands before it.
    bar : Bar, optional
        Drawn above the note.
    share : float, optional
        From 0 to 1, drawn behind the text.
    """

    text: str
    note: str = ""
    mark: str = ""
    strong: bool = False
    code: bool = False
    swatch: int | None = None
    dot: bool = False
    bar: Bar | None = None
    share: float | None = None


Content = str | int | float | None | Cell


class Text(Value):
    """A paragraph: a ``note`` or a warning (``warn``); `strong` stands bold before it."""

    text: str
    strong: str = ""
    kind: str = "note"


class Notes(Value):
    """A list of sentences; `kind` may be ``warn``."""

    lines: tuple[str, ...]
    kind: str = ""


class Table(Value):
    """A table; numbers are shown with `digits` digits and kept exact in the CSV file.

    Attributes
    ----------
    name : str
        Of the CSV file.
    title : str
    header : tuple of str or Cell
    body : tuple of tuples
        The rows, of str, int, float, ``None`` or `Cell`.
    note : str
    digits : int
    align : str
        ``l`` or ``r`` for each column; the last sign holds for all further ones.
    row_head : int
        The column that names the row.
    most : int, optional
        On paper and in text so many rows are shown.
    searched : str
        The column by which the page offers to filter; the table can be sorted then.
    folded : bool
        Whether the page shows it when asked.
    """

    name: str
    title: str
    header: tuple[str | Cell, ...]
    body: tuple[tuple[Content, ...], ...]
    note: str = ""
    digits: int = 4
    align: str = "lr"
    row_head: int = 0
    most: int | None = None
    searched: str = ""
    folded: bool = False

    @classmethod
    def of_rows(cls, rows: Sequence[Mapping[str, Content]], *, name: str, title: str, **more: Any) -> Self:
        """Return the table of rows that all have the same columns, such as ``rows()`` of a result gives."""
        body = tuple(tuple(row.values()) for row in rows)
        return cls(name=name, title=title, header=tuple(rows[0]), body=body, **more)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows by the names of the columns."""
        names = [_text_of(head) for head in self.header]
        return [dict(zip(names, map(_text_of, row), strict=True)) for row in self.body]

    @property
    def tall(self) -> bool:
        """Whether it scrolls in a box of its own."""
        return bool(self.searched) or len(self.body) > 20

    @property
    def rest(self) -> str:
        """A sentence that says how many rows are shown where not all are."""
        if self.most is None or len(self.body) <= self.most:
            return ""
        return f"The first {self.most} of {len(self.body)} rows; the files beside the report have them all."


class Figure(Value):
    """A figure: its file name without ending, what it shows, and its files by ending (none if not drawn)."""

    _hidden = ("content",)

    name: str
    title: str
    caption: str
    content: Mapping[str, bytes]

    @property
    def size(self) -> tuple[int, int] | None:
        """Width and height of the PNG file."""
        return _size(self.content["png"]) if "png" in self.content else None

    @property
    def uri(self) -> str:
        """The figure as text for the ``src`` of an image."""
        kind = "png" if "png" in self.content else next(iter(self.content))
        return _data_uri(self.content[kind], {"svg": "image/svg+xml"}.get(kind, f"image/{kind}"))


class Picture(Value):
    """A small picture that the page can enlarge.

    Attributes
    ----------
    group : str
        What it belongs to.
    title, name, note : str
        What stands below it.
    words : str
        What it shows, for those who do not see it.
    png : bytes
        The PNG file.
    """

    _hidden = ("png",)

    group: str
    title: str
    name: str
    note: str
    words: str
    png: bytes

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.png.startswith(_PNG) or len(self.png) < 24:
            raise InputError("png must be the bytes of a PNG file")

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return _size(self.png)

    @property
    def uri(self) -> str:
        """The picture as text for the ``src`` of an image."""
        return _data_uri(self.png, "image/png")


class Pictures(Value):
    """Groups of pictures under their names; `keys` are (kind, meaning) of their colours."""

    groups: tuple[tuple[Cell, tuple[Picture, ...]], ...]
    keys: tuple[tuple[str, str], ...] = ()


class Record(Value):
    """Names with their values; `title` stands above."""

    items: tuple[tuple[str, Cell], ...]
    title: str = ""
    kind: str = ""


class Link(Value):
    """A file beside the report."""

    name: str
    href: str


class Links(Value):
    """Lists of files: what they belong to, the files, what they are; `title` stands above."""

    items: tuple[tuple[Cell | None, tuple[Link, ...], str], ...]
    title: str = ""


class Chart(Value):
    """A drawing that the script of the page makes of `data`; elsewhere the file `image` stands for it.

    Attributes
    ----------
    kind : str
        ``curves`` (recall and precision, with a legend that switches lines) or ``lines``.
    label : str
    data : mapping
        For the script, by the names that it knows; JSON.
    legend : tuple of Cell
        Names of the lines, their values as marks; `head` stands above.
    help : str
        How it is read.
    image : str
        A file beside the report with the same drawing, or empty.
    """

    kind: str
    label: str
    data: Mapping[str, Any]
    legend: tuple[Cell, ...] = ()
    head: str = ""
    help: str = ""
    image: str = ""


Block = Text | Notes | Table | Figure | Pictures | Record | Links | Chart


class Section(Value):
    """A part of a report with a heading; `key` is its name in links, `aside` is said on a screen only."""

    key: str
    title: str
    blocks: tuple[Block, ...]
    lead: str = ""
    aside: str = ""

    @property
    def titled(self) -> bool:
        """Whether its tables stand under titles of their own: there are several."""
        return sum(isinstance(block, Table) for block in self.blocks) > 1

    @classmethod
    def of(cls, block: Table | Figure) -> Section:
        """Return a section of one table or figure, under its own title."""
        kind = "table" if isinstance(block, Table) else "figure"
        return cls(key=f"{kind}-{block.name}", title=block.title, blocks=(block,))


class Report(Value):
    """All that is said of one run or study.

    Attributes
    ----------
    title : str
    sections : tuple of Section
    brand : str
        What kind of report it is.
    verdict : str
        A sentence below the title.
    findings : tuple of str
        Short sentences with the numbers that matter.
    facts : tuple of (str, str)
        What was measured, how, on what: a name, which may be empty, and a value.
    tiles : tuple of (str, str, str, str)
        Name, words, value and interval of a few numbers in large type.
    version : str
        Of the program.
    refresh : int
        Seconds after which a page that still grows is loaded anew; 0 if it is complete.
    """

    title: str
    sections: tuple[Section, ...]
    brand: str = ""
    verdict: str = ""
    findings: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    tiles: tuple[tuple[str, str, str, str], ...] = ()
    version: str = ""
    refresh: int = 0

    def blocks(self, kind: type[Any]) -> list[Any]:
        """Return all blocks of one class, in order."""
        return [block for section in self.sections for block in section.blocks if isinstance(block, kind)]


def draw(
    name: str,
    title: str,
    caption: str,
    paint: Callable[[Any], object],
    *,
    size: tuple[float, float] = (8.0, 4.0),
    kinds: Sequence[str] = ("png", "svg"),
    dpi: float = 150,
) -> Figure:
    """Draw a figure with matplotlib; equal input gives equal bytes.

    `paint` gets an empty figure of `size` inches. Its parts have the same places in files of all `kinds`.
    Without matplotlib a warning tells it, and the figure has no files.
    """
    content = {}
    try:
        with drawing_settings():
            figure = new_figure(size)
            paint(figure)
            for kind in kinds:
                content[kind] = figure_bytes(figure, kind, dpi=dpi)
                figure.set_layout_engine("none")  # finding the places takes as long as drawing
    except MissingExtraError as missing:
        leave_out("the figures are", str(missing))
    return Figure(name=name, title=title, caption=caption, content=content)


def study_report(
    title: str,
    findings: Sequence[str],
    *,
    facts: Sequence[tuple[str, str]] = (),
    figures: Sequence[Figure] = (),
    tables: Sequence[Table] = (),
    problems: Sequence[str] = (),
) -> Report:
    """Return the report of a study: its figures that were drawn, its tables, and what could not be used."""
    sections = [Section.of(figure) for figure in figures if figure.content]
    sections += [Section.of(table) for table in tables]
    if problems:
        notes = Notes(lines=tuple(problems), kind="warn")
        sections.append(Section(key="problems", title="Problems", blocks=(notes,)))
    return Report(
        title=title, findings=tuple(findings), facts=tuple(facts), sections=tuple(sections), brand="Study"
    )


def _text_of(content: Content) -> Any:
    return content.text if isinstance(content, Cell) else content


def _size(png: bytes) -> tuple[int, int]:
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def _data_uri(content: bytes, mime: str) -> str:
    return f"data:{mime};base64,{base64.b64encode(content).decode('ascii')}"
