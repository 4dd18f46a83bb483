"""The benchmark in volumes: a whole sweep beside one matching, and how it grows.

python benchmarks/volumes.py SIDE  measures one generated volume of SIDE³ voxels in this process.
"""

from __future__ import annotations

import functools
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import ndimage
from scipy.special import expit

from bars import Figure, Given, check, child, cpu
from edgecritic import Matching, detect, match, sweep
from edgecritic.datasets.files import read_volume
from edgecritic.maps import suppress
from edgecritic.maps.boundaries import inner_boundary
from edgecritic.protocols.counts import Counts
from growth import exponent, peak_memory

PART = "volumes"

MAP = "mni152/mni_icbm152_wm_tal_nlin_sym_09a_converted.nii.gz"
SIDES = (64, 90, 128, 180, 252)
"""Of generated volumes; the smallest has 10⁵ strength voxels, the largest 5·10⁶."""


@check(
    PART,
    ("sweep of white-matter edge strength, 99 thresholds, exact, 2 mm, beside one matching", "≤ 25×"),
    ("the same of its crests (nms = surface)", "≤ 25×"),
    ("its counts beside single matchings", "all equal"),
    needs=("mni152",),
)
def white_matter(given: Given) -> Iterator[Figure]:
    """CPU time of all threads; the matching is that at the threshold of the ODS."""
    volume = read_volume(given.data / MAP)
    share = volume.array / volume.array.max()
    strength = detect(share, "canny(sigma=1)", kind="volume", spacing=volume.spacing).strength.astype(
        np.float32
    )
    truth = inner_boundary(share >= 0.5)
    spacing, wrong, compared = volume.spacing, 0, 0
    for judged in (strength, suppress(strength, "surface", spacing=spacing)):
        whole = functools.partial(sweep, judged, truth, protocol="volume(truth=given)", spacing=spacing)
        counts = whole().counts

        def single(place: int, judged: np.ndarray = judged, counts: Counts = counts) -> Matching:
            return match(judged >= counts.thresholds[place], truth, tolerance=2.0, spacing=spacing)

        best = int(counts.f.argmax())
        one = cpu(functools.partial(single, best), given.size(3, 5), clock=time.process_time)
        ratio = cpu(whole, given.size(1, 3), clock=time.process_time) / one
        told = (
            f"{ratio:.1f}×; {int(counts.candidate[0]):,} strength voxels, {int(counts.truth[0]):,} of truth"
        )
        yield Figure(f"{told}, best F {counts.f[best]:.3f}", ratio <= 25)
        for place in (best, *range(0, 99, given.size(33, 7))):
            found = single(place)
            compared += 1
            wrong += (found.tp, found.tp + found.fp) != (counts.matched_truth[place], counts.candidate[place])
    yield Figure(f"{wrong} of {compared} differ", wrong == 0)


@check(
    PART,
    ("growth of the sweep with strength voxels, 10⁵ to 5·10⁶", "exponent ≤ 1.15"),
    ("its peak memory, with the volumes", "≤ 6 GiB"),
)
def growing(given: Given) -> Iterator[Figure]:
    """Each volume in a process of its own; CPU time of all threads."""
    sides = SIDES[: given.size(3, len(SIDES))]
    rows = [json.loads(child(str(Path(__file__)), str(side))[1]) for side in sides]
    slope = exponent([row["voxels"] for row in rows], [row["seconds"] for row in rows])
    ladder = ", ".join(f"{row['voxels']:,}: {row['seconds']:.2f} s" for row in rows)
    yield Figure(f"exponent {slope:.2f} ({ladder})", slope <= 1.15)
    peak = max(row["peak"] for row in rows)
    yield Figure(f"{peak / 2**30:.2f} GiB", peak <= 6 * 2**30)


def generated(side: int) -> tuple[np.ndarray, np.ndarray]:
    """Return edge strengths and the surface of round objects, about as dense as those of the white matter.

    A soft map of objects takes the place of the map of white matter; strengths are its gradients.
    """
    rng = np.random.default_rng(side)
    field = ndimage.gaussian_filter(rng.standard_normal((side,) * 3, dtype=np.float32), 10.0)
    share = expit(15 * (field / field.std() - 0.6))
    strength = ndimage.gaussian_gradient_magnitude(share, 1.0)
    return strength / strength.max(), inner_boundary(share >= 0.5)


def measure(side: int) -> dict[str, float]:
    """Sweep a generated volume; return its strength voxels, CPU seconds, and peak memory in bytes."""
    protocol = "volume(truth=given)"
    sweep(*generated(24), protocol=protocol, spacing=1.0)
    strength, truth = generated(side)
    times = []
    for _ in range(2):
        start = time.process_time()
        counts = sweep(strength, truth, protocol=protocol, spacing=1.0).counts
        times.append(time.process_time() - start)
    return {"voxels": int(counts.candidate[0]), "seconds": min(times), "peak": peak_memory()}


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
