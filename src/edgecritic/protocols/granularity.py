"""Several granularities per image: the best that choosing with the truth in hand could reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from edgecritic.errors import InputError
from edgecritic.protocols.curves import f_measure, recall_precision
from edgecritic.protocols.presets import Protocol
from edgecritic.protocols.summary import BestPoint, count_table, summarise

__all__ = ["GranularityOracle", "granularity_oracle"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GranularityOracle:
    """Upper bounds over granularities; not comparable with the ODS and OIS of a single map.

    Attributes
    ----------
    ods : BestPoint
        Per image and threshold the granularity with the largest F, then one threshold for all images.
    ois : BestPoint
        Per image the best granularity and threshold.
    granularities, images : int
        How many there were.
    label : str
        What must stand beside the numbers.
    """

    ods: BestPoint
    ois: BestPoint
    granularities: int
    images: int
    label: str = "oracle over granularities (upper bound)"

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, ready for JSON."""
        return {
            "label": self.label,
            "ods": self.ods.as_dict(),
            "ois": self.ois.as_dict(),
            "granularities": self.granularities,
            "images": self.images,
        }

    def __str__(self) -> str:
        head = f"{self.label}: {self.images} images, {self.granularities} granularities"
        return f"{head}\n  best ODS  {self.ods}\n  best OIS  {self.ois}"


def granularity_oracle(
    counts: Sequence[Any], *, protocol: str | Protocol = "bsds", zero: Any = None
) -> GranularityOracle:
    """Return best ODS and best OIS over several maps per image.

    Parameters
    ----------
    counts : sequence over granularities
        Each entry holds the counts of all images, as in :func:`edgecritic.protocols.summary.count_table`;
        images and thresholds must be the same in all of them.
    protocol : str or Protocol
        Of the summary.
    zero : optional
        Counts of all images at threshold 0 (every pixel on, so the same for all granularities), for
        protocols that have it.

    Notes
    -----
    Ties of F go to the first granularity. As the choice uses the truth, the numbers are oracles.

    Examples
    --------
    >>> fine, coarse = [(0.5, 90, 100, 60, 120)], [(0.5, 40, 100, 40, 44)]
    >>> found = granularity_oracle([{"owl": fine, "fox": coarse}, {"owl": coarse, "fox": fine}])
    >>> round(found.ods.recall, 2), round(found.ods.precision, 2)
    (0.9, 0.5)
    """
    if len(counts) == 0:
        raise InputError("counts of at least one granularity are needed, got none")
    tables = [count_table(each, zero=zero) for each in counts]
    model = tables[0]
    for table in tables[1:]:
        if table.names != model.names or not np.array_equal(table.thresholds, model.thresholds):
            raise InputError("all granularities must have the same images, in one order, and thresholds")
    stacked = np.stack([table.counts for table in tables])
    choice = f_measure(*recall_precision(stacked)).argmax(axis=0)
    chosen = np.take_along_axis(stacked, choice[None, :, :, None], axis=0)[0]
    rows = np.concatenate(
        [np.broadcast_to(model.thresholds[:, None], (*chosen.shape[:2], 1)), chosen], axis=2
    )
    best = summarise(rows, protocol=protocol, names=model.names, zero=model.zero)
    return GranularityOracle(ods=best.ods, ois=best.ois, granularities=len(tables), images=len(model))
