"""The lesions of a run of scores: a table of all of them, and how many are found by their volume."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from edgecritic.datasets.cases import find_cases
from edgecritic.errors import EdgeCriticError
from edgecritic.ids import Id
from edgecritic.measures import measures
from edgecritic.measures.lesions import Lesions, evaluate
from edgecritic.report.sections import Content, Section, Table
from edgecritic.run.score_files import ScoreSettings, read_pair
from edgecritic.run.score_results import ScoreRun

__all__ = ["LesionsOf", "lesion_rows", "lesion_section", "lesions_of_runs"]

LesionsOf = tuple[str, str, str, Lesions]
"""Method, case, label, and the lesions of that map by one rule."""


def lesions_of_runs(
    runs: Mapping[str, ScoreRun],
    folders: Mapping[str, tuple[Path, str | Path]],
    settings: ScoreSettings,
    *,
    split: str | None = None,
) -> list[LesionsOf]:
    """Return the lesions of every map by every rule that a measure of the run names; none if none does."""
    ids = settings.measures or next(iter(runs.values())).measures
    found: list[LesionsOf] = []
    for name, (place, truth) in folders.items() if _rules(ids) else ():
        cases = {case.id: case for case in find_cases(place, truth, split=split, roles=True)}
        for case, scores in runs[name].cases.items():
            for one in scores.maps if case in cases and not scores.missing else ():
                try:
                    pair = read_pair(cases[case], settings, one.label, spacing=scores.spacing)
                except EdgeCriticError:
                    continue
                own = None if one.label is None else one.label.tolerance
                found += [
                    (name, case, str(one.label or ""), evaluate(pair, rule=rule, tolerance=limit))
                    for rule, limit in _rules(ids, settings.tolerance if own is None else own).items()
                ]
    return found


def lesion_rows(found: Sequence[LesionsOf]) -> list[dict[str, Any]]:
    """Return a row per lesion and false alarm."""
    return [
        {"method": method, "case": case, "label": label, "rule": lesions.rule, **row}
        for method, case, label, lesions in found
        for row in lesions.rows()
    ]


def lesion_section(found: Sequence[LesionsOf]) -> Section | None:
    """Return how many lesions are found in strata of volume, by powers of ten."""
    groups: dict[tuple[str, str, str], list[Any]] = {}
    for method, _, label, lesions in found:
        groups.setdefault((method, label, lesions.rule), []).extend(lesions.lesions)
    volumes = [one.volume for group in groups.values() for one in group]
    if not volumes:
        return None
    first, last = math.floor(math.log10(min(volumes))), math.floor(math.log10(max(volumes)))
    edges = [10.0**power for power in range(first + 1, last + 1)] or [10.0 ** (first + 1)]
    rows: list[tuple[Content, ...]] = []
    for (method, label, rule), group in groups.items():
        for name, part in Lesions(rule=rule, lesions=tuple(group)).by_volume(edges).items():
            total = part.tp + part.fn
            share = part.tp / total if total else None
            rows.append((method, label, rule, name, total, part.tp, part.fn, part.fp, share))
    table = Table(
        name="lesions-by-volume",
        title="Lesions by volume, all cases together",
        header=(
            "method",
            "label",
            "rule",
            "volume",
            "lesions",
            "found",
            "missed",
            "false alarms",
            "share found",
        ),
        body=tuple(rows),
        align="llllr",
        note="Volumes are in units of the pixel size. lesions.csv has every lesion. Cases without a "
        "prediction are not among them.",
    )
    return Section(key="lesions", title="Lesions", blocks=(table,))


def _rules(ids: Sequence[str], tolerance: float | None = None) -> dict[str, float]:
    """Return the rules that measures of lesions name, with the tolerance of the surface Dice.

    That is the one which `lesion_nsd` names, else `tolerance`, else 1.
    """
    parsed = [Id.parse(text) for text in ids]
    lesions = [each for each in parsed if each.name in measures.names() and _is_of_lesions(each)]
    found: dict[str, float] = {}
    for each in sorted(lesions, key=lambda one: "tolerance" not in one.options):
        options: dict[str, Any] = {"tolerance": 1 if tolerance is None else tolerance, **each.options}
        rule = str(options.get("rule", measures.get(each.name).parameters["rule"]))
        found.setdefault(rule, float(options["tolerance"]))
    return found


def _is_of_lesions(measure: Id) -> bool:
    return measures.get(measure.name).info.family == "lesions"
