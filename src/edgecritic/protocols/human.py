"""Human level: every annotator judged as if it were a detector, against the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from edgecritic.figures import HUMAN, axes_of
from edgecritic.inputs import Spacing, as_masks
from edgecritic.matching import match
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.plots import recall_frame
from edgecritic.values import Value

__all__ = ["HumanLevel", "human_counts", "human_level"]


class HumanLevel(Value):
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

    def plot(self, ax: Any = None) -> Any:
        """Draw the point of recall and precision into `ax`, or into a new figure; return the axes."""
        axes = axes_of(ax, (5.2, 5.0))
        if not axes.lines:
            recall_frame(axes)
        axes.plot(self.recall, self.precision, "D", color=HUMAN, ms=7, label=f"[F={self.f:.3f}] human")
        axes.legend(loc="lower left")
        return axes

    def __str__(self) -> str:
        return (
            f"human level F {self.f:.4f}  R {self.recall:.4f}  P {self.precision:.4f} ({self.images} images)"
        )


def human_counts(
    truths: Sequence[Any],
    *,
    tolerance: float | None = None,
    relative_tolerance: float | None = None,
    spacing: Spacing = None,
) -> Counts:
    """Return the counts of one image, summed over its annotators as candidates, in a single row.

    Each annotator's map, not thinned, is matched exactly with each of the others. cntR and sumR run over
    the others' pixels, cntP counts pixels matched by any of the others. The objective of the exact
    matching is symmetric, so one matching serves both directions (only ties could be decided in another
    way). One annotator alone gives zeros. Tolerance and spacing are those of :func:`edgecritic.match`.
    """
    maps = as_masks(list(truths), "truth")
    matched = [np.zeros(maps[0].shape, dtype=np.bool_) for _ in maps]
    pairs = 0
    for i in range(len(maps)):
        for j in range(i):
            found = match(
                maps[i],
                maps[j],
                tolerance=tolerance,
                relative_tolerance=relative_tolerance,
                spacing=spacing,
            )
            matched[i] |= found.matched_candidate
            matched[j] |= found.matched_truth
            pairs += 2 * found.tp
    sizes = np.array([np.count_nonzero(one) for one in maps])
    if len(maps) == 1:
        return Counts.of_one((0, 0, 0, 0), threshold=1.0)
    others = (len(maps) - 1) * sizes.sum()
    hits = sum(np.count_nonzero(one) for one in matched)
    return Counts.of_one((pairs, others, hits, sizes.sum()), threshold=1.0)


def human_level(counts: Iterable[Counts]) -> HumanLevel | None:
    """Pool the counts of many images; ``None`` if no image has two annotators.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.zeros((9, 9), bool)
    >>> one[4] = True
    >>> human_level([human_counts([one, one])]).f
    1.0
    """
    found = [one for one in counts if one.candidate.item() > 0]
    if not found:
        return None
    pooled = Counts.stack(found).sum()
    return HumanLevel(
        recall=pooled.recall.item(), precision=pooled.precision.item(), f=pooled.f.item(), images=len(found)
    )
