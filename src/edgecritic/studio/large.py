"""Large pictures in tiles: photos at full size and 2, 4, 8, … times smaller, maps as packed bytes."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "LARGE",
    "TILE",
    "TileFile",
    "coarse_level",
    "is_large",
    "packed",
    "shrink_map",
    "shrink_photo",
    "tiles_of",
]

TILE: Final = 1024
"""Side of a tile in pixels; those at the right and at the bottom are smaller."""

LARGE: Final = 4_000_000
"""Pixels above which an image has tiles."""

_OVERVIEW: Final = 2_000_000
"""Most pixels of the picture that is shown first."""


@dataclass(frozen=True, slots=True)
class TileFile:
    """A tile ready to be stored."""

    kind: str
    level: int
    row: int
    column: int
    media_type: str
    content: bytes


def is_large(width: int, height: int) -> bool:
    """Tell whether an image of this size has tiles.

    Examples
    --------
    >>> is_large(2000, 1500), is_large(10_000, 10_000)
    (False, True)
    """
    return width * height > LARGE


def coarse_level(width: int, height: int) -> int:
    """Return how often the size is halved until a picture can be shown whole at once.

    Examples
    --------
    >>> coarse_level(2000, 1000), coarse_level(10_000, 10_000)
    (0, 3)
    """
    level = 0
    while (width >> level) * (height >> level) > _OVERVIEW:
        level += 1
    return level


def shrink_map(values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a map of half the size, the largest of each four pixels: thin lines stay.

    Examples
    --------
    >>> shrink_map(np.array([[0, 9, 0], [0, 0, 0], [4, 0, 1]], np.uint8))
    array([[9, 0],
           [4, 1]], dtype=uint8)
    """
    rows, columns = values.shape
    even = np.pad(values, ((0, rows % 2), (0, columns % 2)))
    result: NDArray[np.uint8] = even.reshape((rows + 1) // 2, 2, (columns + 1) // 2, 2).max(axis=(1, 3))
    return result


def packed(values: NDArray[Any]) -> bytes:
    """Return the bytes of an array, compressed as browsers unpack them by themselves."""
    return gzip.compress(np.ascontiguousarray(values).tobytes(), 4, mtime=0)


def shrink_photo(values: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Return a photo with 16 bits of half the size, the mean of each four pixels, rounded.

    Rows and columns at the end of an odd size are their own mean.

    Examples
    --------
    >>> shrink_photo(np.array([[0, 4, 9], [8, 8, 10]], np.uint16))
    array([[ 5, 10]], dtype=uint16)
    """
    rows, columns = values.shape
    even = np.pad(values, ((0, rows % 2), (0, columns % 2)), mode="edge")
    total = np.zeros(((rows + 1) // 2, (columns + 1) // 2), np.uint32)
    for down in (0, 1):
        for right in (0, 1):
            total += even[down::2, right::2]
    return ((total + 2) >> 2).astype(np.uint16)


def tiles_of(
    photo: NDArray[np.uint8],
    proposal: NDArray[np.uint8],
    gradient: NDArray[np.uint8],
    deep: NDArray[np.uint16] | None = None,
) -> Iterator[TileFile]:
    """Yield the tiles of a large image.

    The photo has all levels down to one tile, as JPEG, and so have its values if it has 16 bits (`deep`), two
    packed bytes each, the lower first; the gradient too has all levels, the proposal the full size and the
    one of `coarse_level`, both as packed bytes.
    """
    from PIL import Image

    height, width = photo.shape[:2]
    picture = Image.fromarray(photo)
    level = 0
    while True:
        for row, column, box in _grid(picture.height, picture.width):
            top, left, bottom, right = box
            file = io.BytesIO()
            picture.crop((left, top, right, bottom)).save(file, "JPEG", quality=88)
            yield TileFile("photo", level, row, column, "image/jpeg", file.getvalue())
        if max(picture.size) <= TILE:
            break
        picture, level = picture.reduce(2), level + 1
    if deep is not None:
        for depth in range(level + 1):
            yield from _packed_tiles("deep", depth, deep.astype("<u2", copy=False))
            deep = shrink_photo(deep)
    for depth in range(level + 1):
        yield from _packed_tiles("gradient", depth, gradient)
        gradient = shrink_map(gradient)
    yield from _packed_tiles("proposal", 0, proposal)
    small = proposal
    for _ in range(coarse_level(width, height)):
        small = shrink_map(small)
    yield from _packed_tiles("proposal", coarse_level(width, height), small)


def _packed_tiles(kind: str, level: int, values: NDArray[Any]) -> Iterator[TileFile]:
    for row, column, (top, left, bottom, right) in _grid(*values.shape):
        content = packed(values[top:bottom, left:right])
        yield TileFile(kind, level, row, column, "application/octet-stream", content)


def _grid(height: int, width: int) -> Iterator[tuple[int, int, tuple[int, int, int, int]]]:
    """Yield row, column and box (top, left, bottom, right) of every tile."""
    for row, top in enumerate(range(0, height, TILE)):
        for column, left in enumerate(range(0, width, TILE)):
            yield row, column, (top, left, min(top + TILE, height), min(left + TILE, width))
