"""Measures of the volumes of two objects (areas in a plane), wherever they lie."""

from __future__ import annotations

import math

from edgecritic.measures.base import FORMULA, Empty, measure
from edgecritic.measures.evidence import Comparison

__all__ = ["volume_difference", "relative_volume_difference", "volume_similarity"]

FAMILY = "volumes"
REFERENCE = "Taha & Hanbury 2015, BMC Medical Imaging 15:29"


@measure(
    "volume_difference",
    symbol="|ΔV|",
    family=FAMILY,
    reference=REFERENCE,
    better="lower",
    range=(0, math.inf),
    symmetric=True,
    sees="both",
    empty=Empty(both=0.0, candidate=FORMULA, truth=FORMULA),
    needs="confusion",
    default=False,
    units="volume",
)
def volume_difference(comparison: Comparison, /, *, signed: bool = False) -> float:
    """Return the difference |V(candidate) − V(truth)| of the volumes.

    It is in cubes of the unit of `spacing` (squares in a plane), else in voxels. Objects of one size that
    do not meet have the difference 0. `signed` leaves the sign, positive where the candidate is larger;
    then 0 is best and not the least.

    Examples
    --------
    >>> volume_difference([[1, 1, 0, 0]], [[1, 0, 1, 1]], spacing=0.5)
    0.25
    >>> volume_difference([[1, 1, 0, 0]], [[1, 0, 1, 1]], signed=True)
    -1.0
    """
    voxels = comparison.n_candidate - comparison.n_truth
    return (voxels if signed else abs(voxels)) * math.prod(comparison.spacing)


@measure(
    "relative_volume_difference",
    symbol="RVD",
    family=FAMILY,
    reference=REFERENCE,
    better="lower",
    range=(0, math.inf),
    symmetric=False,
    sees="both",
    empty=Empty(both=0.0, candidate=FORMULA, truth=math.inf),
    needs="confusion",
    default=False,
)
def relative_volume_difference(comparison: Comparison, /, *, signed: bool = False) -> float:
    """Return the difference of the volumes as a share of the truth's, |V(candidate) − V(truth)| / V(truth).

    `signed` leaves the sign, positive where the candidate is larger; then 0 is best and not the least.

    Examples
    --------
    >>> relative_volume_difference([[1, 1, 0, 0]], [[1, 0, 1, 1]])
    0.3333333
    """
    share = (comparison.n_candidate - comparison.n_truth) / comparison.n_truth
    return share if signed else abs(share)


@measure(
    "volume_similarity",
    symbol="VS",
    family=FAMILY,
    reference=REFERENCE,
    better="higher",
    range=(0, 1),
    symmetric=True,
    sees="both",
    empty=Empty(both=1.0, candidate=0.0, truth=0.0),
    needs="confusion",
    default=False,
)
def volume_similarity(comparison: Comparison, /) -> float:
    """Return 1 − |V(candidate) − V(truth)| / (V(candidate) + V(truth)).

    This is the greatest `dice` that objects of these volumes can have.

    Examples
    --------
    >>> volume_similarity([[1, 1, 0, 0]], [[1, 0, 1, 1]])
    0.8
    """
    first, second = comparison.n_candidate, comparison.n_truth
    return 1 - abs(first - second) / (first + second)
