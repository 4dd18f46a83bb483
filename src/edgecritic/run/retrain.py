"""The run of the retraining study: fit models to different labels, judge them on other photos."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from edgecritic.annotators.outputs import OutputStrength, output_strength, pool_output_strength
from edgecritic.datasets.cases import Case
from edgecritic.datasets.content import digest
from edgecritic.errors import DataError, InputError
from edgecritic.learned.base import Model
from edgecritic.learned.cues import CUES, GREY
from edgecritic.learned.models import save_model
from edgecritic.learned.pb import thin_maps
from edgecritic.protocols.benchmark import Benchmark, BenchmarkResult
from edgecritic.protocols.counts import Counts
from edgecritic.protocols.presets import get_protocol
from edgecritic.protocols.sweep import sweep
from edgecritic.run.cache import open_cache, weigh_labels
from edgecritic.run.executor import Progress, run_tasks
from edgecritic.run.files import make_folder
from edgecritic.run.fit import NEAR, FitRun, Labels, case_picture, fit_folder, photo_cases
from edgecritic.run.results import Failure, attempt
from edgecritic.run.store import RECORDS, kept, record_key, safe_name
from edgecritic.studies.retrain import JUDGES, CurvePoint, RetrainStudy, summary_of
from edgecritic.values import Value

__all__ = ["RetrainRun", "run_retrain", "SCHEMES"]

RECORD_VERSION = 2
COLOUR: dict[str, Sequence[str]] = {"colour": CUES}
SETS: dict[str, Sequence[str]] = {**COLOUR, "grey": GREY}
SCHEMES = (
    *(Labels(), Labels(1.0), Labels(1.0, "ignore"), Labels(0.4), Labels(0.6), Labels(0.8)),
    Labels(weighted=True),
)
"""What is learned from: all labels, consensus with weak ones as background or left out, growing strength,
all labels weighted by their strength."""


class RetrainRun(Value):
    """The finished study, and photos that could not be used."""

    study: RetrainStudy
    failures: tuple[Failure, ...]


@dataclass(frozen=True, slots=True)
class _Job:
    case: Case
    models: Mapping[str, Model]
    sets: Mapping[str, Sequence[str]]
    shown: tuple[str, ...]
    folder: Path
    fresh: bool
    cache: Path | None


@dataclass(frozen=True, slots=True)
class _Plan:
    """What all rounds of learning and judging share."""

    truth: str | Path
    photos: str | Path | None
    split: str | None
    home: Path
    judged: list[Case]
    draws: int
    seed: int
    jobs: int | None
    fresh: bool
    cache: bool


class _Round(Value):
    """Models of one choice of photos, their results, and how strong the labels are that they match."""

    models: dict[str, Model]
    results: dict[str, BenchmarkResult]
    outputs: dict[str, OutputStrength]
    failures: tuple[Failure, ...]


def run_retrain(
    truth: str | Path,
    out: str | Path,
    *,
    split: str | None = "train",
    on: str | None = "val",
    photos: str | Path | None = None,
    schemes: Sequence[Labels] = SCHEMES,
    curve: Sequence[int] | None = None,
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
    curve : sequence of int, optional
        Learn from so many photos as well, for the learning curve: a seeded choice, each within the next. By
        default an eighth, a quarter and a half of the photos; none if empty.
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
    order = np.random.default_rng(seed).permutation(len(learned))
    names = [learned[place].id for place in order]
    sizes = _sizes(len(names), curve)
    plan = _Plan(truth, photos, split, home, judged, draws, seed, jobs, fresh, cache)
    total = sum(2 * size + len(judged) for size in (*sizes, len(names)))
    begin = 0

    def step(size: int) -> Progress | None:
        nonlocal begin
        start, begin = begin, begin + 2 * size + len(judged)
        return None if progress is None else lambda done, _: progress(start + done, total)

    pair = _pair(schemes)
    main = _round(plan, names, schemes, SETS, pair, "@retrain", step(len(names)))
    for name, model in main.models.items():
        save_model(make_folder(home / "models") / f"{safe_name(name)}.json", model)
    points = []
    failures = list(main.failures)
    for size in sizes:
        part = _round(plan, names[:size], pair, COLOUR, (), f"@retrain-{size}", step(size))
        points += _points(part, pair, size)
        failures += [replace(one, message=f"with {size} photos: {one.message}") for one in part.failures]
    points += _points(main, pair, len(names)) if sizes else []
    return RetrainRun(study=_study(main, pair, tuple(points), draws, len(names)), failures=tuple(failures))


def _sizes(number: int, given: Sequence[int] | None) -> list[int]:
    """Return the numbers of photos of the learning curve that are less than all."""
    chosen = [number // 8, number // 4, number // 2] if given is None else given
    if given is not None and any(size < 1 for size in given):
        raise InputError(f"a learning curve needs numbers of photos from 1 on, got {min(given)}")
    return sorted({size for size in chosen if 0 < size < number})


def _pair(schemes: Sequence[Labels]) -> list[Labels]:
    """Return the first choice of labels, and consensus labels if they are asked for: what figures show."""
    return [schemes[0], *(one for one in schemes[1:] if str(one) == "consensus")]


def _points(found: _Round, pair: Sequence[Labels], size: int) -> list[CurvePoint]:
    return [
        CurvePoint.of(size, str(one), judge, found.results["|".join((str(one), "colour", judge))])
        for one in pair
        for judge in JUDGES
    ]


def _round(
    plan: _Plan,
    names: Sequence[str],
    schemes: Sequence[Labels],
    sets: Mapping[str, Sequence[str]],
    shown: Sequence[Labels],
    records: str,
    progress: Progress | None,
) -> _Round:
    """Learn from some photos, and judge the models on all photos that are kept for that."""
    fitted: FitRun = fit_folder(
        plan.photos,
        plan.truth,
        labels=schemes,
        seed=plan.seed,
        split=plan.split,
        only=names,
        records=plan.home / RECORDS / f"{records}-fit",
        jobs=plan.jobs,
        fresh=plan.fresh,
        cache=plan.cache,
        progress=progress,
    )
    counts: dict[str, dict[str, Counts]] = {}
    outputs: dict[str, list[OutputStrength]] = {}
    failures = list(fitted.failures)
    later = None if progress is None else _later(progress, 2 * len(names))
    with open_cache(plan.cache) as known:
        folder = plan.home / RECORDS / records
        told = tuple(map(str, shown))
        work = [_Job(case, fitted.models, sets, told, folder, plan.fresh, known) for case in plan.judged]
        for done in run_tasks(_judge, work, jobs=plan.jobs, progress=later):
            if isinstance(done, Failure):
                failures.append(done)
                continue
            name, content = done
            for key, one in content["counts"].items():
                counts.setdefault(key, {})[name] = Counts.from_dict(one)
            for trained, table in content["outputs"].items():
                found = OutputStrength(
                    counts=np.array(table, np.int64),
                    strengths=np.arange(1, len(table[0]) + 1) / len(table[0]),
                )
                outputs.setdefault(trained, []).append(found)
    if not counts:
        raise DataError(f"no photo could be judged: {failures[-1].message}")
    return _Round(
        models=fitted.models,
        results=_results(counts, plan.draws),
        outputs={trained: pool_output_strength(parts) for trained, parts in outputs.items()},
        failures=tuple(failures),
    )


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
    sets = {name: list(one) for name, one in job.sets.items()}
    settings = [models, sets, list(job.shown)]
    key = record_key([RECORD_VERSION, settings, digest(case.contents.values())])

    def compute() -> dict[str, Any]:
        picture = case_picture(case)
        for model in job.models.values():
            if model.knows(picture) is not None:
                raise InputError("is one of the photos that were learned from")
        truths = case.load_truths()
        strength = weigh_labels(truths, tolerance=NEAR * math.hypot(*truths[0].shape), cache=job.cache)
        labels = dict(zip(JUDGES, (truths, strength.consensus()), strict=True))
        protocol = get_protocol("bsds")
        thin = thin_maps(picture, job.models, job.sets)
        counts = {
            "|".join((name, cues, judge)): sweep(one, maps, protocol=protocol).counts.as_dict()
            for (name, cues), one in thin.items()
            for judge, maps in labels.items()
        }
        outputs = {
            name: output_strength(thin[name, "colour"], strength).counts.tolist() for name in job.shown
        }
        return {"counts": counts, "outputs": outputs}

    return case.id, kept(job.folder, case.id, key, compute, fresh=job.fresh)


def _later(progress: Progress, begin: int) -> Progress:
    return lambda done, total: progress(begin + done, total)


def _results(counts: Mapping[str, Mapping[str, Counts]], draws: int) -> dict[str, BenchmarkResult]:
    results = {}
    for key, by_image in counts.items():
        benchmark = Benchmark(get_protocol("bsds"))
        for name in sorted(by_image):
            benchmark.add_counts(name, by_image[name])
        results[key] = benchmark.result(draws=draws if len(by_image) > 1 else 0)
    return results


def _study(
    main: _Round, pair: Sequence[Labels], curve: tuple[CurvePoint, ...], draws: int, photos: int
) -> RetrainStudy:
    images = len(next(iter(main.results.values())).counts)
    first = str(pair[0])
    tests = {}
    for key, result in main.results.items():
        trained, _, rest = key.partition("|")
        if trained != first and images > 1 and draws:
            tests[key] = result.against(main.results[f"{first}|{rest}"], draws=draws)
    return RetrainStudy(
        trained=tuple(main.models),
        cues=tuple(SETS),
        results=main.results,
        tests=tests,
        models=summary_of(main.models),
        photos=photos,
        images=images,
        outputs=main.outputs,
        curve=curve,
    )
