"""What the survey of boundary matching says beside what the matching study found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from edgecritic.report.matching_figures import TITLES, WHERE
from edgecritic.studies.claims import Claim, claim, claim_of_order
from edgecritic.studies.matching import STRATEGY_PAIRS, MatchingStudy
from edgecritic.studies.pairs import STRATEGIES
from edgecritic.studies.sorting import RARE
from edgecritic.studies.triplets import PUBLISHED, Triplet

__all__ = ["matching_claims"]


def matching_claims(studies: Sequence[MatchingStudy], triplets: Sequence[Triplet] = ()) -> list[Claim]:
    """Return what the survey says of human and of Canny maps beside what was found."""
    by = {study.maps: study for study in studies}
    claims = []
    if "human" in by:
        claims += _human_claims(by["human"])
    if "canny" in by:
        claims += _canny_claims(by["canny"])
    if {"human", "canny"} <= set(by):
        values = {TITLES[name]: _mean_ratio(by[name], kind="intra") for name in ("human", "canny")}
        claims.append(
            claim_of_order(
                "mean ESR within images", list(values), values, source="Fig. 4b: lower than Fig. 2"
            )
        )
    for one in triplets:
        if (one.reference, one.candidates) == PUBLISHED and one.tolerance == 5:
            claims.append(
                claim(
                    f"sorting margin of {one.reference}, Canny (1,1) and (2,3), distance–exact, t = 5",
                    "−.094",
                    one.margin("distance", "exact"),
                    source="Figs. 6 and 7",
                    why="its Canny maps are not published; ours have the printed scales",
                )
            )
    return claims


def _human_claims(study: MatchingStudy) -> list[Claim]:
    maps = TITLES["human"]
    ratio = {t: _mean_ratio(study, tolerance=t) for t in _tolerances(study)}
    r = {
        f"t = {t:g}": _mean([row.pearson for row in study.results if row.tolerance == t])
        for t in _tolerances(study)
    }
    by_pair = {
        (i, j): _mean(
            [
                row.pearson
                for row in study.results
                if (row.first, row.second) == (STRATEGIES[i], STRATEGIES[j])
            ]
        )
        for i, j in STRATEGY_PAIRS
    }
    named = by_pair.pop((STRATEGIES.index("area"), STRATEGIES.index("exact")))
    others = [value for value in by_pair.values() if value is not None]
    return [
        claim(f"lowest r, {maps}", "> .95", _least_r(study), source="Fig. 1"),
        claim_of_order(f"mean r over the tolerance, {maps}", list(r), r, source="Fig. 1"),
        claim_of_order(
            f"lowest mean r of a pair of strategies, {maps}",
            ["the other pairs", "area–exact"],
            {"the other pairs": min(others, default=None), "area–exact": named},
            source="Fig. 1: AbM–CbM slightly lower",
        ),
        claim(f"lowest ESR, {maps}", "> .75", _least_ratio(study), source="Sec. 4, apart from exceptions"),
        claim_of_order(
            f"mean ESR over the tolerance, {maps}",
            [f"t = {t:g}" for t in ratio],
            {f"t = {t:g}": value for t, value in ratio.items()},
            source="Fig. 2",
        ),
    ]


def _canny_claims(study: MatchingStudy) -> list[Claim]:
    maps = TITLES["canny"]
    named = study.margins.get(("distance", "exact", 5.0, "intra"), {})
    what = "2.5-percentile of the sorting margin, exact–distance, t = 5, over"
    inside = {key: one for key, one in study.margins.items() if key[3] == "intra"}
    worst = max((one["rare"] for one in inside.values() if one["rare"] is not None), default=None)
    medians = {
        kind: _mean([_size(one) for key, one in study.margins.items() if key[3] == kind]) for kind in WHERE
    }
    by_reach = {
        f"t = {t:g}": _mean([_size(one) for key, one in inside.items() if key[2] == t])
        for t in reversed(_tolerances(study))
    }
    return [
        claim(f"lowest r, {maps}", "> .9", _least_r(study), source="Fig. 4a, apart from exceptions"),
        claim(f"lowest ESR, {maps}", "> .75", _least_ratio(study), source="Fig. 4b, apart from exceptions"),
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
        claim_of_order(
            "median size of the margins of missorted triplets, across and within images",
            ["inter", "intra"],
            medians,
            source="p. 14",
        ),
        claim_of_order(
            "median size of the margins of missorted triplets, within images",
            list(by_reach),
            by_reach,
            source="p. 14: larger with t",
        ),
    ]


def _size(found: Mapping[str, Any]) -> float | None:
    return None if found["missorted_median"] is None else -float(found["missorted_median"])


def _tolerances(study: MatchingStudy) -> list[float]:
    return sorted({row.tolerance for row in study.results})


def _least_r(study: MatchingStudy) -> float | None:
    return min((row.pearson for row in study.results if row.pearson is not None), default=None)


def _ratios(study: MatchingStudy, *, kind: str | None = None, tolerance: float | None = None) -> list[float]:
    return [
        row.sortings.ratio
        for row in study.results
        if row.sortings.ratio is not None and kind in (None, row.kind) and tolerance in (None, row.tolerance)
    ]


def _least_ratio(study: MatchingStudy) -> float | None:
    return min(_ratios(study), default=None)


def _mean_ratio(study: MatchingStudy, **which: Any) -> float | None:
    return _mean(_ratios(study, **which))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
