"""The report of the matching study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from edgecritic.datasets.cases import Case
from edgecritic.errors import InputError
from edgecritic.figures import COLOURS
from edgecritic.inputs import BoolArray
from edgecritic.matching import match
from edgecritic.report.claims import claims_table
from edgecritic.report.sections import Figure, Report, Table, draw, study_report
from edgecritic.studies.blocks import Source
from edgecritic.studies.claims import Claim, claim
from edgecritic.studies.matching import STRATEGY_PAIRS, MatchingStudy
from edgecritic.studies.pairs import STRATEGIES
from edgecritic.studies.sorting import RARE

__all__ = ["matching_claims", "matching_report", "triplet_figure"]

_PAPER = "the survey of boundary matching"

_TITLES = {"human": "human maps", "canny": "human against Canny maps"}


def matching_report(
    studies: Sequence[MatchingStudy],
    *,
    figures: Sequence[Figure] = (),
    notes: Sequence[str] = (),
    problems: Sequence[str] = (),
) -> Report:
    """Make text, tables and figures of the study; `notes` say what was left out on purpose."""
    findings = [line for study in studies for line in _findings(study)]
    facts = []
    for study in studies:
        for kind in ("intra", "inter"):
            one = next((row for row in study.results if row.kind == kind and row.pairs), None)
            if one is not None:
                facts.append(
                    (f"{study.maps}, {kind}", f"{one.pairs:,} pairs, {one.sortings.triplets:,} triplets")
                )
    facts += [("note", note) for note in notes]
    return study_report(
        "Does the matching strategy matter?",
        tuple(findings),
        facts=tuple(facts),
        tables=(
            claims_table([one for study in studies for one in matching_claims(study)], paper=_PAPER),
            *(_table(study) for study in studies),
            *(_margin_table(study) for study in studies),
        ),
        figures=tuple(figures),
        problems=tuple(problems),
    )


def matching_figures(studies: Sequence[MatchingStudy]) -> list[Figure]:
    """Draw correlations, Equal-Sorting Ratios and Sorting Margins."""
    return [
        _lines(studies, "pearson", "Pearson's r", "Correlation of F between strategies"),
        _lines(studies, "esr", "Equal-Sorting Ratio", "How often two strategies sort alike"),
        *(_margins(study) for study in studies),
    ]


def triplet_figure(
    cases: Sequence[Case], reference: str, candidates: Sequence[str], *, tolerance: float
) -> Figure:
    """Draw two candidates against one reference under all strategies.

    Maps are named ``image#number`` or ``image#canny(1,2)``.
    """
    truth = _map(cases, reference)
    found = [(name, _map(cases, name)) for name in candidates]

    def paint(figure: Any) -> None:
        axes = figure.subplots(len(found), len(STRATEGIES), squeeze=False)
        for row, (name, candidate) in zip(axes, found, strict=True):
            for axis, strategy in zip(row, STRATEGIES, strict=True):
                result = match(candidate, truth, strategy=strategy, tolerance=tolerance)
                axis.imshow(result.overlay(), interpolation="nearest")
                axis.set_title(f"{strategy}: F {result.f():.3f}", fontsize=8)
                axis.set_xticks([])
                axis.set_yticks([])
            row[0].set_ylabel(name, fontsize=8)

    return draw(
        "triplet",
        f"Two candidates against {reference} under all strategies",
        f"Hits green, false alarms orange, misses blue; tolerance {tolerance:g} px. Strategies that sort the "
        "two oppositely have their larger F in different rows.",
        paint,
        size=(11, 2.15 * len(found) + 0.3),
        kinds=("png",),
    )


def _findings(study: MatchingStudy) -> list[str]:
    lines = []
    for kind in ("intra", "inter"):
        rows = [row for row in study.results if row.kind == kind and row.pearson is not None]
        if not rows:
            continue
        least = min(rows, key=lambda row: row.pearson or 0.0)
        sorted_rows = [row for row in rows if row.sortings.ratio is not None]
        line = (
            f"{_TITLES[study.maps]}, {kind}-class: Pearson's r is at least {least.pearson:.3f} "
            f"({least.first}–{least.second}, t = {least.tolerance:g})"
        )
        if sorted_rows:
            worst = min(sorted_rows, key=lambda row: row.sortings.ratio or 0.0)
            line += (
                f"; two strategies sort at least {worst.sortings.ratio:.1%} of the triplets alike "
                f"({worst.first}–{worst.second}, t = {worst.tolerance:g})"
            )
        lines.append(line + ".")
    known = [(key, one["percentile_2_5"]) for key, one in study.margins.items() if one["triplets"]]
    if known:
        (first, second, tolerance), value = min(known, key=lambda pair: pair[1])
        found = study.margins[first, second, tolerance]
        lines.append(
            f"{_TITLES[study.maps]}: the lowest 2.5-percentile of the sorting margin is {value:.3f} "
            f"({first}–{second}, t = {tolerance:g}); of all triplets {found['rare']:.2%} have a margin below "
            f"{RARE:g}{_missorted(found)}."
        )
    return lines


def _missorted(found: Mapping[str, Any]) -> str:
    """Say how far apart the scores are where two strategies sort oppositely."""
    if not found["missorted"]:
        return ", none is sorted oppositely"
    return (
        f", {found['missorted']:,} are sorted oppositely, with a median margin of "
        f"{found['missorted_median']:.3f}, a 2.5-percentile of {found['missorted_percentile_2_5']:.3f} and "
        f"a least one of {found['least']:.3f}"
    )


def matching_claims(study: MatchingStudy) -> list[Claim]:
    """Return what the survey says of such maps beside what was found."""
    rows = [row for row in study.results if row.pearson is not None]
    least_r = min((row.pearson for row in rows if row.pearson is not None), default=None)
    ratios = [row.sortings.ratio for row in study.results if row.sortings.ratio is not None]
    maps = _TITLES[study.maps]
    if study.maps == "canny":
        return [
            claim(f"lowest r, {maps}", "> .9", least_r, source="Fig. 4a, apart from exceptions"),
            claim(
                f"lowest ESR, {maps}",
                "> .75",
                min(ratios, default=None),
                source="Fig. 4b, apart from exceptions",
            ),
        ]
    named = study.margins.get(("distance", "exact", 5.0), {})
    what = "2.5-percentile of the sorting margin, exact–distance, t = 5, over"
    worst = max((one["rare"] for one in study.margins.values() if one["rare"] is not None), default=None)
    return [
        claim(f"lowest r, {maps}", "> .95", least_r, source="Fig. 1"),
        claim(f"{what} all triplets", "−.049", named.get("percentile_2_5"), source="Fig. 5"),
        claim(
            f"{what} those sorted oppositely",
            "−.049",
            named.get("missorted_percentile_2_5"),
            source="Fig. 5; the paper does not say which triplets are meant",
        ),
        claim(
            f"largest share of triplets with a margin below {RARE:g}",
            "< 2.5 %",
            worst,
            source="Fig. 5: “rarely”, taken as less than one in forty",
        ),
    ]


def _table(study: MatchingStudy) -> Table:
    tolerances = sorted({row.tolerance for row in study.results})
    by = {(row.first, row.second, row.tolerance, row.kind): row for row in study.results}
    rows = []
    for i, j in STRATEGY_PAIRS:
        for kind in ("intra", "inter"):
            cells: list[Any] = [f"{STRATEGIES[i]}–{STRATEGIES[j]}, {kind}"]
            for tolerance in tolerances:
                one = by[STRATEGIES[i], STRATEGIES[j], tolerance, kind]
                cells += [one.pearson, one.sortings.ratio]
            rows.append(tuple(cells))
    heads = [f"{what}, t = {tolerance:g}" for tolerance in tolerances for what in ("r", "ESR")]
    return Table(
        name=f"strategies-{study.maps}",
        title=f"Correlation and Equal-Sorting Ratio, {_TITLES[study.maps]}",
        header=("strategies", *heads),
        body=tuple(rows),
        note="r: Pearson's correlation of F over pairs of maps. ESR: share of triplets (reference and two "
        "candidates) that both strategies sort alike. intra: maps of one image; inter: of different images.",
    )


def _margin_table(study: MatchingStudy) -> Table:
    rows = tuple(
        (
            f"{first}–{second}",
            tolerance,
            found["triplets"],
            found["missorted"],
            found["percentile_2_5"],
            found["missorted_percentile_2_5"],
            found["least"],
        )
        for (first, second, tolerance), found in study.margins.items()
    )
    return Table(
        name=f"margins-{study.maps}",
        title=f"Sorting margins within images, {_TITLES[study.maps]}",
        header=("strategies", "t", "triplets", "missorted", "2.5 % of all", "2.5 % of missorted", "least"),
        body=rows,
        note="The margin of a triplet is the signed root of the product of both differences of F; below 0 "
        "the two strategies sort it oppositely.",
    )


def _lines(studies: Sequence[MatchingStudy], key: str, label: str, title: str) -> Figure:
    def paint(figure: Any) -> None:
        axes = figure.subplots(1, 2 * len(studies), sharey=True, squeeze=False)[0]
        for place, axis in enumerate(axes):
            study, kind = studies[place // 2], ("intra", "inter")[place % 2]
            study.plot(axis, what=key, kind=kind)
        axes[0].set_ylabel(label)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False)

    return draw(
        key,
        title,
        f"{label} for all pairs of strategies over the tolerance.",
        paint,
        size=(3.2 * len(studies) + 5.2, 3.4),
    )


def _margins(study: MatchingStudy) -> Figure:
    def paint(figure: Any) -> None:
        tolerances = sorted({row.tolerance for row in study.results})
        axes = figure.subplots(1, len(tolerances), sharey=True, squeeze=False)[0]
        for axis, tolerance in zip(axes, tolerances, strict=True):
            for number, (i, j) in enumerate(STRATEGY_PAIRS):
                found = study.margins[STRATEGIES[i], STRATEGIES[j], tolerance]
                counts = np.array([*found["counts"], 0], dtype=float) / max(found["triplets"], 1)
                edges = -found["bin"] * np.arange(counts.size + 1)
                label = f"{STRATEGIES[i]}–{STRATEGIES[j]}"
                axis.stairs(counts[::-1], edges[::-1], color=COLOURS[number], label=label, linewidth=1.4)
            axis.set_title(f"t = {tolerance:g}", fontsize=9)
            axis.set_xlabel("sorting margin")
            axis.set_yscale("symlog", linthresh=1e-3)
            axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axis.minorticks_off()
        axes[0].set_ylabel("share of triplets")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False)

    return draw(
        f"margins-{study.maps}",
        f"Sorting margins below 0, {_TITLES[study.maps]}",
        "Triplets within images that two strategies sort oppositely, by the size of the disagreement.",
        paint,
        size=(10.5, 3.2),
    )


def _map(cases: Sequence[Case], name: str) -> BoolArray:
    image, _, number = name.rpartition("#")
    case = next((one for one in cases if one.id == image), None)
    if case is None:
        raise InputError(f"no image is called {image!r}; maps are named IMAGE#NUMBER or IMAGE#canny(1,2)")
    maps = Source.of(case, kind="canny" if number.startswith("canny") else "human").load()
    if name not in maps:
        raise InputError(f"{image} has no map {number!r}; it has {', '.join(maps)}")
    return maps[name]
