"""Lesion-wise evaluation: objects of a binary map that belong together are found, missed or false alarms.

A map is taken apart into its connected components. A *rule* says which truth components are one lesion, which
components of the candidate are its partner, and what is counted:

``brats-gli``, ``brats-men``, ``brats-met``
    The rule of the BraTS 2023 challenges. Components are connected by faces, edges and corners. The truth is
    dilated n times (by faces and edges); components inside one component of the dilated truth are one lesion,
    whose pixels stay undilated. Its partner is the union of all candidate components that touch the lesion
    dilated n times; one component may serve several lesions. Candidate components that touch no dilated
    lesion are false alarms. Lesions of a volume of at most v drop out, and what touches them is no false
    alarm. Dice and HD95 (of the sub-voxel surface, weighted by area) are means over lesions and false alarms;
    a miss and a false alarm have Dice 0 and HD95 374. (n, v) is (3, 50), (1, 50) and (1, 2).
``overlap``
    The same with n = 0 and v = 0: a lesion is found if a pixel of it is. A miss and a false alarm have the
    diagonal of the image as their distance.
``panoptica``
    One to one, greedily by falling intersection over union, of at least ½. Dice, HD95 and NSD are means over
    the pairs; 0 (distances: infinite) without any; all are NaN where both maps are empty. In planes
    components are connected by sides only.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from edgecritic.errors import InputError
from edgecritic.inputs import Spacing
from edgecritic.measures.base import Empty, Special, measure
from edgecritic.measures.checks import check_between, check_choice
from edgecritic.measures.components import RULES, Lesion, find_lesions
from edgecritic.measures.evidence import Comparison, compare
from edgecritic.tables import text_table
from edgecritic.values import Value, plain_number

__all__ = ["Lesion", "Lesions", "RULES", "evaluate"]

FAMILY = "lesions"
BRATS = "LaBella et al. 2023, BraTS challenge, lesion-wise evaluation"
PANOPTIC = "Kirillov, He, Girshick, Rother & Dollár 2019, CVPR"


class Lesions(Value):
    """What was found of the lesions of one case.

    Attributes
    ----------
    rule : str
    lesions : tuple of Lesion
        Those of the truth in raster order, then the false alarms.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.zeros((9, 20), bool)
    >>> truth[2:5, 2:5] = truth[2:5, 12:15] = True
    >>> candidate = np.zeros_like(truth)
    >>> candidate[2:5, 2:5] = candidate[7, 17] = True
    >>> found = evaluate(candidate, truth, rule="overlap")
    >>> found.tp, found.fp, found.fn, found.f1, round(found.dice, 4)
    (1, 1, 1, 0.5, 0.3333)
    """

    rule: str
    lesions: tuple[Lesion, ...]

    @property
    def tp(self) -> int:
        """Lesions that were found."""
        return self._count("hit")

    @property
    def fn(self) -> int:
        """Lesions that were missed."""
        return self._count("miss")

    @property
    def fp(self) -> int:
        """Components of the candidate that belong to no lesion."""
        return self._count("false alarm")

    @property
    def rq(self) -> float:
        """Recognition quality TP / (TP + ½·FP + ½·FN), or F1; 1 if there is nothing (panoptica: NaN)."""
        total = self.tp + (self.fp + self.fn) / 2
        return self.tp / total if total else self._nothing(1.0)

    @property
    def f1(self) -> float:
        """The same as `rq`."""
        return self.rq

    @property
    def sq(self) -> float:
        """Segmentation quality: the mean intersection over union of the hits; 0 without any."""
        hits = [one.iou for one in self.lesions if one.kind == "hit"]
        return math.fsum(hits) / len(hits) if hits else 0.0 if self.fp + self.fn else self._nothing(1.0)

    @property
    def pq(self) -> float:
        """Panoptic quality SQ · RQ."""
        return self.sq * self.rq

    @property
    def dice(self) -> float:
        """The mean Dice by the rule."""
        return self._mean("dice", 1.0, 0.0)

    @property
    def hd95(self) -> float:
        """The mean 95th percentile of the surface distances by the rule."""
        return self._mean("hd95", 0.0, math.inf)

    @property
    def nsd(self) -> float:
        """The mean normalised surface Dice by the rule."""
        return self._mean("nsd", 1.0, 0.0)

    def by_volume(self, edges: Sequence[float]) -> dict[str, Lesions]:
        """Return the lesions in strata of volume: below the first edge, from edge to edge, from the last on.

        Examples
        --------
        >>> list(evaluate([[1, 0, 1, 1]], [[1, 0, 1, 1]], rule="overlap").by_volume([2]))
        ['< 2', '≥ 2']
        """
        if not edges or any(one >= other for one, other in itertools.pairwise(edges)):
            raise InputError(f"edges must be volumes in rising order, got {list(edges)}")
        names = [f"< {edges[0]:g}", *(f"{a:g} … {b:g}" for a, b in itertools.pairwise(edges))]
        names.append(f"≥ {edges[-1]:g}")
        places = np.searchsorted(edges, [one.volume for one in self.lesions], side="right")
        return {
            name: Lesions(
                rule=self.rule,
                lesions=tuple(one for one, at in zip(self.lesions, places, strict=True) if at == place),
            )
            for place, name in enumerate(names)
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per lesion and false alarm."""
        return [
            {**one.as_dict(), "centre": " ".join(f"{place:.1f}" for place in one.centre)}
            for one in self.lesions
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return the counts, the means and the table of lesions, ready for JSON."""
        numbers = ("f1", "pq", "rq", "sq", "dice", "hd95", "nsd")
        return {
            "rule": self.rule,
            **{name: getattr(self, name) for name in ("tp", "fp", "fn")},
            **{name: plain_number(getattr(self, name)) for name in numbers},
            "lesions": [one.as_dict() for one in self.lesions],
        }

    def __str__(self) -> str:
        """Return the counts, the means, and a table of the lesions."""
        told = ", ".join(f"{name} {getattr(self, name):.4g}" for name in ("f1", "pq", "dice", "hd95", "nsd"))
        head = f"{self.rule}: {self.tp} found, {self.fn} missed, {self.fp} false alarms; {told}"
        if not self.lesions:
            return head
        names = ("kind", "volume", "parts", "iou", "dice", "hd95", "nsd")
        rows = [
            [one.kind, *(f"{getattr(one, name):.4g}" for name in names[1:])]
            for one in sorted(self.lesions, key=lambda one: -one.volume)
        ]
        return f"{head}\n{text_table(rows, names, align='lr')}"

    def _count(self, kind: str) -> int:
        return sum(one.kind == kind for one in self.lesions)

    def _nothing(self, best: float) -> float:
        return math.nan if RULES[self.rule].pairs else best

    def _mean(self, name: str, best: float, worst: float) -> float:
        counted = [one for one in self.lesions if one.kind != "left out"]
        if not counted:
            return self._nothing(best)
        if RULES[self.rule].pairs:
            counted = [one for one in counted if one.kind == "hit"]
        return math.fsum(getattr(one, name) for one in counted) / len(counted) if counted else worst


def evaluate(
    candidate: Any,
    truth: Any = None,
    /,
    *,
    rule: str = "overlap",
    tolerance: float = 1,
    spacing: Spacing = None,
) -> Lesions:
    """Find out which lesions of a truth a candidate has found, and how well.

    Parameters
    ----------
    candidate, truth : array_like, 2-D or 3-D
        Binary maps of one shape; or an `edgecritic.Comparison` in place of the two.
    rule : str
        See the head of `edgecritic.measures.lesions`.
    tolerance : float
        Of the normalised surface Dice, in pixels or units of `spacing`.
    spacing : float or one per axis, optional
        Pixel sizes; volumes and distances are in their units.

    Returns
    -------
    Lesions

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.zeros((40, 40, 40), bool)
    >>> truth[5:10, 5:10, 5:10] = True
    >>> found = evaluate(np.roll(truth, 2, axis=0), truth, rule="brats-gli")
    >>> found.tp, found.fp, found.fn, found.dice, found.hd95
    (1, 0, 0, 0.6, 2.0)
    """
    check_choice("rule", rule, tuple(RULES))
    check_between("tolerance", tolerance, 0, math.inf)
    pair = candidate if isinstance(candidate, Comparison) else compare(candidate, truth, spacing=spacing)
    key = f"lesions {rule} {float(tolerance)!r}"
    return pair.cached(key, lambda own: Lesions(rule=rule, lesions=find_lesions(own, rule, tolerance)))


def _bounded(value: float, comparison: Comparison) -> float:
    """Return a value, or the diagonal of the image in place of infinity."""
    return comparison.empty_distance if math.isinf(value) else value


def _empty(name: str) -> Empty:
    """Return the table of empty cases: what the rule says, which is NaN for panoptica if both are empty."""

    def value(comparison: Comparison, parameters: Mapping[str, Any]) -> float:
        chosen = {"rule": "panoptica" if name == "pq" else "overlap", **parameters}
        return _bounded(float(getattr(evaluate(comparison, **chosen), name)), comparison)

    best, worst = ("0", "the rule's distance of a miss") if name == "hd95" else ("1", "0")
    side = Special(f"{worst}; a truth of lesions that are too small to count: {best}", value)
    return Empty(both=Special(f"{best}; rule=panoptica: NaN", value), candidate=side, truth=side)


@measure(
    "lesion_f1",
    symbol="F1",
    family=FAMILY,
    reference=BRATS,
    better="higher",
    range=(0, 1),
    symmetric=False,
    sees="both",
    empty=_empty("f1"),
    needs="surface",
    default=False,
)
def lesion_f1(comparison: Comparison, /, *, rule: str = "overlap") -> float:
    """Return the F-measure of lesions 2·TP / (2·TP + FP + FN): how many are found, missed and false.

    The rule (`edgecritic.measures.lesions`) says what a lesion is and when it is found. With
    ``rule=panoptica`` this is the recognition quality RQ.

    Examples
    --------
    >>> lesion_f1([[1, 0, 0, 1]], [[1, 0, 1, 1]])
    1.0
    """
    return evaluate(comparison, rule=rule).f1


@measure(
    "lesion_dice",
    symbol="DSC",
    family=FAMILY,
    reference=BRATS,
    better="higher",
    range=(0, 1),
    symmetric=False,
    sees="both",
    empty=_empty("dice"),
    needs="surface",
    default=False,
)
def lesion_dice(comparison: Comparison, /, *, rule: str = "overlap") -> float:
    """Return the mean Dice of lesions, ΣDice / (lesions + false alarms).

    With ``rule=panoptica`` the mean is over the pairs alone.

    Examples
    --------
    >>> round(lesion_dice([[1, 0, 0, 1]], [[1, 0, 1, 1]]), 4)
    0.8333
    """
    return evaluate(comparison, rule=rule).dice


@measure(
    "lesion_hd95",
    symbol="HD95",
    family=FAMILY,
    reference=BRATS,
    better="lower",
    range=(0, math.inf),
    symmetric=False,
    sees="both",
    empty=_empty("hd95"),
    needs="surface",
    default=False,
    units="distance",
)
def lesion_hd95(comparison: Comparison, /, *, rule: str = "overlap") -> float:
    """Return the mean HD95 of lesions; misses and false alarms count with the rule's distance.

    The distance of a miss is 374 by the rules of BraTS, else the diagonal of the image. With
    ``rule=panoptica`` the mean is over the pairs alone, and without any the diagonal of the image (the
    library itself says infinity).

    Examples
    --------
    >>> round(lesion_hd95([[1, 0, 0, 1]], [[1, 0, 1, 1]]), 4)
    0.475
    """
    return _bounded(evaluate(comparison, rule=rule).hd95, comparison)


@measure(
    "lesion_nsd",
    symbol="NSD",
    family=FAMILY,
    reference=BRATS,
    better="higher",
    range=(0, 1),
    symmetric=False,
    sees="both",
    empty=_empty("nsd"),
    needs="surface",
    default=False,
)
def lesion_nsd(comparison: Comparison, /, *, tolerance: float = 1, rule: str = "overlap") -> float:
    """Return the mean normalised surface Dice of lesions; misses and false alarms count as 0.

    Examples
    --------
    >>> lesion_nsd([[1, 0, 0, 0, 0]], [[1, 0, 0, 0, 1]])
    0.5
    """
    return evaluate(comparison, rule=rule, tolerance=tolerance).nsd


@measure(
    "pq",
    symbol="PQ",
    family=FAMILY,
    reference=PANOPTIC,
    better="higher",
    range=(0, 1),
    symmetric=True,
    sees="both",
    empty=_empty("pq"),
    needs="surface",
    default=False,
)
def pq(comparison: Comparison, /, *, rule: str = "panoptica") -> float:
    """Return the panoptic quality: the sum of the overlaps of the pairs / (TP + ½·FP + ½·FN).

    It is the product of the recognition quality (``lesion_f1(rule=panoptica)``) and of the segmentation
    quality, the mean overlap of the pairs.

    Examples
    --------
    >>> pq([[1, 0, 0, 1]], [[1, 0, 1, 1]])
    0.75
    """
    return evaluate(comparison, rule=rule).pq
