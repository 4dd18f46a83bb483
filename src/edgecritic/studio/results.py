"""What an experiment has shown so far: its trials and answers, as files and statistics take them."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from edgecritic.annotators import choice
from edgecritic.studio.experiments import trials_of
from edgecritic.studio.models import Answer, Experiment, Invitation, Slot, Trial

__all__ = ["choices_of", "places_of", "progress_of"]


def choices_of(session: Session, experiment: Experiment) -> tuple[list[choice.Trial], list[choice.Answer]]:
    """Return the trials and all answers to them; a subject is the id of an invitation."""
    rows = session.execute(
        select(Slot, Answer, Trial.name, Trial.alarm_side)
        .join(Answer, Answer.slot_id == Slot.id)
        .join(Trial, Trial.id == Slot.trial_id)
        .where(Trial.experiment_id == experiment.id)
        .order_by(Slot.invitation_id, Slot.position)
    )
    answers = []
    for slot, answer, trial, side in rows:
        mirrored = slot.alarm_side != side
        chosen = answer.side if answer.side == choice.TIE or not mirrored else choice.other_side(answer.side)
        more = (slot.position, answer.reaction_ms, answer.server_time, answer.pauses, answer.visit)
        seen = dict(answer.display or {})
        answers.append(choice.Answer(trial, str(slot.invitation_id), chosen, mirrored, *more, seen))
    return trials_of(session, experiment), answers


def places_of(session: Session, experiment: Experiment) -> dict[int, int]:
    """Return the number of places in the schedule of every subject."""
    rows = session.execute(
        select(Slot.invitation_id, func.count())
        .join(Trial, Trial.id == Slot.trial_id)
        .where(Trial.experiment_id == experiment.id)
        .group_by(Slot.invitation_id)
    )
    return {person: count for person, count in rows}  # noqa: C416 - rows are no pairs for the type checker


def progress_of(session: Session, invitation: Invitation) -> tuple[int, int]:
    """Return how many places of a subject's schedule are answered, and how many there are."""
    row = session.execute(
        select(func.count(Answer.slot_id), func.count())
        .select_from(Slot)
        .outerjoin(Answer, Answer.slot_id == Slot.id)
        .where(Slot.invitation_id == invitation.id)
    ).one()
    return row[0], row[1]
