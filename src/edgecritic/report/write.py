"""Everything a reader gets beside ``results.json``, and the way back from that file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from edgecritic.datasets.content import PathLike, read_text
from edgecritic.errors import DataError
from edgecritic.report.figures import draw_or_leave_out, write_pr
from edgecritic.report.html import html_report
from edgecritic.report.pictures import Picture
from edgecritic.report.schema import check_results
from edgecritic.report.tables import table_csv, table_tex
from edgecritic.run.files import write_text

__all__ = ["load_results", "write_report"]


def load_results(path: PathLike) -> dict[str, Any]:
    """Read ``results.json`` (or the folder that holds it) and check its layout.

    Raises
    ------
    DataError
        If it cannot be read, is no JSON, or has another layout; the message names the place.
    """
    file = Path(path)
    if file.is_dir():
        file = file / "results.json"
    try:
        results = json.loads(read_text(file))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file}: cannot be read as JSON: {error}") from error
    try:
        check_results(results)
    except DataError as error:
        raise DataError(f"{file}: {error}") from error
    checked: dict[str, Any] = results
    return checked


def write_report(
    folder: PathLike, results: Mapping[str, Any], pictures: Sequence[Picture] = (), *, tuning: str = ""
) -> tuple[Path, ...]:
    """Write ``table.csv``, ``table.tex``, ``pr.svg``, ``pr.pdf``, ``pr.png`` and ``report.html``.

    Each file is written beside its place and then renamed, so a reader never sees half of it; equal
    results give equal bytes.

    Parameters
    ----------
    folder : path
        Where ``results.json`` is; made if it does not exist.
    results : mapping
        What that file holds.
    pictures : sequence of Picture
        Shown in the page.
    tuning : str
        Markup of another section of the page.

    Returns
    -------
    tuple of Path
        The files that were written.

    Raises
    ------
    DataError
        If the results have another layout, or a file cannot be written.

    Warns
    -----
    UserWarning
        If matplotlib is not installed: the figures are left out then.
    """
    check_results(results)
    home = Path(folder)
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{home}: cannot be made: {error}") from error
    texts = {
        "table.csv": table_csv(results),
        "table.tex": table_tex(results),
        "report.html": html_report(results, pictures, tuning=tuning),
    }
    for name, text in texts.items():
        write_text(home / name, text)
    return (*(home / name for name in texts), *draw_or_leave_out([lambda: write_pr(results, home)]))
