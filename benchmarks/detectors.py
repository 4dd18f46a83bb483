"""Detectors and tuning beside their plain counterparts, and the study of noise.

One image of 481×321 pixels; CPU time of one core, the best of some repeats after a warm-up. The plain loop
over orientations is ``scipy.ndimage.convolve`` with the same kernels. The plain loop of tuning is one call
per measure and map, each with two fresh distance transforms of scipy.ndimage, timed on a sample of the
thresholds; its detections and the sums over the transforms are not counted.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import ndimage as ndi

from bars import Figure, Given, check, child, cpu
from edgecritic.datasets.shapes import rim
from edgecritic.detectors import detect
from edgecritic.detectors.anisotropic import anisotropic_kernels
from edgecritic.detectors.half_gaussian import half_gaussian_kernels
from edgecritic.measures import compare
from edgecritic.measures import measures as registry
from edgecritic.measures.scoring import default_measures
from edgecritic.studies.noise import PAPER_DETECTORS, PAPER_RATIOS, noise
from edgecritic.tuning.tune import tune

PART = "detectors"
SHAPE = (321, 481)
TUNED = ["sobel", "canny", "steerable(order=5)", "anisotropic", "half_gaussian"]
BANKS = (
    *(("anisotropic", anisotropic_kernels, step, round(180 / step)) for step in (5, 2.5)),
    *(("half_gaussian", half_gaussian_kernels, step, round(360 / step)) for step in (10, 5)),
)


def scene(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return a noisy image of blobs and the truth of their rims."""
    rng = np.random.default_rng(seed)
    blobs = ndi.gaussian_filter(rng.random(SHAPE), 12)
    shapes = blobs > np.quantile(blobs, 0.6)
    truth = rim(shapes)
    return shapes + 0.5 * truth + rng.normal(0, 0.2, SHAPE), truth


@check(
    PART,
    *(
        (f"{name}, {count} orientations, against a loop of scipy convolve", "≥ 8×")
        for name, _, _, count in BANKS
    ),
)
def oriented(given: Given) -> Iterator[Figure]:
    """Direct convolution runs with six kernels of the bank, and its time is scaled up."""
    del given
    image, _ = scene()
    for name, make, step, count in BANKS:
        kernels = make(1, 5, step=step)
        if len(kernels) != count:
            raise AssertionError(f"{name} has {len(kernels)} kernels, not {count}")
        some = kernels[:: len(kernels) // 6][:6]
        ours = cpu(lambda name=name, step=step: detect(image, f"{name}(step={step})"), 3)
        direct = cpu(lambda some=some: [ndi.convolve(image, each) for each in some], 1, warm=False)
        theirs = direct / len(some) * len(kernels)
        yield Figure(f"{ours * 1e3:.0f} ms, {theirs / ours:.1f}×", theirs >= 8 * ours)


@check(PART, ("canny with hysteresis against scikit-image's", "≤ 1.2 times its time"), needs=("skimage",))
def canny(given: Given) -> Iterator[Figure]:
    from skimage.feature import canny as peer

    del given
    image, _ = scene()
    ours = cpu(lambda: detect(image, "canny(sigma=1)").hysteresis(0.1, 0.2), 40)
    theirs = cpu(lambda: peer(image, 1.0), 40)
    yield Figure(f"{ours * 1e3:.1f} ms, {ours / theirs:.2f} times", ours <= 1.2 * theirs)


@check(PART, ("tune: 5 detectors × 99 thresholds × all measures, one core", "≤ 6 s, ≥ 15× the plain loop"))
def tuning(given: Given) -> Iterator[Figure]:
    (image, truth), sample = scene(), given.size(2, 5)
    ours = cpu(lambda: tune(image, truth, detectors=TUNED, thresholds=99), 1)
    thin = detect(image, "canny").thin
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

    plain_loop(fresh=False)
    plain = cpu(plain_loop, 1, warm=False) * 99 * len(TUNED) / sample
    text = f"{ours:.1f} s, {plain / ours:.0f}×, {len(bound)} measures"
    yield Figure(text, ours <= 6 and plain >= 15 * ours)


@check(PART, ("495 edge maps of one image with E, H, C, one core", "≤ 2 s"))
def complexity(given: Given) -> Iterator[Figure]:
    del given
    image, _ = scene()
    ours = cpu(lambda: tune(np.clip(image, 0, 1), thresholds="matlab"), 1)
    yield Figure(f"{ours:.2f} s", ours <= 2)


HUGE = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from edgecritic import detect
from growth import peak_memory
detect(np.random.default_rng(0).integers(0, 256, (8192, 8192), dtype=np.uint8), sys.argv[2])
print(peak_memory())
"""


@check(PART, ("peak memory of canny and half_gaussian on 8192×8192 pixels", "≤ 4 GiB"), needs=("time",))
def huge(given: Given) -> Iterator[Figure]:
    del given
    here = str(Path(__file__).parent)
    peaks = [int(child("-c", HUGE, here, name)[1]) / 2**30 for name in ("canny", "half_gaussian(step=45)")]
    yield Figure(" and ".join(f"{peak:.1f} GiB" for peak in peaks), max(peaks) <= 4)


@check(PART, ("study noise at 4 and 3.3 dB, the paper's six detectors", "Sobel last by most measures"))
def in_noise(given: Given) -> Iterator[Figure]:
    """The paper has half kernels first, but does not print its filter scales: who is first is only told."""
    found = noise(detectors=PAPER_DETECTORS, ratios=PAPER_RATIOS, seeds=given.size(1, 3))
    words, met = [], True
    for snr in PAPER_RATIOS:
        firsts, lasts = zip(*(found.ends(name, snr) for name in found.judges), strict=True)
        leader = max(set(firsts), key=firsts.count)
        met &= lasts.count("sobel") > len(lasts) / 2
        words.append(
            f"{snr:g} dB: sobel last by {lasts.count('sobel')}, {leader} first by {firsts.count(leader)} "
            f"of {len(lasts)}"
        )
    yield Figure("; ".join(words), met)
