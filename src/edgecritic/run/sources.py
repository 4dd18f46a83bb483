"""Where the files of a run are: what a viewer needs beside the records, which hold numbers only.

Kept among the records, relative to the folder of the run, so that a run that is moved together with its data
finds them again, and equal runs have equal bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from edgecritic.datasets.cases import Dataset
from edgecritic.errors import DataError
from edgecritic.run.judge import Reading
from edgecritic.run.places import data_sets
from edgecritic.run.store import RECORDS, Store, record_key

__all__ = ["Sources", "keep_sources", "read_sources"]

SOURCES = "@sources"
"""The folder of the sources among the records of a run; no detector's safe name has an @."""


_USUAL = Reading()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where predictions, truths, photos and masks are, and how they are read.

    Attributes
    ----------
    detectors : dict of str
        By name the folder (or file) of predictions.
    truth : str
    images, masks, split : str or None
    reading : Reading
    """

    detectors: dict[str, str]
    truth: str
    images: str | None = None
    masks: str | None = None
    split: str | None = None
    reading: Reading = _USUAL

    def places(self) -> tuple[Path, ...]:
        """Return all folders and files that were named, as they were."""
        given = (*self.detectors.values(), self.truth, self.images, self.masks)
        return tuple(Path(one) for one in given if one is not None)

    def cases(self) -> dict[str, Dataset]:
        """Find the cases of every detector.

        Raises
        ------
        DataError
            If a folder is not there, or holds nothing that fits.
        """
        self.check()
        return data_sets(
            dict(self.detectors), self.truth, images=self.images, masks=self.masks, split=self.split
        )

    def check(self) -> None:
        """Refuse folders that are gone."""
        for place in self.places():
            if not place.exists():
                raise DataError("is not there (any more)", path=place)

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "detectors": dict(self.detectors),
            "truth": self.truth,
            "images": self.images,
            "masks": self.masks,
            "split": self.split,
            "reading": self.reading.as_dict(),
        }


def keep_sources(folder: Path, sources: Sources) -> None:
    """Keep where the files of a run are, relative to its folder."""
    real = folder.resolve()
    content = _moved(sources, lambda path: _relative(path, real)).as_dict()
    store, key = Store(folder / RECORDS / SOURCES), record_key(content)
    if not store.holds("sources", key):
        store.save("sources", key, content)


def read_sources(folder: Path) -> Sources:
    """Return where the files of a run are.

    Raises
    ------
    DataError
        If the run does not tell.
    """
    real = folder.resolve()
    content = Store(folder / RECORDS / SOURCES).load("sources", None)
    if content is None:
        raise DataError(
            "does not tell where its predictions and truths are",
            path=folder,
            remedy="run edgecritic bench with this --out once more, which judges nothing again, or name "
            "them: edgecritic view NAME=FOLDER --truth FOLDER",
        )
    try:
        return _moved(_sources(content), lambda path: os.path.normpath(real / path))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"the places of its files cannot be read: {error}", path=folder) from error


def _sources(content: Mapping[str, Any]) -> Sources:
    reading = dict(content["reading"])
    if isinstance(reading.get("spacing"), list):
        reading["spacing"] = tuple(reading["spacing"])
    optional = {name: content[name] for name in ("images", "masks", "split")}
    places = {str(name): str(place) for name, place in content["detectors"].items()}
    if not all(one is None or isinstance(one, str) for one in optional.values()):
        raise ValueError("a place is text")
    return Sources(detectors=places, truth=str(content["truth"]), reading=Reading(**reading), **optional)


def _moved(sources: Sources, change: Callable[[str], str]) -> Sources:
    def moved(place: str | None) -> str | None:
        return None if place is None else change(place)

    return replace(
        sources,
        detectors={name: change(place) for name, place in sources.detectors.items()},
        truth=change(sources.truth),
        images=moved(sources.images),
        masks=moved(sources.masks),
    )


def _relative(path: str, folder: Path) -> str:
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return str(Path(path).absolute())
