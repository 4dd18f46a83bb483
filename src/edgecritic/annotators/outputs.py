"""Does a detector answer stronger where more annotators agree?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.annotators.census import LEVELS, level_names
from edgecritic.annotators.perceptual import SLACK, LabelStrength
from edgecritic.annotators.plots import output_bars
from edgecritic.errors import InputError
from edgecritic.inputs import as_strength
from edgecritic.maps.thinning import thin
from edgecritic.matching import match
from edgecritic.values import Value

__all__ = ["OutputStrength", "output_strength", "pool_output_strength", "OUTPUT_BINS"]

OUTPUT_BINS = 20
"""Outputs are counted in steps of .05."""

_FINE = 256


class OutputStrength(Value):
    """Matched pairs of a detector pixel and a label, by output and by strength.

    Attributes
    ----------
    counts : (256, classes) int64 array
        Row: output in [0, 1] in 256 equal steps. Column: strength (M + 1)/N, see `strengths`.
    strengths : (classes,) float64 array
        Ascending.
    """

    counts: NDArray[np.int64]
    strengths: NDArray[np.float64]

    @property
    def table(self) -> NDArray[np.float64]:
        """Share of each class of strength at each of 20 outputs; rows sum to 1, NaN where nothing is."""
        coarse = np.zeros((OUTPUT_BINS, len(LEVELS)))
        rows = np.minimum(np.arange(_FINE) * OUTPUT_BINS // (_FINE - 1), OUTPUT_BINS - 1)
        columns = np.searchsorted(np.array(LEVELS) - SLACK, self.strengths, side="right") - 1
        for row, counts in zip(rows, self.counts, strict=True):
            np.add.at(coarse[row], columns, counts)
        sums = coarse.sum(axis=1, keepdims=True)
        shares: NDArray[np.float64] = np.full(coarse.shape, np.nan)
        np.divide(coarse, sums, out=shares, where=sums > 0)
        return shares

    @property
    def rho(self) -> float:
        """Spearman's rank correlation of output and strength over all matched pairs; NaN without any.

        Exact for outputs of 8 bits, which have one step each.
        """
        total = self.counts.sum()
        if total < 2:
            return float("nan")
        first, second = _middle_ranks(self.counts.sum(axis=1)), _middle_ranks(self.counts.sum(axis=0))
        middle = (total + 1) / 2
        a, b = first - middle, second - middle
        joint = float(a @ self.counts @ b)
        spread = float((a**2 @ self.counts.sum(axis=1)) * (b**2 @ self.counts.sum(axis=0)))
        return joint / spread**0.5 if spread > 0 else float("nan")

    def as_dict(self) -> dict[str, Any]:
        """Return the table and the correlation, ready for JSON."""
        rows = [None if np.isnan(row).any() else [float(value) for value in row] for row in self.table]
        rho = self.rho
        return {
            "levels": level_names(),
            "outputs": [round(k / OUTPUT_BINS, 2) for k in range(OUTPUT_BINS + 1)],
            "shares": rows,
            "pairs": int(self.counts.sum()),
            "rho": None if np.isnan(rho) else rho,
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the strength of the labels over the output into `ax`, or a new figure; return the axes."""
        shown = self.as_dict()
        return output_bars(ax, shown["outputs"], shown["shares"], shown["levels"])


def output_strength(output: Any, found: LabelStrength, *, thinned: bool = True) -> OutputStrength:
    """Match a detector's pixels with every annotator's labels and note output and strength of each pair.

    Parameters
    ----------
    output : array_like, 2-D
        The detector's strength map; pixels with output > 0 are matched.
    found : LabelStrength
    thinned : bool
        Whether those pixels are thinned before.

    Examples
    --------
    >>> import numpy as np
    >>> from edgecritic.annotators import strength
    >>> both, one = np.zeros((9, 12), bool), np.zeros((9, 12), bool)
    >>> both[2, :] = one[2, :] = one[7, :] = True
    >>> result = output_strength(0.9 * both + 0.1 * (one & ~both), strength([both, one], tolerance=1))
    >>> round(result.rho, 6)
    1.0
    """
    values = as_strength(output, "output")
    if values.shape != found.shape:
        raise InputError(f"output and labels must have the same shape, got {values.shape} and {found.shape}")
    on = values > 0
    candidate = thin(on) if thinned else on
    number = found.annotators
    counts = np.zeros((_FINE, number), dtype=np.int64)
    steps = np.minimum(np.floor(values * (_FINE - 1) + 0.5), _FINE - 1).astype(np.int64)
    for label, partners, pixels in zip(found.maps, found.partners, found.pixels, strict=True):
        pairs = match(candidate, label, tolerance=found.tolerance).pairs
        if pairs is None or len(pairs) == 0:
            continue
        places = np.ravel_multi_index(tuple(pairs[:, 1].T), found.shape)
        drawn = partners[np.searchsorted(pixels, places)]
        np.add.at(counts, (steps[tuple(pairs[:, 0].T)], drawn), 1)
    return OutputStrength(counts=counts, strengths=np.arange(1, number + 1) / number)


def pool_output_strength(parts: Iterable[OutputStrength]) -> OutputStrength:
    """Add the pairs of many images; images may have different numbers of annotators."""
    found = list(parts)
    if not found:
        raise InputError("no image was given to pool")
    strengths = np.unique(np.round(np.concatenate([part.strengths for part in found]), 12))
    counts = np.zeros((_FINE, strengths.size), dtype=np.int64)
    for part in found:
        counts[:, np.searchsorted(strengths, np.round(part.strengths, 12))] += part.counts
    return OutputStrength(counts=counts, strengths=strengths)


def _middle_ranks(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean rank of each group of equal values."""
    ends = np.cumsum(counts)
    return ends - (counts - 1) / 2
