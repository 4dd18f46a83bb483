"""TIFF files in tiles, and GeoTIFF files, written by the specification."""

from __future__ import annotations

import struct
import zlib

import numpy as np


def tiled(values, *, side=16, order="<", big=False, packing=1, geo=()):
    """Return the bytes of a TIFF file in square tiles, written here by the specification."""
    high, wide = values.shape
    padded = np.zeros((-(-high // side) * side, -(-wide // side) * side), values.dtype)
    padded[:high, :wide] = values
    tiles = [
        padded[top : top + side, left : left + side].astype(values.dtype.newbyteorder(order)).tobytes()
        for top in range(0, high, side)
        for left in range(0, wide, side)
    ]
    if packing == 8:
        tiles = [zlib.compress(one) for one in tiles]
    long, start = ("Q", 16) if big else ("I", 8)
    places = np.cumsum([start, *(len(one) for one in tiles)])
    kind = {"u": 1, "i": 2, "f": 3}[values.dtype.kind]
    entries = [(256, 4, [wide]), (257, 4, [high]), (258, 3, [8 * values.itemsize]), (259, 3, [packing])]
    entries += [(262, 3, [1]), (277, 3, [1]), (322, 4, [side]), (323, 4, [side])]
    entries += [(324, 16 if big else 4, places[:-1].tolist()), (325, 4, [len(one) for one in tiles])]
    entries += [(339, 3, [kind]), *geo]
    body, table = b"".join(tiles), b""
    codes, room = {3: "H", 4: "I", 12: "d", 16: "Q"}, 8 if big else 4
    for tag, code, numbers in entries:
        data = struct.pack(f"{order}{len(numbers)}{codes[code]}", *numbers)
        if len(data) > room:
            data, body = struct.pack(order + long, start + len(body)), body + data
        table += struct.pack(f"{order}HH{long}", tag, code, len(numbers)) + data.ljust(room, b"\0")
    count = struct.pack(order + ("Q" if big else "H"), len(entries))
    mark = {"<": b"II", ">": b"MM"}[order]
    head = struct.pack(order + "HHH", 43, 8, 0) if big else struct.pack(order + "H", 42)
    return mark + head + struct.pack(order + long, start + len(body)) + body + count + table + b"\0" * 8


def geo(*, scale=(0.5, 2.0, 0.0), tie=(0.0, 0.0, 0.0, 1000.0, 5000.0, 0.0), system=32632, kind=1, raster=1):
    """Return the tags that make a TIFF file a GeoTIFF."""
    keys = [1, 1, 0, 3, 1024, 0, 1, kind, 1025, 0, 1, raster, 3072, 0, 1, system]
    return [(33550, 12, list(scale)), (33922, 12, list(tie)), (34735, 3, keys)]
