"""The study of the labels of a data set: strength, detectors, forced choice."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from edgecritic.annotators.answers import read_choices, trials_json
from edgecritic.annotators.choice import MODES, Answer, Mode, Trial, balanced, trials
from edgecritic.annotators.perceptual import LabelStrength, strength
from edgecritic.annotators.votes import Risk, dataset_risk, risks
from edgecritic.datasets.cases import Case, find_cases
from edgecritic.datasets.content import read_text
from edgecritic.datasets.write import write_map
from edgecritic.errors import DataError, EdgeCriticError, OutputError
from edgecritic.protocols.presets import get_protocol
from edgecritic.protocols.sweep import candidate_at
from edgecritic.run.annotators import AnnotatorsRun, run_annotators
from edgecritic.run.executor import Progress, run_tasks
from edgecritic.run.files import write_text
from edgecritic.run.results import Failure, failure_rows
from edgecritic.run.strength import StrengthRun, run_strength
from edgecritic.studies.claims import Claim
from edgecritic.studies.labels import compare_data_sets, label_claims, mean_drops
from edgecritic.values import Value

__all__ = ["LabelsStudy", "detect_all", "run_labels"]


class LabelsStudy(Value):
    """Everything about the labels of a data set.

    Attributes
    ----------
    annotators : AnnotatorsRun
    strength : StrengthRun or None
    trials : tuple of Trial
    risks : dict
        By mode the risk that answers show.
    detector_risks : tuple of Risk
        The same by mode and detector.
    beside : mapping, optional
        ``strength.json`` of a study of another data set.
    """

    annotators: AnnotatorsRun
    strength: StrengthRun | None
    trials: tuple[Trial, ...]
    risks: Mapping[str, Any]
    detector_risks: tuple[Risk, ...] = ()
    beside: Mapping[str, Any] | None = None

    @property
    def claims(self) -> list[Claim]:
        """What the paper says beside what was found."""
        judged = None if self.strength is None else self.strength.results
        by_detector = [one.as_dict() for one in self.detector_risks]
        found = label_claims(self.annotators.results, judged, by_detector)
        if judged is not None and self.beside is not None:
            found += compare_data_sets(judged, self.beside)[1]
        return found

    @property
    def failures(self) -> tuple[Failure, ...]:
        """What could not be weighed or judged."""
        return (*self.annotators.failures, *(() if self.strength is None else self.strength.failures))

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the trials' pixels, ready for JSON."""
        return {
            "annotators": self.annotators.as_dict(),
            "strength": None if self.strength is None else self.strength.as_dict(),
            "trials": {mode: sum(one.mode == mode for one in self.trials) for mode in MODES},
            "risks": dict(self.risks),
            "detector_risks": [one.as_dict() for one in self.detector_risks],
            "drops": None if self.strength is None else mean_drops(self.strength.results),
            "claims": [one.as_dict() for one in self.claims],
            "failures": failure_rows(self.failures),
        }


def run_labels(
    truth: str | Path,
    out: str | Path,
    *,
    predictions: Mapping[str, str | Path] | None = None,
    detector: str = "canny(sigma=2)",
    images: str | Path | None = None,
    split: str | None = None,
    most: int | None = None,
    draws: int = 10,
    answers: str | Path | None = None,
    beside: str | Path | None = None,
    seed: int = 0,
    jobs: int | None = None,
    cluster: str | None = None,
    fresh: bool = False,
    cache: bool = True,
    progress: Progress | None = None,
) -> LabelsStudy:
    """Weigh the labels of a data set, judge detectors on them, and prepare the forced choice.

    Parameters
    ----------
    truth : path
    out : path
        Finished work, trials (``trials.json``) and results are kept there.
    predictions : mapping of name to folder, optional
        Soft maps of detectors; without any, `detector` is run on the photos.
    most : int, optional
        Detectors are judged on the first so many images only.
    draws : int
        Of the partial-label control.
    answers : path, optional
        Answers of people to ``trials.json`` of an earlier run, as CSV or JSON, or ``answers.csv`` or
        ``experiment.json`` of an experiment of the studio.
    beside : path, optional
        Folder of the same study of another data set, which F is compared with.
    fresh, cache : bool
        As for :func:`edgecritic.run.bench.run_bench`.
    """
    other = None if beside is None else _strengths_of(Path(beside))
    own, given = ([], []) if answers is None else read_choices(answers)
    home = Path(out).absolute()
    common: dict[str, Any] = {"split": split, "jobs": jobs, "cluster": cluster, "fresh": fresh}
    common |= {"cache": cache, "progress": progress}
    people = run_annotators(truth, images=images, out=home, **common)
    several = {row["id"] for row in people.results["per_image"]}
    cases = [case for name, case in people.cases.items() if name in several]
    maps = dict(predictions or {})
    judged_ids = None
    if not maps:
        seen = [case for case in cases if case.image is not None][:most]
        if not seen:
            judgements = _risks(own, given, answers)
            return LabelsStudy(annotators=people, strength=None, trials=(), **judgements, beside=other)
        judged_ids = {case.id for case in seen}  # an earlier run may have left maps of other images there
        maps = {detector: detect_all(seen, detector, home / "detected", jobs, cluster)}
    judged = run_strength(maps, truth, out=home, draws=draws, seed=seed, only=judged_ids, **common)
    asked = []
    for entry in judged["detectors"]:
        found = find_cases(Path(maps[entry["name"]]).absolute(), Path(truth).absolute(), split=split)
        wanted = several if judged_ids is None else judged_ids
        asked += _trials(entry, [case for case in found if case.id in wanted], seed)
    asked = balanced(asked, seed=seed)
    write_text(home / "trials.json", trials_json(asked))
    judgements = _risks(own or asked, given, answers)
    return LabelsStudy(annotators=people, strength=judged, trials=tuple(asked), **judgements, beside=other)


def detect_all(
    cases: Sequence[Case], detector: str, folder: Path, jobs: int | None, cluster: str | None
) -> Path:
    """Run a detector on photos, keep its thin maps in a folder, and return that."""
    work = [(case, detector, folder) for case in cases]
    failures = [message for message in run_tasks(_detect, work, jobs=jobs, cluster=cluster) if message]
    if failures:
        raise DataError(failures[0])
    return folder


def _detect(task: tuple[Case, str, Path]) -> str:
    from edgecritic.detectors import detect

    case, detector, folder = task
    try:
        write_map(folder / f"{case.id}.png", detect(case.load_image(), detector).thin)
    except OutputError:
        raise  # no other image would fare better
    except EdgeCriticError as error:
        return f"{case.id}: {error}"
    return ""


def _trials(entry: Mapping[str, Any], cases: Sequence[Case], seed: int) -> list[Trial]:
    """Draw hard trials at the threshold of level 0, easy ones at that of the highest level."""
    protocol = get_protocol("bsds")
    levels: dict[Mode, float] = {
        "hard": entry["levels"][0]["threshold"],
        "easy": entry["levels"][-1]["threshold"],
    }
    asked: list[Trial] = []
    loaded: list[tuple[str, LabelStrength, Any]] = []
    for case in cases:
        truths = case.load_truths()
        found = strength(truths, tolerance=protocol.tolerance_for(truths[0].shape))
        loaded.append((case.id, found, case.load_strength()))
    for mode, threshold in levels.items():
        images = [(name, found, candidate_at(output, threshold)) for name, found, output in loaded]
        asked += trials(images, mode=mode, detector=entry["name"], seed=seed)
    return asked


def _risks(asked: Sequence[Trial], given: Sequence[Answer], answers: str | Path | None) -> dict[str, Any]:
    """Return the risks that answers show: by mode, and by mode and detector."""
    by_mode: dict[str, Any] = {}
    for mode in MODES:
        some = [trial for trial in asked if trial.mode == mode and trial.part == "main"]
        names = {trial.id for trial in some}
        own = [answer for answer in given if answer.trial in names]
        if own:
            by_mode[mode] = dataset_risk(some, own).as_dict()
    unknown = {answer.trial for answer in given} - {trial.id for trial in asked}
    if unknown:
        raise DataError(f"{answers}: names {len(unknown)} trial(s) that are not in trials.json")
    return {"risks": by_mode, "detector_risks": tuple(risks(asked, given)) if by_mode else ()}


def _strengths_of(folder: Path) -> dict[str, Any]:
    """Return what an earlier study of the labels found of detectors."""
    file = folder / "strength.json"
    try:
        found = json.loads(read_text(file))
        known = [(one["name"], [level["f"] for level in one["levels"]]) for one in found["detectors"]]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError("is not what edgecritic study labels writes", path=file) from error
    if not known or not isinstance(found, dict):
        raise DataError("tells of no detector", path=file)
    return found
