"""Pages and requests of subjects and of the owner of an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from edgecritic.annotators import answers as files
from edgecritic.annotators import choice, votes
from edgecritic.annotators.exclusion import Rules, excluded, without
from edgecritic.annotators.scale import bradley_terry, wins_of
from edgecritic.errors import InputError
from edgecritic.studio import experiments, participation, projects, results
from edgecritic.studio.answers import parse_answer
from edgecritic.studio.app import guest_cookie, guest_of, page, studio_of, whole
from edgecritic.studio.experiment_zip import experiment_json
from edgecritic.studio.languages import fill
from edgecritic.studio.models import Experiment, Invitation, Project, Slot, Trial
from edgecritic.studio.pictures import encode_png
from edgecritic.studio.problems import NotFound, Refused, ended
from edgecritic.studio.risk_figure import risk_figure
from edgecritic.studio.routing import EDITS, FORM, NAMES, SMALL, RuledRoute, get, post
from edgecritic.studio.trials import MAPS, Plan, draw_trials, read_trials

__all__ = ["judge_page", "progress", "routes", "schedule_document", "subject_may_see", "subject_template"]

_NUMBERS = ("seed", "square", "practice", "checks", "pairs")


def routes() -> list[RuledRoute]:
    """Return the routes."""
    base = "/experiments/{experiment:id}"
    return [
        post("/g/{guest:id}/answers", answer, "guest", SMALL, locks="experiment, shared"),
        post("/projects/{project:id}/experiments", create, "owner", FORM, locks="project"),
        post("/projects/{project:id}/trials", load_trials, "owner", EDITS, locks="project"),
        get(base, experiment_page, "owner"),
        get(f"{base}/live", live, "owner"),
        post(f"{base}/subjects", invite, "owner", NAMES, locks="experiment"),
        post(f"{base}/close", close, "owner", FORM, locks="experiment"),
        post(f"{base}/recruit", recruit, "owner", SMALL, locks="experiment"),
        post(f"{base}/forget", forget, "owner", FORM, locks="experiment"),
        post(f"{base}/subjects/{{invitation:id}}/delete", delete, "owner", FORM, locks="invitation"),
        get(f"{base}/answers.csv", answers_csv, "owner"),
        get(f"{base}/votes.csv", votes_csv, "owner"),
        get(f"{base}/risk.svg", risk_svg, "owner"),
        get(f"{base}/experiment.json", document, "owner"),
        get("/g/{guest:id}/schedule", schedule, "guest"),
        get("/g/{guest:id}/maps/{slot:id}/{side}", map_picture, "guest"),
        get("/g/{guest:id}/state", state, "guest"),
    ]


def judge_page(
    request: Request, session: Session, invitation: Invitation, experiment: Experiment
) -> Response:
    """Show a subject the trials."""
    return trials_page(
        request, experiment, experiments.schedule_for(session, invitation), f"/g/{invitation.id}"
    )


def trials_page(
    request: Request, experiment: Experiment, slots: list[dict[str, Any]], base: str, preview: str = ""
) -> Response:
    """Show the trials of a schedule, to a subject or to the owner, whose answers go nowhere."""
    return subject_template(
        request,
        "judge.html",
        experiment,
        base=base,
        preview=preview,
        photos=f"/projects/{experiment.project_id}/images" if preview else f"{base}/images",
        ties=bool(experiment.settings.get("ties")),
        total=sum(not slot["practice"] for slot in slots),
        done=sum(slot["answered"] for slot in slots if not slot["practice"]),
        practice=sum(slot["practice"] for slot in slots),
    )


def subject_template(
    request: Request, template: str, experiment: Experiment, status: int = 200, **values: Any
) -> Response:
    """Return a page in the language of an experiment; `text` in it gives a text with values put in."""
    procedure = experiments.procedure_of(experiment)
    words, of_maps = procedure.words, experiment.mode == MAPS

    def text(name: str, **more: object) -> str:
        return fill(words[name], **more)

    common = {"text": text, "procedure": procedure, "of_maps": of_maps}
    return page(request, template, status, kind="maps" if of_maps else "segments", **common, **values)


def schedule(request: Request, session: Session) -> Response:
    """Send a subject's schedule, if everything that comes before the trials was given."""
    invitation = guest_of(request, session)
    experiment = session.get(Experiment, invitation.experiment_id) if invitation.experiment_id else None
    if experiment is None:
        raise NotFound("this invitation is not for an experiment")
    stage, _, _ = participation.stage_of(session, invitation, experiments.procedure_of(experiment))
    if stage in ("consent", "before"):
        raise ended(Refused, "early")
    return JSONResponse(schedule_document(experiment, experiments.schedule_for(session, invitation)))


def schedule_document(experiment: Experiment, slots: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the page of the trials needs: places of a schedule, texts, how stimuli are shown."""
    procedure = experiments.procedure_of(experiment)
    about = {name: getattr(procedure, name) for name in ("break_every", "size", "need_size", "enlarged")}
    shown = {"square": experiment.settings["square"], "maps": experiment.mode == MAPS}
    return shown | about | {"texts": procedure.words, "slots": slots}


def map_picture(request: Request, session: Session) -> Response:
    """Send a map of a subject's schedule: black edges on white."""
    invitation = guest_of(request, session)
    shown = experiments.map_for(session, invitation, whole(request, "slot"), request.path_params["side"])
    picture = encode_png(np.where(shown.map, 0, 255).astype(np.uint8))
    return Response(picture, media_type="image/png", headers={"cache-control": "private, max-age=3600"})


def state(request: Request, session: Session) -> Response:
    """Say how many answers of a subject are stored; who may not answer any more is told why."""
    invitation = guest_of(request, session)
    answered, total = results.progress_of(session, invitation)
    return JSONResponse({"answered": answered, "total": total})


async def answer(request: Request, given: Any) -> Response:
    """Store one answer; the reply is sent after the commit."""
    guest = whole(request, "guest")
    secret = request.cookies.get(guest_cookie(guest), "")
    side = await studio_of(request).writer.put(parse_answer(given, secret, guest))
    return JSONResponse({"slot": given["slot"], "side": side})


def subject_may_see(session: Session, invitation: Invitation, image_id: int) -> bool:
    """Tell whether an image is in a subject's schedule."""
    query = (
        select(Slot.id)
        .join(Trial, Trial.id == Slot.trial_id)
        .where(Slot.invitation_id == invitation.id, Trial.image_id == image_id)
        .limit(1)
    )
    return session.scalar(query) is not None


def create(request: Request, session: Session, form: dict[str, str]) -> Response:
    """Make an experiment."""
    numbers: dict[str, Any] = {name: _number(form, name) for name in _NUMBERS if name in form}
    plan = Plan(
        name=form.get("name", ""),
        mode=form.get("mode", "hard"),
        **numbers,
        ties=form.get("ties") == "yes",
        rules=_rules(form),
    )
    project = whole(request, "project")
    with studio_of(request).database.reading() as reading:
        trials = draw_trials(reading, project, plan)
    made = experiments.create_experiment(session, project, plan, trials)
    return RedirectResponse(f"/experiments/{made.id}", 303)


def load_trials(request: Request, session: Session, document: Any) -> Response:
    """Make an experiment of the trials of a file."""
    project = whole(request, "project")
    name = projects.stem_of(request.query_params.get("name", ""))
    with studio_of(request).database.reading() as reading:
        plan, trials = read_trials(reading, project, name, document)
    made = experiments.create_experiment(session, project, plan, trials, drawn=False)
    return JSONResponse({"id": made.id, "trials": len(trials)}, 201)


def experiment_page(request: Request, session: Session) -> Response:
    """Show the owner an experiment."""
    experiment = experiment_of(request, session)
    return page(
        request,
        "experiment.html",
        project=session.get_one(Project, experiment.project_id),
        trials=experiments.trial_count(session, experiment),
        procedure=experiments.procedure_of(experiment),
        services=participation.SERVICES,
        **progress(session, experiment),
    )


def live(request: Request, session: Session) -> Response:
    """Send what the owner's page shows, for its refresh."""
    experiment = experiment_of(request, session)
    parts = progress(session, experiment)
    html = studio_of(request).templates.get_template("_progress.html").render(**parts)
    risks, kept = ([one.as_dict() for one in parts[name]] for name in ("risks", "kept"))
    numbers = {name: parts[name] for name in ("answered", "total", "opened", "left_out")}
    return JSONResponse(numbers | {"risks": risks, "kept": kept, "html": html})


def progress(session: Session, experiment: Experiment) -> dict[str, Any]:
    """Return what has come in so far: subjects and how they did, whom the rules leave out, results."""
    trials, answers = results.choices_of(session, experiment)
    places, seen = results.places_of(session, experiment), votes.screening(trials, answers)
    people = projects.people_of(session, experiment_id=experiment.id)
    said = participation.of_experiment(session, experiment)
    sittings = {one.subject: number for one, number in files.with_sessions(answers)}
    rules = experiments.rules_of(experiment)
    left_out = excluded(trials, answers, rules)
    subjects = [
        {
            "person": one,
            "said": said.get(one.id),
            "places": places.get(one.id, 0),
            "did": seen.get(str(one.id)) or votes.Screening(subject=str(one.id)),
            "sessions": sittings.get(str(one.id), 0),
            "left_out": left_out.get(str(one.id), ()),
        }
        for one in people
    ]
    risks, kept = (votes.risks(trials, given) for given in (answers, without(answers, left_out)))
    return {
        "rules": rules,
        "left_out": left_out,
        "kept": kept,
        "experiment": experiment,
        "answered": len(answers),
        "total": sum(places.values()),
        "opened": sum(one.opened is not None for one in people),
        "recruited": sum(one.recruited for one in said.values()),
        "subjects": subjects,
        "risks": risks,
        "figure": risk_figure(kept),
        **_preferred(experiment, trials, without(answers, left_out)),
    }


def _preferred(
    experiment: Experiment, trials: list[choice.Trial], answers: Sequence[choice.Answer]
) -> dict[str, Any]:
    """Return what subjects prefer, if they compare maps: the scale, and how many trials are decided."""
    if experiment.mode != MAPS:
        return {"of_maps": False}
    main = {trial.id for trial in trials if trial.part == "main"}
    decided = votes.majority(one for one in answers if one.trial in main)
    names, wins = wins_of(trials, answers)
    scale = bradley_terry(wins, names) if len(names) > 1 else None
    tied = sum(side is None for side in decided.values())
    return {
        "of_maps": True,
        "scale": [] if scale is None else scale.rows(),
        "penalty": scale is not None and scale.penalty > 0,
        "decided": len(decided) - tied,
        "tied": tied,
    }


def invite(request: Request, session: Session, document: Any) -> Response:
    """Invite subjects; their links are shown once."""
    names = document.get("names") if isinstance(document, dict) else None
    if not isinstance(names, list):
        raise InputError("names must be a list")
    invited = experiments.invite_subjects(session, experiment_of(request, session), names)
    listed = [{"id": one.id, "name": one.name, "path": f"/i/{token}"} for one, token in invited]
    return JSONResponse({"invited": listed})


def recruit(request: Request, session: Session, document: Any) -> Response:
    """Make the link with which recruited people enter; it is shown once, and an earlier one ends."""
    places = document.get("places") if isinstance(document, dict) else None
    if isinstance(places, bool) or not isinstance(places, int):
        raise InputError("places must be a whole number")
    token = participation.recruit(session, whole(request, "experiment"), places)
    return JSONResponse({"path": f"/join/{token}" if token else "", "places": places})


def delete(request: Request, session: Session, _form: dict[str, str]) -> Response:
    """Delete everything that is kept of a subject."""
    number = whole(request, "experiment")
    participation.delete_subject(session, number, whole(request, "invitation"))
    return RedirectResponse(f"/experiments/{number}", 303)


def forget(request: Request, session: Session, _form: dict[str, str]) -> Response:
    """Delete everything that tells who the subjects were."""
    number = whole(request, "experiment")
    participation.forget(session, number)
    return RedirectResponse(f"/experiments/{number}", 303)


def close(request: Request, session: Session, _form: dict[str, str]) -> Response:
    """End an experiment."""
    number = whole(request, "experiment")
    experiments.close(session, number)
    return RedirectResponse(f"/experiments/{number}", 303)


def answers_csv(request: Request, session: Session) -> Response:
    """Send all answers."""
    experiment = experiment_of(request, session)
    names = {str(one.id): one.name for one in projects.people_of(session, experiment_id=experiment.id)}
    table = files.comparisons_csv(*results.choices_of(session, experiment), names)
    return _download(table, "text/csv", "answers.csv")


def votes_csv(request: Request, session: Session) -> Response:
    """Send the majority votes."""
    table = files.votes_csv(*results.choices_of(session, experiment_of(request, session)))
    return _download(table, "text/csv", "votes.csv")


def risk_svg(request: Request, session: Session) -> Response:
    """Send the figure, without the subjects that the rules leave out."""
    experiment = experiment_of(request, session)
    trials, answers = results.choices_of(session, experiment)
    left_out = excluded(trials, answers, experiments.rules_of(experiment))
    return _download(
        risk_figure(votes.risks(trials, without(answers, left_out))), "image/svg+xml", "risk.svg"
    )


def document(request: Request, session: Session) -> Response:
    """Send trials and answers, so that the experiment can be counted or repeated elsewhere."""
    text = experiment_json(session, experiment_of(request, session))
    return _download(text, "application/json", "experiment.json")


def experiment_of(request: Request, session: Session) -> Experiment:
    """Return the experiment whose number is in the path."""
    return experiments.get_experiment(session, whole(request, "experiment"))


def _rules(form: dict[str, str]) -> Rules:
    """Return the rules of a form: shares in percent, times in milliseconds; an empty field is no rule."""
    fields = {"checks": ("rule_checks", 100), "one_side": ("rule_side", 100), "median_ms": ("rule_ms", 1)}
    if not any(field in form for field, _ in fields.values()):
        return Rules()
    given = {
        name: None if not form.get(field, "").strip() else _number(form, field) / scale
        for name, (field, scale) in fields.items()
    }
    return Rules.from_dict(given)


def _number(form: dict[str, str], name: str) -> int:
    text = form[name].strip()
    if not text.isdecimal() or len(text) > 10:
        raise InputError(f"{name} must be a whole number")
    return int(text)


def _download(content: str, media_type: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)
