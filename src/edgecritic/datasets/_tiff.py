"""TIFF files read in pieces: the table of tags, strips or tiles one by one, and where GeoTIFF pixels lie.

Formats: Adobe "TIFF 6.0"; "The BigTIFF File Format"; OGC 19-008r4 "GeoTIFF Standard".
"""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets._guard import fill, unpacker_maker
from edgecritic.errors import DataError
from edgecritic.geometry import Geometry

__all__ = ["Tiff", "open_tiff", "tiff_geometry"]

_SIZES = {
    1: 1,
    2: 1,
    3: 2,
    4: 4,
    5: 8,
    6: 1,
    7: 1,
    8: 2,
    9: 4,
    10: 8,
    11: 4,
    12: 8,
    13: 4,
    16: 8,
    17: 8,
    18: 8,
}
_CODES = {1: "B", 3: "H", 4: "I", 6: "b", 7: "B", 8: "h", 9: "i", 11: "f", 12: "d", 13: "I", 16: "Q", 17: "q"}
_MOST_TAGS = 1000
_MOST_BYTES = 2**26
_MOST_PICTURES = 64
_PIECE_LIMIT = 2**28
_PLAIN, _LZW, _DEFLATE, _PACKBITS = (1,), (5,), (8, 32946), (32773,)
_KINDS = {(1, 1): "?", (8, 1): "u1", (16, 1): "u2", (32, 1): "u4", (8, 2): "i1", (16, 2): "i2", (32, 2): "i4"}
_KINDS |= {(32, 3): "f4", (64, 3): "f8"}
_WIDTH, _LENGTH, _BITS, _PACKING, _MEANING, _ORIENTATION = 256, 257, 258, 259, 262, 274
_SAMPLES, _STRIP_ROWS, _PREDICTOR, _FORMAT, _SUBFILE = 277, 278, 317, 339, 254
_STRIPS, _TILES, _TILE_SIZE = (273, 279), (324, 325), (322, 323)
_SCALE, _TIEPOINT, _TRANSFORM, _KEYS = 33550, 33922, 34264, 34735
_MODEL_TYPE, _RASTER_TYPE, _PROJECTED, _LINEAR_UNIT = 1024, 1025, 3072, 3076
_UNITS = {9001: "m", 9002: "ft", 9003: "ft"}

Tags = dict[int, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Tiff:
    """The first picture of a file, which has one channel, and where its pieces are.

    Attributes
    ----------
    shape : (rows, columns)
    dtype : numpy.dtype
    piece : (rows, columns)
        Of a strip or tile; those at the end may reach beyond the picture.
    """

    stream: BinaryIO
    order: str
    tags: Tags
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    piece: tuple[int, int]
    places: tuple[int, ...]
    lengths: tuple[int, ...]

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return some rows of the picture."""
        high, wide = self.piece
        across = -(-self.shape[1] // wide)
        result = np.empty((stop - start, self.shape[1]), dtype=self.dtype)
        for down in range(start // high, -(-stop // high)):
            top = down * high
            inside = slice(max(start - top, 0), min(stop - top, high))
            for side in range(across):
                values = self._unpacked(down * across + side)
                left = side * wide
                part = result[max(top - start, 0) : min(top + high, stop) - start, left : left + wide]
                part[:] = values[inside, : part.shape[1]]
        return result

    def _unpacked(self, number: int) -> NDArray[Any]:
        """Return the values of one strip or tile."""
        high, wide = self.piece
        if _TILES[0] not in self.tags:
            high = min(high, self.shape[0] - number * high)  # the last strip ends with the picture
        bits = self.tags.get(_BITS, (1,))[0]
        row = -(-wide * bits // 8)
        packing = self.tags.get(_PACKING, (1,))[0]
        if self.lengths[number] > 2 * high * row + 2**16:
            raise DataError("has a piece that is longer packed than unpacked; the file is damaged")
        self.stream.seek(self.places[number])
        packed = bytes(fill(self.stream, self.lengths[number]))
        if packing in _LZW + _PACKBITS:
            return _by_pillow(self, packed, high, wide)
        data = _inflated(packed, high * row) if packing in _DEFLATE else packed
        if len(data) != high * row:
            raise DataError(
                f"has a piece of {len(data)} bytes where {high * row} were expected; it is damaged"
            )
        if bits == 1:
            values = np.unpackbits(np.frombuffer(data, np.uint8).reshape(high, row), axis=1, count=wide)
            values = values.view(np.bool_)
        else:
            values = np.frombuffer(data, np.dtype(f"{self.order}{self.dtype.str[1:]}")).reshape(high, wide)
            if self.tags.get(_PREDICTOR, (1,))[0] == 2:
                values = np.cumsum(values, axis=1, dtype=self.dtype)
        return _from_white(values, self.tags)


def open_tiff(stream: BinaryIO) -> Tiff:
    """Read the tags of a file; refuse what is read in pieces nowhere here."""
    order, tags = _first_tags(stream)
    shape = _one(tags, _LENGTH), _one(tags, _WIDTH)
    kind = tags.get(_BITS, (1,))[0], tags.get(_FORMAT, (1,))[0]
    packing, predictor = tags.get(_PACKING, (1,))[0], tags.get(_PREDICTOR, (1,))[0]
    wrong = [
        (min(shape) < 1, "has no pixels"),
        (tags.get(_SAMPLES, (1,))[0] != 1, "has several channels where a map with one was expected"),
        (kind not in _KINDS, f"has values of {kind[0]} bits of an unusual kind"),
        (packing not in _PLAIN + _LZW + _DEFLATE + _PACKBITS, f"is packed in an unusual way ({packing})"),
        (predictor not in (1, 2) or (predictor == 2 and kind[1] == 3), "differences of values are unusual"),
        (tags.get(_MEANING, (1,))[0] not in (0, 1), "is no grey picture"),
        (tags.get(_ORIENTATION, (1,))[0] != 1, "is stored turned or mirrored"),
    ]
    for refused, told in wrong:
        if refused:
            raise DataError(told, remedy="save it as grey, unpacked or with deflate or LZW")
    tiled = _TILES[0] in tags
    places, lengths = (tags.get(tag, ()) for tag in (_TILES if tiled else _STRIPS))
    if tiled:
        piece = _one(tags, _TILE_SIZE[1]), _one(tags, _TILE_SIZE[0])
    else:
        piece = min(tags.get(_STRIP_ROWS, (shape[0],))[0], shape[0]), shape[1]
    number = -(-shape[0] // max(piece[0], 1)) * -(-shape[1] // max(piece[1], 1))
    if min(piece) < 1 or len(places) != number or len(lengths) != number:
        raise DataError("does not tell where its rows are; the file is damaged")
    if piece[0] * piece[1] * max(kind[0] // 8, 1) > _PIECE_LIMIT:
        raise DataError("is stored in one piece, too large to be read in parts", remedy="save it in tiles")
    return Tiff(stream, order, tags, shape, np.dtype(_KINDS[kind]), piece, places, lengths)


def tiff_geometry(stream: BinaryIO) -> Geometry | None:
    """Return where the pixels lie if the file is a GeoTIFF in a plane; None of degrees and other files."""
    _, tags = _first_tags(stream)
    keys = _geo_keys(tags)
    if keys.get(_MODEL_TYPE, 1) != 1 or tags.get(_ORIENTATION, (1,))[0] != 1:
        return None
    transform = tags.get(_TRANSFORM, ())
    scale, tie = tags.get(_SCALE, ()), tags.get(_TIEPOINT, ())
    if len(transform) == 16:
        (xc, xr, _, x0), (yc, yr, _, y0) = (transform[4 * at : 4 * at + 4] for at in (0, 1))
    elif len(scale) >= 2 and len(tie) >= 6:
        xc, xr, yc, yr = scale[0], 0.0, 0.0, -scale[1]
        x0, y0 = tie[3] - tie[0] * xc, tie[4] - tie[1] * yr
    elif len(scale) >= 2:
        xc, xr, yc, yr, x0, y0 = scale[0], 0.0, 0.0, -scale[1], 0.0, 0.0
    else:
        return None
    middle = 0.5 if keys.get(_RASTER_TYPE, 1) == 1 else 0.0  # positions are those of corners or of centres
    x0, y0 = x0 + middle * (xc + xr), y0 + middle * (yc + yr)
    affine = [[xr, xc, 0, x0], [yr, yc, 0, y0], [0, 0, 1, 0], [0, 0, 0, 1]]
    system = keys.get(_PROJECTED, 32767)
    return Geometry.of(
        affine,
        (_one(tags, _LENGTH), _one(tags, _WIDTH)),
        placed=bool(transform or tie),
        unit=_UNITS.get(keys.get(_LINEAR_UNIT, 9001), "units"),
        frame="" if system == 32767 else f"EPSG:{system}",
    )


def _geo_keys(tags: Tags) -> dict[int, int]:
    """Return the keys whose values are stored in the directory itself."""
    numbers = tags.get(_KEYS, ())
    entries = (numbers[at : at + 4] for at in range(4, len(numbers) - 3, 4))
    return {int(key): int(value) for key, place, _, value in entries if place == 0}


def _first_tags(stream: BinaryIO) -> tuple[str, Tags]:
    """Return the order of bytes and the tags of the first picture; others may be smaller copies only."""
    stream.seek(0)
    head = stream.read(16)
    order = {b"II": "<", b"MM": ">"}.get(head[:2], "")
    if not order or len(head) < 8:
        raise DataError("is no TIFF file, or damaged")
    version = struct.unpack(order + "H", head[2:4])[0]
    big = version == 43
    if version not in (42, 43) or (big and len(head) < 16):
        raise DataError("is no TIFF file, or damaged")
    place = struct.unpack(order + ("Q" if big else "I"), head[8:16] if big else head[4:8])[0]
    tags, place = _tags(stream, order, place, big)
    for _ in range(_MOST_PICTURES):
        if place == 0:
            return order, tags
        more, place = _tags(stream, order, place, big)
        if not more.get(_SUBFILE, (0,))[0] & 5:
            break
    raise DataError("holds several pictures", remedy="save one per file")


def _tags(stream: BinaryIO, order: str, place: int, big: bool) -> tuple[Tags, int]:
    """Return the tags at a place of the file, and the place of the next ones."""
    stream.seek(place)
    count_code, entry, next_code = ("Q", 20, "Q") if big else ("H", 12, "I")
    (count,) = struct.unpack(order + count_code, fill(stream, struct.calcsize(count_code)))
    if not 0 < count <= _MOST_TAGS:
        raise DataError(f"has {count} tags; the file is damaged")
    table = bytes(fill(stream, count * entry))
    (after,) = struct.unpack(order + next_code, fill(stream, struct.calcsize(next_code)))
    tags: Tags = {}
    for at in range(0, len(table), entry):
        tag, kind, number = struct.unpack_from(order + ("HHQ" if big else "HHI"), table, at)
        size = number * _SIZES.get(kind, 0)
        if kind not in _CODES:
            continue
        if size > _MOST_BYTES:
            raise DataError(f"has a tag of {size} bytes; the file is damaged")
        inline = entry - (12 if big else 8)
        if size <= inline:
            data = table[at + entry - inline : at + entry - inline + size]
        else:
            (there,) = struct.unpack_from(order + ("Q" if big else "I"), table, at + entry - inline)
            stream.seek(there)
            data = bytes(fill(stream, size))
        tags[tag] = struct.unpack(f"{order}{number}{_CODES[kind]}", data)
    return tags, after


def _one(tags: Tags, tag: int) -> int:
    value = tags.get(tag, ())
    if len(value) != 1 or int(value[0]) != value[0]:
        raise DataError(f"lacks the tag {tag}; the file is damaged")
    return int(value[0])


def _inflated(packed: bytes, size: int) -> bytes:
    unpacker = unpacker_maker()()
    data: bytes = unpacker.decompress(packed, size + 1)
    if len(data) != size or not (unpacker.eof or not unpacker.decompress(unpacker.unconsumed_tail, 1)):
        raise DataError(
            f"unpacks to another size than the {size} bytes that it declares; the file is damaged"
        )
    if not unpacker.eof:
        raise DataError("its compressed data end before their checksum; the file is truncated")
    return data


def _by_pillow(tiff: Tiff, packed: bytes, high: int, wide: int) -> NDArray[Any]:
    """Unpack a piece as a picture of its own."""
    from PIL import Image

    entries = {
        _WIDTH: wide,
        _LENGTH: high,
        _BITS: tiff.tags.get(_BITS, (1,))[0],
        _PACKING: tiff.tags[_PACKING][0],
        _MEANING: tiff.tags.get(_MEANING, (1,))[0],
        _STRIPS[0]: 0,
        _SAMPLES: 1,
        _STRIP_ROWS: high,
        _STRIPS[1]: len(packed),
        _PREDICTOR: tiff.tags.get(_PREDICTOR, (1,))[0],
        _FORMAT: tiff.tags.get(_FORMAT, (1,))[0],
    }
    entries[_STRIPS[0]] = 8 + 2 + 12 * len(entries) + 4
    mark = {"<": b"II", ">": b"MM"}[tiff.order]
    head = mark + struct.pack(tiff.order + "HIH", 42, 8, len(entries))
    table = b"".join(
        struct.pack(tiff.order + "HHII", tag, 4, 1, value) for tag, value in sorted(entries.items())
    )
    data = head + table + b"\0\0\0\0" + packed
    with Image.open(io.BytesIO(data), formats=("TIFF",)) as picture:
        values = np.asarray(picture)
    if values.shape != (high, wide):
        raise DataError("has a piece of another size than it declares; the file is damaged")
    return values.astype(tiff.dtype)


def _from_white(values: NDArray[Any], tags: Tags) -> NDArray[Any]:
    """Return values that rise from black to white."""
    if tags.get(_MEANING, (1,))[0] != 0:
        return values
    if values.dtype == np.bool_:
        return ~values
    if values.dtype.kind != "u":
        raise DataError("counts down from white with signed values or floats", remedy="save it as plain grey")
    return np.iinfo(values.dtype).max - values
