"""What people store in `.mat` files: annotators' maps, contour maps, segmentations, one matrix."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from numpy.typing import NDArray

from edgecritic.datasets import _matlab5
from edgecritic.datasets._guard import ONE_ARRAY
from edgecritic.datasets.class_maps import ClassMaps
from edgecritic.datasets.formats.base import file_format
from edgecritic.errors import DataError
from edgecritic.maps.boundaries import label_boundaries

__all__ = [
    "Node",
    "opened",
    "matrix",
    "strength_matrix",
    "truth_matrices",
    "segmentations",
    "hierarchy",
    "holds_segmentations",
    "class_maps",
]

_HDF5 = b"\x89HDF\r\n\x1a\n"


class Node(Protocol):
    """A variable or a value inside one, of either generation of the format."""

    @property
    def name(self) -> str:
        """The variable's name."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Its size along each axis."""
        ...

    @property
    def is_cell(self) -> bool:
        """Whether it is a cell array."""
        ...

    @property
    def is_struct(self) -> bool:
        """Whether it is a struct."""
        ...

    @property
    def is_numeric(self) -> bool:
        """Whether `array` can decode it."""
        ...

    def array(self) -> NDArray[Any]:
        """Return its numbers."""
        ...

    def cells(self) -> Iterator[Node]:
        """Go through the values of a cell array."""
        ...

    @property
    def field_names(self) -> Collection[str]:
        """The names of the fields of an array of structs."""
        ...

    def structs(self, *fields: str) -> Iterator[dict[str, Any]]:
        """Go through an array of structs, looking at `fields` only."""
        ...


@contextmanager
def opened(data: bytes, *, verify: bool = True) -> Iterator[Iterator[Node]]:
    """Give the variables of a `.mat` file of version 5, 6, 7 or 7.3; they live as long as the context.

    Checksums are verified when the context ends, unless `verify` is false.
    """
    if data.startswith(_HDF5) or data[512:520] == _HDF5:
        from edgecritic.datasets._matlab73 import opened as opened_73

        with opened_73(data) as found:
            yield found
    else:
        with _matlab5.opened(data, verify=verify) as values:
            yield values


def strength_matrix(data: bytes, key: str | None = None) -> NDArray[Any]:
    """Return a soft map; a double-sized contour map (`ucm2`) is sampled down to the image's size."""
    with opened(data) as found:
        node = _choose(found, key, _is_numeric_map, preferred="ucm2", refused="segs")
        array = node.array()
        return array[2::2, 2::2] if node.name == "ucm2" else array


def truth_matrices(data: bytes, key: str | None) -> Iterator[NDArray[Any]]:
    """Go through the annotators' maps of a BSDS-like file, or the only matrix of another one."""
    with opened(data) as found:
        node = _choose(
            found, key, lambda node: node.is_cell or _is_numeric_map(node), preferred="groundTruth"
        )
        yield from _annotators(node)


def segmentations(data: bytes, key: str | None = None) -> Iterator[NDArray[Any]]:
    """Go through the label images of a cell array (`segs`), or of a BSDS truth's `Segmentation` fields."""
    with opened(data) as found:
        node = _choose(found, key, lambda node: node.is_cell, preferred="segs")
        for item in node.cells():
            yield _labels(item)


def hierarchy(data: bytes) -> NDArray[Any]:
    """Return the contour strengths on the grid of twice the size, `ucm2`."""
    with opened(data) as nodes:
        found = next((node for node in nodes if node.name == "ucm2" and node.is_numeric), None)
        if found is None:
            raise DataError("holds neither a hierarchy of contours (`ucm2`) nor segmentations (`segs`)")
        return found.array()


def holds_segmentations(data: bytes) -> bool:
    """Tell whether there is a cell array `segs`."""
    with opened(data, verify=False) as nodes:
        return any(node.name == "segs" and node.is_cell for node in nodes)


def class_maps(data: bytes, key: str | None = None) -> ClassMaps:
    """Return labels and boundaries of SBD (`GTcls`, `GTinst`), or those that the only matrix holds."""
    with opened(data) as found:
        nodes = list(found)
        for node in nodes:
            if node.name in ("GTcls", "GTinst") and node.is_struct and key in (None, node.name):
                return _sbd(node)
        return ClassMaps.of_array(_choose(iter(nodes), key, _is_numeric_map).array())


def _sbd(node: Node) -> ClassMaps:
    fields = next(node.structs("Segmentation", "Boundaries", "Categories"), {})
    if not {"Segmentation", "Boundaries"} <= set(fields) or not fields["Boundaries"].is_cell:
        raise DataError(f"holds {node.name} without `Segmentation` and `Boundaries`")
    segmentation = fields["Segmentation"].array()
    maps = [cell.array() != 0 for cell in fields["Boundaries"].cells()]
    if any(one.shape != segmentation.shape for one in maps):
        raise DataError(f"holds boundaries of another size than its segmentation {segmentation.shape}")
    if node.name == "GTcls":
        labels = ClassMaps.of_array(segmentation).labels
        return ClassMaps(labels=labels, stored=dict(enumerate(maps, start=1)))
    if "Categories" not in fields:
        raise DataError("holds GTinst without `Categories`")
    return ClassMaps.of_instances(segmentation, fields["Categories"].array().ravel(), maps)


@file_format(
    "mat",
    suffixes=(".mat",),
    summary="annotators' maps (`groundTruth`), a contour map (`ucm2`), segmentations (`segs`), classes "
    "(`GTcls`, `GTinst`), or one matrix",
    checksums="Adler-32 of every variable that was looked at (version 7), those it was saved with (7.3)",
    truths=truth_matrices,
    strength=strength_matrix,
    labels=segmentations,
    hierarchy=hierarchy,
    holds_labels=holds_segmentations,
    classes=class_maps,
)
def matrix(data: bytes, key: str | None = None) -> NDArray[Any]:
    """Return the numbers of variable `key`, or of the only numeric variable with 2 or 3 axes."""
    with opened(data) as found:
        return _choose(found, key, _is_numeric_map).array()


def _labels(item: Node) -> NDArray[Any]:
    labels = next(item.structs("Segmentation"), {}).get("Segmentation") if item.is_struct else item
    if labels is None or not labels.is_numeric:
        raise DataError("holds cells that are no label images (`segs` or `Segmentation` expected)")
    array: NDArray[Any] = labels.array()
    return array


def _annotators(node: Node) -> Iterator[NDArray[Any]]:
    if node.is_cell:
        for item in node.cells():
            yield from _annotators_of_item(item)
    else:
        yield from _annotators_of_item(node)


def _annotators_of_item(node: Node) -> Iterator[NDArray[Any]]:
    if not node.is_struct:
        yield node.array()
        return
    wanted = "Boundaries" if "Boundaries" in node.field_names else "Segmentation"
    for fields in node.structs(wanted):
        if wanted not in fields:
            raise DataError("holds a struct with neither `Boundaries` nor `Segmentation`")
        array = fields[wanted].array()
        yield array if wanted == "Boundaries" else label_boundaries(array)


def _is_numeric_map(node: Node) -> bool:
    return node.is_numeric and len(node.shape) in (2, 3) and min(node.shape) > 1


def _choose(
    variables: Iterator[Node],
    key: str | None,
    usable: Callable[[Node], bool],
    *,
    preferred: str = "",
    refused: str = "",
) -> Node:
    """Return the variable `key`, else the `preferred` one, else the only `usable` one."""
    found = []
    for node in variables:
        if node.name == (key or preferred):
            return node
        found.append(node)
    names = ", ".join(node.name for node in found if node.name) or "none"
    if key is not None:
        raise DataError(f"has no variable {key!r} (its variables: {names})")
    if refused and any(node.name == refused for node in found):
        raise DataError(f"holds segmentations ({refused!r}), not a soft map", remedy="use read_candidates")
    possible = [node for node in found if usable(node)]
    if len(possible) == 1:
        return possible[0]
    if possible:
        choices = ", ".join(node.name for node in possible)
        raise DataError(f"holds several variables that could be meant ({choices})", remedy=ONE_ARRAY)
    raise DataError(f"holds no variable that can be used here (its variables: {names})")
