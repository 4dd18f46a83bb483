"""What a file says of classes: the label of every pixel, the object it belongs to, or boundaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import DataError
from edgecritic.inputs import BoolArray, as_mask

__all__ = ["ClassMaps"]

_PER_LABEL = 1000  # Cityscapes: 26003 is the third car
_VOID = 255


@dataclass(frozen=True, slots=True)
class ClassMaps:
    """Labels, instances and stored boundaries of one image; what a file does not tell is ``None``.

    Attributes
    ----------
    labels, instances : (rows, columns) integer arrays or None
        Class and object of every pixel.
    stored : (classes, rows, columns) bool array, mapping of class number to map, or None
        Boundaries of the classes; of a mapping those that are absent are empty. Numbers begin at 1.
    """

    labels: NDArray[Any] | None = None
    instances: NDArray[Any] | None = None
    stored: BoolArray | Mapping[int, BoolArray] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        if self.labels is not None:
            return self.labels.shape
        if isinstance(self.stored, np.ndarray):
            return self.stored.shape[1:]
        return next(iter((self.stored or {}).values())).shape

    @classmethod
    def of_array(cls, values: NDArray[Any]) -> ClassMaps:
        """Tell by shape and type what an array holds."""
        if values.ndim == 3:
            return cls(stored=np.stack([as_mask(one) for one in values]))
        if values.ndim == 2 and values.dtype in (np.uint32, np.uint64):
            return cls(stored=_bits(values.astype(np.uint64)))
        if values.ndim == 2 and values.dtype.kind in "iu":
            return cls.of_labels(values)
        if values.ndim == 2 and values.dtype.kind == "f" and _are_whole(values):
            return cls.of_labels(values.astype(np.int64))
        raise DataError(
            f"holds {values.dtype} values of shape {values.shape}, neither labels nor maps of classes",
            remedy="store whole numbers (rows, columns), or boundaries (classes, rows, columns)",
        )

    @classmethod
    def of_labels(cls, values: NDArray[Any]) -> ClassMaps:
        """Return labels; values from 1000 on, or of more than 8 bits, tell instances as well.

        Examples
        --------
        >>> found = ClassMaps.of_labels(np.array([[7, 26001, 26002]], np.uint16))
        >>> found.labels, found.instances
        (array([[ 7, 26, 26]], dtype=uint16), array([[    7, 26001, 26002]], dtype=uint16))
        """
        if values.dtype.itemsize == 1:
            return cls(labels=values.view(np.uint8) if values.dtype == np.bool_ else values)
        labels = np.where(values >= _PER_LABEL, values // _PER_LABEL, values).astype(values.dtype)
        return cls(labels=labels, instances=values)

    @classmethod
    def of_colours(cls, colours: NDArray[Any]) -> ClassMaps:
        """Return the boundaries of a colour picture: class bits 0 to 7 in blue, then green, then red."""
        if colours.dtype != np.uint8:
            raise DataError("holds deep colours", remedy="bits of classes are stored in 8-bit colours")
        red, green, blue = (colours[..., channel].astype(np.uint64) for channel in range(3))
        return cls(stored=_bits(blue | green << np.uint64(8) | red << np.uint64(16)))

    @classmethod
    def of_instances(
        cls, instances: NDArray[Any], categories: NDArray[Any], maps: Sequence[BoolArray]
    ) -> ClassMaps:
        """Return what a list of objects tells: the k-th has the class ``categories[k - 1]``."""
        if categories.size != len(maps):
            raise DataError(f"holds {len(maps)} objects, but the classes of {categories.size}")
        if categories.size >= _VOID:
            raise DataError(f"holds {categories.size} objects, at most {_VOID - 1} are read")
        table = np.full(_VOID + 1, -1, dtype=np.int64)
        table[0], table[_VOID] = 0, _VOID
        table[1 : categories.size + 1] = categories
        whole = np.asarray(instances, dtype=np.int64)
        if instances.ndim != 2 or instances.size == 0 or (whole != instances).any() or whole.min() < 0:
            raise DataError("holds a segmentation that is no map of objects 1, 2, …")
        if whole.max() > _VOID:
            raise DataError(f"holds a segmentation of {int(whole.max())} objects, at most 254 are read")
        labels = table[whole]
        if (labels < 0).any():
            raise DataError(f"has pixels of object {int(instances[labels < 0][0])}, which is not in its list")
        stored: dict[int, BoolArray] = {}
        for number, one in zip(categories.astype(np.int64).tolist(), maps, strict=True):
            stored[number] = stored[number] | one if number in stored else one
        empty = {1: np.zeros(whole.shape, dtype=np.bool_)}
        return cls(labels=labels, instances=whole, stored=stored or empty)


def _are_whole(values: NDArray[Any]) -> bool:
    finite = np.isfinite(values).all() and np.abs(values).max(initial=0) < 2**31
    return bool(finite and (values == np.rint(values)).all())


def _bits(values: NDArray[np.uint64]) -> dict[int, BoolArray]:
    """Return the maps of all classes up to the highest that has a pixel, by number."""
    most = int(np.bitwise_or.reduce(values, axis=None)).bit_length() if values.size else 0
    return {k + 1: np.not_equal(values & np.uint64(1 << k), 0) for k in range(max(most, 1))}
