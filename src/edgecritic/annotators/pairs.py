"""Which pairs of edge maps to show to people: those on which measures disagree, balanced and seeded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.annotators.choice import PAIR_KINDS, EdgeMap, Trial, other_side
from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, as_mask
from edgecritic.measures.base import measures as registry
from edgecritic.measures.scoring import Measures, choose, score
from edgecritic.protocols.sweep import candidate_at
from edgecritic.values import Value

__all__ = [
    *("DAMAGES", "MapPool", "check_kinds", "damaged", "goodness", "judging_measures"),
    *("pair_trials", "pool_of", "spoiled_trials"),
]

Array = NDArray[np.float64]

_STEPS = {"low": 0.6, "high": 1.5}
_HOLE = 15
_LOST = 0.3
_ADDED = 0.3
_SHIFT = 4.0
_TRUTH_NAME = "annotator"


class MapPool(Value):
    """The maps of one image that could be shown, and how good measures find them.

    Attributes
    ----------
    image : str
    maps : tuple of EdgeMap
    origins : tuple of (detector, change)
        What each map is: the change is ``low``, ``high``, a damage, or empty.
    measures : tuple of str
        Ids.
    goodness : (maps, measures) float array
        The mean over the truths, turned so that more is better.
    truth : EdgeMap or None
        What one annotator drew, for practice and checks of attention.
    """

    _hidden = ("maps", "truth")

    image: str
    maps: tuple[EdgeMap, ...]
    origins: tuple[tuple[str, str], ...]
    measures: tuple[str, ...]
    goodness: Array
    truth: EdgeMap | None = None


def judging_measures(*, objects: bool = True) -> list[str]:
    """Return the ids of all measures that can order two edge maps.

    Every measure of the registry but those of regions, which take label maps, and the complements
    (``f_star``), which order as their similarity does. Measures that can match pixels are there twice, with
    exact matching too. `objects` can leave out those that match connected pieces (`pq`, ``lesion_…``), which
    take ten times as long as all the others together.

    Examples
    --------
    >>> {"f", "f(strategy=exact)", "baddeley"} <= set(judging_measures())
    True
    """
    names: list[str] = []
    for entry in registry:
        if entry.info.needs == "segmentation" or entry.name.endswith("_star"):
            continue
        if entry.info.family == "lesions" and not objects:
            continue
        names.append(entry.name)
        if entry.parameters.get("strategy", "") is None:
            names.append(f"{entry.name}(strategy=exact)")
    return names


def goodness(maps: Iterable[BoolArray], truths: Sequence[BoolArray], measures: Measures = None) -> Array:
    """Return how good measures find maps, (maps, measures): the mean over truths, more is better.

    `measures` are those of `judging_measures` if not given.
    """
    chosen = choose(measures, judging_measures())
    turn = [1.0 if bound.entry.info.better == "higher" else -1.0 for bound in chosen]
    ids = [bound.id for bound in chosen]
    rows = [list(score(one, list(truths), ids).mean.values()) for one in maps]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(ids)) * turn


def damaged(mask: BoolArray, kind: str, rng: np.random.Generator) -> BoolArray:
    """Return a map with a damage, one of `DAMAGES`.

    ``holes``: squares of 15 pixels are cut out until 30 % of the edge pixels are gone. ``specks``: single
    pixels are added, 30 % of the number of edge pixels. ``shifted``: everything moved by 4 pixels into a
    random direction. ``thick``: edge pixels with their eight neighbours. ``random``: as many pixels,
    anywhere; nobody can take that for an edge map.

    Examples
    --------
    >>> line = np.zeros((20, 20), bool)
    >>> line[10] = True
    >>> int(damaged(line, "thick", np.random.default_rng(0)).sum())
    60
    """
    if kind not in DAMAGES:
        raise InputError(f"a damage is one of {', '.join(DAMAGES)}, got {kind!r}")
    return DAMAGES[kind](as_mask(mask, "map"), rng)


def pool_of(
    image: str,
    truths: Sequence[BoolArray],
    strengths: Mapping[str, Any],
    thresholds: Mapping[str, float],
    *,
    kinds: Sequence[str] = PAIR_KINDS,
    measures: Measures = None,
    seed: int = 0,
) -> MapPool:
    """Make the maps of one image and measure them.

    Every detector has its map at its threshold (condition ``canny``), at a lower and a higher one (``canny,
    low`` at .6 of it, ``canny, high`` at 1.5, at most half-way to 1), and the first map damaged in each way
    of `damaged` but ``random`` (``canny, holes``).

    Parameters
    ----------
    image : str
    truths : sequence of boolean arrays
    strengths : mapping of name to array
        The detectors' strength maps.
    thresholds : mapping of name to float
        Of every detector, such as that of its ODS.
    kinds : sequence of str
        Which kinds of pairs are wanted, of `PAIR_KINDS`.
    measures
        Ids; those of `judging_measures` without objects if not given.
    seed : int
        Of the damage; images are independent of each other.
    """
    check_kinds(kinds)
    rng = np.random.default_rng([seed, *image.encode()])
    found: dict[tuple[str, str], BoolArray] = {}
    for name in sorted(strengths):
        best = thresholds[name]
        found[name, ""] = candidate_at(strengths[name], best)
        if "threshold" in kinds:
            for word, factor in _STEPS.items():
                found[name, word] = candidate_at(strengths[name], min(best * factor, (1 + best) / 2))
        if "damage" in kinds:
            for kind in _SHOWN:
                found[name, kind] = damaged(found[name, ""], kind, rng)
    chosen = choose(measures, judging_measures(objects=False))
    drawn = truths[int(rng.integers(len(truths)))]
    return MapPool(
        image=image,
        maps=tuple(EdgeMap.of(mask, ", ".join(filter(None, origin))) for origin, mask in found.items()),
        origins=tuple(found),
        measures=tuple(str(bound) for bound in chosen),
        goodness=goodness(found.values(), truths, [bound.id for bound in chosen]),
        truth=EdgeMap.of(drawn, _TRUTH_NAME) if drawn.any() else None,
    )


def check_kinds(kinds: Sequence[str]) -> None:
    """Refuse what is no kind of pair."""
    wrong = [kind for kind in kinds if kind not in PAIR_KINDS]
    if wrong or not kinds:
        raise InputError(f"kinds of pairs are {', '.join(PAIR_KINDS)}, got {', '.join(wrong) or 'none'}")


def pair_trials(pools: Sequence[MapPool], number: int, *, seed: int = 0) -> list[Trial]:
    """Choose pairs of maps on which measures disagree.

    One pair after the other, of the kind and the image that have fewest so far: the one with the largest
    Σ s_ab/(1 + n_ab) over the pairs of measures a, b, divided by 1 + how often its conditions were chosen.
    s_ab says how clearly they disagree: 0 if they do not, else the smaller of their two leads, each in units
    of the median lead of the measure, at most 1. n_ab is the sum of s_ab over the pairs chosen already. So
    all measures that can be told apart are, on pairs that are not alike, and all conditions are seen. Maps
    that are equal make no pair, no pair is chosen twice. A condition is on the left in about half of its
    trials.

    Parameters
    ----------
    pools : sequence of MapPool
        With the same measures.
    number : int
        Of trials; fewer if there are not so many pairs.
    seed : int
        Decides between equals, and the sides.
    """
    if number < 1 or not pools:
        raise InputError(f"ask for at least one pair of one image, got {number} of {len(pools)}")
    if len({pool.measures for pool in pools}) > 1:
        raise InputError("all images must be judged by the same measures")
    rng = np.random.default_rng([seed, 17])
    design = _Design(pools, rng)
    chosen: list[tuple[str, MapPool, int, int]] = []
    while len(chosen) < number and (pair := design.next()) is not None:
        chosen.append(pair)
    lefts: dict[str, int] = {}
    made = []
    for kind, pool, i, j in chosen:
        ends = [pool.maps[i], pool.maps[j]]
        rng.shuffle(ends)
        ends.sort(key=lambda end: lefts.get(end.condition, 0))
        left, right = ends
        lefts[left.condition] = lefts.get(left.condition, 0) + 1
        lefts[right.condition] = lefts.get(right.condition, 0) - 1
        name = f"{kind}/{left.condition}/{right.condition}/{pool.image}"
        made.append(Trial(id=name, image=pool.image, detector="", mode=kind, left=left, right=right))
    return made


def spoiled_trials(pools: Sequence[MapPool], practice: int, checks: int, *, seed: int = 0) -> list[Trial]:
    """Make trials whose answer everybody sees: what an annotator drew, against as many random pixels."""
    drawn = [pool.truth for pool in pools if pool.truth is not None]
    names = [pool.image for pool in pools if pool.truth is not None]
    made = []
    for number in range(practice + checks if drawn else 0):
        rng = np.random.default_rng([seed, 19, number])
        at = int(rng.integers(len(drawn)))
        noise = damaged(drawn[at].map, "random", rng)
        spoiled = EdgeMap.of(noise, f"{_TRUTH_NAME}, random", kind="spoiled map")
        part = "practice" if number < practice else "check"
        fields = {"image": names[at], "detector": "", "mode": "damage", "part": part}
        side = "left" if number % 2 == 0 else other_side("left")
        made.append(Trial.of(spoiled, drawn[at], side, id=f"{part}/{number}", **fields))
    return made


class _Design:
    """Pairs that are left, and what was chosen so far."""

    def __init__(self, pools: Sequence[MapPool], rng: np.random.Generator) -> None:
        self.rng = rng
        self.pools = [pools[int(at)] for at in rng.permutation(len(pools))]
        self.left = [_pairs_of(pool) for pool in self.pools]
        self.units = _units(self.pools, self.left)
        count = len(self.pools[0].measures) if self.pools else 0
        self.separated = np.zeros((count, count))
        self.seen: dict[str, int] = {}
        self.per_kind = dict.fromkeys(PAIR_KINDS, 0)
        self.per_image = [dict.fromkeys(PAIR_KINDS, 0) for _ in self.pools]

    def next(self) -> tuple[str, MapPool, int, int] | None:
        """Take the best pair out, or None if there is none."""
        open_ = [(kind, at) for at, left in enumerate(self.left) for kind in left if left[kind]]
        if not open_:
            return None
        kind, at = min(open_, key=lambda one: (self.per_kind[one[0]], *self._use(one)))
        pool, pairs = self.pools[at], self.left[at][kind]
        leads = np.array([_lead(pool, i, j) / self.units for i, j in pairs])
        gains = np.array([float((_apart(row) / (1 + self.separated)).sum()) for row in leads])
        worn = [1 + sum(self.seen.get(pool.maps[end].condition, 0) for end in pair) for pair in pairs]
        place = int(np.lexsort((self.rng.random(len(pairs)), -gains / worn))[0])
        i, j = pairs.pop(place)
        self.separated += _apart(leads[place])
        self.per_kind[kind] += 1
        self.per_image[at][kind] += 1
        for end in (i, j):
            name = pool.maps[end].condition
            self.seen[name] = self.seen.get(name, 0) + 1
        return kind, pool, i, j

    def _use(self, one: tuple[str, int]) -> tuple[int, int, int]:
        kind, at = one
        return sum(self.per_image[at].values()), self.per_image[at][kind], at


def _pairs_of(pool: MapPool) -> dict[str, list[tuple[int, int]]]:
    """Return by kind the pairs of places of maps that differ."""
    found: dict[str, list[tuple[int, int]]] = {kind: [] for kind in PAIR_KINDS}
    for i, j in combinations(range(len(pool.maps)), 2):
        kind = _kind_of(pool.origins[i], pool.origins[j])
        if kind is not None and pool.maps[i].packed != pool.maps[j].packed:
            found[kind].append((i, j))
    return found


def _kind_of(first: tuple[str, str], second: tuple[str, str]) -> str | None:
    """Return the kind of pair that two origins make; None if they differ in more than one way."""
    words = {first[1], second[1]} - {""}
    if first[0] != second[0]:
        return "detector" if not words else None
    if words <= set(_STEPS):
        return "threshold"
    return "damage" if words <= set(_SHOWN) else None


def _lead(pool: MapPool, i: int, j: int) -> Array:
    """Return by how much each measure prefers the first of two maps; 0 where it cannot tell."""
    with np.errstate(invalid="ignore"):
        lead: Array = np.nan_to_num(pool.goodness[i] - pool.goodness[j], nan=0.0)
    return lead


def _units(pools: Sequence[MapPool], pairs: Sequence[dict[str, list[tuple[int, int]]]]) -> Array:
    """Return the median lead of every measure over all pairs in which it has one."""
    leads = [
        np.abs(_lead(pool, i, j))
        for pool, own in zip(pools, pairs, strict=True)
        for some in own.values()
        for i, j in some
    ]
    table = np.array(leads).reshape(len(leads), len(pools[0].measures))
    columns = [column[column > 0] for column in table.T]
    return np.array([float(np.median(column)) if column.size else 1.0 for column in columns])


def _apart(leads: Array) -> Array:
    """Return how clearly every two measures disagree on a pair."""
    clear = np.minimum(np.abs(leads), 1.0)
    apart: Array = np.minimum.outer(clear, clear) * (np.multiply.outer(leads, leads) < 0)
    return apart


def _holes(mask: BoolArray, rng: np.random.Generator) -> BoolArray:
    left = mask.copy()
    goal = (1 - _LOST) * mask.sum()
    while left.any() and left.sum() > goal:
        places = np.argwhere(left)
        row, column = places[int(rng.integers(len(places)))]
        reach = _HOLE // 2
        left[max(row - reach, 0) : row + reach + 1, max(column - reach, 0) : column + reach + 1] = False
    return left


def _specks(mask: BoolArray, rng: np.random.Generator) -> BoolArray:
    added = mask.copy()
    free = np.flatnonzero(~mask)
    number = min(round(_ADDED * int(mask.sum())), len(free))
    added.reshape(-1)[rng.choice(free, number, replace=False)] = True
    return added


def _shifted(mask: BoolArray, rng: np.random.Generator) -> BoolArray:
    angle = rng.uniform(0, 2 * np.pi)
    moved = np.zeros_like(mask)
    places = np.argwhere(mask) + np.rint([_SHIFT * np.sin(angle), _SHIFT * np.cos(angle)]).astype(int)
    inside = places[((places >= 0) & (places < mask.shape)).all(axis=1)]
    moved[tuple(inside.T)] = True
    return moved


def _thick(mask: BoolArray, _rng: np.random.Generator) -> BoolArray:
    from scipy.ndimage import binary_dilation

    grown: BoolArray = binary_dilation(mask, np.ones((3, 3), bool))
    return grown


def _random(mask: BoolArray, rng: np.random.Generator) -> BoolArray:
    return rng.permutation(mask.reshape(-1)).reshape(mask.shape)


_SHOWN = ("holes", "specks", "shifted", "thick")
DAMAGES: dict[str, Callable[[BoolArray, np.random.Generator], BoolArray]] = {
    "holes": _holes,
    "specks": _specks,
    "shifted": _shifted,
    "thick": _thick,
    "random": _random,
}
