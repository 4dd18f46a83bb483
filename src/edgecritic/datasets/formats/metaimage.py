"""MetaImage volumes (`.mha`, `.mhd`), stored as they are or packed by zlib, read in bounded memory.

The header is text of `Key = value` lines that ends with `ElementDataFile`. The array is in the stored order
of axes, the first one the quickest; `SimpleITK.GetArrayFromImage` gives the reverse. Positions are in LPS, as
ITK writes and reads them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets._voxels import HEADER_LIMIT, TextHeader, neighbour, read_numbers, read_sizes
from edgecritic.datasets.formats.base import file_format
from edgecritic.errors import DataError
from edgecritic.geometry import Geometry

__all__ = ["metaimage_geometry"]

_TYPES = {
    "MET_CHAR": "i1", "MET_UCHAR": "u1", "MET_SHORT": "i2", "MET_USHORT": "u2", "MET_INT": "i4",
    "MET_UINT": "u4", "MET_LONG": "i4", "MET_ULONG": "u4", "MET_LONG_LONG": "i8", "MET_ULONG_LONG": "u8",
    "MET_FLOAT": "f4", "MET_DOUBLE": "f8",
}  # fmt: skip
_SAME = {
    **dict.fromkeys(("position", "origin"), "offset"),
    **dict.fromkeys(("rotation", "orientation"), "transformmatrix"),
    "elementbyteordermsb": "binarydatabyteordermsb",
}


def metaimage_geometry(data: bytes, verify: bool) -> Geometry:
    """Return where the voxels lie; with `verify` all voxels are gone through."""
    header = _header(data)
    if verify:
        header.verify(data)
    return _geometry(header)


def _beside(data: bytes) -> tuple[str, bytes] | None:
    fields, end = _fields(data)
    name = fields["elementdatafile"]
    if name.upper() == "LOCAL":
        return None
    if name.upper() == "LIST" or "%" in name:
        raise DataError("has its voxels in many files", remedy="save it as one .mha file")
    return neighbour(name), data[:end].rstrip(b"\r\n") + b"\n"


@file_format(
    "metaimage",
    suffixes=(".mha", ".mhd"),
    summary="a volume with the size and place of its voxels (MetaImage; .mhd with a file beside it)",
    checksums="Adler-32 where it is packed; that nothing is missing or left over",
    geometry=metaimage_geometry,
    beside=_beside,
)
def _voxels(data: bytes, _: str | None) -> NDArray[Any]:
    return _header(data).voxels(data)


def _fields(data: bytes) -> tuple[dict[str, str], int]:
    """Return the fields of the header, by names in small letters, and where the voxels begin."""
    fields: dict[str, str] = {}
    end = 0
    while "elementdatafile" not in fields:
        stop = data.find(b"\n", end, HEADER_LIMIT)
        line = data[end : len(data) if stop < 0 else stop]
        if stop < 0 and (len(data) > HEADER_LIMIT or not line):
            raise DataError("is no MetaImage file: its header does not tell ElementDataFile")
        name, equals, value = line.decode("utf-8", "replace").partition("=")
        low = name.strip().lower()
        low = _SAME.get(low, low)
        if not equals and line.strip():
            raise DataError("is no MetaImage file: a line of its header is no 'Key = value'")
        if low in fields:
            raise DataError(f"tells {name.strip()[:40]!r} twice; its header is damaged")
        if equals:
            fields[low] = value.strip()
        end = len(data) if stop < 0 else stop + 1
    return fields, end


def _header(data: bytes) -> TextHeader:
    fields, end = _fields(data)
    missing = [name for name in ("NDims", "DimSize", "ElementType") if name.lower() not in fields]
    if missing:
        raise DataError(f"its header does not tell {' and '.join(missing)}; the file is damaged")
    count = fields["ndims"]
    if not (count.isascii() and count.isdigit() and len(count) == 1):
        raise DataError(f"declares {count[:20]!r} axes; its header is damaged")
    if fields.get("elementnumberofchannels", "1") != "1" or fields["elementtype"].upper() not in _TYPES:
        raise DataError(
            f"holds colours, vectors or unknown values ({fields['elementtype'][:40]})",
            remedy="save one number per voxel",
        )
    if not _is_true(fields, "binarydata", "true") or fields.get("headersize", "0") != "0":
        raise DataError("stores its voxels as text or skips a header", remedy="save it as a binary .mha file")
    order = ">" if _is_true(fields, "binarydatabyteordermsb", "false") else "<"
    packing = "zlib" if _is_true(fields, "compresseddata", "false") else "raw"
    stored = fields.get("compresseddatasize", "")
    if packing == "zlib" and stored and stored != str(len(data) - end):
        raise DataError(
            f"declares {stored[:20]} packed bytes but holds {len(data) - end}; the file is damaged"
        )
    dtype = np.dtype(order + _TYPES[fields["elementtype"].upper()])
    return TextHeader(fields, read_sizes(fields["dimsize"], int(count)), dtype, packing, end)


def _is_true(fields: dict[str, str], name: str, usual: str) -> bool:
    value = fields.get(name, usual).lower()
    if value not in ("true", "false", "1", "0"):
        raise DataError(f"declares {name} {value[:20]!r} where True or False was expected")
    return value in ("true", "1")


def _geometry(header: TextHeader) -> Geometry:
    fields, count = header.fields, len(header.shape)
    sizes = fields.get("elementspacing") or fields.get("elementsize") or "1 " * count
    spacing = read_numbers(sizes, count, "voxel sizes")
    if count != 3 or "offset" not in fields:
        return Geometry.of_spacing([abs(size) for size in spacing], header.shape)
    turned = read_numbers(fields.get("transformmatrix", "1 0 0 0 1 0 0 0 1"), 9, "a TransformMatrix")
    origin = read_numbers(fields["offset"], 3, "an Offset")
    # Each row of TransformMatrix is the direction of one axis.
    return Geometry.of_lps(np.reshape(turned, (3, 3)).T * spacing, origin, header.shape)
