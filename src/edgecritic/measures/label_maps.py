"""Label maps: which labels are meant, where they are, and how they are cut out."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, as_array
from edgecritic.values import Value

__all__ = ["Box", "Label", "LabelMap", "Labels", "as_labels", "union_box"]

Box = tuple[slice, ...]

_MOST_NUMBERS = 2**16
"""Labels above this number are numbered anew before their boxes are looked for."""


class Label(Value):
    """One object of label maps.

    Attributes
    ----------
    name : str
    values : tuple of int
        The numbers of its pixels; several make one object of their union.
    tolerance : float or None
        Of all measures that have a tolerance and do not name it in their id.
    """

    name: str
    values: tuple[int, ...]
    tolerance: float | None = None

    def __str__(self) -> str:
        return self.name


class Labels(Value):
    """Which labels are judged.

    Attributes
    ----------
    wanted : tuple of Label or None
        ``None`` for every number but 0 that occurs in a case.
    ignore : int or None
        Pixels whose truth has this number count nowhere.
    """

    wanted: tuple[Label, ...] | None = None
    ignore: int | None = None

    @property
    def own_tolerances(self) -> bool:
        """Whether a label has a tolerance of its own; ids of measures then do not name one for all."""
        return any(label.tolerance is not None for label in self.wanted or ())

    @classmethod
    def from_toml(cls, text: str) -> Labels:
        """Read names, numbers, tolerances and the label to ignore.

        Examples
        --------
        >>> found = Labels.from_toml('''
        ... ignore = 255
        ... [labels.liver]
        ... value = 1
        ... tolerance = 3
        ... [labels."whole tumour"]
        ... value = [2, 3]
        ... ''')
        >>> [(each.name, each.values, each.tolerance) for each in found.wanted], found.ignore
        ([('liver', (1,), 3.0), ('whole tumour', (2, 3), None)], 255)
        """
        try:
            content = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise InputError(f"is no TOML: {error}") from error
        _check_keys(content, ("labels", "ignore"), "a file of labels")
        tables = content.get("labels")
        if not isinstance(tables, dict) or not tables:
            raise InputError('names no label; expected tables such as [labels.liver] with "value = 1"')
        ignore = content.get("ignore")
        return cls(
            wanted=tuple(_label_of(str(name), table) for name, table in tables.items()),
            ignore=None if ignore is None else _whole(ignore, "ignore"),
        )


class LabelMap:
    """A label map, where its labels are, and how it is cut into masks.

    Parameters
    ----------
    data : array_like, 2-D or 3-D
        Whole numbers; 0 is the background.
    name : str
        What to call it in messages.
    """

    def __init__(self, data: Any, name: str = "label map") -> None:
        self.array = _whole_numbers(as_array(data, name), name)
        self.boxes = _boxes(self.array)

    def box(self, label: Label) -> Box | None:
        """Return the smallest box that holds a label, ``None`` if it does not occur."""
        found = [self.boxes[value] for value in label.values if value in self.boxes]
        return union_box(found) if found else None

    def mask(self, label: Label, box: Box) -> BoolArray:
        """Return where a label is, within a box."""
        part = self.array[box]
        mask = part == label.values[0]
        for value in label.values[1:]:
            mask |= part == value
        return np.ascontiguousarray(mask)


def as_labels(given: Any) -> Labels:
    """Return which labels are meant: "all", numbers, names with numbers, or `Labels`.

    Examples
    --------
    >>> as_labels([1, 2]).wanted[1].name, as_labels({"tumour": [2, 3]}).wanted[0].values
    ('2', (2, 3))
    """
    if isinstance(given, Labels):
        return given
    if isinstance(given, str):
        return Labels() if given == "all" else as_labels(_numbers_of(given))
    if isinstance(given, Mapping):
        return Labels(wanted=tuple(_label_of(str(name), {"value": each}) for name, each in given.items()))
    numbers = list(given) if isinstance(given, Iterable) else [given]
    if not numbers:
        raise InputError('labels is empty; name at least one, or "all"')
    values = dict.fromkeys(_whole(each, "a label") for each in numbers)
    return Labels(wanted=tuple(Label(name=str(value), values=(value,)) for value in values))


def _numbers_of(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"labels must be all, numbers such as 1,2, or a file that ends with .toml, got {text!r}"
        ) from None


def _label_of(name: str, table: Any) -> Label:
    if not isinstance(table, Mapping):
        raise InputError(f'label {name!r} must be a table with "value = 1", got {table!r}')
    _check_keys(table, ("value", "tolerance"), f"label {name!r}")
    value = table.get("value")
    values = value if isinstance(value, list | tuple) else [value]
    if not values:
        raise InputError(f"label {name!r} has no number; give value = 1, or several as value = [1, 2]")
    limit = table.get("tolerance")
    if limit is not None and (
        isinstance(limit, bool) or not isinstance(limit, int | float) or not limit >= 0
    ):
        raise InputError(f"the tolerance of label {name!r} must be a number ≥ 0, got {limit!r}")
    return Label(
        name=name,
        values=tuple(_whole(each, f"the value of label {name!r}") for each in values),
        tolerance=None if limit is None else float(limit),
    )


def _check_keys(table: Mapping[str, Any], known: Sequence[str], what: str) -> None:
    for key in table:
        if key not in known:
            raise InputError(f"{what} has no entry {key!r}; the entries are {', '.join(known)}")


def _whole(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"{what} must be a whole number, got {value!r}")
    if value == 0:
        raise InputError(f"{what} is 0, which is the background of label maps; take another number")
    return int(value)


def _whole_numbers(array: NDArray[Any], name: str) -> NDArray[Any]:
    if array.ndim not in (2, 3) or array.size == 0:
        raise InputError(f"{name} must be a label map of 2 or 3 dimensions, got shape {array.shape}")
    if array.dtype.kind == "b":
        return array.view(np.uint8)
    if array.dtype.kind in "iu":
        return array
    if array.dtype.kind != "f":
        raise InputError(f"{name} must hold whole numbers as labels, got dtype {array.dtype}")
    if not np.isfinite(array).all() or np.abs(array).max() >= 2**53:
        raise InputError(f"{name} holds NaN or numbers beyond 2⁵³, which are no labels")
    whole = array.astype(np.int64)
    if not np.array_equal(whole, array):
        raise InputError(f"{name} must hold whole numbers as labels, it has others, such as grey values")
    return whole


def _boxes(array: NDArray[Any]) -> dict[int, Box]:
    """Return the smallest box around every number but 0, by number."""
    if array.flags.f_contiguous:
        return {name: box[::-1] for name, box in _boxes_of_rows(array.T).items()}
    return _boxes_of_rows(array)


def _boxes_of_rows(array: NDArray[Any]) -> dict[int, Box]:
    from scipy import ndimage

    names: Iterable[int]
    low, high = int(array.min()), int(array.max())
    start = (0,) * array.ndim
    if low < 0 or high > _MOST_NUMBERS:
        values, places = np.unique(array, return_inverse=True)
        names, numbers = values.tolist(), places.reshape(array.shape) + 1
    elif high == 0:
        return {}
    else:
        outer = _foreground(array)
        start = tuple(side.start for side in outer)
        names, numbers = range(1, high + 1), array[outer]
        numbers = numbers.astype(np.int64) if numbers.dtype == np.uint64 else numbers
    found = zip(names, ndimage.find_objects(numbers), strict=True)
    return {name: _moved(box, start) for name, box in found if box is not None and name != 0}


def _foreground(array: NDArray[Any]) -> Box:
    """Return the box of all numbers above 0, by two passes that processors do many numbers at a time in."""
    plane = array.max(axis=0)
    lines = [array.max(axis=tuple(range(1, array.ndim)))]
    lines += [plane] if array.ndim == 2 else [plane.max(axis=1), plane.max(axis=0)]
    ends = [np.flatnonzero(line)[[0, -1]] for line in lines]
    return tuple(slice(int(first), int(last) + 1) for first, last in ends)


def _moved(box: Box, start: Sequence[int]) -> Box:
    return tuple(slice(side.start + at, side.stop + at) for side, at in zip(box, start, strict=True))


def union_box(boxes: Iterable[Box]) -> Box:
    """Return the smallest box that holds several."""
    return tuple(
        slice(min(side.start for side in sides), max(side.stop for side in sides))
        for sides in zip(*boxes, strict=True)
    )
