"""Measures of segmentations into regions: label maps against the label maps of annotators.

Several truths: `pri` and `voi` are means over the annotators, `covering` pools their regions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import as_array
from edgecritic.kernels.contingency import count_shared
from edgecritic.measures.base import measure

__all__ = ["Overlaps", "as_labels", "as_truth_labels", "numbered", "overlaps", "pri", "voi", "covering"]

FAMILY = "regions"
REFERENCE = "Arbeláez, Maire, Fowlkes & Malik 2011, IEEE TPAMI 33(5)"


@dataclass(frozen=True, slots=True)
class Overlaps:
    """How many pixels the regions of a segmentation share with the regions of one truth.

    Pairs of regions that share none are left out: there are at most as many entries as pixels.

    Attributes
    ----------
    region, truth_region : (entries,) int64 arrays
        Numbers of the two regions.
    shared : (entries,) int64 array
        Pixels that they share, at least one.
    sizes, truth_sizes : int64 arrays
        Pixels of every region of the segmentation and of the truth.
    """

    region: NDArray[np.int64]
    truth_region: NDArray[np.int64]
    shared: NDArray[np.int64]
    sizes: NDArray[np.int64]
    truth_sizes: NDArray[np.int64]

    @property
    def best(self) -> NDArray[np.float64]:
        """For every region of the truth, the best |R ∩ S| / |R ∪ S| over the regions S."""
        union = self.sizes[self.region] + self.truth_sizes[self.truth_region] - self.shared
        found = np.zeros(self.truth_sizes.size)
        np.maximum.at(found, self.truth_region, self.shared / union)
        return found


def overlaps(segmentation: Any, truths: Any) -> list[Overlaps]:
    """Count the overlaps of a segmentation with one label map or with several.

    Parameters
    ----------
    segmentation : array of integers, 2-D or 3-D
        One label per pixel; 0 is a label as any other.
    truths : array of integers, or a sequence of them
        A list is always several truths; one truth is an array.
    """
    if isinstance(segmentation, _Prepared):
        return segmentation.found
    labels = as_labels(segmentation, "segmentation")
    index, count = numbered(labels)
    return [_overlaps(index, count, *numbered(truth)) for truth in as_truth_labels(truths, labels.shape)]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Overlaps that several measures share."""

    found: list[Overlaps]


@measure(
    "pri",
    symbol="PRI",
    family=FAMILY,
    reference=REFERENCE + "; Unnikrishnan, Pantofaru & Hebert 2007, IEEE TPAMI 29(6)",
    better="higher",
    range=(0, 1),
    symmetric=True,
    sees="both",
    empty=None,
    needs="segmentation",
)
def pri(segmentation: Any, truths: Any = None, /) -> float:
    """Return the probabilistic Rand index: the share of pixel pairs that are judged alike.

    Alike: together in both, or apart in both. The mean over the truths.

    Examples
    --------
    >>> import numpy as np
    >>> pri(np.array([[1, 1, 2, 2]]), np.array([[1, 1, 1, 2]]))
    0.5
    """
    return _mean([_rand(found) for found in overlaps(segmentation, truths)])


@measure(
    "voi",
    symbol="VoI",
    family=FAMILY,
    reference=REFERENCE + "; Meilă 2007, Journal of Multivariate Analysis 98(5)",
    better="lower",
    range=(0, math.inf),
    symmetric=True,
    sees="both",
    empty=None,
    needs="segmentation",
    units="bits",
)
def voi(segmentation: Any, truths: Any = None, /) -> float:
    """Return the variation of information H(S) + H(G) − 2·I(S, G) in bits; the mean over the truths.

    Examples
    --------
    >>> import numpy as np
    >>> voi(np.array([[1, 1, 2, 2]]), np.array([[1, 1, 1, 1]]))
    1.0
    """
    return _mean([_variation(found) for found in overlaps(segmentation, truths)])


@measure(
    "covering",
    symbol="C(S → G)",
    family=FAMILY,
    reference=REFERENCE,
    better="higher",
    range=(0, 1),
    symmetric=False,
    sees="both",
    empty=None,
    needs="segmentation",
)
def covering(segmentation: Any, truths: Any = None, /) -> float:
    """Return how well the regions of the truth are covered: the mean best overlap, weighted by size.

    (1/N)·Σ_R |R|·max_S |R ∩ S| / |R ∪ S| over the regions R of all truths, with N the pixels of all.

    Examples
    --------
    >>> import numpy as np
    >>> covering(np.array([[1, 1, 2, 2]]), np.array([[1, 1, 1, 1]]))
    0.5
    """
    found = overlaps(segmentation, truths)
    covered = sum(float((each.truth_sizes * each.best).sum()) for each in found)
    return covered / sum(int(each.truth_sizes.sum()) for each in found)


def prepare(segmentation: Any, truths: Any) -> _Prepared:
    """Count overlaps once for several region measures, which take the result as their only argument."""
    return _Prepared(overlaps(segmentation, truths))


def _rand(found: Overlaps) -> float:
    both, first, second = (_pairs(sizes) for sizes in (found.shared, found.sizes, found.truth_sizes))
    total = _pairs(found.sizes.sum(keepdims=True))
    return (total + 2 * both - first - second) / total if total else 1.0


def _pairs(sizes: NDArray[np.int64]) -> int:
    return int((sizes * (sizes - 1) // 2).sum())


def _variation(found: Overlaps) -> float:
    joint, first, second = (_entropy(sizes) for sizes in (found.shared, found.sizes, found.truth_sizes))
    return max(0.0, 2 * joint - first - second)


def _entropy(sizes: NDArray[np.int64]) -> float:
    shares = sizes / sizes.sum()
    return float(-(shares * np.log2(shares)).sum())


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def numbered(labels: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int32], int]:
    """Number the labels that occur from 0 on; return the number of every pixel, and how many there are.

    Examples
    --------
    >>> numbered(np.array([[7, 3, 7]]))
    (array([1, 0, 1], dtype=int32), 2)
    """
    flat = labels.ravel()
    low, high = int(flat.min()), int(flat.max())
    if high - low > 4 * flat.size:
        values, index = np.unique(flat, return_inverse=True)
        return index.astype(np.int32), values.size
    shifted = flat.astype(np.int64) - low
    present = np.bincount(shifted) > 0
    return (np.cumsum(present, dtype=np.int32) - np.int32(1))[shifted], int(present.sum())


def _overlaps(index: NDArray[np.int32], count: int, other: NDArray[np.int32], others: int) -> Overlaps:
    starts, columns, shared = count_shared(index, count, other[None], others)
    return Overlaps(
        region=np.repeat(np.arange(count), np.diff(starts)),
        truth_region=columns.astype(np.int64),
        shared=shared.astype(np.int64),
        sizes=np.bincount(index, minlength=count),
        truth_sizes=np.bincount(other, minlength=others),
    )


def as_truth_labels(truths: Any, shape: tuple[int, ...]) -> list[NDArray[np.integer[Any]]]:
    """Return one label map (an array) or several (a list of arrays) as a list of maps of the given shape."""
    several = isinstance(truths, Sequence) and all(np.ndim(truth) >= 2 for truth in truths)
    given = truths if several else [truths]
    if len(given) == 0:
        raise InputError("truths holds no label map; give one or more")
    maps = [as_labels(truth, f"truths[{number}]") for number, truth in enumerate(given)]
    for one in maps:
        if one.shape != shape:
            raise InputError(f"segmentation and truth must have the same shape, got {shape} and {one.shape}")
    return maps


def as_labels(data: Any, name: str) -> NDArray[np.integer[Any]]:
    """Return a label map of 2 or 3 dimensions as an array of integers."""
    array = as_array(data, name)
    if array.ndim not in (2, 3) or array.size == 0:
        raise InputError(f"{name} must be a label map of 2 or 3 dimensions, got shape {array.shape}")
    if array.dtype.kind not in "iub":
        raise InputError(f"{name} must hold integer labels, got dtype {array.dtype}")
    return array
