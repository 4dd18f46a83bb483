"""From the regions of images to the numbers of the region benchmark: covering, PRI and VOI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from edgecritic.errors import InputError
from edgecritic.figures import axes_of, look
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.curves import Array
from edgecritic.protocols.regions import Regions
from edgecritic.values import Value

__all__ = ["RegionScore", "RegionSummary", "summarise_regions"]


class RegionScore(Value):
    """A measure of regions over images: with one threshold for all (`ods`), and each at its best (`ois`).

    Attributes
    ----------
    ods, ois : float
    threshold : float
        Of `ods`; the lowest on ties.
    best : float or None
        Of covering: every region of the truths with its best segment of any threshold.
    """

    ods: float
    ois: float
    threshold: float
    best: float | None = None

    def __str__(self) -> str:
        best = "" if self.best is None else f"  best {self.best:.4f}"
        return f"ODS {self.ods:.4f} (threshold {self.threshold:.3g})  OIS {self.ois:.4f}{best}"


class RegionSummary(Value):
    """The numbers of the region benchmark over a set of images.

    Attributes
    ----------
    covering, pri, voi : RegionScore
    thresholds, covering_curve, pri_curve, voi_curve : (K,) float64 arrays
        Over all images at every threshold.
    images : tuple of dict
        For every image its name, threshold of the best covering, covering there (`recall`), the share of its
        segments that regions cover (`precision`), and its best `pri` and `voi`.
    """

    covering: RegionScore
    pri: RegionScore
    voi: RegionScore
    thresholds: Array
    covering_curve: Array
    pri_curve: Array
    voi_curve: Array
    images: tuple[dict[str, Any], ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return the best values of every image."""
        return [dict(image) for image in self.images]

    def plot(self, ax: Any = None) -> Any:
        """Draw covering, PRI and VOI over the thresholds into `ax`, or a new figure; return the axes."""
        axes = axes_of(ax)
        curves = (self.covering_curve, self.pri_curve, self.voi_curve)
        for number, ((name, _), curve) in enumerate(zip(self._scores(), curves, strict=True)):
            axes.plot(self.thresholds, curve, label=name, **look(number))
        axes.set_xlabel("threshold")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False)
        return axes

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name} {score.ods:.4f}" for name, score in self._scores())
        return f"<RegionSummary: {len(self.images)} image{'s' * (len(self.images) != 1)}, ODS of {numbers}>"

    def __str__(self) -> str:
        return "\n".join(f"{name:8} {score}" for name, score in self._scores())

    def _scores(self) -> tuple[tuple[str, RegionScore], ...]:
        return ("covering", self.covering), ("PRI", self.pri), ("VOI", self.voi)


def summarise_regions(images: Mapping[str, Regions]) -> RegionSummary:
    """Return the numbers of the region benchmark from those of its images.

    Covering: sums over images at every threshold are divided (large images with many annotators weigh more),
    and the best is ODS; OIS takes the sums of every image at its own best threshold, `best` those of every
    region at its own. PRI and VOI are plain means over images: the best mean, and the mean of the best.
    Nothing is interpolated; of equal thresholds the lowest is told.

    Examples
    --------
    >>> import numpy as np
    >>> from edgecritic.protocols.regions import sweep_segmentations
    >>> truth = np.array([[1, 1, 2, 2]])
    >>> found = sweep_segmentations([np.array([[1, 2, 3, 4]]), truth], truth)
    >>> print(summarise_regions({"a": found}).covering)
    ODS 1.0000 (threshold 2)  OIS 1.0000  best 1.0000
    """
    if not images:
        raise InputError("regions of at least one image are needed, got none")
    parts = list(images.values())
    counts = _stacked(images)
    thresholds = counts.thresholds
    covering, places = counts.sum().recall, counts.recall.argmax(axis=1)
    each = np.arange(len(parts))
    total = counts.truth[:, 0].sum()
    pri, voi = np.array([one.pri for one in parts]), np.array([one.voi for one in parts])
    return RegionSummary(
        covering=RegionScore(
            ods=float(covering.max()),
            ois=float(counts.matched_truth[each, places].sum() / total),
            threshold=float(thresholds[covering.argmax()]),
            best=sum(one.best for one in parts) / float(total),
        ),
        pri=_mean_score(thresholds, pri),
        voi=_mean_score(thresholds, voi, -1),
        thresholds=thresholds,
        covering_curve=covering,
        pri_curve=pri.mean(axis=0),
        voi_curve=voi.mean(axis=0),
        images=tuple(
            {
                "name": name,
                "threshold": float(thresholds[places[at]]),
                "recall": float(counts.recall[at, places[at]]),
                "precision": float(counts.precision[at, places[at]]),
                "pri": float(pri[at].max()),
                "voi": float(voi[at].min()),
            }
            for at, name in enumerate(images)
        ),
    )


def _stacked(images: Mapping[str, Regions]) -> Counts:
    first = next(iter(images))
    for name, one in images.items():
        if not np.array_equal(one.counts.thresholds, images[first].counts.thresholds):
            raise InputError(
                f"all images must have the same thresholds; {name!r} differs from {first!r} "
                f"({one.counts.thresholds.size} and {images[first].counts.thresholds.size})"
            )
    return Counts.stack([one.counts for one in images.values()])


def _mean_score(thresholds: Array, values: Array, sign: int = 1) -> RegionScore:
    mean = values.mean(axis=0)
    place = int((sign * mean).argmax())
    best = sign * (sign * values).max(axis=1)
    return RegionScore(ods=float(mean[place]), ois=float(best.mean()), threshold=float(thresholds[place]))
