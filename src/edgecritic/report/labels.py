"""The report of the study of the labels of a data set."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from edgecritic.annotators.partial import partial_labels
from edgecritic.annotators.perceptual import LabelStrength, strength
from edgecritic.errors import EdgeCriticError
from edgecritic.figures import COLOURS, GREY
from edgecritic.report.annotators import annotators_report
from edgecritic.report.claims import claims_table
from edgecritic.report.sections import Figure, Notes, Report, Table, draw, study_report
from edgecritic.report.strength import strength_report
from edgecritic.run.labels import LabelsStudy
from edgecritic.studies.claims import count_claims
from edgecritic.studies.labels import PAPER, PUBLISHED_RISKS, compare_data_sets

__all__ = ["labels_report"]


def labels_report(study: LabelsStudy) -> Report:
    """Make one report of annotators, detectors by label strength, and forced choice."""
    people = annotators_report(study.annotators)
    parts = [people]
    findings = list(people.findings)
    if study.strength is not None:
        parts.append(strength_report(study.strength))
        findings += parts[-1].findings
    tables = [claims_table(study.claims, paper=PAPER)]
    figures = [figure for part in parts for figure in part.blocks(Figure)]
    tables += [table for part in parts for table in part.blocks(Table)]
    if study.strength is not None and study.beside is not None:
        tables.append(_two_data_sets(study.strength.results, study.beside))
    picture = _partial_picture(study)
    if picture is not None:
        figures.append(picture)
    if study.detector_risks:
        tables.append(_risk_table(study))
        figures.append(_risk_bars(study))
    return study_report(
        f"Labels of {study.annotators.results['truth']}",
        (*findings, *_choice_findings(study), count_claims(study.claims)),
        facts=people.facts,
        tables=tables,
        figures=figures,
        problems=[line for part in parts for notes in part.blocks(Notes) for line in notes.lines],
    )


def _choice_findings(study: LabelsStudy) -> list[str]:
    lines = []
    counts = study.as_dict()["trials"]
    if study.trials:
        lines.append(
            f"{counts['hard']} hard and {counts['easy']} easy trials of the forced choice are in trials.json."
        )
    for mode, risk in study.risks.items():
        lines.append(
            f"Risk of the data set, {mode}: {risk['risk']:.3f} ({risk['low']:.3f} to {risk['high']:.3f}) "
            f"over {risk['trials']} trials; published: {PUBLISHED_RISKS[mode]}, chance .5."
        )
    return lines


def _two_data_sets(here: Mapping[str, Any], there: Mapping[str, Any]) -> Table:
    rows, _ = compare_data_sets(here, there)
    return Table(
        name="data-sets",
        title="F on two data sets",
        header=("detector", "labels", "F here", "F there", "difference"),
        body=tuple(rows),
        align="llr",
        note=f"As Fig. 9 of the paper. Here: {here['truth']}, there: {there.get('truth', 'another')}; "
        "detectors are paired by name.",
    )


def _risk_table(study: LabelsStudy) -> Table:
    return Table(
        name="risks",
        title="Risk of the data set by detector",
        header=("detector", "trials shown", "risk", "from", "to", "trials", "ties"),
        body=tuple(
            (one.detector, one.mode, one.risk, one.low, one.high, one.trials, one.ties)
            for one in study.detector_risks
        ),
        align="llr",
        note="The share of trials that the false alarm wins by majority, with Wilson's interval of 95 %.",
    )


def _risk_bars(study: LabelsStudy) -> Figure:
    names = list(dict.fromkeys(one.detector for one in study.detector_risks))

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        for number, mode in enumerate(PUBLISHED_RISKS):
            rows = [one for one in study.detector_risks if one.mode == mode]
            places = [names.index(one.detector) + 0.4 * (number - 0.5) for one in rows]
            spans = [[one.risk - one.low for one in rows], [one.high - one.risk for one in rows]]
            heights = [one.risk for one in rows]
            axes.bar(places, heights, 0.36, yerr=spans, color=COLOURS[number], label=mode, ecolor=GREY)
        axes.axhline(0.5, color="#c0392b", linestyle=":", label="chance")
        axes.set_xticks(range(len(names)), names, rotation=20)
        axes.set(ylabel="risk of the data set", ylim=(0, 1))
        axes.legend(frameon=False)

    return draw(
        "risks",
        "Risk of the data set, hard and easy trials",
        "As Fig. 3 of the paper: how often a false alarm of each detector wins against a label.",
        paint,
        size=(max(5.0, 1.2 * len(names) + 2), 3.4),
    )


def _partial_picture(study: LabelsStudy) -> Figure | None:
    """Draw photo, all labels, consensus labels and the control of one image."""
    results = study.annotators.results
    rows = sorted(results["per_image"], key=lambda row: (row["agreement"], row["id"]))
    if results["tolerance_unit"] != "px":
        return None
    row = rows[len(rows) // 2]
    case = study.annotators.cases[row["id"]]
    try:
        found = strength(
            case.load_truths(rule=results["surface"]),
            tolerance=results["tolerance"],
            relative_tolerance=results["relative_tolerance"],
        )
        photo = None if case.image is None else case.load_image()
    except EdgeCriticError:
        return None
    panels = _panels(found)

    def paint(figure: Any) -> None:
        axes = figure.subplots(1, 4 if photo is not None else 3)
        if photo is not None:
            axes[0].imshow(np.clip(photo, 0, 1), cmap="gray")
            axes[0].set_title(f"photo {row['id']}", fontsize=8)
        for axis, (title, ink) in zip(axes[-3:], panels.items(), strict=True):
            axis.imshow(1 - ink, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
            axis.set_title(title, fontsize=8)
        for axis in axes:
            axis.set_xticks([])
            axis.set_yticks([])

    height, width = found.shape
    return draw(
        "partial",
        "All labels, consensus labels, and as few chosen by place",
        "As the lower part of Fig. 5 of the paper, all annotators in one picture. The control keeps of every "
        "annotator as many labels as his consensus labels, on one side of the image. Shown is the image in "
        f"the middle of all by agreement (mean F {row['agreement']:.2f}).",
        paint,
        size=(10, 2.6 * height / width + 0.5),
        kinds=("png",),
    )


def _panels(found: LabelStrength) -> dict[str, Any]:
    kinds = {
        "all labels": found.maps,
        "consensus labels": found.consensus(),
        "as few, by place": partial_labels(found),
    }
    return {
        f"{name} ({sum(int(one.sum()) for one in maps):,})": reduce(or_, maps) for name, maps in kinds.items()
    }
