"""Figures of merit: sums of 1 / (1 + κ·d²) after Pratt.

`fom` is Pratt's, 1 at best; those made from it later are complements, 0 at best. κ is 1/9 unless given.
The limit of a term for an infinite distance is 0.
"""

from __future__ import annotations

import math

import numpy as np

from edgecritic.ids import Id
from edgecritic.measures.base import Empty, Special, measure
from edgecritic.measures.checks import check_between, check_choice, check_share
from edgecritic.measures.evidence import Comparison

__all__ = ["KAPPA", "fom", "fom_e", "fom_revisited", "d4", "sfom", "mfom", "dp"]

KAPPA = 1 / 9
FAMILY = "figures of merit"
WORST_IS_1 = Empty(both=0.0, candidate=1.0, truth=1.0)


@measure(
    "fom",
    symbol="FoM",
    family=FAMILY,
    reference="Abdou & Pratt 1979, doi:10.1109/PROC.1979.11325; one-to-one: Smith & Williams 2020",
    better="higher",
    range=(0, 1),
    symmetric=False,
    sees="both",
    empty=Empty(both=1.0, candidate=0.0, truth=0.0),
    needs="distances",
    star=True,
)
def fom(comparison: Comparison, /, *, kappa: float = KAPPA, strategy: str | Id | None = None) -> float:
    """Return Pratt's figure of merit, Σ_candidate 1/(1 + κ·d²) / max(|truth|, |candidate|).

    d is the distance of a candidate pixel to the truth. With a one-to-one `strategy` such as
    ``eps(window=5)`` or ``exact`` only matched pixels count, each with the distance to its partner.
    Partners are not unique where matchings cost the same (two steps of one pixel, or one of two): the value
    then is that of one of the best matchings, and may be that of another one for flipped or transposed maps.

    Examples
    --------
    >>> fom([[1, 0, 0, 0], [0, 1, 0, 0]], [[1, 1, 0, 0], [0, 0, 0, 0]])
    0.95
    """
    check_share("kappa", kappa)
    most = max(comparison.n_truth, comparison.n_candidate)
    if strategy is None:
        return comparison.merit_sums(kappa)[0] / most
    return float(np.sum(1 / (1 + kappa * comparison.pair_distances(strategy) ** 2))) / most


@measure(
    "fom_e",
    symbol="FoM_e",
    family=FAMILY,
    reference="Strasters & Gerbrands 1991, Pattern Recognition Letters 12(5)",
    better="lower",
    range=(0, 1),
    symmetric=False,
    sees="false alarms",
    empty=Empty(both=0.0, candidate=0.0, truth=1.0),
    needs="distances",
)
def fom_e(comparison: Comparison, /, *, kappa: float = KAPPA, literal: bool = False) -> float:
    """Return 1 − (1/FP)·Σ_false alarms 1/(1 + κ·d²), and 0 without false alarms.

    ``literal=True`` gives 1 without false alarms, as a printed form of the formula has it.

    Examples
    --------
    >>> fom_e([[1, 0, 1]], [[1, 1, 0]])
    0.1
    """
    check_share("kappa", kappa)
    counts = comparison.confusion
    if counts.fp == 0:
        return 1.0 if literal else 0.0
    return 1 - (comparison.merit_sums(kappa)[0] - counts.tp) / counts.fp


@measure(
    "fom_revisited",
    symbol="F",
    family=FAMILY,
    reference="Pinho & Almeida 1995, ICIAP",
    better="lower",
    range=(0, 1),
    symmetric=False,
    sees="both",
    empty=WORST_IS_1,
    needs="distances",
)
def fom_revisited(comparison: Comparison, /, *, kappa: float = KAPPA, beta: float = 1.0) -> float:
    """Return 1 − Σ_truth 1/(1 + κ·d²) / (|truth| + β·FP), d the distance to the candidate.

    Examples
    --------
    >>> fom_revisited([[1, 0, 0]], [[1, 1, 0]])
    0.05
    """
    check_share("kappa", kappa)
    check_between("beta", beta, 0, math.inf)
    counts = comparison.confusion
    return 1 - comparison.merit_sums(kappa)[1] / (comparison.n_truth + beta * counts.fp)


@measure(
    "d4",
    symbol="d₄",
    family=FAMILY,
    reference="Boaventura & Gonzaga 2009, Method to evaluate the performance of edge detector",
    better="lower",
    range=(0, 1),
    symmetric=False,
    sees="both",
    empty=Empty(both=0.0, candidate=math.sqrt(3) / 2, truth=math.sqrt(3) / 2),
    needs="distances",
)
def d4(comparison: Comparison, /, *, kappa: float = KAPPA, literal: bool = False) -> float:
    """Return ½·√(((TP − m)² + FN² + FP²)/m² + FoM*²) with m = max(|truth|, |candidate|).

    Half the distance of (TP/m, FN/m, FP/m, FoM) from the ideal (1, 0, 0, 1), FoM* = 1 − FoM.
    ``literal=True`` takes FoM* unsquared, as it has been printed.

    Examples
    --------
    >>> d4([[1, 1, 0]], [[1, 1, 0]])
    0.0
    """
    merit = 1 - fom(comparison, kappa=kappa)
    counts = comparison.confusion
    m = max(comparison.n_truth, comparison.n_candidate)
    shares = ((counts.tp - m) ** 2 + counts.fn**2 + counts.fp**2) / m**2
    return 0.5 * math.sqrt(shares + (merit if literal else merit**2))


@measure(
    "sfom",
    symbol="SFoM",
    family=FAMILY,
    reference="Abdulrahman, Magnier & Montesinos 2017 (WSCG)",
    better="lower",
    range=(0, 1),
    symmetric=True,
    sees="both",
    empty=WORST_IS_1,
    needs="distances",
)
def sfom(comparison: Comparison, /, *, kappa: float = KAPPA) -> float:
    """Return the mean of `fom_star` and of `fom_star` with the roles of the maps exchanged.

    Examples
    --------
    >>> sfom([[1, 0, 0]], [[1, 1, 0]])
    0.275
    """
    check_share("kappa", kappa)
    return sum(_both_ways(comparison, kappa)) / 2


@measure(
    "mfom",
    symbol="MFoM",
    family=FAMILY,
    reference="Abdulrahman, Magnier & Montesinos 2017 (WSCG)",
    better="lower",
    range=(0, 1),
    symmetric=True,
    sees="both",
    empty=WORST_IS_1,
    needs="distances",
)
def mfom(comparison: Comparison, /, *, kappa: float = KAPPA) -> float:
    """Return the greater of `fom_star` and of `fom_star` with the roles of the maps exchanged.

    Examples
    --------
    >>> mfom([[1, 0, 0]], [[1, 1, 0]])
    0.5
    """
    check_share("kappa", kappa)
    return max(_both_ways(comparison, kappa))


@measure(
    "dp",
    symbol="D_p",
    family=FAMILY,
    reference="Panetta, Gao, Agaian & Nercessian 2016, IEEE Trans. SMC 46",
    better="lower",
    range=(0, 1),
    symmetric=False,
    sees="both",
    empty=Empty(
        both=0.0,
        candidate=0.5,
        truth=Special(
            "half the share of the image that is candidate", lambda c, _: c.n_candidate / c.size / 2
        ),
    ),
    needs="distances",
)
def dp(comparison: Comparison, /, *, kappa: float = KAPPA, target: str = "hits", no_tp: str = "far") -> float:
    """Return L / (2·|not truth|) + R / (2·|truth|), with L and R sums of 1 − 1/(1 + κ·d²).

    L runs over the candidate with the distance to the truth. R runs over the truth with the distance
    to the nearest correctly detected pixel, or with ``target="detected"`` to the nearest candidate
    pixel. Without any hit every term of R is 1, or 0 with ``no_tp="ignore"``.

    Examples
    --------
    >>> dp([[1, 0, 0, 0]], [[1, 1, 0, 0]])
    0.025
    """
    check_share("kappa", kappa)
    check_choice("target", target, ("hits", "detected"))
    check_choice("no_tp", no_tp, ("far", "ignore"))
    outside = comparison.size - comparison.n_truth
    alarms = comparison.n_candidate - comparison.merit_sums(kappa)[0]
    misses = comparison.n_truth - comparison.merit_sums(kappa)[1]
    if target == "hits":
        to_hits = comparison.to_hits
        misses = float(np.sum(1 - 1 / (1 + kappa * to_hits**2)))
        if no_tp == "ignore" and comparison.confusion.tp == 0:
            misses = 0.0
    return (alarms / outside if outside else 0.0) / 2 + misses / comparison.n_truth / 2


def _both_ways(comparison: Comparison, kappa: float) -> tuple[float, float]:
    most = max(comparison.n_truth, comparison.n_candidate)
    first, second = comparison.merit_sums(kappa)
    return 1 - first / most, 1 - second / most
