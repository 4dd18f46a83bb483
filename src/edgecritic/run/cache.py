"""What depends on the truths alone, kept across runs in the user's cache folder."""

from __future__ import annotations

import base64
import hashlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic import __version__
from edgecritic.annotators.perceptual import LabelStrength, counts_of_labels, strength
from edgecritic.errors import OutputError
from edgecritic.inputs import BoolArray
from edgecritic.protocols.counts import Counts, counted
from edgecritic.run.shelf import Shelf
from edgecritic.run.store import Store, record_key

__all__ = [
    "CACHE_VARIABLE",
    "MOST_BYTES",
    "cache_folder",
    "count_people",
    "open_cache",
    "trim_cache",
    "weigh_labels",
]

CACHE_VARIABLE = "EDGECRITIC_CACHE"
"""The environment variable that names another folder, or is ``off`` (or ``0``) for none."""

MOST_BYTES = 2**28
"""So large may the folder grow; then the records that were not used for longest go."""

_PEOPLE = "people.lines"
_MOST_BYTES_OF_PEOPLE = 2**24
"""Of the counts of annotators against each other; then the older half of them goes."""

RECORD_VERSION = 1


def cache_folder() -> Path | None:
    """Return where records are kept across runs by the rules of the platform; None if switched off.

    That is ``$EDGECRITIC_CACHE`` if set, else ``edgecritic`` in ``$XDG_CACHE_HOME`` or ``~/.cache``, on macOS
    in ``~/Library/Caches``, on Windows in ``%LOCALAPPDATA%``.
    """
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return None if given.lower() in ("off", "0") else Path(given).absolute() / "truths"
    try:
        home = _platform_folder()
    except RuntimeError:  # nobody's home
        return None
    return home / "edgecritic" / "truths"


def _platform_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    given = Path(os.environ.get("XDG_CACHE_HOME") or "")
    return given if given.is_absolute() else Path.home() / ".cache"


@contextmanager
def open_cache(use: bool) -> Iterator[Path | None]:
    """Give the cache folder of this run, None if it is not to be used; make room in it at the end."""
    folder = cache_folder() if use else None
    _people.cache_clear()  # others may have put something there
    try:
        yield folder
    finally:
        if folder is not None:
            trim_cache(folder)


def trim_cache(folder: Path, most: int | None = None) -> None:
    """Remove the records that were not used for longest until the others take at most `most` bytes."""
    Shelf.trim(folder / _PEOPLE, _MOST_BYTES_OF_PEOPLE)
    found = []
    for path in folder.glob("*.json"):
        with suppress(OSError):
            state = path.stat()
            found.append((state.st_mtime_ns, state.st_size, path))
    size = 0
    for _, taken, path in sorted(found, reverse=True):
        size += taken
        if size > (MOST_BYTES if most is None else most):
            with suppress(OSError):
                path.unlink()


def weigh_labels(
    truths: Sequence[BoolArray],
    *,
    tolerance: float,
    spacing: Sequence[float] | None = None,
    cache: Path | None = None,
    fresh: bool = False,
) -> LabelStrength:
    """Return how strong the labels of several annotators are, matched now or found in the cache.

    The maps themselves are the key, so that it does not matter from which files they were read. A cache that
    cannot be written is left alone.
    """
    found = _labels(truths, tolerance, spacing, cache, fresh)
    return found if isinstance(found, LabelStrength) else _as_strength(found, truths)


def count_people(
    truths: Sequence[BoolArray],
    *,
    source: str,
    tolerance: float,
    spacing: Sequence[float] | None = None,
    cache: Path | None = None,
    fresh: bool = False,
) -> Counts:
    """Return `LabelStrength.human_counts` of what `weigh_labels` would return.

    They have a line of their own on a shelf: the record of the labels is long, and every image of every bench
    asks for them. That is also why maps are known here by their `source`: hashes of their files, and how
    these were read, in one word.
    """
    if cache is None:
        return strength(truths, tolerance=tolerance, spacing=spacing).human_counts()
    shelf = _people(cache)
    key = _key_of_people(source, tolerance, spacing)
    known = None if fresh else shelf.get(key)
    if known is not None:
        return counted([1.0], known)
    found = _labels(truths, tolerance, spacing, cache, fresh)
    if isinstance(found, LabelStrength):
        counts = found.human_counts()
    else:
        counts = counts_of_labels(np.array(found["matches"]), _partners(found))
    shelf.put(key, counts.table()[:, 1:].T.tolist())
    return counts


@lru_cache(maxsize=4)
def _people(cache: Path) -> Shelf:
    return Shelf(cache / _PEOPLE)


def _key_of_people(source: str, tolerance: float, spacing: Sequence[float] | None) -> str:
    sizes = "" if spacing is None else "x".join(repr(float(size)) for size in spacing)
    return f"{__version__}/{RECORD_VERSION}/{source}/{float(tolerance)!r}/{sizes}"


def _labels(
    truths: Sequence[BoolArray],
    tolerance: float,
    spacing: Sequence[float] | None,
    cache: Path | None,
    fresh: bool,
) -> LabelStrength | dict[str, Any]:
    """Return the strengths, or what a record says of them."""
    if cache is None:
        return strength(truths, tolerance=tolerance, spacing=spacing)
    maps = [[list(one.shape), hashlib.sha256(np.packbits(one).tobytes()).hexdigest()] for one in truths]
    key = _key("labels", tolerance, maps, spacing)
    store = Store(cache)
    content = None if fresh else store.load(key, key)
    if content is not None:
        store.touch(key)
        return content
    found = strength(truths, tolerance=tolerance, spacing=spacing)
    with suppress(OutputError):
        store.save(key, key, _as_record(found))
    return found


def _key(what: str, tolerance: float, maps: list[Any], spacing: Sequence[float] | None) -> str:
    sizes = [] if spacing is None else [[float(size) for size in spacing]]
    return record_key([RECORD_VERSION, what, tolerance, maps, *sizes])


def _as_record(found: LabelStrength) -> dict[str, Any]:
    partners = [base64.b64encode(one.astype("<u2").tobytes()).decode("ascii") for one in found.partners]
    return {"tolerance": found.tolerance, "matches": found.matches.tolist(), "partners": partners}


def _as_strength(content: Mapping[str, Any], truths: Sequence[BoolArray]) -> LabelStrength:
    return LabelStrength(
        shape=truths[0].shape,
        tolerance=content["tolerance"],
        pixels=tuple(np.flatnonzero(one) for one in truths),
        partners=tuple(one.astype(np.int64) for one in _partners(content)),
        matches=np.array(content["matches"], dtype=np.int64),
    )


def _partners(content: Mapping[str, Any]) -> list[NDArray[np.uint16]]:
    return [np.frombuffer(base64.b64decode(one), dtype="<u2") for one in content["partners"]]
