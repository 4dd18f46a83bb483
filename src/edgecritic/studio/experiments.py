"""Forced-choice experiments: trials drawn from maps or read from a file, and a schedule for every subject."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from edgecritic.annotators import choice
from edgecritic.annotators.answers import parse_trials
from edgecritic.annotators.checks import CHECK_DETECTOR, obvious_pair
from edgecritic.annotators.exclusion import Rules
from edgecritic.annotators.pairs import MapPool, pair_trials, pool_of, spoiled_trials
from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray
from edgecritic.studio import labelling, projects
from edgecritic.studio.database import hold
from edgecritic.studio.models import (
    NAME_LENGTH,
    TRIAL_NAME_LENGTH,
    Answer,
    Experiment,
    Image,
    Invitation,
    Participation,
    Slot,
    Trial,
    now,
)
from edgecritic.studio.problems import Conflict, NotFound
from edgecritic.studio.procedure import Procedure

__all__ = [
    "MAPS",
    "MODES",
    "MOST_SUBJECTS",
    "Plan",
    "change_procedure",
    "close",
    "create_experiment",
    "draw_known",
    "draw_trials",
    "experiments_of",
    "get_experiment",
    "invite_subjects",
    "map_for",
    "map_of",
    "preview_schedule",
    "procedure_of",
    "read_experiment",
    "rules_of",
    "schedule_for",
    "trial_count",
    "trials_of",
]

MODES: dict[str, tuple[choice.Mode, ...]] = {"hard": ("hard",), "easy": ("easy",), "both": choice.MODES}
MAPS = "maps"
MOST_SUBJECTS = 1000
_SHOWN = 6
"""Trials of each part that the owner's preview shows."""
_MOST_TRIALS = 10_000


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


def read_experiment(
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


def procedure_of(experiment: Experiment) -> Procedure:
    """Return what subjects of an experiment go through; of an older one the usual procedure."""
    return Procedure.from_dict(experiment.settings.get("procedure", {}))


def rules_of(experiment: Experiment) -> Rules:
    """Return the rules of an experiment; an older one has none."""
    return Rules.from_dict(experiment.settings.get("rules", {}))


def create_experiment(
    session: Session, project_id: int, plan: Plan, trials: Sequence[choice.Trial], *, drawn: bool = True
) -> Experiment:
    """Store an experiment with its trials; of those that were `drawn` here practice and checks can change."""
    projects.get_project(session, project_id)
    experiment = Experiment(
        project_id=project_id,
        name=projects.clean_name(plan.name),
        mode=plan.mode,
        seed=plan.seed,
        settings={
            "square": plan.square,
            "practice": plan.practice,
            "checks": plan.checks,
            "rules": plan.rules.as_dict(),
            "ties": plan.ties,
            "drawn": drawn,
            "procedure": plan.procedure.as_dict(),
        },
    )
    session.add(experiment)
    session.flush()
    _add_trials(session, experiment, trials)
    return experiment


def _add_trials(session: Session, experiment: Experiment, trials: Iterable[choice.Trial]) -> None:
    images = {image.name: image.id for image in projects.images_of(session, experiment.project_id)}
    session.add_all(_row(trial, experiment.id, images[trial.image]) for trial in trials)
    session.flush()


def change_procedure(
    session: Session,
    experiment_id: int,
    procedure: Procedure,
    known: tuple[Plan, Sequence[choice.Trial]] | None = None,
) -> None:
    """Store another procedure, and other practice and checks if some were drawn (`draw_known`).

    Raises
    ------
    Conflict
        If the experiment has started.
    """
    experiment = hold(session, Experiment, experiment_id)
    if experiment.started is not None:
        raise Conflict("this experiment has started: what subjects see is fixed")
    settings = experiment.settings
    if known is not None:
        plan, trials = known
        session.execute(delete(Trial).where(Trial.experiment_id == experiment.id, Trial.part != "main"))
        _add_trials(session, experiment, trials)
        settings = settings | {"practice": plan.practice, "checks": plan.checks}
    experiment.settings = settings | {"procedure": procedure.as_dict()}


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


def trials_of(session: Session, experiment: Experiment) -> list[choice.Trial]:
    """Return the trials of an experiment, as files have them."""
    rows = session.execute(
        select(Trial, Image.name)
        .join(Image, Image.id == Trial.image_id)
        .where(Trial.experiment_id == experiment.id)
        .order_by(Trial.id)
    )
    return [
        choice.Trial.of(
            _stimulus("false alarm", row.alarm),
            _stimulus("label", row.label),
            row.alarm_side,
            image=image,
            id=row.name,
            detector=row.detector,
            mode=row.mode,
            part=row.part,
        )
        for row, image in rows
    ]


def get_experiment(session: Session, experiment_id: int) -> Experiment:
    """Return an experiment."""
    found = session.get(Experiment, experiment_id)
    if found is None:
        raise NotFound("there is no such experiment")
    return found


def experiments_of(session: Session, project_id: int) -> Sequence[Experiment]:
    """Return the experiments of a project, newest first."""
    return session.scalars(
        select(Experiment).where(Experiment.project_id == project_id).order_by(Experiment.id.desc())
    ).all()


def close(session: Session, experiment_id: int) -> None:
    """End an experiment: no more answers are taken."""
    experiment = hold(session, Experiment, experiment_id)
    experiment.closed = experiment.closed or now()


def trial_count(session: Session, experiment: Experiment) -> dict[str, int]:
    """Return the number of trials of each part."""
    count = dict.fromkeys(choice.PARTS, 0)
    for part in session.scalars(select(Trial.part).where(Trial.experiment_id == experiment.id)):
        count[part] += 1
    return count


def invite_subjects(
    session: Session, experiment: Experiment, names: Sequence[str]
) -> list[tuple[Invitation, str]]:
    """Invite subjects and store the schedule of each before anything is shown.

    The order is random, by the experiment's seed and the subject's number. False alarms are on the left
    in half of a subject's trials of each mode, and two subjects in succession see every trial mirrored.
    """
    experiment = hold(session, Experiment, experiment.id)
    if experiment.closed is not None:
        raise Conflict("this experiment is closed")
    experiment.started = experiment.started or now()
    procedure = procedure_of(experiment)
    asks_first = bool(procedure.consent or procedure.before)
    before = len(projects.people_of(session, experiment_id=experiment.id))
    if not 1 <= len(names) <= MOST_SUBJECTS - before:
        raise InputError(f"an experiment takes 1 to {MOST_SUBJECTS} subjects, {before} are invited")
    trials = list(
        session.scalars(select(Trial).where(Trial.experiment_id == experiment.id).order_by(Trial.id))
    )
    invited = []
    for number, name in enumerate(names, start=before):
        invitation, token = projects.invite(session, name, experiment_id=experiment.id, number=number)
        session.add_all(_slots(experiment.seed, number, invitation.id, trials))
        session.add(
            Participation(
                invitation_id=invitation.id,
                experiment_id=experiment.id,
                code=secrets.token_hex(4).upper() if procedure.own_code else "",
                began=None if asks_first else now(),
            )
        )
        invited.append((invitation, token))
    session.flush()
    return invited


def schedule_for(session: Session, invitation: Invitation) -> list[dict[str, Any]]:
    """Return a subject's schedule as the browser takes it; it does not tell what is the false alarm.

    Practice trials tell the expected side, because the browser says afterwards what was right.
    """
    rows = session.execute(
        select(Slot, Trial, Answer.side)
        .join(Trial, Trial.id == Slot.trial_id)
        .outerjoin(Answer, Answer.slot_id == Slot.id)
        .where(Slot.invitation_id == invitation.id)
        .order_by(Slot.position)
    )
    return [
        _entry(trial, slot.id, slot.alarm_side) | {"answered": answered is not None}
        for slot, trial, answered in rows
    ]


def preview_schedule(session: Session, experiment: Experiment) -> list[dict[str, Any]]:
    """Return some trials of each part, as the owner's preview shows them; places are trials."""
    shown: list[dict[str, Any]] = []
    for part in ("practice", "check", "main"):
        mine = select(Trial).where(Trial.experiment_id == experiment.id, Trial.part == part)
        some = session.scalars(mine.order_by(Trial.id).limit(_SHOWN))
        shown += [_entry(one, one.id, one.alarm_side) | {"answered": False} for one in some]
    return shown


def _entry(trial: Trial, place: int, alarm_side: str) -> dict[str, Any]:
    left, right = (trial.alarm, trial.label) if alarm_side == "left" else (trial.label, trial.alarm)
    of_maps = trial.mode in choice.PAIR_KINDS
    entry: dict[str, Any] = {
        "slot": place,
        "image": trial.image_id,
        "practice": trial.part == "practice",
        "left": None if of_maps else left,
        "right": None if of_maps else right,
    }
    if trial.part == "practice":
        entry["expected"] = choice.other_side(alarm_side)
    return entry


def map_for(session: Session, invitation: Invitation, slot_id: int, side: str) -> choice.EdgeMap:
    """Return the map that a subject sees on one side in a place of the schedule."""
    row = session.execute(
        select(Slot, Trial)
        .join(Trial, Trial.id == Slot.trial_id)
        .where(Slot.id == slot_id, Slot.invitation_id == invitation.id)
    ).one_or_none()
    if row is None:
        raise NotFound("there is no such map in this schedule")
    slot, trial = row
    return _map(trial, slot.alarm_side, side)


def map_of(session: Session, experiment: Experiment, trial_id: int, side: str) -> choice.EdgeMap:
    """Return the map on one side of a trial, for the owner's preview."""
    trial = session.get(Trial, trial_id)
    if trial is None or trial.experiment_id != experiment.id:
        raise NotFound("there is no such trial")
    return _map(trial, trial.alarm_side, side)


def _map(trial: Trial, alarm_side: str, side: str) -> choice.EdgeMap:
    if side not in choice.SIDES:
        raise NotFound("a map is on the left or on the right")
    shown = _stimulus("", trial.alarm if alarm_side == side else trial.label)
    if not isinstance(shown, choice.EdgeMap):
        raise NotFound("this trial shows no maps")
    return shown


Material = tuple[Image, list[BoolArray], dict[str, NDArray[np.float64]]]


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


def _row(trial: choice.Trial, experiment_id: int, image_id: int) -> Trial:
    side = trial.false_alarm or "left"
    alarm, label = (trial.left, trial.right) if side == "left" else (trial.right, trial.left)
    return Trial(
        experiment_id=experiment_id,
        image_id=image_id,
        name=trial.id,
        part=trial.part,
        mode=trial.mode,
        detector=trial.detector,
        alarm_side=side,
        alarm=_stored(alarm),
        label=_stored(label),
    )


def _stored(shown: choice.Stimulus) -> list[Any]:
    """Return centre and pixels of a segment as x, y, x, y, …; condition, kind, shape and pixels of a map."""
    if isinstance(shown, choice.EdgeMap):
        return [shown.condition, shown.kind, *shown.shape, shown.packed]
    return [value for row, column in (shown.centre, *shown.pixels) for value in (column, row)]


def _stimulus(kind: str, stored: Sequence[Any]) -> choice.Stimulus:
    if isinstance(stored[0], str):
        condition, own, rows, columns, packed = stored
        return choice.EdgeMap(condition=condition, kind=own, shape=(rows, columns), packed=packed)
    centre, *pixels = zip(stored[1::2], stored[::2], strict=True)
    return choice.Segment(kind=kind, centre=centre, pixels=tuple(pixels))


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


def _slots(seed: int, number: int, invitation_id: int, trials: Sequence[Trial]) -> Iterable[Slot]:
    """Yield practice first, then trials and checks in random order, the checks spread among the trials."""
    sides = _sides(seed, number, trials)
    rng = np.random.default_rng([seed, 11, number])
    main = [trial for trial in trials if trial.part == "main"]
    order = [main[int(at)] for at in rng.permutation(len(main))]
    asked = [trial for trial in trials if trial.part == "check"]
    checks = [asked[int(at)] for at in rng.permutation(len(asked))]
    step = (len(order) + 1) / (len(checks) + 1)
    for place, check in reversed(list(enumerate(checks, start=1))):
        order.insert(int(place * step), check)
    order[:0] = [trial for trial in trials if trial.part == "practice"]
    for position, trial in enumerate(order):
        yield Slot(
            invitation_id=invitation_id, trial_id=trial.id, position=position, alarm_side=sides[trial.id]
        )


def _sides(seed: int, number: int, trials: Sequence[Trial]) -> dict[int, str]:
    """Return the side of the false alarm in every trial, in balance within each part, mode and detector."""
    rng = np.random.default_rng([seed, 13, number // 2])
    sides = choice.balanced_sides([((trial.part, trial.mode), trial.detector) for trial in trials], rng)
    return {
        trial.id: side if number % 2 == 0 else choice.other_side(side)
        for trial, side in zip(trials, sides, strict=True)
    }
