"""Time strategies on two white-matter surfaces against one exact distance transform of that volume.

    python benchmarks/surfaces.py DATA/mni152 eps closest
    python benchmarks/surfaces.py --millions 5

The truth is the surface of the white-matter map (> 0.5), the candidate that of the same map with Gaussian
noise of 0.3, smoothed with 0.8. Runs alternate, so that a busy machine slows both; medians are printed.
With --millions two wavy surfaces of about so many million voxels are generated and matched once.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path

import numpy as np
from scipy import ndimage

from bars import compile_all, seconds
from edgecritic import match
from growth import peak_memory


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
    compile_all()
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


def wavy_twins(millions: float, period: float = 70.0) -> tuple[np.ndarray, np.ndarray]:
    """Return two rough copies (candidate, truth) of a surface that fills a cube: sin x·cos y + … = 0.

    Such a gyroid has about 3.7 voxels of surface for every voxel of volume and period.
    """
    side = round((millions * 1e6 * period / 3.7) ** (1 / 3))
    wave = np.arange(side, dtype=np.float32) * np.float32(2 * np.pi / period)
    sine, cosine = np.sin(wave), np.cos(wave)
    level = sine[:, None, None] * cosine[:, None]
    level = level + sine[:, None] * cosine
    level += cosine[:, None, None] * sine
    rng = np.random.default_rng(0)
    twins = []
    for _ in range(2):
        rough = rng.standard_normal((side // 4 + 1,) * 3, dtype=np.float32)
        rough *= np.float32(0.1)
        inside = np.empty((side,) * 3, dtype=bool)
        for plane in range(side):
            inside[plane] = (
                level[plane] > np.kron(rough[plane // 4], np.ones((4, 4), np.float32))[:side, :side]
            )
        twins.append(surface(inside))
    return twins[0], twins[1]


def measure_millions(millions: float) -> dict[str, float]:
    """Match generated surfaces once; return seconds, peak memory in bytes, and sizes."""
    compile_all()
    match(*wavy_twins(0.01), strategy="exact(window=5)")
    candidate, truth = wavy_twins(millions)
    found: list[int] = []
    spent = seconds(lambda: found.append(match(candidate, truth, strategy="exact(window=5)").tp))
    sizes = {"candidate": int(np.count_nonzero(candidate)), "truth": int(np.count_nonzero(truth))}
    return {"seconds": spent, "peak": peak_memory(), "hits": found[0], **sizes}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="the folder mni152")
    parser.add_argument("strategies", nargs="*", default=["eps", "closest"], help="strategy ids")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--millions", type=float, help="voxels of each generated surface")
    options = parser.parse_args()
    if options.millions is not None:
        print(json.dumps(measure_millions(options.millions)))
        return
    candidate, truth = noisy_twins(options.folder)
    print(f"{truth.shape}: candidate {candidate.sum()}, truth {truth.sum()} voxels")
    for strategy in options.strategies:
        ours, transform = beside_transform(candidate, truth, strategy, options.repeats)
        print(match(candidate, truth, strategy=strategy))
        print(f"  {ours:.4f} s, distance transform {transform:.4f} s, ratio {ours / transform:.4f}")


if __name__ == "__main__":
    main()
