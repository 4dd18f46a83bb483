"""The worked example of the Efficient Pairing Strategy, zone by zone (Figs. 4 and 5 of its paper).

The paper tells numbers of candidates and distances, not the pixels; these maps have the same numbers: in the
first zone nobody has a candidate, in the second FN1 has two, FN2 one and FN3 none, and FN3 is paired in the
third. The distances are [√2, √2, 2].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edgecritic.inputs import BoolArray
from edgecritic.matching import match
from edgecritic.studies.cuts import WINDOW, Sample
from edgecritic.values import Value

__all__ = ["Walkthrough", "Zone", "paper_example", "walk_through"]


class Zone(Value):
    """What happens in one zone.

    Attributes
    ----------
    length : float
        Distance of the zone's pixels, which is the cost of a pair.
    offsets : (k, 2) int array
    misses, detections : (n, 2) int arrays
        Pixels that are still open when the zone begins.
    candidates : tuple of int
        How many open detections each open miss has in this zone.
    pairs : (m, 2, 2) int array
        Candidate and truth pixel of the pairs made here.
    """

    length: float
    offsets: NDArray[np.int64]
    misses: NDArray[np.int64]
    detections: NDArray[np.int64]
    candidates: tuple[int, ...]
    pairs: NDArray[np.int64]


class Walkthrough(Value):
    """The whole pairing: both maps, the zones in their order, and the distances of the pairs."""

    candidate: BoolArray
    truth: BoolArray
    zones: tuple[Zone, ...]

    @property
    def distances(self) -> tuple[float, ...]:
        """The distance function: one distance for each pair that is no hit, ascending."""
        return tuple(zone.length for zone in self.zones for _ in range(len(zone.pairs)))


def paper_example() -> Sample:
    """Return candidate and truth of the worked example.

    Examples
    --------
    >>> [round(length, 2) for length in walk_through(*paper_example()).distances]
    [1.41, 1.41, 2.0]
    """
    truth = np.zeros((9, 7), dtype=np.bool_)
    truth[1:8, 2] = True
    candidate = truth.copy()
    candidate[[2, 4, 6], 2] = False
    candidate[[1, 3, 6], [3, 3, 4]] = True
    return candidate, truth


def walk_through(candidate: BoolArray, truth: BoolArray) -> Walkthrough:
    """Follow the pairing of ``eps`` zone by zone.

    The pairs are those of ``match(…, strategy="eps")``; what was open when a zone began follows from them.

    Examples
    --------
    >>> [zone.candidates for zone in walk_through(*paper_example()).zones][:3]
    [(0, 0, 0), (2, 1, 0), (1,)]
    """
    reach = WINDOW // 2
    rows, columns = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    offsets = np.stack([rows.ravel(), columns.ravel()], axis=1)
    squares = (offsets**2).sum(axis=1)
    found = match(candidate, truth, strategy=f"eps(window={WINDOW})").pairs
    pairs = np.zeros((0, 2, 2), dtype=np.int64) if found is None else found
    lengths = ((pairs[:, 0] - pairs[:, 1]) ** 2).sum(axis=1)
    misses, detections = truth & ~candidate, candidate & ~truth
    zones = []
    for square in np.unique(squares[squares > 0]):
        around, made = offsets[squares == square], pairs[lengths == square]
        open_misses = np.argwhere(misses)
        padded = np.pad(detections, reach)
        seen = open_misses[:, None] + around[None] + reach
        zones.append(
            Zone(
                length=float(np.sqrt(square)),
                offsets=around,
                misses=open_misses,
                detections=np.argwhere(detections),
                candidates=tuple(int(n) for n in padded[seen[..., 0], seen[..., 1]].sum(axis=1)),
                pairs=made,
            )
        )
        detections[tuple(made[:, 0].T)] = False
        misses[tuple(made[:, 1].T)] = False
    return Walkthrough(candidate=candidate, truth=truth, zones=tuple(zones))
