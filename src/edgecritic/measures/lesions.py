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
    the pairs; 0 (distances: infinite) without any; all are NaN where both maps are empty. In planes components
    are connected by sides only.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, Spacing
from edgecritic.maps.target import Target
from edgecritic.measures.base import Empty, Special, measure
from edgecritic.measures.checks import check_between, check_choice
from edgecritic.measures.evidence import Comparison, compare
from edgecritic.measures.surface import hd95 as surface_hd95
from edgecritic.measures.surface import nsd as surface_nsd
from edgecritic.tables import text_table
from edgecritic.values import Value, plain_number

__all__ = ["Lesion", "Lesions", "Rule", "RULES", "evaluate"]

FAMILY = "lesions"
BRATS = "LaBella et al. 2023, BraTS challenge, lesion-wise evaluation"
PANOPTIC = "Kirillov, He, Girshick, Rother & Dollár 2019, CVPR"
Box = tuple[slice, ...]


class Rule(Value):
    """How components become lesions, and which of them belong together.

    Attributes
    ----------
    dilation : int
        How often lesions are dilated before components are merged and partners are looked for.
    smallest : float
        Lesions of at most this volume, in units of `spacing`, drop out.
    far : float or None
        The distance of a miss and of a false alarm; ``None`` for the diagonal of the image.
    hd95 : mapping
        The options of HD95.
    pairs : bool
        Whether lesions and candidate components are paired one to one by their overlap.
    """

    dilation: int = 0
    smallest: float = 0.0
    far: float | None = None
    hd95: Mapping[str, Any]
    pairs: bool = False


_DEEPMIND = {"compat": "deepmind"}
RULES = {
    "brats-gli": Rule(dilation=3, smallest=50, far=374.0, hd95=_DEEPMIND),
    "brats-men": Rule(dilation=1, smallest=50, far=374.0, hd95=_DEEPMIND),
    "brats-met": Rule(dilation=1, smallest=2, far=374.0, hd95=_DEEPMIND),
    "overlap": Rule(hd95={"surface": "voxel"}),
    "panoptica": Rule(hd95={"surface": "voxel", "percentile": "pooled"}, pairs=True),
}


class Lesion(Value):
    """One lesion of the truth, or a component of the candidate that belongs to none.

    Attributes
    ----------
    kind : str
        ``"hit"``, ``"miss"``, ``"false alarm"`` or ``"left out"`` (too small to count).
    volume : float
        In units of `spacing`; of the truth's lesion, or of the false alarm.
    pixels : int
    centre : tuple of float
        Mean of its pixels, in pixels.
    parts : int
        Components of the candidate that are its partner.
    iou, dice, hd95, nsd : float
        Against the partner; the values of a miss where there is none.
    """

    kind: str
    volume: float
    pixels: int
    centre: tuple[float, ...]
    parts: int
    iou: float
    dice: float
    hd95: float
    nsd: float


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
        """Recognition quality TP / (TP + ½·FP + ½·FN), which is F1 (1 if there is nothing; panoptica: NaN)."""
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
    return pair.cached(key, lambda own: Lesions(rule=rule, lesions=_Found(own, rule, tolerance).lesions()))


class _Found:
    """The components of both maps, within the box that holds them."""

    def __init__(self, comparison: Comparison, rule: str, tolerance: float) -> None:
        self.rule, self.tolerance = RULES[rule], tolerance
        self.spacing, self.far = comparison.spacing, self.rule.far
        if self.far is None:
            self.far = comparison.empty_distance
        shape, reach = comparison.truth.shape, self.rule.dilation + 1
        some = comparison.n_candidate or comparison.n_truth
        self.box = _grown(comparison.window, reach, shape) if some else tuple(slice(0, 1) for _ in shape)
        wide = not self.rule.pairs or (len(shape) == 3 and 1 not in shape)
        first, second = comparison.candidate[self.box], comparison.truth[self.box]
        self.parts, self.part_boxes = _components(first, wide=wide)
        self.truth = second
        pieces, self.boxes = _components(second, wide=wide)
        self.numbers = pieces
        if self.rule.dilation and len(self.boxes) > 1:
            self._merge(pieces)
        self.part_sizes = np.bincount(self.parts.ravel(), minlength=len(self.part_boxes) + 1)

    def _merge(self, pieces: NDArray[np.int32]) -> None:
        """Give all components inside one component of the dilated truth one number."""
        wider, _ = _components(_dilated(self.truth, self.rule.dilation), wide=True)
        owner = np.zeros(len(self.boxes) + 1, dtype=np.int64)
        owner[pieces[self.truth]] = wider[self.truth]
        groups: dict[int, list[int]] = {}
        for piece in range(1, len(self.boxes) + 1):
            groups.setdefault(int(owner[piece]), []).append(piece)
        new = np.zeros_like(owner, dtype=np.int32)
        for number, members in enumerate(groups.values(), start=1):
            new[members] = number
        self.numbers = new[pieces]
        self.boxes = [_joined(self.boxes[piece - 1] for piece in members) for members in groups.values()]

    def lesions(self) -> tuple[Lesion, ...]:
        partners = self._pairs() if self.rule.pairs else self._touching()
        used = {part for group in partners for part in group}
        found = [self._lesion(number, group) for number, group in enumerate(partners, start=1)]
        false = [self._false_alarm(part) for part in range(1, len(self.part_boxes) + 1) if part not in used]
        return (*found, *false)

    def _touching(self) -> list[tuple[int, ...]]:
        """Return, for every lesion, the candidate components that touch it dilated."""
        found = []
        for number, box in enumerate(self.boxes, start=1):
            wider = _grown(box, self.rule.dilation, self.numbers.shape)
            near = _dilated(self.numbers[wider] == number, self.rule.dilation)
            parts = np.unique(self.parts[wider][near])
            found.append(tuple(int(part) for part in parts if part))
        return found

    def _pairs(self) -> list[tuple[int, ...]]:
        """Return the partner of every lesion, one to one by falling overlap, of at least ½."""
        both = (self.numbers > 0) & (self.parts > 0)
        base = len(self.part_boxes) + 1
        codes, shared = np.unique(
            self.numbers[both].astype(np.int64) * base + self.parts[both], return_counts=True
        )
        sizes = np.bincount(self.numbers.ravel(), minlength=len(self.boxes) + 1)
        lesions, parts = codes // base, codes % base
        overlap = shared / (sizes[lesions] + self.part_sizes[parts] - shared)
        partner: dict[int, int] = {}
        taken = set()
        for place in np.argsort(-overlap, kind="stable"):
            lesion, part = int(lesions[place]), int(parts[place])
            if overlap[place] >= 0.5 and lesion not in partner and part not in taken:
                partner[lesion] = part
                taken.add(part)
        found = [partner.get(number) for number in range(1, len(self.boxes) + 1)]
        return [() if part is None else (part,) for part in found]

    def _lesion(self, number: int, partners: tuple[int, ...]) -> Lesion:
        box = _joined([self.boxes[number - 1], *(self.part_boxes[part - 1] for part in partners)])
        box = _grown(box, 1, self.numbers.shape)
        own = self.numbers[box] == number
        pixels = int(np.count_nonzero(own))
        volume = pixels * math.prod(self.spacing)
        small = volume <= self.rule.smallest
        kind = "left out" if small else "hit" if partners else "miss"
        iou, dice, far, near = 0.0, 0.0, float(self.far or 0.0), 0.0
        if partners:
            other = np.isin(self.parts[box], partners)
            shared, size = int(np.count_nonzero(own & other)), int(self.part_sizes[list(partners)].sum())
            iou, dice = shared / (pixels + size - shared), 2 * shared / (pixels + size)
            if not small:
                far, near = self._surfaces(other, own)
        return Lesion(
            kind=kind,
            volume=volume,
            pixels=pixels,
            centre=self._centre(own, box),
            parts=len(partners),
            iou=iou,
            dice=dice,
            hd95=far,
            nsd=near,
        )

    def _surfaces(self, candidate: BoolArray, truth: BoolArray) -> tuple[float, float]:
        maps = [Target(mask, self.spacing, math.inf) for mask in (candidate, truth)]
        pair = Comparison(*maps)
        return surface_hd95(pair, **self.rule.hd95), surface_nsd(pair, tolerance=self.tolerance)

    def _false_alarm(self, part: int) -> Lesion:
        box = self.part_boxes[part - 1]
        own = self.parts[box] == part
        pixels = int(self.part_sizes[part])
        return Lesion(
            kind="false alarm",
            volume=pixels * math.prod(self.spacing),
            pixels=pixels,
            centre=self._centre(own, box),
            parts=1,
            iou=0.0,
            dice=0.0,
            hd95=float(self.far or 0.0),
            nsd=0.0,
        )

    def _centre(self, own: BoolArray, box: Box) -> tuple[float, ...]:
        places = [where.mean() for where in np.nonzero(own)]
        starts = [side.start + outer.start for side, outer in zip(box, self.box, strict=True)]
        return tuple(float(place + start) for place, start in zip(places, starts, strict=True))


def _components(mask: BoolArray, *, wide: bool) -> tuple[NDArray[np.int32], list[Box]]:
    """Number the components of a mask from 1 on; return the numbers and the box of each."""
    from scipy import ndimage

    structure = ndimage.generate_binary_structure(mask.ndim, mask.ndim if wide else 1)
    numbers, _ = ndimage.label(mask, structure)
    return numbers, ndimage.find_objects(numbers)


def _dilated(mask: BoolArray, steps: int) -> BoolArray:
    """Dilate by the pixels that share a face or an edge, several times."""
    if not steps:
        return mask
    from scipy import ndimage

    structure = ndimage.generate_binary_structure(mask.ndim, 2)
    wider: BoolArray = ndimage.binary_dilation(mask, structure, iterations=steps)
    return wider


def _grown(box: Box, steps: int, shape: Sequence[int]) -> Box:
    return tuple(
        slice(max(0, side.start - steps), min(n, side.stop + steps))
        for side, n in zip(box, shape, strict=True)
    )


def _joined(boxes: Iterable[Box]) -> Box:
    return tuple(
        slice(min(side.start for side in sides), max(side.stop for side in sides))
        for sides in zip(*boxes, strict=True)
    )


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
    ``rule=panoptica`` the mean is over the pairs alone, and without any the diagonal of the image (the library
    itself says infinity).

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
