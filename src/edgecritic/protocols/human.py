"""Human level: every annotator judged as if it were a detector, against the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.inputs import as_masks
from edgecritic.matching import match
from edgecritic.protocols.curves import f_measure

__all__ = ["HumanLevel", "human_counts", "human_level"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanLevel:
    """How well annotators agree, in the terms of a benchmark.

    Attributes
    ----------
    recall, precision, f : float
    images : int
        Number of images with at least two annotators.
    """

    recall: float
    precision: float
    f: float
    images: int

    def as_dict(self) -> dict[str, float]:
        """Return the fields, ready for JSON."""
        return {"f": self.f, "precision": self.precision, "recall": self.recall, "images": self.images}


def human_counts(
    truths: Sequence[Any],
    *,
    tolerance: float | None = None,
    relative_tolerance: float | None = None,
) -> NDArray[np.float64]:
    """Return (cntR, sumR, cntP, sumP) of one image, summed over its annotators as candidates.

    Each annotator's map, not thinned, is matched exactly with each of the others. cntR and sumR run over
    the others' pixels, cntP counts pixels matched by any of the others. The objective of the exact
    matching is symmetric, so one matching serves both directions (only ties could be decided in another
    way). One annotator alone gives zeros.
    """
    maps = as_masks(list(truths), "truth")
    matched = [np.zeros(maps[0].shape, dtype=np.bool_) for _ in maps]
    counts = np.zeros(4)
    for i in range(len(maps)):
        for j in range(i):
            found = match(maps[i], maps[j], tolerance=tolerance, relative_tolerance=relative_tolerance)
            matched[i] |= found.matched_candidate
            matched[j] |= found.matched_truth
            counts[0] += 2 * found.tp
    sizes = np.array([np.count_nonzero(one) for one in maps])
    if len(maps) > 1:
        counts[1] = (len(maps) - 1) * sizes.sum()
        counts[2] = sum(np.count_nonzero(one) for one in matched)
        counts[3] = sizes.sum()
    return counts


def human_level(counts: Iterable[NDArray[np.float64]]) -> HumanLevel | None:
    """Pool the counts of many images; ``None`` if no image has two annotators.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.zeros((9, 9), bool)
    >>> one[4] = True
    >>> human_level([human_counts([one, one])]).f
    1.0
    """
    table = np.array([row for row in counts if row[3] > 0])
    if table.size == 0:
        return None
    hit_r, sum_r, hit_p, sum_p = table.sum(axis=0)
    recall, precision = hit_r / sum_r, hit_p / sum_p
    return HumanLevel(
        recall=float(recall),
        precision=float(precision),
        f=float(f_measure(np.array(recall), np.array(precision))),
        images=len(table),
    )
