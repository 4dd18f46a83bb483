"""People judge edge maps, and so measures: trials for them, and what their answers say, over many images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from edgecritic.annotators.answers import read_choices, read_trials, trials_json
from edgecritic.annotators.choice import PAIR_KINDS, SIDES, Answer, EdgeMap, Trial
from edgecritic.annotators.pairs import (
    MapPool,
    check_kinds,
    judging_measures,
    pair_trials,
    pool_of,
    spoiled_trials,
)
from edgecritic.annotators.preferences import Preference, judge_measures, preference, simulate_judge
from edgecritic.datasets.cases import Case, find_cases
from edgecritic.datasets.content import digest
from edgecritic.datasets.files import read_mask
from edgecritic.errors import DataError
from edgecritic.run.bench import run_bench
from edgecritic.run.executor import Progress, absolute, run_tasks
from edgecritic.run.files import write_text
from edgecritic.run.labels import detect_all
from edgecritic.run.results import Failure, attempt, failure_rows
from edgecritic.run.store import RECORDS, kept, record_key
from edgecritic.values import Value

__all__ = ["DETECTORS", "PreferenceRun", "prepare_trials", "run_preference", "simulate_judges"]

RECORD_VERSION = 1
DETECTORS = ("canny(sigma=2)", "sobel", "steerable")
"""Those whose maps are compared if none are given."""


class PreferenceRun(Value):
    """What people, or simulated subjects, preferred.

    Attributes
    ----------
    trials : tuple of Trial
    found : Preference or None
        None as long as nobody has answered.
    unjudged : tuple of str
        Images of trials whose truth was not found: measures are not asked about them.
    hidden : str
        The measure that simulated subjects used; empty for people.
    failures : tuple of Failure
    """

    _hidden = ("trials",)

    trials: tuple[Trial, ...]
    found: Preference | None
    unjudged: tuple[str, ...] = ()
    hidden: str = ""
    failures: tuple[Failure, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the trials' pixels, ready for JSON."""
        main = [trial for trial in self.trials if trial.part == "main"]
        return {
            "trials": {kind: sum(one.mode == kind for one in main) for kind in PAIR_KINDS},
            "found": None if self.found is None else self.found.as_dict(),
            "unjudged": list(self.unjudged),
            "hidden": self.hidden or None,
            "failures": failure_rows(self.failures),
        }


@dataclass(frozen=True, slots=True)
class _Job:
    image: str
    cases: Mapping[str, Case]
    thresholds: Mapping[str, float]
    kinds: tuple[str, ...]
    seed: int


@dataclass(frozen=True, slots=True)
class _Judging:
    case: Case
    trials: tuple[Trial, ...]
    measures: tuple[str, ...]
    folder: Path | None
    fresh: bool


def prepare_trials(
    truth: str | Path,
    out: str | Path,
    *,
    predictions: Mapping[str, str | Path] | None = None,
    images: str | Path | None = None,
    split: str | None = None,
    most: int | None = None,
    pairs: int = 100,
    kinds: Sequence[str] = PAIR_KINDS,
    practice: int = 3,
    checks: int = 4,
    seed: int = 0,
    jobs: int | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> PreferenceRun:
    """Choose pairs of maps on which measures disagree, and write them as ``trials.json``.

    Parameters
    ----------
    truth, images, split
        See `edgecritic.datasets.cases.find_cases`.
    out : path
        Where the trials, and the maps of detectors that had to be run, are kept.
    predictions : mapping of name to folder, optional
        Strength maps of detectors; without any, `DETECTORS` are run on the photos. Each is cut at the
        threshold of its ODS over the images that are used.
    most : int, optional
        Use the first so many images only.
    pairs, kinds, seed
        See `edgecritic.annotators.pairs`.
    practice, checks : int
        Number of trials whose answer everybody sees, before and among the others.
    """
    check_kinds(kinds)
    home = Path(out).absolute()
    found = find_cases(None, Path(truth).absolute(), images=absolute(images), split=split)
    used = [case for case in found if case.truths and (predictions or case.image is not None)][:most]
    if not used:
        raise DataError("no image has a truth and a photo", remedy="give the photos with --images")
    maps = dict(predictions or {})
    if not maps:
        folders = home / "detected"
        maps = {name: detect_all(used, name, folders / name, jobs, cluster) for name in DETECTORS}
    judged = run_bench(maps, truth, split=split, jobs=jobs, cluster=cluster, extras=(), draws=0, human=False)
    thresholds = {entry["name"]: entry["ods"]["threshold"] or 0.5 for entry in judged["detectors"]}
    listed = {
        name: {
            case.id: case for case in find_cases(Path(folder).absolute(), Path(truth).absolute(), split=split)
        }
        for name, folder in maps.items()
    }
    work = [
        _Job(
            case.id,
            {name: own[case.id] for name, own in listed.items() if case.id in own},
            thresholds,
            tuple(kinds),
            seed,
        )
        for case in used
    ]
    finished = list(run_tasks(_pool, work, jobs=jobs, cluster=cluster, progress=progress))
    pools = sorted((one for one in finished if isinstance(one, MapPool)), key=lambda pool: pool.image)
    failures = tuple(sorted((one for one in finished if isinstance(one, Failure)), key=lambda one: one.id))
    if not pools:
        raise DataError(f"no image could be used: {failures[0]}")
    trials = [*spoiled_trials(pools, practice, checks, seed=seed), *pair_trials(pools, pairs, seed=seed)]
    if not any(trial.part == "main" for trial in trials):
        raise DataError("there is no pair of different maps", remedy="give maps of two or more detectors")
    write_text(home / "trials.json", trials_json(trials, seed=seed, question="maps"))
    return PreferenceRun(trials=tuple(trials), found=None, failures=failures)


def run_preference(
    answers: str | Path | tuple[Sequence[Trial], Sequence[Answer]],
    truth: str | Path | None = None,
    *,
    trials: str | Path | None = None,
    maps: Mapping[str, str | Path] | None = None,
    split: str | None = None,
    measures: Sequence[str] | None = None,
    hidden: str = "",
    draws: int = 1000,
    seed: int = 0,
    out: str | Path | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> PreferenceRun:
    """Say what people preferred, and which measures agree with them.

    Parameters
    ----------
    answers : path, or (trials, answers)
        A file that `edgecritic.annotators.answers.read_choices` reads: of the studio, or any CSV of choices.
    truth : path, optional
        Truths of the images by which measures judge the maps; without it there is the scale alone.
    trials : path, optional
        ``trials.json``, if the file of answers does not have the maps.
    maps : mapping of condition to folder, optional
        Binary maps of conditions by image, for answers from elsewhere.
    measures : sequence of str, optional
        All of `edgecritic.annotators.pairs.judging_measures` if not given.
    hidden : str
        The measure of simulated subjects, noted in the result.
    out : path, optional
        Where judged images are kept; `fresh` judges them anew.
    """
    own, given = read_choices(answers) if isinstance(answers, str | Path) else answers
    asked = list(own) if trials is None else read_trials(trials)
    if not asked:
        raise DataError("the answers do not tell what was compared", remedy="give trials.json with --trials")
    asked = [_filled(trial, maps or {}) for trial in asked]
    known = [trial for trial in asked if trial.part == "main" and _has_maps(trial)]
    table: dict[str, list[float]] | None = None
    failures: list[Failure] = []
    unjudged: tuple[str, ...] = ()
    if truth is not None and known:
        wanted = tuple(judging_measures() if measures is None else measures)
        leads, failures = _judge_all(
            known, truth, split, wanted, absolute(out), fresh, jobs=jobs, cluster=cluster, progress=progress
        )
        table = {name: [leads.get(trial.id, {}).get(name, np.nan) for trial in asked] for name in wanted}
        unjudged = tuple(sorted({trial.image for trial in known if trial.id not in leads}))
    return PreferenceRun(
        trials=tuple(asked),
        found=preference(asked, given, table, draws=draws, seed=seed),
        unjudged=unjudged,
        hidden=hidden,
        failures=tuple(failures),
    )


def simulate_judges(
    asked: Sequence[Trial],
    truth: str | Path,
    measure: str,
    *,
    subjects: int = 30,
    noise: float = 0.5,
    split: str | None = None,
    seed: int = 0,
    jobs: int | None = None,
    cluster: str | None = None,
) -> list[Answer]:
    """Answer trials like subjects who use a measure, with noise: see `simulate_judge`."""
    known = [trial for trial in asked if trial.part == "main"]
    leads, failures = _judge_all(known, truth, split, (measure,), None, True, jobs=jobs, cluster=cluster)
    if failures:
        raise DataError(str(failures[0]))
    values = [leads.get(trial.id, {}).get(measure, np.nan) for trial in asked]
    names = [f"simulated {number}" for number in range(1, subjects + 1)]
    return [one for name in names for one in simulate_judge(asked, values, name=name, noise=noise, seed=seed)]


def _judge_all(
    trials: Sequence[Trial],
    truth: str | Path,
    split: str | None,
    measures: tuple[str, ...],
    out: Path | None,
    fresh: bool,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> tuple[dict[str, dict[str, float]], list[Failure]]:
    """Return by trial and measure how much better the left map is, and what could not be judged."""
    cases = {case.id: case for case in find_cases(None, Path(truth).absolute(), split=split)}
    by_image: dict[str, list[Trial]] = {}
    for trial in trials:
        by_image.setdefault(trial.image, []).append(trial)
    records = None if out is None else out / RECORDS / "@preference"
    work = [
        _Judging(cases[image], tuple(own), measures, records, fresh)
        for image, own in by_image.items()
        if image in cases
    ]
    finished = list(run_tasks(_judge, work, jobs=jobs, cluster=cluster, progress=progress))
    failures = sorted((one for one in finished if isinstance(one, Failure)), key=lambda one: one.id)
    leads: dict[str, dict[str, float]] = {}
    for one in finished:
        if not isinstance(one, Failure):
            leads |= one
    return leads, failures


def _judge(job: _Judging) -> dict[str, dict[str, float]] | Failure:
    """Judge the trials of one image, or take that from the store."""

    def leads() -> dict[str, dict[str, float]]:
        case = job.case.read()
        files = digest(case.contents[path] for path in case.truths)
        shown = [[getattr(trial, side).packed for side in SIDES] for trial in job.trials]
        key = record_key([RECORD_VERSION, list(job.measures), files, shown])
        rows = kept(job.folder, case.id, key, lambda: _measure(case, job), fresh=job.fresh)["leads"]
        return {
            trial.id: {
                name: np.nan if lead is None else float(lead)
                for name, lead in zip(job.measures, row, strict=True)
            }
            for trial, row in zip(job.trials, rows, strict=True)
        }

    return attempt(leads, lambda message: Failure.of_case(job.case, message))


def _measure(case: Case, job: _Judging) -> dict[str, Any]:
    truths = case.load_truths()
    for trial in job.trials:
        for shown in (trial.left, trial.right):
            if isinstance(shown, EdgeMap) and shown.shape != truths[0].shape:
                raise DataError(
                    f"the map {shown.condition!r} has the shape {shown.shape}, the truth {truths[0].shape}"
                )
    found = judge_measures(job.trials, {job.trials[0].image: truths}, job.measures)
    rows = np.array([found[name] for name in job.measures]).T
    return {"leads": [[None if np.isnan(lead) else str(float(lead)) for lead in row] for row in rows]}


def _pool(job: _Job) -> MapPool | Failure:
    cases = list(job.cases.values())

    def pool() -> MapPool:
        if not cases:
            raise DataError("has no map of any detector")
        strengths = {name: case.load_strength() for name, case in job.cases.items()}
        return pool_of(
            job.image, cases[0].load_truths(), strengths, job.thresholds, kinds=job.kinds, seed=job.seed
        )

    return attempt(pool, lambda message: Failure(id=job.image, message=message))


def _has_maps(trial: Trial) -> bool:
    ends = (trial.left, trial.right)
    return all(isinstance(end, EdgeMap) and bool(end.packed) for end in ends)


def _filled(trial: Trial, maps: Mapping[str, str | Path]) -> Trial:
    """Return a trial with the pixels of maps that only their conditions name, where folders have them."""
    if not trial.is_of_maps or _has_maps(trial) or not set(trial.conditions) <= set(maps):
        return trial
    left, right = (EdgeMap.of(_read_map(Path(maps[name]), trial.image), name) for name in trial.conditions)
    return Trial(
        id=trial.id, image=trial.image, detector="", mode=trial.mode, left=left, right=right, part=trial.part
    )


def _read_map(folder: Path, image: str) -> Any:
    found = sorted(file for file in folder.glob("*") if file.stem == image and file.is_file())
    if not found:
        raise DataError(f"holds no map of the image {image!r}", path=folder)
    return read_mask(found[0])
