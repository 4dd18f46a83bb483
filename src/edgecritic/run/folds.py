"""Cross-validation: every photo is judged by a model that has not learned from it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from edgecritic.errors import DataError, InputError
from edgecritic.ids import Id
from edgecritic.learned.base import Model, trainables
from edgecritic.learned.models import save_model
from edgecritic.protocols.benchmark import BenchmarkResult
from edgecritic.run.bench import run_bench
from edgecritic.run.detect import detect_folder
from edgecritic.run.executor import Progress
from edgecritic.run.files import make_folder
from edgecritic.run.fit import Labels, fit_folder, photo_cases
from edgecritic.run.results import Failure, failure_rows
from edgecritic.values import Value

__all__ = ["CrossRun", "cross_validate", "folds_of"]


class CrossRun(Value):
    """Models that were learned without a fold each, and what their maps of that fold score.

    Attributes
    ----------
    models : tuple of Model
        One for each fold; none knows a photo of its own fold.
    maps : str
        The folder of the maps, each made by the model of its fold.
    result : BenchmarkResult
        Protocol ``bsds``, on all labels.
    failures : tuple of Failure
    """

    models: tuple[Model, ...]
    maps: str
    result: BenchmarkResult
    failures: tuple[Failure, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return ODS, OIS, AP and what is told of the models, ready for JSON."""
        found = self.result
        interval = None if found.intervals is None else [found.intervals.ods.low, found.intervals.ods.high]
        return {
            "folds": len(self.models),
            "photos": len(found.counts),
            "ods": found.ods.f,
            "ods_interval": interval,
            "ois": found.ois.f,
            "ap": found.ap,
            "digests": [model.digest for model in self.models],
            "failures": failure_rows(self.failures),
        }

    def __str__(self) -> str:
        found = self.result
        interval = found.intervals
        told = "" if interval is None else f" [{interval.ods.low:.4f}, {interval.ods.high:.4f}]"
        return (
            f"Cross-validation, {len(self.models)} folds: ODS {found.ods.f:.4f}{told} on {len(found.counts)} "
            "photos, each judged by a model that has not learned from it"
        )


def folds_of(names: Sequence[str], folds: int, seed: int) -> list[list[str]]:
    """Return the names in so many parts, drawn by the seed, whose sizes differ by one at most.

    Examples
    --------
    >>> sorted(len(part) for part in folds_of("abcde", 2, 0))
    [2, 3]
    """
    if not 2 <= folds <= len(names):
        raise InputError(f"{len(names)} photos can be split into 2 … {len(names)} folds, got {folds}")
    order = np.random.default_rng([seed, 2]).permutation(len(names))
    return [sorted(names[place] for place in order[part::folds]) for part in range(folds)]


def cross_validate(
    photos: str | Path | None,
    truth: str | Path,
    detector: str = "pb",
    *,
    folds: int = 5,
    out: str | Path,
    labels: Labels = Labels(),  # noqa: B008
    seed: int = 0,
    split: str | None = None,
    binarize: float | None = None,
    draws: int = 1000,
    jobs: int | None = None,
    fresh: bool = False,
    cache: bool = True,
    progress: Progress | None = None,
) -> CrossRun:
    """Learn as often as there are folds, each time without one, and judge the photos of that one.

    Parameters
    ----------
    photos, truth, detector, labels, seed, split, binarize, jobs, fresh, cache, progress
        As for :func:`edgecritic.run.fit.fit_folder`.
    folds : int
    out : path
        Folder of the models, the maps (``maps``), and what is kept of the photos.
    draws : int
        Of the bootstrap over photos.
    """
    cases = {case.id: case for case in photo_cases(photos, truth, split=split)}
    parts = folds_of(sorted(cases), folds, seed)
    home = make_folder(Path(out).absolute())
    name = trainables.bind(detector).entry.name
    models, failures = [], []
    total = sum(2 * (len(cases) - len(part)) + len(part) for part in parts)
    begin = 0

    def step() -> Progress | None:
        start = begin
        return None if progress is None else lambda done, _: progress(start + done, total)

    for number, part in enumerate(parts, start=1):
        others = [one for one in cases if one not in part]
        found = fit_folder(
            photos,
            truth,
            detector,
            labels=[labels],
            seed=seed,
            split=split,
            only=others,
            binarize=binarize,
            records=home / "records" / str(number),
            jobs=jobs,
            fresh=fresh,
            cache=cache,
            progress=step(),
        )
        begin += 2 * len(others)
        (model,) = found.models.values()
        file = home / f"{number}.json"
        save_model(file, model)
        images = [image for one in part if (image := cases[one].image) is not None]
        id_ = str(Id(name, (("model", str(file)),)))
        done = detect_folder(images, id_, home / "maps", thin=True, bits=16, jobs=jobs, progress=step())
        begin += len(part)
        models.append(model)
        failures += [*found.failures, *done.failures]
    if len(failures) and not any((home / "maps").glob("*.png")):
        raise DataError(f"no photo could be judged: {failures[-1].message}")
    judged = run_bench(
        {name: home / "maps"},
        truth,
        split=split,
        binarize=binarize,
        jobs=jobs,
        draws=draws,
        human=False,
        extras=(),
        cache=cache,
    )
    return CrossRun(
        models=tuple(models),
        maps=str(home / "maps"),
        result=judged.details[name],
        failures=tuple(dict.fromkeys([*failures, *judged.failures])),
    )
