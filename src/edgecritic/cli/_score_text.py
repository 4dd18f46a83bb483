"""What ``edgecritic score`` says of folders: tables of cases and statistics, and what is amiss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edgecritic.measures.scoring import Scores
    from edgecritic.run.score_results import ScoreComparison, ScoreRun

__all__ = [
    "case_table",
    "difference_table",
    "map_table",
    "statistics_table",
    "tell_absent",
    "tell_empty",
    "tell_missing",
]

_MOST_LINES = 60
"""With more lines the table of all cases is left to files."""


def case_table(found: ScoreRun) -> str:
    """Return a table with a line per case and label, and their mean, in blocks that a terminal can show."""
    from edgecritic.cli._wide import terminal_width
    from edgecritic.tables import arrow, text_table

    lines = [(name, one) for name, case in found.cases.items() for one in case.maps]
    if len(lines) > _MOST_LINES:
        return f"{len(lines)} lines are left out here: --csv prints them, --out writes them"
    names = ["image", *(["label"] if found.labelled else [])]
    header = [
        *names,
        *(f"{name} {arrow(way)}" for name, way in zip(found.measures, found.better, strict=True)),
    ]
    rows = [
        [name, *([str(one.label)] if found.labelled else []), *map(number, one.scores.mean.values())]
        for name, one in lines
    ]
    blank = [""] * (len(names) - 1)
    rows.append(["mean", *blank, *map(number, found.means.values())])
    counts = found.counts
    if min(counts.values()) < len(lines):
        rows.append(["mean of", *blank, *(f"{count} of {len(lines)}" for count in counts.values())])
    return text_table(rows, header, align="l" * len(names) + "r", width=terminal_width(), keep=len(names))


def map_table(found: Scores) -> str:
    """Return the values of every map of a file that holds several."""
    from edgecritic.cli._wide import terminal_width
    from edgecritic.tables import text_table

    rows = [
        [str(place), *map(number, row.values())] for place, row in enumerate(found.per_annotator, start=1)
    ]
    return text_table(rows, ["map", *found.measures], align="r", width=terminal_width(), keep=1)


def statistics_table(found: ScoreRun, *, draws: int) -> str:
    """Return mean, spread, quartiles and interval over cases of every label and measure."""
    from edgecritic.tables import text_table

    rows = []
    for label, row in found.statistics(draws=draws).items():
        for name, one in row.items():
            numbers = (one.mean, one.sd, one.median, one.q1, one.q3, one.low, one.high)
            mean, sd, median, q1, q3, low, high = map(number, numbers)
            span = f"{low} … {high}" if math.isfinite(one.low) else "–"
            left = str(one.left_out) if one.left_out else ""
            rows.append([label, name, str(one.count), left, mean, sd, median, f"{q1} … {q3}", span])
    header = [
        "label",
        "measure",
        "cases",
        "left out",
        "mean",
        "SD",
        "median",
        "quartiles",
        "95 % of the mean",
    ]
    start = 0 if found.labelled else 1
    return text_table([row[start:] for row in rows], header[start:], align="llr" if found.labelled else "lr")


def difference_table(found: ScoreComparison) -> str:
    """Return the paired differences of methods."""
    from edgecritic.cli._wide import terminal_width
    from edgecritic.tables import text_table

    labelled = any(label for _, _, label, _, _ in found.differences)
    rows = [
        [
            f"{first} − {second}",
            *([label] if labelled else []),
            measure,
            str(apart.cases),
            f"{apart.estimate:+.4g}",
            f"{apart.low:+.4g} … {apart.high:+.4g}",
            f"{apart.p_value:.3g}",
            f"{apart.wilcoxon:.3g}",
        ]
        for first, second, label, measure, apart in found.differences
    ]
    names = ["methods", *(["label"] if labelled else []), "measure"]
    header = [*names, "cases", "difference", "95 %", "p (bootstrap)", "p (Wilcoxon)"]
    return text_table(rows, header, align="l" * len(names) + "r", width=terminal_width(), keep=len(names))


def tell_missing(found: ScoreRun, rule: str) -> int:
    """Say which cases have no prediction or no truth; return the exit status."""
    from edgecritic.cli._output import complain

    if found.without_truth:
        complain(f"no truth for {_some(found.without_truth, 'prediction')}; left out")
    if not found.missing:
        return 0
    meant = {
        "fail": "the values are of the others only; --missing worst counts these as the worst value of every "
        "measure, --missing skip leaves them out on purpose",
        "worst": "counted as the worst value of every measure",
        "skip": "left out, as --missing skip asks",
    }
    complain(f"no prediction for {_some(found.missing, 'case')}: {meant[rule]}")
    return 1 if rule == "fail" else 0


def tell_absent(found: ScoreRun) -> None:
    """Say which labels are in neither map of a case and have no value there."""
    from edgecritic.cli._output import complain

    where: dict[str, list[str]] = {}
    for name, case in found.cases.items():
        for one in case.maps:
            if one.absent:
                where.setdefault(str(one.label), []).append(name)
    for label, names in where.items():
        complain(
            f"label {label} is in neither map of {_some(names, 'case')}: left out of the means; "
            "--absent value takes what measures declare for two empty maps"
        )


def tell_empty(found: ScoreRun, rule: str) -> None:
    """Say which cases have an empty map, and what that means for the means."""
    from edgecritic.cli._output import complain

    empty = [
        f"{name}{f' label {one.label}' if one.label else ''} ({one.empty})"
        for name, case in found.cases.items()
        for one in case.maps
        if one.empty and not one.absent and not case.missing
    ]
    if not empty:
        return
    more = f", … {len(empty) - 5} more" if len(empty) > 5 else ""
    meant = (
        "measures have the values of their table of empty cases; where both are empty, none"
        if rule == "nan"
        else "measures have the values of their table of empty cases; --empty nan leaves out the empty pairs"
    )
    complain(f"empty: {', '.join(empty[:5])}{more}: {meant}")


def number(value: float) -> str:
    """Return a value with a few digits, a dash where there is none."""
    return "–" if math.isnan(value) else f"{value:.5g}"


def _some(names: Sequence[Any], what: str) -> str:
    from edgecritic.datasets.layouts.base import some

    return f"{len(names)} {what}{'s' if len(names) != 1 else ''} ({some(tuple(names), 10)})"
