"""The result store: one small file per finished piece of work, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from edgecritic import __version__
from edgecritic.datasets.content import PathLike, open_regular, read_text
from edgecritic.errors import DataError
from edgecritic.run.files import safe_name, write_text

__all__ = ["RECORDS", "REGIONS", "Store", "kept", "narrowed_key", "record_key", "safe_name"]

RECORDS = "records"
"""The folder, within that of a run's results, of the records of finished work."""

REGIONS = "@regions"
"""The folder of the records of regions among them; no detector's safe name has an @."""

_MOST_BYTES = 2**28  # of one record
_FORM = 3  # raised when the text of records changes
_KEYS = json.JSONEncoder(sort_keys=True)
_CONTENTS = json.JSONEncoder(separators=(",", ":"))


def record_key(settings: Any) -> str:
    """Return the key of a record: a hash of everything that its content depends on, ready for JSON.

    `settings` are the contents of the inputs (`edgecritic.datasets.content.digest`), the options, and the
    version of the record; the version of this package and the form of records are added.

    Examples
    --------
    >>> record_key({"a": 1, "b": 2}) == record_key({"b": 2, "a": 1}) != record_key({"a": 1, "b": 3})
    True
    """
    return hashlib.sha256(_KEYS.encode([__version__, _FORM, settings]).encode()).hexdigest()


def narrowed_key(key: str, parts: Mapping[str, str]) -> str:
    """Return the key of what depends on the settings of a key, and on inputs whose hashes are given by name.

    Examples
    --------
    >>> narrowed_key("1f", {"truth_hash": "2a", "prediction_hash": "3b"})
    '1f prediction_hash=3b truth_hash=2a'
    """
    return key + "".join(f" {name}={part}" for name, part in sorted(parts.items()))


class Store:
    """Records of finished work in a folder, each valid only for the key it was made with.

    Parameters
    ----------
    folder : path
        Made when the first record is saved.
    """

    def __init__(self, folder: PathLike) -> None:
        self.folder = os.fspath(folder)

    def load(self, name: str, key: str | None) -> dict[str, Any] | None:
        """Return the record `name` if it is there, whole, and was made with this key, or any if it is None.

        Warns
        -----
        UserWarning
            If it is damaged.
        """
        path = self._path(name)
        if not os.access(path, os.F_OK):  # sooner told than by trying
            return None
        try:
            text = read_text(path, limit=_MOST_BYTES)
            record = json.loads(text)
            if key is not None and record["key"] != key:
                return None
            content: dict[str, Any] = record["content"]
            begin = f"{_begin(record['key'])}{_middle(record['check'])}"
            inner = text[len(begin) : -1]
            whole = isinstance(content, dict) and text == f"{begin}{inner}}}"
            if whole and record["check"] == _check(inner):
                return content
        except (DataError, ValueError, KeyError, TypeError, RecursionError):
            pass
        warnings.warn(f"{path}: a damaged record is thrown away and made anew", stacklevel=3)
        return None

    def holds(self, name: str, key: str) -> bool:
        """Tell by its first bytes whether there is a record `name` of this key; it may still be damaged."""
        begin = _begin(key).encode()
        try:
            with open_regular(Path(self._path(name))) as stream:
                return stream.read(len(begin)) == begin
        except DataError:
            return False

    def save(self, name: str, key: str, content: dict[str, Any]) -> None:
        """Write the record `name`."""
        text = _CONTENTS.encode(content)
        write_text(self._path(name), f"{_begin(key)}{_middle(_check(text))}{text}}}")

    def touch(self, name: str) -> None:
        """Let the time of the record `name` be that of its last use."""
        with suppress(OSError):
            os.utime(self._path(name))

    def _path(self, name: str) -> str:
        return f"{self.folder}{os.sep}{safe_name(name)}.json"


def kept(
    folder: PathLike | None,
    name: str,
    key: str,
    compute: Callable[[], dict[str, Any]],
    *,
    fresh: bool = False,
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


def _begin(key: str) -> str:
    return f'{{"key":"{key}",'


def _middle(check: str) -> str:
    return f'"check":"{check}","content":'


def _check(text: str) -> str:
    """Return a checksum of the text of a content, by which a damaged record is known."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
