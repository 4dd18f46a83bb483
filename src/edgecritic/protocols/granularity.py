"""Several predictions per image: the best that choosing with the truth in hand could reach."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgecritic.errors import InputError
from edgecritic.protocols.counts import COLUMNS, Counts
from edgecritic.protocols.protocol import Protocol
from edgecritic.protocols.summary import BestPoint, CountTable, ImageCounts, count_table, summarise
from edgecritic.values import Value

__all__ = ["GranularityOracle", "granularity_oracle"]


class GranularityOracle(Value):
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
    label: str = "oracle over the given predictions (upper bound)"

    def __str__(self) -> str:
        head = f"{self.label}: {self.images} images, {self.granularities} granularities"
        return f"{head}\n  best ODS  {self.ods}\n  best OIS  {self.ois}"


def granularity_oracle(
    counts: Sequence[ImageCounts], *, protocol: str | Protocol = "bsds"
) -> GranularityOracle:
    """Return best ODS and best OIS over several maps per image.

    Parameters
    ----------
    counts : sequence over granularities
        Each entry holds the counts of all images, as in :func:`edgecritic.protocols.summary.count_table`;
        images and thresholds must be the same in all of them.
    protocol : str or Protocol
        Of the summary.

    Notes
    -----
    Ties of F go to the first granularity. As the choice uses the truth, the numbers are oracles.

    Examples
    --------
    >>> fine = Counts.from_rows([(0.5, 90, 100, 60, 120)])
    >>> coarse = Counts.from_rows([(0.5, 40, 100, 40, 44)])
    >>> found = granularity_oracle([{"owl": fine, "fox": coarse}, {"owl": coarse, "fox": fine}])
    >>> round(found.ods.recall, 2), round(found.ods.precision, 2)
    (0.9, 0.5)
    """
    if len(counts) == 0:
        raise InputError("counts of at least one granularity are needed, got none")
    tables = [count_table(each) for each in counts]
    model = tables[0]
    for table in tables[1:]:
        same = np.array_equal(table.counts.thresholds, model.counts.thresholds)
        if table.names != model.names or not same:
            raise InputError("all granularities must have the same images, in one order, and thresholds")
    stacked = Counts.stack([table.counts for table in tables])
    # A class that was left out of an image has no truth there, and is not chosen before one that was not.
    choice = np.where(stacked.truth > 0, stacked.f, -1.0).argmax(axis=0)[None]
    columns = {name: np.take_along_axis(getattr(stacked, name), choice, axis=0)[0] for name in COLUMNS}
    best = Counts(
        thresholds=model.counts.thresholds,
        **columns,
        zero=None if stacked.zero is None else _largest(stacked.zero),
        groups=model.counts.groups,
    )
    found = summarise(CountTable(names=model.names, counts=best), protocol=protocol)
    return GranularityOracle(ods=found.ods, ois=found.ois, granularities=len(tables), images=len(model))


def _largest(zero: Counts) -> Counts:
    """Return the counts with every pixel on of any granularity that has them: they depend on truths alone."""
    columns = {name: getattr(zero, name).max(axis=0) for name in COLUMNS}
    return Counts(thresholds=zero.thresholds, **columns, groups=zero.groups)
