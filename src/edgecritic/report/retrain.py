"""The report on models that learned from different labels."""

from __future__ import annotations

from typing import Any

from edgecritic.annotators.plots import output_bars
from edgecritic.figures import look
from edgecritic.protocols.plots import recall_curve, recall_frame
from edgecritic.report.claims import claims_table
from edgecritic.report.sections import Content, Figure, Report, Table, draw, study_report
from edgecritic.run.retrain import RetrainRun
from edgecritic.studies.labels import PAPER
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
        tables=(claims_table(study.claims(), paper=PAPER), _scores(study), _weights(study), *_points(study)),
        figures=(_curves(study), *_outputs(study), *_learning(study)) if figure else (),
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


def _outputs(study: RetrainStudy) -> list[Figure]:
    shown = {name: one.as_dict() for name, one in study.outputs.items()}
    if not shown:
        return []

    def paint(figure: Any) -> None:
        panels = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
        for panel, (name, told) in zip(panels, shown.items(), strict=True):
            output_bars(panel, told["outputs"], told["shares"], told["levels"])
            rho = "" if told["rho"] is None else f", ρ = {told['rho']:.3f}"
            panel.set_title(f"learned from {name} labels{rho}")
            if panel is not panels[-1]:
                panel.get_legend().remove()
        for panel in panels[1:]:
            panel.set_ylabel("")

    return [
        draw(
            "figure7",
            "How strong the labels are that outputs match",
            "As Fig. 7 of the paper, for the models with colour: of the labels matched with pixels of each "
            "output, the share of each strength. ρ is Spearman's correlation of output and strength over all "
            "matched pairs.",
            paint,
            size=(9.6, 3.8),
        )
    ]


def _points(study: RetrainStudy) -> list[Table]:
    if not study.curve:
        return []
    body: list[tuple[Content, ...]] = [
        (one.trained, one.judged, one.photos, one.ods, one.low, one.high) for one in study.curve
    ]
    return [
        Table(
            name="curve",
            title="Learning curve",
            header=("learned from", "judged on", "photos", "ODS", "from", "to"),
            body=tuple(body),
            digits=4,
            note="Models with colour. Photos are a seeded choice, each within the next; textons are learned "
            "from them too. Intervals of 95 % are over the judged images: they do not tell what another "
            "choice of photos would change.",
        )
    ]


def _learning(study: RetrainStudy) -> list[Figure]:
    if not study.curve:
        return []
    names = list(dict.fromkeys(one.trained for one in study.curve))

    def paint(figure: Any) -> None:
        for panel, judged in zip(figure.subplots(1, 2), JUDGES, strict=True):
            for number, name in enumerate(names):
                points = [one for one in study.curve if (one.trained, one.judged) == (name, judged)]
                sizes, values = [one.photos for one in points], [one.ods for one in points]
                style = look(number)
                panel.plot(sizes, values, marker="o", label=f"learned from {name} labels", **style)
                low, high = ([one.low for one in points], [one.high for one in points])
                if None not in low:
                    panel.fill_between(sizes, low, high, color=style["color"], alpha=0.12, linewidth=0)
            panel.set_xscale("log", base=2)
            panel.set_xticks(sizes, [str(size) for size in sizes])
            panel.set_xlabel("photos that were learned from")
            panel.set_ylabel("ODS")
            panel.set_title(f"judged on {judged} labels")
            panel.legend(frameon=False, loc="lower right")

    return [
        draw(
            "learning",
            "Learning curve",
            "ODS of the models with colour over the number of photos. Bands: intervals of 95 % over the "
            "judged images, which all points share.",
            paint,
            size=(9.6, 3.8),
        )
    ]
