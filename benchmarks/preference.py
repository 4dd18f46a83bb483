"""People as the judges of measures: do simulated subjects give the measure away that they use?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from bars import Figure, Given, check
from edgecritic.annotators.pairs import MapPool, pair_trials, pool_of
from edgecritic.annotators.preferences import preference, simulate_judge
from edgecritic.annotators.scale import bradley_terry, is_connected
from edgecritic.datasets.synthetic import dataset
from edgecritic.detectors import detect

PART = "preference"
SUBJECTS, PAIRS, SEEDS, CHOIX = 30, 100, 20, 1e-6
HIDDEN = ("baddeley", "fom", "hausdorff", "dk", "f(strategy=exact)", "sk", "mcc", "pcm", "psi", "complexity")


@cache
def pools() -> list[MapPool]:
    """Make the maps of the generated images, and measure them."""
    made = []
    for case in dataset(8):
        strengths = {name: detect(case.image, name).thin for name in ("canny(sigma=2)", "sobel", "steerable")}
        made.append(pool_of(case.id, list(case.truths), strengths, dict.fromkeys(strengths, 0.3)))
    return made


@check(
    PART,
    (
        f"{SUBJECTS} simulated subjects × {PAIRS} pairs, ten hidden measures in turn",
        f"hidden measure first in ≥ 19 of {SEEDS} seeds",
    ),
)
def recovery(given: Given) -> Iterator[Figure]:
    first, ceilings = 0, []
    seeds = given.size(4, SEEDS)
    for seed in range(seeds):
        hidden = HIDDEN[seed % len(HIDDEN)]
        trials = pair_trials(pools(), PAIRS, seed=seed)
        by = {pool.image: pool for pool in pools()}
        places = {image: [one.condition for one in pool.maps] for image, pool in by.items()}
        rows = [
            [by[trial.image].goodness[places[trial.image].index(name)] for name in trial.conditions]
            for trial in trials
        ]
        table = np.array([left - right for left, right in rows]).T
        leads = dict(zip(pools()[0].measures, table.tolist(), strict=True))
        answers = [
            answer
            for number in range(SUBJECTS)
            for answer in simulate_judge(trials, leads[hidden], name=str(number), seed=seed)
        ]
        found = preference(trials, answers, leads, draws=20)
        ceilings.append(found.ceiling)
        own = next(one for one in found.measures if one.measure == hidden)
        first += own.singles == found.measures[0].singles
    told = f"{first} of {seeds}; single choices agree with their majority in {np.mean(ceilings):.0%}"
    yield Figure(told, first >= seeds - 1)


@check(PART, ("Bradley–Terry beside choix, largest difference", f"≤ {CHOIX:g}"))
def beside_choix(given: Given) -> Iterator[Figure]:
    import choix

    worst = 0.0
    for seed in range(given.size(5, 50)):
        rng = np.random.default_rng(seed)
        number = int(rng.integers(3, 12))
        theta = rng.normal(0, 1, number)
        games = rng.integers(3, 30, (number, number))
        wins = rng.binomial(games, 1 / (1 + np.exp(theta[None] - theta[:, None]))).astype(float)
        np.fill_diagonal(wins, 0)
        if not is_connected(wins):
            continue  # without a penalty its values are infinite
        names = [str(place) for place in range(number)]
        found = bradley_terry(wins, names, penalty=0.0)
        ours = np.array([found.values[found.conditions.index(name)] for name in names])
        pairs = [(i, j) for i in range(number) for j in range(number) for _ in range(int(wins[i, j]))]
        theirs = choix.ilsr_pairwise(number, pairs, tol=1e-12, max_iter=10_000)  # opt_pairwise stops at 4e-6
        worst = max(worst, float(np.abs(ours - (theirs - theirs.mean())).max()))
    yield Figure(f"{worst:.1e}", worst <= CHOIX)
