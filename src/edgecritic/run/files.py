"""Files that are either written in full or not at all."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from edgecritic.errors import DataError

__all__ = ["replace_file", "write_text", "write_json"]


@contextmanager
def replace_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file beside `path` that takes its place when the block ends without an error.

    The folder is made if it does not exist.

    Raises
    ------
    DataError
        If the file cannot be written; what was there before stays.
    """
    target = Path(path)
    temporary: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
        with temporary.open("xb") as stream:
            yield stream
        temporary.replace(target)
    except OSError as error:
        raise DataError(f"{target}: cannot be written: {error}") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    r"""Write text as UTF-8 with plain line ends, atomically.

    File names that are not UTF-8 appear with escapes such as ``\udcff``.
    """
    with replace_file(path) as stream:
        stream.write(text.encode("utf-8", "backslashreplace"))


def write_json(path: str | os.PathLike[str], content: Any) -> None:
    """Write a result as JSON that people can read too, atomically; NaN is refused."""
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
