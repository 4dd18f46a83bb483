"""The result store: one small file per finished piece of work, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from edgecritic.errors import DataError
from edgecritic.run.files import write_text

__all__ = ["RECORDS", "Store", "kept", "record_key", "hash_files", "safe_name"]

RECORDS = "records"
"""The folder, within that of a run's results, of the records of finished work."""

_PIECE = 2**20


def hash_files(paths: Iterable[Path]) -> str:
    """Return a hash of the contents of regular files, in the given order; memory stays small."""
    digest = hashlib.sha256()
    for path in paths:
        try:
            if path.exists() and not path.is_file():
                raise DataError(f"{path}: is not a regular file")
            with path.open("rb") as stream:
                digest.update(os.fstat(stream.fileno()).st_size.to_bytes(8, "little"))
                while piece := stream.read(_PIECE):
                    digest.update(piece)
        except OSError as error:
            raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    return digest.hexdigest()


def safe_name(name: str) -> str:
    """Return a file name for any text: itself where possible, else readable letters and a hash.

    Examples
    --------
    >>> safe_name("img_12"), safe_name("../x")[:2]
    ('img_12', 'x-')
    """
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,100}", name):
        return name
    letters = re.sub(r"[^A-Za-z0-9_-]+", "", name)[:40]
    return f"{letters}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def record_key(settings: Any) -> str:
    """Return the key of a record: a hash of everything that its content depends on, ready for JSON.

    Examples
    --------
    >>> record_key({"a": 1, "b": 2}) == record_key({"b": 2, "a": 1}) != record_key({"a": 1, "b": 3})
    True
    """
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


class Store:
    """Records of finished work in a folder, each valid only for the key it was made with.

    Parameters
    ----------
    folder : Path
        Made when the first record is saved.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, name: str, key: str) -> dict[str, Any] | None:
        """Return the record `name` if it is there, whole, and was made with this key."""
        try:
            record = json.loads(self._path(name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(record, dict) or record.get("key") != key:
            return None
        content = record.get("content")
        whole = isinstance(content, dict) and record.get("check") == _check(content)
        return content if whole else None

    def save(self, name: str, key: str, content: dict[str, Any]) -> None:
        """Write the record `name`."""
        text = json.dumps({"key": key, "check": _check(content), "content": content}, separators=(",", ":"))
        write_text(self._path(name), text)

    def _path(self, name: str) -> Path:
        return self.folder / f"{safe_name(name)}.json"


def kept(
    folder: Path | None, name: str, key: str, compute: Callable[[], dict[str, Any]], *, fresh: bool = False
) -> dict[str, Any]:
    """Return the record `name` of a folder, or make it and keep it.

    Without a folder nothing is kept; `fresh` makes it anew.
    """
    if folder is None:
        return compute()
    store = Store(folder)
    content = None if fresh else store.load(name, key)
    if content is None:
        content = compute()
        store.save(name, key, content)
    return content


def _check(content: dict[str, Any]) -> str:
    """Return a checksum by which a damaged record is known."""
    text = json.dumps(content, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
