"""Measures of batches: of edge maps, and of objects with a surface."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray, Spacing, as_strength
from edgecritic.maps.suppression import get_recipe, suppress
from edgecritic.maps.thinning import thin
from edgecritic.measures.evidence import OnDegenerate
from edgecritic.measures.label_maps import Label, Labels, as_labels
from edgecritic.measures.labels import CaseScores, ScoredMap, score_labels
from edgecritic.measures.scoring import Measures, choose, default_measures, score
from edgecritic.run.score_results import ScoreRun, case_of_record, case_record
from edgecritic.training.batches import Sample, left_out, probabilities
from edgecritic.training.loop import Loop

__all__ = ["EdgeScores", "SurfaceScores"]

SURFACES = ("dice", "nsd", "hd95", "assd")
"""What `SurfaceScores` computes if no measures are named."""


class _Scores(Loop):
    """What both kinds of scores have in common: measures, and means over images."""

    def __init__(
        self,
        measures: Measures,
        *,
        threshold: float,
        strategy: str | None,
        tolerance: float | None,
        on_degenerate: OnDegenerate,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        chosen = choose(measures, default_measures(), strategy=strategy, tolerance=tolerance)
        for bound in chosen:
            if bound.entry.info.needs in ("candidate", "segmentation"):
                raise InputError(f"{bound} does not compare a candidate with a truth")
        self.measures = tuple(str(bound) for bound in chosen)
        self.threshold, self.on_degenerate = threshold, on_degenerate

    def _binary(self, map_: NDArray[Any]) -> BoolArray:
        """Return which pixels of a map are on: those of a mask, or those that reach the threshold."""
        if map_.dtype.kind != "f":
            on: BoolArray = map_ != 0
            return on
        strength = as_strength(map_, "prediction")
        # An array, not a number: NumPy 1 would round a number to the precision of the map.
        found: BoolArray = strength >= np.array([self.threshold])
        return found

    def _scored(self, candidate: BoolArray, sample: Sample, targets: list[NDArray[Any]]) -> ScoredMap:
        """Return the scores of one binary map."""
        truths, valid = left_out(targets, self.ignore_index)
        if valid is None:
            found = score(
                candidate,
                truths,
                self.measures,
                spacing=sample.spacing,
                on_degenerate=self.on_degenerate,
            )
            return ScoredMap(scores=found)
        labelled = [np.where(valid, truth != 0, 2).astype(np.uint8) for truth in truths]
        wanted = Labels(wanted=(Label(name="1", values=(1,)),), ignore=2)
        return self._labels(candidate.astype(np.uint8), labelled, wanted, sample.spacing).maps[0]

    def _labels(
        self, candidate: NDArray[Any], truths: list[NDArray[Any]], wanted: Labels, spacing: Spacing
    ) -> CaseScores:
        return score_labels(
            candidate,
            truths,
            self.measures,
            labels=wanted,
            spacing=spacing,
            on_degenerate=self.on_degenerate,
            absent="skip" if self.on_degenerate == "nan" else "value",
        )

    def _channels(self, masks: list[BoolArray], sample: Sample, names: list[str]) -> CaseScores:
        """Return the scores of channels, each with a target of its own."""
        if len(sample.targets) != len(masks):
            raise InputError(
                f"prediction has {len(masks)} channels and target {len(sample.targets)} maps; "
                "several annotators are taken for predictions of one channel"
            )
        parts = [
            self._scored(mask, sample, [target]) for mask, target in zip(masks, sample.targets, strict=True)
        ]
        maps = tuple(
            ScoredMap(
                scores=part.scores,
                label=Label(name=name, values=(place,)),
                empty=_empty(mask, target),
                counts=part.counts,
            )
            for place, (part, name, mask, target) in enumerate(
                zip(parts, names, masks, sample.targets, strict=True)
            )
        )
        return CaseScores(maps=maps, spacing=maps[0].scores.spacing)

    def _alone(self, mask: BoolArray, sample: Sample) -> CaseScores:
        """Return the scores of one map against one or several annotators."""
        part = self._scored(mask, sample, sample.targets)
        return CaseScores(maps=(ScoredMap(scores=part.scores),), spacing=part.scores.spacing)

    def _plain(self, found: CaseScores) -> dict[str, Any]:
        return case_record(found)

    def _value(self, content: dict[str, Any]) -> CaseScores:
        return case_of_record(content)

    def _result(self, cases: dict[str, CaseScores], **options: Any) -> ScoreRun:
        if options:
            raise InputError(f"the result of scores has no options, got {', '.join(options)}")
        return ScoreRun(cases=cases)

    def _numbers(self, result: ScoreRun | None) -> dict[str, float]:
        if result is None:
            return dict.fromkeys(self.measures, math.nan)
        named = [label for label in result.labels if label]
        return {
            **result.means,
            **{
                f"{measure}/{label}": _mean(list(result.values(measure, label).values()))
                for label in named
                for measure in self.measures
            },
        }

    def _settings(self) -> str:
        return f"{', '.join(self.measures)} at {self.threshold:g}"


class EdgeScores(_Scores):
    """Means over images of measures of edge maps.

    Parameters
    ----------
    measures : str or list of str, optional
        Ids such as ``"baddeley(k=1)"``; all that need no matching and no labels if not given.
    threshold : float
        A pixel of a prediction is on from this strength; integers and booleans are on where they are not 0.
    nms : str
        The recipe of non-maximum suppression before the threshold, or ``none``.
    thin : bool
        Whether maps are thinned after the threshold.
    strategy, tolerance, on_degenerate
        As for `edgecritic.score`. By default an image with neither edges nor truth is left out of means.
    from_logits, ignore_index, spacing, workers
        See :class:`edgecritic.training.loop.Loop`. What is ignored is background in both maps.

    Notes
    -----
    Shapes of `update`: predictions (N, H, W) or (N, 1, H, W) with targets (N, H, W) or, of A annotators,
    (N, A, H, W); several channels with as many target maps are judged one by one. `compute` has a key per
    measure, the mean over images, and ``measure/channel`` if there are several. `result` returns a
    `edgecritic.run.ScoreRun` with every image.

    Examples
    --------
    >>> import numpy as np
    >>> target = np.zeros((2, 10, 12), bool)
    >>> target[:, 4, 2:10] = True
    >>> scores = EdgeScores(["fom", "hausdorff"])
    >>> scores.update(np.roll(target, 1, axis=1) * 0.9, target)
    >>> scores.compute()
    {'fom': 0.9, 'hausdorff': 1.0}
    """

    def __init__(
        self,
        measures: Measures = None,
        *,
        threshold: float = 0.5,
        nms: str = "none",
        thin: bool = False,
        strategy: str | None = None,
        tolerance: float | None = None,
        on_degenerate: OnDegenerate = "nan",
        from_logits: bool = False,
        ignore_index: int | None = None,
        spacing: Spacing = None,
        workers: int | None = None,
    ) -> None:
        super().__init__(
            measures,
            threshold=threshold,
            strategy=strategy,
            tolerance=tolerance,
            on_degenerate=on_degenerate,
            from_logits=from_logits,
            ignore_index=ignore_index,
            spacing=spacing,
            workers=workers,
        )
        get_recipe(nms)
        self.nms, self.thin = nms, thin

    def _judge(self, sample: Sample) -> CaseScores:
        maps = probabilities(sample.prediction, from_logits=self.from_logits)
        masks = [self._edges(one, sample.spacing) for one in maps]
        if len(masks) == 1:
            return self._alone(masks[0], sample)
        return self._channels(masks, sample, [str(place) for place in range(len(masks))])

    def _edges(self, map_: NDArray[Any], spacing: Spacing) -> BoolArray:
        slim = map_ if self.nms == "none" else suppress(map_, self.nms, spacing=spacing)
        on = self._binary(slim)
        return thin(on) if self.thin else on

    def _settings(self) -> str:
        return f"{super()._settings()}, nms {self.nms}, {'thinned' if self.thin else 'not thinned'}"


class SurfaceScores(_Scores):
    """Means over images of measures of objects: overlap, and distances of surfaces.

    Parameters
    ----------
    measures : str or list of str, optional
        Ids; ``dice``, ``nsd``, ``hd95`` and ``assd`` if not given.
    labels : mapping of names to numbers, or sequence of names, optional
        Names of the objects: numbers of label maps, or one name per channel.
    threshold : float
        A pixel of a prediction of one channel is on from this probability.
    spacing : float or sequence of float, optional
        Pixel size, so that distances and tolerances are in its unit; `update` may give another.
    strategy, tolerance, on_degenerate
        As for `edgecritic.score`. By default an image where neither map has the object is left out of means.
    from_logits, ignore_index, workers
        See :class:`edgecritic.training.loop.Loop`. What is ignored is background in both maps.

    Notes
    -----
    Shapes of `update`: one channel, (N, H, W), (N, 1, H, W) or (N, 1, D, H, W), is a probability or a mask,
    with one target or several annotators per image. C channels with targets (N, …) of labels are classes:
    the largest channel wins, 0 is the background. C channels with targets of C maps are objects that may
    overlap. With `labels`, predictions and targets of one channel and of integer type are label maps.
    `compute` has a key per measure, the mean over images and then objects, and ``measure/object`` for each.
    `result` returns a `edgecritic.run.ScoreRun` with every image.

    Examples
    --------
    >>> import numpy as np
    >>> target = np.zeros((1, 9, 9), int)
    >>> target[0, 2:7, 2:7] = 1
    >>> scores = SurfaceScores(["dice", "hd95"], spacing=2.0)
    >>> scores.update(np.where(np.roll(target, 1, axis=2), 0.9, 0.1), target)
    >>> {name: round(value, 3) for name, value in scores.compute().items()}
    {'dice': 0.8, 'hd95': 2.0}
    """

    def __init__(
        self,
        measures: Measures = SURFACES,
        *,
        labels: Any = None,
        threshold: float = 0.5,
        spacing: Spacing = None,
        strategy: str | None = None,
        tolerance: float | None = None,
        on_degenerate: OnDegenerate = "nan",
        from_logits: bool = False,
        ignore_index: int | None = None,
        workers: int | None = None,
    ) -> None:
        super().__init__(
            measures,
            threshold=threshold,
            strategy=strategy,
            tolerance=tolerance,
            on_degenerate=on_degenerate,
            from_logits=from_logits,
            ignore_index=ignore_index,
            spacing=spacing,
            workers=workers,
        )
        self.labels = labels

    def _judge(self, sample: Sample) -> CaseScores:
        maps, targets = sample.prediction, sample.targets
        if len(maps) > 1 and len(targets) == 1:
            return self._classes(maps.argmax(axis=0), targets, len(maps), sample.spacing)
        if len(maps) == 1 and self.labels is not None and maps.dtype.kind in "iu":
            return self._classes(maps[0], targets, 0, sample.spacing)
        masks = [self._binary(one) for one in probabilities(maps, from_logits=self.from_logits)]
        if len(masks) == 1:
            return self._alone(masks[0], sample)
        return self._channels(masks, sample, self._names(len(masks)))

    def _classes(
        self, candidate: NDArray[Any], targets: list[NDArray[Any]], count: int, spacing: Spacing
    ) -> CaseScores:
        """Return the scores of every label of a label map."""
        given = range(1, count) if self.labels is None else self.labels
        if not isinstance(given, dict) and all(isinstance(each, str) for each in given):
            given = {name: number for number, name in enumerate(given, start=1)}
        return self._labels(
            candidate, targets, Labels(wanted=as_labels(given).wanted, ignore=self.ignore_index), spacing
        )

    def _names(self, count: int) -> list[str]:
        """Return the names of channels."""
        names = (
            [str(place) for place in range(count)] if self.labels is None else [str(n) for n in self.labels]
        )
        if len(names) != count:
            raise InputError(f"labels must name the {count} channels of the prediction, got {len(names)}")
        return names

    def _settings(self) -> str:
        return super()._settings() if self.labels is None else f"{super()._settings()} of {self.labels}"


def _empty(mask: BoolArray, target: NDArray[Any]) -> str:
    nothing, no_truth = not mask.any(), not target.any()
    return "both" if nothing and no_truth else "candidate" if nothing else "truth" if no_truth else ""


def _mean(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan
