"""What Pillow does not check of a picture: the checksums of PNG and TIFF files, and that nothing is missing.

Formats: W3C "Portable Network Graphics (PNG) Specification"; Adobe "TIFF 6.0".
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any

from edgecritic.datasets._guard import MEMORY_LIMIT, unpacked_size, unpacker_maker
from edgecritic.errors import DataError

__all__ = ["check_png", "check_tiff", "plain_rows"]

_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by the colour type of a PNG file
_ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
_PLAIN_PNG = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"
_MOST_PLAIN = 2**24  # bytes that are unpacked in one piece
_COMPRESSION, _STRIPS, _TILES = 259, (273, 279), (324, 325)
_DEFLATE = (8, 32946)
_KNOWN = frozenset({1, 2, 3, 4, 5, 7, 32773, *_DEFLATE})


def check_png(data: bytes) -> None:
    """Refuse a PNG file with a wrong checksum, with missing rows, or without its end."""
    head = b""
    pieces: list[memoryview] = []
    for kind, body in _chunks(data):
        if kind == b"IHDR":
            head = bytes(body)
        elif kind == b"IDAT":
            pieces.append(body)
    if len(head) != 13:
        raise DataError("is a PNG file without a header; the file is damaged")
    expected = _png_size(*struct.unpack(">IIBBBBB", head))
    size = unpacked_size(pieces, expected)
    if size != expected:
        raise DataError(f"unpacks to {size} of {expected} bytes, so rows are missing; the file is truncated")


def plain_rows(data: bytes) -> tuple[int, int, bytes] | None:
    """Return rows, columns and the unpacked bytes of a PNG file of 8-bit grey values and nothing else.

    All that `check_png` checks holds; of any other file, most damaged ones too, nothing is returned.
    """
    if not data.startswith(_PLAIN_PNG):
        return None
    try:
        (_, head), *pieces, _ = _chunks(data)
    except DataError:
        return None
    columns, rows, *form = struct.unpack(">IIBBBBB", head)
    if form != [8, 0, 0, 0, 0] or any(kind != b"IDAT" for kind, _ in pieces):
        return None
    expected = rows * (1 + columns)
    if not 0 < rows * columns < expected <= _MOST_PLAIN:
        return None
    unpacker = unpacker_maker()()
    unpacked = unpacker.decompress(b"".join(piece for _, piece in pieces), expected + 1)
    return (rows, columns, unpacked) if unpacker.eof and len(unpacked) == expected else None


def _chunks(data: bytes) -> Iterator[tuple[bytes, memoryview]]:
    """Go through the chunks up to the last one (`IEND`); what follows it is no part of the picture."""
    view = memoryview(data)
    position = 8
    kind = b""
    while kind != b"IEND":
        if position + 12 > len(data):
            raise DataError("ends before its last chunk; the file is truncated")
        (length,) = struct.unpack_from(">I", data, position)
        end = position + 8 + length
        if end + 4 > len(data):
            raise DataError("ends in the middle of a chunk; the file is truncated")
        kind = data[position + 4 : position + 8]
        if zlib.crc32(view[position + 4 : end]) != struct.unpack_from(">I", data, end)[0]:
            raise DataError("has a chunk with a wrong checksum; the file is damaged")
        yield kind, view[position + 8 : end]
        position = end + 4


def _png_size(columns: int, rows: int, depth: int, colour: int, _: int, __: int, interlaced: int) -> int:
    bits = depth * _CHANNELS.get(colour, 0)
    passes = _ADAM7 if interlaced else ((0, 0, 1, 1),)
    size = 0
    for left, top, right, down in passes:
        wide, high = -(-(columns - left) // right), -(-(rows - top) // down)
        if wide > 0 and high > 0:
            size += high * (1 + -(-wide * bits // 8))
    return size


def check_tiff(data: bytes, tags: Any) -> None:
    """Verify the checksum of every packed strip or tile; refuse ways of packing that are not known."""
    way = tags.get(_COMPRESSION, 1)
    if way not in _KNOWN:
        raise DataError(
            f"is packed in an unusual way ({way})", remedy="save it with deflate, LZW or unpacked"
        )
    if way not in _DEFLATE:
        return
    places, lengths = (tags.get(tag, ()) for tag in (_TILES if _TILES[0] in tags else _STRIPS))
    if not places or len(places) != len(lengths):
        raise DataError("does not tell where its rows are; the file is damaged")
    left = MEMORY_LIMIT
    for place, length in zip(places, lengths, strict=True):
        left -= unpacked_size([memoryview(data)[place : place + length]], left)
