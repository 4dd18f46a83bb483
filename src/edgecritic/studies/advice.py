"""Which strategy of matching suits some maps: the survey's recommendation, made of what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from edgecritic.studies.closer import CloserLook
from edgecritic.studies.sorting import RARE, sorting_margins
from edgecritic.values import Value

__all__ = ["BASE", "DOUBLED", "STRAY", "FAR", "JUMPS", "RankChange", "rank_changes", "ranking_text", "advice"]

BASE = "exact"
"""The strategy whose ranking the others are compared with: that of the benchmark."""

DOUBLED, STRAY, FAR, JUMPS = 0.1, 0.3, 0.5, 0.2
"""From these values on, advice speaks of many second answers, of many stray pixels (shares of the candidate's
pixels), of far displacements (in tolerances), and of neighbours that are matched apart (a share of them)."""

Ranking = Mapping[tuple[str, float], Mapping[str, float]]


class RankChange(Value):
    """Two detectors that a strategy ranks the other way round than ``exact``, by their mean F.

    Attributes
    ----------
    strategy : str
    tolerance : float
    first, second : str
        As ``exact`` has them: the better one first.
    margin : float
        The Sorting Margin of the means, below 0.
    """

    strategy: str
    tolerance: float
    first: str
    second: str
    margin: float


def rank_changes(ranking: Ranking) -> list[RankChange]:
    """Return where strategies rank two detectors differently than ``exact``, the largest change first.

    `ranking` has the mean F of every detector by strategy and tolerance. Two strategies that disagree with
    each other cannot both agree with ``exact``, unless it has the two level.

    Examples
    --------
    >>> f = {("exact", 5.0): {"a": 0.7, "b": 0.6}, ("area", 5.0): {"a": 0.5, "b": 0.54}}
    >>> [(one.strategy, one.first, one.second, round(one.margin, 3)) for one in rank_changes(f)]
    [('area', 'a', 'b', -0.063)]
    """
    found = []
    for (strategy, tolerance), scores in ranking.items():
        base = ranking.get((BASE, tolerance))
        if strategy == BASE or base is None:
            continue
        for pair in combinations(base, 2):
            first, second = sorted(pair, key=lambda name: -base[name])
            margin = float(
                sorting_margins(
                    np.array([base[first], base[second]]), np.array([scores[first], scores[second]])
                )[0]
            )
            if margin < 0:
                found.append(
                    RankChange(
                        strategy=strategy, tolerance=tolerance, first=first, second=second, margin=margin
                    )
                )
    return sorted(found, key=lambda one: (one.margin, one.tolerance, one.strategy, one.first, one.second))


def ranking_text(ranking: Ranking) -> list[str]:
    """Say whether another strategy would rank the detectors differently, and by what margin.

    Examples
    --------
    >>> f = {("exact", 5.0): {"a": 0.7, "b": 0.6}, ("area", 5.0): {"a": 0.5, "b": 0.4}}
    >>> ranking_text(f)
    ['Every strategy ranks the maps alike at every tolerance: a > b.']
    """
    tolerances = sorted({tolerance for strategy, tolerance in ranking if strategy == BASE})
    names = {name for scores in ranking.values() for name in scores}
    if not tolerances or len(names) < 2:
        return []
    changes = rank_changes(ranking)
    orders = {t: " > ".join(_order(ranking[BASE, t])) for t in tolerances}
    if not changes and len(set(orders.values())) == 1:
        return [f"Every strategy ranks the maps alike at every tolerance: {orders[tolerances[0]]}."]
    own = "; ".join(f"{order} at t = {t:g}" for t, order in orders.items())
    if not changes:
        return [f"Every strategy ranks the maps alike, but the tolerance matters: {own}."]
    lines = [f"By {BASE} the order is {own}."]
    lines += [
        f"At t = {one.tolerance:g} {one.strategy} puts {one.second} before {one.first} instead; the Sorting "
        f"Margin of their mean F is {one.margin:.4f}."
        for one in changes
    ]
    least = changes[0].margin
    size = "beyond" if least < RARE else "within"
    lines.append(
        f"The largest change has a margin of {least:.4f}, {size} the {RARE:g} that the survey calls rare."
    )
    return lines


def advice(look: CloserLook, ranking: Ranking) -> list[str]:
    """Return the survey's three steps for these maps: what they are like, what is asked of them, time.

    Every sentence follows from the numbers of `look` and `ranking`; the limits are this project's.
    """
    lines = [*_second_answers(look), *_stray(look), *_displacement(look), *_neighbours(look)]
    if not lines:
        return []
    lines.append(
        "Which pixel answers which is told by exact and coherent (one to one) and by validation (one to "
        "many), not by distance and area. These two take the least time, the survey says."
    )
    if ranking:
        changed = sorted({one.strategy for one in rank_changes(ranking)})
        lines.append(
            f"The ranking of these maps depends on the strategy ({', '.join(changed)}): say which one was "
            "taken, and why."
            if changed
            else f"The ranking of these maps does not depend on the strategy: take {BASE}, as benchmarks do."
        )
    return lines


def _second_answers(look: CloserLook) -> list[str]:
    if look.doubled is None:
        return []
    told = (
        f"{look.doubled:.1%} of the pixels are second answers: hits by distance, without a partner of their "
        "own by exact"
    )
    if look.doubled >= DOUBLED:
        return [f"{told}. If they are errors, take exact; if they are welcome, distance or area."]
    return [f"{told}. So few make little difference between one-to-one and one-to-many strategies."]


def _stray(look: CloserLook) -> list[str]:
    if look.stray is None:
        return []
    told = f"{look.stray:.1%} of the pixels have no truth within {look.tolerance:g} px"
    if look.stray < STRAY:
        return [f"{told}."]
    why = (
        "Strategies differ most on maps with many false alarms, the survey says; exact charges each of them."
    )
    return [f"{told}. {why}"]


def _displacement(look: CloserLook) -> list[str]:
    if look.displacement is None:
        return []
    share = look.displacement / look.tolerance
    told = f"Matched edges lie {look.displacement:.2f} px from their place, {share:.2f} of the tolerance"
    if share < FAR:
        return [f"{told}."]
    why = "one pixel decides over hit or miss. Area charges displacement by degrees; or take more tolerance."
    return [f"{told}: {why}"]


def _neighbours(look: CloserLook) -> list[str]:
    own, other = look.jumps.get(BASE), look.jumps.get("coherent")
    if own is None or other is None:
        return []
    told = (
        f"Of neighbouring pixels {own:.1%} are matched in ways that differ by more than 2 px by exact, "
        f"{other:.1%} by coherent"
    )
    if own < JUMPS:
        return [f"{told}."]
    return [f"{told}. Where matches by accident must not count, take coherent; it costs some true ones."]


def _order(scores: Mapping[str, float]) -> Sequence[str]:
    return sorted(scores, key=lambda name: -scores[name])
