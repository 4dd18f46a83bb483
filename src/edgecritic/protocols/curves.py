"""Arithmetic of precision-recall curves: ratios, the interpolated best point, four APs, R50.

All functions take points in ascending order of thresholds.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import UnknownNameError

__all__ = [
    "AP_RULES",
    "ap_rule_name",
    "ratio",
    "f_measure",
    "interpolated_best",
    "best_interpolated_f",
    "average_precision",
    "recall_at_half_precision",
]

Array = NDArray[np.float64]

AP_RULES = MappingProxyType(
    {
        "interpolated-101": "a",
        "interpolated-101+zero": "b",
        "interpolated-100": "c",
        "max-precision-100": "d",
    }
)
"""The four average precisions in circulation, and the letters that also name them."""

INTERPOLATION_STEPS = 100
"""Points between neighbouring thresholds, both ends included."""

_SHARES = np.linspace(0, 1, INTERPOLATION_STEPS)
_SLACK = 1 + 1e-9


def ap_rule_name(rule: str) -> str:
    """Return the full name of an AP rule given by name or letter.

    Examples
    --------
    >>> ap_rule_name("b")
    'interpolated-101+zero'
    """
    for name, letter in AP_RULES.items():
        if rule in (name, letter):
            return name
    known = ", ".join(f"{name} ({letter})" for name, letter in AP_RULES.items())
    raise UnknownNameError(f"unknown AP rule {rule!r} (known: {known})")


def ratio(part: Array, whole: Array) -> Array:
    """Return part / whole, 0 where there is no whole."""
    result: Array = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return result


def f_measure(recall: Any, precision: Any) -> Array:
    """Return F = 2PR / (P + R), 0 where both are 0."""
    height = np.asarray(precision, dtype=np.float64)
    return ratio(2 * height * recall, height + recall)


def interpolated_best(
    thresholds: Array, recall: Array, precision: Array
) -> tuple[float, float, float, float]:
    """Return (T, R, P, F) of the largest F on the curve with 100 points between neighbouring thresholds.

    T, R and P are interpolated linearly, F follows from R and P; the first maximum wins.

    Examples
    --------
    >>> import numpy as np
    >>> t, r, p, f = interpolated_best(np.array([0.2, 0.4]), np.array([0.9, 0.5]), np.array([0.5, 0.9]))
    >>> round(t, 3), round(f, 3)
    (0.299, 0.7)
    """
    if len(thresholds) == 1:
        f = f_measure(recall, precision)
        return float(thresholds[0]), float(recall[0]), float(precision[0]), float(f[0])
    points = np.array([thresholds, recall, precision])
    pair = np.flatnonzero(_may_be_best(recall, precision))
    curves = _between(points[:, pair], points[:, pair + 1]).reshape(3, -1)
    f = f_measure(curves[1], curves[2])
    best = int(np.argmax(f))
    t, r, p = curves[:, best].tolist()
    return t, r, p, float(f[best])


def _may_be_best(recall: Array, precision: Array) -> NDArray[np.bool_]:
    """Tell between which neighbours along the last axis the largest F may be.

    F grows with R and with P, so F(max R, max P) of two neighbours bounds it between them. Where the bound
    does not reach the best F of the points, it is smaller than that.
    """
    best = f_measure(recall, precision).max(axis=-1, keepdims=True)
    bound = f_measure(
        np.maximum(recall[..., :-1], recall[..., 1:]), np.maximum(precision[..., :-1], precision[..., 1:])
    )
    found: NDArray[np.bool_] = bound * _SLACK >= best
    return found


def _between(start: Array, end: Array) -> Array:
    return end[..., None] * _SHARES + start[..., None] * (1 - _SHARES)


def best_interpolated_f(recall: Array, precision: Array) -> Array:
    """Return the F of :func:`interpolated_best` for many curves at once.

    Parameters
    ----------
    recall, precision : (curves, points) arrays
    """
    if recall.shape[1] == 1:
        return f_measure(recall[:, 0], precision[:, 0])
    best: Array = f_measure(recall, precision).max(axis=1)
    curve, pair = np.nonzero(_may_be_best(recall, precision))
    for part in np.array_split(np.arange(curve.size), max(1, curve.size // 5000)):
        which, first = curve[part], pair[part]
        r = _between(recall[which, first], recall[which, first + 1])
        p = _between(precision[which, first], precision[which, first + 1])
        np.maximum.at(best, which, f_measure(r, p).max(axis=1))
    return best


def average_precision(
    recall: Array,
    precision: Array,
    rule: str = "interpolated-101",
    *,
    zero: tuple[float, float] | None = None,
    duplicates: str = "first",
) -> float | None:
    """Return the average precision of a curve by one of the four rules in circulation.

    Parameters
    ----------
    recall, precision : (points,) arrays
        In ascending order of thresholds, without the extra threshold 0.
    rule : str
        ``interpolated-101`` (a): P interpolated linearly over the distinct recalls at R = 0, .01, …, 1,
        0 outside the measured range, Σ/100 (101 terms over 100: a perfect curve may reach 1.01).
        ``interpolated-101+zero`` (b): the same with one more point, threshold 0.
        ``interpolated-100`` (c): as a, at R = 0, .01, …, .99.
        ``max-precision-100`` (d): Σ over t = 0, .01, …, .99 of max{P : R ≥ t}, over 101.
    zero : (recall, precision), optional
        The point of threshold 0; only rule b uses it, and has no value (``None``) without it.
    duplicates : "first" or "last"
        Which of several points with one recall is kept by a, b and c.

    Returns
    -------
    float or None
        0 where fewer than two recalls differ (a, b, c).

    Examples
    --------
    >>> import numpy as np
    >>> recall, precision = np.array([0.9, 0.5, 0.1]), np.array([0.5, 0.9, 1.0])
    >>> [round(average_precision(recall, precision, rule), 4) for rule in "acd"]
    [0.6675, 0.6675, 0.6634]
    """
    name = ap_rule_name(rule)
    if name == "max-precision-100":
        return _mean_of_best_precisions(recall, precision)
    if name == "interpolated-101+zero":
        if zero is None:
            return None
        recall, precision = np.append(zero[0], recall), np.append(zero[1], precision)
    terms = 100 if name == "interpolated-100" else 101
    known, height = _distinct(recall, precision, duplicates)
    if known.size < 2:
        return 0.0
    at = np.arange(terms) / 100
    return float(np.interp(at, known, height, left=0.0, right=0.0).sum() / 100)


def _distinct(position: Array, value: Array, duplicates: str) -> tuple[Array, Array]:
    if (position[1:] < position[:-1]).all():  # as recalls mostly are: nothing to sort
        return position[::-1], value[::-1]
    if duplicates == "last":
        position, value = position[::-1], value[::-1]
    distinct, index = np.unique(position, return_index=True)
    return distinct, value[index]


def _mean_of_best_precisions(recall: Array, precision: Array) -> float:
    order = np.argsort(recall, kind="stable")
    reached = np.append(np.maximum.accumulate(precision[order][::-1])[::-1], 0.0)
    at = np.searchsorted(recall[order], np.arange(100) / 100, side="left")
    return float(reached[at].sum() / 101)


def recall_at_half_precision(recall: Array, precision: Array) -> float:
    """Return R50: the recall interpolated over the distinct precisions at P = max(min P, ½).

    0 where precision never reaches ½ or fewer than two precisions differ. Of several points with one
    precision the one of the lowest threshold is kept.

    Examples
    --------
    >>> import numpy as np
    >>> round(recall_at_half_precision(np.array([0.9, 0.5]), np.array([0.4, 0.8])), 3)
    0.8
    """
    known, value = _distinct(precision, recall, "first")
    if known.size < 2:
        return 0.0
    return float(np.interp(max(known[0], 0.5), known, value, left=0.0, right=0.0))
