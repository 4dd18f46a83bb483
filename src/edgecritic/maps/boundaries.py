"""From a segmentation (an image of labels) to the boundaries between its segments."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, as_array, as_mask, check_dimensions

__all__ = ["TRUTH_RULES", "check_truth_rule", "inner_boundary", "label_boundaries", "truth_boundary"]

TRUTH_RULES = MappingProxyType(
    {
        "given": "the pixels that truths mark are their boundaries",
        "inner": "inner boundaries of the objects that truths mark or number; what is one pixel thin stays",
    }
)
"""What of a truth is its boundary, by the name of the rule."""


def label_boundaries(labels: NDArray[Any]) -> BoolArray:
    """Return the boundaries of a segmentation as a map of the image's size.

    Pixel (i, j) is set if two neighbours (left-right or up-down) inside the 2 × 2 block with top-left
    corner (i, j) have different labels. In the last row only the left-right change of that row counts,
    in the last column only the up-down one.

    Parameters
    ----------
    labels : array of shape (rows, columns)
        One label per pixel; only equality matters.

    Notes
    -----
    This is the 'imageSize' rule of the BSDS benchmark. The lines are up to two pixels wide; the
    benchmark thins them before it matches, and the `Boundaries` of BSDS500 are these maps, thinned.

    Examples
    --------
    >>> import numpy as np
    >>> label_boundaries(np.array([[1, 1, 2], [1, 1, 2], [3, 3, 3]])).astype(int)
    array([[0, 1, 0],
           [1, 1, 1],
           [0, 0, 0]])
    """
    if labels.ndim != 2:
        raise InputError(f"a segmentation must have 2 dimensions, got shape {labels.shape}")
    across = labels[:, 1:] != labels[:, :-1]
    down = labels[1:] != labels[:-1]
    result: BoolArray = np.zeros(labels.shape, dtype=np.bool_)
    result[:, :-1] |= across
    result[:-1] |= down
    result[:-1, :-1] |= across[1:] | down[:, 1:]
    return result


def inner_boundary(labels: Any) -> BoolArray:
    """Return the pixels of objects that have a neighbour across an edge (a face) with another label.

    Parameters
    ----------
    labels : array_like, 2-D or 3-D
        Whole numbers, one for every object, 0 for the background; or a binary map of one object.

    Returns
    -------
    bool array
        Voxels with a label other than 0 of whose 6 face neighbours (4 in an image) at least one has another
        label. Outside of the array there is nothing: an object that is cut off by the frame has no boundary
        there. Where two objects touch, both have their boundary, so that it is two voxels thick.

    Notes
    -----
    A surface that is one voxel thin is its own inner boundary, so that objects and surfaces may be given by
    the same rule; taken twice the rule changes nothing more.

    Examples
    --------
    >>> inner_boundary([[0, 0, 0, 0], [2, 2, 2, 0], [2, 2, 2, 0], [2, 2, 2, 2]]).astype(int)
    array([[0, 0, 0, 0],
           [1, 1, 1, 0],
           [0, 0, 1, 0],
           [0, 0, 0, 1]])
    """
    array = as_array(labels, "labels")
    check_dimensions(array, "labels")
    if array.dtype.kind not in "biuf" or (array.dtype.kind == "f" and not (array == np.rint(array)).all()):
        raise InputError(
            f"labels of objects must be whole numbers, got other values of {array.dtype}",
            remedy="cut grey truths at a share of their largest value: binarize=0.5 (--binarize 0.5)",
        )
    changes: BoolArray = np.zeros(array.shape, dtype=np.bool_)
    for axis in range(array.ndim):
        along, marked = np.moveaxis(array, axis, 0), np.moveaxis(changes, axis, 0)
        differs = along[1:] != along[:-1]
        marked[1:] |= differs
        marked[:-1] |= differs
    changes &= array != 0
    return changes


def check_truth_rule(rule: str, name: str = "surface") -> None:
    """Refuse what is no rule of :data:`TRUTH_RULES`; `name` is that of the argument."""
    if rule not in TRUTH_RULES:
        raise InputError(f"{name} must be one of {', '.join(TRUTH_RULES)}, got {rule!r}")


def truth_boundary(truth: Any, rule: str = "given") -> BoolArray:
    """Return the boundary of a truth by a rule of :data:`TRUTH_RULES`; ``given`` takes binary maps only."""
    return as_mask(truth, "truth") if rule == "given" else inner_boundary(as_array(truth, "truth"))
