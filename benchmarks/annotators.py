"""Annotators and the inter-class experiment: published shares, and how long whole splits take.

python benchmarks/annotators.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bars import Bar, data_root, seconds
from edgecritic.datasets.cases import find_cases
from edgecritic.run.annotators import run_annotators
from edgecritic.run.matching import make_plan, study_parts

PART = "annotators"


def bars(data: Path, *, quick: bool = False) -> Iterator[Bar]:
    truth = data / "bsds500/groundTruth"
    split = "val" if quick else None
    found = []
    run_annotators(data / "bsds_bench/groundTruth", jobs=2)
    spent = seconds(lambda: found.append(run_annotators(truth, split=split, jobs=2).results))
    orphan, consensus = (100 * found[0][key] for key in ("orphan_share", "consensus_share"))
    if not quick:
        yield Bar(
            PART,
            "orphan and consensus share of BSDS500 train+val",
            f"{orphan:.2f} % / {consensus:.2f} %",
            "29.40 % / 28.99 % within 0.15 points",
            abs(orphan - 29.40) <= 0.15 and abs(consensus - 28.99) <= 0.15,
        )
    yield Bar(
        PART,
        f"annotator analysis of {found[0]['images']} images, {found[0]['maps']} maps, 2 jobs",
        f"{spent:.1f} s",
        "≤ 15 s",
        spent <= 15,
    )
    cases = find_cases(None, truth, split="val").cases
    plan = make_plan(study_parts(cases, inter=None, canny=0))
    yield Bar(
        PART,
        "inter-class comparison, 12 matchings a pair, with loading",
        f"{plan.pairs_per_second:.0f} pairs per second",
        "≥ 60",
        plan.pairs_per_second >= 60,
    )


if __name__ == "__main__":
    for bar in bars(data_root()):
        print(bar)
