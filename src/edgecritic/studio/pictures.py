"""Pictures that come from outside: checked by content, bounded, and stored in a known form."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.detectors.proposals import first_level, levels_of, propose
from edgecritic.errors import DataError, EdgeCriticError, InputError
from edgecritic.inputs import SIDEWAYS, BoolArray
from edgecritic.studio.apart import read_apart
from edgecritic.studio.large import TileFile, is_large, tiles_of

__all__ = [
    "Upload",
    "as_map",
    "as_photo",
    "decode_png",
    "deep_values",
    "encode_png",
    "first_level",
    "kind_of",
    "levels_of",
    "make_upload",
    "read_content",
    "read_map_file",
    "read_photo",
    "stored_content",
    "thumbnail",
    "windowed",
]

_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": ".png",
    b"\xff\xd8\xff": ".jpg",
    b"BM": ".bmp",
    b"II*\x00": ".tif",
    b"MM\x00*": ".tif",
    b"P4": ".pbm",
    b"P5": ".pgm",
    b"P6": ".ppm",
    b"\x93NUMPY": ".npy",
    b"MATLAB 5.0 MAT-file": ".mat",
    b"\x89HDF\r\n\x1a\n": ".mat",
}
_PHOTOS = (".png", ".jpg", ".bmp", ".tif", ".pgm", ".ppm", ".pbm")
_LARGEST_SIDE = 16384
_THUMB = 256
_SMALLEST_SIDE = 3


@dataclass(frozen=True, slots=True)
class Upload:
    """A photo ready to be stored: what the browser shows, and the two maps the tools need.

    `thumb` is the photo as galleries show it; `deep` has the values of a photo with more than 8 bits, as PNG
    with the upper byte in red and the lower in green; a large image has `tiles`.
    """

    width: int
    height: int
    level: int
    photo: bytes
    media_type: str
    proposal: bytes
    gradient: bytes
    thumb: bytes = b""
    deep: bytes = b""
    tiles: tuple[TileFile, ...] = ()


def kind_of(content: bytes) -> str:
    """Return the ending that belongs to the content, whatever the file was called.

    Examples
    --------
    >>> kind_of(b"P5 1 1 255 x")
    '.pgm'
    """
    for start, suffix in _SIGNATURES.items():
        if content.startswith(start):
            return suffix
    if b"MATLAB" in content[:128] and content[512:520] == b"\x89HDF\r\n\x1a\n":
        return ".mat"
    raise InputError("is no picture or map of a known kind: PNG, JPEG, BMP, TIFF, PGM, .npy or .mat")


def read_photo(content: bytes, most_pixels: int) -> Upload:
    """Check a photo of a stranger, read it in a process of its own and make what is stored of it."""
    suffix = kind_of(content)
    if suffix not in _PHOTOS:
        raise InputError("is no photo: PNG, JPEG, BMP, TIFF or PGM was expected")
    _check_header(content, most_pixels)
    return make_upload(as_photo(read_content(content, suffix, "read_array")[0]))


def make_upload(values: NDArray[Any]) -> Upload:
    """Make the proposal and the gradient of a photo with 8 or 16 bits.

    They are those of :func:`edgecritic.detectors.proposals.propose`. Photos are stored anew as PNG, without
    what cameras add. Of 16 bits the photo shows the window between the 0.5th and the 99.5th percentile.
    """
    height, width = values.shape[:2]
    if min(height, width) < _SMALLEST_SIDE:
        raise InputError(
            f"has {width}×{height} pixels", remedy=f"at least {_SMALLEST_SIDE}×{_SMALLEST_SIDE} are needed"
        )
    found = propose(values)
    deep = values if values.dtype == np.uint16 else None
    shown = values.astype(np.uint8, copy=False) if deep is None else windowed(deep)
    tiles = tiles_of(shown, found.levels, found.gradient, deep) if is_large(width, height) else ()
    return Upload(
        width=width,
        height=height,
        level=found.level,
        photo=encode_png(shown),
        media_type="image/png",
        proposal=encode_png(found.levels),
        gradient=encode_png(found.gradient),
        thumb=thumbnail(shown),
        deep=b"" if deep is None else _two_bytes(deep),
        tiles=tuple(tiles),
    )


def windowed(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Return 16 bits as 8, linear from the 0.5th to the 99.5th percentile.

    Examples
    --------
    >>> windowed(np.array([[0, 100], [200, 300]], np.uint16))
    array([[  0,  85],
           [170, 255]], dtype=uint8)
    """
    low, high = np.percentile(values, [0.5, 99.5], method="nearest")
    scale = 255 / max(float(high) - float(low), 1.0)
    shown: NDArray[np.uint8] = np.rint(np.clip((values - float(low)) * scale, 0, 255)).astype(np.uint8)
    return shown


def thumbnail(values: NDArray[np.uint8]) -> bytes:
    """Return a small JPEG of a photo, at most 256 pixels wide and high."""
    from PIL import Image

    picture = Image.fromarray(values)
    if picture.mode not in ("L", "RGB"):
        picture = picture.convert("RGB")
    picture.thumbnail((_THUMB, _THUMB), reducing_gap=2.0)
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=70, optimize=True)
    return file.getvalue()


def deep_values(content: bytes) -> NDArray[np.uint16]:
    """Return the values of a photo with 16 bits, from the PNG that keeps them in two bytes."""
    both = decode_png(content).astype(np.uint16)
    values: NDArray[np.uint16] = (256 * both[..., 0] + both[..., 1]).astype(np.uint16)
    return values


def _two_bytes(values: NDArray[Any]) -> bytes:
    return encode_png(np.dstack([values >> 8, values & 255, np.zeros_like(values)]))


def read_map_file(content: bytes, kind: str, shape: tuple[int, int], most_pixels: int) -> list[NDArray[Any]]:
    """Return the maps of a file: label maps (one per annotator) or one strength map.

    Parameters
    ----------
    content : bytes
    kind : {"label", "detector"}
    shape : (rows, columns)
        What every map must have.
    most_pixels : int
    """
    suffix = kind_of(content)
    if suffix in _PHOTOS:
        _check_header(content, most_pixels)
    found = read_content(content, suffix, "read_truths" if kind == "label" else "read_strength")
    for one in found:
        if one.shape != shape:
            remedy = f"; {SIDEWAYS}" if one.shape == shape[::-1] else ""
            size = "×".join(map(str, one.shape[::-1]))
            raise InputError(f"has {size} pixels, the photo has {shape[1]}×{shape[0]}{remedy}")
    return found


def encode_png(values: NDArray[Any]) -> bytes:
    """Return a picture or a binary map (0/255) as PNG."""
    from PIL import Image

    array = values.astype(np.uint8) * 255 if values.dtype == np.bool_ else values.astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(array).save(file, "PNG", compress_level=3)
    return file.getvalue()


def decode_png(content: bytes) -> NDArray[np.uint8]:
    """Return the values of a PNG that was stored here."""
    from PIL import Image

    from edgecritic.datasets._guard import quiet

    with quiet(), Image.open(io.BytesIO(content), formats=("PNG",)) as picture:
        values: NDArray[np.uint8] = np.array(picture, dtype=np.uint8)
    return values


def as_map(content: bytes) -> BoolArray:
    """Return a stored binary map."""
    result: BoolArray = decode_png(content) > 127
    return result


def _check_header(content: bytes, most_pixels: int) -> None:
    """Refuse a picture that would grow too large before anything of it is unpacked."""
    from PIL import Image

    from edgecritic.datasets._guard import quiet

    formats = ("PNG", "JPEG", "BMP", "TIFF", "PPM")
    try:
        with quiet(), Image.open(io.BytesIO(content), formats=formats) as picture:
            width, height = picture.size
    except Image.DecompressionBombError as error:
        raise InputError("declares far too many pixels") from error
    except Exception as error:
        raise InputError("cannot be read as a picture; it may be damaged") from error
    if width * height > most_pixels or max(width, height) > _LARGEST_SIDE:
        raise InputError(
            f"has {width}×{height} pixels; at most {most_pixels:,} in all and "
            f"{_LARGEST_SIDE:,} per side are taken"
        )


def read_content(content: bytes, suffix: str, reader: str) -> list[NDArray[Any]]:
    """Return what a reader makes of the content of a file, in a process of its own."""
    with stored_content(content, suffix) as path:
        return read_apart(reader, path)


@contextmanager
def stored_content(content: bytes, suffix: str) -> Iterator[Path]:
    """Keep what was uploaded as a file for a while; what is said of the file does not name it."""
    with tempfile.TemporaryDirectory(prefix="edgecritic-") as folder:
        path = Path(folder) / f"upload{suffix}"
        path.write_bytes(content)
        try:
            yield path
        except EdgeCriticError as error:
            kind = DataError if isinstance(error, DataError) else InputError
            raise kind(error.message, remedy=error.remedy) from error  # the path is of this machine


def as_photo(values: NDArray[Any]) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Return a photo with 8 bits, or one channel with 16: other numbers are scaled from least to largest."""
    if values.dtype == np.bool_:
        return values.astype(np.uint8) * 255
    if values.dtype == np.uint8:
        return values
    if values.ndim == 3 and values.dtype == np.uint16:
        return (values >> 8).astype(np.uint8)
    if values.ndim != 2 or values.dtype.kind not in "iuf":
        raise InputError("must have 8 or 16 bits per channel, or one channel of numbers")
    if values.dtype == np.uint16:
        return values
    if not np.isfinite(values).all():
        raise InputError("has values that are not finite")
    low, high = float(values.min()), float(values.max())
    return np.rint((values - low) * (65535 / max(high - low, 1e-300))).astype(np.uint16)
