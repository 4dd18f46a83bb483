"""Maps of photos that their detector has learned from: a list beside the maps, which a benchmark reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from edgecritic.datasets.cases import Dataset
from edgecritic.datasets.content import read_text
from edgecritic.datasets.names import split_name
from edgecritic.errors import DataError, OutputError
from edgecritic.run.files import write_json
from edgecritic.run.results import Failure

__all__ = ["LIST", "SEEN", "list_seen", "name_in_model", "read_seen", "without_seen"]

LIST = "learned-from.json"
"""The file, in a folder of maps, of those whose photo the detector has learned from."""

SEEN = "scores on it tell nothing about new photos"

_MOST_BYTES = 2**26


def name_in_model(detector: Any, image: Any, kind: Any) -> str | None:
    """Return how the model of a detector that learns calls this photo; None if it has not learned from it."""
    from edgecritic.detectors.base import bind
    from edgecritic.detectors.picture import as_picture

    bound = bind(detector)
    if bound.entry.info.model is None:
        return None
    found: str | None = bound.entry.info.model(bound.id).knows(as_picture(image, kind))
    return found


def list_seen(folder: Path, written: Iterable[str], seen: Mapping[str, str]) -> None:
    """Bring the list of a folder up to date: of the maps `written` now, those `seen`, with their detector.

    There is no file where no map is to be listed.
    """
    names = set(written)
    before = {name: one for name, one in read_seen(folder).items() if name not in names}
    listed = {**before, **seen}
    place = folder / LIST
    if listed:
        write_json(place, {name: listed[name] for name in sorted(listed)})
    elif place.exists():
        try:
            place.unlink()
        except OSError as error:
            raise OutputError(f"cannot be removed ({error.strerror or error})", path=place) from error


def read_seen(folder: Path) -> dict[str, str]:
    """Return the names of maps that are listed, with the ids of their detectors.

    Raises
    ------
    DataError
        If the list is damaged.
    """
    place = folder / LIST
    if not place.is_file():
        return {}
    with suppress(ValueError, RecursionError):
        found = json.loads(read_text(place, limit=_MOST_BYTES))
        if isinstance(found, dict) and all(isinstance(one, str) for one in found.values()):
            return found
    raise DataError(
        "is no list of maps with the ids of their detectors",
        path=place,
        remedy="make the maps anew with edgecritic detect",
    )


def without_seen(name: str, place: str | Path, found: Dataset) -> tuple[Dataset, list[Failure]]:
    """Take out of the cases of a detector those whose photo it has learned from; they are failures."""
    listed = read_seen(Path(place))
    if not listed:
        return found, []
    failures = [
        Failure.of_case(
            case,
            f"{listed[own].partition('(')[0]} has learned from this photo: {SEEN}; say --seen to judge it",
            detector=name,
        )
        for case in found
        if (own := _name(case.prediction)) in listed
    ]
    refused = {one.id for one in failures}
    return replace(found, cases=tuple(case for case in found if case.id not in refused)), failures


def _name(path: Path | None) -> str:
    return "" if path is None else split_name(path.name)[0]
