"""Local coherence of an edge map without any truth: do edges go on, and are they thin?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, as_array, as_mask
from edgecritic.measures.base import Empty, measure
from edgecritic.measures.evidence import Single
from edgecritic.values import Value

__all__ = ["EdgeCoherence", "edge_coherence", "kitchen_rosenfeld"]

_AROUND = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
"""The eight neighbours (row, column); number k lies in the direction kπ/4, turning from columns to rows."""
_WINDOW = 7
"""Side of the window in which the direction of a line is taken from the map itself."""


class EdgeCoherence(Value):
    """The measure of Kitchen and Rosenfeld and its two parts, means over all edge pixels.

    Attributes
    ----------
    continuation : float
        C: whether an edge goes on to both sides in its own direction.
    thinness : float
        T: the share of the six other neighbours that are no edges.
    value : float
        γ·C + (1 − γ)·T.
    """

    continuation: float
    thinness: float
    value: float


@measure(
    "kitchen_rosenfeld",
    symbol="KR",
    family="without truth",
    reference="Kitchen & Rosenfeld 1981, IEEE Transactions on Systems, Man, and Cybernetics 11(9)",
    better="higher",
    range=(0, 1),
    symmetric=False,
    sees="neither",
    empty=Empty(both=0.0, candidate=0.0, truth=0.0),
    needs="candidate",
)
def kitchen_rosenfeld(single: Single, /, *, gamma: float = 0.8) -> float:
    """Return the edge coherence γ·C + (1 − γ)·T of Kitchen and Rosenfeld; 2-D only.

    C asks whether edges go on, T whether they are thin, see :func:`edge_coherence`, which also takes the
    directions of the image. Here they are those of the map: across the line through the edge pixels of
    the 7×7 window around each.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.zeros((20, 20), bool)
    >>> line[10] = True
    >>> kitchen_rosenfeld(line)
    0.96
    """
    if not 0 <= gamma <= 1:
        raise InputError(f"gamma is a weight from 0 to 1, got {gamma!r}")
    return edge_coherence(single.plane("kitchen_rosenfeld"), gamma=gamma).value


def edge_coherence(candidate: Any, direction: Any = None, *, gamma: float = 0.8) -> EdgeCoherence:
    """Return how coherent an edge map is, and its two parts.

    Let d be the direction across the edge at a pixel, d_k that at its neighbour k, which lies in the
    direction kπ/4, and a(α, β) = (π − |α − β|)/π for the angle between two directions. L(k) = a(d, d_k)·
    a(kπ/4, d + π/2) if the neighbour is an edge, else 0; R(k) with d − π/2. C is half the sum of the best
    L among the three neighbours nearest to d + π/2 and the best R among the three opposite ones. T is the
    share of the six others that are no edges. Nothing is an edge outside of the image.

    Parameters
    ----------
    candidate : array_like, 2-D
    direction : array_like, optional
        In radians from the columns' axis to the rows' axis, for every pixel: the direction of the
        gradient, atan2(rows, columns). Without it that of the map itself, whose sign does not count.
    gamma : float
        Weight of C.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.zeros((20, 20), bool)
    >>> line[10:12] = True
    >>> found = edge_coherence(line)
    >>> found.continuation, round(found.thinness, 6)
    (0.95, 0.516667)
    """
    edges = as_mask(candidate, "candidate")
    if edges.ndim != 2:
        raise InputError(f"edge coherence is defined in 2 dimensions only, got shape {edges.shape}")
    own = direction is None
    angles = _across(edges) if own else np.asarray(as_array(direction), dtype=np.float64)
    if angles.shape != edges.shape:
        raise InputError(f"directions must have the shape of the map, got {angles.shape} and {edges.shape}")
    places = np.argwhere(edges)
    if not len(places):
        return EdgeCoherence(continuation=0.0, thinness=0.0, value=0.0)
    there, theirs = _neighbours(edges, angles, places)
    mine = angles[edges]
    alike = _likeness(mine[:, None], theirs, axes=own) * there
    rows = np.arange(len(places))
    goes_on, chosen = np.zeros(len(places)), np.zeros(len(places))
    for turn in (np.pi / 2, -np.pi / 2):
        nearest = np.rint((mine + turn) / (np.pi / 4)).astype(np.int64)
        three = np.stack([nearest, nearest - 1, nearest + 1], axis=1) % 8
        along = _likeness(three * (np.pi / 4), (mine + turn)[:, None])
        values = alike[rows[:, None], three] * along
        best = values.argmax(axis=1)
        goes_on += values[rows, best] / 2
        chosen += there[rows, three[rows, best]]
    thin = 1 - (there.sum(axis=1) - chosen) / 6
    first, second = float(goes_on.mean()), float(thin.mean())
    return EdgeCoherence(continuation=first, thinness=second, value=gamma * first + (1 - gamma) * second)


def _neighbours(
    edges: BoolArray, angles: NDArray[np.float64], places: NDArray[np.int64]
) -> tuple[BoolArray, NDArray[np.float64]]:
    """Return which of the eight neighbours are edges, and their directions, for every edge pixel."""
    wide, turned = np.pad(edges, 1), np.pad(angles, 1)
    at = [(places[:, 0] + 1 + row, places[:, 1] + 1 + column) for row, column in _AROUND]
    return np.stack([wide[one] for one in at], axis=1), np.stack([turned[one] for one in at], axis=1)


def _likeness(first: Any, second: Any, *, axes: bool = False) -> NDArray[np.float64]:
    """Return (π − angle)/π of two directions, or of two axes, which have no sign."""
    turn = np.pi if axes else 2 * np.pi
    apart = np.abs(first - second) % turn
    likeness: NDArray[np.float64] = 1 - np.minimum(apart, turn - apart) / np.pi
    return likeness


def _across(edges: BoolArray) -> NDArray[np.float64]:
    """Return the direction across the line through the edge pixels of the window around each pixel."""
    from scipy import ndimage

    ink = edges.astype(np.float64)
    steps = np.arange(_WINDOW) - _WINDOW // 2
    y, x = np.meshgrid(steps, steps, indexing="ij")

    def moment(weights: Any) -> NDArray[np.float64]:
        found: NDArray[np.float64] = ndimage.correlate(ink, weights.astype(np.float64), mode="constant")
        return found

    count = np.maximum(moment(np.ones_like(x)), 1)
    mean_x, mean_y = moment(x) / count, moment(y) / count
    xx = moment(x * x) / count - mean_x**2
    yy = moment(y * y) / count - mean_y**2
    xy = moment(x * y) / count - mean_x * mean_y
    along: NDArray[np.float64] = np.arctan2(2 * xy, xx - yy) / 2
    return along + np.pi / 2
