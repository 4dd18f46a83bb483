"""The region benchmark beside its published outputs and beside plain recomputation at every threshold."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import ndimage

from bars import Figure, Given, check, child, cpu
from edgecritic import get_protocol
from edgecritic.datasets.files import read_hierarchy, read_segmentations
from edgecritic.measures import score
from edgecritic.protocols import sweep_hierarchy, sweep_segmentations
from edgecritic.report.classic_regions import REGION_FILES, write_regions

PART = "regions"

PUBLISHED = {"test_1": "ucm2", "test_4": "segs", "test_5": "segs"}


@check(PART, ("published files of test_1, test_4 and test_5", "every digit"), needs=("bsds_bench",))
def published(given: Given) -> Iterator[Figure]:
    home = given.data / "bsds_bench"
    five = get_protocol("bsds-regions").with_changes("five", thresholds=5)
    same = 0
    for test, kind in PUBLISHED.items():
        found = {}
        for path in (home / kind).iterdir():
            truths = read_segmentations(home / "groundTruth" / path.name)
            if kind == "ucm2":
                found[path.stem] = sweep_hierarchy(read_hierarchy(path), truths, protocol=five)
            else:
                found[path.stem] = sweep_segmentations(read_segmentations(path), truths)
        with tempfile.TemporaryDirectory() as folder:
            write_regions(folder, found)
            for name in REGION_FILES:
                same += (Path(folder) / name).read_bytes() == (home / test / name).read_bytes()
    total = len(PUBLISHED) * len(REGION_FILES)
    yield Figure(f"{same} of {total} files the same, byte by byte", same == total)


@check(
    PART,
    ("bench of 100 ucm2/val images, 2 jobs, with start, loading and report", "≤ 8 s"),
    needs=("bsds500",),
)
def command(given: Given) -> Iterator[Figure]:
    place = given.data / "bsds500"
    folders = [str(place / "ucm2/val"), "--truth", str(place / "groundTruth/val")]
    options = ["--protocol", "bsds-regions", "--jobs", "2", "--quiet", "--out"]
    child("-m", "edgecritic", "warmup")
    times = []
    for _ in range(given.size(1, 3)):
        with tempfile.TemporaryDirectory() as out:
            times.append(child("-m", "edgecritic", "bench", *folders, *options, out)[0])
    yield Figure(f"{min(times):.1f} s, the shortest of {len(times)}", min(times) <= 8)


@check(
    PART,
    ("one hierarchy at 99 thresholds against 99 recomputations, with loading", "≥ 15×"),
    ("largest difference of covering, PRI and VOI", "≤ 1e-9"),
    needs=("bsds500",),
)
def recomputed(given: Given) -> Iterator[Figure]:
    """CPU time of one thread; recomputation labels the hierarchy by SciPy and scores the segments."""
    place = given.data / "bsds500"
    names = [path.stem for path in sorted((place / "ucm2/val").iterdir())[:: given.size(50, 20)]]
    ours = theirs = worst = 0.0
    for name in names:
        files = place / f"ucm2/val/{name}.mat", place / f"groundTruth/val/{name}.mat"
        found = sweep_hierarchy(read_hierarchy(files[0]), read_segmentations(files[1]))
        ours += cpu(lambda f=files: sweep_hierarchy(read_hierarchy(f[0]), read_segmentations(f[1])), 3)
        plain: list[np.ndarray] = []
        theirs += cpu(lambda f=files, kept=plain: kept.append(anew(*f)), 1, warm=False)
        mine = np.column_stack([found.covering, found.pri, found.voi])
        worst = max(worst, float(np.abs(mine - plain[-1]).max()))
    ratio = theirs / ours
    text = f"{ratio:.0f}× ({1e3 * ours / len(names):.0f} ms and {theirs / len(names):.2f} s of CPU per image)"
    yield Figure(f"{text}, {len(names)} images", ratio >= 15)
    yield Figure(f"{worst:.1e}", worst <= 1e-9)


def anew(hierarchy: Path, truth: Path) -> np.ndarray:
    """Return covering, PRI and VOI at 99 thresholds, each of its own segmentation."""
    cells, truths = read_hierarchy(hierarchy), read_segmentations(truth)
    ids = ["covering", "pri", "voi"]
    rows = []
    for threshold in get_protocol("bsds-regions").threshold_values():
        segments = ndimage.label(cells <= threshold, np.ones((3, 3)))[0][1::2, 1::2]
        found = score(segments, truths, ids)
        rows.append([found[name] for name in ids])
    return np.array(rows)
