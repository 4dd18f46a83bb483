"""Proposals of truths: the crests of central differences, which a person then edits.

The semi-automatic truth of Abdulrahman, Magnier and Montesinos (Journal of WSCG 25, 2017): differences with
the mask [−1 0 1] along both axes, by Di Zenzo's tensor in colour, crests across the gradient; a person then
deletes what is unwanted and adds what is missing (`edgecritic.maps.fold`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgecritic.inputs import FloatArray

__all__ = ["Proposal", "first_level", "levels_of", "propose"]


class Proposal(NamedTuple):
    """What a person begins with.

    Attributes
    ----------
    levels : uint8 array
        0 where central differences have no crest, else round(255·√strength), at least 1.
    gradient : uint8 array
        round(255·√strength) everywhere.
    level : int
        A threshold to begin with, see :func:`first_level`.
    """

    levels: NDArray[np.uint8]
    gradient: NDArray[np.uint8]
    level: int


def propose(image: Any) -> Proposal:
    """Return the proposal of a photo.

    Examples
    --------
    >>> image = np.zeros((9, 9))
    >>> image[:, 5:], image[:, 4] = 1, 0.5
    >>> found = propose(image)
    >>> np.flatnonzero(found.levels[4]), found.level
    (array([4]), 256)
    """
    from edgecritic.detectors.base import detect

    found = detect(image, "central")
    levels = np.where(found.thin > 0, np.maximum(levels_of(found.thin), 1), 0).astype(np.uint8)
    return Proposal(levels, levels_of(found.strength), first_level(levels))


def first_level(levels: NDArray[np.integer[Any]]) -> int:
    """Return a threshold to begin with: the lowest from 40 on that marks at most 5 % of the pixels.

    Examples
    --------
    >>> first_level(np.array([[0] * 95 + [50, 60, 70, 80, 90, 100]]))
    51
    """
    above = np.cumsum(np.bincount(levels.ravel().astype(np.int64), minlength=256)[::-1])[::-1]
    few = np.flatnonzero(above[40:] <= 0.05 * levels.size)
    return 40 + int(few[0]) if few.size else 256


def levels_of(strength: FloatArray) -> NDArray[np.uint8]:
    """Return round(255·√strength): weak edges get more of the scale."""
    levels: NDArray[np.uint8] = np.rint(255 * np.sqrt(strength)).astype(np.uint8)
    return levels
