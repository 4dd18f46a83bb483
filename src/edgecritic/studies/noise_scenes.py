"""The scenes of the noise study: shapes or photos in noise or blurred, and what measures say of each.

What is known of the scales of the filters is in `edgecritic.studies.noise`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from edgecritic.datasets.synthetic import Scene, add_noise, scene
from edgecritic.errors import InputError
from edgecritic.ids import Id
from edgecritic.tuning.tune import tune

__all__ = [
    *("DETECTORS", "RATIOS", "SIZE", "Floats", "Kind", "Measures", "NoiseTask", "NoiseTrial"),
    *("degraded", "noise_tasks", "noise_trial", "noisy_scene"),
]

DETECTORS = (
    *("central", "roberts", "prewitt", "sobel", "log(sigma=2)", "canny(sigma=1)"),
    *("steerable(order=1, sigma=1.5)", "steerable(order=3, sigma=1.5)", "steerable(order=5, sigma=1.5)"),
    *("anisotropic", "half_gaussian"),
)
"""The detectors of the study with their scales in pixels."""

RATIOS = (0.0, 2.0, 3.3, 4.0, 6.0, 10.0)
SIZE = (160, 200)

Floats = NDArray[np.float64]
Kind = Literal["noise", "blur"]
Measures = str | Id | Sequence[str | Id] | None


class NoiseTask(NamedTuple):
    """One noisy or blurred scene to be judged; `photo` takes the place of the drawn one."""

    snr: float
    seed: int
    detectors: tuple[str, ...]
    measures: Measures
    thresholds: int
    size: tuple[int, int]
    kind: Kind = "noise"
    photo: Scene | None = None


class NoiseTrial(NamedTuple):
    """What all measures say of all detectors on one noisy scene; arrays are (detectors, measures)."""

    snr: float
    seed: int
    detectors: tuple[str, ...]
    measures: tuple[str, ...]
    better: tuple[str, ...]
    values: Floats
    thresholds: Floats
    false_alarms: Floats
    misses: Floats


def noise_tasks(
    *,
    detectors: Sequence[str] = DETECTORS,
    measures: Measures = None,
    ratios: Sequence[float] = RATIOS,
    seeds: int | Sequence[int] = 3,
    thresholds: int = 51,
    size: tuple[int, int] = SIZE,
    kind: Kind = "noise",
    photos: Sequence[Scene] = (),
) -> list[NoiseTask]:
    """Return the noisy scenes of :func:`noise`, which can be judged in any order.

    With `kind` "blur" the ratios are σ of a Gaussian in pixels, and there is no noise. Photos with their
    truths take the place of drawn scenes; their numbers are the seeds then.
    """
    chosen = tuple(range(seeds) if isinstance(seeds, int) else seeds)
    if photos:
        chosen = tuple(range(len(photos)))
    if kind == "blur" and min(ratios, default=0) < 0:
        raise InputError(f"the σ of a blur must be 0 or more, got {min(ratios):g}")
    for name, given in (("detectors", detectors), ("ratios", ratios), ("seeds", chosen)):
        if not given or len(set(given)) != len(given):
            raise InputError(f"{name} must be one or more different ones, got {given!r}")
    return [
        NoiseTask(
            float(snr),
            int(seed),
            tuple(detectors),
            measures,
            thresholds,
            size,
            kind,
            photos[seed] if photos else None,
        )
        for snr, seed in itertools.product(ratios, chosen)
    ]


def noisy_scene(snr: float, seed: int, size: tuple[int, int] = SIZE) -> Scene:
    """Return the scene of a seed in noise; a scene has the same noise, only weaker, at a higher ratio.

    Examples
    --------
    >>> loud, soft = noisy_scene(0, 1), noisy_scene(20, 1)
    >>> bool((loud.truth == soft.truth).all())
    True
    """
    clean = scene(seed, size)
    return Scene(add_noise(clean.image, snr, seed=1000 + seed), clean.truth)


def degraded(task: NoiseTask) -> Scene:
    """Return the scene or photo of a task in its noise, or blurred.

    Examples
    --------
    >>> task = noise_tasks(ratios=[2], seeds=1, kind="blur")[0]
    >>> bool(degraded(task).image.std() < scene(0, SIZE).image.std())
    True
    """
    if task.photo is None and task.kind == "noise":
        return noisy_scene(task.snr, task.seed, task.size)
    clean = scene(task.seed, task.size) if task.photo is None else task.photo
    if task.kind == "noise":
        return Scene(add_noise(clean.image, task.snr, seed=1000 + task.seed), clean.truth)
    widths = (task.snr, task.snr, 0.0)[: clean.image.ndim]
    return Scene(gaussian_filter(clean.image, widths, mode="nearest"), clean.truth)


def noise_trial(task: NoiseTask) -> NoiseTrial:
    """Judge all detectors on one noisy scene."""
    drawn = degraded(task)
    found = tune(
        drawn.image,
        drawn.truth,
        detectors=task.detectors,
        measures=task.measures,
        thresholds=task.thresholds,
    )
    best = [[found.best(detector, measure) for measure in found.measures] for detector in found.detectors]
    return NoiseTrial(
        task.snr,
        task.seed,
        task.detectors,
        found.measures,
        found.better,
        np.array([[each.value for each in row] for row in best]),
        np.array([[each.threshold for each in row] for row in best]),
        *np.moveaxis(
            np.array([[found.errors(one, two) for two in found.measures] for one in found.detectors]), 2, 0
        ),
    )
