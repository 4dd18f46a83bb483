"""PNG, JPEG, TIFF, BMP and PGM files, through Pillow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets._guard import check_size, quiet
from edgecritic.datasets.content import open_regular
from edgecritic.errors import DataError

__all__ = ["load_picture", "picture_shape", "one_channel", "luminance"]

_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "PPM")
_DEEP_MODES = frozenset({"I;16", "I;16B", "I;16L", "I;16N", "I"})
_PLAIN_MODES = frozenset({"1", "L", "F", "RGB"})
_LUMINANCE = (0.299, 0.587, 0.114)


def load_picture(data: bytes) -> NDArray[Any]:
    """Return the values of a picture: (rows, columns) or (rows, columns, 3).

    8-bit values stay uint8, 16-bit ones uint16, one-bit pictures are boolean; palettes are looked up;
    an opaque alpha channel is dropped.
    """
    import io

    from PIL import Image, UnidentifiedImageError

    content = io.BytesIO(data)
    try:
        with quiet():
            opened = Image.open(content, formats=_FORMATS)
    except Image.DecompressionBombError as error:
        raise DataError("declares far too many pixels; crop it, or store it as several files") from error
    except UnidentifiedImageError as error:
        raise DataError("cannot be read, it is empty, damaged or no picture at all") from error
    with quiet(), opened as picture:
        check_size(picture.size[::-1], 16)
        if picture.format in ("PNG", "TIFF") and getattr(picture, "n_frames", 1) > 1:
            raise DataError("holds several pictures; save one per file, or a volume as .npy or .nii")
        return _values(picture)


def picture_shape(path: Path) -> tuple[int, int]:
    """Return (rows, columns) from the header alone."""
    from PIL import Image

    with open_regular(path) as file, quiet(), Image.open(file, formats=_FORMATS) as picture:
        columns, rows = picture.size
        return rows, columns


def _values(picture: Any) -> NDArray[Any]:
    mode = picture.mode
    if mode in _DEEP_MODES:
        return _deep(np.array(picture))
    if mode in _PLAIN_MODES and "transparency" not in picture.info:
        return np.array(picture)
    if mode not in _PLAIN_MODES | {"P", "PA", "LA", "RGBA", "RGBX"}:
        picture = picture.convert("RGB")
        return np.array(picture)
    colours = np.array(picture.convert("RGBA"))
    if mode != "RGBX" and (colours[..., 3] != 255).any():
        raise DataError("is partly transparent, so its values are not clear; save it without transparency")
    return np.ascontiguousarray(colours[..., :3])


def _deep(values: NDArray[Any]) -> NDArray[Any]:
    if values.min() < 0 or values.max() > 65535:
        raise DataError("holds 32-bit values; save it with 8 or 16 bits per pixel")
    return values.astype(np.uint16)


def one_channel(values: NDArray[Any]) -> NDArray[Any]:
    """Return a map from a picture whose three channels are equal; refuse true colour."""
    if values.ndim != 3:
        return values
    first = values[..., 0]
    if not ((first == values[..., 1]).all() and (first == values[..., 2]).all()):
        raise DataError("is a colour picture where a map with one channel was expected; save it as grey")
    return np.ascontiguousarray(first)


def luminance(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601) of colours in the last axis."""
    red, green, blue = (weight * values[..., index] for index, weight in enumerate(_LUMINANCE))
    result: NDArray[np.float64] = red + green + blue
    return result
