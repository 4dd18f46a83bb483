"""The report on detectors judged by label strength."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from edgecritic.annotators.plots import output_bars
from edgecritic.figures import COLOURS
from edgecritic.report.sections import Figure, Report, Table, draw, study_report
from edgecritic.report.write import write_report

__all__ = ["strength_report", "write_strength"]

_COLUMNS = ("f", "precision", "recall", "threshold", "annotator_precision", "precision_bonus")


def strength_report(results: Mapping[str, Any], *, pictures: bool = True) -> Report:
    """Make text, tables and figures of what `edgecritic.run.strength.run_strength` returned."""
    findings = [line for one in results["detectors"] for line in _findings(one)]
    figures = [_levels(results), *(_outputs(one) for one in results["detectors"])] if pictures else []
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
