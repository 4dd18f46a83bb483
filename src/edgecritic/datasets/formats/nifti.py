"""NIfTI-1 and NIfTI-2 volumes (`.nii`, `.nii.gz`), read in bounded memory.

The header is the documented fixed-size record (nifti.nimh.nih.gov). The array is in the stored order of axes;
where its voxels lie is told by `sform` if its code is positive, else by `qform` if its code is, else only the
voxel sizes (`pixdim`) are known.
"""

from __future__ import annotations

import gzip
import io
import math
import struct
from typing import IO, Any, BinaryIO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets._guard import check_end, check_size, fill
from edgecritic.datasets.formats.base import file_format
from edgecritic.errors import DataError, InputError
from edgecritic.geometry import Geometry

__all__ = ["load_nifti", "nifti_geometry"]

_TYPES = {
    2: "u1", 4: "i2", 8: "i4", 16: "f4", 64: "f8", 256: "i1", 512: "u2", 768: "u4", 1024: "i8", 1280: "u8",
}  # fmt: skip
_FARTHEST = 16 * 2**20
_STEP = 2**20
_PRECISION = 2.0**-22  # a few units of the last of 24 bits


class _Header(NamedTuple):
    dims: tuple[int, ...]
    sizes: tuple[float, ...]
    dtype: np.dtype[Any]
    offset: int
    slope: float
    shift: float
    affine: NDArray[np.float64] | None


def load_nifti(data: bytes) -> NDArray[Any]:
    """Return the voxels of a volume."""
    with _unpacked(data) as stream:
        return _load(stream)


def nifti_geometry(data: bytes, verify: bool) -> Geometry:
    """Return where the voxels lie; to verify the checksum, packed voxels are stepped over."""
    with _unpacked(data) as stream:
        header = _header(stream)
        shape = _shape(header)
        if verify:
            left = check_size(shape, 2 * header.dtype.itemsize) * header.dtype.itemsize
            while left > 0:
                left -= len(fill(stream, min(left, _STEP)))
            check_end(stream)
    if header.affine is None:
        return Geometry.of_spacing(header.sizes[:3], shape)
    return Geometry.of(header.affine, shape)


def _write(stream: BinaryIO, array: NDArray[Any], geometry: Geometry, packed: bool) -> None:
    """Write a volume as NIfTI-1 with its geometry as `sform`, or `pixdim` alone where no place is known."""
    kinds = {np.dtype(name).str[1:]: code for code, name in _TYPES.items()}
    values = array.view(np.uint8) if array.dtype == np.bool_ else array
    if values.dtype.str[1:] not in kinds or values.ndim > 7 or max(values.shape) > 32767:
        raise InputError(f"cannot be written as NIfTI: {values.dtype} of shape {values.shape}")
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    sizes = geometry.spacing[: values.ndim]
    struct.pack_into("<8h", header, 40, values.ndim, *values.shape, *[1] * (7 - values.ndim))
    struct.pack_into("<2h", header, 70, kinds[values.dtype.str[1:]], 8 * values.itemsize)
    struct.pack_into("<8f", header, 76, 1, *sizes, *[1] * (7 - values.ndim))
    struct.pack_into("<3f", header, 108, 352, 1, 0)
    header[123] = 2  # millimetres
    struct.pack_into("<2h", header, 252, 0, 2 * geometry.placed)
    struct.pack_into("<12f", header, 280, *geometry.affine[:3].ravel())
    header[344:348] = b"n+1\0"
    body = values.astype(values.dtype.newbyteorder("<"), copy=False).tobytes(order="F")
    if packed:
        with gzip.GzipFile(filename="", mode="wb", fileobj=stream, compresslevel=6, mtime=0) as unpacked:
            unpacked.write(bytes(header))
            unpacked.write(body)
        return
    stream.write(bytes(header))
    stream.write(body)


def nifti_bytes(array: NDArray[Any], geometry: Geometry) -> bytes:
    """Return a volume as a packed NIfTI-1 file, the same bytes for the same volume.

    Examples
    --------
    >>> geometry = Geometry.of(np.diag([2.0, 2, 3, 1]), (2, 2, 2))
    >>> found = nifti_bytes(np.ones((2, 2, 2), np.uint8), geometry)
    >>> int(load_nifti(found).sum()), nifti_geometry(found, verify=True).spacing
    (8, (2.0, 2.0, 3.0))
    """
    stream = io.BytesIO()
    _write(stream, array, geometry, packed=True)
    return stream.getvalue()


@file_format(
    "nifti",
    suffixes=(".nii", ".nii.gz"),
    summary="a volume with the size and place of its voxels (NIfTI-1, NIfTI-2)",
    checksums="CRC-32 and length where it is packed; that nothing is missing or left over",
    geometry=nifti_geometry,
    write_volume=_write,
)
def _voxels(data: bytes, _: str | None) -> NDArray[Any]:
    return load_nifti(data)


def _unpacked(data: bytes) -> IO[bytes]:
    packed = data[:2] == b"\x1f\x8b"
    stream: Any = gzip.GzipFile(fileobj=io.BytesIO(data)) if packed else io.BytesIO(data)
    return cast("IO[bytes]", stream)


def _shape(header: _Header) -> tuple[int, ...]:
    shape = header.dims
    while len(shape) > 3 and shape[-1] == 1:
        shape = shape[:-1]
    return shape


def _load(stream: IO[bytes]) -> NDArray[Any]:
    header = _header(stream)
    shape = _shape(header)
    scaled = header.slope != 0 and math.isfinite(header.slope) and (header.slope, header.shift) != (1, 0)
    voxels = check_size(shape, header.dtype.itemsize + (8 if scaled else header.dtype.itemsize))
    array: NDArray[Any] = np.frombuffer(fill(stream, voxels * header.dtype.itemsize), header.dtype)
    check_end(stream)
    if scaled:
        array = _scaled(array, header.slope, header.shift)
    elif header.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("="))
    return array.reshape(shape, order="F")


def _scaled(stored: NDArray[Any], slope: float, shift: float) -> NDArray[np.float64]:
    """Return slope · stored + shift; whole numbers within the precision of slope and shift are made whole.

    Slope and shift are stored with 24 bits, so that 255 · (1 / 255) is not 1: a mask would be none.
    """
    if not math.isfinite(shift):
        raise DataError(f"scales its voxels by {slope:g} and {shift:g}", remedy="save it with finite scaling")
    values = stored.astype(np.float64)
    for start in range(0, values.size, _STEP):
        part = values[start : start + _STEP]
        part *= slope
        blur = (np.abs(part) + abs(shift)) * _PRECISION
        part += shift
        whole = np.rint(part)
        np.copyto(part, whole, where=np.abs(part - whole) <= blur)
    return values


def _header(stream: IO[bytes]) -> _Header:
    start = bytes(fill(stream, 4))
    for order in "<>":
        (size,) = struct.unpack(order + "i", start)
        if size in (348, 540):
            rest = start + bytes(fill(stream, size - 4))
            header = _first(rest, order) if size == 348 else _second(rest, order)
            if not size <= header.offset <= _FARTHEST:
                raise DataError("its voxels start at an impossible place; the file is damaged")
            fill(stream, header.offset - size)
            return header
    raise DataError("is no NIfTI file: its header is missing")


def _first(raw: bytes, order: str) -> _Header:
    if raw[344:348] != b"n+1\0":
        raise DataError(
            "is no single-file NIfTI volume (magic n+1 expected)", remedy="convert .hdr/.img pairs"
        )
    dims = struct.unpack_from(order + "8h", raw, 40)
    (kind,) = struct.unpack_from(order + "h", raw, 70)
    sizes = struct.unpack_from(order + "8f", raw, 76)
    offset, slope, shift = struct.unpack_from(order + "3f", raw, 108)
    codes = struct.unpack_from(order + "2h", raw, 252)
    places = struct.unpack_from(order + "18f", raw, 256)
    affine = _affine(codes, places, sizes)
    return _checked(dims, sizes, kind, order, offset, slope, shift)._replace(affine=affine)


def _second(raw: bytes, order: str) -> _Header:
    if raw[4:8] != b"n+2\0":
        raise DataError("is no single-file NIfTI-2 volume (magic n+2 expected)")
    (kind,) = struct.unpack_from(order + "h", raw, 12)
    dims = struct.unpack_from(order + "8q", raw, 16)
    sizes = struct.unpack_from(order + "8d", raw, 104)
    (offset,) = struct.unpack_from(order + "q", raw, 168)
    slope, shift = struct.unpack_from(order + "2d", raw, 176)
    codes = struct.unpack_from(order + "2i", raw, 344)
    places = struct.unpack_from(order + "18d", raw, 352)
    affine = _affine(codes, places, sizes)
    return _checked(dims, sizes, kind, order, offset, slope, shift)._replace(affine=affine)


def _affine(
    codes: tuple[int, ...], places: tuple[float, ...], sizes: tuple[float, ...]
) -> NDArray[np.float64] | None:
    """Return the affine of sform (code first), else of qform, else None; `places` are both in their order."""
    affine = np.eye(4)
    if codes[1] > 0:
        affine[:3] = np.reshape(places[6:], (3, 4))
        return affine
    if codes[0] <= 0:
        return None
    b, c, d = places[:3]
    rest = 1.0 - (b * b + c * c + d * d)
    if rest < 1e-7:  # half a turn: rounding must not take the square root of a negative number
        length = math.sqrt(b * b + c * c + d * d)
        a, b, c, d = 0.0, b / length, c / length, d / length
    else:
        a = math.sqrt(rest)
    turned = np.array(
        [
            [a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)],
            [2 * (b * c + a * d), a * a + c * c - b * b - d * d, 2 * (c * d - a * b)],
            [2 * (b * d - a * c), 2 * (c * d + a * b), a * a + d * d - b * b - c * c],
        ]
    )
    lengths = np.array([*_lengths(sizes[1:4])]) * (1, 1, -1 if sizes[0] < 0 else 1)
    affine[:3, :3], affine[:3, 3] = turned * lengths, places[3:6]
    return affine


def _lengths(sizes: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(abs(size) if math.isfinite(size) and size != 0 else 1.0 for size in sizes)


def _checked(
    dims: tuple[int, ...],
    sizes: tuple[float, ...],
    kind: int,
    order: str,
    offset: float,
    slope: float,
    shift: float,
) -> _Header:
    if not 1 <= dims[0] <= 7 or min(dims[1 : dims[0] + 1]) < 1:
        raise DataError(f"declares impossible sizes {dims}; the file is damaged")
    if kind not in _TYPES:
        raise DataError(
            f"holds colours, complex or unknown numbers (datatype {kind})", remedy="convert it to floats"
        )
    if not math.isfinite(offset):
        raise DataError("its voxels start at an impossible place; the file is damaged")
    shape, spacing = dims[1 : dims[0] + 1], _lengths(sizes[1 : dims[0] + 1])
    return _Header(shape, spacing, np.dtype(order + _TYPES[kind]), int(offset), slope, shift, None)
