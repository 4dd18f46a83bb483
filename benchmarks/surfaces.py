"""Time strategies on two white-matter surfaces against one exact distance transform of that volume.

    python benchmarks/surfaces.py DATA/mni152 eps closest

The truth is the surface of the white-matter map (> 0.5), the candidate that of the same map with Gaussian
noise of 0.3, smoothed with 0.8. Runs alternate, so that a busy machine slows both; medians are printed.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

import numpy as np
from scipy import ndimage

from bars import seconds
from edgecritic import match


def surface(mask: np.ndarray) -> np.ndarray:
    """Return the voxels of a mask that touch its outside across a face."""
    return np.ascontiguousarray(mask & ~ndimage.binary_erosion(mask))


def noisy_masks(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the noisy and the clean white matter (candidate, truth)."""
    import nibabel

    path = next(folder.glob("*_wm_*.nii*"))
    matter = np.ascontiguousarray(nibabel.load(path).get_fdata(dtype=np.float32))
    matter /= matter.max()
    noise = np.random.default_rng(0).normal(0, 0.3, matter.shape)
    return ndimage.gaussian_filter(matter + noise, 0.8) > 0.5, matter > 0.5


def noisy_twins(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the surfaces of the noisy and the clean white matter (candidate, truth)."""
    candidate, truth = noisy_masks(folder)
    return surface(candidate), surface(truth)


def beside_transform(
    candidate: np.ndarray, truth: np.ndarray, strategy: str, repeats: int
) -> tuple[float, float]:
    """Return median seconds of the strategy and of one distance transform."""
    match(candidate[:9], truth[:9], strategy=strategy)
    runs = [
        (
            seconds(lambda: match(candidate, truth, strategy=strategy)),
            seconds(lambda: ndimage.distance_transform_edt(~truth)),
        )
        for _ in range(repeats)
    ]
    ours, transform = (statistics.median(column) for column in zip(*runs, strict=True))
    return ours, transform


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder mni152")
    parser.add_argument("strategies", nargs="*", default=["eps", "closest"], help="strategy ids")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    candidate, truth = noisy_twins(options.folder)
    print(f"{truth.shape}: candidate {candidate.sum()}, truth {truth.sum()} voxels")
    for strategy in options.strategies:
        ours, transform = beside_transform(candidate, truth, strategy, options.repeats)
        print(match(candidate, truth, strategy=strategy))
        print(f"  {ours:.4f} s, distance transform {transform:.4f} s, ratio {ours / transform:.4f}")


if __name__ == "__main__":
    main()
