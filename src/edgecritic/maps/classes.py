"""From an image of class labels to the boundaries of every class, in one pass for all of them.

The boundaries of many classes are kept as bits: bit k of a pixel says whether it lies on a boundary of the
k-th class. A pixel may lie on the boundaries of several classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray

__all__ = ["MOST_CLASSES", "Bits", "boundary_bits", "class_boundaries", "unpack_classes"]

Bits = NDArray[np.uint64]

MOST_CLASSES = 64
"""So many classes have a bit of their own."""


def class_boundaries(
    labels: Any,
    classes: Sequence[int],
    *,
    instances: Any = None,
    radius: float = 2.0,
    ignored: Sequence[int] = (),
    frame: int = 0,
    thin: bool = False,
) -> BoolArray:
    """Return the boundaries of every class of a label image.

    Pixel p lies on a boundary of class c if some pixel q at a Euclidean distance ≤ `radius` differs from it
    and one of the two belongs to c: lines are drawn on both sides of a change, 2 · `radius` pixels wide.
    Without `instances` two pixels differ if their labels do; with them also if they are different instances
    of one class. A pair does not count if one of its pixels is ignored.

    Parameters
    ----------
    labels : (rows, columns) integer array
    classes : sequence of int
        The labels of the classes; at most 64. All other labels are background.
    instances : (rows, columns) integer array, optional
        Which object of its class a pixel belongs to; only equality matters.
    radius : float
        In pixels, from 1 to 16.
    ignored : sequence of int
        Labels at which there is no boundary, such as those of pixels that nobody labelled.
    frame : int
        So many outermost rows and columns are ignored too.
    thin : bool
        Thin the boundaries of each class to lines one pixel wide.

    Returns
    -------
    (classes, rows, columns) bool array

    References
    ----------
    .. [1] Z. Yu et al., "Simultaneous edge alignment and learning", ECCV 2018, whose evaluation made this
       rule (there radius 2, or 1 and thinned) the usual one for Cityscapes and SBD.

    Examples
    --------
    >>> labels = np.array([[7, 7, 7, 8, 8, 8]])
    >>> class_boundaries(labels, [7, 9], radius=1).astype(int)
    array([[[0, 0, 1, 1, 0, 0]],
    <BLANKLINE>
           [[0, 0, 0, 0, 0, 0]]])
    """
    bits = boundary_bits(labels, classes, instances=instances, radius=radius, ignored=ignored, frame=frame)
    maps = unpack_classes(bits, len(classes))
    if not thin:
        return maps
    from edgecritic.maps.thinning import thin as thinned

    return np.stack([thinned(one) for one in maps])


def boundary_bits(
    labels: Any,
    classes: Sequence[int],
    *,
    instances: Any = None,
    radius: float = 2.0,
    ignored: Sequence[int] = (),
    frame: int = 0,
) -> Bits:
    """Return the boundaries of all classes as bits; parameters as in `class_boundaries`."""
    values = _whole(labels, "labels")
    if not 0 < len(classes) <= MOST_CLASSES or len(set(classes)) < len(classes):
        raise InputError(f"give 1 to {MOST_CLASSES} different classes, got {len(classes)}")
    if not 1 <= radius <= 16:
        raise InputError(f"the radius of boundaries must lie in 1 … 16 pixels, got {radius!r}")
    own, kinds = _kinds(values, classes, ignored)
    if frame:
        if 2 * frame >= min(values.shape):
            raise InputError(f"a frame of {frame} pixels leaves nothing of an image of shape {values.shape}")
        kinds = kinds.copy()
        inner = kinds[frame:-frame, frame:-frame].copy()
        kinds[...] = _IGNORED
        kinds[frame:-frame, frame:-frame] = inner
    codes = kinds if instances is None else _with_instances(kinds, _whole(instances, "instances"))
    result: Bits = np.zeros(values.shape, dtype=np.uint64)
    for down, across in _half_disc(radius):
        _mark(result, codes, kinds, own, down, across)
    return result


def unpack_classes(bits: Bits, classes: int) -> BoolArray:
    """Return the maps of the first classes of a map of bits: (classes, rows, columns).

    Examples
    --------
    >>> unpack_classes(np.array([[1, 3, 0]], np.uint64), 2).astype(int)
    array([[[1, 1, 0]],
    <BLANKLINE>
           [[0, 1, 0]]])
    """
    result: BoolArray = np.empty((classes, *bits.shape), dtype=np.bool_)
    for place in range(classes):
        np.not_equal(bits & np.uint64(1 << place), 0, out=result[place])
    return result


_BACKGROUND, _IGNORED = 254, 255


def _kinds(
    labels: NDArray[np.int64], classes: Sequence[int], ignored: Sequence[int]
) -> tuple[Bits, NDArray[np.uint8]]:
    """Return the bit of every kind of pixel, and the kind of every pixel: its class, background, ignored."""
    own: Bits = np.zeros(256, dtype=np.uint64)
    own[: len(classes)] = np.uint64(1) << np.arange(len(classes), dtype=np.uint64)
    low, high = int(labels.min()), int(labels.max())
    wanted = {**dict.fromkeys(ignored, _IGNORED), **{label: place for place, label in enumerate(classes)}}
    if set(ignored) & set(classes):
        raise InputError("a label is either a class or ignored, not both")
    if high - low < 2**16:
        table = np.full(high - low + 1, _BACKGROUND, dtype=np.uint8)
        for label, kind in wanted.items():
            if low <= label <= high:
                table[label - low] = kind
        return own, table[labels - low]
    kinds: NDArray[np.uint8] = np.full(labels.shape, _BACKGROUND, dtype=np.uint8)
    for label, kind in wanted.items():
        kinds[labels == label] = kind
    return own, kinds


def _with_instances(kinds: NDArray[np.uint8], instances: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number for every object: equal where class and instance are; background is one object."""
    if instances.shape != kinds.shape:
        raise InputError(f"instances must have the shape of the labels {kinds.shape}, got {instances.shape}")
    low = int(instances.min())
    if int(instances.max()) - low >= 2**50:
        raise InputError("instances must be numbered within 2^50 of each other")
    codes: NDArray[np.int64] = (instances - low) * 256 + kinds
    codes[kinds >= _BACKGROUND] = -1
    return codes


def _mark(
    result: Bits, codes: NDArray[Any], kinds: NDArray[np.uint8], own: Bits, down: int, across: int
) -> None:
    """Mark the pixels that differ from the pixel `down` rows below and `across` columns to the right."""
    rows, columns = kinds.shape
    if down >= rows or abs(across) >= columns:
        return
    here = (slice(0, rows - down), slice(max(0, -across), columns - max(0, across)))
    there = (slice(down, rows), slice(max(0, across), columns - max(0, -across)))
    changed = codes[here] != codes[there]
    row, column = np.nonzero(changed)
    column += here[1].start
    first, second = row * columns + column, (row + down) * columns + column + across
    flat = kinds.reshape(-1)
    one, other = flat[first], flat[second]
    counts = (one != _IGNORED) & (other != _IGNORED)
    marks = own[one[counts]] | own[other[counts]]
    pixels = result.reshape(-1)
    pixels[first[counts]] |= marks
    pixels[second[counts]] |= marks


def _half_disc(radius: float) -> list[tuple[int, int]]:
    """Return the steps (down, across) of at most this length, one of each pair of opposite ones."""
    far = int(radius)
    return [
        (down, across)
        for down in range(far + 1)
        for across in range(-far, far + 1)
        if (down > 0 or across > 0) and down * down + across * across <= radius * radius
    ]


def _whole(values: Any, name: str) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "biu":
        raise InputError(
            f"{name} must be whole numbers (rows, columns), got {array.dtype} of shape {array.shape}"
        )
    return array.astype(np.int64, copy=False)
