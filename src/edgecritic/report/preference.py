"""The report of the study in which people judge edge maps, and so measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from edgecritic.annotators.choice import PAIR_KINDS, EdgeMap, Trial
from edgecritic.annotators.preferences import Agreement, Preference
from edgecritic.annotators.scale import Scale
from edgecritic.figures import COLOURS, GREY
from edgecritic.report.sections import Content, Figure, Report, Table, draw, study_report
from edgecritic.run.preference import PreferenceRun

__all__ = ["preference_report"]

_PICTURES = 4
_TITLE = "Which edge maps do people prefer, and which measures know it?"


def preference_report(run: PreferenceRun) -> Report:
    """Make text, tables and figures of the study; of trials that nobody has answered, what they show."""
    counts = run.as_dict()["trials"]
    kinds = ", ".join(f"{count} of kind {kind}" for kind, count in counts.items() if count)
    problems = [str(one) for one in run.failures]
    if run.found is None:
        checks = sum(trial.part != "main" for trial in run.trials)
        text = (
            f"{sum(counts.values())} pairs of edge maps ({kinds}) and {checks} whose answer everybody sees "
            "are in trials.json; the studio loads the file, and --answers of this study reads its answers."
        )
        return study_report(_TITLE, (text,), figures=(_examples(run.trials),), problems=problems)
    if run.unjudged:
        problems.append(
            f"Measures were not asked about {len(run.unjudged)} images whose truth was not found: "
            f"{', '.join(run.unjudged[:5])}{', …' if len(run.unjudged) > 5 else ''}"
        )
    found = run.found
    figures = [_measures_figure(found)] if found.measures else []
    figures += [_scale_figure(found, found.scale)] if found.scale is not None else []
    return study_report(
        _TITLE,
        tuple(_findings(run, found)),
        facts=_facts(found, kinds),
        figures=(*figures, _examples(run.trials)),
        tables=(*_measure_tables(found), *_scale_tables(found)),
        problems=problems,
    )


def _facts(found: Preference, kinds: str) -> tuple[tuple[str, str], ...]:
    return (
        ("answers", f"{found.answers} of {found.subjects} subjects to {found.trials + found.tied} trials"),
        ("pairs", kinds),
        ("images", str(found.images)),
        ("intervals", f"{found.level:.0%}, {found.draws} draws of images and of subjects, seed {found.seed}"),
        ("majorities", "draws of images alone"),
        ("ties", "half a choice for each side; trials without a majority are left out"),
    )


def _findings(run: PreferenceRun, found: Preference) -> list[str]:
    lines = []
    if run.hidden:
        lines.append(f"These subjects are simulated: they used {run.hidden}, with noise.")
    if found.measures:
        lines += _measure_findings(found)
    if found.scale is not None:
        best, worst = found.scale.conditions[0], found.scale.conditions[-1]
        lines.append(
            f"Of {len(found.scale.conditions)} conditions {best} is preferred most and {worst} least: the "
            f"first wins over the second with a probability of {found.scale.probability(best, worst):.0%}."
        )
        if found.scale.penalty:
            lines.append(
                "Some conditions never lost or were never compared with the others; their values are kept "
                "finite by a weak penalty and say little."
            )
    tied = f", {found.tied} are tied" if found.tied else ""
    lines.append(
        f"{found.trials} trials have a majority{tied}; {found.ceiling:.1%} of the single choices agree with "
        "the majority of their trial, which is the most that a measure could reach."
    )
    return lines


def _measure_findings(found: Preference) -> list[str]:
    first = found.measures[0]
    equals = [one for one in found.measures if one.singles == first.singles]
    names = " and ".join([*(one.measure for one in equals[:3])] + ["others"] * (len(equals) > 3))
    verb = "predicts" if len(equals) == 1 else "predict"
    lines = [
        (
            f"{names} {verb} most choices: {first.singles:.1%} of them, and {first.share:.1%} of the "
            f"majorities ({first.low:.1%} to {first.high:.1%}); chance is 50 %."
        )
    ]
    worse = [one for one in found.measures[1:] if one.worse_than_best < 1 - found.level]
    others = len(found.measures) - 1 - len(worse)
    lines.append(
        f"{len(worse)} of the other {len(found.measures) - 1} measures are significantly worse, {others} not."
        if worse
        else "No measure is significantly worse than the best: these answers do not tell them apart."
    )
    against = [one for one in found.measures if one.high < 0.5]
    if against:
        lines.append(
            f"{len(against)} measures order maps against people more often than with them: "
            f"{', '.join(one.measure for one in against[:5])}{', …' if len(against) > 5 else ''}."
        )
    for kind in PAIR_KINDS:
        shares = [(one.kinds[kind][0], one.measure) for one in found.measures if kind in one.kinds]
        if shares and not np.isnan(max(shares)[0]):
            top = max(share for share, _ in shares)
            name = next(name for share, name in shares if share == top)
            lines.append(f"Of pairs of kind {kind} {name} predicts most: {top:.1%}.")
    return lines


def _measure_tables(found: Preference) -> tuple[Table, ...]:
    if not found.measures:
        return ()
    kinds = sorted(found.measures[0].kinds)
    rows = tuple(_measure_row(found, at, one) for at, one in enumerate(found.measures))
    header = (
        *("measure", "majorities", "low", "high", "single choices", "low", "high"),
        *("equal", "p", "better than"),
    )
    note = (
        "majorities and single choices: the share that the measure predicts, with its interval; equal: of "
        "trials in which it finds both maps equally good; p: that it is no worse than the first, after Holm; "
        "better than: how many measures it beats significantly, after Holm over all pairs; measures are "
        "ordered and compared by single choices"
    )
    by_kind: tuple[tuple[Content, ...], ...] = tuple(
        (one.measure, *(value for kind in kinds for value in one.kinds[kind])) for one in found.measures
    )
    columns = tuple(f"{kind}{end}" for kind in kinds for end in ("", ", low", ", high"))
    return (
        Table(
            name="measures",
            title="How far measures agree with people",
            header=header,
            body=rows,
            note=note,
            digits=3,
        ),
        Table(
            name="kinds",
            title="The same by kind of pair",
            header=("measure", *columns),
            body=by_kind,
            digits=3,
        ),
    )


def _measure_row(found: Preference, at: int, one: Agreement) -> tuple[Content, ...]:
    p = None if np.isnan(one.worse_than_best) else one.worse_than_best
    beaten = int(found.better[at].sum())
    singles = (one.singles, one.singles_low, one.singles_high)
    return (one.measure, one.share, one.low, one.high, *singles, one.equal, p, beaten)


def _scale_tables(found: Preference) -> tuple[Table, ...]:
    if found.scale is None:
        return ()
    rows: tuple[tuple[Content, ...], ...] = tuple(
        (row["condition"], row["value"], low, high, row["won"], row["of"])
        for row, low, high in zip(found.scale.rows(), found.low, found.high, strict=True)
    )
    return (
        Table(
            name="scale",
            title="Bradley–Terry scale of the conditions",
            header=("condition", "value", "low", "high", "choices won", "of"),
            body=rows,
            note="The sum of the values is 0; a difference of 1 means odds of 2.7 to 1.",
            digits=3,
        ),
    )


def _measures_figure(found: Preference) -> Figure:
    return draw(
        "measures",
        "How far measures agree with people",
        "Share of the majorities that each measure predicts, with its interval.",
        lambda figure: found.plot(figure.subplots()),
        size=(7.2, 0.9 + 0.19 * max(len(found.measures), 4)),
    )


def _scale_figure(found: Preference, scale: Scale) -> Figure:
    def paint(figure: Any) -> None:
        axes = figure.subplots()
        places = np.arange(len(scale.conditions))[::-1]
        axes.axvline(0, color=GREY, linewidth=0.8)
        axes.hlines(places, found.low, found.high, color=COLOURS[0], linewidth=2)
        axes.plot(scale.values, places, "o", color=COLOURS[0], markersize=5)
        axes.set_yticks(places, scale.conditions, fontsize=8)
        axes.set_xlabel("Bradley–Terry value (1 is odds of 2.7 to 1)")

    return draw(
        "scale",
        "What people prefer",
        "Values of the conditions with intervals over images and subjects.",
        paint,
        size=(7.2, 1.0 + 0.24 * len(scale.conditions)),
    )


def _examples(trials: Sequence[Trial]) -> Figure:
    """Show some of the pairs, of every kind."""
    main = [
        trial
        for trial in trials
        if trial.part == "main" and isinstance(trial.left, EdgeMap) and trial.left.packed
    ]
    firsts = [next((trial for trial in main if trial.mode == kind), None) for kind in PAIR_KINDS]
    shown = [trial for trial in firsts if trial is not None]
    shown += [trial for trial in main if trial not in shown][: max(0, _PICTURES - len(shown))]
    if not shown:
        return Figure(name="pairs", title="Some pairs", caption="", content={})

    def paint(figure: Any) -> None:
        axes = figure.subplots(len(shown), 2, squeeze=False)
        for row, trial in zip(axes, shown, strict=True):
            for axis, end in zip(row, (trial.left, trial.right), strict=True):
                if isinstance(end, EdgeMap):
                    axis.imshow(~end.map, cmap="gray", interpolation="nearest")
                    axis.set_title(end.condition, fontsize=8)
                axis.set_xticks([])
                axis.set_yticks([])
            row[0].set_ylabel(f"{trial.image} ({trial.mode})", fontsize=8)

    return draw(
        "pairs",
        "Some pairs",
        "What subjects see beside the photo; measures disagree on which map is the better one.",
        paint,
        size=(8, 2.7 * len(shown) + 0.2),
        kinds=("png",),
    )
