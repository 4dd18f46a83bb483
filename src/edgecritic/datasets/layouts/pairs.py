"""Pair lists: text with ``image truth`` on each line (`.lst`), or a JSON list of such pairs."""

from __future__ import annotations

import json

from edgecritic.datasets._guard import reading
from edgecritic.datasets.content import read_text
from edgecritic.datasets.layouts.base import Listing, Place, layout
from edgecritic.datasets.names import split_name
from edgecritic.errors import DataError

__all__ = ["pair_list"]

_SUFFIXES = frozenset({".lst", ".txt", ".json"})


@layout("list", title="pair list", example="test.lst, test.json", rank=20, whole=True)
def pair_list(place: Place) -> Listing | None:
    """A file with an image and its truths per line (.lst, .txt) or item (.json); the image gives the name.

    Each line, or each JSON item, names an image and one or more truth files, relative to the list's
    folder. Columns are separated by tabs if there are any, else by spaces; lines that start with ``#``
    are left out.
    """
    path = place.path
    if path.suffix.lower() not in _SUFFIXES or not path.is_file():
        return None
    with reading(path):
        text = read_text(path)
        rows = _json_rows(text) if text.lstrip()[:1] == "[" else _text_rows(text)
        result = Listing()
        for number, row in enumerate(rows, start=1):
            if len(row) < 2:
                raise DataError(f"pair {number} must name an image and a truth, got {' '.join(row)!r}")
            image, *truths = (path.parent / name for name in row)
            name = split_name(image.name)[0]
            if name in result.files:
                raise DataError(f"pair {number} has the name {name!r} of an earlier pair; names must differ")
            result.files[name] = tuple(truths)
            result.images[name] = image
        if not result.files:
            raise DataError("holds no pairs", remedy="write one `image truth` per line")
        return result


def _text_rows(text: str) -> list[list[str]]:
    lines = (line.strip() for line in text.splitlines())
    separator = "\t" if "\t" in text else None
    return [line.split(separator) for line in lines if line and not line.startswith("#")]


def _json_rows(text: str) -> list[list[str]]:
    rows = json.loads(text)
    for row in rows:
        if not (isinstance(row, list) and all(isinstance(name, str) and name for name in row)):
            raise DataError("each JSON item must be a list [image, truth] of two file names")
    return list(rows)
