"""Photos and small pictures of images and volumes, as browsers show them."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets.cases import Case
from edgecritic.errors import EdgeCriticError

__all__ = ["photo_of", "png_of", "thumbnail"]

_SIDE = 240


def photo_of(case: Case, shape: Sequence[int], *, resize: bool = False) -> NDArray[np.uint8] | None:
    """Return the photo (or scan) of a case with values from 0 to 255, None if there is none of this shape.

    With `resize` a photo of another size is brought to this one.
    """
    found = _image(case, colour=len(shape) == 2)
    if found is None:
        return None
    if found.shape[: len(shape)] == tuple(shape):
        return _bytes(found)
    if not resize:
        return None
    from PIL import Image

    picture = Image.fromarray(_bytes(found)).resize((shape[1], shape[0]), Image.Resampling.BOX)
    return np.asarray(picture)


def _image(case: Case, *, colour: bool) -> NDArray[np.float64] | None:
    if case.image is None:
        return None
    try:
        return case.load_image(colour=colour)
    except EdgeCriticError:
        return None


def _bytes(image: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return values from 0 to 1 as bytes; other ranges, as scans have them, are stretched."""
    low, high = float(image.min(initial=0)), float(image.max(initial=1))
    if low < 0 or high > 1:
        image = (image - low) / max(high - low, 1e-12)
    made: NDArray[np.uint8] = np.rint(255 * image).astype(np.uint8)
    return made


def png_of(values: NDArray[np.uint8]) -> bytes:
    """Return a picture as PNG, packed quickly rather than tightly."""
    return _encoded(values, "PNG", compress_level=1)


def thumbnail(case: Case, strength: Callable[[], NDArray[np.floating[Any]]]) -> bytes:
    """Return a small JPEG of a case: its photo, else its map, dark on light; of a volume the middle plane.

    `strength` returns the map; of what cannot be judged the first truth is drawn.
    """
    image = _image(case, colour=True)
    if image is not None and image.ndim == 4:  # a scan, with grey as colours
        image = image[len(image) // 2]
    if image is None:
        image = _map_of(case, strength)
    small = _bytes(image)
    from PIL import Image

    picture = Image.fromarray(small)
    picture.thumbnail((_SIDE, _SIDE), Image.Resampling.BOX, reducing_gap=2.0)
    return _encoded(np.asarray(picture), "JPEG", quality=82)


def _map_of(case: Case, strength: Callable[[], NDArray[np.floating[Any]]]) -> NDArray[np.float64]:
    try:
        drawn = np.asarray(strength(), dtype=np.float64)
    except EdgeCriticError:
        drawn = case.load_truths(binarize=0.5)[0].astype(np.float64)
    if drawn.ndim == 3:
        drawn = drawn[len(drawn) // 2]
    return 1.0 - drawn


def _encoded(values: NDArray[np.uint8], kind: str, **options: Any) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(values).save(out, format=kind, **options)
    return out.getvalue()
