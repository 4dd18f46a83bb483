"""A scale of pairwise choices: how much better one condition is than another, after Bradley and Terry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.annotators.choice import SIDES, TIE, Answer, Trial
from edgecritic.errors import InputError
from edgecritic.figures import COLOURS, GREY, axes_of
from edgecritic.values import Value

__all__ = ["PENALTY", "Scale", "bradley_terry", "fit_scale", "is_connected", "wins_of"]

Array = NDArray[np.float64]

PENALTY = 0.1
"""Weight of Σθ² that keeps values finite where somebody always wins, or conditions were never compared."""

_ROUNDS = 200
_STILL = 1e-11
_LONGEST = 2.0


class Scale(Value):
    """Values of conditions: the better one wins with the probability 1/(1 + exp(θ_worse − θ_better)).

    Attributes
    ----------
    conditions : tuple of str
        Best first.
    values : (n,) float array
        θ; their sum is 0.
    covariance : (n, n) float array
        Of the values, if all choices are independent of each other.
    wins : (n, n) float array
        Row over column; a tie is half a win for each.
    penalty : float
        Weight of Σθ² that was needed; 0 if the choices alone decide.
    """

    conditions: tuple[str, ...]
    values: Array
    covariance: Array
    wins: Array
    penalty: float = 0.0

    @property
    def errors(self) -> Array:
        """Standard errors of the values, each against the mean of all, if choices are independent."""
        return np.sqrt(np.diag(self.covariance))

    def difference(self, first: str, second: str) -> tuple[float, float]:
        """Return how much better the first is, and the standard error of that.

        Examples
        --------
        >>> found = bradley_terry([[0, 25, 0], [75, 0, 25], [0, 75, 0]], ["low", "middle", "high"])
        >>> [round(value, 6) for value in found.difference("high", "middle")]
        [1.098612, 0.23094]
        """
        try:
            i, j = (self.conditions.index(name) for name in (first, second))
        except ValueError:
            raise InputError(
                f"the scale has {', '.join(self.conditions)}; not {first} and {second}"
            ) from None
        spread = self.covariance[i, i] + self.covariance[j, j] - 2 * self.covariance[i, j]
        return float(self.values[i] - self.values[j]), float(np.sqrt(max(spread, 0.0)))

    def probability(self, first: str, second: str) -> float:
        """Return with which probability the first is preferred to the second."""
        return float(1 / (1 + np.exp(-self.difference(first, second)[0])))

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per condition, best first: value, standard error, choices won and taken part in."""
        taken = (self.wins + self.wins.T).sum(axis=1)
        columns = zip(self.conditions, self.values, self.errors, self.wins.sum(axis=1), taken, strict=True)
        return [
            {
                "condition": name,
                "value": float(value),
                "error": float(error),
                "won": float(won),
                "of": float(n),
            }
            for name, value, error, won, n in columns
        ]

    def plot(self, ax: Any = None) -> Any:
        """Draw the values with 95 % intervals into `ax`, or into a new figure; return the axes."""
        axes = axes_of(ax, (6.4, 0.8 + 0.32 * len(self.conditions)))
        places = np.arange(len(self.conditions))[::-1]
        axes.axvline(0, color=GREY, linewidth=0.8)
        axes.errorbar(self.values, places, xerr=1.96 * self.errors, fmt="o", color=COLOURS[0], capsize=3)
        axes.set_yticks(places, self.conditions)
        axes.set_xlabel("Bradley–Terry value (1 is odds of 2.7 to 1)")
        return axes


def bradley_terry(wins: Any, conditions: Sequence[str], *, penalty: float | None = None) -> Scale:
    """Fit values θ to choices: P(i over j) = 1/(1 + exp(θ_j − θ_i)), Σθ = 0, by maximum likelihood.

    Newton's method on the concave log-likelihood Σ wins_ij·log P(i over j) − penalty·Σθ². The covariance is
    the pseudo-inverse of the Laplacian with the weights n_ij·P·(1 − P), plus the penalty's curvature where
    there is one. R. A. Bradley and M. E. Terry, Biometrika 39, 1952.

    Parameters
    ----------
    wins : (n, n) array_like
        ``wins[i][j]`` says how often i was preferred to j; count a tie as half a win for each.
    conditions : sequence of str
        Their names.
    penalty : float, optional
        By default 0 if the values are finite without, which is so if nobody can be split off who always wins;
        else `PENALTY`.

    Examples
    --------
    >>> found = bradley_terry([[0, 3], [1, 0]], ["canny", "sobel"])
    >>> found.conditions, round(found.values[0], 4), round(found.probability("canny", "sobel"), 2)
    (('canny', 'sobel'), np.float64(0.5493), 0.75)
    """
    table = np.asarray(wins, dtype=np.float64)
    number = len(conditions)
    if table.shape != (number, number) or number < 2 or len(set(conditions)) < number:
        raise InputError(f"expected the wins of two or more different conditions, got {table.shape}")
    if not np.isfinite(table).all() or (table < 0).any() or np.diag(table).any():
        raise InputError("wins are finite, not negative, and nobody wins over himself")
    if penalty is None:
        penalty = 0.0 if is_connected(table) else PENALTY
    values = fit_scale(table, penalty)
    order = np.argsort(-values, kind="stable")
    curvature = _curvature(values, table + table.T, penalty)
    covariance = np.linalg.pinv(curvature, hermitian=True).astype(np.float64)
    return Scale(
        conditions=tuple(conditions[int(place)] for place in order),
        values=values[order],
        covariance=covariance[np.ix_(order, order)],
        wins=table[np.ix_(order, order)],
        penalty=float(penalty),
    )


def fit_scale(wins: Array, penalty: float | Array) -> Array:
    """Return the values of one table of wins, or of many with the tables along the leading axis.

    `penalty` must be positive for tables that are not connected (`is_connected`).
    """
    games = wins + np.swapaxes(wins, -1, -2)
    values = np.zeros(wins.shape[:-1])
    weight = np.asarray(penalty, dtype=np.float64)[..., None]
    shift = np.full(wins.shape[-2:], 1.0 / wins.shape[-1])
    for _ in range(_ROUNDS):
        lead = values[..., :, None] - values[..., None, :]
        slope = (wins - games / (1 + np.exp(-lead))).sum(axis=-1) - 2 * weight * values
        step = np.linalg.solve(_curvature(values, games, penalty) + shift, slope[..., None])[..., 0]
        largest = np.abs(step).max(axis=-1, keepdims=True)
        values = values + step * np.minimum(1.0, _LONGEST / np.maximum(largest, _LONGEST))
        values -= values.mean(axis=-1, keepdims=True)
        if largest.max() < _STILL:
            break
    return values


def is_connected(wins: Array) -> bool:
    """Tell whether the values are finite: from everybody a chain of wins leads to everybody."""
    from scipy.sparse.csgraph import connected_components

    number, _ = connected_components(np.asarray(wins) > 0, directed=True, connection="strong")
    return int(number) == 1


def wins_of(asked: Iterable[Trial], answers: Iterable[Answer]) -> tuple[list[str], Array]:
    """Count who was preferred to whom in main trials with two maps; a tie is half a win for each.

    Returns
    -------
    conditions : list of str
        In alphabetical order.
    wins : (n, n) float array

    Examples
    --------
    >>> from edgecritic.annotators.choice import EdgeMap
    >>> canny, sobel = EdgeMap(condition="canny"), EdgeMap(condition="sobel")
    >>> one = Trial(id="1", image="a", detector="", mode="detector", left=sobel, right=canny)
    >>> wins_of([one], [Answer("1", "ann", "right"), Answer("1", "bob", "tie")])
    (['canny', 'sobel'], array([[0. , 1.5],
           [0.5, 0. ]]))
    """
    known = {trial.id: trial for trial in asked if trial.part == "main" and trial.is_of_maps}
    given = [one for one in answers if one.trial in known]
    names = sorted({name for one in given for name in known[one.trial].conditions})
    wins = np.zeros((len(names), len(names)))
    for one in given:
        left, right = (names.index(name) for name in known[one.trial].conditions)
        for chosen, winner, loser in zip(SIDES, (left, right), (right, left), strict=True):
            wins[winner, loser] += 0.5 if one.choice == TIE else float(one.choice == chosen)
    return names, wins


def _curvature(values: Array, games: Array, penalty: float | Array) -> Array:
    """Return the negative second derivative of the log-likelihood: a Laplacian, and the penalty's part."""
    lead = values[..., :, None] - values[..., None, :]
    weights = games / (2 + np.exp(lead) + np.exp(-lead))
    own = weights.sum(axis=-1) + 2 * np.asarray(penalty, dtype=np.float64)[..., None]
    identity = np.eye(games.shape[-1])
    found: Array = own[..., None] * identity - weights
    return found
