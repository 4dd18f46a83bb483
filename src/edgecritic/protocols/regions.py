"""The region benchmark: segmentations at every threshold of a hierarchy against those of annotators.

Covering, probabilistic Rand index and variation of information of one image are found for all thresholds at
once: the segments at the lowest threshold are counted against the regions of the truths, and from one
threshold to the next the rows of those that join are added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, as_array, as_mask
from edgecritic.kernels.contingency import count_shared, judge_table, merge_rows
from edgecritic.kernels.hierarchy import find_leaves, join, number_rows
from edgecritic.measures.regions import as_labels, as_truth_labels, numbered
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.curves import Array
from edgecritic.protocols.presets import get_protocol
from edgecritic.protocols.protocol import Protocol
from edgecritic.values import Value

__all__ = ["Regions", "sweep_hierarchy", "sweep_segmentations"]

_Table = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]


class Regions(Value):
    """How the regions of one image agree with those of its annotators, at every threshold.

    Attributes
    ----------
    counts : Counts
        `matched_truth` is Σ |R|·max |R ∩ S| / |R ∪ S| over the regions R of all annotators and the best
        segment S of each, of `truth`, the pixels of all annotators; `matched_candidate` is Σ |S|·max over
        segments and the best region of any annotator, of `candidate` pixels. `counts.recall` is the covering.
    best : float
        Σ |R|·max over the segments of all thresholds.
    pri, voi : (K,) float64 arrays
        Probabilistic Rand index, and variation of information in bits; means over the annotators.
    annotators : int
    """

    counts: Counts
    best: float
    pri: Array
    voi: Array
    annotators: int

    def __post_init__(self) -> None:
        for name in ("pri", "voi"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))
        super().__post_init__()

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Regions:
        """Make it of what `as_dict` returned."""
        return cls(**{**plain, "counts": Counts.from_dict(plain["counts"])})

    @property
    def covering(self) -> Array:
        """Covering of the annotators' regions at every threshold."""
        return self.counts.recall

    def rows(self) -> list[dict[str, Any]]:
        """Return covering, PRI and VOI, a row per threshold."""
        columns = {
            "threshold": self.counts.thresholds,
            "covering": self.covering,
            "pri": self.pri,
            "voi": self.voi,
        }
        return _rows(columns)

    def __repr__(self) -> str:
        return f"<Regions: {self.annotators} annotators, {self.pri.size} thresholds>"

    def __str__(self) -> str:
        return (
            f"{self.pri.size} thresholds; best covering {self.covering.max():.4f}, PRI {self.pri.max():.4f}, "
            f"VOI {self.voi.min():.4f}"
        )


def sweep_hierarchy(
    hierarchy: Any, truths: Any, *, protocol: str | Protocol = "bsds-regions", mask: Any = None
) -> Regions:
    """Judge the segmentations of a hierarchy of contours at all thresholds of a protocol.

    The segmentation at threshold t has the 8-connected components of {hierarchy ≤ t} as its segments.

    Parameters
    ----------
    hierarchy : array_like, (2·rows + 1, 2·columns + 1)
        Contour strengths on the grid of twice the size (`ucm2`): pixel (r, c) is cell (2r + 1, 2c + 1), and
        its strength must not exceed the lowest threshold.
    truths : array of integers, or a sequence of them
        Label maps (rows, columns) of one or several annotators.
    protocol : str or Protocol
        Its thresholds are used.
    mask : array_like, optional
        Where it is off pixels do not count.

    Notes
    -----
    Covering and precision: see :class:`Regions`. With one annotator's sizes n_v, segment sizes n_u, shared
    pixels n_uv and N pixels, PRI = 1 − (½Σn_u² + ½Σn_v² − Σn_uv²) / (N(N − 1)/2) and
    VOI = (Σn_u log n_u + Σn_v log n_v − 2Σn_uv log n_uv) / N in bits.

    References
    ----------
    .. [1] P. Arbeláez, M. Maire, C. Fowlkes, J. Malik, "Contour detection and hierarchical image
       segmentation", IEEE TPAMI 33, 2011. https://doi.org/10.1109/TPAMI.2010.161

    Examples
    --------
    >>> import numpy as np
    >>> hierarchy = np.zeros((5, 9))  # 2 × 4 pixels
    >>> hierarchy[:, 4], hierarchy[:, 6] = 0.6, 0.3
    >>> truth = np.array([[1, 1, 2, 2], [1, 1, 2, 2]])
    >>> found = sweep_hierarchy(hierarchy, truth)
    >>> found.covering[[0, 50, 98]]
    array([0.75, 1.  , 0.5 ])
    """
    thresholds = get_protocol(protocol).threshold_values()
    cells = _as_hierarchy(hierarchy, thresholds[0])
    shape = (cells.shape[0] // 2, cells.shape[1] // 2)
    truth = _Truths(truths, shape, mask)
    return truth.judge(_merged(cells, thresholds, truth), thresholds)


def sweep_segmentations(segmentations: Sequence[Any], truths: Any, *, mask: Any = None) -> Regions:
    """Judge given segmentations, from fine to coarse; they stand in place of thresholds 1, 2, …

    Parameters
    ----------
    segmentations : sequence of arrays of integers
        Label maps; 0 is a label as any other.
    truths, mask
        As in :func:`sweep_hierarchy`.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.array([[1, 1, 2, 2]])
    >>> sweep_segmentations([np.array([[1, 2, 3, 4]]), truth], truth).covering
    array([0.5, 1. ])
    """
    if len(segmentations) == 0:
        raise InputError("give at least one segmentation, got none")
    maps = [as_labels(one, f"segmentations[{place}]") for place, one in enumerate(segmentations)]
    truth = _Truths(truths, maps[0].shape, mask)
    for one in maps:
        if one.shape != maps[0].shape:
            raise InputError(f"all segmentations must have one shape, got {maps[0].shape} and {one.shape}")
    tables = (truth.table(*numbered(truth.seen(one))) for one in maps)
    return truth.judge(tables, np.arange(1.0, len(maps) + 1))


class _Truths:
    """The regions of all annotators as columns of one table, and what their sizes alone decide."""

    def __init__(self, truths: Any, shape: tuple[int, ...], mask: Any) -> None:
        self.mask: BoolArray | None = None if mask is None else as_mask(mask, "mask")
        if self.mask is not None and (self.mask.shape != shape or not self.mask.any()):
            raise InputError(f"mask must have the shape of the segmentation {shape} and pixels that are on")
        maps = as_truth_labels(truths, shape)
        found = [numbered(self.seen(one)) for one in maps]
        offsets = np.cumsum([0, *(count for _, count in found)])
        self.regions = int(offsets[-1])
        self.columns = np.stack(
            [index + np.int32(start) for (index, _), start in zip(found, offsets[:-1], strict=True)]
        )
        self.truth_of = np.repeat(np.arange(len(maps), dtype=np.int32), np.diff(offsets))
        self.sizes = np.bincount(self.columns.ravel(), minlength=self.regions)
        self.pixels = self.columns.shape[1]

    def seen(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Return the labels of the pixels that count, in a row."""
        return labels.ravel() if self.mask is None else labels[self.mask]

    def table(self, segments: NDArray[np.int32], rows: int) -> _Table:
        """Count segments of the pixels that count against all regions."""
        return count_shared(segments, rows, self.columns, self.regions)

    def judge(self, tables: Iterator[_Table | None], thresholds: Array) -> Regions:
        """Sum up the table of every threshold; None is the one before."""
        people = int(self.truth_of[-1]) + 1
        squares = np.bincount(self.truth_of, self.sizes.astype(np.float64) ** 2)
        logs = np.bincount(self.truth_of, self.sizes * np.log2(self.sizes))
        pairs = self.pixels * (self.pixels - 1) / 2
        ever, best = np.zeros(self.regions), np.empty(self.regions)
        found = np.empty((thresholds.size, 4))
        for place, table in enumerate(tables):
            if table is None:
                found[place] = found[place - 1]
                continue
            covered, explained, n2, nlogn = judge_table(*table, self.sizes, self.truth_of, best)
            np.maximum(ever, best, out=ever)
            apart = (0.5 * n2[0] + 0.5 * squares - n2[1:]) / pairs if pairs else np.zeros(people)
            news = (nlogn[0] + logs - 2 * nlogn[1:]) / self.pixels
            found[place] = covered, explained, 1 - apart.mean(), np.maximum(news, 0).mean()
        return Regions(
            counts=Counts(
                thresholds=thresholds,
                matched_truth=found[:, 0],
                truth=np.full(thresholds.size, float(people * self.pixels)),
                matched_candidate=found[:, 1],
                candidate=np.full(thresholds.size, float(self.pixels)),
            ),
            best=float((self.sizes * ever).sum()),
            pri=found[:, 2],
            voi=found[:, 3],
            annotators=people,
        )


def _merged(cells: Array, thresholds: Array, truth: _Truths) -> Iterator[_Table | None]:
    """Go through the tables of all thresholds; None where no segments join."""
    leaf, rows, first, second, bounds = find_leaves(cells, thresholds)
    shape = (cells.shape[0] // 2, cells.shape[1] // 2)
    table = truth.table(truth.seen(leaf.reshape(shape)), rows)
    yield table
    parent, row = np.arange(rows, dtype=np.int32), np.arange(rows)
    for place in range(1, thresholds.size):
        part = slice(bounds[place], bounds[place + 1])
        if not join(parent, first[part], second[part]):
            yield None
            continue
        target = np.empty(rows, dtype=np.int64)
        rows = number_rows(parent, row, target)
        table = merge_rows(*table, target, rows, truth.regions)
        yield table


def _as_hierarchy(data: Any, lowest: float) -> Array:
    array = as_array(data, "hierarchy")
    if (
        array.ndim != 2
        or array.dtype.kind not in "fiub"
        or min(array.shape) < 3
        or not all(n % 2 for n in array.shape)
    ):
        raise InputError(
            "hierarchy must hold contour strengths on the grid of twice the size (ucm2), 2·rows + 1 by "
            f"2·columns + 1, got {array.dtype} of shape {array.shape}"
        )
    cells = np.ascontiguousarray(array, dtype=np.float64)
    if not np.isfinite(cells).all():
        raise InputError("hierarchy must hold finite numbers, got NaN or infinity")
    top = float(cells[1::2, 1::2].max())
    if top > lowest:
        raise InputError(
            f"hierarchy must not exceed the lowest threshold {lowest:g} at the pixels, every second cell "
            f"from the second on, got {top:g}; such pixels belong to no segment"
        )
    return cells


def _rows(columns: Mapping[str, Array]) -> list[dict[str, Any]]:
    lists = (column.tolist() for column in columns.values())
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]
