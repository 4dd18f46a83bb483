"""A closer look at maps: what about them makes strategies of matching differ, and the coherent strategy.

The survey of boundary matching recommends to look at the maps first. Of every pair of maps this module tells
how many pixels answer an edge twice, how many answer none, how far edges are displaced, and whether
neighbouring pixels are displaced alike; and F under the strategy that asks for the latter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.datasets.content import Content
from edgecritic.inputs import BoolArray
from edgecritic.matching import match
from edgecritic.studies.blocks import NOTHING, Block
from edgecritic.studies.pairs import STRATEGIES
from edgecritic.studies.sorting import count_sortings, pearson
from edgecritic.values import Value

__all__ = ["FIVE", "PAIRED", "PairLook", "CloserLook", "look_at_block", "look_at_pair", "summarise_looks"]

FIVE = (*STRATEGIES, "coherent")
"""The four strategies of the survey and the one that it asks for."""

PAIRED = ("exact", "eps", "closest", "coherent")
"""The one-to-one strategies whose coherence is told."""


class PairLook(Value):
    """What was seen of one candidate beside one reference.

    Attributes
    ----------
    reference, candidate : str
    f : tuple of float
        F by each of `FIVE`.
    doubled : float
        Share of the candidate's pixels that ``distance`` calls hits and ``exact`` leaves without a partner.
    stray : float
        Share of the candidate's pixels without any reference pixel within the tolerance.
    displacement : float or None
        Mean distance of the pairs of ``exact``.
    coherence, jumps : tuple of float or None
        By each of `PAIRED`, as in `edgecritic.Matching`.
    """

    reference: str
    candidate: str
    f: tuple[float, ...]
    doubled: float
    stray: float
    displacement: float | None
    coherence: tuple[float | None, ...]
    jumps: tuple[float | None, ...]


class CloserLook(Value):
    """The means over all pairs of maps of one kind, at one tolerance.

    Attributes
    ----------
    maps : str
        ``human``, ``canny`` or ``own``.
    tolerance : float
    pairs : int
    doubled, stray, displacement : float or None
        Means of the fields of `PairLook`.
    f, coherence, jumps : dict
        Their means by strategy.
    pearson, esr : dict
        Of ``coherent`` with each other strategy: correlation of F over pairs of maps, and the share of
        triplets that both sort alike; ``None`` where there are too few.
    """

    maps: str
    tolerance: float
    pairs: int
    doubled: float | None
    stray: float | None
    displacement: float | None
    f: Mapping[str, float]
    coherence: Mapping[str, float | None]
    jumps: Mapping[str, float | None]
    pearson: Mapping[str, float | None]
    esr: Mapping[str, float | None]


def look_at_pair(names: tuple[str, str], maps: tuple[BoolArray, BoolArray], tolerance: float) -> PairLook:
    """Look at a reference and a candidate, given with their names.

    Examples
    --------
    >>> truth, twice = np.zeros((2, 20, 30), bool)
    >>> truth[10, 5:25] = twice[9, 5:25] = twice[11, 5:25] = True
    >>> found = look_at_pair(("truth", "twice"), (truth, twice), 2.5)
    >>> found.doubled, found.stray, found.displacement
    (0.5, 0.0, 1.0)
    """
    reference, candidate = maps
    side = 2 * int(tolerance) + 1
    windowed = {"eps": f"eps(window={side})", "closest": f"closest(window={side})"}
    found = {
        name: match(candidate, reference, strategy=windowed[name])
        if name in windowed
        else match(candidate, reference, strategy=name, tolerance=tolerance)
        for name in dict.fromkeys((*FIVE, *PAIRED))
    }
    size = max(int(np.count_nonzero(candidate)), 1)
    return PairLook(
        reference=names[0],
        candidate=names[1],
        f=tuple(found[name].f() for name in FIVE),
        doubled=(found["distance"].tp - found["exact"].tp) / size,
        stray=found["distance"].fp / size,
        displacement=found["exact"].mean_distance,
        coherence=tuple(found[name].coherence for name in PAIRED),
        jumps=tuple(found[name].jumps for name in PAIRED),
    )


def look_at_block(block: Block, contents: Mapping[Path, Content] = NOTHING) -> list[PairLook]:
    """Look at every candidate of a block beside every other reference, at its middle tolerance."""
    rows = [item for source in block.rows for item in source.load(contents).items()]
    columns = [item for source in block.columns for item in source.load(contents).items()]
    tolerance = middle(block.tolerances)
    return [
        look_at_pair((a, b), (first, second), tolerance)
        for a, first in rows
        for b, second in columns
        if a != b
    ]


def middle(tolerances: Sequence[float]) -> float:
    """Return the tolerance in the middle, of an even number the smaller one.

    Examples
    --------
    >>> middle([2.5, 5, 10])
    5
    """
    return sorted(tolerances)[(len(tolerances) - 1) // 2]


def summarise_looks(looks: Sequence[PairLook], *, maps: str, tolerance: float) -> CloserLook:
    """Return the means of what was seen, and how far ``coherent`` agrees with the other strategies."""
    f = np.array([one.f for one in looks], dtype=np.float64).reshape(-1, len(FIVE))
    own = f[:, FIVE.index("coherent")]
    alike = {name: f[:, place] for place, name in enumerate(STRATEGIES)}
    references = np.array([one.reference for one in looks])
    return CloserLook(
        maps=maps,
        tolerance=tolerance,
        pairs=len(looks),
        doubled=_mean([one.doubled for one in looks]),
        stray=_mean([one.stray for one in looks]),
        displacement=_mean([one.displacement for one in looks]),
        f=dict(zip(FIVE, f.mean(axis=0).tolist(), strict=True)) if looks else {},
        coherence={name: _mean([one.coherence[k] for one in looks]) for k, name in enumerate(PAIRED)},
        jumps={name: _mean([one.jumps[k] for one in looks]) for k, name in enumerate(PAIRED)},
        pearson={name: pearson(values, own) for name, values in alike.items()},
        esr={name: _esr(references, values, own) for name, values in alike.items()},
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _esr(references: NDArray[Any], first: NDArray[np.float64], second: NDArray[np.float64]) -> float | None:
    rows = [references == name for name in dict.fromkeys(references.tolist())]
    tables = [np.array([np.where(row, values, np.nan) for row in rows]) for values in (first, second)]
    return count_sortings(*tables).ratio if rows else None
