"""Pages and requests of subjects apart from the trials: the recruiting link, consent, questions, the end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from edgecritic.errors import InputError
from edgecritic.studio import auth, experiments, participation
from edgecritic.studio.app import client, guest_cookie, guest_of, set_cookie, studio_of
from edgecritic.studio.judge_views import judge_page, subject_template
from edgecritic.studio.languages import fill
from edgecritic.studio.models import Experiment, Invitation, Participation
from edgecritic.studio.problems import NotFound, Problem, ended
from edgecritic.studio.procedure import Procedure
from edgecritic.studio.routing import FORM, LONG_FORM, RuledRoute, get, post

__all__ = ["consent_page", "end_page", "questions_page", "routes", "subject_page"]


def routes() -> list[RuledRoute]:
    """Return the routes."""
    guest = "/g/{guest:id}"
    return [
        get("/join/{token}", join_page, "anyone"),
        post("/join/{token}", join, "anyone", FORM, locks="experiment, if the token is right"),
        post(f"{guest}/consent", consent, "guest", FORM, locks="participation"),
        post(f"{guest}/questions", questions, "guest", LONG_FORM, locks="participation"),
    ]


def subject_page(request: Request, session: Session, invitation: Invitation) -> Response:
    """Show a subject what comes next."""
    experiment = session.get_one(Experiment, invitation.experiment_id)
    procedure = experiments.procedure_of(experiment)
    stage, said, total = participation.stage_of(session, invitation, procedure)
    here = f"/g/{invitation.id}"
    if stage == "consent":
        return consent_page(request, experiment, f"{here}/consent", number=invitation.id)
    if stage in ("before", "after"):
        return questions_page(request, experiment, stage, f"{here}/questions")
    if stage == "trials":
        return judge_page(request, session, invitation, experiment)
    return end_page(request, experiment, said, total)


def join_page(request: Request, session: Session) -> Response:
    """Show whoever comes with the recruiting link what taking part means; nothing is stored yet."""
    experiment = _recruiting(request, session)
    if experiment.closed is not None:
        return _told(request, experiment, "closed", 404)
    ids = participation.ids_of(request.query_params)
    if "participant" not in ids and experiments.procedure_of(experiment).need_id:
        return _told(request, experiment, "no_id", 400)
    return consent_page(request, experiment, f"/join/{request.path_params['token']}", ids=ids)


def join(request: Request, session: Session, form: dict[str, str]) -> Response:
    """Let a recruited person in, who has agreed; the token is looked up before the session writes."""
    studio = studio_of(request)
    with studio.database.reading() as reading:
        experiment = _recruiting(request, reading)
    if form.get("agree") != "yes":
        return _told(request, experiment, "declined")
    ids = participation.ids_of(form)
    studio.join_limit.check(client(request))
    try:
        invitation = participation.join(session, experiment, request.path_params["token"], ids)
    except Problem as problem:
        if f"{problem.code}_title" in experiments.procedure_of(experiment).words:
            return _told(request, experiment, problem.code, problem.status)
        raise
    if code := auth.why_ended(session, invitation):
        return _told(request, experiment, code, 404)
    secret = auth.start_session(session, invitation, studio.settings.session_hours)
    response = RedirectResponse(f"/g/{invitation.id}/", 303)
    set_cookie(response, studio.settings, guest_cookie(invitation.id), secret, f"/g/{invitation.id}")
    return response


def consent(request: Request, session: Session, form: dict[str, str]) -> Response:
    """Store that a subject agrees; who does not is told that nothing was stored."""
    invitation, experiment = _subject(request, session)
    if form.get("agree") != "yes":
        return _told(request, experiment, "declined")
    participation.agree(session, invitation, experiments.procedure_of(experiment))
    return RedirectResponse(f"/g/{invitation.id}/", 303)


def questions(request: Request, session: Session, form: dict[str, str]) -> Response:
    """Store the answers to questions; the page is shown again if something is missing."""
    invitation, experiment = _subject(request, session)
    procedure, part = experiments.procedure_of(experiment), form.get("part", "")
    try:
        participation.answer_questions(session, invitation, procedure, part, form)
    except InputError as error:
        if part not in ("before", "after"):
            raise
        where = f"/g/{invitation.id}/questions"
        return questions_page(request, experiment, part, where, given=form, message=str(error), status=400)
    return RedirectResponse(f"/g/{invitation.id}/", 303)


def consent_page(
    request: Request,
    experiment: Experiment,
    action: str,
    *,
    ids: Mapping[str, str] | None = None,
    number: int | None = None,
) -> Response:
    """Ask for the consent, or to begin if there is nothing to agree to; say what is kept, and until when."""
    procedure = experiments.procedure_of(experiment)
    known = dict(ids or {})
    return subject_template(
        request, "consent.html", experiment, action=action, ids=known, kept=kept(procedure, known, number)
    )


def kept(procedure: Procedure, ids: Mapping[str, str], number: int | None) -> dict[str, Any]:
    """Return what is kept of a subject, until when, and how it is deleted, in the words of the procedure."""
    words = procedure.words
    things = [words["privacy_answers"]]
    if procedure.before or procedure.after:
        things.append(words["privacy_questions"])
    if ids:
        things.append(fill(words["privacy_ids"], ids=", ".join(ids.values())))
    until = fill(words["privacy_until"], date=procedure.keep_until)
    ask = words["privacy_delete_later"]
    return {
        "things": things,
        "until": until if procedure.keep_until else words["privacy_open"],
        "ask": ask if number is None else fill(words["privacy_delete"], number=number),
    }


def questions_page(
    request: Request,
    experiment: Experiment,
    part: str,
    action: str,
    *,
    given: Mapping[str, str] | None = None,
    message: str = "",
    status: int = 200,
) -> Response:
    """Ask the questions before or after the trials."""
    asked = getattr(experiments.procedure_of(experiment), part)
    values = {"part": part, "asked": asked, "action": action, "given": given or {}, "message": message}
    return subject_template(request, "questions.html", experiment, status, **values)


def end_page(request: Request, experiment: Experiment, said: Participation, total: int) -> Response:
    """Say that everything is stored; give the code and the way back, which nobody is sent without asking."""
    procedure = experiments.procedure_of(experiment)
    code = participation.code_of(said, procedure)
    known = {"participant": said.participant or "", "code": code}
    known |= {name: str(said.ids.get(name, "")) for name in ("study", "session")}
    values: dict[str, Any] = {"total": total, "code": code, "address": procedure.return_address(**known)}
    return subject_template(
        request, "end.html", experiment, kept=kept(procedure, {}, said.invitation_id), **values
    )


def _told(request: Request, experiment: Experiment, name: str, status: int = 200) -> Response:
    """Return a page that says one thing, in the language of the experiment."""
    return subject_template(request, "told.html", experiment, status, name=name)


def _subject(request: Request, session: Session) -> tuple[Invitation, Experiment]:
    invitation = guest_of(request, session)
    if invitation.experiment_id is None:
        raise NotFound("this invitation is not for an experiment")
    return invitation, session.get_one(Experiment, invitation.experiment_id)


def _recruiting(request: Request, session: Session) -> Experiment:
    """Return the experiment of a recruiting link; wrong ones are limited as those of other links."""
    found = participation.find_experiment(session, request.path_params["token"])
    if found is None:
        studio_of(request).token_limit.check(client(request))
        raise ended(NotFound, "unknown")
    return found
