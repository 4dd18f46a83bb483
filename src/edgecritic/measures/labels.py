"""Measures of every label of label maps in one pass: each label is judged in the box that holds it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.geometry import judged
from edgecritic.grids import on_one_grid
from edgecritic.ids import Id
from edgecritic.inputs import SIDEWAYS, Spacing, as_spacing, diagonal
from edgecritic.maps.target import Target, as_empty_distance
from edgecritic.measures.evidence import Comparison, Confusion, OnDegenerate, check_policy
from edgecritic.measures.label_maps import Box, Label, LabelMap, Labels, as_labels, union_box
from edgecritic.measures.scoring import (
    BoundMeasure,
    Measures,
    Scores,
    as_maps,
    as_scores,
    choose,
    default_measures,
    evaluate,
    with_own_tolerance,
    worst_values,
)
from edgecritic.tables import arrow, cell_text, text_table
from edgecritic.values import Value, plain_numbers

__all__ = [
    *("Absent", "CaseScores", "ScoredMap"),
    *("score_labels", "worst_labels"),
]

Absent = Literal["skip", "value"]


class ScoredMap(Value):
    """The scores of one object of one case.

    Attributes
    ----------
    scores : Scores
    label : Label or None
        Which object; ``None`` where the maps are binary.
    empty : str
        Which map lacks it: ``""``, ``"candidate"``, ``"truth"`` or ``"both"``.
    counts : Confusion or None
        Pixels under strict overlap, where there is one truth.
    """

    scores: Scores
    label: Label | None = None
    empty: str = ""
    counts: Confusion | None = None

    @property
    def absent(self) -> bool:
        """Whether this is a label that is in neither map and has no value."""
        return (
            self.label is not None and self.empty == "both" and bool(np.isnan(self.scores.annotators).all())
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the scores, ready for JSON; of a label also which side is empty and the counts."""
        if self.label is None:
            return self.scores.as_dict()
        counts = {} if self.counts is None else {"counts": self.counts.as_dict()}
        scores = {name: value for name, value in self.scores.as_dict().items() if name != "judged"}
        return {**scores, "empty": self.empty, **counts}


class CaseScores(Value):
    """The scores of one case: one entry per label, or a single one of binary maps.

    Attributes
    ----------
    maps : tuple of ScoredMap
    spacing : tuple of float or None
        The pixel size that was used.
    present : tuple of int
        The labels that occur in the candidate or a truth.
    missing : bool
        Whether there is no candidate: the values are the worst ones then.
    notes : tuple of str
        What was done to the maps before they were judged.

    Examples
    --------
    >>> found = score_labels([[1, 1, 0, 2]], [[1, 0, 0, 2]], "dice")
    >>> found["2"]["dice"], round(found["1"]["dice"], 4)
    (1.0, 0.6667)
    """

    maps: tuple[ScoredMap, ...]
    spacing: tuple[float, ...] | None = None
    present: tuple[int, ...] = ()
    missing: bool = False
    notes: tuple[str, ...] = ()

    @property
    def labelled(self) -> bool:
        """Whether the maps are objects of label maps."""
        return not self.maps or self.maps[0].label is not None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the maps, if any was judged."""
        return self.maps[0].scores.shape if self.maps else ()

    def __getitem__(self, label: str | int) -> Scores:
        """Return the scores of a label by its name."""
        for one in self.maps:
            if one.label is not None and one.label.name == str(label):
                return one.scores
        raise InputError(f"label {label} was not judged; these were: {', '.join(_names(self.maps))}")

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per label: its name, the empty side, its tolerance if any has one, all measures."""
        own = any(one.label is not None and one.label.tolerance is not None for one in self.maps)
        return [
            {
                **({} if one.label is None else {"label": one.label.name}),
                "empty": "no prediction" if self.missing else one.empty,
                **({"tolerance": one.label.tolerance} if own and one.label is not None else {}),
                **plain_numbers(one.scores.mean),
            }
            for one in self.maps
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        told = {"notes": list(self.notes)} if self.notes else {}
        if not self.labelled:
            return {**self.maps[0].as_dict(), **told}
        where = {"judged": judged(self.shape, self.spacing)} if self.shape else {}
        return {"labels": {str(one.label): one.as_dict() for one in self.maps}, **where, **told}

    def __str__(self) -> str:
        """Return a table with a line per label."""
        if not self.labelled:
            return str(self.maps[0].scores)
        if not self.maps:
            return "no label but 0"
        first = self.maps[0].scores
        head = [f"{name} {arrow(way)}" for name, way in zip(first.measures, first.better, strict=True)]
        lines = [
            [str(one.label), *(_shown(value) for value in one.scores.mean.values()), _note(one)]
            for one in self.maps
        ]
        return text_table(lines, ["label", *head, ""], align=f"l{'r' * len(head)}l")


def score_labels(
    candidate: Any,
    truths: Any,
    measures: Measures = None,
    *,
    labels: Any = "all",
    strategy: str | Id | None = None,
    tolerance: float | None = None,
    spacing: Spacing = None,
    empty_distance: float | None = None,
    on_degenerate: OnDegenerate = "value",
    absent: Absent = "skip",
) -> CaseScores:
    """Compute measures of every label of a label map against one truth or several.

    Every label is cut out with the box around it, so that many small objects cost what their boxes cost; the
    values are those of the whole image.

    Parameters
    ----------
    candidate : array_like, 2-D or 3-D
        Whole numbers; 0 is the background.
    truths : array_like, or a list of them
        Label maps of the same shape.
    measures, strategy, tolerance, spacing, empty_distance, on_degenerate
        As for `edgecritic.score`.
    labels : "all", int, list of int, mapping of names to numbers, or Labels
        Which labels; "all" is every number but 0 that occurs. A name may stand for several numbers, which
        are then one object. The tolerance of a `Label` wins over `tolerance`.
    absent : "skip" or "value"
        What a label is worth that is in no map of the case: nothing (NaN), or the value that measures
        declare for two empty maps, such as a Dice of 1.

    Returns
    -------
    CaseScores

    Notes
    -----
    Pixels whose truth is `Labels.ignore` are background in both maps, and are not counted as true
    negatives. Where an ignored region cuts an object, the cut is a part of its surface in both maps.

    Examples
    --------
    >>> found = score_labels([[1, 1, 0, 2]], [[1, 0, 0, 2]], ["dice", "hd95"], labels={"left": 1, "right": 2})
    >>> print(found)
    label    dice ↑  hd95 ↓
    -----  --------  ------
    left   0.666667    0.95
    right         1       0
    """
    wanted = as_labels(labels)
    check_policy(on_degenerate)
    if absent not in get_args(Absent):
        raise InputError(f'absent must be "skip" or "value", got {absent!r}')
    candidate, arrays, spacing, notes = on_one_grid(candidate, as_maps(truths), spacing)
    found = LabelMap(candidate, "candidate")
    several = [LabelMap(truth, "truth") for truth in arrays]
    for truth in several:
        _check_shapes(found.array, truth.array)
    sizes = as_spacing(spacing, found.array.ndim)
    present = sorted({*found.boxes, *(value for truth in several for value in truth.boxes)} - {wanted.ignore})
    chosen = wanted.wanted
    if chosen is None:
        chosen = tuple(Label(name=str(value), values=(value,)) for value in present)
    own = wanted.own_tolerances
    if measures is not None and not isinstance(measures, str | Id):
        measures = list(measures)
    named = choose(measures, default_measures(), strategy=strategy, tolerance=None if own else tolerance)
    for bound in named:
        if bound.entry.info.needs == "segmentation":
            raise InputError(f"{bound} judges all labels of a map at once; leave out labels (--labels)")
    frame = _Frame(found, several, wanted.ignore, sizes, on_degenerate, empty_distance)
    maps = []
    for label in chosen:
        limit = tolerance if label.tolerance is None else label.tolerance
        tuned = named if not own else with_own_tolerance(named, limit, measures)
        maps.append(frame.scored(label, named, tuned, absent))
    return CaseScores(
        maps=tuple(maps), spacing=None if spacing is None else sizes, present=tuple(present), notes=notes
    )


def worst_labels(
    truths: Sequence[Any], chosen: Sequence[BoundMeasure], *, labels: Labels, spacing: Spacing = None
) -> CaseScores:
    """Return the worst values of every label of the truths, of a case that has no candidate."""
    several = [LabelMap(truth, "truth") for truth in truths]
    first = several[0].array
    present = sorted({value for truth in several for value in truth.boxes} - {labels.ignore})
    every = tuple(Label(name=str(value), values=(value,)) for value in present)
    sizes = as_spacing(spacing, first.ndim)
    told: dict[str, Any] = {"shape": first.shape, "spacing": None if spacing is None else sizes}
    bad = as_scores(chosen, [worst_values(chosen, diagonal(first.shape, sizes))], **told)
    nothing = as_scores(chosen, [[math.nan] * len(chosen)], **told)
    maps = []
    for label in every if labels.wanted is None else labels.wanted:
        box = several[0].box(label)
        size = 0 if box is None else int(np.count_nonzero(several[0].mask(label, box)))
        ignored = 0 if labels.ignore is None else int(np.count_nonzero(first == labels.ignore))
        counts = Confusion(0, 0, size, first.size - ignored - size)
        known = bool(set(label.values) & set(present))
        maps.append(
            ScoredMap(
                scores=bad if known else nothing,
                label=label,
                empty="candidate" if known else "both",
                counts=counts if len(several) == 1 else None,
            )
        )
    return CaseScores(
        maps=tuple(maps),
        spacing=None if spacing is None else sizes,
        present=tuple(present),
        missing=True,
    )


class _Frame:
    """A candidate and its truths, out of which labels are cut."""

    def __init__(
        self,
        candidate: LabelMap,
        truths: list[LabelMap],
        ignore: int | None,
        spacing: tuple[float, ...],
        on_degenerate: OnDegenerate,
        empty_distance: float | None,
    ) -> None:
        self.candidate, self.truths, self.ignore = candidate, truths, ignore
        self.spacing, self.on_degenerate = spacing, on_degenerate
        self.shape = candidate.array.shape
        self.far = as_empty_distance(empty_distance, self.shape, spacing)
        size = math.prod(self.shape)
        hidden = [0 if ignore is None else int(np.count_nonzero(each.array == ignore)) for each in truths]
        self.sizes = [size - count for count in hidden]

    def scored(
        self, label: Label, named: Sequence[BoundMeasure], bound: Sequence[BoundMeasure], absent: Absent
    ) -> ScoredMap:
        """Return the scores of one label; `named` are the names of the measures `bound`."""
        if self.ignore in label.values:
            raise InputError(f"label {label} has the number {self.ignore}, which is ignored; leave out one")
        pairs = [_Pair(self, number, label) for number in range(len(self.truths))]
        empty = _empty_side(pairs)
        if empty == "both" and absent == "skip":
            rows = [[math.nan] * len(named)] * len(pairs)
        else:
            try:
                rows = [pair.evaluate(bound) for pair in pairs]
            except InputError as error:
                raise InputError(f"label {label}: {error.message}", remedy=error.remedy) from error
        counts = pairs[0].part.confusion if len(pairs) == 1 else None
        scores = as_scores(named, rows, shape=self.shape, spacing=self.spacing)
        return ScoredMap(scores=scores, label=label, empty=empty, counts=counts)


class _Pair:
    """One label of a candidate and of one truth: cut out, and on demand as whole maps."""

    def __init__(self, frame: _Frame, number: int, label: Label) -> None:
        self.frame, self.number, self.label = frame, number, label
        self.truth = frame.truths[number]
        found = [box for box in (frame.candidate.box(label), self.truth.box(label)) if box is not None]
        self.part = self.comparison(_padded(union_box(found) if found else None, frame.shape))

    def comparison(self, box: Box) -> Comparison:
        """Return the evidence of a box, which knows of the image that it is cut out of."""
        frame = self.frame
        masks = [each.mask(self.label, box) for each in (frame.candidate, self.truth)]
        if frame.ignore is not None:
            counted = self.truth.array[box] != frame.ignore
            masks = [mask & counted for mask in masks]
        first, second = (Target(mask, frame.spacing, frame.far) for mask in masks)
        return Comparison(
            first,
            second,
            on_degenerate=frame.on_degenerate,
            shape=frame.shape,
            size=frame.sizes[self.number],
        )

    def evaluate(self, bound: Sequence[BoundMeasure]) -> list[float]:
        """Compute measures, each on the box where it sees nothing else."""
        local = [each for each in bound if _is_local(each)]
        values = dict(zip(map(str, local), evaluate(local, self.part) if local else [], strict=True))
        rest = [each for each in bound if str(each) not in values]
        if rest:
            whole = self.comparison(tuple(slice(0, n) for n in self.frame.shape))
            whole.warned = self.part.warned
            values |= dict(zip(map(str, rest), evaluate(rest, whole), strict=True))
        return [values[str(each)] for each in bound]


def _padded(box: Box | None, shape: Sequence[int]) -> Box:
    """Return a box with one more pixel around it where the image has one: no volume becomes a plane by it."""
    if box is None:
        return tuple(slice(0, min(n, 3)) for n in shape)
    return tuple(
        slice(max(0, side.start - 1), min(n, side.stop + 1)) for side, n in zip(box, shape, strict=True)
    )


def _is_local(bound: BoundMeasure) -> bool:
    """Return whether a measure sees the two objects alone, wherever in an image they are."""
    by_pixels = bound.entry.info.needs in ("confusion", "distances", "surface")
    return by_pixels and "strategy" not in bound.id.options


def _empty_side(pairs: Sequence[_Pair]) -> str:
    candidate = all(pair.part.n_candidate == 0 for pair in pairs)
    truth = all(pair.part.n_truth == 0 for pair in pairs)
    return "both" if candidate and truth else "candidate" if candidate else "truth" if truth else ""


def _check_shapes(candidate: NDArray[Any], truth: NDArray[Any]) -> None:
    if candidate.shape != truth.shape:
        sideways = candidate.shape == truth.shape[::-1]
        raise InputError(
            f"candidate and truth must have the same shape, got {candidate.shape} and {truth.shape}"
            + (f"; {SIDEWAYS}" if sideways else "")
        )


def _names(maps: Sequence[ScoredMap]) -> list[str]:
    return [str(one.label) for one in maps]


def _shown(value: float) -> str:
    return cell_text(value) if math.isnan(value) else f"{value:.6g}"


def _note(one: ScoredMap) -> str:
    told = {"both": "in neither map", "candidate": "missed", "truth": "not in the truth"}
    return told.get(one.empty, "")
