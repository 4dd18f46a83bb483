"""How long the measures take, beside other ways to get them.

Example::

    EDGECRITIC_DATA=/data python benchmarks/measures.py

Each line has the best time of some repeats after a warm-up. Peers (edt, surface_distance) and real data
(an annotated image, a brain volume) are used where they are found; a line whose peer is missing says so.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from bars import Bar
from edgecritic.measures import compare, score, sweep
from edgecritic.measures import measures as registry
from edgecritic.measures.scoring import default_measures
from edgecritic.measures.unsupervised import complexity, line_patterns

Mask = NDArray[np.bool_]
SURFACE = ["hausdorff", "hd95", "assd", "nsd"]


def best(function: Callable[[], Any], repeats: int = 7) -> float:
    """Return the shortest time of a call in seconds, after one call that is not counted."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def annotated_pair(root: Path | None) -> tuple[Mask, Mask]:
    """Return two annotators' maps of one 481×321 image, or drawn ones."""
    path = root / "bsds_bench" / "groundTruth" / "2018.mat" if root else None
    if path and path.exists():
        from scipy.io import loadmat

        truth = loadmat(path)["groundTruth"][0]
        first, second = (truth[index]["Boundaries"][0, 0].astype(bool) for index in (0, 1))
        return first, second
    rng = np.random.default_rng(0)
    smooth = [ndimage.gaussian_filter(rng.random((321, 481)), 12) > 0.5 for _ in range(2)]
    first, second = (mask & ~ndimage.binary_erosion(mask) for mask in smooth)
    return first, second


def volume_pair(root: Path | None) -> tuple[Mask, Mask]:
    """Return white matter and its noisy twin, or drawn blobs."""
    path = root / "mni152" / "mni_icbm152_wm_tal_nlin_sym_09a_converted.nii.gz" if root else None
    rng = np.random.default_rng(0)
    if path and path.exists():
        import nibabel

        values = nibabel.load(path).get_fdata()
        values /= values.max()
    else:
        values = ndimage.gaussian_filter(rng.random((180, 210, 180)), 4)
        values = (values - values.min()) / np.ptp(values)
    noise = ndimage.gaussian_filter(rng.normal(size=values.shape), 1) * 0.45
    return values + noise > 0.5, values > 0.5


def fresh_each(candidate: Mask, truth: Mask) -> None:
    """Compute every measure with two new transforms of its own."""
    for name in default_measures():
        found = compare(candidate, truth)
        _ = found.transforms
        registry.bind(name)(found)


def plain_complexity(mask: Mask) -> float:
    """Compute the complexity by its definition, pixel by pixel and pattern by pattern, with NumPy."""
    padded, patterns = np.pad(mask, 3), line_patterns(7)
    likeness = []
    for row, column in np.argwhere(mask):
        view = padded[row : row + 7, column : column + 7]
        likeness.append((patterns & view).sum(axis=(1, 2)).max() / math.sqrt(7 * view.sum()))
    shares = np.pad(mask.cumsum(axis=0).cumsum(axis=1) / mask.sum(), ((1, 0), (1, 0)))
    x, y = (np.concatenate([[0], (np.arange(n) + 0.5) / n, [1]]) for n in mask.shape)
    low, high = np.outer(x[:-1], y[:-1]), np.outer(x[1:], y[1:])
    gap = max(np.abs(shares - low).max(), np.abs(shares - high).max())
    return float(np.mean(likeness) * (1 - gap))


def strength_map(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return a thin soft map: ridges of a smooth random gradient."""
    rng = np.random.default_rng(1)
    slope = np.hypot(*np.gradient(ndimage.gaussian_filter(rng.random(shape), 1.5)))
    ridge = (slope >= np.roll(slope, 1, 0)) & (slope >= np.roll(slope, -1, 0))
    return np.where(ridge, slope / slope.max(), 0)


def measure_all(root: Path | None) -> list[dict[str, Any]]:
    """Return one row per bar: what, our time, the other's time, and who the other is."""
    rows: list[dict[str, Any]] = []

    def add(what: str, ours: float, other: str, theirs: float | None) -> None:
        rows.append({"what": what, "seconds": ours, "other": other, "other_seconds": theirs})

    candidate, truth = annotated_pair(root)
    together = best(lambda: score(candidate, truth))
    peer = None
    if importlib.util.find_spec("edt"):
        import edt

        peer = best(lambda: (edt.edt(~candidate), edt.edt(~truth)))
    add("all pixel measures of one pair", together, "two calls of edt", peer)
    add(
        "all pixel measures of one pair",
        together,
        "fresh transforms each",
        best(lambda: fresh_each(candidate, truth), 3),
    )

    first, second = volume_pair(root)
    surfaces = best(lambda: score(first, second, SURFACE, spacing=1), 3)
    peer = None
    if importlib.util.find_spec("surface_distance"):
        import surface_distance

        peer = best(lambda: surface_distance.compute_surface_distances(second, first, (1, 1, 1)), 1)
    add(" + ".join(SURFACE) + " of a volume", surfaces, "surface_distance alone", peer)

    speckle = np.random.default_rng(2).random((400, 400)) < 1 / 16
    add(
        "complexity of 10,000 pixels",
        best(lambda: complexity(speckle)),
        "NumPy",
        best(lambda: plain_complexity(speckle), 1),
    )

    soft = strength_map(truth.shape)
    levels = np.linspace(0, 1, 100)
    ours = best(lambda: sweep(soft, truth, thresholds=levels), 2)
    some = levels[5:60:11]
    plain = best(lambda: [fresh_each((soft >= level) & (soft > 0), truth) for level in some], 1)
    add("100 thresholds × all measures", ours, "plain loop (from a sample)", plain * len(levels) / len(some))
    return rows


def bars(data: Path, *, quick: bool = False) -> Iterator[Bar]:  # noqa: ARG001
    """Turn the rows into bars."""
    warnings.simplefilter("ignore")
    rows = {(row["what"], row["other"]): row for row in measure_all(data)}
    limits: dict[tuple[str, str], tuple[float, float | None]] = {
        ("all pixel measures of one pair", "two calls of edt"): (1 / 2.5, None),
        ("all pixel measures of one pair", "fresh transforms each"): (8, None),
        (" + ".join(SURFACE) + " of a volume", "surface_distance alone"): (3, None),
        ("complexity of 10,000 pixels", "NumPy"): (20, 0.010),
        ("100 thresholds × all measures", "plain loop (from a sample)"): (15, 1.5),
    }
    for (what, other), (factor, most) in limits.items():
        row = rows[what, other]
        ours, theirs = row["seconds"], row["other_seconds"]
        bar = f"≥ {factor:g}×" + ("" if most is None else f", ≤ {most:g} s")
        if theirs is None:
            yield Bar("measures", what, f"{ours * 1e3:.1f} ms; {other} is missing", bar, None)
            continue
        met = theirs / ours >= factor and (most is None or ours <= most)
        yield Bar("measures", what, f"{ours * 1e3:.1f} ms, {theirs / ours:.2f}× against {other}", bar, met)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    place = os.environ.get("EDGECRITIC_DATA")
    rows = measure_all(Path(place) if place else None)
    if args.json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        theirs = row["other_seconds"]
        beside = (
            "not installed" if theirs is None else f"{theirs * 1e3:9.1f} ms   ×{theirs / row['seconds']:.1f}"
        )
        print(f"{row['what']:<46} {row['seconds'] * 1e3:8.1f} ms   {row['other']:<28} {beside}")


if __name__ == "__main__":
    main()
