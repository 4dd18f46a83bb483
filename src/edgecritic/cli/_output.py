"""What all sub-commands share: tables and JSON on stdout, progress on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from edgecritic.tables import plain

__all__ = ["complain", "tell_failures", "print_json", "progress", "report_page"]


def complain(message: str) -> None:
    """Write one line to stderr, whatever the message holds."""
    sys.stderr.write(plain(f"edgecritic: {' '.join(message.split())}\n"))


def tell_failures(failures: Iterable[object]) -> int:
    """Write what failed to stderr, one line each; return the exit status: 1 if anything did."""
    told = [str(failure) for failure in failures]
    for line in told:
        complain(line)
    return 1 if told else 0


def print_json(document: Any) -> None:
    """Print one JSON document."""
    from edgecritic.values import plain as plain_values

    text = json.dumps(plain_values(document), indent=2, ensure_ascii=False, allow_nan=False)
    print(plain(text, escape=True))


def report_page(folder: str | Path) -> Path:
    """Return the page of a report that was written, or the Markdown file where there is no page."""
    page = Path(folder) / "report.html"
    return page if page.exists() else page.with_suffix(".md")


@contextmanager
def progress(
    description: str, *, unit: str = "it", quiet: bool = False
) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on stderr if that is a terminal, unless `quiet`; call the given function with (done, total).

    Examples
    --------
    >>> with progress("matching") as step:
    ...     step(1, 2)
    """
    if quiet or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from tqdm import tqdm

    from edgecritic.cli._streams import terminal_of

    with tqdm(desc=description, unit=unit, file=terminal_of(sys.stderr), leave=False) as bar:

        def step(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield step
