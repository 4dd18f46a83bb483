"""Texts and results as files that are written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from edgecritic.atomic import replace_file, write_bytes
from edgecritic.errors import OutputError

__all__ = ["make_folder", "replace_file", "safe_name", "with_tuples", "write_json", "write_text"]

_SAFE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,100}")


def make_folder(folder: Path) -> Path:
    """Make the folder of results now rather than find out after the work that this is impossible."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"cannot be made a folder of results ({error.strerror or error})", path=folder
        ) from error
    return folder


def safe_name(name: str) -> str:
    """Return a file name for any text: itself where possible, else readable letters and a hash.

    Examples
    --------
    >>> safe_name("img_12"), safe_name("../x")[:2]
    ('img_12', 'x-')
    """
    if _SAFE.fullmatch(name):
        return name
    letters = re.sub(r"[^A-Za-z0-9_-]+", "", name)[:40]
    return f"{letters}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def write_text(path: str | os.PathLike[str], text: str) -> None:
    r"""Write text as UTF-8 with plain line ends, atomically.

    File names that are not UTF-8 appear with escapes such as ``\udcff``.
    """
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def with_tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return lists as tuples, as they were before they became JSON."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}


def write_json(path: str | os.PathLike[str], content: Any) -> None:
    """Write a result as JSON that people can read too, atomically; NaN is refused."""
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
