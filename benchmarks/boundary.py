"""The boundary benchmark beside the reference program: the same counts, sooner."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from bars import Figure, Given, best, boundaries, check, seconds, ucm
from edgecritic import Benchmark, get_protocol, sweep
from edgecritic.datasets.files import read_candidates, read_strength
from edgecritic.protocols import human_counts, human_level
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.summary import Summary, summarise
from edgecritic.protocols.sweep import sweep_maps

PART = "boundary"


def golden_images(data: Path, kind: str) -> dict[str, tuple[np.ndarray, list[np.ndarray], np.ndarray]]:
    """Strength, truths and reference counts of the images with golden counts."""
    golden = json.loads((data.parent / "golden" / f"bsds500_val_{kind}_reference.json").read_text())["images"]
    found = {}
    for name, image in golden.items():
        if kind == "ucm":
            strength = ucm(data / f"bsds500/ucm2/val/{name}.mat")
        else:
            strength = np.array(Image.open(data / f"bsds500/gradient/val/{name}.png")) / 255
        truths = boundaries(data / f"bsds500/groundTruth/val/{name}.mat")
        found[name] = (strength, truths, np.array(image["rows"], dtype=float))
    return found


GOLDEN = (("ucm", 99), ("gradient", 33))


@check(
    PART,
    *(
        (
            f"golden counts of {kind} maps",
            "all within bounds; ODS, OIS, largest recall and, at recalls that both reach, AP within 0.0005",
        )
        for kind, _ in GOLDEN
    ),
    needs=("bsds500", "golden"),
)
def counts(given: Given) -> Iterator[Figure]:
    """Count as often as the reference or up to 0.6 % (or 3 pixels) more; the sums are the same.

    AP is a sum over recalls 0, .01, …, 1 and counts 0 beyond the largest: a little more recall may reach one
    more of them, which is worth a hundredth of its precision. That is told apart from how the curves differ.
    """
    for kind, steps in GOLDEN:
        protocol = get_protocol("bsds").with_changes("golden", thresholds=steps)
        ours, theirs, wrong, points = {}, {}, 0, 0
        for name, (strength, truths, reference) in golden_images(given.data, kind).items():
            counted = sweep(strength, truths, protocol=protocol).counts
            found = counted.table()
            more = found[:, 1] - reference[:, 1]
            sums = (found[:, [2, 4]] == reference[:, [2, 4]]).all(axis=1)
            within = (more >= 0) & (more <= np.maximum(3, 0.006 * reference[:, 1]))
            wrong += int(np.count_nonzero(~(sums & within)))
            points += within.size
            ours[name] = counted
            theirs[name] = Counts.from_rows(np.column_stack([found[:, 0], reference[:, 1:]]))
        first, second = summarise(ours), summarise(theirs)
        gaps = [first.ods.f - second.ods.f, first.ois.f - second.ois.f, first.ap - second.ap]
        differ = ", ".join(f"{gap:+.5f}" for gap in gaps)
        grids = precisions_at_grid(first), precisions_at_grid(second)
        recalls = first.recall.max(), second.recall.max()
        if (one_sided := (grids[0] > 0) != (grids[1] > 0)).any():
            gaps[2] -= float((grids[0] - grids[1])[one_sided].sum() / 100)
            only = ", ".join(f"{at / 100:g}" for at in np.flatnonzero(one_sided))
            differ += f" (AP without recall {only}, which one alone reaches: {gaps[2]:+.5f};"
            differ += f" largest recalls {recalls[0]:.5f}, reference {recalls[1]:.5f})"
        yield Figure(
            f"{wrong} of {points} points out of bounds; ODS, OIS, AP differ by {differ}",
            wrong == 0 and max(map(abs, [*gaps, recalls[0] - recalls[1]])) <= 5e-4,
        )


def precisions_at_grid(summary: Summary) -> np.ndarray:
    """Return the precisions at recall 0, .01, …, 1, whose sum is 100 times the AP; 0 where not reached."""
    recall, at = np.unique(summary.recall, return_index=True)
    return np.interp(np.arange(101) / 100, recall, summary.precision[at], left=0, right=0)


PUBLISHED = {"test_1": "ucm2", "test_2": "png", "test_3": "segs", "test_4": "segs"}


@check(PART, ("published outputs test_1 to test_4", "≤ 0.0005 in every column"), needs=("bsds_bench",))
def published(given: Given) -> Iterator[Figure]:
    """Compare the summary with each file, and the curve with the range of the four files of the same maps.

    The files themselves differ from run to run: ties are broken at random there.
    """
    home = given.data / "bsds_bench"
    files = {test: home / test for test in PUBLISHED}
    curves = np.array([np.loadtxt(place / "eval_bdry_thr.txt")[:, 1:] for place in files.values()])
    worst = outside = 0.0
    for test, kind in PUBLISHED.items():
        found = five_thresholds(home, kind)
        row = [found.ods.threshold, found.ods.recall, found.ods.precision, found.ods.f]
        row += [found.ois.recall, found.ois.precision, found.ois.f, found.ap]
        worst = max(worst, float(np.abs(row - np.loadtxt(files[test] / "eval_bdry.txt")).max()))
        curve = np.column_stack([found.recall, found.precision, found.f])
        beyond = np.maximum(curves.min(axis=0) - curve, curve - curves.max(axis=0))
        outside = max(outside, float(beyond.max()))
    text = f"largest difference {worst:.5f}; curve outside the four runs by at most {outside:.5f}"
    yield Figure(text, max(worst, outside) <= 5e-4)


def five_thresholds(home: Path, kind: str) -> Summary:
    """Return the summary of one kind of maps at five thresholds, as the published files have it."""
    benchmark = Benchmark(get_protocol("bsds").with_changes("five", thresholds=5))
    for path in sorted((home / kind).iterdir()):
        truths = boundaries(home / f"groundTruth/{path.stem}.mat")
        if kind == "segs":
            counted = sweep_maps(read_candidates(path), truths, protocol=benchmark.protocol)
            benchmark.add_counts(path.stem, counted)
        else:
            benchmark.update(read_strength(path), truths, id=path.stem)
    return benchmark.result(draws=0).summary


@check(PART, ("human level of the 100 val images", "R .700762, P .897659 within .001"), needs=("bsds500",))
def human(given: Given) -> Iterator[Figure]:
    paths = sorted((given.data / "bsds500/groundTruth/val").iterdir())
    level = human_level(human_counts(boundaries(path)) for path in paths)
    near = abs(level.recall - 0.700762) <= 1e-3 and abs(level.precision - 0.897659) <= 1e-3
    yield Figure(f"R {level.recall:.6f}, P {level.precision:.6f}", near)


SWEEPS = (("ucm", 99, 11, 1600), ("gradient", 33, 7, 300))
"""Kind of maps, thresholds, every how many of them the reference runs, and the bar."""


@check(
    PART,
    *((f"sweep of {kind} maps against the reference loop", f"median ≥ {bar}×") for kind, _, _, bar in SWEEPS),
    needs=("bsds500", "golden", "pyEdgeEval", "skimage"),
)
def sweeps(given: Given) -> Iterator[Figure]:
    """One thread each; the reference loop uses its own matcher and scikit-image's thinning.

    It takes minutes per image, so it runs at evenly spread thresholds, and its time is scaled up.
    """
    for kind, steps, stride, bar in SWEEPS:
        protocol = get_protocol("bsds").with_changes("golden", thresholds=steps)
        ratios, times = [], []
        for strength, truths, _ in list(golden_images(given.data, kind).values())[: given.size(1, 10)]:
            ours = best(lambda s=strength, t=truths, p=protocol: sweep(s, t, protocol=p), 3)
            some = protocol.threshold_values()[stride // 2 :: stride]
            theirs = seconds(lambda s=strength, t=truths, some=some: reference_loop(s, t, some))
            ratios.append(theirs * steps / len(some) / ours)
            times.append(ours)
        median = statistics.median(ratios)
        yield Figure(
            f"median {median:.0f}× (from {min(ratios):.0f}×), {1e3 * statistics.median(times):.0f} ms each, "
            f"{len(ratios)} maps; reference at one of {stride} thresholds",
            median >= bar,
        )


def reference_loop(strength: np.ndarray, truths: list[np.ndarray], thresholds: np.ndarray) -> None:
    from pyEdgeEval._lib.correspond_pixels import correspond_pixels
    from skimage.morphology import thin

    for threshold in thresholds:
        candidate = thin(strength >= threshold).astype(float)
        union = np.zeros(strength.shape, bool)
        for truth in truths:
            matched, _ = correspond_pixels(candidate, truth.astype(float), 0.0075)[:2]
            union |= matched > 0
