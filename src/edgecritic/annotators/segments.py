"""Short pieces of boundary that people can compare: long enough, of similar length, apart from each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from edgecritic.inputs import BoolArray
from edgecritic.values import Value

__all__ = ["LEAST", "RATIO", "Segment", "around", "draw_pair"]

LEAST = 12
"""Fewest pixels of a segment that is drawn, if the image has such."""
RATIO = 1.5
"""So many times the pixels of the shorter segment may the longer one have."""
_LOOKED_AT = (40, 1000)
"""So many segments of each kind are looked at, at first and if no two of them are apart."""


class Segment(Value):
    """A short piece of boundary.

    Attributes
    ----------
    kind : "label" or "false alarm"
    centre : (row, column)
        The pixel that was drawn.
    pixels : tuple of (row, column)
        The piece of its map that hangs together with it inside the square around it.
    """

    kind: str
    centre: tuple[int, int]
    pixels: tuple[tuple[int, int], ...]


def around(mask: BoolArray, centre: NDArray[np.int64], square: int, kind: str) -> Segment:
    """Return the piece of a mask that hangs together with a pixel inside the square around it.

    Examples
    --------
    >>> mask = np.zeros((9, 9), bool)
    >>> mask[4, 1:6] = mask[2, 8] = True
    >>> len(around(mask, np.array([4, 4]), 5, "label").pixels)
    4
    """
    from scipy import ndimage

    corner = np.maximum(centre - square // 2, 0)
    end = centre + square // 2 + 1
    pieces, _ = ndimage.label(mask[corner[0] : end[0], corner[1] : end[1]], structure=np.ones((3, 3)))
    own = np.argwhere(pieces == pieces[tuple(centre - corner)]) + corner
    return Segment(kind=kind, centre=_point(centre), pixels=tuple(_point(place) for place in own))


def draw_pair(
    labels: Sequence[BoolArray], alarms: BoolArray, square: int, least: int, rng: np.random.Generator
) -> tuple[Segment, Segment] | None:
    """Draw a label of one annotator and a false alarm that people can compare.

    Every label pixel, and every pixel of a false alarm, is equally likely among those that have a partner
    of comparable length. None if the image has no two segments whose squares do not overlap.
    """
    if not alarms.any():
        return None
    for wanted, most in (*((least, most) for most in _LOOKED_AT), (1, _LOOKED_AT[-1])):
        first = _pieces(labels, square, "label", wanted, most, rng)
        second = _pieces([alarms], square, "false alarm", wanted, most, rng)
        pair = _best_pair(first, second, square, least)
        if pair is not None:
            return pair
    return None


def _pieces(
    masks: Sequence[BoolArray], square: int, kind: str, least: int, most: int, rng: np.random.Generator
) -> list[Segment]:
    """Return up to `most` segments of at least so many pixels, in random order."""
    found: list[Segment] = []
    for who, place in _places(masks, square, least, rng):
        piece = around(masks[who], place, square, kind)
        if len(piece.pixels) >= least:
            found.append(piece)
        if len(found) == most:
            break
    return found


def _places(
    masks: Sequence[BoolArray], square: int, least: int, rng: np.random.Generator
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield the pixels in whose square there are enough others, in random order."""
    from scipy import ndimage

    size = square * square
    spots = []
    for who, mask in enumerate(masks):
        near = ndimage.uniform_filter(mask.astype(np.float64), square, mode="constant") * size
        spots += [(who, place) for place in np.argwhere(mask & (near > least - 0.5))]
    for number in rng.permutation(len(spots)):
        yield spots[int(number)]


def _best_pair(
    first: Sequence[Segment], second: Sequence[Segment], square: int, least: int
) -> tuple[Segment, Segment] | None:
    """Return the first pair of comparable length whose squares do not overlap, else the nearest to that."""
    if not first or not second:
        return None
    centres = [np.array([one.centre for one in some]) for some in (first, second)]
    sizes = [np.array([len(one.pixels) for one in some]) for some in (first, second)]
    apart = np.abs(centres[0][:, None] - centres[1][None]).max(axis=2) >= square
    if not apart.any():
        return None
    short = np.minimum(sizes[0][:, None], sizes[1][None])
    ratio = np.maximum(sizes[0][:, None], sizes[1][None]) / short
    worse = np.where(apart, np.maximum(ratio, RATIO) + 1e6 * np.maximum(least - short, 0), np.inf)
    place = np.unravel_index(int(np.argmin(worse)), worse.shape)
    return first[int(place[0])], second[int(place[1])]


def _point(place: NDArray[np.int64]) -> tuple[int, int]:
    return int(place[0]), int(place[1])
