"""An edge map that people judge, packed so that files and databases can hold it."""

from __future__ import annotations

import base64
import binascii
import zlib

import numpy as np

from edgecritic.errors import DataError, InputError
from edgecritic.inputs import BoolArray, as_mask
from edgecritic.values import Value

__all__ = ["EdgeMap"]


class EdgeMap(Value):
    """A whole edge map as one side of a trial.

    Attributes
    ----------
    condition : str
        What it is a map of, such as ``canny`` or ``canny, holes``; the same in all images.
    shape : (rows, columns)
    packed : str
        The pixels: a bit each, compressed, in base 64; empty if they are not known.
    kind : "map" or "spoiled map"
        Nobody should prefer a spoiled map: such are for practice and checks of attention.

    Examples
    --------
    >>> one = EdgeMap.of(np.eye(3, dtype=bool), "canny")
    >>> one.condition, one.shape, int(one.map.sum())
    ('canny', (3, 3), 3)
    """

    condition: str
    shape: tuple[int, int] = (0, 0)
    packed: str = ""
    kind: str = "map"

    @classmethod
    def of(cls, mask: BoolArray, condition: str, *, kind: str = "map") -> EdgeMap:
        """Pack a map."""
        own = as_mask(mask, "map")
        if own.ndim != 2:
            raise InputError(f"people judge maps of images, which have two axes; got the shape {own.shape}")
        packed = base64.b64encode(zlib.compress(np.packbits(own).tobytes(), 9)).decode()
        return cls(condition=condition, shape=(own.shape[0], own.shape[1]), packed=packed, kind=kind)

    @property
    def map(self) -> BoolArray:
        """The pixels; a `DataError` if they are not known or damaged."""
        rows, columns = self.shape
        size = (rows * columns + 7) // 8
        try:
            content = zlib.decompressobj().decompress(base64.b64decode(self.packed, validate=True), size + 1)
        except (binascii.Error, zlib.error, ValueError) as error:
            raise DataError(f"the pixels of the map {self.condition!r} cannot be read: {error}") from error
        if not self.packed or len(content) != size or min(self.shape) < 1:
            raise DataError(f"the map {self.condition!r} has no pixels, or not {rows} × {columns} of them")
        bits = np.unpackbits(np.frombuffer(content, np.uint8), count=rows * columns)
        return bits.reshape(self.shape).astype(np.bool_)
