"""MATLAB 7.3 files, which are HDF5 files; needs h5py (extra `volumes`).

HDF5 lets a file point to other files: by external links, external storage and virtual data sets. A file is
untrusted, so that nothing is followed but hard links and references to objects of the same file; what
MATLAB itself writes has no others.
"""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets._guard import check_size, quiet, unpacked_size
from edgecritic.errors import DataError, needs_extra

__all__ = ["opened"]

_MAX_ITEMS = 10_000
_DEFLATE, _SHUFFLE, _FLETCHER = 1, 2, 3
_CHECKSUM = 4  # bytes that fletcher32 adds to a chunk
_REMEDY = "save it again from MATLAB, as one file"


@dataclass(frozen=True, slots=True)
class _Node:
    """A dataset or group of an open HDF5 file; arrays are stored column-major, so axes are reversed."""

    name: str
    item: Any
    file: Any

    @property
    def is_dataset(self) -> bool:
        return hasattr(self.item, "dtype")

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.item.shape or ())[::-1] if self.is_dataset else ()

    @property
    def is_cell(self) -> bool:
        import h5py

        return self.is_dataset and h5py.check_ref_dtype(self.item.dtype) is h5py.Reference

    @property
    def is_struct(self) -> bool:
        return not self.is_dataset

    @property
    def is_numeric(self) -> bool:
        return self.is_dataset and self.item.dtype.kind in "biuf" and "MATLAB_empty" not in self.item.attrs

    def array(self) -> NDArray[Any]:
        if not self.is_numeric:
            raise DataError("holds text, references, objects or nothing where numbers were expected")
        numbers = _stored(self.item).T
        return numbers != 0 if self._is_logical() else numbers

    def cells(self) -> Iterator[_Node]:
        if not 0 < self.item.size <= _MAX_ITEMS:
            raise DataError(f"declares {self.item.size} cells, expected 1 to {_MAX_ITEMS}")
        for reference in _stored(self.item).T.ravel(order="F"):
            if not reference:
                raise DataError("holds a cell that refers to nothing; the file is damaged")
            yield _Node("", _checked(self.file[reference]), self.file)

    @property
    def field_names(self) -> list[str]:
        return list(_names(self.item))

    def structs(self, *fields: str) -> Iterator[dict[str, _Node]]:
        found = {
            name: _Node("", _child(self.item, name), self.file)
            for name in _names(self.item)
            if name in fields
        }
        lists = {name: list(node.cells()) for name, node in found.items() if node.is_cell}
        if not lists:
            yield found
            return
        for index in range(min(len(items) for items in lists.values())):
            yield {name: items[index] for name, items in lists.items()}

    def _is_logical(self) -> bool:
        attributes = self.item.attrs
        if "MATLAB_class" not in attributes:
            return False
        told = attributes.get_id("MATLAB_class")
        is_text = told.shape == () and told.dtype.kind == "S"
        return bool(is_text and attributes["MATLAB_class"] == b"logical")


@contextmanager
def opened(data: bytes) -> Iterator[Iterator[_Node]]:
    """Give the variables of the file; they live as long as the context."""
    with needs_extra("reading MATLAB 7.3 files", "volumes"):
        import h5py
    with quiet(), h5py.File(io.BytesIO(data), "r") as file:
        yield (
            _Node(name, _child(file, name), file)
            for name in _names(file)
            if not name.startswith("#")  # where MATLAB keeps what cells refer to
        )


def _names(group: Any) -> list[str]:
    if len(group) > _MAX_ITEMS:
        raise DataError(f"holds {len(group)} variables or fields, expected at most {_MAX_ITEMS}")
    return list(group)


def _child(group: Any, name: str) -> Any:
    """Return what a hard link leads to; the kind of link is known before it is followed."""
    import h5py

    if "/" in name or name == "." or not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise DataError(
            f"holds {name[:64]!r} as a link to another place, which is not followed", remedy=_REMEDY
        )
    return _checked(group[name])


def _checked(item: Any) -> Any:
    """Return a group, or a data set that keeps its numbers in this file and in a plain way."""
    import h5py

    if isinstance(item, h5py.Group):
        return item
    if not isinstance(item, h5py.Dataset):
        raise DataError("holds a named type where numbers or cells were expected", remedy=_REMEDY)
    if item.is_virtual or item.id.get_create_plist().get_external_count():
        raise DataError("keeps its numbers in another file, which is not opened", remedy=_REMEDY)
    filters = _filters(item)
    if not {_DEFLATE, _SHUFFLE, _FLETCHER}.issuperset(filters) or len(set(filters)) < len(filters):
        raise DataError(
            f"packs its numbers with the filters {filters}; gzip, shuffle and fletcher32 are read"
        )
    return item


def _stored(item: Any) -> NDArray[Any]:
    """Return the content of a data set; nothing large is made or unpacked before its size is known."""
    if item.shape is None:
        raise DataError("holds nothing where numbers or cells were expected")
    check_size(item.shape, 2 * item.dtype.itemsize)
    if item.chunks is not None:
        check_size(item.chunks, 2 * item.dtype.itemsize)
        _check_chunks(item)
    return np.asarray(item[()])


def _check_chunks(item: Any) -> None:
    """Unpack every chunk once without keeping it: HDF5 itself would unpack without bound."""
    filters = _filters(item)
    steps = [range(0, length, step) for length, step in zip(item.shape, item.chunks, strict=True)]
    if math.prod(map(len, steps)) > _MAX_ITEMS:
        raise DataError(f"is cut into more than {_MAX_ITEMS} pieces", remedy=_REMEDY)
    largest = math.prod(item.chunks) * item.dtype.itemsize + _CHECKSUM
    for offset in itertools.product(*steps):
        info = item.id.get_chunk_info_by_coord(offset)
        if info.byte_offset is None:  # never written: all of it is the fill value
            continue
        if info.size > 2 * largest + 64:
            raise DataError("declares packed numbers that are longer than unpacked ones; the file is damaged")
        if _DEFLATE in filters and not info.filter_mask & 1 << filters.index(_DEFLATE):
            unpacked_size([memoryview(item.id.read_direct_chunk(offset)[1])], largest)


def _filters(item: Any) -> list[int]:
    made = item.id.get_create_plist()
    return [made.get_filter(index)[0] for index in range(made.get_nfilters())]
