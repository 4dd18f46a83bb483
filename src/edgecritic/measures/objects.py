"""Measures of filled objects beside their surfaces: the boundary band and the centre line."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgecritic.errors import MissingExtraError
from edgecritic.inputs import BoolArray, diagonal
from edgecritic.maps.target import Target
from edgecritic.measures.base import Empty, measure
from edgecritic.measures.checks import check_share
from edgecritic.measures.evidence import Comparison

__all__ = ["boundary_iou", "cldice"]

FAMILY = "surfaces"
BEST_IS_1 = Empty(both=1.0, candidate=0.0, truth=0.0)


@measure(
    "boundary_iou",
    symbol="BIoU",
    family=FAMILY,
    reference="Cheng, Girshick, Dollár, Berg & Kirillov 2021, CVPR",
    better="higher",
    range=(0, 1),
    symmetric=True,
    sees="both",
    empty=BEST_IS_1,
    needs="surface",
)
def boundary_iou(comparison: Comparison, /, *, dilation: float = 0.02) -> float:
    """Return the overlap |A ∩ B| / |A ∪ B| of the inner boundary bands A and B of the two objects.

    A band is the part of an object within max(1, round(`dilation` · diagonal)) steps (to any of the 8,
    in 3-D 26 neighbours) of what is outside; the outside of the image counts as outside. For objects
    thinner than the band it is the plain overlap. Sizes are in pixels, whatever the spacing.

    Examples
    --------
    >>> boundary_iou([[1, 1, 0]], [[1, 0, 0]])
    0.5
    """
    check_share("dilation", dilation)
    shape = comparison.shape
    steps = max(1, round(dilation * diagonal(shape, (1.0,) * len(shape))))
    first, second = (
        target.cached(f"band {steps}", lambda own: _band(own, steps)) for target in comparison.targets
    )
    return int(np.count_nonzero(first & second)) / int(np.count_nonzero(first | second))


@measure(
    "cldice",
    symbol="clDice",
    family=FAMILY,
    reference="Shit et al. 2021, CVPR",
    better="higher",
    range=(0, 1),
    symmetric=True,
    sees="both",
    empty=BEST_IS_1,
    needs="surface",
    default=False,
)
def cldice(comparison: Comparison, /) -> float:
    """Return the centre-line Dice: the harmonic mean of two shares of skeletons.

    The share of the candidate's skeleton that lies in the truth, and of the truth's skeleton that lies in
    the candidate. Skeletons are thinned maps (`edgecritic.maps.thinning`); those of volumes are
    scikit-image's, which must be installed. A skeleton that comes out empty (an even thickness in 3-D)
    is replaced by the object.

    Examples
    --------
    >>> cldice([[1, 1, 1, 0]], [[1, 1, 1, 1]])
    0.8571429
    """
    candidate, truth = comparison.candidate, comparison.truth
    first, second = (target.cached("skeleton", _skeleton) for target in comparison.targets)
    precise = int(np.count_nonzero(first & truth)) / int(np.count_nonzero(first))
    sensitive = int(np.count_nonzero(second & candidate)) / int(np.count_nonzero(second))
    total = precise + sensitive
    return 2 * precise * sensitive / total if total else 0.0


def _band(target: Target, steps: int) -> BoolArray:
    """Return the set pixels within `steps` of an unset one, by chessboard distance."""
    inner = mask = target.mask
    if not target.solid:
        return mask
    one_plane = mask.shape.index(1) if mask.ndim == 3 and 1 in mask.shape else None
    for axis in range(mask.ndim):
        if axis != one_plane:
            inner = _eroded(inner, steps, axis)
    return mask & ~inner


def _eroded(mask: BoolArray, steps: int, axis: int) -> BoolArray:
    """Keep the pixels whose `steps` neighbours before and after along one axis are all set."""
    margin = [(steps, steps) if other == axis else (0, 0) for other in range(mask.ndim)]
    run = np.moveaxis(np.pad(mask, margin), axis, 0)
    length, wanted = 1, 2 * steps + 1
    while length < wanted:
        step = min(length, wanted - length)
        run = run[:-step] & run[step:]
        length += step
    return np.moveaxis(run, 0, axis)


def _skeleton(target: Target) -> BoolArray:
    mask = target.mask
    one_plane = mask.ndim == 3 and 1 in mask.shape
    plane = np.squeeze(mask, axis=mask.shape.index(1)) if one_plane else mask
    skeleton = (_thin_plane if plane.ndim == 2 else _thin_volume)(plane).reshape(mask.shape)
    return skeleton if skeleton.any() else mask


def _thin_plane(mask: BoolArray) -> BoolArray:
    from edgecritic.maps.thinning import thin

    return thin(mask)


def _thin_volume(mask: BoolArray) -> BoolArray:
    try:
        from skimage.morphology import skeletonize
    except ImportError as error:
        raise MissingExtraError.of("cldice of a volume", "volumes") from error
    make: Any = skeletonize
    return np.asarray(make(mask.copy()), dtype=np.bool_)
