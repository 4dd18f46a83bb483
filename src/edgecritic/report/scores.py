"""The report of a run of scores: statistics, distributions over cases, the worst cases, what is amiss."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from edgecritic.datasets.cases import find_cases
from edgecritic.errors import EdgeCriticError
from edgecritic.figures import COLOURS, GREY
from edgecritic.measures import measures
from edgecritic.measures.surface import surface_note
from edgecritic.report.score_lesions import LesionsOf, lesion_rows, lesion_section, lesions_of_runs
from edgecritic.report.score_slices import draw_slices
from edgecritic.report.sections import Content, Figure, Notes, Report, Section, Table, Text, draw
from edgecritic.report.write import write_report
from edgecritic.run.files import write_json, write_text
from edgecritic.run.score_files import ScoreSettings, read_pair
from edgecritic.run.score_results import ScoreComparison, ScoreRun, compare_runs
from edgecritic.run.store import safe_name
from edgecritic.run.summary import summary_of
from edgecritic.tables import arrow, csv_text

__all__ = ["score_report", "worst_figures", "write_scores"]

Runs = Mapping[str, ScoreRun]

_MOST_MEASURES = 8
_WORST = 3


def write_scores(
    folder: str | Path,
    runs: Runs,
    *,
    folders: Mapping[str, tuple[Path, str | Path]],
    settings: ScoreSettings,
    draws: int = 1000,
    split: str | None = None,
) -> tuple[Path, ...]:
    """Write ``scores.csv``, ``scores.json``, the report, of label maps ``summary.json``; return the files.

    If a measure of lesions is among the measures, ``lesions.csv`` has a line per lesion.

    Parameters
    ----------
    folder : path
    runs : mapping of ScoreRun
        By the names of the methods.
    folders : mapping of (path, path)
        The candidates and the truths of every method, out of which the worst cases are drawn.
    settings : ScoreSettings
    draws : int
        For the confidence intervals.
    split : str, optional
        As the run was given it.
    """
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    both = compare_runs(dict(runs), draws=draws)
    single = next(iter(runs.values())) if len(runs) == 1 else None
    figures = worst_figures(runs, folders, settings, split=split)
    lesions = lesions_of_runs(runs, folders, settings, split=split)
    report = score_report(both, draws=draws, worst=figures, lesions=lesions)
    results = both.as_dict(draws=draws) if single is None else single.as_dict(draws=draws)
    written = list(write_report(home, report, results, name="scores"))
    if lesions:
        rows = lesion_rows(lesions)
        names = list(dict.fromkeys(name for row in rows for name in row))
        write_text(home / "lesions.csv", csv_text(names, (list(row.values()) for row in rows)))
        written.append(home / "lesions.csv")
    _drop_old_tables(home, written)
    for name, run in runs.items():
        summary = summary_of(run) if run.labelled and folders else None  # a summary that was read stays
        if summary is not None:
            place = home if single is not None else home / safe_name(name)
            place.mkdir(exist_ok=True)
            write_json(place / "summary.json", summary)
            written.append(place / "summary.json")
    return tuple(written)


def _drop_old_tables(home: Path, written: Sequence[Path]) -> None:
    """Remove the tables of an earlier run that this one has not: they would be taken for its own."""
    heads = {
        "lesions.csv": "method,case,label,rule,kind,",
        "lesions-by-volume.csv": "method,label,rule,volume,",
        "differences.csv": "first,second,",
    }
    for name, head in heads.items():
        file = home / name
        if file not in written and file.is_file() and file.read_bytes().startswith(head.encode()):
            file.unlink()


def score_report(
    found: ScoreComparison,
    *,
    draws: int = 1000,
    worst: tuple[Figure, ...] = (),
    lesions: Sequence[LesionsOf] = (),
) -> Report:
    """Return the report of one method or of several."""
    runs = found.runs
    sections = [Section(key="statistics", title="Over cases", blocks=(_statistics(runs, draws),))]
    if found.differences:
        sections.append(
            Section(
                key="differences",
                title="Differences between methods",
                lead="First minus second, on the cases that both have a value of.",
                blocks=(_differences(found),),
            )
        )
    drawn = tuple(figure for figure in _distributions(runs) if figure.content)
    if drawn:
        lead = "Every point is a case; the box spans the quartiles, its line is the median."
        sections.append(Section(key="distributions", title="Distributions", lead=lead, blocks=drawn))
    by_volume = lesion_section(lesions)
    if by_volume is not None:
        sections.append(by_volume)
    if worst:
        lead = (
            "Slices through the place that is farthest from the other surface. Grey is in both maps, orange "
            "in the candidate only, blue in the truth only; the surfaces have the colour of their distance."
        )
        sections.append(Section(key="worst", title="Worst cases", lead=lead, blocks=worst))
    sections.append(Section(key="cases", title="All cases", blocks=(_cases(found),)))
    problems = [line for name, run in runs.items() for line in _problems(name if len(runs) > 1 else "", run)]
    if problems:
        notes = Notes(lines=tuple(problems), kind="warn")
        sections.insert(0, Section(key="problems", title="Problems", blocks=(notes,)))
    else:
        sections.append(Section(key="problems", title="Problems", blocks=(Text(text="None."),)))
    told = [line for name, run in runs.items() for line in _notes(name if len(runs) > 1 else "", run)]
    if told:
        sections.append(Section(key="notes", title="Notes", blocks=(Notes(lines=tuple(told)),)))
    first = next(iter(runs.values()))
    facts = [("methods", ", ".join(runs))] if len(runs) > 1 else []
    facts.append(("cases", str(len({case for run in runs.values() for case in run.cases}))))
    if first.labelled:
        facts.append(("labels", ", ".join(first.labels)))
    return Report(
        title="Scores of cases",
        sections=tuple(sections),
        brand="Scores",
        findings=tuple(_findings(runs)),
        facts=tuple(facts),
    )


def worst_figures(
    runs: Runs,
    folders: Mapping[str, tuple[Path, str | Path]],
    settings: ScoreSettings,
    *,
    split: str | None = None,
) -> tuple[Figure, ...]:
    """Draw the worst cases of every method by its first measure; what cannot be read again is left out."""
    figures = []
    for name, (place, truth) in folders.items():
        run = runs[name]
        cases = {case.id: case for case in find_cases(place, truth, split=split, roles=True)}
        for number, (case, label) in enumerate(_worst(run), start=1):
            one = next(each for each in run.cases[case].maps if str(each.label or "") == label)
            told = f"{case}{f', {label}' if label else ''}{f', {name}' if len(folders) > 1 else ''}"
            values = ", ".join(f"{key} {value:.4g}" for key, value in one.scores.mean.items())
            try:
                pair = read_pair(cases[case], settings, one.label, spacing=run.cases[case].spacing)
            except EdgeCriticError:
                continue
            figure = draw_slices(
                pair, name=f"worst-{safe_name(name)}-{number}", title=told, caption=f"{told}: {values}"
            )
            figures.append(figure)
    return tuple(figure for figure in figures if figure.content)


def _worst(run: ScoreRun) -> list[tuple[str, str]]:
    """Return cases and labels from the worst value of the first measure on, where there is a file."""
    if not run.measures:
        return []
    measure, way = run.measures[0], run.better[0]
    found = [
        (value if way == "higher" else -value, case, label)
        for label in run.labels
        for case, value in run.values(measure, label).items()
        if not math.isnan(value) and not run.cases[case].missing
    ]
    return [(case, label) for _, case, label in sorted(found)[:_WORST]]


def _statistics(runs: Runs, draws: int) -> Table:
    rows: list[tuple[Content, ...]] = []
    several, labelled = len(runs) > 1, any(run.labelled for run in runs.values())
    for name, run in runs.items():
        for label, row in run.statistics(draws=draws).items():
            for (measure, one), way in zip(row.items(), run.better, strict=True):
                head = [
                    *([name] if several else []),
                    *([label] if labelled else []),
                    f"{measure} {arrow(way)}",
                ]
                numbers = (one.mean, one.sd, one.median, one.q1, one.q3, one.low, one.high)
                rows.append(
                    (*head, one.count, one.left_out, *(None if math.isnan(x) else x for x in numbers))
                )
    names = [*(["method"] if several else []), *(["label"] if labelled else []), "measure"]
    columns = ("cases", "left out", "mean", "SD", "median", "quartile 1", "quartile 3", "95 % from", "to")
    return Table(
        name="statistics",
        title="Statistics over cases",
        header=(*names, *columns),
        body=tuple(rows),
        align="l" * len(names) + "r",
        note=f"The interval is of the mean, of {draws} draws of cases with replacement.",
    )


def _differences(found: ScoreComparison) -> Table:
    rows = found.difference_rows()
    return Table.of_rows(
        rows,
        name="differences",
        title="Paired differences",
        align="lllr" if "label" not in rows[0] else "llllr",
        note="p_value is two-sided, of paired draws of cases; wilcoxon is that of the signed-rank test. "
        "No correction for many comparisons is made.",
    )


def _cases(found: ScoreComparison) -> Table:
    runs = found.runs
    rows = found.rows() if len(runs) > 1 else next(iter(runs.values())).rows()
    names = list(dict.fromkeys(name for row in rows for name in row))
    return Table(
        name="scores",
        title="Scores of every case",
        header=tuple(names),
        body=tuple(tuple(row.get(name) for name in names) for row in rows),
        most=60,
        align="llr",
    )


def _distributions(runs: Runs) -> list[Figure]:
    first = next(iter(runs.values()))
    return [
        draw(
            f"distribution-{place}",
            measure,
            f"{measure} {arrow(way)} of every case.",
            lambda figure, measure=measure: _draw_boxes(figure, runs, measure),  # type: ignore[misc]
            size=(8.0, 3.4),
        )
        for place, (measure, way) in enumerate(
            zip(first.measures[:_MOST_MEASURES], first.better[:_MOST_MEASURES], strict=True), start=1
        )
    ]


def _draw_boxes(figure: Any, runs: Runs, measure: str) -> None:
    """Draw a box with its points for every label and method."""
    axes = figure.subplots()
    groups = [
        (label, number, np.array(list(run.values(measure, label).values())))
        for label in dict.fromkeys(label for run in runs.values() for label in run.labels)
        for number, run in enumerate(runs.values())
        if measure in run.measures
    ]
    for place, (_, number, values) in enumerate(groups):
        finite = values[np.isfinite(values)]
        colour = COLOURS[number % len(COLOURS)]
        if finite.size:
            style = {"color": GREY, "linewidth": 0.8}
            axes.boxplot(
                finite,
                positions=[place],
                widths=0.5,
                showfliers=False,
                boxprops=style,
                whiskerprops=style,
                capprops=style,
                medianprops={"color": colour, "linewidth": 1.8},
            )
        aside = ((np.arange(finite.size) * 0.618034) % 1 - 0.5) * 0.36
        axes.plot(place + aside, finite, "o", color=colour, markersize=3.2, alpha=0.7, markeredgewidth=0)
    names = list(runs)
    texts = [
        " ".join(filter(None, (label, names[number] if len(names) > 1 else ""))) or "all"
        for label, number, _ in groups
    ]
    slanted = {"rotation": 30, "ha": "right"} if sum(map(len, texts)) > 60 else {}
    axes.set_xticks(range(len(groups)), texts, **slanted)
    axes.set_ylabel(measure)
    axes.spines[["top", "right"]].set_visible(False)


def _findings(runs: Runs) -> list[str]:
    lines = []
    for name, run in runs.items():
        values = ", ".join(f"{measure} {value:.4g}" for measure, value in list(run.means.items())[:6])
        lines.append(f"{name}: {values}." if len(runs) > 1 else f"Means: {values}.")
    return lines


def _notes(name: str, run: ScoreRun) -> list[str]:
    """Return how files were paired and brought onto one grid, and which surface was measured."""
    told = [
        surface_note([text for text in run.measures if text.partition("(")[0] in measures.names()]),
        *run.notes,
        *(f"{case}: {note}" for case, scores in run.cases.items() for note in scores.notes),
    ]
    return [f"{name}: {line}" if name else line for line in told if line]


def _problems(name: str, run: ScoreRun) -> list[str]:
    before = f"{name}: " if name else ""
    told = [f"{before}no prediction for {case}" for case in run.missing]
    told += [f"{before}no truth for {case}" for case in run.without_truth]
    told += [f"{before}{failure}" for failure in run.failures]
    for case, scores in run.cases.items():
        absent = [str(one.label) for one in scores.maps if one.absent]
        if absent:
            told.append(f"{before}{case}: in neither map: label {', '.join(absent)}")
        sides = {"candidate": "missed", "truth": "not in the truth", "both": "in neither map"}
        for one in scores.maps:
            if one.empty and not one.absent and not scores.missing:
                what = f"label {one.label} is " if one.label is not None else "the map is "
                told.append(f"{before}{case}: {what}{sides[one.empty]}")
    return told
