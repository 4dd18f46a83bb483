"""The application: routes, templates, errors, and who may enter."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute

from edgecritic.errors import EdgeCriticError
from edgecritic.studio import auth
from edgecritic.studio.answers import AnswerWriter
from edgecritic.studio.database import Database, keep
from edgecritic.studio.guard import client_of, is_direct, same_origin
from edgecritic.studio.models import Experiment, Invitation, now
from edgecritic.studio.problems import NotFound, Problem, ended
from edgecritic.studio.settings import Settings
from edgecritic.web.files import Static
from edgecritic.web.guard import Site

__all__ = [
    "OWNER_COOKIE",
    "Studio",
    "create_app",
    "ended_for",
    "guest_cookie",
    "guest_of",
    "page",
    "studio_of",
    "wants_page",
    "whole",
]

OWNER_COOKIE = "edgecritic_owner"
_HERE = Path(__file__).parent
_FIRST_LOOK = 10.0
"""Seconds after the start at which data that are due are deleted."""
_log = logging.getLogger(__name__)


class Studio:
    """What all requests share."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self.settings = settings
        self.database = database
        self.writer = AnswerWriter(database)
        self.login_limit = auth.Pace(10, 60)
        self.verifying = asyncio.Lock()
        self.recent = auth.Recent()
        self.token_limit = auth.RateLimit(60, 60)
        self.join_limit = auth.RateLimit(100, 60)
        self.templates = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=select_autoescape(default=True, default_for_string=True),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.templates.filters |= {"percent": _percent, "seconds": _seconds, "moment": _moment}
        self.templates.filters |= {"paragraphs": _paragraphs, "counted": _counted}

    def close(self) -> None:
        """Store what is under way and give the connections back."""
        self.writer.close()
        self.database.close()

    def is_owner(self, request: Request, session: Session) -> bool:
        """Tell whether a request is the owner's.

        By a session, which the password or a link of the command has begun, or by the header of a trusted
        proxy. While no password is set a session counts on this computer only.
        """
        found = auth.session_of(session, request.cookies.get(OWNER_COOKIE))
        if found is not None and found.invitation_id is None:
            return is_direct(request, self.settings) or auth.has_password(session)
        header = self.settings.proxy_user_header
        peer = request.client.host if request.client else ""
        return bool(header and request.headers.get(header)) and self.settings.trusts(peer)

    async def is_password(self, request: Request, given: str) -> bool:
        """Tell whether this is the owner's password; one is checked at a time, because that takes memory."""

        def check() -> bool:
            with self.database.reading() as session:
                return auth.check_password(session, given)

        async def wait_and_check() -> bool:
            async with self.verifying:
                return await run_in_threadpool(check)

        return await self.login_limit.attempt(client(request), wait_and_check)


class SmallInt(Convertor[int]):
    """Ids in paths: numbers that every database can hold."""

    regex = "[0-9]{1,9}"

    def convert(self, value: str) -> int:
        """Read."""
        return int(value)

    def to_string(self, value: int) -> str:
        """Write."""
        return str(value)


register_url_convertor("id", SmallInt())


def create_app(settings: Settings, database: Database) -> Starlette:
    """Return the application on an open database.

    Parameters
    ----------
    settings : Settings
    database : Database
        From :func:`edgecritic.studio.database.open_database`; closed with the application.
    """
    from edgecritic.studio import (
        judge_views,
        lab_views,
        label_views,
        owner_views,
        procedure_views,
        subject_views,
    )
    from edgecritic.studio.routing import Rule, RuledMount

    studio = Studio(settings, database)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        keeper = asyncio.create_task(_forget_in_time(studio))
        yield
        keeper.cancel()
        with suppress(asyncio.CancelledError):
            await keeper
        await run_in_threadpool(studio.close)

    routes: list[BaseRoute] = [
        *judge_views.routes(),
        *subject_views.routes(),
        *procedure_views.routes(),
        *label_views.routes(),
        *lab_views.routes(),
        *owner_views.routes(),
        RuledMount("/static", Static(_HERE / "static"), Rule("anyone")),
    ]
    app = Site(
        routes,
        allows_host=settings.allows_host,
        same_origin=partial(same_origin, settings=settings),
        on_error=_reply_to,
        lifespan=lifespan,
    )
    app.state.studio = studio
    return app


async def _forget_in_time(studio: Studio) -> None:
    """Look every hour whether data of subjects were kept until a day that has passed, and delete them."""
    from edgecritic.studio import participation

    def look() -> None:
        with studio.database.reading() as session:
            due = participation.due(session, now().date())
        for number in due:
            studio.database.write(partial(participation.forget, experiment_id=number))

    await asyncio.sleep(_FIRST_LOOK)
    while True:
        try:
            await run_in_threadpool(look)
        except SQLAlchemyError as error:
            _log.error("data of subjects that are due could not be deleted", exc_info=error)
        await asyncio.sleep(3600)


def studio_of(request: Request) -> Studio:
    """Return what all requests share."""
    found: Studio = request.app.state.studio
    return found


def guest_cookie(invitation_id: int) -> str:
    """Return the name of the cookie of an invited person."""
    return f"edgecritic_guest_{invitation_id}"


def guest_of(request: Request, session: Session) -> Invitation:
    """Return the invited person of the path, if this browser has shown the invitation.

    In a session that writes the invitation cannot be revoked before the transaction ends.
    """
    invitation_id = whole(request, "guest")
    invitation = keep(session, Invitation, invitation_id)
    if invitation is None or not _is_known(request, session, invitation):
        raise ended(NotFound, "unknown")
    if code := auth.why_ended(session, invitation):
        raise ended_for(session, invitation, code)
    return invitation


def ended_for(session: Session, invitation: Invitation, code: str) -> Problem:
    """Return why an invitation gives no access any more; a subject reads it in the experiment's language."""
    from edgecritic.studio.experiments import procedure_of

    problem = ended(NotFound, code)
    if invitation.experiment_id is not None:
        procedure = procedure_of(session.get_one(Experiment, invitation.experiment_id))
        words = procedure.words
        problem.words = (procedure.language, words[f"{code}_title"], words[f"{code}_text"])
    return problem


def _is_known(request: Request, session: Session, invitation: Invitation) -> bool:
    """Tell whether this browser has shown the invitation; strangers do not learn what has become of it."""
    if invitation.is_owner:
        return studio_of(request).is_owner(request, session)
    found = auth.session_of(session, request.cookies.get(guest_cookie(invitation.id)))
    return found is not None and found.invitation_id == invitation.id


def whole(request: Request, name: str) -> int:
    """Return a number of the path."""
    found: int = request.path_params[name]
    return found


def page(request: Request, template: str, /, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page."""
    return HTMLResponse(studio_of(request).templates.get_template(template).render(**values), status)


def set_cookie(response: Response, settings: Settings, name: str, value: str, path: str) -> None:
    """Give a browser its session: out of reach of scripts and of other sites' forms."""
    response.set_cookie(
        name,
        value,
        max_age=settings.session_hours * 3600,
        path=path,
        httponly=True,
        samesite="lax",
        secure=settings.secure,
    )


def client(request: Request) -> str:
    """Return the address a request comes from."""
    return client_of(request, studio_of(request).settings)


def wants_page(request: Request) -> bool:
    """Tell whether a person looks at the reply."""
    return "text/html" in request.headers.get("accept", "")


def _told(
    request: Request, status: int, message: str, code: str = "", words: tuple[str, str, str] | None = None
) -> Response:
    if wants_page(request):
        return page(request, "problem.html", status, message=message, code=code, words=words)
    return JSONResponse({"error": message} | ({"code": code} if code else {}), status)


def _reply_to(request: Request, error: Exception) -> Response:
    """Return what is said of an error: all of a refusal, nothing of the inside."""
    if isinstance(error, EdgeCriticError):
        return _problem(request, error)
    if isinstance(error, HTTPException):
        return _http_problem(request, error)
    return _unexpected(request, error)


def _problem(request: Request, error: EdgeCriticError) -> Response:
    status = error.status if isinstance(error, Problem) else 400
    message, code = str(error), error.code if isinstance(error, Problem) else ""
    words = error.words if isinstance(error, Problem) else None
    return _told(request, status, message[:1].upper() + message[1:] + ".", code, words)


def _http_problem(request: Request, error: HTTPException) -> Response:
    words = {404: "There is nothing here.", 405: "This cannot be done here."}
    return _told(request, error.status_code, words.get(error.status_code, "This request cannot be served."))


def _unexpected(request: Request, error: Exception) -> Response:
    """Say nothing of the inside; the log has it, but not the path, which may contain a token."""
    view = getattr(request.scope.get("endpoint"), "__name__", "no view")
    _log.error("request failed: %s %s", request.method, view, exc_info=error)
    status = 503 if isinstance(error, SQLAlchemyError) else 500
    return _told(request, status, "Something went wrong here. What was shown as saved is safe; try again.")


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value / 1000:.1f} s"


def _paragraphs(text: str) -> Markup:
    """Return a text of the owner as paragraphs; an empty line divides them, and nothing in it is code."""
    parts = [part.strip() for part in text.split("\n\n")]
    lines = (Markup("<br>").join(part.split("\n")) for part in parts if part)
    return Markup("").join(Markup("<p>{}</p>").format(one) for one in lines)


def _counted(count: int, one: str) -> str:
    return f"{count} {one}" if count == 1 else f"{count} {one}s"


def _moment(value: datetime | None) -> str:
    return "–" if value is None else value.strftime("%Y-%m-%d %H:%M")
