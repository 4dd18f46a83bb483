"""The reports of the studies of complexity and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from edgecritic.inputs import BoolArray
from edgecritic.report.annotators import annotators_report
from edgecritic.report.sections import Content, Figure, Notes, Report, Table, draw, study_report
from edgecritic.report.strength import strength_report
from edgecritic.run.studies import LabelsStudy
from edgecritic.studies.complexity import MEASURES, ComplexityStudy

__all__ = ["complexity_report", "labels_report"]


def complexity_report(
    study: ComplexityStudy, *, photos: Sequence[tuple[str, Mapping[str, BoolArray]]] = (), problems: Any = ()
) -> Report:
    """Make text, tables and figures of the complexity study; `photos` are the best maps of some images."""
    findings = []
    for name in ("PFoM", "Q_B"):
        lost = study.loss(name)
        place = MEASURES.index(name)
        best = study.chosen_values[:, :, 1 if name == "PFoM" else 2, place]
        share = 1 - lost.sum() / best.sum() if best.sum() > 0 else float("nan")
        findings.append(
            f"The map that C chooses without truth has {share:.0%} of the best {name} of its detector; "
            f"it loses {np.median(lost):.3f} in the median."
        )
    inside = ((study.choices[:, :, 0] > 0) & (study.choices[:, :, 0] < 98)).mean()
    findings.append(
        f"C is largest inside the grid of parameters, not at its ends, in {inside:.0%} of the cases."
    )
    rows: list[tuple[Content, ...]] = []
    for d, detector in enumerate(study.detectors):
        for c, chooser in enumerate(("C", "PFoM", "Q_B")):
            thresholds = [one.thresholds[d][study.choices[i, d, c]] for i, one in enumerate(study.curves)]
            means = study.chosen_values[:, d, c].mean(axis=0)
            rows.append(
                (f"{detector}, chosen by {chooser}", float(np.mean(thresholds)), *(float(v) for v in means))
            )
    table = Table(
        name="choices",
        title="What each score chooses, mean over images",
        header=("detector and chooser", "threshold", *MEASURES),
        body=tuple(rows),
    )
    drawings = [_curves(study), _boxes(study)]
    if photos:
        drawings.append(_best_maps(photos))
    return study_report(
        "Choosing edge maps without truth",
        tuple(findings),
        facts=(("images", str(len(study.images))), ("detectors", ", ".join(study.detectors))),
        tables=(table,),
        figures=tuple(drawings),
        problems=tuple(problems),
    )


def labels_report(study: LabelsStudy) -> Report:
    """Make one report of annotators, detectors by label strength, and forced choice."""
    people = annotators_report(study.annotators)
    parts = [people]
    findings = list(people.findings)
    if study.strength is not None:
        parts.append(strength_report(study.strength))
        findings += parts[-1].findings
    counts = study.as_dict()["trials"]
    if study.trials:
        findings.append(
            f"{counts['hard']} hard and {counts['easy']} easy trials of the forced choice are in trials.json."
        )
    for mode, risk in study.risks.items():
        findings.append(
            f"Risk of the data set, {mode}: {risk['risk']:.3f} ({risk['low']:.3f} to {risk['high']:.3f}) "
            f"over {risk['trials']} trials; published: {'.5017' if mode == 'hard' else '.1082'}, chance .5."
        )
    return study_report(
        f"Labels of {study.annotators.results['truth']}",
        tuple(findings),
        facts=people.facts,
        tables=[table for part in parts for table in part.blocks(Table)],
        figures=[figure for part in parts for figure in part.blocks(Figure)],
        problems=[line for part in parts for notes in part.blocks(Notes) for line in notes.lines],
    )


def _curves(study: ComplexityStudy) -> Figure:
    one = max(study.curves, key=lambda curves: float(np.ptp(curves.values[:, :, 2], axis=1).mean()))

    def paint(figure: Any) -> None:
        axes = figure.subplots(1, len(study.detectors), sharey=True, squeeze=False)[0]
        for d, axis in enumerate(axes):
            one.plot(axis, detector=d)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False)

    return draw(
        "curves",
        f"All measures over the grids, image {one.image}",
        "E, H and C = E·H need no truth; PFoM and Q_B do. Grey line: the choice of C.",
        paint,
        size=(12, 2.9),
    )


def _boxes(study: ComplexityStudy) -> Figure:
    def paint(figure: Any) -> None:
        for axis, name in zip(figure.subplots(1, 3), ("C", "PFoM", "Q_B"), strict=True):
            study.plot(axis, measure=name)

    return draw(
        "boxes",
        "Best values over the data set",
        "Left: the largest C of each detector. Middle and right: PFoM and Q_B of the map that C chooses, "
        "beside the best that the grid offers.",
        paint,
        size=(11, 3.4),
    )


def _best_maps(photos: Sequence[tuple[str, Mapping[str, BoolArray]]]) -> Figure:
    def paint(figure: Any) -> None:
        axes = figure.subplots(len(photos), 3, squeeze=False)
        for row, (name, maps) in zip(axes, photos, strict=True):
            for axis, (title, edges) in zip(row, maps.items(), strict=True):
                axis.imshow(~edges, cmap="gray", interpolation="nearest")
                axis.set_title(title, fontsize=8)
                axis.set_xticks([])
                axis.set_yticks([])
            row[0].set_ylabel(name, fontsize=8)

    return draw(
        "best-maps",
        "The best maps of all detectors",
        "By complexity, which needs no truth, by PFoM, and by Q_B.",
        paint,
        size=(9, 2.2 * len(photos) + 0.2),
        kinds=("png",),
    )
