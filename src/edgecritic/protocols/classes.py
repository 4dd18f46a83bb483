"""How label images become the boundaries of classes, and which of them count: a part of a protocol."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray
from edgecritic.maps.classes import MOST_CLASSES, boundary_bits
from edgecritic.values import Value

__all__ = [
    "ClassRules",
    "SBD_CLASSES",
    "CITYSCAPES_CLASSES",
    "as_class_rules",
    "nearest_indices",
    "scaled_labels",
    "truth_maps",
]

SBD_CLASSES = (
    *("aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow"),
    *("diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train"),
    "tvmonitor",
)
"""The classes of SBD and PASCAL VOC; their labels are 1 to 20."""

CITYSCAPES_CLASSES = {
    "road": 7,
    "sidewalk": 8,
    "building": 11,
    "wall": 12,
    "fence": 13,
    "pole": 17,
    "traffic light": 19,
    "traffic sign": 20,
    "vegetation": 21,
    "terrain": 22,
    "sky": 23,
    "person": 24,
    "rider": 25,
    "car": 26,
    "truck": 27,
    "bus": 28,
    "train": 31,
    "motorcycle": 32,
    "bicycle": 33,
}
"""The classes of Cityscapes that are judged, with their label ids; ids run from 0 to 33."""

_CHOICES = {
    "truth": ("stored", "labels"),
    "scaled": ("labels", "boundaries"),
    "internal": ("count", "remove"),
    "absent": ("count", "skip"),
}


class ClassRules(Value):
    """How a protocol judges the boundaries of classes.

    Attributes
    ----------
    names : tuple of str
        The classes, in the order of their numbers: the first is that of ``class_001`` and of bit 0.
    labels : tuple of int
        Their values in label images; 1, 2, … if absent.
    others : tuple of int
        Further values that label images may have: background.
    ignored : tuple of int
        Values at which there is no boundary, because it is unknown what is there.
    truth : "stored" or "labels"
        Whether truths are the boundaries that a file stores, or those of its label image.
    instances : bool
        Whether there are boundaries between two objects of one class.
    radius : float
        Of the boundaries of label images: see `edgecritic.maps.classes.class_boundaries`.
    thin : bool
        Whether truths are thinned.
    frame : int
        So many outermost rows and columns of a label image are ignored.
    crop : int
        So many outermost rows and columns are cut off both maps; the tolerance is that of what is left.
    scale : float
        Truths are judged at this share of the size of their label images (nearest pixel).
    scaled : "labels" or "boundaries"
        Whether the label image is scaled, or its boundaries are.
    internal : "count" or "remove"
        Whether candidate pixels inside a region of their class, farther from its boundary than the
        tolerance, are false alarms, or are left out after thinning.
    absent : "count" or "skip"
        Whether candidates count as false alarms in an image without boundaries of their class, or the image
        is left out for this class.
    judged : tuple of str
        The names of the classes that are judged; all of them if there is none.

    Examples
    --------
    >>> rules = ClassRules(names=("road", "car"), labels=(7, 26), others=(0,))
    >>> rules.instances, rules.radius
    (False, 2.0)
    """

    names: tuple[str, ...]
    labels: tuple[int, ...] = ()
    others: tuple[int, ...] = (0,)
    ignored: tuple[int, ...] = ()
    truth: str = "labels"
    instances: bool = False
    radius: float = 2.0
    thin: bool = False
    frame: int = 0
    crop: int = 0
    scale: float = 1.0
    scaled: str = "labels"
    internal: str = "count"
    absent: str = "count"
    judged: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("names", "labels", "others", "ignored", "judged"):
            object.__setattr__(self, name, _row(getattr(self, name), name))
        if not self.labels:
            object.__setattr__(self, "labels", tuple(range(1, len(self.names) + 1)))
        self._check_lists()
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                raise InputError(
                    f"{name} of classes must be one of {', '.join(known)}, got {getattr(self, name)!r}"
                )
        for name in ("instances", "thin"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name} of classes must be true or false, got {getattr(self, name)!r}")
        for name, low, high in (("radius", 1, 16), ("frame", 0, 1000), ("crop", 0, 1000), ("scale", 0.01, 1)):
            value = getattr(self, name)
            whole = name in ("frame", "crop")
            kind = int if whole else int | float
            if isinstance(value, bool) or not isinstance(value, kind) or not low <= value <= high:
                raise InputError(
                    f"{name} of classes must be a {'whole ' if whole else ''}number in {low} … {high}, "
                    f"got {value!r}"
                )

    def _check_lists(self) -> None:
        if not 0 < len(self.names) <= MOST_CLASSES or not all(
            isinstance(one, str) and one for one in self.names
        ):
            raise InputError(f"classes need 1 to {MOST_CLASSES} names, got {len(self.names)}")
        if len(self.labels) != len(self.names):
            raise InputError(f"{len(self.names)} classes need as many labels, got {len(self.labels)}")
        numbers = (*self.labels, *self.others, *self.ignored)
        if not all(isinstance(one, int) and not isinstance(one, bool) for one in numbers):
            raise InputError("labels, others and ignored of classes must be whole numbers")
        if len(set(self.names)) < len(self.names) or len(set(numbers)) < len(numbers):
            raise InputError("names of classes must differ, and so must labels, others and ignored")
        for name in self.judged:
            if name not in self.names:
                self._place(str(name))
                raise InputError(f"judged classes are given by name, got {name!r}")

    @property
    def chosen(self) -> dict[str, int]:
        """The numbers (1, 2, …) of the classes that are judged, by name."""
        return {
            name: place + 1 for place, name in enumerate(self.names) if name in (self.judged or self.names)
        }

    def only(self, chosen: Sequence[str]) -> ClassRules:
        """Return the rules that judge some of the classes, given by name or number (1, 2, …)."""
        places = {self._place(one) for one in chosen}
        return replace(self, judged=tuple(name for place, name in enumerate(self.names) if place in places))

    def _place(self, name: str) -> int:
        if name in self.names:
            return self.names.index(name)
        if name.isascii() and name.isdigit() and 1 <= int(name) <= len(self.names):
            return int(name) - 1
        near = difflib.get_close_matches(name, self.names, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"no class is called {name!r}{hint} (there are: {', '.join(self.names)})")


def as_class_rules(given: Any, base: ClassRules | None = None) -> ClassRules | None:
    """Return rules of a mapping of their fields; what it does not say is taken from `base`."""
    if given is None or isinstance(given, ClassRules):
        return given
    if not isinstance(given, Mapping):
        raise InputError(f"classes of a protocol must be a table of their rules, got {given!r}")
    known = [field.name for field in fields(ClassRules)]
    for key in given:
        if key not in known:
            raise InputError(
                f"classes of a protocol have no field {key!r} (their fields: {', '.join(known)})"
            )
    if base is not None:
        return replace(base, **given)
    if "names" not in given:
        raise InputError('classes of a protocol need names: add a line such as names = ["road", "car"]')
    return ClassRules(**given)


def truth_maps(
    rules: ClassRules, *, labels: Any = None, instances: Any = None, stored: Any = None
) -> dict[str, BoolArray]:
    """Return the boundaries of every class that is judged as the rules want them, before `crop`.

    Parameters
    ----------
    rules : ClassRules
    labels, instances : (rows, columns) integer arrays, optional
        The class and the object of every pixel.
    stored : (classes, rows, columns) bool array, or mapping of class number to map, optional
        Boundaries that were drawn or made before, of which those not there are empty.

    Raises
    ------
    InputError
        If a label is not in the list, or what the rules need is missing.

    Examples
    --------
    >>> rules = ClassRules(names=("road", "car"), radius=1.0)
    >>> {name: int(one.sum()) for name, one in truth_maps(rules, labels=np.array([[1, 1, 0, 0]])).items()}
    {'road': 2, 'car': 0}
    """
    from edgecritic.maps.thinning import thin

    if labels is not None:
        check_labels(rules, np.asarray(labels))
    if rules.truth == "stored" and stored is None:
        raise InputError(
            "holds labels only, but this protocol takes boundaries as they are stored",
            remedy="give files that hold them (cls/*.mat, inst/*.mat), or take one such as sbd-seal-raw",
        )
    if stored is not None and (rules.truth == "stored" or labels is None):
        maps = _stored_maps(rules, stored)
        slim = rules.thin and rules.truth == "stored"
    else:
        maps = _maps_of_labels(rules, labels, instances)
        slim = rules.thin
    return {name: thin(one) if slim and one.any() else one for name, one in maps.items()}


def _stored_maps(rules: ClassRules, stored: Any) -> dict[str, BoolArray]:
    if not isinstance(stored, Mapping):
        if len(stored) != len(rules.names):
            raise InputError(f"holds maps of {len(stored)} classes, but the protocol has {len(rules.names)}")
        stored = {place + 1: one for place, one in enumerate(stored)}
    if not stored or max(stored) > len(rules.names):
        raise InputError(
            f"holds boundaries of class {max(stored, default=0)}, the protocol has {len(rules.names)} classes"
        )
    empty = np.zeros_like(next(iter(stored.values())), dtype=np.bool_)
    return {
        name: np.asarray(stored.get(number, empty), dtype=np.bool_) for name, number in rules.chosen.items()
    }


def _maps_of_labels(rules: ClassRules, labels: Any, instances: Any) -> dict[str, BoolArray]:
    if labels is None:
        raise InputError("holds neither labels nor boundaries of classes")
    if rules.instances and instances is None:
        raise InputError(
            "tells no objects of one class apart, but the protocol has boundaries between them",
            remedy="give instance maps (inst/*.mat, *_instanceIds.png), or take the protocol without -inst",
        )
    if rules.instances and np.shape(instances) != np.shape(labels):
        raise InputError(
            f"instances must have the shape of the labels {np.shape(labels)}, got {np.shape(instances)}"
        )
    pixels = None if rules.scale == 1 else _grid(np.shape(labels), rules.scale)
    if pixels is not None and rules.scaled == "labels":
        labels = np.asarray(labels)[pixels]
        instances = np.asarray(instances)[pixels] if rules.instances else None
    bits = boundary_bits(
        labels,
        rules.labels,
        instances=instances if rules.instances else None,
        radius=rules.radius,
        ignored=rules.ignored,
        frame=rules.frame,
    )
    if pixels is not None and rules.scaled == "boundaries":
        bits = bits[pixels]
    return {name: np.not_equal(bits & np.uint64(1 << number - 1), 0) for name, number in rules.chosen.items()}


def check_labels(rules: ClassRules, labels: NDArray[Any]) -> None:
    """Refuse labels that the rules do not know."""
    if labels.dtype.kind not in "biu":
        raise InputError(f"labels must be whole numbers, got {labels.dtype}")
    known = np.array(sorted({*rules.labels, *rules.others, *rules.ignored}))
    found = np.flatnonzero(np.bincount(labels.ravel())) if labels.dtype == np.uint8 else np.unique(labels)
    odd = np.setdiff1d(found, known)
    if odd.size:
        shown = ", ".join(map(str, odd[:5])) + (", …" if odd.size > 5 else "")
        raise InputError(
            f"has label(s) {shown} that the protocol does not know (it knows {_runs(known)})",
            remedy="map them to the protocol's labels, or name them in others or ignored of its classes",
        )


def _runs(numbers: NDArray[np.int64]) -> str:
    """Name rising numbers, runs of them by their ends.

    Examples
    --------
    >>> _runs(np.array([0, 1, 2, 7, 9]))
    '0 to 2, 7, 9'
    """
    parts = np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1)
    return ", ".join(str(part[0]) if part.size == 1 else f"{part[0]} to {part[-1]}" for part in parts)


def scaled_labels(rules: ClassRules, labels: NDArray[Any]) -> NDArray[Any]:
    """Return a label image at the scale of the truths that are made of it.

    Examples
    --------
    >>> scaled_labels(ClassRules(names=("road",), scale=0.5), np.array([[0, 0, 1, 1], [0, 0, 1, 1]]))
    array([[0, 1]])
    """
    if rules.scale == 1 or rules.truth == "stored":
        return labels
    part: NDArray[Any] = labels[_grid(labels.shape, rules.scale)]
    return part


def nearest_indices(size: int, wanted: int) -> NDArray[np.int64]:
    """Return which of `size` samples is nearest to each of `wanted`: ⌊(i + ½) · size / wanted⌋.

    Examples
    --------
    >>> nearest_indices(8, 4)
    array([1, 3, 5, 7])
    """
    return (2 * np.arange(wanted, dtype=np.int64) + 1) * size // (2 * wanted)


def _grid(shape: tuple[int, ...], scale: float) -> Any:
    return np.ix_(*(nearest_indices(size, math.ceil(size * scale)) for size in shape))


def _row(given: Any, name: str) -> tuple[Any, ...]:
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise InputError(f"{name} of classes must be a list, got {given!r}")
    return tuple(given)
