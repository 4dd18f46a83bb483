"""The report on models that learned from different labels."""

from __future__ import annotations

from typing import Any

from edgecritic.protocols.plots import recall_curve, recall_frame
from edgecritic.report.sections import Content, Figure, Report, Table, draw, study_report
from edgecritic.run.retrain import RetrainRun
from edgecritic.studies.retrain import JUDGES, PRACTICAL, RetrainStudy

__all__ = ["SENTENCE", "retrain_report"]

SENTENCE = (
    "The retrained-pB does not gain superior F-measure even if we use consensus labels as the ground-truth."
)


def retrain_report(run: RetrainRun, *, figure: bool = True) -> Report:
    """Make text, tables and, if wanted, the figure of the retraining study."""
    study = run.study
    return study_report(
        "Learning from labels that everybody agrees on",
        (f"The paper says: “{SENTENCE}”", *study.findings()),
        facts=(
            ("learned from", f"{study.photos} photos"),
            ("judged on", f"{study.images} other photos, protocol bsds"),
            ("practical", f"a difference of ODS of at least {PRACTICAL:g}"),
        ),
        tables=(_scores(study), _weights(study)),
        figures=(_curves(study),) if figure else (),
        problems=tuple(map(str, run.failures)),
    )


def _scores(study: RetrainStudy) -> Table:
    names = ("trained_on", "cues", "judged_on", "ods", "low", "high", "ois", "ap", "threshold")
    more = ("difference", "difference_low", "difference_high", "p")
    body: list[tuple[Content, ...]] = [
        tuple(row.get(name) for name in (*names, *more)) for row in study.rows()
    ]
    return Table(
        name="scores",
        title="Models judged on both kinds of labels",
        header=(
            *("learned from", "cues", "judged on", "ODS", "from", "to", "OIS", "AP", "threshold"),
            *("difference", "from ", "to ", "p"),
        ),
        body=tuple(body),
        digits=4,
        note=f"Difference: of ODS to the model learned from {study.trained[0]} labels, on the same images; "
        "intervals of 95 % by the bootstrap over images. What another seed of learning would change is not "
        "in them.",
    )


def _weights(study: RetrainStudy) -> Table:
    body: list[tuple[Content, ...]] = []
    for name, told in study.models.items():
        for cues, one in (told["weights"] or {}).items():
            if cues.count("+") == 2 or cues == "brightness+texture":
                by_cue = dict(zip(cues.split("+"), one["beta"][1:], strict=True))
                shown = [by_cue.get(cue) for cue in ("brightness", "colour", "texture")]
                body.append((name, cues, one["beta"][0], *shown, one["quantile"], told["digest"][:12]))
    return Table(
        name="weights",
        title="What was learned",
        header=("learned from", "cues", "β₀", "brightness", "colour", "texture", "99.9 % of β·f", "digest"),
        body=tuple(body),
        digits=3,
    )


def _curves(study: RetrainStudy) -> Figure:
    def paint(figure: Any) -> None:
        for panel, judged in zip(figure.subplots(1, 2), JUDGES, strict=True):
            recall_frame(panel)
            panel.set_title(f"judged on {judged} labels")
            lines, names = [], []
            pairs = [(one, cues) for cues in study.cues for one in (study.trained[0], "consensus")]
            for number, (trained, cues) in enumerate(pairs):
                if trained not in study.trained:
                    continue
                found = study.result(trained, cues, judged)
                curve = (found.summary.recall, found.summary.precision)
                lines.append(
                    recall_curve(panel, curve, (found.ods.recall, found.ods.precision), number=number)
                )
                names.append(f"{cues}, from {trained}: {found.ods.f:.3f}")
            panel.legend(lines, names, loc="lower left", frameon=False, fontsize=8)

    return draw(
        "figure8",
        "Pb learned from all labels and from consensus labels",
        "As Fig. 8 of the paper: precision over recall, judged on all labels and on consensus labels. Marks: "
        "the best F, given in the legend.",
        paint,
        size=(9.6, 4.9),
    )
