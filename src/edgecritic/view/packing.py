"""Replies of numbers and pixels: a JSON head, then arrays of 32-bit numbers, without any copying in text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["pack", "places", "unpack"]


def pack(head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the length of the head (4 bytes, little-endian), the head, blanks up to a multiple of 4, arrays.

    Arrays are little-endian uint32 or float32; the head names them in their order, with their sizes.

    Examples
    --------
    >>> head, arrays = unpack(pack({"f": 0.5}, {"hits": np.array([3, 5])}))
    >>> head["f"], arrays["hits"]
    (0.5, array([3, 5], dtype=uint32))
    """
    parts = [_plain(one) for one in arrays.values()]
    listed = [[name, one.dtype.kind, one.size] for name, one in zip(arrays, parts, strict=True)]
    text = json.dumps({**head, "arrays": listed}, allow_nan=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    return b"".join([len(text).to_bytes(4, "little"), text, *(one.tobytes() for one in parts)])


def unpack(content: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return head and arrays of what `pack` made."""
    length = int.from_bytes(content[:4], "little")
    head = json.loads(content[4 : 4 + length])
    arrays, at = {}, 4 + length
    for name, kind, size in head.pop("arrays"):
        arrays[name] = np.frombuffer(content, f"<{kind}4", size, at)
        at += 4 * size
    return head, arrays


def places(mask: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """Return the raster indices of the pixels of a map."""
    return np.flatnonzero(mask).astype("<u4")


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(array, dtype="<f4" if array.dtype.kind == "f" else "<u4")
