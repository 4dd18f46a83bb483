"""Distance based matching: a pixel is matched if the other map comes within the tolerance."""

from __future__ import annotations

import numpy as np

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray
from edgecritic.matching.base import Matching, Pair, strategy
from edgecritic.matching.transform import distance_transform

__all__ = ["distance", "within"]

_SLACK = 1 + 1e-9


def within(mask: BoolArray, spacing: tuple[float, ...], tolerance: float) -> BoolArray:
    """Return the pixels not farther than `tolerance` from `mask`: its dilation by a ball.

    A relative slack of 1e-9 absorbs rounding.

    Examples
    --------
    >>> import numpy as np
    >>> within(np.array([[True, False, False]]), (1.0, 1.0), 1.0)
    array([[ True,  True, False]])
    """
    return np.less_equal(distance_transform(mask, spacing), tolerance * _SLACK)


@strategy(
    "distance",
    one_to_one=False,
    reach="radius",
    reference="C. Lopez-Molina et al.: Boundary matching strategies, distance-based matching",
)
def distance(pair: Pair, *, recall: str = "confusion") -> Matching:
    """Match every pixel that has a pixel of the other map within the tolerance.

    TP = #{p ∈ C : d(p, T) ≤ t}, FP = |C| − TP, FN = #{p ∈ T : d(p, C) > t} for a candidate C and a truth T.
    Many candidate pixels may stand for one truth pixel. Time is proportional to the number of pixels of
    the image, whatever the tolerance.

    Parameters
    ----------
    pair : Pair
    recall : "confusion" or "gt"
        ``confusion``: TP / (TP + FN), which mixes candidate and truth pixels as the source does.
        ``gt``: 1 − FN / |T|, which makes F symmetric in the two maps.

    Examples
    --------
    >>> import numpy as np
    >>> from edgecritic.matching import match
    >>> truth = np.zeros((6, 9), bool)
    >>> truth[3, 1:8] = True
    >>> match(np.roll(truth, 2, axis=0), truth, strategy="distance", tolerance=1).tp
    0
    >>> match(np.roll(truth, 2, axis=0), truth, strategy="distance", tolerance=2).f()
    1.0
    """
    if recall not in ("confusion", "gt"):
        raise InputError(f"recall must be 'confusion' or 'gt', got {recall!r}")
    hits = pair.candidate & within(pair.truth, pair.spacing, pair.tolerance)
    found = pair.truth & within(pair.candidate, pair.spacing, pair.tolerance)
    size = int(np.count_nonzero(pair.truth))
    tp, n_found = int(np.count_nonzero(hits)), int(np.count_nonzero(found))
    share = n_found / size if size else 0.0
    return Matching.from_counts(
        pair,
        tp=tp,
        fp=int(np.count_nonzero(pair.candidate)) - tp,
        fn=size - n_found,
        recall=share if recall == "gt" else None,
        matched_candidate=hits,
        matched_truth=found,
    )
