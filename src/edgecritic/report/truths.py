"""The report of the study of truths."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgecritic.detectors import detect
from edgecritic.inputs import BoolArray
from edgecritic.report.claims import claims_table
from edgecritic.report.sections import Cell, Content, Figure, Report, Table, draw, study_report
from edgecritic.run.truths import TruthsRun
from edgecritic.studies.claims import count_claims
from edgecritic.studies.truths import TABLE_4, TRUTHS, TruthsStudy, published
from edgecritic.tuning.result import Tuning, short_id
from edgecritic.tuning.tune import tune

__all__ = ["best_maps_figure", "truths_report"]

Shown = tuple[str, Any, BoolArray, BoolArray]
"""Name, photo, hand-made and semi-automatic truth of the image that is drawn."""


def truths_report(run: TruthsRun, *, shown: Shown | None = None) -> Report:
    """Make text, tables and, of the image `shown`, the figures."""
    study = run.study
    claims = published(study)
    tuning = None if shown is None else _curves_of(study, shown)
    pixels = study.mean("pixels")
    return study_report(
        "Hand-made and semi-automatic truths",
        [*_findings(study), count_claims(claims)],
        facts=(
            ("images", str(len(study.images))),
            ("semi-automatic truth", study.editor),
            ("pixels of a truth", f"{pixels[0]:.0f} hand-made, {pixels[1]:.0f} semi-automatic (mean)"),
        ),
        tables=[
            claims_table(claims, paper="Abdulrahman, Magnier and Montesinos 2017"),
            _table_4(study),
            _errors(study),
            _fixed(study),
            _levels(study),
            _all(study),
            *([] if tuning is None else [_curves_table(tuning)]),
        ],
        figures=[]
        if shown is None or tuning is None
        else [_truths(shown), _curves(tuning, shown[0]), *best_maps_figure(study, shown)],
        problems=[f"{one.id}: {one.message}" for one in run.failures],
    )


def _findings(study: TruthsStudy) -> list[str]:
    values, fixed = study.mean("values"), study.mean("fixed")
    lines = []
    for t, truth in enumerate(TRUTHS):
        firsts = [study.winner(values[t], name) for name in study.measures]
        lines.append(f"At the best thresholds, {truth} truth: first {_tally(firsts)}.")
    for number, way in enumerate(study.ways):
        firsts = [study.winner(fixed[number], name) for name in study.measures]
        lines.append(f"At the threshold {way}, hand-made truth: first {_tally(firsts)}.")
    return lines


def _tally(names: list[str]) -> str:
    ordered = sorted(dict.fromkeys(names), key=lambda name: (-names.count(name), name))
    return ", ".join(f"{short_id(name)} ({names.count(name)})" for name in ordered)


def _table_4(study: TruthsStudy) -> Table:
    """Best values of all detectors by both truths, the paper's mean beside ours."""
    values = study.mean("values")
    rows: list[tuple[Content, ...]] = []
    for m, measure in enumerate(study.measures):
        printed = TABLE_4.get(measure)
        cells: list[Content] = [measure]
        for d in range(len(study.detectors)):
            cells += [float(values[0, d, m]), float(values[1, d, m])]
        cells += [float(values[t, :, m].mean()) for t in (0, 1)]
        cells += [None, None] if printed is None else [float(np.mean(row)) for row in printed]
        rows.append(tuple(cells))
    heads = [
        f"{short_id(name)}, {truth}"
        for name in (*study.detectors, "mean", "paper's mean")
        for truth in TRUTHS
    ]
    return Table(
        name="truths",
        title="Best values by either truth (Table 4)",
        header=("measure", *heads),
        body=tuple(rows),
        note="Mean over the images. The paper's mean is over its five detectors on one photo, not ours.",
    )


def _errors(study: TruthsStudy) -> Table:
    alarms, misses = study.mean("false_alarms"), study.mean("misses")
    return Table(
        name="errors",
        title="False alarms and misses of the best maps, semi-automatic truth (Fig. 9)",
        header=(
            "measure",
            *(f"{short_id(name)}, {what}" for name in study.detectors for what in ("FP", "FN")),
        ),
        body=tuple(
            (
                name,
                *(float(table[1, d, m]) for d in range(len(study.detectors)) for table in (alarms, misses)),
            )
            for m, name in enumerate(study.measures)
        ),
        digits=0,
        note="Pixels under strict overlap, mean over the images.",
    )


def _fixed(study: TruthsStudy) -> Table:
    fixed = study.mean("fixed")
    rows: list[tuple[Content, ...]] = []
    for m, measure in enumerate(study.measures):
        for number, way in enumerate(study.ways):
            first = study.winner(fixed[number], measure)
            rows.append(
                (
                    measure,
                    way,
                    *(
                        Cell(text=f"{fixed[number, d, m]:.4g}", strong=name == first)
                        for d, name in enumerate(study.detectors)
                    ),
                )
            )
    return Table(
        name="fixed",
        title="All detectors at the same thresholds, and at automatic ones, hand-made truth (Fig. 3)",
        header=("measure", "threshold", *map(short_id, study.detectors)),
        body=tuple(rows),
        align="llr",
        note="Thresholds are shares of the strongest edge. rosin, otsu: by the histogram of each image.",
    )


def _levels(study: TruthsStudy) -> Table:
    levels = study.mean("levels")
    return Table(
        name="levels",
        title="Automatic thresholds, mean over the images",
        header=("rule", *map(short_id, study.detectors)),
        body=tuple((way, *map(float, levels[number])) for number, way in enumerate(study.ways)),
        digits=3,
    )


def _all(study: TruthsStudy) -> Table:
    return Table.of_rows(
        study.rows(),
        name="best",
        title="Best values of every image",
        align="llllr",
        most=6,
        folded=True,
    )


def _curves_of(study: TruthsStudy, shown: Shown) -> Tuning:
    """Return the measures over all thresholds of the image that is drawn, semi-automatic truth."""
    return tune(shown[1], shown[3], detectors=list(study.detectors), measures=list(study.measures))


def _curves_table(tuning: Tuning) -> Table:
    return Table.of_rows(
        tuning.rows(),
        name="curves",
        title="All measures over the thresholds, the image that is drawn",
        most=6,
        folded=True,
    )


def _curves(tuning: Tuning, name: str) -> Figure:
    def paint(figure: Any) -> None:
        rows = -(-len(tuning.measures) // 4)
        panels = list(figure.subplots(rows, 4, squeeze=False).ravel())
        for panel, measure in zip(panels, tuning.measures, strict=False):
            tuning.plot(panel, measure=measure)
            panel.tick_params(labelsize=6)
        for panel in panels[len(tuning.measures) :]:
            panel.set_visible(False)
        handles = panels[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside upper left", ncols=3, fontsize=7, frameon=False)

    return draw(
        "curves",
        "Scores over the threshold (Figs. 7 and 8)",
        f"Image {name}, semi-automatic truth; dots mark the best thresholds.",
        paint,
        size=(12, 2.5 * -(-len(tuning.measures) // 4) + 0.5),
    )


def _truths(shown: Shown) -> Figure:
    name, image, hand, semi = shown

    def paint(figure: Any) -> None:
        panels = figure.subplots(1, 3)
        panels[0].imshow(image, cmap="gray")
        for panel, truth, title in zip(panels[1:], (hand, semi), TRUTHS, strict=True):
            panel.imshow(~truth, cmap="gray", vmin=0, vmax=1)
            panel.set_title(f"{title}, {np.count_nonzero(truth)} pixels", fontsize=8)
        panels[0].set_title(name, fontsize=8)
        _bare(panels)

    return draw(
        "photo",
        "The photo and both truths (Fig. 6)",
        f"Image {name}: that in the middle of all by the last measure.",
        paint,
        size=(10, 3),
        kinds=("png",),
    )


def best_maps_figure(study: TruthsStudy, shown: Shown) -> list[Figure]:
    """Draw the best maps of every measure and detector with their false alarms and misses (Fig. 9)."""
    name, image, _, _ = shown
    one = next(each for each in study.images if each.image == name)
    found = [detect(image, detector) for detector in study.detectors]

    def paint(figure: Any) -> None:
        grid = figure.subplots(len(study.measures), len(study.detectors), squeeze=False)
        for (m, d), panel in np.ndenumerate(grid):
            level = float(one.thresholds[1, d, m])
            panel.imshow(~found[d].binary(level), cmap="gray", vmin=0, vmax=1)
            text = f"{one.values[1, d, m]:.3g} at {level:.2f}"
            errors = f"FP {one.false_alarms[1, d, m]}, FN {one.misses[1, d, m]}"
            panel.set_title(f"{short_id(study.detectors[d])}\n{text}\n{errors}", fontsize=6)
            if d == 0:
                panel.set_ylabel(study.measures[m], fontsize=7)
        _bare(grid.ravel())

    rows, columns = np.asarray(image).shape[:2]
    tall = 0.5 + 1.7 * float(np.clip(rows / columns, 0.4, 2.5))
    figure = draw(
        "best-maps",
        "The best map of every measure and detector (Fig. 9)",
        f"Image {name}, semi-automatic truth. Above each map: the best value, its threshold, false alarms "
        "and misses under strict overlap.",
        paint,
        size=(1.8 * len(study.detectors), tall * len(study.measures)),
        kinds=("png",),
        dpi=110,
    )
    return [figure]


def _bare(panels: Any) -> None:
    for panel in panels:
        panel.set_xticks([])
        panel.set_yticks([])
