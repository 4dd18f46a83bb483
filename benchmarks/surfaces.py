"""Time strategies on two white-matter surfaces against one exact distance transform of that volume.

    python benchmarks/surfaces.py DATA/mni152 eps closest

The truth is the surface of the white-matter map (> 0.5), the candidate that of the same map with Gaussian
noise of 0.3, smoothed with 0.8. Runs alternate, so that a busy machine slows both; medians are printed.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import ndimage

from edgecritic import match


def surface(mask: np.ndarray) -> np.ndarray:
    """Return the voxels of a mask that touch its outside across a face."""
    return np.ascontiguousarray(mask & ~ndimage.binary_erosion(mask))


def noisy_twins(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the noisy and the clean surface (candidate, truth)."""
    import nibabel

    path = next(folder.glob("*_wm_*.nii*"))
    matter = np.ascontiguousarray(nibabel.load(path).get_fdata(dtype=np.float32))
    matter /= matter.max()
    noise = np.random.default_rng(0).normal(0, 0.3, matter.shape)
    return surface(ndimage.gaussian_filter(matter + noise, 0.8) > 0.5), surface(matter > 0.5)


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder mni152")
    parser.add_argument("strategies", nargs="*", default=["eps", "closest"], help="strategy ids")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    candidate, truth = noisy_twins(options.folder)
    print(f"{truth.shape}: candidate {candidate.sum()}, truth {truth.sum()} voxels")
    for strategy in options.strategies:
        found = match(candidate, truth, strategy=strategy)
        runs = [
            (
                seconds(lambda strategy=strategy: match(candidate, truth, strategy=strategy)),
                seconds(lambda: ndimage.distance_transform_edt(~truth)),
            )
            for _ in range(options.repeats)
        ]
        ours, transform = (statistics.median(column) for column in zip(*runs, strict=True))
        print(found)
        print(f"  {ours:.4f} s, distance transform {transform:.4f} s, ratio {ours / transform:.4f}")


if __name__ == "__main__":
    main()
