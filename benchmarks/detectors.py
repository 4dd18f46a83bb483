"""Time detectors and tuning against their plain counterparts.

Example::

    python benchmarks/detectors.py --json

One image of 481×321 pixels; CPU time of one core, the best of some repeats after a warm-up. The plain loop
over orientations is ``scipy.ndimage.convolve`` with the same kernels. The plain loop of tuning is one call
per measure and map, each with two fresh distance transforms of scipy.ndimage, timed on a sample of the
thresholds; its detections and the sums over the transforms are not counted.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy import ndimage as ndi

from bars import Bar
from edgecritic.datasets.shapes import rim
from edgecritic.detectors import detect
from edgecritic.detectors.anisotropic import anisotropic_kernels
from edgecritic.detectors.half_gaussian import half_gaussian_kernels
from edgecritic.measures import compare
from edgecritic.measures import measures as registry
from edgecritic.measures.scoring import default_measures
from edgecritic.protocols.tuning import tune

SHAPE = (321, 481)
SAMPLE = 5
PLAIN = "one call per measure with fresh transforms (scipy.ndimage)"
TUNED = ["sobel", "canny", "steerable(order=5)", "anisotropic", "half_gaussian"]


def scene(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return a noisy image of blobs and the truth of their rims."""
    rng = np.random.default_rng(seed)
    blobs = ndi.gaussian_filter(rng.random(SHAPE), 12)
    shapes = blobs > np.quantile(blobs, 0.6)
    truth = rim(shapes)
    return shapes + 0.5 * truth + rng.normal(0, 0.2, SHAPE), truth


def cpu(function: Callable[[], object], repeats: int = 5, warm: bool = True) -> float:
    """Return the least CPU time of this thread in seconds."""
    if warm:
        function()
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        function()
        times.append(time.thread_time() - start)
    return min(times)


def oriented(image: np.ndarray) -> list[dict[str, object]]:
    """Compare the banks of oriented kernels with direct convolution, estimated from six kernels."""
    rows = []
    for name, make, steps in (
        ("anisotropic", anisotropic_kernels, (5, 2.5)),
        ("half_gaussian", half_gaussian_kernels, (10, 5)),
    ):
        for step in steps:
            kernels = make(1, 5, step=step)
            some = kernels[:: len(kernels) // 6][:6]
            ours = cpu(lambda name=name, step=step: detect(f"{name}(step={step})", image), 3)
            direct = cpu(lambda some=some: [ndi.convolve(image, each) for each in some], 1, warm=False)
            theirs = direct / len(some) * len(kernels)
            rows.append(row(f"{name}, {len(kernels)} orientations", ours, theirs, "scipy loop", "≥ 8×"))
    return rows


def canny(image: np.ndarray) -> dict[str, object]:
    """Compare Canny with hysteresis with scikit-image's."""
    from skimage.feature import canny as peer

    ours = cpu(lambda: detect("canny(sigma=1)", image).hysteresis(0.1, 0.2), 40)
    return row("canny", ours, cpu(lambda: peer(image, 1.0), 40), "scikit-image", "≥ 1/1.2×")


def tuning(image: np.ndarray, truth: np.ndarray, sample: int = SAMPLE) -> dict[str, object]:
    """Compare tuning with the plain loop: one call per measure and map, distances made anew each time."""
    ours = cpu(lambda: tune(image, truth, detectors=TUNED, thresholds=99), 1)
    thin = detect("canny", image).thin
    bound = [registry.bind(name) for name in default_measures()]
    candidates = [thin >= level for level in np.linspace(0.02, 0.9, sample)]
    # Their sums are known before the clock starts, so the loop pays for its transforms and the bare formulas.
    known = [compare(candidate, truth) for candidate in candidates]

    def plain_loop(fresh: bool = True) -> None:
        for (candidate, comparison), measure in itertools.product(zip(candidates, known, strict=True), bound):
            if fresh and measure.entry.info.needs in ("distances", "transforms", "surface"):
                for side in (candidate, truth):
                    ndi.distance_transform_edt(~side)
            measure(comparison)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain_loop(fresh=False)
        plain = cpu(plain_loop, 1, warm=False) * 99 * len(TUNED) / sample
    what = f"tune, 5 detectors × 99 thresholds × {len(bound)} measures"
    return row(what, ours, plain, PLAIN, "≤ 6 s, ≥ 15×")


def complexity(image: np.ndarray) -> dict[str, object]:
    """Time the 495 maps of the complexity paper with E, H and C."""
    ours = cpu(lambda: tune(np.clip(image, 0, 1), thresholds="matlab"), 1)
    return row("495 edge maps with E, H, C", ours, None, "", "≤ 4 s")


def row(what: str, ours: float, theirs: float | None, peer: str, bar: str) -> dict[str, object]:
    """Return one line of the table."""
    ratio = None if theirs is None else theirs / ours
    return {"what": what, "seconds": ours, "peer": peer, "peer_seconds": theirs, "ratio": ratio, "bar": bar}


def measure_all(quick: bool = False) -> list[dict[str, object]]:
    """Return one row per bar."""
    image, truth = scene()
    return [*oriented(image), canny(image), tuning(image, truth, 2 if quick else SAMPLE), complexity(image)]


def bars(data: Path, *, quick: bool = False) -> Iterator[Bar]:  # noqa: ARG001
    """Turn the rows into bars."""
    limits = {
        "≥ 8×": (8.0, None),
        "≥ 1/1.2×": (1 / 1.2, None),
        "≤ 6 s, ≥ 15×": (15.0, 6.0),
        "≤ 4 s": (None, 4.0),
    }
    for found in measure_all(quick):
        factor, most = limits[str(found["bar"])]
        ours, ratio = float(str(found["seconds"])), found["ratio"]
        met = (factor is None or float(str(ratio)) >= factor) and (most is None or ours <= most)
        beside = "" if ratio is None else f", {float(str(ratio)):.2f}× against {found['peer']}"
        yield Bar("detectors", str(found["what"]), f"{ours * 1e3:.0f} ms{beside}", str(found["bar"]), met)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    args = parser.parse_args()
    rows = measure_all()
    if args.json:
        print(json.dumps(rows, indent=2))
        return
    for each in rows:
        other = (
            ""
            if each["ratio"] is None
            else f"{each['peer_seconds']:9.3f} s {each['peer']}, {each['ratio']:.2f}×"
        )
        print(f"{each['what']:<50} {each['seconds']:8.4f} s {other:<36} bar {each['bar']}")


if __name__ == "__main__":
    main()
