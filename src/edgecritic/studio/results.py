"""What an experiment has shown so far: its trials and answers, as files and statistics take them."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from edgecritic.annotators import choice
from edgecritic.annotators.votes import Screening, screening
from edgecritic.studio.models import Answer, Experiment, Image, Invitation, Slot, Trial
from edgecritic.studio.projects import people_of
from edgecritic.values import Value

__all__ = ["Subject", "choices_of", "names_of", "subjects_of"]


class Subject(Value):
    """A subject of an experiment, and how far and how well the work went.

    Attributes
    ----------
    id : int
        Of the invitation.
    name : str
    opened, revoked : bool
    total : int
        Places in the schedule.
    screening : Screening
    """

    id: int
    name: str
    opened: bool
    revoked: bool
    total: int
    screening: Screening


def choices_of(session: Session, experiment: Experiment) -> tuple[list[choice.Trial], list[choice.Answer]]:
    """Return the trials, without pixels, and all answers; a subject is the id of an invitation."""
    described = session.execute(
        select(Trial.alarm_side, Trial.name, Image.name, Trial.detector, Trial.mode, Trial.part)
        .join(Image, Image.id == Trial.image_id)
        .where(Trial.experiment_id == experiment.id)
        .order_by(Trial.id)
    )
    names = ("id", "image", "detector", "mode", "part")
    trials = [choice.Trial.bare(side, **dict(zip(names, rest, strict=True))) for side, *rest in described]
    answered = session.execute(
        select(
            Trial.name,
            Slot.invitation_id,
            Answer.side,
            Slot.alarm_side,
            Trial.alarm_side,
            Slot.position,
            Answer.reaction_ms,
            Answer.server_time,
        )
        .join(Slot, Slot.id == Answer.slot_id)
        .join(Trial, Trial.id == Slot.trial_id)
        .where(Trial.experiment_id == experiment.id)
        .order_by(Slot.invitation_id, Slot.position)
    )
    answers = []
    for trial, person, side, shown, own, position, reaction, time in answered:
        mirrored = shown != own
        given = choice.other_side(side) if mirrored else side
        answers.append(choice.Answer(trial, str(person), given, mirrored, position, reaction, time))
    return trials, answers


def subjects_of(
    session: Session, experiment: Experiment, trials: list[choice.Trial], answers: list[choice.Answer]
) -> list[Subject]:
    """Return the subjects with their statistics."""
    rows = session.execute(
        select(Slot.invitation_id, func.count())
        .join(Invitation, Invitation.id == Slot.invitation_id)
        .where(Invitation.experiment_id == experiment.id)
        .group_by(Slot.invitation_id)
    )
    totals = {person: count for person, count in rows}  # noqa: C416 - rows are no pairs for the type checker
    found = screening(trials, answers)
    return [
        Subject(
            id=person.id,
            name=person.name,
            opened=person.opened is not None,
            revoked=person.revoked is not None,
            total=totals.get(person.id, 0),
            screening=found.get(str(person.id)) or Screening(subject=str(person.id)),
        )
        for person in people_of(session, experiment_id=experiment.id)
    ]


def names_of(session: Session, experiment: Experiment) -> dict[str, str]:
    """Return the names of the subjects by id, for display."""
    return {str(person.id): person.name for person in people_of(session, experiment_id=experiment.id)}
