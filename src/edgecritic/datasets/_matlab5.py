"""A reader of MATLAB version 5 to 7 files: bounded, lazy, and quicker than a general one.

Only what a caller asks for is decoded: fields are stepped over by their declared length, so the
large `Segmentation` of a BSDS truth costs nothing but its decompression. The format is documented in
"MAT-File Format", The MathWorks.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets._guard import MEMORY_LIMIT, check_size, unpacker_maker
from edgecritic.errors import DataError

__all__ = ["Value", "opened"]

_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_CELL, _STRUCT, _SPARSE = 1, 2, 5
_NUMERIC = {
    6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8",
}  # fmt: skip
_LOGICAL, _COMPLEX = 0x02, 0x08
_MAX_DIMENSIONS = 32
_LARGEST = MEMORY_LIMIT // 3
_MOST_EXPANSION = 1032  # of a byte: deflate has two bits for 258 bytes at best
_DTYPES = {order: {kind: np.dtype(order + code) for kind, code in _STORED.items()} for order in "<>"}
_WANTED = {kind: np.dtype(code) for kind, code in _NUMERIC.items()}
_LOGICALS = np.dtype(np.bool_)
_MOST_KEPT = 2**12  # bytes: all annotators of a file have the same few fields
_MOST_HEADS = 4
_PAIR = {order: struct.Struct(f"{order}II") for order in "<>"}
_HEAD = {order: struct.Struct(f"{order}6I2i2I") for order in "<>"}  # flags, two sizes, and the tag of a name
_SIZES = 24  # bytes of a matrix that come before its sizes
_FIRST = 2**12  # so many bytes of a packed variable tell its name, its size and what is in it
_PACKED_PIECE, _PIECE = 2**14, 2**18  # small pieces stay in the processor's cache


@dataclass(slots=True)
class Value:
    """One MATLAB value whose content is decoded on request.

    Attributes
    ----------
    name : str
        The variable's name, empty inside cells and structs.
    kind : int
        The class number of the format (1 cell, 2 struct, 5 sparse, 6 … 15 numbers).
    shape : tuple of int
    field_names : tuple of str
        Of a struct.
    """

    name: str
    kind: int
    flags: int
    shape: tuple[int, ...]
    buffer: _Buffer
    start: int
    end: int
    order: str
    field_names: tuple[str, ...] = ()

    @property
    def is_cell(self) -> bool:
        """Whether this is a cell array."""
        return self.kind == _CELL

    @property
    def is_struct(self) -> bool:
        """Whether this is a struct or an array of structs."""
        return self.kind == _STRUCT

    @property
    def is_numeric(self) -> bool:
        """Whether `array` can decode this value."""
        return self.kind in _NUMERIC or self.kind == _SPARSE

    def array(self) -> NDArray[Any]:
        """Return the numbers, read-only unless they are stored as another type; sparse ones become dense."""
        if self.flags & _COMPLEX:
            raise DataError("holds complex numbers", remedy="take their absolute value in MATLAB first")
        if self.kind == _SPARSE:
            return self._dense()
        if self.kind not in _NUMERIC:
            raise DataError("holds text, objects or functions where numbers were expected")
        wanted = _LOGICALS if self.flags & _LOGICAL else _WANTED[self.kind]
        pixels = check_size(self.shape, wanted.itemsize)
        stored = self._numbers(self.start)[0]
        if stored.size != pixels:
            raise DataError(f"declares {pixels} numbers but stores {stored.size}; the file is damaged")
        shaped = stored.reshape(self.shape, order="F")
        return shaped if stored.dtype == wanted else shaped.astype(wanted, order="C")

    def cells(self) -> Iterator[Value]:
        """Go through the values of a cell array, column by column."""
        position = self.start
        for _ in range(self._count(1)):
            value, position = _matrix_at(self.buffer, position, self.end, self.order)
            yield value

    def structs(self, *fields: str) -> Iterator[dict[str, Value]]:
        """Go through an array of structs; only `fields` are looked at."""
        position = self.start
        for _ in range(self._count(max(1, len(self.field_names)))):
            found = {}
            for name in self.field_names:
                if name in fields:
                    found[name], position = _matrix_at(self.buffer, position, self.end, self.order)
                else:
                    position = _tag(self.buffer, position, self.end, self.order)[3]
            yield found

    def _count(self, per_item: int) -> int:
        count = math.prod(self.shape)
        if count * per_item * 8 > self.end - self.start:
            raise DataError(f"declares {count} cells, more than its bytes can hold; the file is damaged")
        return count

    def _numbers(self, position: int) -> tuple[NDArray[Any], int]:
        kind, start, size, position = _tag(self.buffer, position, self.end, self.order)
        if kind not in _STORED:
            raise DataError(f"stores numbers in an unknown way ({kind}); the file is damaged")
        dtype = _DTYPES[self.order][kind]
        if size % dtype.itemsize:
            raise DataError("stores a broken number of bytes; the file is damaged")
        return np.frombuffer(self.buffer.view(start, size), dtype), position

    def _dense(self) -> NDArray[Any]:
        if len(self.shape) != 2:
            raise DataError("a sparse matrix must have two dimensions; the file is damaged")
        rows, columns = self.shape
        check_size(self.shape, 9)
        row, position = self._numbers(self.start)
        bounds, position = self._numbers(position)
        values, _ = self._numbers(position)
        if bounds.size != columns + 1:
            raise DataError("a sparse matrix's columns are damaged")
        lengths: NDArray[np.int64] = bounds[1:].astype(np.int64) - bounds[:-1].astype(np.int64)
        filled = int(bounds[-1])
        if (lengths < 0).any() or bounds[0] != 0 or filled > min(row.size, values.size):
            raise DataError("a sparse matrix's columns are damaged")
        row = row[:filled].astype(np.int64)
        if filled and (row.min() < 0 or row.max() >= rows):
            raise DataError("a sparse matrix's rows are damaged")
        result: NDArray[Any] = np.zeros(self.shape, np.bool_ if self.flags & _LOGICAL else np.float64)
        result[row, np.repeat(np.arange(columns), lengths)] = values[:filled]
        return result


@contextmanager
def opened(data: bytes, *, verify: bool = True) -> Iterator[Iterator[Value]]:
    """Give the variables of a MATLAB 5 to 7 file's bytes.

    When the block ends without an error, every variable that was looked at is unpacked to its end and
    its checksum verified, unless `verify` is false.

    Raises
    ------
    DataError
        If the bytes are no such file, are truncated or damaged, or would unpack to too much.
    """
    packed: list[_Buffer] = []
    yield _variables(data, packed)
    if verify:
        for buffer in packed:
            buffer.finish()


def _variables(data: bytes, packed: list[_Buffer]) -> Iterator[Value]:
    order = _byte_order(data)
    plain = _Buffer(memoryview(data), len(data))
    position = _HEADER
    while position < len(data):
        kind, start, size, after = _tag(plain, position, len(data), order)
        if kind == _COMPRESSED:
            inner = _packed_matrix(plain.data[start : start + size], order)
            packed.append(inner)
            if sum(buffer.size for buffer in packed) > MEMORY_LIMIT:
                raise DataError(
                    f"holds variables of more than the allowed {MEMORY_LIMIT} bytes in all",
                    remedy="save the one that is meant to a file of its own",
                )
            yield _matrix(inner, 0, inner.size, order)
            after = start + size
        elif kind == _MATRIX:
            yield _matrix_at(plain, position, len(data), order)[0]
        else:
            raise DataError(f"holds an unknown element ({kind}); the file is damaged")
        position = after


class _Buffer:
    """Bytes of elements; of a packed matrix those behind its tag, only the first until others are needed.

    `heads` are those of the first matrices that were looked at.
    """

    __slots__ = ("_packed", "data", "filled", "heads", "size")

    def __init__(self, data: memoryview, size: int, packed: memoryview | None = None) -> None:
        self.data = data
        self.filled = len(data)
        self.size = size
        self.heads: list[_Head] = []
        self._packed = packed

    def view(self, start: int, size: int) -> memoryview:
        """Return `size` bytes from `start` on."""
        if start + size > self.filled:
            self.need(start + size)
        return self.data[start : start + size]

    def need(self, end: int) -> None:
        """Unpack everything, for the bytes up to `end`."""
        if end > self.size:
            raise DataError("ends in the middle of a value; the file is truncated")
        self.data, self.filled, self._packed = self.finish(), self.size, None

    def finish(self) -> memoryview:
        """Return everything; what is packed is unpacked and verified.

        What cannot become too large is unpacked at once, without the interpreter lock, which is quicker than
        in pieces.
        """
        if self._packed is None:
            return self.data
        if len(self._packed) * _MOST_EXPANSION <= _LARGEST:
            unpacker = unpacker_maker()()
            unpacker.decompress(self._packed, 8)
            data = unpacker.flush(max(1, self.size))  # makes an array of that size, which nobody copies
            if len(data) == self.size and unpacker.eof and not unpacker.unused_data:
                return memoryview(data)
        return _unpacked(self._packed, self.size)  # which says what is wrong


def _unpacked(packed: memoryview, size: int) -> memoryview:
    """Return the bytes behind the tag of a packed matrix, of which nothing large is in memory twice."""
    data = np.empty(size, dtype=np.uint8).data
    unpacker = unpacker_maker()()
    unpacker.decompress(packed[:_PACKED_PIECE], 8)
    filled, taken, pending = 0, _PACKED_PIECE, unpacker.unconsumed_tail
    while not unpacker.eof:
        piece = unpacker.decompress(pending, _PIECE)
        pending = unpacker.unconsumed_tail
        if filled + len(piece) > size:
            raise DataError("unpacks to more than the declared bytes; the file is damaged")
        data[filled : filled + len(piece)] = piece
        filled += len(piece)
        if not piece and not pending and not unpacker.eof:
            if taken >= len(packed):
                break
            pending = packed[taken : taken + _PACKED_PIECE]
            taken += _PACKED_PIECE
    if filled < size:
        raise DataError(f"unpacks to {filled} of {size} declared bytes; the file is truncated")
    if not unpacker.eof:
        raise DataError("ends before the checksum of its compressed data; the file is truncated")
    if unpacker.unused_data or taken < len(packed):
        raise DataError("holds more than one stream of compressed data in a value; the file is damaged")
    return data


def _packed_matrix(packed: memoryview, order: str) -> _Buffer:
    """Return the bytes of the matrix inside a compressed element; never more than its own tag declares."""
    first = unpacker_maker()().decompress(packed[:_FIRST], _FIRST)
    if len(first) < 8:
        raise DataError("ends in the middle of compressed data; the file is truncated")
    kind, size = _PAIR[order].unpack_from(first)
    _check_matrix(kind)
    if size > _LARGEST:
        raise DataError(
            f"would unpack to {size} bytes, more than the allowed {_LARGEST}",
            remedy="store the maps with fewer bits per pixel, or one file per map",
        )
    return _Buffer(memoryview(first)[8 : 8 + size], size, packed)


def _byte_order(data: bytes) -> str:
    mark = data[126:128]
    if len(data) < _HEADER or mark not in (b"IM", b"MI"):
        raise DataError(
            "is no MATLAB file of version 5 or later", remedy="save it again, for instance with -v7"
        )
    return "<" if mark == b"IM" else ">"


def _tag(buffer: _Buffer, position: int, end: int, order: str) -> tuple[int, int, int, int]:
    """Return kind, start and size of the data of an element, and where the next element starts."""
    if position + 8 > end:
        raise DataError("ends in the middle of a value; the file is truncated")
    if position + 8 > buffer.filled:
        buffer.need(position + 8)
    kind, size = _PAIR[order].unpack_from(buffer.data, position)
    if kind >> 16:  # the short form keeps up to four bytes of data inside the tag
        kind, size = kind & 0xFFFF, kind >> 16
        if size > 4:
            raise DataError("holds a damaged short value")
        return kind, position + 4, size, position + 8
    start = position + 8
    if start + size > end:
        raise DataError("ends in the middle of a value; the file is truncated")
    return kind, start, size, start + size + -size % 8


def _matrix_at(buffer: _Buffer, position: int, end: int, order: str) -> tuple[Value, int]:
    """Return a matrix, and where the next element starts.

    What annotators drew is stored in cells that begin alike, and what begins like one before is not parsed.
    """
    for head in buffer.heads:
        start = position + len(head.begin)
        if buffer.data[position:start] == head.begin:
            stop = start + head.size
            if stop > end:
                break  # which is told below
            value = Value(
                head.name, head.kind, head.flags, head.shape, buffer, start, stop, order, head.field_names
            )
            return value, stop + -(stop - position) % 8
    kind, start, size, after = _tag(buffer, position, end, order)
    _check_matrix(kind)
    value = _matrix(buffer, start, start + size, order)
    _keep_head(buffer, position, value)
    return value, after


class _Head(NamedTuple):
    """What stands before the content of a matrix, from its tag on, as bytes and as what they mean."""

    begin: bytes
    name: str
    kind: int
    flags: int
    shape: tuple[int, ...]
    field_names: tuple[str, ...]
    size: int


def _keep_head(buffer: _Buffer, position: int, value: Value) -> None:
    """Keep the head of a matrix, one of the first in its buffer, unless it is long."""
    length = value.start - position
    if value.buffer is buffer and length <= _MOST_KEPT and len(buffer.heads) < _MOST_HEADS:
        about = value.name, value.kind, value.flags, value.shape, value.field_names
        buffer.heads.append(_Head(bytes(buffer.view(position, length)), *about, value.end - value.start))


def _check_matrix(kind: int) -> None:
    if kind != _MATRIX:
        raise DataError(f"holds an element of kind {kind} where a matrix was expected; the file is damaged")


def _matrix(buffer: _Buffer, start: int, end: int, order: str) -> Value:
    if start == end:  # an empty cell
        return Value("", 6, 0, (0, 0), _Buffer(memoryview(b"\x09\0\0\0\0\0\0\0"), 8), 0, 8, "<")
    head = _HEAD[order]
    if start + _SIZES > end:
        raise DataError("holds a matrix without flags; the file is damaged")
    there = buffer.view(start, min(head.size, end - start))
    flag_kind, flag_size, flags, _, shape_kind, shape_size, rows, columns, _, name_size = head.unpack(
        there if len(there) == head.size else bytes(there).ljust(head.size, b"\0")
    )
    if flag_kind != 6 or flag_size != 8:
        raise DataError("holds a matrix without flags; the file is damaged")
    kind = flags & 0xFF
    if kind > 15:  # function handles and opaque objects have another form
        return Value("", kind, 0, (), buffer, start + 16, end, order)
    count = shape_size // 4
    if shape_kind != 5 or shape_size % 4 or not 2 <= count <= _MAX_DIMENSIONS:
        raise DataError("holds a matrix without sizes; the file is damaged")
    name, shape, position = "", (rows, columns), start + head.size
    if count != 2 or name_size:
        position = start + _SIZES
        shape = struct.unpack(f"{order}{count}i", buffer.view(position, shape_size))
        _, name_at, name_size, position = _tag(buffer, position + shape_size + -shape_size % 8, end, order)
        name = bytes(buffer.view(name_at, min(name_size, 64))).decode("latin-1")
    if min(shape) < 0:
        raise DataError(f"declares a negative size {shape}; the file is damaged")
    fields, position = _field_names(buffer, position, end, order) if kind == _STRUCT else ((), position)
    return Value(name, kind, flags >> 8 & 0xFF, shape, buffer, position, end, order, fields)


def _field_names(buffer: _Buffer, position: int, end: int, order: str) -> tuple[tuple[str, ...], int]:
    """Return the names of the fields of a struct, and where their values start."""
    _, start, size, position = _tag(buffer, position, end, order)
    if size != 4:
        raise DataError("a struct's field name length is damaged")
    (length,) = struct.unpack(order + "i", buffer.view(start, 4))
    _, start, size, position = _tag(buffer, position, end, order)
    if length < 1 or size % length:
        raise DataError("a struct's field names are damaged")
    raw = bytes(buffer.view(start, size))
    return (_names if size <= _MOST_KEPT else _names.__wrapped__)(raw, length), position


@lru_cache(maxsize=64)
def _names(raw: bytes, length: int) -> tuple[str, ...]:
    """Return the names of fields, which take so many bytes each."""
    pieces = (raw[i : i + length] for i in range(0, len(raw), length))
    return tuple(piece.partition(b"\0")[0].decode("latin-1") for piece in pieces)
