"""Logistic regression where each example has several views and only the best one counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError

__all__ = ["fit_best_view", "fit_logistic"]

Doubles = NDArray[np.float64]

_MOST_ROUNDS = 100
_RIDGE = 1e-8  # keeps weights finite where the classes can be told apart without error


def fit_logistic(features: Doubles, truth: NDArray[np.bool_], importance: Doubles) -> Doubles:
    """Return the weights β of P = 1/(1 + exp(−β0 − β·f)) that are most likely, by Newton's method.

    Parameters
    ----------
    features : (n, k) float array
    truth : (n,) bool array
    importance : (n,) float array
        How many observations each row stands for.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[0.0], [0.0], [1.0], [1.0]])
    >>> y = np.array([True, False, True, True])
    >>> fit_logistic(x[:2], y[:2], np.array([3.0, 1.0])).round(4)[0]  # log(3/1)
    np.float64(1.0986)
    """
    design = np.column_stack([np.ones(len(features)), features])
    shares = importance / importance.sum()
    weights = np.zeros(design.shape[1])
    best = _loss(design, truth, shares, weights)
    for _ in range(_MOST_ROUNDS):
        chance = _logistic(design @ weights)
        slope = design.T @ (shares * (truth - chance)) - _RIDGE * weights
        bend = (design * (shares * chance * (1 - chance))[:, None]).T @ design
        step = np.linalg.solve(bend + _RIDGE * np.eye(len(weights)), slope)
        for _ in range(_MOST_ROUNDS):
            loss = _loss(design, truth, shares, weights + step)
            if loss <= best:
                break
            step = step / 2
        else:
            break  # no step leads down: this is the bottom
        weights, best = weights + step, loss
        if np.abs(step).max() < 1e-10:
            break
    return weights


def fit_best_view(features: Doubles, truth: NDArray[np.bool_], importance: Doubles) -> Doubles:
    """Return the weights where each example is seen from several sides and the best one is taken.

    Parameters
    ----------
    features : (n, views, k) float array
    truth, importance
        As for `fit_logistic`.

    Notes
    -----
    Starts with the sum of all features as the best view; then views and weights take turns until no weight
    changes by 10⁻⁴.
    """
    if not (truth.any() and not truth.all()):
        raise InputError(
            "learning needs pixels with a label and pixels without, got one kind only",
            remedy="give photos with truths that mark some of their pixels",
        )
    weights = np.concatenate([[0.0], np.ones(features.shape[2])])
    rows = np.arange(len(features))
    for _ in range(_MOST_ROUNDS):
        views = np.asarray(features @ weights[1:]).argmax(axis=1)
        found = fit_logistic(features[rows, views], truth, importance)
        change = np.abs(found - weights).max()
        weights = found
        if change < 1e-4:
            break
    return weights


def _logistic(values: Doubles) -> Doubles:
    from scipy.special import expit

    result: Doubles = expit(values)
    return result


def _loss(design: Doubles, truth: NDArray[np.bool_], shares: Doubles, weights: Doubles) -> float:
    values = design @ weights
    return float(shares @ (np.logaddexp(0, values) - truth * values) + 0.5 * _RIDGE * weights @ weights)
