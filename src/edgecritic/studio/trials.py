"""The trials of an experiment: drawn from the maps of a project, or read from a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from edgecritic.annotators import choice
from edgecritic.annotators.answers import parse_trials
from edgecritic.annotators.checks import CHECK_DETECTOR, obvious_pair
from edgecritic.annotators.exclusion import Rules
from edgecritic.annotators.pairs import MapPool, pair_trials, pool_of, spoiled_trials
from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray
from edgecritic.studio import labelling, projects
from edgecritic.studio.models import NAME_LENGTH, TRIAL_NAME_LENGTH, Experiment, Image
from edgecritic.studio.problems import Conflict, NotFound
from edgecritic.studio.procedure import Procedure

__all__ = ["MAPS", "MODES", "Plan", "draw_known", "draw_trials", "read_trials"]

MODES: dict[str, tuple[choice.Mode, ...]] = {"hard": ("hard",), "easy": ("easy",), "both": choice.MODES}
MAPS = "maps"
_MOST_TRIALS = 10_000

Material = tuple[Image, list[BoolArray], dict[str, NDArray[np.float64]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What an experiment is made of.

    Attributes
    ----------
    name : str
    mode : {"hard", "easy", "both", "maps"}
        ``maps``: whole edge maps are compared, and not segments.
    seed : int
    square : int
        Side of the square around a segment, in pixels; odd.
    practice, checks : int
        Number of practice trials and of attention checks; their answers are known.
    rules : Rules
        Which subjects the results leave out; fixed with the experiment, before anybody has answered.
    ties : bool
        Whether a subject may find two maps equally good.
    pairs : int
        Number of pairs of maps.
    procedure : Procedure
        What subjects go through around the trials.
    """

    name: str
    mode: str = "hard"
    seed: int = 0
    square: int = choice.SQUARE
    practice: int = 3
    checks: int = 4
    rules: Rules = field(default_factory=Rules)
    ties: bool = False
    pairs: int = 100
    procedure: Procedure = field(default_factory=Procedure)

    def __post_init__(self) -> None:
        if self.mode not in (*MODES, MAPS):
            raise InputError(f"mode must be one of {', '.join((*MODES, MAPS))}")
        limits = {
            "pairs": (1, 1000),
            "seed": (0, 2**31 - 1),
            "square": (5, 101),
            "practice": (0, 20),
            "checks": (0, 50),
        }
        for name, (low, high) in limits.items():
            if not low <= getattr(self, name) <= high:
                raise InputError(f"{name} must lie in {low} … {high}")
        if self.square % 2 == 0:
            raise InputError("square must be odd")


def draw_trials(session: Session, project_id: int, plan: Plan) -> list[choice.Trial]:
    """Draw the trials of an experiment from a project's labels and detectors; nothing is stored.

    Labels are the submitted and the imported maps; every image that takes part needs those of two
    annotators or more. Each detector is cut at its best threshold (ODS) over these images.
    """
    projects.get_project(session, project_id)
    material = list(_material(session, project_id))
    if not material:
        raise Conflict(
            "no image has labels of two annotators and a detector's map; import or submit some first"
        )
    if plan.mode == MAPS:
        return _map_trials(material, plan)
    drawn = choice.balanced(list(_main_trials(material, plan)), seed=plan.seed)
    if not drawn:
        raise Conflict("the detectors have no false alarms against these labels: there is nothing to compare")
    return [*drawn, *_checks(session, material, plan)]


def draw_known(
    session: Session, experiment: Experiment, practice: int, checks: int
) -> tuple[Plan, list[choice.Trial]] | None:
    """Draw so many trials for practice and checks, without storing them; None if there are so many already.

    Raises
    ------
    Conflict
        If the trials were read from a file, or if the labels that checks are drawn from are gone.
    """
    settings = experiment.settings
    if (practice, checks) == (settings["practice"], settings["checks"]):
        return None
    if not settings.get("drawn"):
        raise Conflict("practice and checks are those of the file that the trials were read from")
    about: dict[str, Any] = {"mode": experiment.mode, "seed": experiment.seed, "square": settings["square"]}
    plan = Plan(name=experiment.name, practice=practice, checks=checks, **about)
    material = list(_material(session, experiment.project_id))
    if not material:
        raise Conflict("the images have no labels of two annotators any more, from which checks are drawn")
    if plan.mode == MAPS:
        return plan, list(spoiled_trials(_pools(material, plan), practice, checks, seed=plan.seed))
    return plan, list(_checks(session, material, plan))


def read_trials(
    session: Session, project_id: int, name: str, document: Any
) -> tuple[Plan, list[choice.Trial]]:
    """Return the plan and the trials of a file, such as ``trials.json``, for the project's images.

    What the file says is shown: there are checks and practice if it has some. Its seed, if there is one,
    decides the schedules.
    """
    projects.get_project(session, project_id)
    trials = parse_trials(document, name)
    if not 1 <= len(trials) <= _MOST_TRIALS:
        raise InputError(f"an experiment has 1 to {_MOST_TRIALS} trials, the file has {len(trials)}")
    shapes = {one.name: (one.height, one.width) for one in projects.images_of(session, project_id)}
    reach = max(_reach(trial, shapes) for trial in trials)
    modes, parts = {trial.mode for trial in trials}, [trial.part for trial in trials]
    seed = document.get("seed", 0)
    if not isinstance(seed, int):
        raise InputError(f"the seed must be a whole number, the file has {seed!r}")
    of_maps = {trial.is_of_maps for trial in trials}
    if len(of_maps) > 1:
        raise InputError("an experiment asks about segments or about maps, the file has both")
    plan = Plan(
        name=name,
        mode=MAPS if True in of_maps else modes.pop() if len(modes) == 1 else "both",
        ties=_says_ties(document),
        seed=seed,
        square=max(choice.SQUARE, 2 * reach + 1),
        practice=parts.count("practice"),
        checks=parts.count("check"),
        rules=_rules(document),
        procedure=_procedure(document),
    )
    return plan, trials


def _says_ties(document: dict[str, Any]) -> bool:
    settings = document.get("settings")
    return (settings if isinstance(settings, dict) else document).get("ties") is True


def _rules(document: dict[str, Any]) -> Rules:
    """Return the rules of a file of another studio, or those that hold where a file says nothing."""
    settings = document.get("settings")
    given = settings.get("rules") if isinstance(settings, dict) else None
    return Rules.from_dict(given) if isinstance(given, dict) else Rules()


def _procedure(document: dict[str, Any]) -> Procedure:
    """Return the procedure of a file of another studio, or the usual one."""
    settings = document.get("settings")
    given = settings.get("procedure") if isinstance(settings, dict) else None
    return Procedure() if given is None else Procedure.from_dict(given)


def _reach(trial: choice.Trial, shapes: dict[str, tuple[int, int]]) -> int:
    """Return how far a trial's pixels are from their centres; refuse what the project cannot show."""
    if trial.image not in shapes:
        raise NotFound(f"the project has no image {trial.image!r}, which a trial shows; add the photo first")
    if not 1 <= len(trial.id) <= TRIAL_NAME_LENGTH or not 0 <= len(trial.detector) <= NAME_LENGTH:
        raise InputError(
            f"a trial's id has 1 to {TRIAL_NAME_LENGTH} characters, a detector's name at most {NAME_LENGTH}"
        )
    if not (trial.id + trial.detector).isprintable():
        raise InputError("the ids of trials and the names of detectors must be printable text")
    far = 0
    for segment in (trial.left, trial.right):
        if isinstance(segment, choice.EdgeMap):
            _check_map(segment, shapes[trial.image])
            continue
        places = np.array([segment.centre, *segment.pixels], dtype=object)
        if len(places) < 2 or (places < 0).any() or (places >= shapes[trial.image]).any():
            raise InputError(f"the segments of the trial {trial.id!r} must have pixels, all inside the image")
        far = max(far, int(np.abs(places - places[0]).max()))
    return far


def _check_map(shown: choice.EdgeMap, shape: tuple[int, int]) -> None:
    if not 1 <= len(shown.condition) <= NAME_LENGTH or not shown.condition.isprintable():
        raise InputError(f"the condition of a map is a printable text of 1 to {NAME_LENGTH} characters")
    if shown.shape != shape:
        raise InputError(f"the map {shown.condition!r} has the shape {shown.shape}, its photo {shape}")
    _ = shown.map


def _material(session: Session, project_id: int) -> Iterable[Material]:
    for image in projects.images_of(session, project_id):
        labels = [label.map for label in labelling.labels_of(session, image.id)]
        detectors = projects.detector_maps(session, image.id)
        if len(labels) >= 2 and detectors:
            yield image, labels, detectors


def _main_trials(material: list[Material], plan: Plan) -> Iterable[choice.Trial]:
    from edgecritic.annotators import strength
    from edgecritic.protocols.sweep import candidate_at

    found = {image.id: strength(labels) for image, labels, _ in material}
    names = sorted({name for _, _, detectors in material for name in detectors})
    for mode in MODES[plan.mode]:
        truths = {key: one.maps if mode == "hard" else one.consensus() for key, one in found.items()}
        for name in names:
            used = [(image, maps[name]) for image, _, maps in material if name in maps]
            threshold = _best_threshold([(maps, truths[image.id]) for image, maps in used])
            candidates = (
                (image.name, found[image.id], candidate_at(maps, threshold)) for image, maps in used
            )
            yield from choice.trials(candidates, mode=mode, detector=name, square=plan.square, seed=plan.seed)


def _map_trials(material: list[Material], plan: Plan) -> list[choice.Trial]:
    """Choose pairs of the detectors' maps on which measures disagree, and trials with a known answer."""
    pools = _pools(material, plan)
    drawn = pair_trials(pools, plan.pairs, seed=plan.seed)
    if not drawn:
        raise Conflict("the detectors' maps do not differ: there is nothing to compare")
    return [*drawn, *spoiled_trials(pools, plan.practice, plan.checks, seed=plan.seed)]


def _pools(material: list[Material], plan: Plan) -> list[MapPool]:
    """Return the maps of every image that can be compared: of each detector, around its best threshold."""
    names = sorted({name for _, _, detectors in material for name in detectors})
    used = {name: [(maps[name], labels) for _, labels, maps in material if name in maps] for name in names}
    thresholds = {name: _best_threshold(some) for name, some in used.items()}
    return [
        pool_of(image.name, labels, detectors, thresholds, seed=plan.seed)
        for image, labels, detectors in material
    ]


def _best_threshold(maps: list[tuple[NDArray[np.float64], list[BoolArray]]]) -> float:
    """Return the threshold of the best F over all images (ODS)."""
    from edgecritic.protocols.benchmark import Benchmark

    benchmark = Benchmark("bsds")
    for number, (strength, truths) in enumerate(maps):
        benchmark.update(strength, truths, id=str(number))
    best = benchmark.result(draws=0).ods.threshold
    return 0.5 if best is None else float(best)


def _checks(session: Session, material: list[Material], plan: Plan) -> Iterable[choice.Trial]:
    from edgecritic.studio.pictures import decode_png

    rng = np.random.default_rng([plan.seed, 7])
    for number in range(plan.practice + plan.checks):
        image, labels, _ = material[int(rng.integers(len(material)))]
        gradient = decode_png(projects.file_of(session, image.id, "gradient").content)
        pair = obvious_pair(gradient, labels, plan.square, rng)
        if pair is not None:
            part = "practice" if number < plan.practice else "check"
            yield choice.Trial.of(
                *pair,
                "left",
                id=f"{part}/{number}",
                image=image.name,
                detector=CHECK_DETECTOR,
                mode=MODES[plan.mode][0],
                part=part,
            )
