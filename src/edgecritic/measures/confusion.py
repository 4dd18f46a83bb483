"""Measures of the confusion counts: strict overlap, or the hits of any matching strategy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from edgecritic.ids import Id
from edgecritic.measures.base import FORMULA, Empty, Special, measure
from edgecritic.measures.checks import check_between
from edgecritic.measures.conventions import convention_of, empty_value
from edgecritic.measures.evidence import Comparison

__all__ = [
    "performance",
    "phi",
    "chi2",
    "f",
    "precision",
    "recall",
    "sensitivity",
    "specificity",
    "jaccard",
    "dice",
    "kappa",
    "mcc",
    "cosine",
]

FAMILY = "confusion"
BEST_IS_1 = Empty(both=1.0, candidate=0.0, truth=0.0)
Strategy = str | Id | None


def _dice_of_empty(comparison: Comparison, parameters: Mapping[str, Any]) -> float:
    return empty_value("dice", comparison, parameters, float(comparison.empty_side == "both"))


def _dice_table() -> Empty:
    note = "; under compat the value of that library"
    one = Special("0" + note, _dice_of_empty)
    return Empty(both=Special("1" + note, _dice_of_empty), candidate=one, truth=one)


@measure(
    "performance",
    symbol="P_m",
    family=FAMILY,
    reference="Grigorescu, Petkov & Westenberg 2003, IEEE TIP 12(7)",
    better="higher",
    range=(0, 1),
    symmetric=True,
    sees="both",
    empty=BEST_IS_1,
    needs="confusion",
    star=True,
)
def performance(comparison: Comparison, /) -> float:
    """Return the performance P_m = TP / (TP + FP + FN), which is `jaccard` without tolerance.

    Examples
    --------
    >>> performance([[1, 1, 0, 0]], [[1, 0, 1, 0]])
    0.3333333
    """
    return jaccard(comparison)


@measure(
    "phi",
    symbol="Φ",
    family=FAMILY,
    reference="Venkatesh & Rosin 1995, CVGIP 57(2)",
    better="higher",
    range=(0, 1),
    symmetric=False,
    sees="both",
    empty=BEST_IS_1,
    needs="confusion",
    star=True,
)
def phi(comparison: Comparison, /) -> float:
    """Return Φ = TPR · TN / (TN + FP), sensitivity times specificity.

    An image that is all truth has no negatives and the specificity 1.

    Examples
    --------
    >>> phi([[1, 1, 0, 0]], [[1, 0, 1, 0]])
    0.25
    """
    return recall(comparison) * specificity(comparison)


@measure(
    "chi2",
    symbol="χ²",
    family=FAMILY,
    reference="Yitzhaky & Peli 2003, IEEE TPAMI 25(8)",
    better="higher",
    range=(0, 1),
    symmetric=True,
    sees="both",
    empty=BEST_IS_1,
    needs="confusion",
    star=True,
)
def chi2(comparison: Comparison, /) -> float:
    """Return χ² = (TPR − Q)/(1 − Q) · (Q − FPR)/Q, with Q the share of candidate pixels.

    This is `mcc`², hence symmetric; it takes a map that is worse than chance for as good as its
    complement. A candidate that fills the image says nothing and has the value 0, except against a truth
    that fills it too.

    Examples
    --------
    >>> chi2([[1, 1, 0, 0]], [[1, 0, 1, 0]])
    0.0
    """
    counts = comparison.confusion
    if counts.fp == counts.fn == 0:
        return 1.0
    share = (counts.tp + counts.fp) / counts.size
    if share == 1:
        return 0.0
    negatives = counts.fp + counts.tn
    tpr = counts.tp / (counts.tp + counts.fn)
    fpr = counts.fp / negatives if negatives else 0.0
    return (tpr - share) / (1 - share) * (share - fpr) / share


@measure(
    "f",
    symbol="F_α",
    family=FAMILY,
    reference="Martin, Fowlkes & Malik 2004, doi:10.1109/TPAMI.2004.1273918",
    better="higher",
    range=(0, 1),
    symmetric=True,
    sees="both",
    empty=BEST_IS_1,
    needs="confusion",
    star=True,
)
def f(comparison: Comparison, /, *, alpha: float = 0.5, strategy: Strategy = None) -> float:
    """Return the F-measure F_α = P·R / (α·R + (1 − α)·P).

    `alpha` in [0, 1] is the weight of precision; only ½ is symmetric. `strategy` names the matching
    whose hits count, so that ``f(strategy=exact)`` is ``edgecritic.match(candidate, truth).f()``; ``None``
    is strict overlap.

    Examples
    --------
    >>> f([[1, 1, 0, 0]], [[1, 0, 1, 1]])
    0.4
    """
    check_between("alpha", alpha, 0, 1)
    first, second = _rates(comparison, strategy)
    below = alpha * second + (1 - alpha) * first
    return first * second / below if below > 0 else 0.0


@measure(
    "precision",
    symbol="P",
    family=FAMILY,
    reference="Martin, Fowlkes & Malik 2004, doi:10.1109/TPAMI.2004.1273918",
    better="higher",
    range=(0, 1),
    symmetric=False,
    sees="false alarms",
    empty=BEST_IS_1,
    needs="confusion",
)
def precision(comparison: Comparison, /, *, strategy: Strategy = None) -> float:
    """Return the share TP / (TP + FP) of candidate pixels that are right.

    Examples
    --------
    >>> precision([[1, 1, 0, 0]], [[1, 0, 1, 1]])
    0.5
    """
    return _rates(comparison, strategy)[0]


@measure(
    "recall",
    symbol="R",
    family=FAMILY,
    reference="Martin, Fowlkes & Malik 2004, doi:10.1109/TPAMI.2004.1273918",
    better="higher",
    range=(0, 1),
    symmetric=False,
    sees="misses",
    empty=BEST_IS_1,
    needs="confusion",
)
def recall(comparison: Comparison, /, *, strategy: Strategy = None) -> float:
    """Return the share TP / (TP + FN) of truth pixels that are found, the `sensitivity`.

    Examples
    --------
    >>> recall([[1, 1, 0, 0]], [[1, 0, 1, 1]])
    0.3333333
    """
    return _rates(comparison, strategy)[1]


@measure(
    "sensitivity",
    symbol="TPR",
    family=FAMILY,
    reference="Maier-Hein et al. 2024, Metrics Reloaded, Nature Methods 21",
    better="higher",
    range=(0, 1),
    symmetric=False,
    sees="misses",
    empty=BEST_IS_1,
    needs="confusion",
    default=False,
)
def sensitivity(comparison: Comparison, /) -> float:
    """Return the share TP / (TP + FN) of object voxels that are found, which is `recall` without tolerance.

    Examples
    --------
    >>> sensitivity([[1, 1, 0, 0]], [[1, 0, 1, 1]])
    0.3333333
    """
    return recall(comparison)


@measure(
    "specificity",
    symbol="TNR",
    family=FAMILY,
    reference="Maier-Hein et al. 2024, Metrics Reloaded, Nature Methods 21",
    better="higher",
    range=(0, 1),
    symmetric=False,
    sees="false alarms",
    empty=Empty(both=1.0, candidate=1.0, truth=FORMULA),
    needs="confusion",
    default=False,
)
def specificity(comparison: Comparison, /) -> float:
    """Return the share TN / (TN + FP) of background voxels that are left alone.

    It grows with the margin around the objects: a larger image has more background that nobody would take
    for an object. A truth that fills the image has no background and the specificity 1.

    Examples
    --------
    >>> specificity([[1, 1, 0, 0]], [[1, 0, 0, 0]])
    0.6666667
    """
    counts = comparison.confusion
    negatives = counts.tn + counts.fp
    return counts.tn / negatives if negatives else 1.0


@measure(
    "jaccard",
    symbol="J",
    family=FAMILY,
    reference="Jaccard 1912, doi:10.1111/j.1469-8137.1912.tb05611.x",
    better="higher",
    range=(0, 1),
    symmetric=True,
    sees="both",
    empty=BEST_IS_1,
    needs="confusion",
)
def jaccard(comparison: Comparison, /, *, strategy: Strategy = None) -> float:
    """Return the overlap TP / (TP + FP + FN).

    Examples
    --------
    >>> jaccard([[1, 1, 0, 0]], [[1, 0, 1, 1]])
    0.25
    """
    tp, fp, fn, _ = _counts(comparison, strategy)
    return tp / (tp + fp + fn)


@measure(
    "dice",
    symbol="DSC",
    family=FAMILY,
    reference="Dice 1945, doi:10.2307/1932409",
    better="higher",
    range=(0, 1),
    symmetric=True,
    sees="both",
    empty=_dice_table(),
    needs="confusion",
)
def dice(comparison: Comparison, /, *, strategy: Strategy = None, compat: str | None = None) -> float:
    """Return 2·TP / (2·TP + FP + FN).

    `compat` names a library (`edgecritic.measures.conventions`); only their values for empty objects
    differ: two empty ones are 1 here, to MedPy and to MetricsReloaded, NaN to MONAI, surface-distance and
    panoptica.

    Examples
    --------
    >>> dice([[1, 1, 0, 0]], [[1, 0, 1, 1]])
    0.4
    """
    convention_of({"compat": compat})
    tp, fp, fn, _ = _counts(comparison, strategy)
    return 2 * tp / (2 * tp + fp + fn)


@measure(
    "kappa",
    symbol="κ",
    family=FAMILY,
    reference="Cohen 1960, doi:10.1177/001316446002000104",
    better="higher",
    range=(-1, 1),
    symmetric=True,
    sees="both",
    empty=BEST_IS_1,
    needs="confusion",
)
def kappa(comparison: Comparison, /, *, strategy: Strategy = None) -> float:
    """Return Cohen's κ = (observed − expected agreement) / (1 − expected agreement).

    Two maps that both fill the image agree: 1.

    Examples
    --------
    >>> kappa([[1, 1, 0, 0]], [[1, 0, 1, 0]])
    0.0
    """
    tp, fp, fn, tn = _counts(comparison, strategy)
    size = tp + fp + fn + tn
    expected = ((tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)) / size**2
    return ((tp + tn) / size - expected) / (1 - expected) if expected < 1 else 1.0


@measure(
    "mcc",
    symbol="MCC",
    family=FAMILY,
    reference="Matthews 1975, doi:10.1016/0005-2795(75)90109-9",
    better="higher",
    range=(-1, 1),
    symmetric=True,
    sees="both",
    empty=BEST_IS_1,
    needs="confusion",
)
def mcc(comparison: Comparison, /, *, strategy: Strategy = None) -> float:
    """Return the correlation coefficient of Matthews.

    (TP·TN − FP·FN) / √((TP+FP)(TP+FN)(TN+FP)(TN+FN)); where one map fills the image it is 0/0: 1 if
    the other fills it too, else 0.

    Examples
    --------
    >>> mcc([[1, 1, 0, 0]], [[1, 0, 1, 0]])
    0.0
    """
    tp, fp, fn, tn = _counts(comparison, strategy)
    below = math.sqrt(tp + fp) * math.sqrt(tp + fn) * math.sqrt(tn + fp) * math.sqrt(tn + fn)
    if below == 0:
        return 1.0 if fp == fn == 0 else 0.0
    return min(1.0, max(-1.0, (tp * tn - fp * fn) / below))


@measure(
    "cosine",
    symbol="Q",
    family=FAMILY,
    reference="Gimenez, Martinez & Flesia 2014, CVIU",
    better="higher",
    range=(0, 1),
    symmetric=True,
    sees="both",
    empty=BEST_IS_1,
    needs="confusion",
)
def cosine(comparison: Comparison, /) -> float:
    """Return the cosine similarity Q = TP / √(|candidate|·|truth|).

    The best value over several truths is Q_B of the same paper.

    Examples
    --------
    >>> cosine([[1, 1, 0, 0]], [[1, 0, 1, 0]])
    0.5
    """
    below = math.sqrt(comparison.n_candidate * comparison.n_truth)
    return comparison.confusion.tp / below


def _counts(comparison: Comparison, strategy: Strategy) -> tuple[int, int, int, int]:
    if strategy is None:
        counts = comparison.confusion
        return counts.tp, counts.fp, counts.fn, counts.tn
    found = comparison.matching(strategy)
    tn = max(0, comparison.size - found.tp - found.fp - found.fn)
    return found.tp, found.fp, found.fn, tn


def _rates(comparison: Comparison, strategy: Strategy) -> tuple[float, float]:
    if strategy is None:
        counts = comparison.confusion
        return counts.tp / comparison.n_candidate, counts.tp / comparison.n_truth
    found = comparison.matching(strategy)
    return found.precision, found.recall
