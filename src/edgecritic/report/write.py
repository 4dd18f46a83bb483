"""Reports as files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from edgecritic.errors import DataError, MissingExtraError
from edgecritic.figures import leave_out
from edgecritic.report.html import report_html
from edgecritic.report.sections import Figure, Report, Table
from edgecritic.report.text import report_markdown, report_text, table_csv
from edgecritic.run.files import replace_file, write_json, write_text
from edgecritic.values import plain

__all__ = ["write_pages", "write_report"]


def write_pages(folder: str | Path, report: Report) -> tuple[Path, ...]:
    """Write ``report.html`` and ``report.md`` into a folder, which is made if it does not exist.

    Each file is written beside its place and then renamed, so a reader never sees half of it; equal
    reports give equal bytes.

    Raises
    ------
    DataError
        If a file cannot be written.

    Warns
    -----
    UserWarning
        If Jinja2 is not installed: ``report.html`` is left out then.
    """
    home = Path(folder)
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot be made: {error}", path=home) from error
    texts = {"report.md": report_markdown(report)}
    try:
        texts["report.html"] = report_html(report)
    except MissingExtraError as missing:
        (home / "report.html").unlink(missing_ok=True)  # of an earlier run
        leave_out("report.html is", str(missing))
    return _written(home, texts)


def write_report(
    folder: str | Path, report: Report, results: Mapping[str, Any] | None = None, *, name: str
) -> tuple[Path, ...]:
    """Write the pages, the text, the tables as CSV, the figures, and the results as NAME.json.

    Raises
    ------
    DataError
        If a file cannot be written.
    """
    home = Path(folder)
    pages = write_pages(home, report)
    texts = {"report.txt": report_text(report) + "\n"}
    texts |= {f"{table.name}.csv": table_csv(table) for table in report.blocks(Table)}
    written = [*pages, *_written(home, texts)]
    if results is not None:
        written.append(home / f"{name}.json")
        write_json(written[-1], plain(results))
    for figure in report.blocks(Figure):
        for kind, content in figure.content.items():
            written.append(home / f"{figure.name}.{kind}")
            with replace_file(written[-1]) as stream:
                stream.write(content)
    return tuple(written)


def _written(home: Path, texts: Mapping[str, str]) -> tuple[Path, ...]:
    for file, text in texts.items():
        write_text(home / file, text)
    return tuple(home / file for file in texts)
