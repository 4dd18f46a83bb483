"""The report of the matching study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from edgecritic.report.claims import claims_table
from edgecritic.report.matching_claims import matching_claims
from edgecritic.report.matching_figures import TITLES, WHERE
from edgecritic.report.sections import Content, Figure, Report, Table, study_report
from edgecritic.studies.advice import advice, ranking_text
from edgecritic.studies.claims import count_claims
from edgecritic.studies.closer import FIVE, PAIRED, CloserLook
from edgecritic.studies.matching import MOST_MARGINS, STRATEGY_PAIRS, MatchingStudy
from edgecritic.studies.pairs import STRATEGIES
from edgecritic.studies.sorting import RARE
from edgecritic.studies.triplets import Triplet

__all__ = ["matching_report"]

_PAPER = "the survey of boundary matching"


def matching_report(
    studies: Sequence[MatchingStudy],
    *,
    looks: Sequence[CloserLook] = (),
    triplets: Sequence[Triplet] = (),
    figures: Sequence[Figure] = (),
    notes: Sequence[str] = (),
    problems: Sequence[str] = (),
) -> Report:
    """Make text, tables and figures of the study; `notes` say what was left out on purpose."""
    findings = [line for study in studies for line in _findings(study)]
    findings += [_told(triplet) for triplet in triplets]
    findings += _advice(studies, looks)
    claims = matching_claims(studies, triplets)
    if claims:
        findings.append(count_claims(claims))
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
            *([claims_table(claims, paper=_PAPER)] if claims else []),
            *(_ranking(study) for study in studies if study.ranking),
            *(_table(study) for study in studies),
            *(_margin_table(study) for study in studies),
            *([_closer(looks)] if looks else []),
        ),
        figures=tuple(figures),
        problems=tuple(problems),
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
            f"{TITLES[study.maps]}, {kind}-class: Pearson's r is at least {least.pearson:.3f} "
            f"({least.first}–{least.second}, t = {least.tolerance:g})"
        )
        if sorted_rows:
            worst = min(sorted_rows, key=lambda row: row.sortings.ratio or 0.0)
            line += (
                f"; two strategies sort at least {worst.sortings.ratio:.1%} of the triplets alike "
                f"({worst.first}–{worst.second}, t = {worst.tolerance:g})"
            )
        lines.append(line + ".")
    for kind, where in WHERE.items():
        known = {
            key: one
            for key, one in study.margins.items()
            if key[3] == kind and one["percentile_2_5"] is not None
        }
        if known:
            (first, second, tolerance, _), found = min(
                known.items(), key=lambda item: float(item[1]["percentile_2_5"])
            )
            lines.append(
                f"{TITLES[study.maps]}, {where}: the lowest 2.5-percentile of the sorting margin is "
                f"{found['percentile_2_5']:.3f} ({first}–{second}, t = {tolerance:g}); of all triplets "
                f"{found['rare']:.2%} have a margin below {RARE:g}{_missorted(found)}."
            )
    return [*lines, *(ranking_text(study.ranking) if study.maps == "own" else [])]


def _advice(studies: Sequence[MatchingStudy], looks: Sequence[CloserLook]) -> list[str]:
    """Return advice for the user's maps, or else for those of Canny, or of people."""
    by = {look.maps: look for look in looks}
    look = next((by[maps] for maps in ("own", "canny", "human") if maps in by), None)
    if look is None:
        return []
    ranking = next((study.ranking for study in studies if study.maps == look.maps == "own"), {})
    return [f"{TITLES[look.maps]}, t = {look.tolerance:g}: {line}" for line in advice(look, ranking)]


def _told(triplet: Triplet) -> str:
    """Say how two strategies sort a triplet, those with the least margin."""
    (first, second), least = min(triplet.margins.items(), key=lambda item: item[1])
    one, two = ([each.f() for each in triplet.matchings[name]] for name in (first, second))
    way = "oppositely" if least < 0 else "alike"
    return (
        f"{triplet.reference} with {' and '.join(triplet.candidates)}, t = {triplet.tolerance:g}: F is "
        f"{one[0]:.3f} and {one[1]:.3f} by {first}, {two[0]:.3f} and {two[1]:.3f} by {second}. They sort "
        f"them {way}, with the least Sorting Margin of all pairs of strategies ({least:.4f})."
    )


def _missorted(found: Mapping[str, Any]) -> str:
    """Say how far apart the scores are where two strategies sort oppositely."""
    if not found["missorted"]:
        return ", none is sorted oppositely"
    return (
        f", {found['missorted']:,} are sorted oppositely, with a median margin of "
        f"{found['missorted_median']:.3f}, a 2.5-percentile of {found['missorted_percentile_2_5']:.3f} and "
        f"a least one of {found['least']:.3f}"
    )


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
        title=f"Correlation and Equal-Sorting Ratio, {TITLES[study.maps]}",
        header=("strategies", *heads),
        body=tuple(rows),
        note="r: Pearson's correlation of F over pairs of maps. ESR: share of triplets (reference and two "
        "candidates) that both strategies sort alike. intra: maps of one image; inter: of different images.",
    )


def _margin_table(study: MatchingStudy) -> Table:
    rows = tuple(
        (
            f"{first}–{second}",
            kind,
            tolerance,
            found["triplets"],
            found["missorted"],
            found["percentile_2_5"],
            found["missorted_percentile_2_5"],
            found["least"],
        )
        for (first, second, tolerance, kind), found in study.margins.items()
        if found["triplets"]
    )
    return Table(
        name=f"margins-{study.maps}",
        title=f"Sorting margins, {TITLES[study.maps]}",
        header=(
            *("strategies", "kind", "t", "triplets", "missorted", "2.5 % of all", "2.5 % of missorted"),
            "least",
        ),
        body=rows,
        align="llr",
        digits=3,
        note="The margin of a triplet is the signed root of the product of both differences of F; below 0 "
        "the two strategies sort it oppositely. Percentiles are over all triplets, and over those sorted "
        f"oppositely. Of more than {MOST_MARGINS:,} triplets about so many are drawn for this table.",
    )


def _ranking(study: MatchingStudy) -> Table:
    names = list(next(iter(study.ranking.values())))
    rows: list[tuple[Content, ...]] = []
    for (strategy, tolerance), scores in sorted(study.ranking.items(), key=lambda item: item[0][1]):
        order = sorted(names, key=lambda name: -scores[name])
        rows.append((strategy, tolerance, *(scores[name] for name in names), " > ".join(order)))
    return Table(
        name=f"ranking-{study.maps}",
        title=f"Mean F and ranking by strategy, {TITLES[study.maps]}",
        header=("strategy", "t", *names, "ranking"),
        body=tuple(rows),
        digits=3,
        align="lr" + "r" * len(names) + "l",
        note="F of a map is the mean over its truths, that of a detector the mean over images.",
    )


def _closer(looks: Sequence[CloserLook]) -> Table:
    def row(what: str, values: Sequence[float | None]) -> tuple[Any, ...]:
        return (what, *values)

    rows = [
        row("pairs of maps", [look.pairs for look in looks]),
        row("second answers (share of pixels)", [look.doubled for look in looks]),
        row("stray pixels (share)", [look.stray for look in looks]),
        row("mean displacement, px", [look.displacement for look in looks]),
        *(row(f"mean F, {name}", [look.f[name] for look in looks]) for name in FIVE),
        *(row(f"r of F, coherent–{name}", [look.pearson[name] for look in looks]) for name in STRATEGIES),
        *(row(f"ESR, coherent–{name}", [look.esr[name] for look in looks]) for name in STRATEGIES),
        *(row(f"coherence, {name}, px", [look.coherence[name] for look in looks]) for name in PAIRED),
        *(row(f"jumps, {name} (share)", [look.jumps[name] for look in looks]) for name in PAIRED),
    ]
    return Table(
        name="closer",
        title="A closer look, and the coherent strategy beside the four",
        header=("", *(f"{TITLES[look.maps]}, t = {look.tolerance:g}" for look in looks)),
        body=tuple(rows),
        digits=3,
        note="Each image's first human map is the reference. Second answers are hits by distance without a "
        "partner by exact, stray pixels have no reference within t. Coherence is the mean difference of the "
        "offsets of neighbouring matched pixels, jumps the share that differ by more than 2 px; windows of "
        "eps and closest reach ⌊t⌋.",
    )
