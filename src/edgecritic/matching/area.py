"""Area based matching: the two maps are dilated and their areas compared."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, as_mask, as_pair
from edgecritic.kernels.grid import longest
from edgecritic.matching.base import Matching, Pair, strategy
from edgecritic.matching.distance import within

__all__ = ["area", "match_area"]


@strategy(
    "area",
    one_to_one=False,
    reach="radius",
    reference="area-based matching in the survey of boundary matching by the group of C. Lopez-Molina",
    areas=True,
)
def area(pair: Pair, *, element: str = "disk") -> Matching:
    """Dilate both maps by the tolerance and compare the areas.

    With A and B the dilations of candidate and truth: TP = |A ∩ B|, FP = |A| − TP, FN = |B| − TP, all
    in pixels of area. `matched_candidate` are the candidate's pixels in B, `matched_truth` the truth's in A.
    Time is proportional to the number of pixels of the image, whatever the tolerance t.

    Parameters
    ----------
    pair : Pair
    element : "disk", "square" or "cross"
        The structuring element: offsets no longer than t (``disk``), no longer than t along each axis
        (``square``), or no longer than t and along one axis (``cross``).

    Notes
    -----
    FP and FN are interchanged in the printed source; F is not affected.

    Examples
    --------
    >>> import numpy as np
    >>> from edgecritic.matching import match
    >>> truth = np.zeros((5, 7), bool)
    >>> truth[2, 2] = True
    >>> found = match(np.roll(truth, 1, axis=1), truth, strategy="area", tolerance=1)
    >>> found.tp, found.fp, found.fn
    (2, 3, 3)
    """
    if element not in ("disk", "square", "cross"):
        raise InputError(f"element must be 'disk', 'square' or 'cross', got {element!r}")
    return _compare(pair, _dilated(pair.candidate, pair, element), _dilated(pair.truth, pair, element))


def match_area(candidate: Any, truth: Any, element: Any) -> Matching:
    """Compare the areas of two maps after dilation by any structuring element.

    Parameters
    ----------
    candidate, truth : array_like, 2-D or 3-D
    element : array_like
        Binary, as many dimensions as the maps; its middle pixel is the origin.

    Returns
    -------
    Matching
        Without a tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> match_area(np.eye(4, dtype=bool), np.eye(4, dtype=bool), np.ones((3, 3))).tp
    14
    """
    from scipy.ndimage import binary_dilation

    first, second = as_pair(candidate, truth)
    structure = as_mask(element, "element")
    if structure.ndim != first.ndim:
        raise InputError(f"element must have {first.ndim} dimensions like the maps, got {structure.ndim}")
    pair = Pair(first, second, (1.0,) * first.ndim, 0.0, strategy="area", windowed=True)
    grown = (binary_dilation(first, structure), binary_dilation(second, structure))
    return _compare(pair, *grown)


def _compare(pair: Pair, first: BoolArray, second: BoolArray) -> Matching:
    shared = int(np.count_nonzero(first & second))
    return Matching.from_counts(
        pair,
        tp=shared,
        fp=int(np.count_nonzero(first)) - shared,
        fn=int(np.count_nonzero(second)) - shared,
        matched_candidate=pair.candidate & second,
        matched_truth=pair.truth & first,
    )


def _dilated(mask: BoolArray, pair: Pair, element: str) -> BoolArray:
    if element == "disk":
        return within(mask, pair.spacing, pair.tolerance)
    reach = [math.floor(longest(pair.tolerance) / size) for size in pair.spacing]
    grown = mask
    for axis, steps in enumerate(reach):
        if element == "square":
            grown = _spread(grown, axis, steps)
        else:
            grown = grown | _spread(mask, axis, steps)
    return grown


def _spread(mask: BoolArray, axis: int, steps: int) -> BoolArray:
    """Return the pixels with a pixel of `mask` at most `steps` away along `axis`."""
    n = mask.shape[axis]
    steps = min(steps, n - 1)
    margin = [(steps + 1, steps) if a == axis else (0, 0) for a in range(mask.ndim)]
    sums = np.cumsum(np.pad(mask, margin), axis=axis, dtype=np.int64)
    window = 2 * steps + 1
    high = np.take(sums, np.arange(window, window + n), axis=axis)
    low = np.take(sums, np.arange(n), axis=axis)
    return np.greater(high, low)
