"""What all sub-commands share: tables and JSON on stdout, progress on stderr."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from edgecritic.tables import plain

__all__ = ["complain", "tell_failures", "jsonable", "print_json", "progress", "report_page"]


def complain(message: str) -> None:
    """Write one line to stderr, whatever the message holds."""
    sys.stderr.write(plain(f"edgecritic: {' '.join(message.split())}\n"))


def tell_failures(failures: Iterable[object]) -> int:
    """Write what failed to stderr, one line each; return the exit status: 1 if anything did."""
    told = [str(failure) for failure in failures]
    for line in told:
        complain(line)
    return 1 if told else 0


def jsonable(value: Any) -> Any:
    """Return `value` in the types of JSON; what is not a finite number becomes ``None``.

    Examples
    --------
    >>> jsonable({"f": float("nan"), "shape": (2, 3)})
    {'f': None, 'shape': [2, 3]}
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [jsonable(item) for item in value]
    if hasattr(value, "tolist"):
        return jsonable(value.tolist())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {field.name: jsonable(getattr(value, field.name)) for field in fields}
    return str(value)


def print_json(document: Any) -> None:
    """Print one JSON document."""
    text = json.dumps(jsonable(document), indent=2, ensure_ascii=False, allow_nan=False)
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
    from tqdm import tqdm

    from edgecritic.cli._streams import terminal_of

    hidden = quiet or not sys.stderr.isatty()
    with tqdm(desc=description, unit=unit, disable=hidden, file=terminal_of(sys.stderr), leave=False) as bar:

        def step(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield step
