"""The report on truths that were estimated from the maps of detectors."""

from __future__ import annotations

from collections import Counter

from edgecritic.report.sections import Report, Table, study_report
from edgecritic.run.consensus import ConsensusRun

__all__ = ["consensus_report"]


def consensus_report(run: ConsensusRun) -> Report:
    """Make text and tables of estimated truths and of the ranking by them."""
    order = run.ranking()
    by_coherence = sorted(order, key=lambda row: (-row[2], row[0]))
    number = len(run.images)
    findings = [f"{order[0][0]} agrees best with the estimated truths: mean χ² {order[0][1]:.3f}."]
    if by_coherence[0][0] != order[0][0]:
        name, _, coherence, _ = by_coherence[0]
        findings.append(f"By edge coherence, which needs no estimate, {name} is first ({coherence:.3f}).")
    levels = Counter(row["level"] or row["chosen"] for row in run.images)
    common, times = levels.most_common(1)[0]
    what = "pixels of at least {} maps are edges" if isinstance(common, int) else "the map of {} is taken"
    findings.append(f"In {times} of {number} images {what.format(common)}.")
    ranking = Table(
        name="ranking",
        title="Agreement with the estimated truths",
        header=("maps", "mean χ²", "edge coherence", "best of its image"),
        body=tuple(order),
        note="χ² of Yitzhaky and Peli; coherence of Kitchen and Rosenfeld. An estimate cannot tell what all "
        "maps miss: it ranks detectors by how far they agree with each other.",
    )
    images = Table(
        name="images",
        title="Images",
        header=("image", "votes needed", "map chosen", "edge pixels", "best map"),
        body=tuple(
            (row["image"], row["level"], row["chosen"], row["pixels"], row["best"]) for row in run.images
        ),
        most=20,
        align="lrlrl",
    )
    return study_report(
        "Estimated truth",
        findings,
        facts=(("method", run.method), ("maps", ", ".join(run.detectors)), ("images", str(number))),
        tables=(ranking, images),
        problems=[str(one) for one in run.failures],
    )
