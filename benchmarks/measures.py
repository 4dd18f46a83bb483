"""How long the measures take, beside other ways to get them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from bars import Figure, Given, annotated_pair, beside, best, check
from edgecritic.measures import compare, curves, score
from edgecritic.measures import measures as registry
from edgecritic.measures.scoring import default_measures
from edgecritic.measures.unsupervised import complexity, line_patterns
from surfaces import noisy_masks

PART = "measures"
SURFACE = ["hausdorff", "hd95", "assd", "nsd"]

Mask = NDArray[np.bool_]


@check(PART, ("all pixel measures of one 481×321 pair", "≤ 2.5 times two calls of edt"), needs=("edt",))
def beside_transforms(given: Given) -> Iterator[Figure]:
    import edt

    candidate, truth = annotated_pair(given.data)
    ours, theirs = beside(lambda: score(candidate, truth), lambda: (edt.edt(~candidate), edt.edt(~truth)), 15)
    yield Figure(f"{ours * 1e3:.1f} ms, {ours / theirs:.2f} times the two calls", ours <= 2.5 * theirs)


@check(PART, ("the same against one call per measure with fresh transforms", "≥ 8×"))
def beside_fresh_transforms(given: Given) -> Iterator[Figure]:
    candidate, truth = annotated_pair(given.data)
    ours, theirs = beside(lambda: score(candidate, truth), lambda: fresh_each(candidate, truth), 5)
    yield Figure(f"{theirs / ours:.1f}×", theirs >= 8 * ours)


@check(
    PART,
    (f"{', '.join(SURFACE)} of white matter against DeepMind's compute_surface_distances", "≥ 3×"),
    needs=("mni152", "nibabel", "surface_distance"),
)
def surface_distances(given: Given) -> Iterator[Figure]:
    import surface_distance

    candidate, truth = noisy_masks(given.data / "mni152")
    ours, theirs = beside(
        lambda: score(candidate, truth, SURFACE, spacing=1),
        lambda: surface_distance.compute_surface_distances(truth, candidate, (1, 1, 1)),
        3,
    )
    yield Figure(f"{ours * 1e3:.0f} ms, {theirs / ours:.1f}×", theirs >= 3 * ours)


SPACINGS = ("NSD of 400 random voxel sizes at a tolerance that is a distance of voxels", "none differs")


@check(PART, (f"{SPACINGS[0]}, beside surface-distance", SPACINGS[1]), needs=("surface_distance",))
def tolerances_of_surface_distance(given: Given) -> Iterator[Figure]:
    del given
    import surface_distance as peer

    def theirs(candidate: Mask, truth: Mask, spacing: tuple[float, ...], tolerance: float) -> float:
        lists = peer.compute_surface_distances(truth, candidate, spacing)
        return float(peer.compute_surface_dice_at_tolerance(lists, tolerance))

    differ = sum(_differs(theirs, "deepmind", *case) for case in _voxel_distances(400))
    yield Figure(f"{differ} of 400 differ", differ == 0)


@check(PART, (f"{SPACINGS[0]}, beside MONAI", SPACINGS[1]), needs=("monai", "torch"))
def tolerances_of_monai(given: Given) -> Iterator[Figure]:
    del given
    import torch
    from monai.metrics import compute_surface_dice

    def theirs(candidate: Mask, truth: Mask, spacing: tuple[float, ...], tolerance: float) -> float:
        maps = [torch.as_tensor(mask[None, None].astype(np.float32)) for mask in (candidate, truth)]
        return float(compute_surface_dice(*maps, [tolerance], include_background=True, spacing=spacing))

    differ = sum(_differs(theirs, "monai", *case) for case in _voxel_distances(400))
    yield Figure(f"{differ} of 400 differ", differ == 0)


def _voxel_distances(number: int) -> Iterator[tuple[Mask, Mask, tuple[float, ...], float]]:
    rng = np.random.default_rng(14)
    for _ in range(number):
        spacing, steps = rng.uniform(0.2, 4, 3), rng.integers(1, 4, 3) * (rng.random(3) < 0.6)
        steps[rng.integers(3)] += 1
        truth = ndimage.gaussian_filter(rng.random((14, 15, 16)), 1.5) > 0.5
        candidate = np.roll(truth, steps, axis=(0, 1, 2))
        yield candidate, truth, tuple(spacing.tolist()), float(np.sqrt(((steps * spacing) ** 2).sum()))


def _differs(
    theirs: Callable[[Mask, Mask, tuple[float, ...], float], float],
    compat: str,
    candidate: Mask,
    truth: Mask,
    spacing: tuple[float, ...],
    tolerance: float,
) -> bool:
    text = f"nsd(tolerance={tolerance!r}, compat={compat})"
    ours = score(candidate, truth, text, spacing=spacing).mean[text]
    return not math.isclose(ours, theirs(candidate, truth, spacing, tolerance), abs_tol=1e-6)


@check(PART, ("complexity of 10,000 edge pixels against plain NumPy", "≤ 10 ms, ≥ 20×"))
def speckle_complexity(given: Given) -> Iterator[Figure]:
    del given
    speckle = np.random.default_rng(2).random((400, 400)) < 1 / 16
    ours, theirs = beside(lambda: complexity(speckle), lambda: plain_complexity(speckle), 5)
    text = f"{ours * 1e3:.1f} ms, {theirs / ours:.0f}×, {np.count_nonzero(speckle):,} pixels"
    yield Figure(text, ours <= 0.010 and theirs >= 20 * ours)


@check(PART, ("100 thresholds × all measures of one strength map against the plain loop", "≤ 1.5 s, ≥ 15×"))
def threshold_sweep(given: Given) -> Iterator[Figure]:
    """The plain loop runs at some of the thresholds, and its time is scaled up."""
    _, truth = annotated_pair(given.data)
    soft, levels = strength_map(truth.shape), np.linspace(0, 1, 100)
    ours = best(lambda: curves(soft, truth, thresholds=levels), 2)
    some = levels[5:60:11]
    plain = best(lambda: [fresh_each((soft >= level) & (soft > 0), truth) for level in some], 1)
    theirs = plain * len(levels) / len(some)
    yield Figure(f"{ours:.2f} s, {theirs / ours:.0f}×", ours <= 1.5 and theirs >= 15 * ours)


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
