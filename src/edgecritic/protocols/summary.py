"""From counts per image to a benchmark's numbers: the pooled curve, ODS, OIS, AP, R50."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.protocols.curves import (
    AP_RULES,
    Array,
    average_precision,
    f_measure,
    interpolated_best,
    recall_at_half_precision,
    recall_precision,
)
from edgecritic.protocols.presets import Protocol, get_protocol

__all__ = ["BestPoint", "ImageScore", "CountTable", "Summary", "count_table", "summarise"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BestPoint:
    """A point of a precision-recall curve; `threshold` is ``None`` where every image has its own."""

    recall: float
    precision: float
    f: float
    threshold: float | None = None

    def as_dict(self) -> dict[str, float | None]:
        """Return the fields, ready for JSON."""
        return {"threshold": self.threshold, "recall": self.recall, "precision": self.precision, "f": self.f}

    def __str__(self) -> str:
        where = "" if self.threshold is None else f" at threshold {self.threshold:.3g}"
        return f"F {self.f:.4f}  R {self.recall:.4f}  P {self.precision:.4f}{where}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageScore:
    """The best point of one image, interpolated between thresholds."""

    name: str
    best: BestPoint

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, ready for JSON."""
        return {"name": self.name, **self.best.as_dict()}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountTable:
    """Checked counts of a set of images.

    Attributes
    ----------
    names : tuple of str
        One name per image.
    thresholds : (K,) array
        In ascending order, the same for all images.
    counts : (images, K, 4) array
        cntR, sumR, cntP, sumP.
    zero : (images, 4) array or None
        The counts at threshold 0 with every pixel on.
    """

    names: tuple[str, ...]
    thresholds: Array
    counts: Array
    zero: Array | None = None

    def __len__(self) -> int:
        return len(self.names)

    def with_zero_threshold(self) -> CountTable:
        """Return the table with the zero counts as its first threshold."""
        if self.zero is None:
            raise InputError(
                "this protocol evaluates threshold 0 as well, but the counts at 0 are missing; give zero="
            )
        return CountTable(
            names=self.names,
            thresholds=np.append(0.0, self.thresholds),
            counts=np.concatenate([self.zero[:, None], self.counts], axis=1),
            zero=self.zero,
        )

    def best_counts(self) -> Array:
        """Return the (images, 4) counts at each image's best threshold: largest F, the first one on ties."""
        best = f_measure(*recall_precision(self.counts)).argmax(axis=1)
        chosen: Array = self.counts[np.arange(len(self)), best]
        return chosen


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Summary:
    """The numbers of a benchmark over a set of images.

    Attributes
    ----------
    protocol : Protocol
        The choices behind the numbers.
    thresholds, recall, precision, f : (K,) arrays
        The pooled curve: counts are summed over images, then divided.
    ods : BestPoint
        Best point with one threshold for all images, interpolated between thresholds.
    ois : BestPoint
        Every image at its own best threshold (not interpolated), counts summed.
    aps : mapping of str to float or None
        Average precision by every rule; ``None`` where the counts at threshold 0 are needed and absent.
    r50 : float
        Recall at precision ½.
    images : tuple of ImageScore
        The best point of every image.
    """

    protocol: Protocol
    thresholds: Array
    recall: Array
    precision: Array
    f: Array
    ods: BestPoint
    ois: BestPoint
    aps: Mapping[str, float | None]
    r50: float
    images: tuple[ImageScore, ...]

    @property
    def ap(self) -> float | None:
        """Average precision by the protocol's rule."""
        return self.aps[self.protocol.ap_rule]

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "protocol": self.protocol.as_dict(),
            "digest": self.protocol.digest,
            "ods": self.ods.as_dict(),
            "ois": self.ois.as_dict(),
            "ap": self.ap,
            "ap_rule": self.protocol.ap_rule,
            "aps": dict(self.aps),
            "r50": self.r50,
            "curve": {
                "threshold": self.thresholds.tolist(),
                "recall": self.recall.tolist(),
                "precision": self.precision.tolist(),
                "f": self.f.tolist(),
            },
            "images": [image.as_dict() for image in self.images],
        }

    def __repr__(self) -> str:
        """Return one line; the curve alone would fill a screen."""
        ap = "unknown" if self.ap is None else f"{self.ap:.4f}"
        numbers = f"ODS {self.ods.f:.4f}, OIS {self.ois.f:.4f}, AP {ap}, R50 {self.r50:.4f}"
        return f"<{type(self).__name__}: {self._images()}, protocol {self.protocol.id}, {numbers}>"

    def _images(self) -> str:
        return f"{len(self.images)} image{'s' * (len(self.images) != 1)}"

    def __str__(self) -> str:
        ap = "unknown (no counts at threshold 0)" if self.ap is None else f"{self.ap:.4f}"
        return "\n".join(
            [
                f"{self._images()}, protocol {self.protocol.id}",
                f"  ODS  {self.ods}",
                f"  OIS  {self.ois}",
                f"  AP   {ap} ({self.protocol.ap_rule})",
                f"  R50  {self.r50:.4f}",
            ]
        )


def count_table(
    counts: Mapping[str, Any] | Sequence[Any] | NDArray[Any] | CountTable,
    *,
    names: Sequence[str] | None = None,
    zero: Mapping[str, Any] | Sequence[Any] | NDArray[Any] | None = None,
) -> CountTable:
    """Check counts and put them into one table.

    Parameters
    ----------
    counts : mapping of name to (K, 5), or sequence of (K, 5)
        Rows (threshold, cntR, sumR, cntP, sumP) in ascending order of the threshold, which must be the
        same for all images.
    names : sequence of str, optional
        Names of the images; 1, 2, … if absent. A mapping brings its own.
    zero : mapping of name to (4,), or sequence of (4,), optional
        (cntR, sumR, cntP, sumP) of each image with every pixel on.

    Raises
    ------
    InputError
        For other shapes, thresholds that differ, or counts that cannot be (negative, cnt above sum, …).
    """
    if isinstance(counts, CountTable):
        return counts
    if isinstance(counts, Mapping):
        names = [str(name) for name in counts] if names is None else names
        zero = [zero[name] for name in counts] if isinstance(zero, Mapping) else zero
        counts = list(counts.values())
    if len(counts) == 0:
        raise InputError("counts of at least one image are needed, got none")
    labels = tuple(names) if names is not None else tuple(str(i + 1) for i in range(len(counts)))
    if len(labels) != len(counts) or len(set(labels)) != len(labels):
        raise InputError(
            f"names must be different, one per image; got {len(labels)} for {len(counts)} images"
        )
    tables = [_checked_rows(rows, name) for rows, name in zip(counts, labels, strict=True)]
    for table, name in zip(tables, labels, strict=True):
        if not np.array_equal(table[:, 0], tables[0][:, 0]):
            raise InputError(
                f"all images must have the same thresholds; {name!r} differs from {labels[0]!r} "
                f"({len(table)} and {len(tables[0])} rows)"
            )
    whole = np.stack(tables)
    return CountTable(
        names=labels,
        thresholds=whole[0, :, 0].copy(),
        counts=np.ascontiguousarray(whole[:, :, 1:]),
        zero=None if zero is None else _checked_zero(zero, labels),
    )


def summarise(
    counts: Mapping[str, Any] | Sequence[Any] | NDArray[Any] | CountTable,
    *,
    protocol: str | Protocol = "bsds",
    names: Sequence[str] | None = None,
    zero: Mapping[str, Any] | Sequence[Any] | NDArray[Any] | None = None,
) -> Summary:
    """Return a benchmark's numbers from the counts of its images.

    Parameters
    ----------
    counts, names, zero
        As in :func:`count_table`.
    protocol : str or Protocol
        Names the choices; here its AP rule, its rule for equal recalls and its extra threshold matter.

    Notes
    -----
    R = ΣcntR / ΣsumR, P = ΣcntP / ΣsumP, F = 2PR / (P + R), each 0 where the denominator is 0.
    ODS interpolates R, P and the threshold linearly at 100 points between neighbouring thresholds and takes
    the largest F, the first one on ties. OIS takes every image's best threshold without interpolation (the
    lowest on ties, also where nothing matches at all) and sums the counts; it can fall below ODS by a hair.
    A protocol with `zero_threshold` has the counts at 0 as its first threshold in ODS, OIS and the curve;
    the AP rules a, c and d and R50 never use them, rule b always does.

    References
    ----------
    .. [1] P. Arbeláez, M. Maire, C. Fowlkes, J. Malik, "Contour detection and hierarchical image
       segmentation", IEEE TPAMI 33, 2011. https://doi.org/10.1109/TPAMI.2010.161

    Examples
    --------
    >>> counts = {"owl": [(0.25, 90, 100, 60, 120), (0.5, 70, 100, 50, 60), (0.75, 30, 100, 20, 20)]}
    >>> result = summarise(counts)
    >>> print(result.ois)
    F 0.7609  R 0.7000  P 0.8333
    >>> round(result.ap, 4)
    0.5075
    """
    chosen = get_protocol(protocol)
    table = count_table(counts, names=names, zero=zero)
    curve = table.with_zero_threshold() if chosen.zero_threshold else table
    recall, precision = recall_precision(curve.counts.sum(axis=0))
    return Summary(
        protocol=chosen,
        thresholds=_frozen(curve.thresholds),
        recall=_frozen(recall),
        precision=_frozen(precision),
        f=_frozen(f_measure(recall, precision)),
        ods=_best(curve.thresholds, recall, precision),
        ois=_pooled(curve.best_counts()),
        aps=_every_ap(table, chosen.duplicates),
        r50=recall_at_half_precision(*recall_precision(table.counts.sum(axis=0))),
        images=tuple(
            ImageScore(name=name, best=_best(curve.thresholds, *recall_precision(rows)))
            for name, rows in zip(curve.names, curve.counts, strict=True)
        ),
    )


def _best(thresholds: Array, recall: Array, precision: Array) -> BestPoint:
    t, r, p, f = interpolated_best(thresholds, recall, precision)
    return BestPoint(threshold=t, recall=r, precision=p, f=f)


def _pooled(chosen: Array) -> BestPoint:
    recall, precision = recall_precision(chosen.sum(axis=0))
    return BestPoint(recall=float(recall), precision=float(precision), f=float(f_measure(recall, precision)))


def _every_ap(table: CountTable, duplicates: str) -> MappingProxyType[str, float | None]:
    recall, precision = recall_precision(table.counts.sum(axis=0))
    zero = None
    if table.zero is not None:
        r, p = recall_precision(table.zero.sum(axis=0))
        zero = (float(r), float(p))
    return MappingProxyType(
        {
            rule: average_precision(recall, precision, rule, zero=zero, duplicates=duplicates)
            for rule in AP_RULES
        }
    )


def _frozen(array: Array) -> Array:
    array = array.copy()
    array.flags.writeable = False
    return array


def _checked_rows(rows: Any, name: str) -> Array:
    try:
        table = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"counts of {name!r} must be numbers: {error}") from error
    if table.ndim != 2 or table.shape[1] != 5 or len(table) == 0:
        raise InputError(
            f"counts of {name!r} must have rows (threshold, cntR, sumR, cntP, sumP), got shape {table.shape}"
        )
    if not np.isfinite(table).all() or (np.diff(table[:, 0]) <= 0).any():
        raise InputError(f"counts of {name!r} must be finite, with thresholds in ascending order")
    _check_counts(table[:, 1:], name)
    return table


def _check_counts(counts: Array, name: str) -> None:
    if not np.isfinite(counts).all() or (counts < 0).any():
        raise InputError(f"counts of {name!r} must be finite and not negative")
    if (counts[..., 0] > counts[..., 1]).any() or (counts[..., 2] > counts[..., 3]).any():
        raise InputError(f"counts of {name!r}: cntR must not exceed sumR, nor cntP sumP; check the columns")


def _checked_zero(zero: Any, names: tuple[str, ...]) -> Array:
    try:
        table = np.asarray(list(zero), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"zero must hold numbers (cntR, sumR, cntP, sumP) per image: {error}") from error
    if table.shape != (len(names), 4):
        raise InputError(
            f"zero must have one row (cntR, sumR, cntP, sumP) per image, shape {(len(names), 4)}, "
            f"got {table.shape}"
        )
    for row, name in zip(table, names, strict=True):
        _check_counts(row, name)
    return table
