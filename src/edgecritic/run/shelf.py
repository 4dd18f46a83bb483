"""Many short values in one file: read all at once, in place of a file for each."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from edgecritic.atomic import write_bytes
from edgecritic.datasets.content import read_content
from edgecritic.errors import DataError, OutputError

__all__ = ["Shelf"]

_read = json.JSONDecoder().raw_decode
_NEW_LINES = os.O_WRONLY | os.O_APPEND | os.O_CREAT
for _name in ("O_BINARY", "O_CLOEXEC", "O_NONBLOCK"):  # a pipe is not waited for
    _NEW_LINES |= getattr(os, _name, 0)


class Shelf:
    """Values under keys, each a line of a file; one that is put there again takes the place of the first.

    A line is added by one write, so that several processes may add some. One that is damaged, as that of a
    process that was killed, is as if it were not there. A file that cannot be read or written is left alone.

    Parameters
    ----------
    file : Path
        Made, with its folder, when the first value is put there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "a.lines")
    ...     Shelf(file).put("key", [1, 2])
    ...     Shelf(file).get("key")
    [1, 2]
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._rests: dict[str, str] = {}
        for line in _lines(file):
            key, _, rest = line.partition(" ")
            if key not in self._rests or _is_whole(key, rest):
                self._rests[key] = rest

    def get(self, key: str) -> Any:
        """Return the value of a key, None if there is none."""
        rest = self._rests.get(key, "")
        try:
            return _read(rest.partition(" ")[2])[0] if _is_whole(key, rest) else None
        except (ValueError, RecursionError):
            return None

    def put(self, key: str, value: Any) -> None:
        """Keep a value that is ready for JSON; the key has no white space."""
        text = json.dumps(value, separators=(",", ":"))
        self._rests[key] = f"{_check(key, text)} {text}"
        line = f"\n{key} {self._rests[key]}".encode()  # behind what a killed process left
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._file, _NEW_LINES, 0o666)
            try:
                os.write(descriptor, line)
            finally:
                os.close(descriptor)

    @staticmethod
    def trim(file: Path, most: int) -> None:
        """Leave the newest half of the lines of a file that has more than `most` bytes."""
        with suppress(OSError, OutputError):
            if file.stat().st_size > most:
                lines = _lines(file)
                write_bytes(file, "".join(f"\n{line}" for line in lines[len(lines) // 2 :]).encode())


def _lines(file: Path) -> list[str]:
    try:
        text = read_content(file).data.decode("ascii", "replace") if file.exists() else ""
    except (DataError, OSError):
        return []
    return [line for line in text.split("\n") if line]


def _is_whole(key: str, rest: str) -> bool:
    """Tell whether a line is as it was written, by what is behind its key."""
    check, _, text = rest.partition(" ")
    return check == _check(key, text)


def _check(key: str, text: str) -> str:
    return hashlib.blake2b(f"{key} {text}".encode(), digest_size=8).hexdigest()
