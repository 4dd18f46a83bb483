"""Pictures of volumes: the slices with the most errors, one along each axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.inputs import BoolArray
from edgecritic.report.pictures import matching_picture

__all__ = ["Slice", "worst_slices"]

_MOST_REPEATS = 8


class Slice(NamedTuple):
    """A slice of a volume: along which axis and at which place, both counted from 0, and its picture."""

    axis: int
    place: int
    errors: float
    png: bytes

    @property
    def words(self) -> str:
        """Where it is: axes count from 1 in the order of the file, slices from 0 as in viewers."""
        return f"slice {self.place} along axis {self.axis + 1}, {self.errors:.0f} errors"


def worst_slices(
    candidate: BoolArray,
    matched_candidate: BoolArray,
    truths: Sequence[BoolArray],
    missed_truths: Sequence[BoolArray],
    background: NDArray[Any] | None = None,
    spacing: Sequence[float] | None = None,
) -> Iterator[Slice]:
    """Return for each axis the slice with the most errors.

    Errors are false alarms and, averaged over the annotators, misses; of equal slices the first is taken.
    Where no slice has errors the middle one is.

    Parameters
    ----------
    candidate, matched_candidate, truths, missed_truths, background
        As in :func:`edgecritic.report.pictures.matching_picture`, but volumes; values of the background from
        0 to 1.
    spacing : sequence of float, optional
        Voxel size; voxels that are longer along one axis are drawn so, by whole factors.

    Examples
    --------
    >>> truth = np.zeros((4, 5, 6), bool)
    >>> truth[2, 1:4, 1:5] = True
    >>> nothing = np.zeros_like(truth)
    >>> [(one.axis, one.place, one.errors) for one in worst_slices(nothing, nothing, [truth], [truth])]
    [(0, 2, 12.0), (1, 1, 4.0), (2, 1, 3.0)]
    """
    sizes = (1.0, 1.0, 1.0) if spacing is None else tuple(spacing)
    wrong = (candidate & ~matched_candidate).astype(np.float32)
    for one in missed_truths:
        wrong += one / np.float32(len(truths))
    for axis in range(3):
        errors = wrong.sum(axis=tuple(other for other in range(3) if other != axis), dtype=np.float64)
        index = int(errors.argmax()) if errors.any() else errors.size // 2
        kept = [size for other, size in enumerate(sizes) if other != axis]
        repeats = [min(_MOST_REPEATS, max(1, round(size / min(kept)))) for size in kept]

        def cut(volume: Any, axis: int = axis, index: int = index, repeats: list[int] = repeats) -> Any:
            plane = np.take(volume, index, axis=axis)
            return plane.repeat(repeats[0], axis=0).repeat(repeats[1], axis=1)

        png = matching_picture(
            cut(candidate),
            cut(matched_candidate),
            [cut(one) for one in truths],
            [cut(one) for one in missed_truths],
            None if background is None else cut(background),
        )
        yield Slice(axis, index, float(errors[index]), png)
