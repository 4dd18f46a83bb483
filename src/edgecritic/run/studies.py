"""The study of pairing over many images."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray
from edgecritic.run.executor import Progress, run_tasks
from edgecritic.studies.pairing import (
    DENSE,
    METHODS,
    SIDES,
    PairingAccuracy,
    PairingTime,
    accuracy,
    accuracy_of_samples,
    brain_samples,
    synthetic_samples,
    time_pairing,
)
from edgecritic.values import Value

__all__ = ["PairingStudy", "run_pairing"]


class PairingStudy(Value):
    """Accuracy on each kind of data, and times."""

    accuracy: tuple[PairingAccuracy, ...]
    times: tuple[PairingTime, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        rows = [
            {"method": one.method, "ndim": one.ndim, "points": one.points, "seconds": one.seconds}
            for one in self.times
        ]
        return {"accuracy": [one.as_dict() for one in self.accuracy], "times": rows}


def run_pairing(
    data: str | Path | None = None,
    *,
    samples: int = 200,
    sides: Sequence[int] = SIDES,
    points: Sequence[float] = (300, 1000, 3000, 10000, 30000),
    most_slow: int = 3000,
    detector: str = "sobel",
    seed: int = 0,
    jobs: int | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> PairingStudy:
    """Compare pairing strategies with the Hungarian method, and time them.

    Parameters
    ----------
    data : path, optional
        Folder of the MNI152 template, for real sub-images beside the synthetic ones.
    samples : int
        Sub-images of each side, at least two.
    points : sequence of whole numbers
        Sizes of the point sets that are timed (on this machine, one after the other); the dense
        Hungarian method up to `most_slow` only.
    """
    if samples < 2:
        raise InputError(f"a correlation needs at least 2 samples of each side, got {samples}")
    if not all(1 <= number < np.inf and number == int(number) for number in points):
        raise InputError(f"points must be whole numbers of at least 1, got {list(points)}")
    families = {"synthetic": {side: list(synthetic_samples(side, samples, seed=seed)) for side in sides}}
    if data is not None:
        families["mni152"] = brain_samples(data, sides, samples, detector=detector, seed=seed)
    work = [(name, side, cut) for name, family in families.items() for side, cut in family.items()]
    scored = {
        (name, side): rows
        for name, side, rows in run_tasks(_score, work, jobs=jobs, cluster=cluster, progress=progress)
    }
    found = tuple(accuracy(name, {side: scored[name, side] for side in sides}) for name in families)
    times = []
    for ndim in (2, 3):
        for number in sorted({int(number) for number in points}):
            methods = [
                name
                for name in (*METHODS, "exact", DENSE)
                if name != "closest, shared" and (number <= most_slow or name != DENSE)
            ]
            times += time_pairing(ndim, number, methods, seed=seed)
    return PairingStudy(accuracy=found, times=tuple(times))


def _score(task: tuple[str, int, list[tuple[BoolArray, BoolArray]]]) -> tuple[str, int, Any]:
    name, side, cut = task
    return name, side, accuracy_of_samples(cut)
