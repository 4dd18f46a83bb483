"""The noise study over drawn scenes or photos, with finished work kept."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from edgecritic.datasets.cases import Case, find_cases
from edgecritic.datasets.synthetic import Scene
from edgecritic.errors import DataError
from edgecritic.measures.scoring import choose, default_measures
from edgecritic.run.executor import Progress, absolute, run_tasks
from edgecritic.run.store import RECORDS, kept, record_key
from edgecritic.run.truths import load_truths
from edgecritic.studies.noise_scenes import NoiseTask, NoiseTrial, noise_trial

__all__ = ["photo_scenes", "run_noise"]

RECORD_VERSION = 1
_NAMES, _TABLES = ("measures", "better"), ("values", "thresholds", "false_alarms", "misses")


def photo_scenes(
    cases: Sequence[Case], *, own: str | Path | None = None, radius: float = 3.0
) -> dict[str, Scene]:
    """Return photos with semi-automatic truths, by name: those of `own`, or of a simulated editor."""
    files = {} if own is None else {case.id: case.truths[0] for case in find_cases(None, own)}
    found = {}
    for case in cases:
        if case.image is None or (own is not None and case.id not in files):
            continue
        image, _, semi = load_truths(case, files.get(case.id), radius)
        found[case.id] = Scene(image, semi)
    if not found:
        raise DataError("no image has a photo and a truth", remedy="give the photos with --images")
    return found


def run_noise(
    tasks: Sequence[NoiseTask],
    *,
    out: str | Path | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> list[NoiseTrial]:
    """Judge all tasks; finished ones are kept in `out`, and `fresh` computes them anew."""
    home = absolute(out)
    folder = None if home is None else home / RECORDS / "@noise"
    work = [(task, folder, fresh) for task in tasks]
    return list(run_tasks(_judged, work, jobs=jobs, cluster=cluster, progress=progress))


def _judged(work: tuple[NoiseTask, Path | None, bool]) -> NoiseTrial:
    task, folder, fresh = work
    content = kept(
        folder, f"{task.kind}-{task.snr:g}-{task.seed}", _key(task), lambda: _record(task), fresh=fresh
    )
    names: dict[str, Any] = {name: tuple(content[name]) for name in _NAMES}
    tables: dict[str, Any] = {name: np.array(content[name]) for name in _TABLES}
    return NoiseTrial(snr=task.snr, seed=task.seed, detectors=task.detectors, **names, **tables)


def _record(task: NoiseTask) -> dict[str, Any]:
    trial = noise_trial(task)
    tables = {name: getattr(trial, name).tolist() for name in _TABLES}
    return {**{name: list(getattr(trial, name)) for name in _NAMES}, **tables}


def _key(task: NoiseTask) -> str:
    pixels = hashlib.sha256()
    if task.photo is not None:
        for array in (task.photo.image, task.photo.truth):
            pixels.update(np.ascontiguousarray(array).tobytes())
    measures = [str(one) for one in choose(task.measures, default_measures(starred=True))]
    plain = [task.snr, task.seed, task.detectors, measures, task.thresholds, task.size, task.kind]
    return record_key([RECORD_VERSION, plain, pixels.hexdigest()])
