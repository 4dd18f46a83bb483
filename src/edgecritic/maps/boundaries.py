"""From a segmentation (an image of labels) to the boundaries between its segments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray

__all__ = ["label_boundaries"]


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
