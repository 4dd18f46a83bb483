"""Forced-choice experiments as they are stored: their trials, their subjects, and a schedule for each."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from edgecritic.annotators import choice
from edgecritic.annotators.exclusion import Rules
from edgecritic.errors import InputError
from edgecritic.studio import projects
from edgecritic.studio.database import hold
from edgecritic.studio.models import (
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
from edgecritic.studio.trials import Plan

__all__ = [
    "MOST_SUBJECTS",
    "change_procedure",
    "close",
    "create_experiment",
    "experiments_of",
    "get_experiment",
    "invite_subjects",
    "map_for",
    "map_of",
    "preview_schedule",
    "procedure_of",
    "rules_of",
    "schedule_for",
    "trial_count",
    "trials_of",
]

MOST_SUBJECTS = 1000
_SHOWN = 6
"""Trials of each part that the owner's preview shows."""


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
