"""Annotators and studies: the published figures, and how long whole splits take."""

from __future__ import annotations

import functools
import itertools
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bars import Figure, Given, check, child, seconds
from edgecritic.annotators import strength
from edgecritic.datasets.cases import Case, find_cases
from edgecritic.protocols import human_counts, human_level
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.human import HumanLevel
from edgecritic.run.annotators import run_annotators
from edgecritic.run.executor import run_tasks
from edgecritic.run.matching import combine_parts, make_plan, run_parts, study_parts
from edgecritic.run.pairing import run_pairing
from edgecritic.studies.pairing import PairingAccuracy
from edgecritic.studies.pairs import STRATEGIES, TOLERANCES

PART = "annotators"
ALL_MAPS = 2696
"""Maps of the whole BSDS500; the full inter-class experiment compares each with every other."""
STUDIES = ("matching", "pairing", "complexity", "labels", "noise", "displacement")


@check(
    PART,
    ("orphan and consensus share of BSDS500 train+val", "29.40 % / 28.99 % within 0.15 points"),
    ("annotator analysis of those 300 images, two cores", "≤ 15 s"),
    needs=("bsds500",),
)
def whole_split(given: Given) -> Iterator[Figure]:
    truth = given.data / "bsds500/groundTruth"
    run_annotators(truth / "val", jobs=2)
    start = time.perf_counter()
    found = run_annotators(truth, jobs=2).results
    spent = time.perf_counter() - start
    orphan, consensus = (100 * found[key] for key in ("orphan_share", "consensus_share"))
    near = abs(orphan - 29.40) <= 0.15 and abs(consensus - 28.99) <= 0.15
    yield Figure(f"{orphan:.2f} % / {consensus:.2f} %", near)
    yield Figure(f"{spent:.1f} s, {found['images']} images, {found['maps']} maps", spent <= 15)


@check(PART, ("human level of those 300 images, two cores, with reading", "≤ 2.5 s"), needs=("bsds500",))
def level(given: Given) -> Iterator[Figure]:
    """The shortest of some runs; nothing is taken from a cache."""
    cases = find_cases(None, given.data / "bsds500/groundTruth").cases

    def human() -> HumanLevel | None:
        return human_level(run_tasks(_human_counts, cases, jobs=2))

    found = human()
    spent = min(seconds(human) for _ in range(given.size(1, 3)))
    yield Figure(f"{spent:.2f} s, {found.images} images, F {found.f:.4f}", spent <= 2.5)


def _human_counts(case: Case) -> Counts:
    truths = case.load_truths()
    if len(truths) == 1:
        return human_counts(truths)
    return strength(truths).human_counts()


@check(
    PART,
    (
        "intra-class Pearson of F, all strategy pairs, val, t = 2.5, 5, 10",
        "> .95, falling with t, area–exact lowest",
    ),
    ("their Equal-Sorting Ratio", "> .75"),
    needs=("bsds500",),
)
def correlations(given: Given) -> Iterator[Figure]:
    cases = find_cases(None, given.data / "bsds500/groundTruth", split="val").cases
    parts = study_parts(cases[: given.size(40, 100)], inter=0, canny=0)
    (study,) = combine_parts(parts, run_parts(parts, jobs=2)[0])
    rows = [row for row in study.results if row.kind == "intra"]
    by = {(row.first, row.second, row.tolerance): row.pearson for row in rows}
    pairs = list(itertools.combinations(STRATEGIES, 2))
    least = {t: min((by[*pair, t], "–".join(pair)) for pair in pairs) for t in TOLERANCES}
    falling = sum(
        all(by[*pair, a] >= by[*pair, b] for a, b in itertools.pairwise(TOLERANCES)) for pair in pairs
    )
    lowest = ", ".join(f"{value:.3f} ({pair}) at {t:g}" for t, (value, pair) in least.items())
    yield Figure(
        f"lowest {lowest}; falling in {falling} of {len(pairs)} pairs",
        min(least.values())[0] > 0.95 and falling == len(pairs) and min(least.values())[1] == "area–exact",
    )
    ratio = min(row.sortings.ratio for row in rows)
    yield Figure(f"lowest {ratio:.3f}", ratio > 0.75)


PAIRED = "EPS ≥ .98 at every size; EPS > closest > PFOM at the smallest"


def pairing(kind: str, given: Given) -> Figure:
    """Judge one kind of sub-images by the published order."""
    data = given.data / "mni152" if kind == "mni152" else None
    study = run_pairing(data, samples=given.size(60, 200), points=(), slabs=(), jobs=2)
    found: PairingAccuracy = next(one for one in study.accuracy if one.data == kind)
    eps = min(row[found.methods.index("eps")] for row in found.pearson)
    first = dict(zip(found.methods, found.pearson[0], strict=True))
    words = " > ".join(f"{name} {first[name]:.3f}" for name in ("eps", "closest", "fom"))
    text = f"EPS lowest {eps:.3f}; at {found.sides[0]} px {words}; {min(found.samples)} samples each"
    return Figure(text, eps >= 0.98 and first["eps"] > first["closest"] > first["fom"])


@check(PART, ("pairing accuracy against Hungarian, synthetic sub-images", PAIRED))
def synthetic_pairing(given: Given) -> Iterator[Figure]:
    yield pairing("synthetic", given)


@check(PART, ("pairing accuracy against Hungarian, slices of mni152", PAIRED), needs=("mni152", "nibabel"))
def brain_pairing(given: Given) -> Iterator[Figure]:
    yield pairing("mni152", given)


@check(
    PART,
    ("inter-class comparison, 12 matchings a pair, with loading", "≥ 600 pairs/s on a core"),
    needs=("bsds500",),
)
def across_images(given: Given) -> Iterator[Figure]:
    cases = find_cases(None, given.data / "bsds500/groundTruth", split="val").cases
    speed = make_plan(study_parts(cases, inter=None, canny=0)).pairs_per_second
    hours = ALL_MAPS * (ALL_MAPS - 1) / 2 / speed / 3600
    yield Figure(f"{speed:.0f} pairs/s; all of BSDS500 would take {hours:.1f} core-hours", speed >= 600)


@check(
    PART,
    ("every study with its small default, figures included", "≤ 60 s each"),
    needs=("matplotlib", "time"),
)
def studies(given: Given) -> Iterator[Figure]:
    del given
    with tempfile.TemporaryDirectory() as folder:
        run = functools.partial(child, "-m", "edgecritic", "study", cwd=Path(folder))
        spent = {name: run(name, "--out", name)[0] for name in STUDIES}
    yield Figure(", ".join(f"{name} {took:.0f} s" for name, took in spent.items()), max(spent.values()) <= 60)
