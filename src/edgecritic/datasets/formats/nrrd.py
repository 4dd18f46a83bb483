"""NRRD volumes (`.nrrd`, `.nhdr`), stored as they are or packed by gzip, read in bounded memory.

The header is text (teem.sourceforge.net/nrrd/format.html). The array is in the stored order of axes, the
first one the quickest, as `pynrrd` gives it. Where voxels lie is known if the space is one of the patient
(RAS, LAS, LPS) and directions and origin are told; otherwise only their sizes are.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets._voxels import HEADER_LIMIT, TextHeader, neighbour, read_numbers, read_sizes
from edgecritic.datasets.formats.base import file_format
from edgecritic.errors import DataError
from edgecritic.geometry import Geometry

__all__ = ["nrrd_geometry"]

_TYPES = {
    **dict.fromkeys(("signed char", "int8", "int8_t"), "i1"),
    **dict.fromkeys(("uchar", "unsigned char", "uint8", "uint8_t"), "u1"),
    **dict.fromkeys(("short", "short int", "signed short", "signed short int", "int16", "int16_t"), "i2"),
    **dict.fromkeys(("ushort", "unsigned short", "unsigned short int", "uint16", "uint16_t"), "u2"),
    **dict.fromkeys(("int", "signed int", "int32", "int32_t"), "i4"),
    **dict.fromkeys(("uint", "unsigned int", "uint32", "uint32_t"), "u4"),
    **dict.fromkeys(("longlong", "long long", "long long int", "signed long long", "int64", "int64_t"), "i8"),
    **dict.fromkeys(
        ("ulonglong", "unsigned long long", "unsigned long long int", "uint64", "uint64_t"), "u8"
    ),
    "float": "f4",
    "double": "f8",
}
_SPACES = {
    "right-anterior-superior": (1, 1, 1),
    "left-anterior-superior": (-1, 1, 1),
    "left-posterior-superior": (-1, -1, 1),
}
_SHORT = {"ras": "right-anterior-superior", "las": "left-anterior-superior", "lps": "left-posterior-superior"}
_VECTOR = re.compile(r"\(([^()]*)\)|\bnone\b")


def nrrd_geometry(data: bytes, verify: bool) -> Geometry:
    """Return where the voxels lie; with `verify` all voxels are gone through."""
    header = _header(data)
    if verify:
        header.verify(data)
    return _geometry(header)


def _beside(data: bytes) -> tuple[str, bytes] | None:
    fields, end = _fields(data)
    name = fields.get("data file") or fields.get("datafile")
    if name is None:
        return None
    start = data[:end].rstrip(b"\r\n")
    return neighbour(name.strip()), start + b"\n\n"


@file_format(
    "nrrd",
    suffixes=(".nrrd", ".nhdr"),
    summary="a volume with the size and place of its voxels (NRRD; .nhdr with a file beside it)",
    checksums="CRC-32 and length where it is packed; that nothing is missing or left over",
    geometry=nrrd_geometry,
    beside=_beside,
)
def _voxels(data: bytes, _: str | None) -> NDArray[Any]:
    return _header(data).voxels(data)


def _fields(data: bytes) -> tuple[dict[str, str], int]:
    """Return the fields of the header, by names in small letters, and where the voxels begin."""
    if not re.match(rb"NRRD000[1-5]\r?\n", data[:10]):
        raise DataError("is no NRRD file: its header is missing")
    head = data[:HEADER_LIMIT]
    blank = re.search(rb"\n\r?\n", head)
    if blank is None and len(data) > HEADER_LIMIT:
        raise DataError("is no NRRD file: its header does not end")
    end = len(data) if blank is None else blank.end()
    fields = {}
    for line in head[:end].decode("utf-8", "replace").splitlines()[1:]:
        name, colon, value = line.partition(": ")
        if colon and not line.startswith("#") and ":=" not in name:
            if name.lower() in fields:
                raise DataError(f"tells {name[:40]!r} twice; its header is damaged")
            fields[name.strip().lower()] = value.strip()
    return fields, end


def _header(data: bytes) -> TextHeader:
    fields, end = _fields(data)
    missing = [name for name in ("type", "dimension", "sizes", "encoding") if name not in fields]
    if missing:
        raise DataError(f"its header does not tell {' and '.join(missing)}; the file is damaged")
    count = fields["dimension"]
    if not (count.isascii() and count.isdigit() and len(count) == 1):
        raise DataError(f"declares {count[:20]!r} axes; its header is damaged")
    kind = _TYPES.get(fields["type"].lower())
    if kind is None:
        raise DataError(f"holds values of type {fields['type'][:40]!r}", remedy="convert it to numbers")
    packing = {"raw": "raw", "gzip": "gzip", "gz": "gzip"}.get(fields["encoding"].lower())
    if packing is None:
        told = f"stores its voxels as {fields['encoding'][:40]!r}"
        raise DataError(told, remedy="save it with the encoding raw or gzip")
    skips = [fields.get(name, "0") for name in ("line skip", "byte skip", "lineskip", "byteskip")]
    if any(skip != "0" for skip in skips):
        raise DataError("skips lines or bytes before its voxels", remedy="save it as one .nrrd file")
    order = fields.get("endian", "little").lower()
    if order not in ("little", "big") or (kind[1] != "1" and "endian" not in fields):
        raise DataError("does not tell the order of its bytes; its header is damaged")
    dtype = np.dtype(("<" if order == "little" else ">") + kind)
    shape = read_sizes(fields["sizes"], int(count))
    return TextHeader(fields, shape, dtype, packing, end)


def _geometry(header: TextHeader) -> Geometry:
    fields, shape = header.fields, header.shape
    if "space directions" not in fields:
        return Geometry.of_spacing(_spacings(fields, len(shape)), shape)
    axes = _vectors(fields["space directions"], len(shape))
    if len(shape) < 3 or any(axis is None or len(axis) != 3 for axis in axes[:3]):
        sizes = [1.0 if axis is None else float(np.linalg.norm(axis)) for axis in axes]
        return Geometry.of_spacing(sizes, shape)
    columns = np.array(axes[:3]).T
    space = fields.get("space", "").lower()
    signs = _SPACES.get(_SHORT.get(space, space))
    if signs is None or "space origin" not in fields:
        return Geometry.of_spacing(np.linalg.norm(columns, axis=0).tolist(), shape)
    affine = np.eye(4)
    affine[:3, :3] = columns
    (affine[:3, 3],) = _vectors(fields["space origin"], 1)
    return Geometry.of(np.diag([*signs, 1]) @ affine, shape)


def _spacings(fields: dict[str, str], count: int) -> list[float]:
    if "spacings" not in fields:
        return [1.0] * count
    words = fields["spacings"].split()
    known = " ".join("1" if word.lower() == "nan" else word for word in words)
    return [abs(size) for size in read_numbers(known, count, "voxel sizes")]


def _vectors(text: str, count: int) -> list[list[float] | None]:
    """Read vectors such as ``(1,0,0) none``."""
    found: list[list[float] | None] = []
    for match in _VECTOR.finditer(text):
        parts = match[1]
        found.append(
            None if parts is None else read_numbers(parts.replace(",", " "), parts.count(",") + 1, "a vector")
        )
    if len(found) != count:
        raise DataError(f"declares vectors {text[:60]!r} where {count} were expected; its header is damaged")
    return found
