"""Measures of distance: reductions of the two distance transforms, in pixels or units of `spacing`.

d_G(p) is the distance of a pixel to the truth, d_D(p) to the candidate.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from edgecritic.measures.base import FAR, Empty, measure
from edgecritic.measures.checks import check_between, check_choice, check_positive
from edgecritic.measures.evidence import Comparison

__all__ = [
    "yasnoff",
    "hausdorff",
    "dk",
    "f2d6",
    "theta",
    "omega",
    "baddeley",
    "sk",
    "gamma",
    "psi",
]

FAMILY = "distances"
TWO_SIDED = Empty(both=0.0, candidate=FAR, truth=FAR)
FALSE_ALARMS_ONLY = Empty(both=0.0, candidate=0.0, truth=FAR)


@measure(
    "yasnoff",
    symbol="Υ",
    family=FAMILY,
    reference="Yasnoff, Galbraith & Bacus 1978, Analytical and Quantitative Cytology 1(2)",
    better="lower",
    range=(0, math.inf),
    symmetric=False,
    sees="false alarms",
    empty=FALSE_ALARMS_ONLY,
    needs="distances",
)
def yasnoff(comparison: Comparison, /) -> float:
    """Return Υ = (100/|I|)·√(Σ_candidate d_G²), |I| the number of pixels of the image.

    Examples
    --------
    >>> yasnoff([[1, 0, 0, 1]], [[1, 0, 0, 0]])
    75.0
    """
    return 100 / comparison.size * math.sqrt(comparison.power_sums(2)[0])


@measure(
    "hausdorff",
    symbol="H",
    family=FAMILY,
    reference="Huttenlocher & Rucklidge 1993, IEEE CVPR",
    better="lower",
    range=(0, math.inf),
    symmetric=True,
    sees="both",
    empty=TWO_SIDED,
    needs="distances",
    units="distance",
)
def hausdorff(comparison: Comparison, /, *, percent: float = 0, mode: str = "rank") -> float:
    """Return the Hausdorff distance max(max_candidate d_G, max_truth d_D), or a softened one.

    With `percent` = n the largest n % of each directed list are left out and the next value is taken:
    of N ascending values the one of rank ceil((1 − n/100)·N). ``mode="tail_mean"`` takes the mean of
    the largest n % instead. Hits are in the lists, with distance 0.

    Examples
    --------
    >>> hausdorff([[1, 0, 0, 1]], [[1, 0, 0, 0]])
    3.0
    """
    check_between("percent", percent, 0, 100)
    check_choice("mode", mode, ("rank", "tail_mean"))
    lists = (comparison.distances.to_truth, comparison.distances.to_candidate)
    return max(_tail(distances, percent, mode) for distances in lists)


@measure(
    "dk",
    symbol="Dᵏ",
    family=FAMILY,
    reference="Peli & Malah 1982, CGIP 20(1); Lopez-Molina et al. 2013, Pattern Recognition 46(4)",
    better="lower",
    range=(0, math.inf),
    symmetric=False,
    sees="false alarms",
    empty=FALSE_ALARMS_ONLY,
    needs="distances",
    units="distance",
)
def dk(comparison: Comparison, /, *, k: float = 1, power_mean: bool = False) -> float:
    """Return Dᵏ = (1/|candidate|)·(Σ_candidate d_Gᵏ)^(1/k).

    The count stays outside of the root; ``power_mean=True`` gives (mean d_Gᵏ)^(1/k).

    Examples
    --------
    >>> dk([[1, 0, 0, 1]], [[1, 0, 0, 0]])
    1.5
    """
    _check_power(k)
    count = comparison.n_candidate
    total: float = comparison.power_sums(k)[0]
    if power_mean:
        return float((total / count) ** (1 / k))
    return float(total ** (1 / k)) / count


@measure(
    "f2d6",
    symbol="f₂d₆",
    family=FAMILY,
    reference="Dubuisson & Jain 1994, IEEE ICPR",
    better="lower",
    range=(0, math.inf),
    symmetric=True,
    sees="both",
    empty=TWO_SIDED,
    needs="distances",
    units="distance",
)
def f2d6(comparison: Comparison, /) -> float:
    """Return the modified Hausdorff distance max(mean_candidate d_G, mean_truth d_D).

    Examples
    --------
    >>> f2d6([[1, 0, 0, 1]], [[1, 0, 0, 0]])
    1.5
    """
    first, second = comparison.power_sums(1)
    return max(_ratio(first, comparison.n_candidate), _ratio(second, comparison.n_truth))


@measure(
    "theta",
    symbol="Θ",
    family=FAMILY,
    reference="Haralick 1984, IEEE TPAMI 6(1); Odet, Belaroussi & Benoit-Cattin 2002, IEEE ICIP",
    better="lower",
    range=(0, math.inf),
    symmetric=False,
    sees="false alarms",
    empty=FALSE_ALARMS_ONLY,
    needs="distances",
)
def theta(comparison: Comparison, /, *, k: float = 1, delta: float = 1) -> float:
    """Return Θ = (1/FP)·Σ_candidate (d_G/δ)ᵏ: the mean over the false alarms, 0 without any.

    `delta` is a scale, not a cut-off.

    Examples
    --------
    >>> theta([[1, 0, 1, 1]], [[1, 0, 0, 0]])
    2.5
    """
    _check_power(k)
    check_positive("delta", delta)
    return _ratio(comparison.power_sums(k)[0], comparison.confusion.fp) / float(delta**k)


@measure(
    "omega",
    symbol="Ω",
    family=FAMILY,
    reference="Haralick 1984, IEEE TPAMI 6(1); Odet, Belaroussi & Benoit-Cattin 2002, IEEE ICIP",
    better="lower",
    range=(0, math.inf),
    symmetric=False,
    sees="misses",
    empty=Empty(both=0.0, candidate=FAR, truth=0.0),
    needs="distances",
)
def omega(comparison: Comparison, /, *, k: float = 1, delta: float = 1) -> float:
    """Return Ω = (1/FN)·Σ_truth (d_D/δ)ᵏ: the mean over the misses, 0 without any.

    Examples
    --------
    >>> omega([[1, 0, 0, 0]], [[1, 0, 1, 1]])
    2.5
    """
    _check_power(k)
    check_positive("delta", delta)
    return _ratio(comparison.power_sums(k)[1], comparison.confusion.fn) / float(delta**k)


@measure(
    "baddeley",
    symbol="Δᵏ",
    family=FAMILY,
    reference="Baddeley 1992, Robust Computer Vision, pp. 59–78",
    better="lower",
    range=(0, math.inf),
    symmetric=True,
    sees="both",
    empty=TWO_SIDED,
    needs="transforms",
    units="distance",
)
def baddeley(
    comparison: Comparison, /, *, k: float = 2, w: str = "identity", c: float | None = None
) -> float:
    """Return Δᵏ = ((1/|I|)·Σ_image |w(d_G) − w(d_D)|ᵏ)^(1/k), a metric over the whole image.

    w is concave: ``"identity"``, or ``"log"`` for ln(1 + t); `c` cuts it off, w(min(t, c)). With
    ``k=inf`` and no cut-off it is the Hausdorff distance.

    Examples
    --------
    >>> baddeley([[1, 0, 0, 1]], [[1, 0, 0, 0]], k=1)
    1.0
    """
    _check_power(k)
    check_choice("w", w, ("identity", "log"))
    if c is not None:
        check_positive("c", c)
    from edgecritic.kernels.reductions import gap_power

    first, second = (transform.ravel() for transform in comparison.transforms)
    cut = math.inf if c is None else float(c)
    total = float(gap_power(first, second, float(k), cut, w == "log"))
    return total if math.isinf(k) else float((total / comparison.size) ** (1 / k))


@measure(
    "sk",
    symbol="Sᵏ",
    family=FAMILY,
    reference="Lopez-Molina, De Baets & Bustince 2013, Pattern Recognition 46(4)",
    better="lower",
    range=(0, math.inf),
    symmetric=True,
    sees="both",
    empty=TWO_SIDED,
    needs="distances",
    units="distance",
)
def sk(comparison: Comparison, /, *, k: float = 1, denominator: str = "union") -> float:
    """Return Sᵏ = ((Σ_candidate d_Gᵏ + Σ_truth d_Dᵏ) / n)^(1/k).

    n is the number of pixels in either map; ``denominator="sum"`` counts pixels of both maps twice, as
    the cited paper does.

    Examples
    --------
    >>> sk([[1, 0, 0, 1]], [[1, 0, 0, 0]])
    1.5
    """
    _check_power(k)
    check_choice("denominator", denominator, ("union", "sum"))
    count = comparison.n_candidate + comparison.n_truth
    if denominator == "union":
        count -= comparison.confusion.tp
    return float((sum(comparison.power_sums(k)) / count) ** (1 / k))


@measure(
    "gamma",
    symbol="Γ",
    family=FAMILY,
    reference="Magnier, Le & Zogo 2016, IEEE IST",
    better="lower",
    range=(0, math.inf),
    symmetric=False,
    sees="false alarms",
    empty=Empty(both=0.0, candidate=0.0, truth=math.inf),
    needs="distances",
)
def gamma(comparison: Comparison, /) -> float:
    """Return Γ = ((FP + FN)/|truth|²)·√(Σ_candidate d_G²), 0 whenever there are no false alarms.

    Examples
    --------
    >>> gamma([[1, 0, 0, 1]], [[1, 0, 0, 0]])
    3.0
    """
    return _error_share(comparison) * math.sqrt(comparison.power_sums(2)[0])


@measure(
    "psi",
    symbol="Ψ",
    family=FAMILY,
    reference="Magnier 2017, Multimedia Systems for Critical Engineering",
    better="lower",
    range=(0, math.inf),
    symmetric=False,
    sees="both",
    empty=Empty(both=0.0, candidate=FAR, truth=math.inf),
    needs="distances",
)
def psi(comparison: Comparison, /) -> float:
    """Return Ψ = ((FP + FN)/|truth|²)·√(Σ_truth d_D² + Σ_candidate d_G²).

    Examples
    --------
    >>> psi([[1, 0, 0, 1]], [[1, 0, 0, 0]])
    3.0
    """
    return _error_share(comparison) * math.sqrt(sum(comparison.power_sums(2)))


def _check_power(k: float) -> None:
    check_positive("k", k)


def _ratio(total: float, count: int) -> float:
    return total / count if count else 0.0


def _error_share(comparison: Comparison) -> float:
    counts = comparison.confusion
    return (counts.fp + counts.fn) / comparison.n_truth**2


def _tail(distances: NDArray[np.float64], percent: float, mode: str) -> float:
    if distances.size == 0:
        return 0.0
    # Rounding must not push a whole number over the next one: 0.95 · 20 is 19.
    kept = math.ceil(round((1 - percent / 100) * distances.size, 9))
    if kept >= distances.size:
        return float(distances.max())
    if mode == "tail_mean":
        return float(np.partition(distances, kept)[kept:].mean())
    rank = max(kept - 1, 0)
    return float(np.partition(distances, rank)[rank])
