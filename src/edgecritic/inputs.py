"""The one place that turns what users have into what the kernels take.

Every function here is friendly to its caller (any dtype, any array library, read-only or strided
memory) and strict about meaning: a binary map holds two values, a strength map lies in [0, 1].
The input is never changed and, where possible, never copied.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError, NotBinaryError
from edgecritic.ids import shown

__all__ = [
    "BoolArray",
    "FloatArray",
    "Indices",
    "Spacing",
    "DEFAULT_RELATIVE_TOLERANCE",
    "as_array",
    "as_mask",
    "as_masks",
    "as_pair",
    "mask_of",
    "as_strength",
    "as_spacing",
    "as_tolerance",
    "SIDEWAYS",
    "check_dimensions",
    "check_shapes",
    "diagonal",
]

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64] | NDArray[np.float32]
Indices = NDArray[np.int64]
Spacing = float | Sequence[float] | None

DEFAULT_RELATIVE_TOLERANCE = 0.0075


def as_array(data: Any, name: str = "array") -> NDArray[Any]:
    """Return `data` as a NumPy array without changing it; `name` is used in messages.

    Anything with ``__array__`` or ``__dlpack__`` is taken (torch tensors too, without importing torch).
    Numbers that NumPy itself does not know, such as bfloat16 of JAX, become float32, which holds all of them.
    """
    array = _as_given(data, name)
    if array.dtype.kind == "V" and np.can_cast(array.dtype, np.float32):
        return array.astype(np.float32)
    return array


def _as_given(data: Any, name: str) -> NDArray[Any]:
    if type(data) is np.ndarray:  # most are, and `np.ma` is not imported before it is asked for
        return data
    if isinstance(data, np.ma.MaskedArray):
        return _without_mask(data, name)
    if isinstance(data, np.ndarray):
        return data
    try:
        if hasattr(data, "__array__"):
            return np.asarray(data)
        if hasattr(data, "__dlpack__"):
            return np.from_dlpack(data)
        array = np.asarray(data)
    except Exception as error:
        hint = " (a tensor must be detached and on the CPU: x.detach().cpu())" if hasattr(data, "cpu") else ""
        raise InputError(f"{name} cannot be read as an array{hint}: {error}") from error
    if array.ndim == 0 and array.dtype == object:
        raise InputError(f"{name} must be an array, got {type(data).__name__}")
    return array


def _without_mask(data: np.ma.MaskedArray[Any, Any], name: str) -> NDArray[Any]:
    """Return the values of a masked array in which nothing is masked; the mask means nothing here."""
    hidden = int(np.count_nonzero(np.ma.getmaskarray(data)))
    if hidden:
        raise InputError(
            f"{name} is a masked array with {hidden} masked value(s), which would be counted all the same",
            remedy="fill them, for instance map.filled(0)",
        )
    return np.asarray(data.data)


def as_mask(data: Any, name: str = "map") -> BoolArray:
    """Return a binary edge map as a C-contiguous boolean array of 2 or 3 dimensions.

    Parameters
    ----------
    data : array_like
        Booleans, or numbers of any dtype that are all 0 or 1, or all 0 or 255.
    name : str
        What to call the array in messages.

    Raises
    ------
    InputError
        For grey values, NaN, another number of dimensions, no pixels, or text and objects.

    Examples
    --------
    >>> import numpy as np
    >>> as_mask(np.array([[0, 255]], dtype=np.uint8))
    array([[False,  True]])
    """
    if type(data) is np.ndarray and data.dtype.char == "?" and data.ndim in (2, 3) and data.size:
        return np.ascontiguousarray(data)
    array = as_array(data, name)
    check_dimensions(array, name)
    if array.dtype != np.bool_:
        array = _two_valued(array, name)
    return np.ascontiguousarray(array, dtype=np.bool_)


def as_masks(data: Any, name: str = "map", ndim: int | None = None) -> list[BoolArray]:
    """Return one or several binary maps of one shape as boolean arrays.

    Parameters
    ----------
    data : array_like, or list or tuple of array_like
        One map or several.
    name : str
        What to call a map in messages.
    ndim : int, optional
        Dimensions of one map; an array with one more is then a stack of maps.

    Examples
    --------
    >>> import numpy as np
    >>> stack = np.zeros((3, 4, 5), bool)
    >>> len(as_masks(stack)), len(as_masks(stack, ndim=2)), len(as_masks(list(stack)))
    (1, 3, 3)
    """
    if isinstance(data, list | tuple):
        if not data:
            raise InputError(f"give at least one {name}, got none")
        several = as_array(data[0], name).ndim in ((2, 3) if ndim is None else (ndim,))
        parts = list(data) if several else [data]
    else:
        array = as_array(data, name)
        parts = list(array) if ndim is not None and array.ndim == ndim + 1 and len(array) else [array]
    masks = [as_mask(part, name) for part in parts]
    if len({mask.shape for mask in masks}) > 1:
        raise InputError(f"the maps of one image must have one shape, got {[mask.shape for mask in masks]}")
    return masks


def mask_of(pixels: Indices, shape: Sequence[int]) -> BoolArray:
    """Return the map with the pixels of a list of raster indices."""
    mask = np.zeros(shape, dtype=np.bool_)
    mask.reshape(-1)[pixels] = True
    return mask


def as_pair(candidate: Any, truth: Any) -> tuple[BoolArray, BoolArray]:
    """Return candidate and truth as boolean arrays of one shape."""
    first, second = as_mask(candidate, "candidate"), as_mask(truth, "truth")
    check_shapes(first.shape, second.shape, "candidate")
    return first, second


SIDEWAYS = (
    "one of them lies on its side: pictures are turned as their EXIF orientation says, "
    "so turn the other one as well"
)
"""What to do where two maps have each other's shape, transposed."""


def check_shapes(shape: Sequence[int], truth: Sequence[int], name: str) -> None:
    """Refuse a map whose shape is not that of its truth, and say what to do."""
    if tuple(shape) == tuple(truth):
        return
    if tuple(shape) == (1, *truth):
        remedy = "take the map out of its batch or channel axis: map[0]"
    elif len(shape) != len(truth):
        remedy = "give both as images or both as volumes"
    elif tuple(shape) == tuple(truth)[::-1]:
        remedy = SIDEWAYS
    elif name == "candidate":
        remedy = "crop or resize the candidate's strength map before it is thresholded (never the truth)"
    else:
        remedy = f"crop or resize the {name} map (never the truth)"
    raise InputError(
        f"{name} and truth must have the same shape, got {tuple(shape)} and {tuple(truth)}",
        remedy=remedy,
    )


def as_strength(data: Any, name: str = "strength") -> FloatArray:
    """Return a strength map as a C-contiguous float array in [0, 1].

    Unsigned integers are divided by their largest value (255, 65535); float32 stays float32, other
    floats become float64.

    Examples
    --------
    >>> import numpy as np
    >>> as_strength(np.array([[0, 51]], dtype=np.uint8))
    array([[0. , 0.2]])
    """
    array = as_array(data, name)
    check_dimensions(array, name)
    if array.dtype == np.bool_:
        return np.ascontiguousarray(array, dtype=np.float64)
    if array.dtype.kind == "u":
        return np.ascontiguousarray(array / np.float64(256**array.itemsize - 1))
    if array.dtype.kind not in "fi":
        raise InputError(f"{name} must hold numbers in [0, 1], got dtype {array.dtype}")
    result: FloatArray
    if array.dtype == np.float32:
        result = np.ascontiguousarray(array, dtype=np.float32)
    else:
        result = np.ascontiguousarray(array, dtype=np.float64)
    low, high = float(result.min()), float(result.max())
    if math.isnan(low) or math.isnan(high):
        raise InputError(f"{name} holds NaN", remedy="replace it (for instance by 0) before it is judged")
    if low < 0 or high > 1:
        remedy = "take the sigmoid of logits" if low < 0 else "divide by its maximum, or give an 8-bit array"
        raise InputError(f"{name} must lie in [0, 1], got values from {low:g} to {high:g}", remedy=remedy)
    return result


def as_spacing(spacing: Spacing, ndim: int) -> tuple[float, ...]:
    """Return one positive pixel size per axis; ``None`` means 1 everywhere.

    Examples
    --------
    >>> as_spacing(0.5, 2)
    (0.5, 0.5)
    """
    if spacing is None:
        return (1.0,) * ndim
    try:
        sizes = tuple(float(size) for size in np.atleast_1d(np.asarray(spacing, dtype=float)))
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"spacing must be one number or one per axis, got {spacing!r}") from error
    if len(sizes) == 1:
        sizes *= ndim
    if len(sizes) != ndim:
        raise InputError(f"spacing must have {ndim} numbers, one per axis, got {len(sizes)}")
    if not all(1e-100 < size < 1e100 for size in sizes):  # so that squares neither vanish nor overflow
        raise InputError(f"spacing must be positive and finite, got {spacing!r}")
    return sizes


def diagonal(shape: Sequence[int], spacing: Sequence[float]) -> float:
    """Return the diagonal sqrt(Σ (nᵢ·spacingᵢ)²) of an array, in pixels or physical units."""
    return math.sqrt(sum((n * size) ** 2 for n, size in zip(shape, spacing, strict=True)))


def as_tolerance(
    shape: Sequence[int],
    spacing: Sequence[float],
    tolerance: float | None = None,
    relative_tolerance: float | None = None,
) -> float:
    """Return the largest distance that still counts as a match, in pixels or physical units.

    `tolerance` is absolute, `relative_tolerance` a fraction of the diagonal (default 0.0075).

    Examples
    --------
    >>> round(as_tolerance((321, 481), (1, 1)), 3)
    4.337
    """
    if tolerance is not None and relative_tolerance is not None:
        raise InputError("give tolerance (absolute) or relative_tolerance (share of the diagonal), not both")
    if tolerance is not None:
        return as_distance(tolerance, "tolerance")
    share = DEFAULT_RELATIVE_TOLERANCE if relative_tolerance is None else relative_tolerance
    share = as_distance(share, "relative_tolerance")
    if share > 1:
        raise InputError(
            f"relative_tolerance is a share of the diagonal, at most 1, got {share:g}",
            remedy="give pixels as tolerance",
        )
    return share * diagonal(shape, spacing)


def as_distance(value: Any, name: str) -> float:
    """Return a distance, a finite number ≥ 0."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} must be a number, got {shown(value)}") from error
    if not (math.isfinite(number) and number >= 0):
        raise InputError(f"{name} must be a finite number ≥ 0, got {value!r}")
    return number


def check_dimensions(array: NDArray[Any], name: str) -> None:
    """Refuse what is neither an image nor a volume, or has no pixels."""
    if array.ndim not in (2, 3):
        raise InputError(
            f"{name} must have 2 or 3 dimensions, (plane,) row, column, got shape {array.shape}",
            remedy="for a colour image or a batch pass one channel or one item at a time",
        )
    if array.size == 0:
        raise InputError(f"{name} has no pixels: its shape is {array.shape}")


def _two_valued(array: NDArray[Any], name: str) -> BoolArray:
    if array.dtype.kind not in "iuf":
        raise InputError(f"{name} must be boolean or hold 0/1 or 0/255, got dtype {array.dtype}")
    high = float(array.max())
    if math.isnan(high):
        raise InputError(f"{name} holds NaN", remedy="a binary map holds 0/1, 0/255 or booleans")
    on: BoolArray = array == high if high in (1.0, 255.0) else np.zeros(array.shape, dtype=np.bool_)
    if not np.array_equal(on, array != 0):
        raise _not_binary(array, name)
    return on


def _not_binary(array: NDArray[Any], name: str) -> NotBinaryError:
    values = np.unique(array)
    shown = ", ".join(f"{value:g}" for value in values[:4]) + (", …" if values.size > 4 else "")
    return NotBinaryError(
        f"{name} must be binary (booleans, 0/1 or 0/255), got {values.size} values ({shown})",
        remedy="threshold it first, for instance strength >= 0.5",
    )
