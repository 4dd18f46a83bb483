"""BSDS300 `.seg` text files: one annotator's segments as runs of pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets._guard import check_size
from edgecritic.datasets.formats.base import file_format
from edgecritic.errors import DataError, InputError
from edgecritic.maps.boundaries import label_boundaries

__all__ = ["load_seg"]

_LARGEST = 8 * 2**20


def _boundaries(data: bytes, _: str | None) -> list[NDArray[Any]]:
    return [label_boundaries(load_seg(data))]


def _labels(data: bytes, _: str | None) -> list[NDArray[Any]]:
    return [load_seg(data)]


def _refuse(_: bytes, __: str | None) -> NDArray[Any]:
    raise InputError("holds a segmentation, not a soft map", remedy="use read_candidates")


@file_format(
    "seg",
    suffixes=(".seg",),
    summary="segments of one annotator as runs of pixels (BSDS300), as truth their boundaries",
    checksums="none; that every pixel is covered once",
    truths=_boundaries,
    strength=_refuse,
    labels=_labels,
    holds_labels=lambda _: True,
)
def load_seg(data: bytes, _: str | None = None) -> NDArray[Any]:
    """Return the label image of a `.seg` file.

    A header of ``word value`` lines (``width``, ``height``, …) ends with ``data``; then each line is
    ``segment row first_column last_column``, all from 0, the last column included.
    """
    if len(data) > _LARGEST:
        raise DataError(f"is {len(data)} bytes long, more than the allowed {_LARGEST}")
    head, mark, body = _split(data)
    if not mark:
        raise DataError("is no .seg file: its line `data` is missing")
    words = dict(line.split(None, 1) for line in head.decode("latin-1").splitlines() if len(line.split()) > 1)
    shape = int(words["height"]), int(words["width"])
    pixels = check_size(shape, 40)
    runs = np.array(body.split(), dtype=np.int64)
    if pixels == 0 or runs.size % 4:
        raise DataError("its runs must have four numbers each; the file is truncated")
    segment, row, first, last = runs.reshape(-1, 4).T
    lengths = last - first + 1
    inside = (row >= 0) & (row < shape[0]) & (first >= 0) & (last < shape[1]) & (lengths > 0)
    if not inside.all() or lengths.sum() != pixels:
        raise DataError(f"its runs must cover each of the {shape[0]} × {shape[1]} pixels once; it is damaged")
    starts = np.cumsum(lengths) - lengths
    place = np.repeat(row * shape[1] + first - starts, lengths) + np.arange(pixels)
    labels = np.full(pixels, -1, dtype=np.int64)
    labels[place] = np.repeat(segment, lengths)
    if (segment < 0).any() or (labels < 0).any():
        raise DataError(f"its runs must cover each of the {shape[0]} × {shape[1]} pixels once; it is damaged")
    return labels.reshape(shape)


def _split(content: bytes) -> tuple[bytes, bytes, bytes]:
    lines = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return lines.partition(b"\ndata\n")
