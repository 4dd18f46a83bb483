"""Subjects apart from their choices: consent, questions, recruiting, and how they are forgotten."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Literal

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from edgecritic.errors import InputError
from edgecritic.studio import auth, experiments, projects
from edgecritic.studio.database import hold
from edgecritic.studio.models import Answer, Experiment, Invitation, Participation, Slot, now
from edgecritic.studio.problems import Conflict, NotFound, Problem, coded, ended
from edgecritic.studio.procedure import Procedure, Question
from edgecritic.studio.results import progress_of

__all__ = [
    "SERVICES",
    "Stage",
    "agree",
    "answer_questions",
    "code_of",
    "delete_subject",
    "due",
    "find_experiment",
    "forget",
    "ids_of",
    "join",
    "of_experiment",
    "of_subject",
    "recruit",
    "stage_of",
]

Stage = Literal["consent", "before", "trials", "after", "end"]
SERVICES = {
    "Prolific": {"participant": "PROLIFIC_PID", "study": "STUDY_ID", "session": "SESSION_ID"},
    "Mechanical Turk": {"participant": "workerId", "study": "hitId", "session": "assignmentId"},
    "others": {"participant": "participant", "study": "study", "session": "session"},
}
"""What recruiting services call the ids of a person, a study and a session in the links that they make."""

_ID = re.compile(r"[A-Za-z0-9._@:~=+-]{1,100}")


def of_subject(session: Session, invitation: Invitation) -> Participation:
    """Return what a subject has said; nothing yet if there is no row."""
    found = session.get(Participation, invitation.id)
    return found or Participation(invitation_id=invitation.id, ids={}, code="")


def of_experiment(session: Session, experiment: Experiment) -> dict[int, Participation]:
    """Return what the subjects of an experiment have said, by the id of the invitation."""
    rows = session.scalars(select(Participation).where(Participation.experiment_id == experiment.id))
    return {one.invitation_id: one for one in rows}


def stage_of(
    session: Session, invitation: Invitation, procedure: Procedure
) -> tuple[Stage, Participation, int]:
    """Return what comes next for a subject, what was said so far, and the number of trials."""
    said = of_subject(session, invitation)
    answered, total = progress_of(session, invitation)
    if procedure.consent and said.consented is None:
        return "consent", said, total
    if procedure.before and said.before is None:
        return "before", said, total
    if answered < total:
        return "trials", said, total
    return ("after" if procedure.after and said.after is None else "end"), said, total


def agree(session: Session, invitation: Invitation, procedure: Procedure) -> None:
    """Store that a subject agrees; once is enough."""
    said = hold(session, Participation, invitation.id)
    said.consented = said.consented or now()
    _begin(said, procedure)


def answer_questions(
    session: Session, invitation: Invitation, procedure: Procedure, part: str, form: Mapping[str, str]
) -> None:
    """Store the answers to the questions before or after the trials; the first ones count.

    Raises
    ------
    InputError
        In the words of the procedure, if an answer is missing or wrong.
    """
    if part not in ("before", "after"):
        raise InputError("part must be before or after")
    said = hold(session, Participation, invitation.id)
    if getattr(said, part) is not None:
        return
    stage, _, _ = stage_of(session, invitation, procedure)
    if stage != part:
        raise coded(Conflict("these questions are not asked now; open your link again"), "stage")
    asked: tuple[Question, ...] = getattr(procedure, part)
    given = {one.key: one.read(form.get(one.key, ""), procedure.words) for one in asked}
    if part == "before":
        said.before = given
        _begin(said, procedure)
    else:
        said.after, said.finished = given, now()


def _begin(said: Participation, procedure: Procedure) -> None:
    """Let a subject begin if everything that comes first was given."""
    ready = (not procedure.consent or said.consented) and (not procedure.before or said.before is not None)
    if ready:
        said.began = said.began or now()


def code_of(said: Participation, procedure: Procedure) -> str:
    """Return the completion code of a subject: an own one, or that of all; empty if there is none."""
    return said.code if procedure.own_code else procedure.code


def ids_of(query: Mapping[str, str]) -> dict[str, str]:
    """Return the ids that a recruiting service has put into a link, by our names; refuse odd ones.

    Examples
    --------
    >>> ids_of({"PROLIFIC_PID": "5f1", "STUDY_ID": "7", "x": "y"})
    {'participant': '5f1', 'study': '7'}
    """
    found: dict[str, str] = {}
    for names in SERVICES.values():
        for ours, theirs in names.items():
            value = query.get(theirs, "")
            if not value or ours in found:
                continue
            if not _ID.fullmatch(value):
                raise InputError(f"{theirs} in this link is no id, of letters, digits and . _ @ : ~ = + -")
            found[ours] = value
    return found


def recruit(session: Session, experiment_id: int, places: int) -> str:
    """Make the link with which recruited people enter, for so many of them; an earlier link ends.

    Without places there is no link any more. Return the token, which is shown once.
    """
    experiment = hold(session, Experiment, experiment_id)
    if not 0 <= places <= experiments.MOST_SUBJECTS:
        raise InputError(f"places must lie in 0 … {experiments.MOST_SUBJECTS}")
    if experiment.closed is not None:
        raise Conflict("this experiment is closed")
    experiment.join_places = places
    if not places:
        experiment.join_hash = None
        return ""
    token = auth.new_token()
    experiment.join_hash, experiment.started = auth.hash_token(token), experiment.started or now()
    return token


def find_experiment(session: Session, token: str) -> Experiment | None:
    """Return the experiment of a recruiting link."""
    return session.scalar(select(Experiment).where(Experiment.join_hash == auth.hash_token(token)))


def join(session: Session, experiment: Experiment, token: str, ids: Mapping[str, str]) -> Invitation:
    """Let a recruited person in: as the subject of this id, or as a new one if there is a place.

    A person who comes again goes on; without an id everybody is new.
    """
    experiment = hold(session, Experiment, experiment.id)
    if experiment.join_hash != auth.hash_token(token):
        raise ended(NotFound, "unknown")
    if experiment.closed is not None:
        raise ended(NotFound, "closed")
    procedure, participant = experiments.procedure_of(experiment), ids.get("participant")
    if participant is None and procedure.need_id:
        raise coded(Problem("the link has no id of a participant"), "no_id")
    if participant is not None:
        known = session.scalar(
            select(Participation).where(
                Participation.experiment_id == experiment.id, Participation.participant == participant
            )
        )
        if known is not None:
            invitation = hold(session, Invitation, known.invitation_id)
            _enter(invitation, known, procedure)
            return invitation
    if _joined(session, experiment) >= experiment.join_places:
        raise coded(Conflict("all places of this study are taken"), "full")
    [(invitation, _)] = experiments.invite_subjects(session, experiment, [participant or "recruited"])
    said = session.get_one(Participation, invitation.id)
    said.recruited, said.participant = True, participant
    said.ids = {name: ids[name] for name in ids if name != "participant"}
    _enter(invitation, said, procedure)
    session.flush()
    return invitation


def _enter(invitation: Invitation, said: Participation, procedure: Procedure) -> None:
    """Note that a person has come with the recruiting link, on whose page the consent was given."""
    invitation.opened = invitation.opened or now()
    if procedure.consent:
        said.consented = said.consented or now()
    _begin(said, procedure)


def _joined(session: Session, experiment: Experiment) -> int:
    """Return how many recruited people have a place; those who were deleted have none."""
    query = select(func.count()).select_from(Participation)
    query = query.where(Participation.experiment_id == experiment.id, Participation.recruited)
    return session.scalar(query) or 0


def delete_subject(session: Session, experiment_id: int, invitation_id: int) -> None:
    """Delete everything that is kept of a subject: name, ids, answers; an empty row keeps the number."""
    invitation = hold(session, Invitation, invitation_id)
    if invitation.experiment_id != experiment_id:
        raise NotFound("there is no such subject")
    session.execute(delete(Slot).where(Slot.invitation_id == invitation.id))
    session.execute(delete(Participation).where(Participation.invitation_id == invitation.id))
    invitation.name, invitation.token_hash, invitation.opened = "deleted", None, None
    invitation.deleted = invitation.deleted or now()
    invitation.revoked = invitation.revoked or now()


def forget(session: Session, experiment_id: int) -> None:
    """Delete everything that tells who the subjects were: names, ids, answers to questions, displays.

    The choices stay. An experiment that is open is closed.
    """
    experiment = hold(session, Experiment, experiment_id)
    experiment.closed = experiment.closed or now()
    experiment.forgotten = experiment.forgotten or now()
    for one in projects.people_of(session, experiment_id=experiment_id):
        if one.deleted is None:
            one.name, one.token_hash = f"subject {one.id}", None
    mine = select(Slot.id).join(Invitation, Invitation.id == Slot.invitation_id)
    mine = mine.where(Invitation.experiment_id == experiment_id)
    session.execute(
        update(Answer).where(Answer.slot_id.in_(mine)).values(display=None),
        execution_options={"synchronize_session": False},
    )
    session.execute(
        update(Participation)
        .where(Participation.experiment_id == experiment_id)
        .values(participant=None, ids={}, code="", before={}, after={}),
        execution_options={"synchronize_session": False},
    )


def due(session: Session, today: date) -> list[int]:
    """Return the experiments whose data were kept until a day that has passed."""
    rows = session.scalars(select(Experiment).where(Experiment.forgotten.is_(None)))
    days = {one.id: experiments.procedure_of(one).keep_until for one in rows}
    return [number for number, day in days.items() if day and date.fromisoformat(day) < today]
