"""The table of file formats: what each holds, who reads and writes it, and how it is known."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath
from typing import Any, BinaryIO, TypeVar

from numpy.typing import NDArray

from edgecritic.datasets.class_maps import ClassMaps
from edgecritic.errors import DataError
from edgecritic.geometry import Geometry
from edgecritic.registry import Entry, Registry

__all__ = ["Format", "file_format", "find_format", "format_of", "formats", "known_suffixes", "split_known"]

Array = NDArray[Any]
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class Format:
    """What is known of one format; readers take the bytes of a file, and the name of an array or None.

    Attributes
    ----------
    suffixes : tuple of str
        The endings of its files, in small letters. They alone tell the format.
    summary : str
        What such a file holds.
    checksums : str
        What is verified, beside sizes.
    lossy : bool
        Whether values change when they are written.
    picture : bool
        Whether arrays are (rows, columns), or (rows, columns, 3) for colours.
    truths, strength, labels : callable, optional
        Readers of annotators' maps, of a soft map, of label images, where these are not simply the array;
        `labels` is missing where a file holds none.
    hierarchy : callable, optional
        Reader of contour strengths on the grid of twice the size, where a file may hold them.
    holds_labels : callable, optional
        Tells whether a file holds label images in place of a soft map.
    classes : callable, optional
        Reader of labels or boundaries of classes, where these are not simply the array.
    geometry : callable, optional
        Reader of where the voxels lie, for formats that may tell it (None if a file does not); the second
        argument says whether to go through all voxels as well, to verify what is verified when they are read.
    beside : callable, optional
        Tells, of the bytes of a file that is a header only, the name of the file in the same folder that
        holds the numbers, and the header that is put before them; None for a file that holds its numbers.
    write : callable, optional
        Writes a map to a stream, with the given number of bits per value.
    write_volume : callable, optional
        Writes a volume with its geometry to a stream; the last argument says whether to pack it.
    """

    suffixes: tuple[str, ...]
    summary: str
    checksums: str = "none"
    lossy: bool = False
    picture: bool = False
    truths: Callable[[bytes, str | None], Iterable[Array]] | None = None
    strength: Callable[[bytes, str | None], Array] | None = None
    labels: Callable[[bytes, str | None], Iterable[Array]] | None = None
    hierarchy: Callable[[bytes], Array] | None = None
    holds_labels: Callable[[bytes], bool] | None = None
    classes: Callable[[bytes, str | None], ClassMaps] | None = None
    geometry: Callable[[bytes, bool], Geometry | None] | None = None
    beside: Callable[[bytes], tuple[str, bytes] | None] | None = None
    write: Callable[[BinaryIO, Array, int], None] | None = None
    write_volume: Callable[[BinaryIO, Array, Geometry, bool], None] | None = None

    def told(self) -> dict[str, Any]:
        """Return what people want to know of it."""
        return {
            "suffixes": list(self.suffixes),
            "checksums": self.checksums,
            "lossy": self.lossy,
            "labels": self.labels is not None,
            "voxel_size": self.geometry is not None,
            "written": self.write is not None or self.write_volume is not None,
        }


formats: Registry[Format] = Registry("format", __package__ or "", "edgecritic.formats")
"""All formats; the function of an entry returns the array of a file, given its bytes and a name or None."""


def file_format(name: str, **info: Any) -> Callable[[Function], Function]:
    """Register the reader of a format; `info` are the fields of `Format`."""

    def register(function: Function) -> Function:
        formats.add(name, function, Format(**info))
        return function

    return register


def find_format(path: str | os.PathLike[str]) -> Entry[Format] | None:
    """Return the format that the ending of a file tells, or None."""
    suffixes, known = _by_suffix()
    return known.get(_suffix_of(path if isinstance(path, PurePath) else os.fspath(path), suffixes))


def format_of(path: str | os.PathLike[str]) -> Entry[Format]:
    """Return the format of a file, or refuse one of no known kind.

    Examples
    --------
    >>> format_of("brain.NII.gz").name
    'nifti'
    """
    found = find_format(path)
    if found is None:
        raise DataError("is of no known kind", remedy=f"known endings: {', '.join(sorted(known_suffixes()))}")
    return found


def known_suffixes() -> frozenset[str]:
    """Return the endings of all formats."""
    return frozenset(_by_suffix()[0])


def split_known(name: str) -> tuple[str, str]:
    """Split a file name into stem and the ending, in small letters, of the format that it has, if any."""
    return _split(name, _by_suffix()[0])


@lru_cache(maxsize=1024)  # the same few files are asked for again and again while a case is judged
def _suffix_of(path: PurePath | str, known: tuple[str, ...]) -> str:
    return _split(PurePath(path).name, known)[1]


def _split(name: str, known: tuple[str, ...]) -> tuple[str, str]:
    low = name.lower()
    longest = max((suffix for suffix in known if low.endswith(suffix)), key=len, default="")
    return (name[: -len(longest)], longest) if 0 < len(longest) < len(name) else (name, "")


def _by_suffix() -> tuple[tuple[str, ...], dict[str, Entry[Format]]]:
    """Return all endings, and the formats by them."""
    global _known
    entries = formats.all()
    if _known[0] is not entries:
        found = {suffix: entry for entry in entries for suffix in entry.info.suffixes}
        _known = entries, (tuple(found), found)
    return _known[1]


_known: tuple[tuple[Entry[Format], ...], tuple[tuple[str, ...], dict[str, Entry[Format]]]] = ((), ((), {}))
