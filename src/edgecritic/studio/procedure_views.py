"""The owner's pages of what subjects go through: edit it, see it as subjects will, export everything."""

from __future__ import annotations

from typing import Any

import numpy as np
from sqlalchemy.orm import Session
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from edgecritic.errors import InputError
from edgecritic.studio import experiments, subject_views
from edgecritic.studio.app import page, studio_of, whole
from edgecritic.studio.experiment_zip import experiment_zip
from edgecritic.studio.exports import send_zip
from edgecritic.studio.judge_views import experiment_of, schedule_document, trials_page
from edgecritic.studio.languages import LANGUAGES, texts_in
from edgecritic.studio.models import Participation, Project
from edgecritic.studio.pictures import encode_png
from edgecritic.studio.problems import NotFound
from edgecritic.studio.procedure import KINDS, Procedure
from edgecritic.studio.routing import NAMES, RuledRoute, get, post
from edgecritic.studio.trials import draw_known

__all__ = ["routes"]


def routes() -> list[RuledRoute]:
    """Return the routes."""
    base = "/experiments/{experiment:id}"
    return [
        get(f"{base}/procedure", procedure_page, "owner"),
        get(f"{base}/procedure.json", procedure_document, "owner"),
        post(f"{base}/procedure", change, "owner", NAMES, locks="experiment"),
        get(f"{base}/preview/{{part}}", preview, "owner"),
        get(f"{base}/preview/maps/{{trial:id}}/{{side}}", preview_map, "owner"),
        get(f"{base}/export.zip", export, "owner"),
    ]


def procedure_page(request: Request, session: Session) -> Response:
    """Show the owner what subjects go through; it can be changed until the experiment starts."""
    experiment = experiment_of(request, session)
    return page(
        request,
        "procedure.html",
        experiment=experiment,
        project=session.get_one(Project, experiment.project_id),
        procedure=experiments.procedure_of(experiment),
        languages=LANGUAGES,
    )


def procedure_document(request: Request, session: Session) -> Response:
    """Send the procedure, the usual texts of every language, and what the editor has to know of the rest."""
    experiment = experiment_of(request, session)
    settings = experiment.settings
    about: dict[str, Any] = {name: settings[name] for name in ("practice", "checks")}
    about |= {"procedure": experiments.procedure_of(experiment).as_dict(), "kinds": KINDS}
    about |= {"usual": {name: texts_in(name) for name in LANGUAGES}, "mode": experiment.mode}
    return JSONResponse(about)


def change(request: Request, session: Session, document: Any) -> Response:
    """Store another procedure; practice and checks are drawn before the session writes."""
    if not isinstance(document, dict):
        raise InputError("the request must be an object")
    procedure, number = Procedure.from_dict(document.get("procedure")), whole(request, "experiment")
    with studio_of(request).database.reading() as reading:
        found = experiments.get_experiment(reading, number)
        wanted = (_count(document, name, found.settings[name]) for name in ("practice", "checks"))
        known = None if found.started else draw_known(reading, found, *wanted)
    experiments.change_procedure(session, number, procedure, known)
    return JSONResponse({"procedure": procedure.as_dict()})


def preview(request: Request, session: Session) -> Response:
    """Show the owner a part as subjects see it; nothing is stored."""
    experiment, part = experiment_of(request, session), request.path_params["part"]
    here = f"/experiments/{experiment.id}/preview"
    if part in ("trials", "schedule"):
        slots = experiments.preview_schedule(session, experiment)
        if part == "schedule":
            return JSONResponse(schedule_document(experiment, slots))
        return trials_page(request, experiment, slots, here, preview="yes")
    if part == "consent":
        ids = {"participant": "(participant)", "study": "(study)"}
        return subject_views.consent_page(request, experiment, "", ids=ids)
    if part in ("before", "after"):
        return subject_views.questions_page(request, experiment, part, "")
    if part == "end":
        said = Participation(invitation_id=0, ids={}, participant="participant", code="0123ABCD")
        return subject_views.end_page(
            request, experiment, said, len(experiments.trials_of(session, experiment))
        )
    raise NotFound("there is no such part")


def preview_map(request: Request, session: Session) -> Response:
    """Send a map of a trial to the owner: black edges on white."""
    experiment, side = experiment_of(request, session), request.path_params["side"]
    shown = experiments.map_of(session, experiment, whole(request, "trial"), side)
    return Response(encode_png(np.where(shown.map, 0, 255).astype(np.uint8)), media_type="image/png")


def export(request: Request, session: Session) -> Response:
    """Send everything of an experiment as one file."""
    experiment = experiment_of(request, session)
    return send_zip(lambda path: experiment_zip(session, experiment, path), experiment.name)


def _count(document: dict[str, Any], name: str, usual: int) -> int:
    given = document.get(name, usual)
    if isinstance(given, bool) or not isinstance(given, int):
        raise InputError(f"{name} must be a whole number")
    return given
