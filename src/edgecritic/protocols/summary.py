"""From counts per image to a benchmark's numbers: the pooled curve, ODS, OIS, AP, R50."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from edgecritic.errors import InputError
from edgecritic.figures import axes_of
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.curves import (
    AP_RULES,
    Array,
    average_precision,
    interpolated_best,
    recall_at_half_precision,
)
from edgecritic.protocols.plots import recall_curve, recall_frame
from edgecritic.protocols.presets import get_protocol
from edgecritic.protocols.protocol import Protocol
from edgecritic.values import Value

__all__ = ["BestPoint", "ImageScore", "CountTable", "Summary", "count_table", "summarise", "ImageCounts"]

ImageCounts = Mapping[str, Counts] | Sequence[Counts]
"""The counts of images, by name or in a row."""


class BestPoint(Value):
    """A point of a precision-recall curve; `threshold` is ``None`` where every image has its own."""

    recall: float
    precision: float
    f: float
    threshold: float | None = None

    def __str__(self) -> str:
        where = "" if self.threshold is None else f" at threshold {self.threshold:.3g}"
        return f"F {self.f:.4f}  R {self.recall:.4f}  P {self.precision:.4f}{where}"


class ImageScore(Value):
    """The best point of one image, interpolated between thresholds."""

    name: str
    best: BestPoint

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, ready for JSON."""
        return {"name": self.name, **self.best.as_dict()}


class CountTable(Value):
    """Checked counts of a set of images.

    Attributes
    ----------
    names : tuple of str
        One name per image.
    counts : Counts
        With the images along the first axis.
    """

    names: tuple[str, ...]
    counts: Counts

    def __len__(self) -> int:
        return len(self.names)

    def by_group(self) -> dict[str, CountTable]:
        """Return the tables of the groups of which there is a truth, each with the images that it is in.

        Raises
        ------
        InputError
            If there is no truth of any group.
        """
        found = {}
        for name in self.counts.groups:
            one = self.counts.group(name)
            there = np.flatnonzero((one.truth > 0).any(axis=-1) | (one.candidate > 0).any(axis=-1))
            if one.truth.any():
                found[name] = CountTable(names=tuple(self.names[k] for k in there), counts=one[there])
        if not found:
            raise InputError("no image has a truth of any of the classes", remedy="check truths and labels")
        return found

    def under(self, protocol: Protocol) -> Counts:
        """Return the counts that a protocol evaluates: with the row at 0 if it has one."""
        return self.counts.with_zero() if protocol.zero_threshold else self.counts


class Summary(Value):
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
    groups : mapping of str to Summary
        The numbers of every group (class) of which there is a truth, where counts have groups. All other
        numbers are then their plain means, so that `ods` has what is called MF(ODS); an image has the mean
        over its groups.
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
    groups: Mapping[str, Summary] = field(default_factory=dict)

    @property
    def ap(self) -> float | None:
        """Average precision by the protocol's rule."""
        return self.aps[self.protocol.ap_rule]

    def rows(self) -> list[dict[str, Any]]:
        """Return the pooled curve, a row per threshold."""
        columns = {
            "threshold": self.thresholds,
            "recall": self.recall,
            "precision": self.precision,
            "f": self.f,
        }
        return [
            dict(zip(columns, row, strict=True))
            for row in zip(*(column.tolist() for column in columns.values()), strict=True)
        ]

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
            **({"groups": {name: one.as_dict() for name, one in self.groups.items()}} if self.groups else {}),
        }

    def plot(self, ax: Any = None, *, label: str = "") -> Any:
        """Draw precision over recall and the ODS point into `ax`, or into a new figure; return the axes."""
        axes = axes_of(ax, (5.2, 5.0))
        if not axes.lines:
            recall_frame(axes)
        number = sum(line.get_gid() == "curve" for line in axes.lines)
        best = (self.ods.recall, self.ods.precision)
        text = f"[F={self.ods.f:.3f}] {label}".rstrip()
        recall_curve(axes, (self.recall, self.precision), best, number=number, label=text, gid="curve")
        axes.legend(loc="lower left")
        return axes

    def __repr__(self) -> str:
        """Return one line; the curve alone would fill a screen."""
        ap = "unknown" if self.ap is None else f"{self.ap:.4f}"
        numbers = f"ODS {self.ods.f:.4f}, OIS {self.ois.f:.4f}, AP {ap}, R50 {self.r50:.4f}"
        return f"<{type(self).__name__}: {self._images()}, protocol {self.protocol.id}, {numbers}>"

    def _images(self) -> str:
        classes = f", mean of {len(self.groups)} classes" if self.groups else ""
        return f"{len(self.images)} image{'s' * (len(self.images) != 1)}{classes}"

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


def count_table(counts: ImageCounts | CountTable, *, names: Sequence[str] | None = None) -> CountTable:
    """Put the counts of images with the same thresholds into one table.

    Parameters
    ----------
    counts : mapping of name to Counts, or sequence of Counts
    names : sequence of str, optional
        Names of the images; 1, 2, … if absent. A mapping brings its own.

    Raises
    ------
    InputError
        If there is no image, names come twice, or thresholds differ.
    """
    if isinstance(counts, CountTable):
        return counts
    if isinstance(counts, Mapping):
        names = [str(name) for name in counts] if names is None else names
        counts = list(counts.values())
    if len(counts) == 0:
        raise InputError("counts of at least one image are needed, got none")
    labels = tuple(names) if names is not None else tuple(str(i + 1) for i in range(len(counts)))
    if len(labels) != len(counts) or len(set(labels)) != len(labels):
        raise InputError(
            f"names must be different, one per image; got {len(labels)} for {len(counts)} images"
        )
    for name, one in zip(labels, counts, strict=True):
        if not isinstance(one, Counts):
            raise InputError(
                f"{name}: Counts are expected, got {type(one).__name__}", remedy="see Counts.from_rows"
            )
        if not np.array_equal(one.thresholds, counts[0].thresholds):
            raise InputError(
                f"all images must have the same thresholds; {name!r} differs from {labels[0]!r} "
                f"({one.thresholds.size} and {counts[0].thresholds.size} rows)"
            )
    return CountTable(names=labels, counts=Counts.stack(counts))


def summarise(
    counts: ImageCounts | CountTable,
    *,
    protocol: str | Protocol = "bsds",
    names: Sequence[str] | None = None,
) -> Summary:
    """Return a benchmark's numbers from the counts of its images.

    Parameters
    ----------
    counts, names
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
    Counts with groups are summed up group by group, and every number is the mean over those that have a
    truth in at least one image.

    References
    ----------
    .. [1] P. Arbeláez, M. Maire, C. Fowlkes, J. Malik, "Contour detection and hierarchical image
       segmentation", IEEE TPAMI 33, 2011. https://doi.org/10.1109/TPAMI.2010.161

    Examples
    --------
    >>> rows = [(0.25, 90, 100, 60, 120), (0.5, 70, 100, 50, 60), (0.75, 30, 100, 20, 20)]
    >>> result = summarise({"owl": Counts.from_rows(rows)})
    >>> print(result.ois)
    F 0.7609  R 0.7000  P 0.8333
    >>> round(result.ap, 4)
    0.5075
    """
    chosen = get_protocol(protocol)
    table = count_table(counts, names=names)
    if table.counts.groups:
        return _mean(
            chosen, {name: summarise(one, protocol=chosen) for name, one in table.by_group().items()}
        )
    curve = table.under(chosen)
    pooled = curve.sum()
    plain = table.counts.sum()
    return Summary(
        protocol=chosen,
        thresholds=pooled.thresholds,
        recall=pooled.recall,
        precision=pooled.precision,
        f=pooled.f,
        ods=_best(pooled.thresholds, pooled.recall, pooled.precision),
        ois=_pooled(curve.best().sum()),
        aps=_every_ap(plain, chosen.duplicates),
        r50=recall_at_half_precision(plain.recall, plain.precision),
        images=tuple(
            ImageScore(name=name, best=_best(curve.thresholds, recall, precision))
            for name, recall, precision in zip(table.names, curve.recall, curve.precision, strict=True)
        ),
    )


def _mean(protocol: Protocol, groups: Mapping[str, Summary]) -> Summary:
    """Return the plain means over groups; an image is judged by the groups that it has."""
    parts = list(groups.values())
    images: dict[str, list[BestPoint]] = {}
    for part in parts:
        for image in part.images:
            images.setdefault(image.name, []).append(image.best)
    return Summary(
        protocol=protocol,
        thresholds=parts[0].thresholds,
        recall=np.mean([part.recall for part in parts], axis=0),
        precision=np.mean([part.precision for part in parts], axis=0),
        f=np.mean([part.f for part in parts], axis=0),
        ods=_mean_point([part.ods for part in parts]),
        ois=_mean_point([part.ois for part in parts]),
        aps={rule: _mean_or_none([part.aps[rule] for part in parts]) for rule in AP_RULES},
        r50=float(np.mean([part.r50 for part in parts])),
        images=tuple(ImageScore(name=name, best=_mean_point(images[name])) for name in sorted(images)),
        groups=groups,
    )


def _mean_point(points: Sequence[BestPoint]) -> BestPoint:
    recall, precision, f = np.mean([(one.recall, one.precision, one.f) for one in points], axis=0).tolist()
    return BestPoint(recall=recall, precision=precision, f=f)


def _mean_or_none(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


def _best(thresholds: Array, recall: Array, precision: Array) -> BestPoint:
    t, r, p, f = interpolated_best(thresholds, recall, precision)
    return BestPoint(threshold=t, recall=r, precision=p, f=f)


def _pooled(chosen: Counts) -> BestPoint:
    return BestPoint(recall=chosen.recall.item(), precision=chosen.precision.item(), f=chosen.f.item())


def _every_ap(pooled: Counts, duplicates: str) -> dict[str, float | None]:
    zero = None
    if pooled.zero is not None:
        zero = (pooled.zero.recall.item(), pooled.zero.precision.item())
    return {
        rule: average_precision(pooled.recall, pooled.precision, rule, zero=zero, duplicates=duplicates)
        for rule in AP_RULES
    }
