"""Best scores and thresholds of detectors over the images of a data set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.figures import COLOURS, axes_of, look
from edgecritic.tables import arrow
from edgecritic.tuning.result import Tuning, short_id
from edgecritic.tuning.table import best_table
from edgecritic.values import Value

__all__ = ["TuningSummary", "summarise_tunings"]


class TuningSummary(Value):
    """What several images say of the same detectors and measures.

    Attributes
    ----------
    images, detectors, measures, better : tuple of str
    values, thresholds : (images, detectors, measures) float arrays
        The best value of every measure, and the threshold at which it is reached.
    """

    images: tuple[str, ...]
    detectors: tuple[str, ...]
    measures: tuple[str, ...]
    better: tuple[str, ...]
    values: NDArray[np.float64]
    thresholds: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean best value, shape (detectors, measures)."""
        mean: NDArray[np.float64] = self.values.mean(axis=0)
        return mean

    @property
    def mean_threshold(self) -> NDArray[np.float64]:
        """Mean best threshold, shape (detectors, measures)."""
        mean: NDArray[np.float64] = self.thresholds.mean(axis=0)
        return mean

    @property
    def wins(self) -> NDArray[np.int64]:
        """On how many images a detector is best, shape (detectors, measures); the first of equals wins."""
        signs = np.where(np.array(self.better) == "lower", 1.0, -1.0)
        first = np.argmin(np.nan_to_num(self.values * signs, nan=np.inf, posinf=np.inf), axis=1)
        wins = np.zeros((len(self.detectors), len(self.measures)), dtype=np.int64)
        for place in first:
            wins[place, np.arange(len(self.measures))] += 1
        return wins

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per detector and measure, for tables and files."""
        return [
            {
                "measure": measure,
                "better": self.better[m],
                "detector": detector,
                "value": float(self.mean[d, m]),
                "threshold": float(self.mean_threshold[d, m]),
                "wins": int(self.wins[d, m]),
                "images": len(self.images),
            }
            for m, measure in enumerate(self.measures)
            for d, detector in enumerate(self.detectors)
        ]

    def table(self, width: int | None = None) -> str:
        """Return mean best values with mean thresholds; detectors beyond `width` columns come below."""
        title = f"{len(self.images)} images: mean of the best values @ mean threshold"
        rows = best_table(
            self.measures, self.better, self.detectors, self.mean, self.mean_threshold, width=width
        )
        return f"{title}\n{rows}"

    def plot(self, ax: Any = None, *, measure: str | None = None) -> Any:
        """Draw the best values of a measure (the first if not given) as boxes; return the axes."""
        axes, chosen = axes_of(ax), measure or self.measures[0]
        column = self.measures.index(chosen)
        boxes = axes.boxplot(
            [row[np.isfinite(row)] for row in self.values[:, :, column].T],
            patch_artist=True,
            widths=0.7,
            medianprops={"color": "black"},
            flierprops={"ms": 3},
        )
        for number, (box, detector) in enumerate(zip(boxes["boxes"], self.detectors, strict=True)):
            hatch = ("", "//", "xx")[number // len(COLOURS) % 3]
            box.set(facecolor=look(number)["color"], alpha=0.75, hatch=hatch, label=short_id(detector))
        axes.set_xticks([])
        axes.set_title(f"{chosen} {arrow(self.better[column])}", fontsize="small")
        return axes

    def __str__(self) -> str:
        """Return the table of mean best values with mean thresholds; a star marks the best detector."""
        return self.table()


def summarise_tunings(tunings: Mapping[str, Tuning]) -> TuningSummary:
    """Collect the best values of many images; all must have the same detectors and measures.

    Examples
    --------
    >>> import numpy as np
    >>> from edgecritic.tuning.tune import tune
    >>> image = np.repeat([[0, 0, 0.5, 1, 1]], 5, axis=0)
    >>> one = tune(image, image == 0.5, detectors=["central"], measures="sk", thresholds=3)
    >>> summarise_tunings({"first": one, "second": one}).mean.shape
    (1, 1)
    """
    if not tunings:
        raise InputError("tunings is empty", remedy="give one or more")
    first = next(iter(tunings.values()))
    for name, found in tunings.items():
        if (found.detectors, found.measures) != (first.detectors, first.measures):
            raise InputError(f"{name} has other detectors or measures than the first image")
    best = [[[t.best(d, m) for m in t.measures] for d in t.detectors] for t in tunings.values()]
    table = np.array([[[(b.value, b.threshold) for b in row] for row in image] for image in best])
    return TuningSummary(
        images=tuple(tunings),
        detectors=first.detectors,
        measures=first.measures,
        better=first.better,
        values=table[..., 0],
        thresholds=table[..., 1],
    )
