"""Which measure do people agree with? Their choices between edge maps, beside what measures say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.annotators.choice import SIDES, Answer, Trial
from edgecritic.annotators.scale import PENALTY, Scale, bradley_terry, fit_scale, is_connected, wins_of
from edgecritic.errors import InputError
from edgecritic.figures import COLOURS, GREY, axes_of
from edgecritic.protocols.bootstrap import check_settings, draw_weights
from edgecritic.values import Value

__all__ = ["Agreement", "Preference", "holm", "judge_measures", "preference", "simulate_judge"]

Array = NDArray[np.float64]


class Agreement(Value):
    """How far a measure agrees with people.

    Attributes
    ----------
    measure : str
    share : float
        Share of the decided trials in which the measure prefers what the majority prefers; maps that it finds
        equally good, or cannot measure, count one half. ½ is chance.
    low, high : float
        Percentile interval of it, by drawing images with replacement; of few subjects drawn anew the
        majorities would be other ones, and less sure.
    singles : float
        The same share of single choices, each tie of a subject being half. It weighs a trial by how clearly
        people decided, where a majority near a tie is chance; measures are ordered and compared by it.
    singles_low, singles_high : float
        Percentile interval of it, by drawing images and subjects with replacement.
    equal : float
        Share of the decided trials in which it finds both maps equally good.
    kinds : dict of str to (share, low, high)
        By kind of pair.
    worse_than_best : float
        p that it is not worse than the best measure: one-sided, normal, with the spread over these draws;
        corrected for the number of measures by Holm's method. NaN for the best one.
    """

    measure: str
    share: float
    low: float
    high: float
    singles: float
    singles_low: float
    singles_high: float
    equal: float
    kinds: Mapping[str, tuple[float, float, float]]
    worse_than_best: float


class Preference(Value):
    """What people preferred, and which measures agree.

    Attributes
    ----------
    scale : Scale or None
        Of the conditions.
    low, high : tuple of float
        Percentile intervals of the scale's values, by drawing images and subjects.
    measures : tuple of Agreement
        By their share of single choices, best first; equals in the order in which they were given.
    better : (n, n) bool array
        better[i, j]: measure i agrees with single choices significantly more often than j (two-sided, Holm's
        method over all pairs of measures).
    ceiling : float
        Share of single choices that agree with the majority of their trial, the most that any measure
        could reach in `Agreement.singles`.
    trials, tied : int
        Trials with a majority, and without.
    answers, subjects, images : int
    draws, seed : int
    level : float
    """

    scale: Scale | None
    low: tuple[float, ...]
    high: tuple[float, ...]
    measures: tuple[Agreement, ...]
    better: NDArray[np.bool_]
    ceiling: float
    trials: int
    tied: int
    answers: int
    subjects: int
    images: int
    draws: int
    seed: int
    level: float

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per measure, best first."""
        return [one.as_dict() | {"kinds": None} for one in self.measures]

    def plot(self, ax: Any = None) -> Any:
        """Draw the share of every measure with its interval into `ax`, or a new figure; return the axes."""
        axes = axes_of(ax, (6.8, 0.9 + 0.2 * max(len(self.measures), 3)))
        places = np.arange(len(self.measures))[::-1]
        axes.axvline(0.5, color=GREY, linestyle="dashed", label="chance")
        for place, one in zip(places, self.measures, strict=True):
            is_equal = not one.worse_than_best < 1 - self.level
            colour = COLOURS[0] if is_equal else GREY
            axes.plot([one.low, one.high], [place, place], color=colour, linewidth=2)
            axes.plot(one.share, place, "o", color=colour, markersize=4)
        axes.set_yticks(places, [one.measure for one in self.measures], fontsize=7)
        axes.set_ylim(-0.8, len(self.measures) - 0.2)
        axes.set_xlabel("share of majority choices that the measure predicts (blue: not worse than the best)")
        axes.legend(frameon=False, loc="lower left")
        return axes


def preference(
    asked: Sequence[Trial],
    answers: Sequence[Answer],
    leads: Mapping[str, Sequence[float]] | None = None,
    *,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Preference:
    """Say what people preferred, and how far measures agree with them.

    Agreement of a measure: the mean over trials of [sign(lead) = majority]; a lead of 0 counts ½, trials
    without a majority are left out. The same of single choices orders and compares measures. Draws are of
    whole images and of whole subjects: answers of one subject, and to one image, are not independent.

    Parameters
    ----------
    asked : sequence of Trial
        Those with two maps count, and of them the main ones.
    answers : sequence of Answer
    leads : mapping of measure to sequence of float, optional
        For every trial of `asked`, in its order, how much better the measure finds the left map; NaN if it
        cannot tell. Trials of which no measure can are left out. Without it there is the scale alone.
    draws, level, seed
        Of the bootstrap.

    Examples
    --------
    >>> from edgecritic.annotators.choice import EdgeMap
    >>> ends = {"left": EdgeMap(condition="a"), "right": EdgeMap(condition="b")}
    >>> asked = [Trial(id=n, image=n, detector="", mode="detector", **ends) for n in "1234"]
    >>> given = [Answer(n, s, "left" if int(s) < w else "right")
    ...          for n, w in zip("1234", (5, 4, 3, 1)) for s in "01234"]
    >>> found = preference(asked, given, {"m": [0.2, 0.1, -0.1, 0]}, draws=50)
    >>> found.measures[0].share, found.measures[0].singles, found.ceiling
    (0.625, 0.675, 0.8)
    """
    check_settings(draws, level, seed)
    votes = _Votes(asked, answers)
    weights = draw_weights(votes.images, draws, seed), draw_weights(len(votes.subjects), draws, seed + 1)
    scale, low, high = _scale(votes, *weights, level)
    known = {} if leads is None else dict(leads)
    if any(len(values) != len(asked) for values in known.values()):
        raise InputError("every measure needs one lead for each trial")
    table = np.array([[float(values[at]) for at in votes.places] for values in known.values()])
    found, better = _agreements(
        list(known), table.reshape(len(known), len(votes.places)), votes, *weights, level
    )
    decided = int(np.count_nonzero(votes.margins))
    return Preference(
        scale=scale,
        low=low,
        high=high,
        measures=found,
        better=better,
        ceiling=votes.ceiling,
        trials=decided,
        tied=len(votes.places) - decided,
        answers=int(votes.given.sum()),
        subjects=len(votes.subjects),
        images=votes.images,
        draws=draws,
        seed=seed,
        level=level,
    )


def judge_measures(
    trials: Sequence[Trial], truths: Mapping[str, Sequence[Any]], measures: Sequence[str]
) -> dict[str, list[float]]:
    """Return for every measure how much better it finds the left map of each trial, as `preference` takes it.

    `truths` are by image. Trials of other images, and what is no trial with two maps, get NaN.
    """
    from edgecritic.annotators.pairs import goodness

    columns = []
    for trial in trials:
        own = truths.get(trial.image)
        if own is None or not trial.is_of_maps:
            columns.append(np.full(len(measures), np.nan))
            continue
        left, right = goodness([_map(trial, side) for side in SIDES], own, list(measures))
        with np.errstate(invalid="ignore"):
            columns.append(np.where(left == right, 0.0, left - right))
    return {name: [float(column[at]) for column in columns] for at, name in enumerate(measures)}


def simulate_judge(
    asked: Sequence[Trial],
    leads: Sequence[float],
    *,
    name: str = "simulated",
    noise: float = 0.5,
    lapses: float = 0.02,
    seed: int = 0,
) -> list[Answer]:
    """Answer trials with two maps like a subject who uses a measure, with noise.

    The lead of the left map, in units of the median size of the leads, plus logistic noise of the scale
    `noise` decides; with the probability `lapses` the hand does. Checks and practice are answered right.

    Examples
    --------
    >>> simulate_judge([], [])
    []
    """
    rng = np.random.default_rng([seed, *name.encode()])
    sizes = np.abs([lead for lead in leads if np.isfinite(lead) and lead != 0])
    unit = float(np.median(sizes)) if sizes.size else 1.0
    answers = []
    for trial, lead in zip(asked, leads, strict=True):
        felt = float(np.nan_to_num(lead, nan=0.0)) / unit + rng.logistic(0.0, noise)
        side = SIDES[int(felt < 0)] if rng.random() >= lapses else SIDES[int(rng.integers(2))]
        answers.append(Answer(trial.id, name, trial.expected or side))
    return answers


def holm(p_values: Sequence[float]) -> Array:
    """Return p-values corrected for their number, step by step (S. Holm, 1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    given = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    steps = np.maximum.accumulate(given[order] * np.arange(given.size, 0, -1))
    corrected = np.empty(given.size)
    corrected[order] = np.minimum(steps, 1.0)
    return corrected


class _Votes:
    """The answers as a table: trials × subjects, 1 for left, −1 for right, 0 for a tie or nothing."""

    def __init__(self, asked: Sequence[Trial], answers: Sequence[Answer]) -> None:
        counted = {
            trial.id: at for at, trial in enumerate(asked) if trial.part == "main" and trial.is_of_maps
        }
        mine = [one for one in answers if one.trial in counted]
        if not mine:
            raise InputError("there is no answer to a trial with two edge maps")
        answered = {one.trial for one in mine}
        self.places = [at for name, at in counted.items() if name in answered]
        self.trials = [asked[at] for at in self.places]
        self.subjects = sorted({one.subject for one in mine})
        rows = {trial.id: row for row, trial in enumerate(self.trials)}
        columns = {subject: column for column, subject in enumerate(self.subjects)}
        self.choices = np.zeros((len(rows), len(columns)))
        self.given = np.zeros(self.choices.shape, dtype=np.bool_)
        for one in mine:
            at = rows[one.trial], columns[one.subject]
            if self.given[at]:
                raise InputError(f"{one.subject} answered the trial {one.trial} twice")
            self.given[at] = True
            self.choices[at] = {"left": 1.0, "right": -1.0}.get(one.choice, 0.0)
        names = sorted({trial.image for trial in self.trials})
        self.image_of = np.array([names.index(trial.image) for trial in self.trials])
        self.images = len(names)
        self.margins = np.sign(self.choices.sum(axis=1))
        ends = np.stack([((self.choices == side) + 0.5 * self._ties).sum(axis=1) for side in (1, -1)])
        self.ceiling = float(ends.max(axis=0).sum() / ends.sum())

    def only(self, rows: NDArray[np.bool_]) -> _Votes:
        """Return the votes of some trials; subjects and images keep their places."""
        some = copy(self)
        some.trials = [trial for trial, row in zip(self.trials, rows, strict=True) if row]
        some.choices, some.given = self.choices[rows], self.given[rows]
        some.image_of, some.margins = self.image_of[rows], self.margins[rows]
        return some

    @property
    def _ties(self) -> NDArray[np.bool_]:
        tied: NDArray[np.bool_] = self.given & (self.choices == 0)
        return tied

    def wins(self, image_weights: Array, subject_weights: Array, names: Sequence[str]) -> Array:
        """Return who won over whom in every draw: (draws, n, n)."""
        index = {name: at for at, name in enumerate(names)}
        found = np.zeros((len(image_weights), len(names), len(names)))
        for row, trial in enumerate(self.trials):
            left, right = (index[name] for name in trial.conditions)
            for sign, winner, loser in ((1, left, right), (-1, right, left)):
                share = (self.choices[row] == sign) + 0.5 * self._ties[row]
                found[:, winner, loser] += image_weights[:, self.image_of[row]] * (subject_weights @ share)
        return found


def _scale(
    votes: _Votes, image_weights: Array, subject_weights: Array, level: float
) -> tuple[Scale | None, tuple[float, ...], tuple[float, ...]]:
    """Return the scale, and the intervals of its values; None with one condition."""
    answers = [
        Answer(trial.id, subject, {1.0: "left", -1.0: "right", 0.0: "tie"}[float(votes.choices[row, column])])
        for row, trial in enumerate(votes.trials)
        for column, subject in enumerate(votes.subjects)
        if votes.given[row, column]
    ]
    names, wins = wins_of(votes.trials, answers)
    if len(names) < 2:
        return None, (), ()
    scale = bradley_terry(wins, names)
    drawn = votes.wins(image_weights, subject_weights, scale.conditions)
    penalties = np.array([scale.penalty if is_connected(one) else PENALTY for one in drawn])
    values = fit_scale(drawn, penalties)
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return scale, tuple(low.tolist()), tuple(high.tolist())


def _agreements(
    names: Sequence[str], leads: Array, votes: _Votes, images: Array, subjects: Array, level: float
) -> tuple[tuple[Agreement, ...], NDArray[np.bool_]]:
    """Return the agreement of every measure, best first, and which is better than which."""
    judged: NDArray[np.bool_] = np.ones(len(votes.trials), dtype=np.bool_)
    if len(names):
        judged &= ~np.isnan(leads).all(axis=0)
    votes, leads = votes.only(judged), leads[:, judged]
    signs = np.sign(np.nan_to_num(leads, nan=0.0))
    majorities = np.repeat(votes.margins[:, None], len(images), axis=1)  # (trials, draws)
    weights = images[:, votes.image_of].T
    drawn = _shares(signs, majorities, weights)  # (measures, draws)
    whole = _shares(signs, votes.margins[:, None], np.ones((len(votes.trials), 1)))[:, 0]
    ends = [(1 - level) / 2, (1 + level) / 2]
    kinds = {}
    for kind in sorted({trial.mode for trial in votes.trials}):
        of_kind = np.array([trial.mode == kind for trial in votes.trials])
        own = _shares(signs[:, of_kind], votes.margins[of_kind, None], np.ones((int(of_kind.sum()), 1)))[:, 0]
        draws = _shares(signs[:, of_kind], majorities[of_kind], weights[of_kind])
        kinds[kind] = np.column_stack([own, *np.nanquantile(draws, ends, axis=1)])
    singles = _shares(
        signs,
        votes.choices.sum(axis=1)[:, None],
        np.ones((len(votes.trials), 1)),
        votes.given.sum(axis=1)[:, None],
    )[:, 0]
    singles_drawn = _shares(signs, votes.choices @ subjects.T, weights, votes.given @ subjects.T)
    order = np.argsort(-np.round(singles, 12), kind="stable")
    equal = _equal_shares(signs, votes.margins)
    low, high = np.nanquantile(drawn, ends, axis=1) if len(names) else (whole, whole)
    below, above = np.nanquantile(singles_drawn, ends, axis=1) if len(names) else (whole, whole)
    lags, better = _compare(singles[order], singles_drawn[order], level)
    found = tuple(
        Agreement(
            measure=names[at],
            share=float(whole[at]),
            low=float(low[at]),
            high=float(high[at]),
            singles=float(singles[at]),
            singles_low=float(below[at]),
            singles_high=float(above[at]),
            equal=float(equal[at]),
            kinds={kind: tuple(float(value) for value in rows[at]) for kind, rows in kinds.items()},  # type: ignore[misc]
            worse_than_best=float(lag),
        )
        for at, lag in zip(order, lags, strict=True)
    )
    return found, better


def _shares(signs: Array, leans: Array, weights: Array, counts: Array | None = None) -> Array:
    """Return ½ + ½·Σ w·sign·lean / Σ w·count, measures × draws; NaN where nothing counts.

    A lean is the sign of a majority, which counts 1 if there is one, or the sum of `counts` single choices.
    """
    total = (weights * (np.abs(leans) if counts is None else counts)).sum(axis=0)
    found: Array = np.full((len(signs), leans.shape[1]), np.nan)
    np.divide(signs @ (weights * leans), total, out=found, where=total > 0)
    return 0.5 + 0.5 * found


def _equal_shares(signs: Array, margins: Array) -> Array:
    decided = margins != 0
    shares: Array = (signs[:, decided] == 0).mean(axis=1) if decided.any() else np.full(len(signs), np.nan)
    return shares


def _compare(whole: Array, drawn: Array, level: float) -> tuple[Array, NDArray[np.bool_]]:
    """Return corrected p that each is no worse than the first, and the table of significant differences."""
    number = len(whole)
    if number == 0:
        return whole, np.zeros((0, 0), dtype=np.bool_)
    normal = NormalDist()
    lags = np.full(number, np.nan)
    lags[1:] = holm([1 - normal.cdf(_z(whole, drawn, 0, j)) for j in range(1, number)])
    pairs = [(i, j) for i in range(number) for j in range(i + 1, number)]
    scores = [_z(whole, drawn, i, j) for i, j in pairs]
    corrected = holm([2 * (1 - normal.cdf(abs(score))) for score in scores])
    better = np.zeros((number, number), dtype=np.bool_)
    for (i, j), score, p in zip(pairs, scores, corrected, strict=True):
        if p < 1 - level:
            better[(i, j) if score > 0 else (j, i)] = True
    return lags, better


def _z(whole: Array, drawn: Array, i: int, j: int) -> float:
    """Return the difference of two shares in units of its spread over the draws; 0 if they never differ."""
    apart = drawn[i] - drawn[j]
    spread = float(np.nanstd(apart))
    return float(whole[i] - whole[j]) / spread if spread > 1e-12 else 0.0


def _map(trial: Trial, side: str) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = getattr(trial, side).map
    return found
