"""The report on detectors judged by label strength."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from edgecritic.annotators.plots import output_bars
from edgecritic.figures import COLOURS
from edgecritic.protocols.plots import recall_curve, recall_frame
from edgecritic.report.sections import Figure, Link, Links, Report, Section, Table, draw, study_report
from edgecritic.report.write import write_report
from edgecritic.studies.labels import mean_drops

__all__ = ["strength_link", "strength_report", "write_strength"]

_COLUMNS = ("f", "precision", "recall", "threshold", "annotator_precision", "precision_bonus")


def strength_report(results: Mapping[str, Any], *, pictures: bool = True) -> Report:
    """Make text, tables and figures of what `edgecritic.run.strength.run_strength` returned."""
    findings = [line for one in results["detectors"] for line in _findings(one)] + _mean_findings(results)
    figures = []
    if pictures:
        figures = [_levels(results), *_recalls(results), _scores(results)]
        figures += [_outputs(one) for one in results["detectors"]]
    return study_report(
        "Detectors by label strength",
        tuple(findings),
        facts=(
            ("truth", str(results["truth"])),
            ("protocol", str(results["protocol"]["id"])),
            ("control", f"{results['draws']} draws, seed {results['seed']}" if results["draws"] else "none"),
        ),
        tables=tuple(_tables(results)),
        figures=tuple(figures),
        problems=tuple(f"{row['detector']}: {row['id']}: {row['message']}" for row in results["failures"]),
    )


def write_strength(folder: str | Path, results: Mapping[str, Any]) -> tuple[Path, ...]:
    """Write the page ``strength/report.html`` with tables and figures below `folder`."""
    return write_report(Path(folder) / "strength", strength_report(results), name="strength")


def strength_link() -> Section:
    """Return the section of the benchmark's page that leads to the page of `write_strength`."""
    link = Link(name="strength/report.html", href="strength/report.html")
    words = "the same detectors judged on labels of growing strength, and on as few labels chosen by place"
    return Section(key="strength", title="Label strength", blocks=(Links(items=((None, (link,), words),)),))


def _findings(one: Mapping[str, Any]) -> list[str]:
    first, last = one["levels"][0], one["levels"][-1]
    rho = one["outputs"]["rho"]
    change = (
        f"{one['name']}: from strength {first['strength']:g} to {last['strength']:g} precision goes from "
        f"{first['precision']:.3f} to {last['precision']:.3f}, recall from {first['recall']:.3f} to "
        f"{last['recall']:.3f}; the precision bonus of counting any annotator is "
        f"{first['precision_bonus']:.3f} at first, {last['precision_bonus']:.3f} at last."
    )
    lines = [change]
    if one["partial"] is not None:
        lines.append(f"{one['name']}: {_verdict(last, one['partial'])}")
    if rho is not None:
        lines.append(f"{one['name']}: Spearman's ρ of output and label strength is {rho:.3f}.")
    return lines


def _mean_findings(results: Mapping[str, Any]) -> list[str]:
    """Say what several detectors lose on the average."""
    drops, number = mean_drops(results), len(results["detectors"])
    if drops is None or number < 2:
        return []
    told = ", ".join(f"{key if key != 'f' else 'F'} {change:+.1%}" for key, change in drops.items())
    return [f"Mean change over {number} detectors from the lowest to the highest strength: {told}."]


def _verdict(level: Mapping[str, Any], control: Mapping[str, Any]) -> str:
    """Compare the highest level with its control; one draw has no spread to judge by."""
    score = f"F {level['f']:.3f} at strength {level['strength']:g}"
    if control["sd"] is None:
        return f"{score}; {control['f']:.3f} on as few labels chosen by place, in a single draw."
    verdict = "better" if level["f"] - control["f"] > 2 * control["sd"] else "no better"
    return (
        f"{score} is {verdict} than {control['f']:.3f} ± {control['sd']:.3f} on as "
        "few labels chosen by place (better: by more than two standard deviations of the draws)."
    )


def _tables(results: Mapping[str, Any]) -> list[Table]:
    rows = []
    for one in results["detectors"]:
        rows += [
            (f"{one['name']}, strength ≥ {level['strength']:g}", *(level[key] for key in _COLUMNS))
            for level in one["levels"]
        ]
        if one["partial"] is not None:
            part = one["partial"]
            name = f"{one['name']}, as few as ≥ {part['strength']:g}, by place"
            rows.append((name, part["f"], part["precision"], part["recall"], None, None, None))
    return [
        Table(
            name="levels",
            title="The optimum at each label strength",
            header=("labels", "F", "precision", "recall", "threshold", "P per annotator", "bonus"),
            body=tuple(rows),
            note="P per annotator: the share of candidate pixels that match an annotator, mean of all; "
            "bonus: what is gained because a match with any annotator counts.",
        )
    ]


def _levels(results: Mapping[str, Any]) -> Figure:
    def paint(figure: Any) -> None:
        panels = figure.subplots(1, 3, sharey=True)
        for panel, key in zip(panels, ("precision", "recall", "f"), strict=True):
            for number, one in enumerate(results["detectors"]):
                colour = COLOURS[number % len(COLOURS)]
                xs = [level["strength"] for level in one["levels"]]
                ys = [level[key] for level in one["levels"]]
                panel.plot(xs, ys, "o-", color=colour, label=one["name"])
                if one["partial"] is not None:
                    panel.plot(
                        one["partial"]["strength"], one["partial"][key], "x", color=colour, ms=9, mew=2
                    )
            panel.set_xlabel("label strength at least")
            panel.set_title("F" if key == "f" else key)
            panel.set_ylim(0, 1)
        panels[0].legend(frameon=False)

    return draw(
        "levels",
        "Precision, recall and F on labels of growing strength",
        "At the threshold of the best F. Crosses: the control, as few labels as at that strength, "
        "chosen by place.",
        paint,
        size=(9, 3.4),
    )


def _recalls(results: Mapping[str, Any]) -> list[Figure]:
    """Draw precision over recall on all labels, on the strongest, and on the control."""
    names = [_title(curve) for curve in results["detectors"][0]["curves"]]

    def paint(figure: Any) -> None:
        panels = figure.subplots(1, len(names), squeeze=False)[0]
        for place, panel in enumerate(panels):
            recall_frame(panel)
            panel.set_title(names[place], fontsize=9)
            lines = []
            for number, one in enumerate(results["detectors"]):
                curve = one["curves"][place]
                best = one["partial"] if curve["control"] else one["levels"][0 if place == 0 else -1]
                lines.append(
                    recall_curve(
                        panel,
                        (curve["recall"], curve["precision"]),
                        (best["recall"], best["precision"]),
                        number=number,
                    )
                )
            told = [f"{one['name']}" for one in results["detectors"]]
            panel.legend(lines, told, loc="lower left", frameon=False, fontsize=8)

    return [
        draw(
            "recalls",
            "Precision over recall on all, on strong and on as few labels chosen by place",
            "As the upper part of Fig. 5 of the paper. Marks: the best F, of the control its mean.",
            paint,
            size=(4.4 * len(names), 4.6),
        )
    ]


def _title(curve: Mapping[str, Any]) -> str:
    name = "all labels" if curve["strength"] == 0 else f"labels of strength ≥ {curve['strength']:g}"
    return "control, as few by place" if curve["control"] else name


def _scores(results: Mapping[str, Any]) -> Figure:
    """Draw the best F on all labels, on the strongest and on the control as bars."""
    names = [one["name"] for one in results["detectors"]]
    titles = [_title(curve) for curve in results["detectors"][0]["curves"]]

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        for number, title in enumerate(titles):
            points = [
                one["partial"]
                if one["curves"][number]["control"]
                else one["levels"][0 if number == 0 else -1]
                for one in results["detectors"]
            ]
            places = [place + 0.27 * (number - 1) for place in range(len(names))]
            axes.bar(places, [point["f"] for point in points], 0.25, color=COLOURS[number], label=title)
        axes.set_xticks(range(len(names)), names, rotation=20)
        axes.set(ylabel="best F", ylim=(0, 1))
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1))

    return draw(
        "scores",
        "The best F on each kind of labels",
        "As Fig. 6 of the paper.",
        paint,
        size=(max(6.0, 1.2 * len(names) + 4), 3.2),
    )


def _outputs(one: Mapping[str, Any]) -> Figure:
    found = one["outputs"]

    safe = "".join(sign if sign.isalnum() else "-" for sign in one["name"])
    return draw(
        f"outputs-{safe}",
        f"{one['name']}: label strength over output",
        "Of the labels matched with detector pixels of each output, the share of each strength. A detector "
        "that ranks boundaries like people has more strong labels to the right.",
        lambda figure: output_bars(figure.subplots(), found["outputs"], found["shares"], found["levels"]),
        size=(7.5, 3.6),
    )
