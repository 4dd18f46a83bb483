"""What a candidate and a truth have in common, and what measures punish of the difference, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from edgecritic.inputs import BoolArray, as_tolerance
from edgecritic.matching import Matching, match
from edgecritic.measures.base import measures as registry
from edgecritic.tables import arrow, text_table
from edgecritic.values import Value, plain_number

if TYPE_CHECKING:
    from edgecritic.measures.evidence import Comparison

__all__ = ["Explanation", "Punished", "explain"]

SHOWN = ("jaccard", "fom", "hausdorff", "sk", "baddeley", "nsd", "hd95", "f(strategy=exact)")
"""A few measures of every family that judges maps pixel by pixel."""

REPAIRS = ("false alarms", "misses", "displacement")


class Punished(Value):
    """What one measure punishes of a difference between two maps.

    Attributes
    ----------
    measure, family, better : str
    value : float
        Its value for the pair.
    repaired : dict of str to float
        Its value if false alarms were taken away, misses filled in, or matched pixels moved onto their
        partners, one of these at a time.
    """

    measure: str
    family: str
    better: str
    value: float
    repaired: dict[str, float]

    @property
    def most(self) -> str:
        """The one repair that helps most, in words; an empty text where none does."""
        way = 1.0 if self.better == "higher" else -1.0
        gains = {name: way * (after - self.value) for name, after in self.repaired.items()}
        best = max(gains, key=lambda name: gains[name])
        return best if gains[best] > 1e-9 * max(1.0, abs(self.value)) else ""

    def rows(self) -> list[dict[str, Any]]:
        """Return one row: the value, and those after each repair."""
        after = {f"without {name}": plain_number(value) for name, value in self.repaired.items()}
        told = {"measure": self.measure, "family": self.family, "value": plain_number(self.value)}
        return [{**told, **after, "punishes most": self.most}]


class Explanation(Value):
    """A pair of maps in words and numbers.

    Attributes
    ----------
    candidate, truth, shared : int
        Pixels of each map, and pixels that both have.
    tolerance : float
        Within which pixels were matched one to one, in pixels or units of the spacing.
    hits, false_alarms, misses : int
        Of that matching.
    distance : float or None
        Mean distance of the pairs.
    shift : tuple of float or None
        Mean step from candidate to truth along each axis, in pixels or units of the spacing.
    spacing : tuple of float or None
        The pixel size; ``None`` if it is 1.
    punished : tuple of Punished
        What measures make of it; none if a map is empty.
    """

    candidate: int
    truth: int
    shared: int
    tolerance: float
    hits: int
    false_alarms: int
    misses: int
    distance: float | None
    shift: tuple[float, ...] | None
    spacing: tuple[float, ...] | None
    punished: tuple[Punished, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per measure: its value, those after each repair, and what it punishes most."""
        return [row for one in self.punished for row in one.rows()]

    def __str__(self) -> str:
        return "\n".join([*self._sentences(), *self._measures()])

    def _sentences(self) -> list[str]:
        empty = {(0, 0): "Both maps are", (0, 1): "The candidate is", (1, 0): "The truth is"}
        side = empty.get((min(self.candidate, 1), min(self.truth, 1)))
        if side is not None:
            return [f"{side} empty: there is nothing to compare."]
        unit = " px" if self.spacing is None else ""
        of_candidate, of_truth = self.shared / self.candidate, self.shared / self.truth
        lines = [
            f"The candidate has {self.candidate} pixels and the truth {self.truth}.",
            f"{self.shared} are in both: {of_candidate:.0%} of the candidate, {of_truth:.0%} of the truth.",
            f"{self.hits} pixels find a partner of their own within {self.tolerance:.3g}{unit}.",
            f"{self.false_alarms} false alarms and {self.misses} misses remain.",
        ]
        if self.distance is not None and self.shift is not None:
            where = ", ".join(f"{step:+.2f}" for step in self.shift)
            axes = "plane, row, column" if len(self.shift) == 3 else "row, column"
            lines.append(f"Partners are {self.distance:.2f}{unit} apart on average; {self._how()}.")
            lines.append(f"The mean step from candidate to truth is ({where}){unit} along {axes}.")
        return lines

    def _how(self) -> str:
        """Tell whether pixels lie aside all in one direction, or to and fro."""
        if not self.distance or self.shift is None:
            return "all lie where they should"
        together = math.hypot(*self.shift) / self.distance
        return "most lie aside in one direction" if together > 0.5 else "they lie aside to and fro"

    def _measures(self) -> list[str]:
        if not self.punished:
            return []
        head = ["", "", "value", *(f"no {name}" for name in REPAIRS), "punishes most here"]
        lines = [
            [
                f"{one.measure} {arrow(one.better)}",
                one.family,
                f"{one.value:.4g}",
                *(f"{one.repaired[name]:.4g}" for name in REPAIRS),
                one.most or "nothing that one repair would change",
            ]
            for one in self.punished
        ]
        return [
            "",
            "What measures punish: their value, and what it would be without one kind of error.",
            text_table(lines, head, align="llrrrrl"),
        ]


def explain(comparison: Comparison, *, tolerance: float | None = None) -> Explanation:
    """Say what the two maps of a comparison have in common and what measures punish.

    Pixels are matched exactly. The candidate is then repaired in three ways, one at a time: without the
    pixels that found no partner (false alarms), with the truth pixels that found none (misses), and with
    every matched pixel moved onto its partner (displacement). What a measure punishes most is the error whose
    repair improves it most.

    Parameters
    ----------
    comparison : Comparison
    tolerance : float, optional
        Largest distance of a match, in pixels or units of the spacing; 0.0075 of the diagonal if not given.

    Examples
    --------
    >>> import numpy as np
    >>> from edgecritic import compare
    >>> truth = np.zeros((40, 60), bool)
    >>> truth[20, 10:50] = True
    >>> found = compare(np.roll(truth, 1, axis=0), truth).explain(tolerance=2)
    >>> found.hits, found.shift
    (40, (-1.0, 0.0))
    >>> {one.measure: one.most for one in found.punished if one.measure in ("jaccard", "nsd")}
    {'jaccard': 'displacement', 'nsd': ''}
    """
    reach = as_tolerance(comparison.truth.shape, comparison.spacing, tolerance)
    found = match(comparison.candidate, comparison.truth, tolerance=reach, spacing=comparison.spacing)
    steps = None if found.pairs is None or not len(found.pairs) else found.pairs[:, 1] - found.pairs[:, 0]
    return Explanation(
        candidate=comparison.n_candidate,
        truth=comparison.n_truth,
        shared=comparison.confusion.tp,
        tolerance=reach,
        hits=found.tp,
        false_alarms=found.fp,
        misses=found.fn,
        distance=found.mean_distance,
        shift=None if steps is None else tuple((steps.mean(axis=0) * comparison.spacing).tolist()),
        spacing=None if set(comparison.spacing) == {1.0} else comparison.spacing,
        punished=() if comparison.empty_side else _punished(comparison, found, reach),
    )


def _punished(comparison: Comparison, found: Matching, tolerance: float) -> tuple[Punished, ...]:
    from edgecritic.measures.evidence import compare
    from edgecritic.measures.scoring import choose, evaluate

    chosen = choose(SHOWN, (), tolerance=tolerance)
    names = [str(bound) for bound in choose(SHOWN, ())]
    far = comparison.empty_distance

    def values(candidate: BoolArray) -> list[float]:
        pair = compare(candidate, comparison.truth, spacing=comparison.spacing, empty_distance=far)
        pair.warned = True  # a repair may leave an empty map
        return evaluate(chosen, pair)

    moved = (comparison.candidate & ~found.matched_candidate) | found.matched_truth
    repairs = (
        found.matched_candidate,
        comparison.candidate | (comparison.truth & ~found.matched_truth),
        moved,
    )
    now, after = values(comparison.candidate), [values(np.asarray(one)) for one in repairs]
    infos = [registry.get(bound.entry.name).info for bound in chosen]
    return tuple(
        Punished(
            measure=name,
            family=info.family,
            better=info.better,
            value=now[place],
            repaired=dict(zip(REPAIRS, (row[place] for row in after), strict=True)),
        )
        for place, (name, info) in enumerate(zip(names, infos, strict=True))
    )
