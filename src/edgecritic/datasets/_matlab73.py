"""MATLAB 7.3 files, which are HDF5 files; needs h5py (extra `volumes`)."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets._guard import check_size, quiet
from edgecritic.errors import DataError, MissingExtraError

__all__ = ["opened"]

_MAX_CELLS = 10_000


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
        return self.is_dataset and self.item.dtype.kind == "O"

    @property
    def is_struct(self) -> bool:
        return not self.is_dataset

    @property
    def is_numeric(self) -> bool:
        return self.is_dataset and self.item.dtype.kind in "biuf"

    def array(self) -> NDArray[Any]:
        if not self.is_numeric:
            raise DataError("holds text, references or objects where numbers were expected")
        data = self.item
        if data.external or data.is_virtual:
            raise DataError("keeps its numbers in another file; save it as one file")
        pieces = data.chunks or data.shape
        check_size(pieces, data.dtype.itemsize)
        check_size(data.shape, 2 * data.dtype.itemsize)
        numbers = np.asarray(data[()]).T
        logical = data.attrs.get("MATLAB_class", b"") == b"logical"
        return numbers != 0 if logical else numbers

    def cells(self) -> Iterator[_Node]:
        if not 0 < self.item.size <= _MAX_CELLS:
            raise DataError(f"declares {self.item.size} cells, expected 1 to {_MAX_CELLS}")
        for reference in self.item[()].T.ravel(order="F"):
            yield _Node("", self.file[reference], self.file)

    def structs(self, *fields: str) -> Iterator[dict[str, _Node]]:
        found = {name: _Node("", self.item[name], self.file) for name in fields if name in self.item}
        lists = {name: list(node.cells()) for name, node in found.items() if node.is_cell}
        if not lists:
            yield found
            return
        for index in range(min(len(items) for items in lists.values())):
            yield {name: items[index] for name, items in lists.items()}


@contextmanager
def opened(data: bytes) -> Iterator[Iterator[_Node]]:
    """Give the variables of the file; they live as long as the context."""
    try:
        import h5py
    except ImportError as error:
        raise MissingExtraError.of("reading MATLAB 7.3 files", "volumes") from error
    with quiet(), h5py.File(io.BytesIO(data), "r") as file:
        yield (
            _Node(name, file[name], file)
            for name in file
            if not name.startswith("#") and isinstance(file.get(name, getlink=True), h5py.HardLink)
        )
