"""`.npy` and `.npz` files, read without pickle and never larger than they declare and may be."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterable
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets._guard import MEMORY_LIMIT, ONE_ARRAY, check_size, fill, quiet
from edgecritic.datasets.formats.base import file_format
from edgecritic.datasets.names import natural_key
from edgecritic.errors import DataError, InputError

__all__ = ["load_npy", "load_npz", "npy_header"]

_MAX_MEMBERS = 1000
_MAX_HEADER = 10_000


def _save_npy(stream: BinaryIO, values: NDArray[Any], _: int) -> None:
    if values.dtype.kind not in "biuf":
        raise InputError(f"a map must hold numbers, got dtype {values.dtype}")
    np.save(stream, values, allow_pickle=False)


@file_format(
    "npy",
    suffixes=(".npy",),
    summary="one array of numbers of NumPy, a map or a volume",
    checksums="none; that nothing is missing or left over",
    write=_save_npy,
)
def load_npy(data: bytes, _: str | None = None) -> NDArray[Any]:
    """Return the array of a `.npy` file."""
    return _array(io.BytesIO(data), len(data))


def load_npz(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays of a `.npz` file in the natural order of their names."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        names = [item.filename for item in members]
        count = sum(name.endswith(".npy") for name in names)
        if not 0 < count <= _MAX_MEMBERS:
            raise DataError(f"holds {count} arrays, expected 1 to {_MAX_MEMBERS}")
        if len(names) != _declared_members(data):
            raise DataError("lists another number of arrays than it declares; the file is damaged")
        if count < len(names) or len(set(names)) < len(names):
            raise DataError(
                "holds files that are no arrays, or two of one name", remedy="save it with np.savez again"
            )
        if sum(item.file_size for item in members) > MEMORY_LIMIT // 2:
            raise DataError(f"would unpack to more than the allowed {MEMORY_LIMIT // 2} bytes")
        return {
            item.filename.removesuffix(".npy"): _member(archive, item)
            for item in sorted(members, key=lambda item: natural_key(item.filename))
        }


def _annotators(data: bytes, key: str | None) -> Iterable[NDArray[Any]]:
    return load_npz(data).values() if key is None else [_one_of_npz(data, key)]


@file_format(
    "npz",
    suffixes=(".npz",),
    summary="arrays of NumPy with names, as truths one per annotator",
    checksums="CRC-32 of every array, the number of arrays",
    truths=_annotators,
)
def _one_of_npz(data: bytes, key: str | None) -> NDArray[Any]:
    """Return the array called `key`, or the only one."""
    arrays = load_npz(data)
    if key is None and len(arrays) == 1:
        return next(iter(arrays.values()))
    if key is None:
        raise DataError(f"holds several arrays ({', '.join(arrays)})", remedy=ONE_ARRAY)
    if key not in arrays:
        raise DataError(f"has no array {key!r} (its arrays: {', '.join(arrays)})")
    return arrays[key]


def _declared_members(data: bytes) -> int:
    """Return the number of files that the end of an archive declares; less than 65535 are ever accepted."""
    (count,) = struct.unpack_from("<H", data, data.rindex(b"PK\5\6") + 10)
    return int(count)


def _member(archive: zipfile.ZipFile, item: zipfile.ZipInfo) -> NDArray[Any]:
    if item.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise DataError(
            f"array {item.filename} is compressed in an unusual way", remedy="use np.savez_compressed"
        )
    with archive.open(item) as stream:
        return _array(stream, item.file_size)


def _array(stream: IO[bytes], length: int) -> NDArray[Any]:
    """Return the array of a stream of `length` bytes, which must end with it."""
    shape, fortran, dtype = npy_header(stream)
    size = check_size(shape, 2 * dtype.itemsize) * dtype.itemsize
    left = length - stream.tell()
    if left != size:
        state = "truncated" if left < size else "damaged"
        raise DataError(f"declares {size} bytes of numbers but holds {left}; it is {state}")
    numbers = np.frombuffer(fill(stream, size), dtype)
    if stream.read(1):
        raise DataError("goes on after its last number; it is damaged")
    return numbers.reshape(shape, order="F" if fortran else "C")


def npy_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, whether columns come first, and type of the numbers that follow."""
    version = np.lib.format.read_magic(file)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in readers:
        raise DataError(
            f"is a .npy file of version {version}", remedy="save a plain array of numbers with np.save"
        )
    with quiet():
        shape, fortran, dtype = readers[version](file, max_header_size=_MAX_HEADER)
    if dtype.kind not in "biuf":
        raise DataError(
            f"holds {dtype} values where numbers were expected", remedy="save a plain array of numbers"
        )
    return shape, fortran, dtype
