"""The control for consensus labels: as few labels, chosen by place and not by strength."""

from __future__ import annotations

import numpy as np

from edgecritic.annotators.perceptual import LabelStrength
from edgecritic.inputs import BoolArray, mask_of

__all__ = ["partial_labels"]


def partial_labels(found: LabelStrength, *, level: float = 1.0, seed: int | list[int] = 0) -> list[BoolArray]:
    """Cut every annotator's map down to the size of his labels of strength ≥ `level`.

    One direction is drawn for the image; each annotator keeps his n labels that lie lowest along it (ties
    in raster order), n being the number of his labels of that strength. Which labels stay thus depends on
    the image's content no more than by their place.

    Parameters
    ----------
    found : LabelStrength
    level : float
    seed : int or list of int
        Seed of the direction.

    Examples
    --------
    >>> import numpy as np
    >>> from edgecritic.annotators import strength
    >>> one, two = np.zeros((6, 9), bool), np.zeros((6, 9), bool)
    >>> one[2, :8] = True
    >>> two[2, 2:5] = True
    >>> [int(part.sum()) for part in partial_labels(strength([one, two], tolerance=1))]
    [3, 3]
    """
    direction = np.random.default_rng(seed).standard_normal(len(found.shape))
    cut = []
    for pixels, kept in zip(found.pixels, found.at_least(level), strict=True):
        along = np.stack(np.unravel_index(pixels, found.shape), axis=1) @ direction
        lowest = np.argsort(along, kind="stable")[: int(np.count_nonzero(kept))]
        cut.append(mask_of(pixels[lowest], found.shape))
    return cut
