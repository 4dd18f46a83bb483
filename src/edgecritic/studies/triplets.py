"""Two candidates and a reference: under which strategies is which one better, and where do they differ?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray
from edgecritic.matching import Matching, match
from edgecritic.studies.pairs import STRATEGIES
from edgecritic.studies.sorting import sorting_margins
from edgecritic.values import Value

__all__ = ["PUBLISHED", "Triplet", "judge_triplet", "disputed_areas"]

PUBLISHED = ("226022#5", ("226022#canny(1,1)", "226022#canny(2,3)"))
"""The triplet of Figs. 6 and 7 of the survey."""


class Triplet(Value):
    """A reference and two candidates under several strategies.

    Attributes
    ----------
    reference : str
    candidates : tuple of two str
    tolerance : float
    matchings : dict
        By strategy the matchings of both candidates.
    """

    _hidden = ("matchings",)

    reference: str
    candidates: tuple[str, str]
    tolerance: float
    matchings: Mapping[str, tuple[Matching, Matching]]

    def margin(self, first: str, second: str) -> float:
        """Return the Sorting Margin of two strategies, below 0 if they sort the candidates oppositely."""
        one, two = (np.array([each.f() for each in self.matchings[name]]) for name in (first, second))
        return float(sorting_margins(one, two)[0])

    @property
    def margins(self) -> dict[tuple[str, str], float]:
        """The Sorting Margin of every pair of strategies."""
        return {pair: self.margin(*pair) for pair in combinations(self.matchings, 2)}

    def as_dict(self) -> dict[str, Any]:
        """Return names, F and margins, ready for JSON."""
        return {
            "reference": self.reference,
            "candidates": list(self.candidates),
            "tolerance": self.tolerance,
            "f": {name: [each.f() for each in pair] for name, pair in self.matchings.items()},
            "margins": [
                {"first": first, "second": second, "margin": margin}
                for (first, second), margin in self.margins.items()
            ],
        }


def judge_triplet(
    reference: tuple[str, BoolArray],
    candidates: Sequence[tuple[str, BoolArray]],
    *,
    tolerance: float,
    strategies: Sequence[str] = STRATEGIES,
) -> Triplet:
    """Match two candidates with a reference, all three given with their names.

    Examples
    --------
    >>> truth, near, half = np.zeros((3, 20, 20), bool)
    >>> truth[10] = near[12] = half[10, :12] = True
    >>> found = judge_triplet(("truth", truth), [("near", near), ("half", half)], tolerance=2.5)
    >>> round(found.margin("distance", "area"), 3)
    -0.205
    """
    if len(candidates) != 2:
        raise InputError(f"a triplet has a reference and two candidates, got {len(candidates)}")
    (one, first), (two, second) = candidates
    return Triplet(
        reference=reference[0],
        candidates=(one, two),
        tolerance=tolerance,
        matchings={
            name: (
                match(first, reference[1], strategy=name, tolerance=tolerance),
                match(second, reference[1], strategy=name, tolerance=tolerance),
            )
            for name in strategies
        },
    )


def disputed_areas(
    matchings: Sequence[Matching], *, side: int = 61, most: int = 2
) -> list[tuple[slice, slice]]:
    """Return the squares with the most candidate pixels that some strategies match and others do not.

    They do not overlap, the first has the most such pixels; there is none where nothing is disputed.

    Examples
    --------
    >>> truth, twice = np.zeros((2, 40, 60), bool)
    >>> truth[20, 10:20] = twice[19, 10:20] = twice[21, 10:20] = True
    >>> found = [match(twice, truth, strategy=name, tolerance=2) for name in ("distance", "exact")]
    >>> disputed_areas(found, side=11)
    [(slice(11, 22, None), slice(9, 20, None))]
    """
    masks = np.array([one.matched_candidate for one in matchings])
    differ = np.asarray(masks.any(axis=0) & ~masks.all(axis=0), dtype=np.int64)
    height, width = (min(side, size) for size in differ.shape)
    found: list[tuple[slice, slice]] = []
    while len(found) < most:
        sums = _box_sums(differ, height, width)
        for rows, columns in found:
            sums[
                max(rows.start - height + 1, 0) : rows.stop, max(columns.start - width + 1, 0) : columns.stop
            ] = 0
        top, left = np.unravel_index(int(np.argmax(sums)), sums.shape)
        if sums[top, left] == 0:
            break
        found.append((slice(int(top), int(top) + height), slice(int(left), int(left) + width)))
    return found


def _box_sums(values: NDArray[np.int64], height: int, width: int) -> NDArray[np.int64]:
    total = np.pad(values.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    sums: NDArray[np.int64] = (
        total[height:, width:] - total[:-height, width:] - total[height:, :-width] + total[:-height, :-width]
    )
    return sums
