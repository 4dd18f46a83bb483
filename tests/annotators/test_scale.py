"""The Bradley–Terry scale against choix, against a likelihood that SciPy maximises, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from edgecritic.annotators.choice import Answer, EdgeMap, Trial
from edgecritic.annotators.scale import PENALTY, bradley_terry, fit_scale, is_connected, wins_of
from edgecritic.errors import InputError

UNIT = [[0, 25, 0], [75, 0, 25], [0, 75, 0]]


def likelihood(theta, wins, penalty):
    lead = theta[:, None] - theta[None, :]
    return (wins * np.logaddexp(0, -lead)).sum() + penalty * (theta**2).sum()


def random_wins(seed, number=7):
    rng = np.random.default_rng(seed)
    theta = rng.normal(0, 1.2, number)
    games = rng.integers(2, 30, (number, number))
    won = rng.binomial(games, 1 / (1 + np.exp(theta[None] - theta[:, None]))).astype(float)
    np.fill_diagonal(won, 0)
    return won


def test_unit_values_of_three_conditions():
    found = bradley_terry(UNIT, ["a", "b", "c"])
    assert found.conditions == ("c", "b", "a")
    np.testing.assert_allclose(found.values, [np.log(3), 0, -np.log(3)], atol=1e-12)
    difference, error = found.difference("b", "a")
    np.testing.assert_allclose([difference, error], [np.log(3), (100 * 0.75 * 0.25) ** -0.5], rtol=1e-10)
    assert found.penalty == 0


def test_two_conditions_have_a_closed_form():
    found = bradley_terry([[0, 30], [12, 0]], ["a", "b"])
    difference, error = found.difference("a", "b")
    np.testing.assert_allclose([difference, error], [np.log(30 / 12), np.sqrt(1 / 30 + 1 / 12)], rtol=1e-10)
    np.testing.assert_allclose(found.probability("a", "b"), 30 / 42)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("penalty", [0.0, 0.5])
def test_values_maximise_the_likelihood(seed, penalty):
    wins = random_wins(seed)
    names = [f"c{n}" for n in range(len(wins))]
    found = bradley_terry(wins, names, penalty=penalty)
    ours = np.array([dict(zip(found.conditions, found.values, strict=True))[name] for name in names])
    best = minimize(likelihood, np.zeros(len(wins)), args=(wins, penalty), tol=1e-12).x
    np.testing.assert_allclose(ours, best - best.mean(), atol=2e-5)
    assert likelihood(ours, wins, penalty) <= likelihood(best - best.mean(), wins, penalty) + 1e-9


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("penalty", [0.0, 0.3])
def test_values_equal_those_of_choix(seed, penalty):
    choix = pytest.importorskip("choix")
    wins = random_wins(seed)
    names = [f"c{n}" for n in range(len(wins))]
    pairs = [(i, j) for i in range(len(wins)) for j in range(len(wins)) for _ in range(int(wins[i, j]))]
    theirs = choix.opt_pairwise(len(wins), pairs, alpha=penalty, tol=1e-12)
    found = bradley_terry(wins, names, penalty=penalty)
    ours = np.array([dict(zip(found.conditions, found.values, strict=True))[name] for name in names])
    np.testing.assert_allclose(ours, theirs - theirs.mean(), atol=1e-6)


def test_covariance_is_the_inverse_of_a_numerical_second_derivative():
    wins = random_wins(9, 4)
    found = bradley_terry(wins, list("abcd"))
    size, h = 4, 1e-4
    hessian = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            a, b = h * np.eye(size)[i], h * np.eye(size)[j]
            at = [likelihood(found.values + s * a + t * b, found.wins, 0) for s in (1, -1) for t in (1, -1)]
            hessian[i, j] = (at[0] - at[1] - at[2] + at[3]) / (4 * h * h)
    np.testing.assert_allclose(found.covariance, np.linalg.pinv(hessian, rcond=1e-5), rtol=1e-3, atol=1e-6)


def test_a_condition_that_always_wins_needs_the_penalty():
    wins = [[0, 8, 9], [0, 0, 4], [0, 5, 0]]
    assert not is_connected(np.array(wins))
    found = bradley_terry(wins, ["a", "b", "c"])
    assert found.penalty == PENALTY
    assert found.conditions[0] == "a"
    assert np.isfinite(found.values).all()


def test_extreme_choices_converge():
    wins = np.array([[0, 100000, 1.0], [1, 0, 100000], [1, 1, 0]])
    values = fit_scale(wins, 0.0)
    lead = values[:, None] - values[None, :]
    expected = ((wins + wins.T) / (1 + np.exp(-lead))).sum(axis=1)
    np.testing.assert_allclose(expected, wins.sum(axis=1), rtol=1e-9)


def test_many_tables_at_once_are_the_same_as_one_by_one():
    tables = np.stack([random_wins(seed) for seed in range(5)])
    penalties = np.array([0, 0.1, 0, 0.2, 0])
    together = fit_scale(tables, penalties)
    for table, penalty, values in zip(tables, penalties, together, strict=True):
        np.testing.assert_allclose(values, fit_scale(table, penalty), atol=1e-9)


def test_wins_count_main_trials_and_ties_as_halves():
    a, b = EdgeMap(condition="a"), EdgeMap(condition="b")
    main = Trial(id="1", image="x", detector="", mode="detector", left=b, right=a)
    check = Trial(
        id="2",
        image="x",
        detector="",
        mode="damage",
        part="check",
        left=a,
        right=EdgeMap(condition="b", kind="spoiled map"),
    )
    answers = [
        Answer("1", "s", "left"),
        Answer("1", "t", "right"),
        Answer("1", "u", "tie"),
        Answer("2", "s", "left"),
    ]
    names, wins = wins_of([main, check], answers)
    assert names == ["a", "b"]
    assert wins.tolist() == [[0, 1.5], [1.5, 0]]


@pytest.mark.parametrize(
    "wins", [[[0, 1]], [[0, -1], [1, 0]], [[1, 1], [1, 0]], [[0, np.nan], [1, 0]], [[0]]]
)
def test_what_is_no_table_of_wins_is_refused(wins):
    with pytest.raises(InputError):
        bradley_terry(wins, ["a", "b"])
