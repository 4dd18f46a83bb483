"""The run of the retraining study: fit models to different labels, judge them on other photos."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgecritic.datasets.cases import Case
from edgecritic.datasets.content import digest
from edgecritic.errors import DataError, InputError
from edgecritic.learned.base import Model
from edgecritic.learned.cues import CUES, GREY
from edgecritic.learned.models import save_model
from edgecritic.learned.pb import thin_maps
from edgecritic.protocols.benchmark import Benchmark
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.presets import get_protocol
from edgecritic.protocols.sweep import sweep
from edgecritic.run.cache import open_cache, weigh_labels
from edgecritic.run.executor import Progress, run_tasks
from edgecritic.run.files import make_folder
from edgecritic.run.fit import Labels, case_picture, fit_folder, photo_cases
from edgecritic.run.results import Failure, attempt
from edgecritic.run.store import RECORDS, kept, record_key, safe_name
from edgecritic.studies.retrain import JUDGES, RetrainStudy, summary_of
from edgecritic.values import Value

__all__ = ["RetrainRun", "run_retrain", "SCHEMES"]

RECORD_VERSION = 1
SETS: dict[str, Sequence[str]] = {"colour": CUES, "grey": GREY}
SCHEMES = (Labels(), Labels(1.0), Labels(1.0, "ignore"), Labels(0.4), Labels(0.6), Labels(0.8))
"""What is learned from: all labels, consensus with weak ones as background or left out, growing strength."""


class RetrainRun(Value):
    """The finished study, and photos that could not be used."""

    study: RetrainStudy
    failures: tuple[Failure, ...]


@dataclass(frozen=True, slots=True)
class _Job:
    case: Case
    models: Mapping[str, Model]
    folder: Path
    fresh: bool
    cache: Path | None


def run_retrain(
    truth: str | Path,
    out: str | Path,
    *,
    split: str | None = "train",
    on: str | None = "val",
    photos: str | Path | None = None,
    schemes: Sequence[Labels] = SCHEMES,
    most: int | None = None,
    draws: int = 1000,
    seed: int = 0,
    jobs: int | None = None,
    fresh: bool = False,
    cache: bool = True,
    progress: Progress | None = None,
) -> RetrainRun:
    """Learn Pb from several choices of labels, and judge each on all labels and on consensus labels.

    Parameters
    ----------
    truth : path
        A BSDS folder, or truths in another layout; then the first half of the images is learned from.
    out : path
        Where models and finished work are kept.
    split, on : str, optional
        The splits that are learned from and judged on.
    photos : path, optional
        Photos, if they are not beside the truths.
    schemes : sequence of Labels
        The first is what the others are compared with.
    most : int, optional
        Learn from and judge at most so many photos each.
    draws : int
        Of the bootstrap.
    seed, jobs, fresh, cache, progress
        As for :func:`edgecritic.run.fit.fit_folder`.
    """
    if len(schemes) < 2:
        raise InputError("give at least two choices of labels to compare")
    home = make_folder(Path(out).absolute())
    learned, judged = _halves(truth, photos, split, on, most)
    total = 2 * len(learned) + len(judged)

    def step(begin: int) -> Progress | None:
        return None if progress is None else lambda done, _: progress(begin + done, total)

    fitted = fit_folder(
        photos,
        truth,
        labels=schemes,
        seed=seed,
        split=split,
        only=[case.id for case in learned],
        records=home / RECORDS / "@fit",
        jobs=jobs,
        fresh=fresh,
        cache=cache,
        progress=step(0),
    )
    for name, model in fitted.models.items():
        save_model(make_folder(home / "models") / f"{safe_name(name)}.json", model)
    counts: dict[str, dict[str, Counts]] = {}
    failures = list(fitted.failures)
    with open_cache(cache) as known:
        folder = home / RECORDS / "@retrain"
        work = [_Job(case, fitted.models, folder, fresh, known) for case in judged]
        for done in run_tasks(_judge, work, jobs=jobs, progress=step(2 * len(learned))):
            if isinstance(done, Failure):
                failures.append(done)
                continue
            for key, one in done[1].items():
                counts.setdefault(key, {})[done[0]] = Counts.from_dict(one)
    if not counts:
        raise DataError(f"no photo could be judged: {failures[-1].message}")
    return RetrainRun(study=_study(fitted.models, counts, draws, len(learned)), failures=tuple(failures))


def _halves(
    truth: str | Path, photos: str | Path | None, split: str | None, on: str | None, most: int | None
) -> tuple[list[Case], list[Case]]:
    if split == on:
        cases = photo_cases(photos, truth, split=split)
        middle = len(cases) // 2
        learned, judged = cases[:middle], cases[middle:]
    else:
        learned, judged = (photo_cases(photos, truth, split=one) for one in (split, on))
    if not learned or not judged:
        raise DataError("holds too few photos to learn from some and judge others", path=truth)
    return learned[:most], judged[:most]


def _judge(job: _Job) -> tuple[str, dict[str, Any]] | Failure:
    return attempt(lambda: _judged(job), lambda message: Failure.of_case(job.case, message))


def _judged(job: _Job) -> tuple[str, dict[str, Any]]:
    case = job.case.read(image=True)
    models = {name: model.digest for name, model in job.models.items()}
    sets = {name: list(one) for name, one in SETS.items()}
    key = record_key([RECORD_VERSION, models, sets, digest(case.contents.values())])

    def compute() -> dict[str, Any]:
        picture = case_picture(case)
        for model in job.models.values():
            if model.knows(picture) is not None:
                raise InputError("is one of the photos that were learned from")
        truths = case.load_truths()
        strength = weigh_labels(truths, tolerance=0.0075 * math.hypot(*truths[0].shape), cache=job.cache)
        labels = dict(zip(JUDGES, (truths, strength.consensus()), strict=True))
        protocol = get_protocol("bsds")
        return {
            "|".join((name, cues, judge)): sweep(thin, maps, protocol=protocol).counts.as_dict()
            for (name, cues), thin in thin_maps(picture, job.models, SETS).items()
            for judge, maps in labels.items()
        }

    return case.id, kept(job.folder, case.id, key, compute, fresh=job.fresh)


def _study(
    models: Mapping[str, Model], counts: Mapping[str, Mapping[str, Counts]], draws: int, photos: int
) -> RetrainStudy:
    results, images = {}, 0
    for key, by_image in counts.items():
        benchmark = Benchmark(get_protocol("bsds"))
        for name in sorted(by_image):
            benchmark.add_counts(name, by_image[name])
        images = len(by_image)
        results[key] = benchmark.result(draws=draws if images > 1 else 0)
    first = next(iter(models))
    tests = {}
    for key, result in results.items():
        trained, _, rest = key.partition("|")
        if trained != first and images > 1 and draws:
            tests[key] = result.against(results[f"{first}|{rest}"], draws=draws)
    return RetrainStudy(
        trained=tuple(models),
        cues=tuple(SETS),
        results=results,
        tests=tests,
        models=summary_of(models),
        photos=photos,
        images=images,
    )
