"""Connected components of two maps, and which of them belong together by the rule of an evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.inputs import BoolArray
from edgecritic.maps.target import Target
from edgecritic.measures.evidence import Comparison
from edgecritic.measures.label_maps import union_box
from edgecritic.measures.surface import hd95 as surface_hd95
from edgecritic.measures.surface import nsd as surface_nsd
from edgecritic.values import Value

__all__ = ["RULES", "Lesion", "Rule", "find_lesions"]

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


def find_lesions(comparison: Comparison, rule: str, tolerance: float) -> tuple[Lesion, ...]:
    """Return the lesions of the truth in raster order, then the false alarms."""
    return _Found(comparison, rule, tolerance).lesions()


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
        self.boxes = [union_box(self.boxes[piece - 1] for piece in members) for members in groups.values()]

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
        box = union_box([self.boxes[number - 1], *(self.part_boxes[part - 1] for part in partners)])
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
