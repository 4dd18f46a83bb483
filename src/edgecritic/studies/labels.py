"""What label strength does to detectors, summed up over detectors and set beside the paper.

After X. Hou, A. Yuille and C. Koch: Boundary detection benchmarking: beyond F-measures (CVPR 2013).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from edgecritic.studies.claims import Claim, claim

__all__ = ["PAPER", "PUBLISHED_SHARES", "compare_data_sets", "label_claims", "mean_drops", "no_better"]

PAPER = "Hou, Yuille & Koch 2013"
PUBLISHED_SHARES: dict[int, tuple[str, str, str | None]] = {
    300: ("Sec. 1.2, BSDS300", "29.40 %", "28.99 %"),
    100: ("Sec. 3, the 100 test images of BSDS300", "31.39 %", None),
    200: ("Sec. 5.2, the 200 new images of BSDS500", "30.58 %", "30.15 %"),
}
"""Orphan and consensus labels, by the number of images; what 31.39 % is about the paper does not say."""
PUBLISHED_RISKS = {"hard": ".5017", "easy": ".1082"}
WEAK = 0.5
"""Correlations below this are called weak; the paper names no limit."""


def mean_drops(strength: Mapping[str, Any]) -> dict[str, float] | None:
    """Return by how much precision, recall and F change from the lowest to the highest strength.

    Each is (last − first) / first at the optima of each detector, the mean over detectors. None if there
    is one strength only.

    Examples
    --------
    >>> ends = ((0, 0.8, 0.6), (1, 0.4, 0.6))
    >>> levels = [dict(strength=s, precision=p, recall=r, f=0.5) for s, p, r in ends]
    >>> mean_drops({"detectors": [{"levels": levels}]})
    {'precision': -0.5, 'recall': 0.0, 'f': 0.0}
    """
    found: dict[str, float] = {}
    for key in ("precision", "recall", "f"):
        ends = [(one["levels"][0], one["levels"][-1]) for one in strength["detectors"]]
        changes = [
            last[key] / first[key] - 1
            for first, last in ends
            if first[key] > 0 and last["strength"] > first["strength"]
        ]
        if changes:
            found[key] = float(np.mean(changes))
    return found or None


def no_better(strength: Mapping[str, Any]) -> float | None:
    """Return the share of detectors whose F at the highest strength does not exceed the control's.

    It exceeds it if it does by more than two standard deviations of the draws. None without several draws.
    """
    judged = [
        one["levels"][-1]["f"] - one["partial"]["f"] <= 2 * one["partial"]["sd"]
        for one in strength["detectors"]
        if one["partial"] is not None and one["partial"]["sd"] is not None
    ]
    return float(np.mean(judged)) if judged else None


def label_claims(
    people: Mapping[str, Any], strength: Mapping[str, Any] | None, risks: Sequence[Mapping[str, Any]] = ()
) -> list[Claim]:
    """Return what the paper says of labels, detectors and forced choice, beside what was found.

    Parameters
    ----------
    people, strength : mapping
        As in ``annotators.json`` and ``strength.json``.
    risks : sequence of mapping
        By mode and detector.
    """
    source, orphans, consensus = PUBLISHED_SHARES.get(people["images"], PUBLISHED_SHARES[300])
    why = (
        ""
        if people["images"] in PUBLISHED_SHARES
        else "another number of images than any that the paper counts"
    )
    found = [claim("orphan labels", orphans, people["orphan_share"], source=source, why=why)]
    if consensus is not None:
        found.append(claim("consensus labels", consensus, people["consensus_share"], source=source, why=why))
    if strength is not None:
        found += _detector_claims(strength)
    for mode, printed in PUBLISHED_RISKS.items():
        own = [one["risk"] for one in risks if one["mode"] == mode]
        mean = float(np.mean(own)) if own else None
        found.append(claim(f"risk, {mode}, mean over detectors", printed, mean, source="Fig. 3"))
    return found


def _detector_claims(strength: Mapping[str, Any]) -> list[Claim]:
    levels = [one["levels"] for one in strength["detectors"]]
    whole = all(rows[0]["strength"] == 0 and rows[-1]["strength"] == 1 for rows in levels)
    drops = (mean_drops(strength) if whole else None) or {}
    number = len(levels)
    why = f"the mean of {number} detector{'s' if number != 1 else ''} here, of nine in the paper"
    rhos = [one["outputs"]["rho"] for one in strength["detectors"] if one["outputs"]["rho"] is not None]
    return [
        claim(
            "precision, all to consensus labels", "−28.7 %", drops.get("precision"), source="Fig. 4", why=why
        ),
        claim("recall, all to consensus labels", "−9 %", drops.get("recall"), source="Fig. 4", why=why),
        claim(
            "detectors that are no better on consensus labels than on the control",
            "100 %",
            no_better(strength) if whole else None,
            source="Figs. 5 and 6",
        ),
        claim(
            "Spearman's ρ of output and label strength",
            f"< {WEAK:g}",
            float(np.mean(rhos)) if rhos else None,
            source="Fig. 7, “rather weak”; the limit is ours",
        ),
    ]


def compare_data_sets(
    first: Mapping[str, Any], second: Mapping[str, Any]
) -> tuple[list[tuple[str, str, float, float, float]], list[Claim]]:
    """Compare F of the detectors that two runs of ``strength.json`` share, on all and on consensus labels.

    Returns
    -------
    rows : list of (detector, labels, F of the first, F of the second, difference)
    claims : list of Claim
        The mean size of the difference and its spread, as Fig. 9 of the paper.
    """
    others = {one["name"]: one for one in second["detectors"]}
    rows = []
    for one in first["detectors"]:
        other = others.get(one["name"])
        if other is None:
            continue
        for place, labels in ((0, "all"), (-1, "consensus")):
            mine, theirs = one["levels"][place], other["levels"][place]
            name = labels if mine["strength"] in (0, 1) else f"strength ≥ {mine['strength']:g}"
            rows.append((one["name"], name, mine["f"], theirs["f"], mine["f"] - theirs["f"]))
    apart = np.array([row[4] for row in rows])
    mean = abs(float(apart.mean())) if apart.size else None
    spread = float(apart.std(ddof=1)) if apart.size > 1 else None
    return rows, [
        claim("difference of F between the data sets, mean", ".028", mean, source="Fig. 9"),
        claim("difference of F between the data sets, standard deviation", ".0058", spread, source="Fig. 9"),
    ]
