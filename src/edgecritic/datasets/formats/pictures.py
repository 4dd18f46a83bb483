"""PNG, JPEG, TIFF, BMP and PGM files, through Pillow.

Every picture, photo or map, is turned as its EXIF orientation says, as browsers and viewers show it: people
label what they see. EXIF data that cannot be read are ignored, the picture stays as it is stored.
"""

from __future__ import annotations

import io
import re
import sys
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets._checksums import check_png, check_tiff, plain_rows
from edgecritic.datasets._guard import check_size, quiet
from edgecritic.datasets._tiff import tiff_geometry
from edgecritic.datasets.class_maps import ClassMaps
from edgecritic.datasets.content import open_regular
from edgecritic.datasets.formats.base import file_format
from edgecritic.errors import DataError, InputError
from edgecritic.inputs import as_strength
from edgecritic.kernels._jit import is_started
from edgecritic.kernels.rows import unfiltered

__all__ = ["load_picture", "picture_shape", "save_png"]

_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "PPM")
_DEEP_MODES = frozenset({"I;16", "I;16B", "I;16L", "I;16N", "I"})
_PLAIN_MODES = frozenset({"1", "L", "F", "RGB"})
_BITS_PER_SAMPLE, _PLANES = 258, 284
_TRANSPARENT = "is partly transparent, so its values are not clear; save it without transparency"
_ORIENTATION = 0x0112
_MIRRORED = frozenset({2, 4, 5, 7})
_QUARTERS = {3: 2, 4: 2, 5: 1, 6: 3, 7: 3, 8: 1}
_PNG_NOTES = (b"eXIf", b"tEXt", b"zTXt", b"iTXt")


def save_png(stream: BinaryIO, values: NDArray[Any], bits: int) -> None:
    """Write values in [0, 1], grey or colours, with 8 or 16 bits each."""
    from PIL import Image

    if bits not in (8, 16):
        raise InputError(f"bits must be 8 or 16, got {bits!r}")
    whole = np.rint(values * (2.0**bits - 1)).astype(np.uint8 if bits == 8 else np.uint16)
    Image.fromarray(whole).save(stream, format="png")


def _save_map(stream: BinaryIO, values: NDArray[Any], bits: int) -> None:
    if values.ndim != 2:
        raise InputError(
            f"a .png file holds a map of 2 dimensions, got shape {values.shape}", remedy="use .npy"
        )
    save_png(stream, as_strength(values), bits)


def _map(data: bytes, _: str | None) -> NDArray[Any]:
    return _one_channel(load_picture(data))


def _class_maps(data: bytes, _: str | None) -> ClassMaps:
    """Return a label image, the indices of a palette too; colours hold a bit for each class."""
    values = _loaded(data, indices=True)
    return ClassMaps.of_colours(values) if values.ndim == 3 else ClassMaps.of_labels(values)


_picture = partial(
    file_format,
    picture=True,
    strength=_map,
    truths=lambda data, key: [_map(data, key)],
    classes=_class_maps,
)


@_picture("bmp", suffixes=(".bmp",), summary="a picture without packing")
@_picture(
    "jpeg", suffixes=(".jpg", ".jpeg"), summary="a photo; as a map it is read with a warning", lossy=True
)
@_picture(
    "png",
    suffixes=(".png",),
    summary="a picture of 1, 8 or 16 bits: map, truth or photo",
    checksums="CRC-32 of every chunk, Adler-32 of the packed rows, that no row is missing, the end mark",
    write=_save_map,
)
@_picture("pnm", suffixes=(".pgm", ".ppm"), summary="a portable graymap or pixmap of 8 or 16 bits")
@_picture(
    "tiff",
    suffixes=(".tif", ".tiff"),
    summary="a picture of 1, 8, 16 or 32 bits (floats); a GeoTIFF tells its pixel size",
    checksums="Adler-32 of every strip or tile that is packed with deflate",
    geometry=lambda data, _: tiff_geometry(io.BytesIO(data)),
)
def load_picture(data: bytes, _: str | None = None) -> NDArray[Any]:
    """Return the values of a picture: (rows, columns) or (rows, columns, 3).

    8-bit values stay uint8, 16-bit ones uint16, one-bit pictures are boolean; palettes are looked up;
    an opaque alpha channel is dropped. The picture is turned as its EXIF orientation says. Every checksum
    that the format has is verified.
    """
    return _loaded(data)


def _loaded(data: bytes, *, indices: bool = False) -> NDArray[Any]:
    """Return the values of a picture, of one with a palette its indices if they are asked for."""
    plain = _plain_grey(data)
    if plain is not None:
        return plain
    with quiet(), _open(data) as picture:
        check_size(picture.size[::-1], 16)
        if picture.format in ("PNG", "TIFF") and getattr(picture, "n_frames", 1) > 1:
            raise DataError("holds several pictures", remedy="save one per file, or a volume as .npy or .nii")
        if picture.format == "PNG":
            check_png(data)
        elif picture.format == "TIFF":
            check_tiff(data, picture.tag_v2)
        if indices and picture.mode == "P":
            return _turned(np.array(picture), _orientation(picture))
        values = _deep_colours(picture, data) if _is_deep_colour(picture, data) else _values(picture)
        return _turned(values, _orientation(picture))


def _plain_grey(data: bytes) -> NDArray[np.uint8] | None:
    """Return the values of a map as networks write them: a PNG file of 8-bit grey values and nothing else.

    Pillow would unpack again what was unpacked to verify its checksum, and hold the interpreter lock while
    it looks for what is not there. It is left to read all other files, and these too before Numba runs.
    """
    found = plain_rows(data) if is_started() else None
    if found is None:
        return None
    rows, columns, unpacked = found
    values: NDArray[np.uint8] = unfiltered(
        np.array(np.frombuffer(unpacked, np.uint8)).reshape(rows, 1 + columns)
    )
    return values if len(values) else None


def _open(data: bytes) -> Any:
    from PIL import Image, UnidentifiedImageError

    try:
        return Image.open(io.BytesIO(data), formats=_FORMATS)
    except Image.DecompressionBombError as error:
        raise DataError(
            "declares far too many pixels", remedy="crop it, or store it as several files"
        ) from error
    except UnidentifiedImageError as error:
        raise DataError("cannot be read, it is empty, damaged or no picture at all") from error


def picture_shape(path: Path) -> tuple[int, int]:
    """Return (rows, columns) of the turned picture, from what stands before and after the pixels."""
    from PIL import Image

    picture: Any
    with open_regular(path) as file, quiet(), Image.open(file, formats=_FORMATS) as picture:
        columns, rows = picture.size
        if picture.format == "PNG" and not _has_notes(file):
            return rows, columns  # Pillow would unpack the pixels to see whether there are notes behind them
        if picture.format == "TIFF":
            columns, rows = picture.tag_v2[256], picture.tag_v2[257]
        return (columns, rows) if _QUARTERS.get(_orientation(picture), 0) % 2 else (rows, columns)


def _has_notes(file: IO[bytes]) -> bool:
    file.seek(0)
    content = file.read()
    return any(note in content for note in _PNG_NOTES)


def _orientation(picture: Any) -> int:
    """Return how the camera was held, 1 to 8; Pillow turns TIFF files itself and then says 1."""
    try:
        held = picture.getexif().get(_ORIENTATION, 1)
    except Exception:  # noqa: BLE001 - Pillow raises whatever broken EXIF data lead to
        return 1
    return held if isinstance(held, int) and 1 <= held <= 8 else 1


def _turned(values: NDArray[Any], held: int) -> NDArray[Any]:
    if held in _MIRRORED:
        values = values[:, ::-1]
    return np.ascontiguousarray(np.rot90(values, _QUARTERS.get(held, 0)))


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
        raise DataError(_TRANSPARENT)
    return np.ascontiguousarray(colours[..., :3])


def _is_deep_colour(picture: Any, data: bytes) -> bool:
    """Tell whether there are several channels of more than 8 bits, of which Pillow keeps 8."""
    if picture.mode in _DEEP_MODES | {"F"}:
        return False
    if picture.format == "PNG":
        return data[24] > 8
    if picture.format == "TIFF":
        bits: tuple[int, ...] = picture.tag_v2.get(_BITS_PER_SAMPLE, (1,))
        return max(bits) > 8
    codec, *_, given = picture.tile[0]
    return bool(picture.format == "PPM" and codec.startswith("ppm") and given[1] > 255)


def _deep_colours(picture: Any, data: bytes) -> NDArray[np.uint16]:
    """Return 16-bit colours: Pillow gives one byte of each value, and the other one for the other order."""
    check_size(picture.size[::-1], 32)
    swapped = [_in_other_order(tile) for tile in picture.tile]
    planes = getattr(picture, "tag_v2", {}).get(_PLANES, 1)
    if None in swapped or planes != 1 or "transparency" in picture.info:
        raise DataError(
            "holds 16-bit colours in an unusual way", remedy="save it as a 16-bit PNG file, or with 8 bits"
        )
    high = np.array(picture)
    with _open(data) as again:
        again.tile = swapped
        low = np.array(again)
    values: NDArray[np.uint16] = high.astype(np.uint16)
    values *= 256
    values += low
    if values.shape[-1] == 4 and (values[..., 3] != 65535).any():
        raise DataError(_TRANSPARENT)
    return np.ascontiguousarray(values[..., :3])


def _in_other_order(tile: Any) -> Any:
    """Return a tile of Pillow with the other order of bytes, or None if it has none."""
    given = tile[3]
    name = given if isinstance(given, str) else given[0]
    others = {"L": "B", "B": "L", "N": "B" if sys.byteorder == "little" else "L"}
    if not re.fullmatch("RGBA?;16[LBN]", name):
        return None
    other = name[:-1] + others[name[-1]]
    arguments = other if isinstance(given, str) else (other, *given[1:])
    return getattr(type(tile), "_make", tuple)((*tile[:3], arguments))


def _deep(values: NDArray[Any]) -> NDArray[Any]:
    if values.min() < 0 or values.max() > 65535:
        raise DataError("holds 32-bit values", remedy="save it with 8 or 16 bits per pixel")
    return values.astype(np.uint16)


def _one_channel(values: NDArray[Any]) -> NDArray[Any]:
    """Return a map from a picture whose three channels are equal; refuse true colour."""
    if values.ndim != 3:
        return values
    first = values[..., 0]
    if not ((first == values[..., 1]).all() and (first == values[..., 2]).all()):
        raise DataError(
            "is a colour picture where a map with one channel was expected", remedy="save it as grey"
        )
    return np.ascontiguousarray(first)
