"""The application: routes, templates, errors, and who may enter."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from edgecritic.errors import EdgeCriticError, InputError
from edgecritic.studio import auth
from edgecritic.studio.answers import AnswerWriter
from edgecritic.studio.database import Database, keep
from edgecritic.studio.guard import Guard, client_of, read_body
from edgecritic.studio.models import Invitation
from edgecritic.studio.problems import NotFound, Problem, Refused
from edgecritic.studio.settings import Settings, is_loopback

__all__ = [
    "OWNER_COOKIE",
    "Studio",
    "create_app",
    "guest_cookie",
    "guest_of",
    "page",
    "posted",
    "studio_of",
    "viewed",
    "whole",
    "writing_routes",
]

OWNER_COOKIE = "edgecritic_owner"
JSON_BYTES = 8 * 2**20
FORM_BYTES = 64 * 2**10
_HERE = Path(__file__).parent
_log = logging.getLogger(__name__)

View = Callable[[Request, Session], Response]
BodyView = Callable[[Request, Session, Any], Response]
Endpoint = Callable[[Request], Awaitable[Response]]


class Studio:
    """What all requests share."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self.settings = settings
        self.database = database
        self.writer = AnswerWriter(database)
        self.login_limit = auth.RateLimit(10, 60)
        self.token_limit = auth.RateLimit(60, 60)
        self.templates = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=select_autoescape(default=True, default_for_string=True),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.templates.filters |= {"percent": _percent, "seconds": _seconds, "moment": _moment}

    def close(self) -> None:
        """Store what is under way and give the connections back."""
        self.writer.close()
        self.database.close()

    def is_owner(self, request: Request, session: Session) -> bool:
        """Tell whether a request is the owner's.

        By the password's session; by the header of a configured reverse proxy; or, while no password is
        set, by coming directly from this computer.
        """
        found = auth.session_of(session, request.cookies.get(OWNER_COOKIE))
        if found is not None and found.invitation_id is None:
            return True
        peer = request.client.host if request.client else ""
        header = self.settings.proxy_user_header
        if header:
            return peer == self.settings.proxy_address and bool(request.headers.get(header))
        forwarded = {"forwarded", "x-forwarded-for", "x-forwarded-host"} & set(request.headers.keys())
        named = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
        direct = self.settings.local and is_loopback(named) and not forwarded
        return direct and not auth.has_password(session)


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
    from edgecritic.studio import judge_views, label_views, owner_views

    studio = Studio(settings, database)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(studio.close)

    routes: list[BaseRoute] = [
        *judge_views.routes(),
        *label_views.routes(),
        *owner_views.routes(),
        Mount("/static", _Static(directory=_HERE / "static")),
    ]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Guard, settings=settings, on_fault=_unexpected)],
        exception_handlers={EdgeCriticError: _problem, HTTPException: _http_problem},
        lifespan=lifespan,
    )
    app.state.studio = studio
    return app


class _Static(StaticFiles):
    """Files of the package, looked up anew on every use but sent only when they have changed."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_checked(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"].append((b"cache-control", b"no-cache"))
            await send(message)

        await super().__call__(scope, receive, send_checked)


def studio_of(request: Request) -> Studio:
    """Return what all requests share."""
    found: Studio = request.app.state.studio
    return found


def viewed(view: View, *, owner: bool = False, write: bool = False) -> Endpoint:
    """Make an endpoint of a view that needs no body; it runs in a thread with a session."""

    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(_run, request, owner, write, lambda session: view(request, session))

    endpoint.writes = write  # type: ignore[attr-defined]
    return endpoint


def posted(view: BodyView, *, kind: str, owner: bool = False) -> Endpoint:
    """Make an endpoint of a view that gets the body: ``json``, ``form`` or ``file``."""

    async def endpoint(request: Request) -> Response:
        studio = studio_of(request)
        most = {"json": JSON_BYTES, "form": FORM_BYTES, "file": studio.settings.upload_bytes}[kind]
        content = await read_body(request, most)
        body: Any = content
        if kind == "json":
            body = parse_json(content)
        elif kind == "form":
            body = _parse_form(content)
        return await run_in_threadpool(
            _run, request, owner, True, lambda session: view(request, session, body)
        )

    return endpoint


def writing_routes(app: Starlette) -> list[str]:
    """Return the routes that change the database, as ``POST /projects``."""
    return [
        f"{method} {one.path}"
        for one in app.routes
        if isinstance(one, Route)
        for method in sorted((one.methods or set()) - {"HEAD"})
        if method != "GET" or getattr(one.endpoint, "writes", False)
    ]


def _run(request: Request, owner: bool, write: bool, work: Callable[[Session], Response]) -> Response:
    """Run a view. A writing session takes its lock with the first statement, not before."""
    studio = studio_of(request)
    if owner:
        with studio.database.reading() as session:
            if not studio.is_owner(request, session):
                if request.method == "GET" and _wants_page(request):
                    return RedirectResponse("/login", 303)
                raise Refused("only the owner may do this; log in first")
    if write:
        return studio.database.write(work)
    with studio.database.reading() as session:
        return work(session)


def guest_cookie(invitation_id: int) -> str:
    """Return the name of the cookie of an invited person."""
    return f"edgecritic_guest_{invitation_id}"


def guest_of(request: Request, session: Session) -> Invitation:
    """Return the invited person of the path, if this browser has shown the invitation.

    In a session that writes the invitation cannot be revoked before the transaction ends.
    """
    invitation_id = whole(request, "guest")
    invitation = keep(session, Invitation, invitation_id)
    if invitation is None or not auth.is_open(session, invitation):
        raise NotFound("this invitation is not valid (any more)")
    if invitation.is_owner:
        if studio_of(request).is_owner(request, session):
            return invitation
        raise NotFound("this invitation is not valid (any more)")
    found = auth.session_of(session, request.cookies.get(guest_cookie(invitation_id)))
    if found is None or found.invitation_id != invitation_id:
        raise NotFound("this invitation is not valid (any more)")
    return invitation


def whole(request: Request, name: str) -> int:
    """Return a number of the path."""
    found: int = request.path_params[name]
    return found


def page(request: Request, template: str, /, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page."""
    return HTMLResponse(studio_of(request).templates.get_template(template).render(**values), status)


def parse_json(content: bytes) -> Any:
    """Return the document of a request."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError("the request is not a JSON document") from error


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


def route(path: str, endpoint: Endpoint, *methods: str) -> Route:
    """Return a route."""
    return Route(path, endpoint, methods=list(methods) or ["GET"])


def _parse_form(content: bytes) -> dict[str, str]:
    try:
        fields = parse_qs(content.decode("utf-8"), keep_blank_values=True, max_num_fields=100)
    except ValueError as error:
        raise InputError("the form could not be read") from error
    return {name: values[-1] for name, values in fields.items()}


def _wants_page(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


def _told(request: Request, status: int, message: str) -> Response:
    if _wants_page(request):
        return page(request, "problem.html", status, message=message)
    return JSONResponse({"error": message}, status)


def _problem(request: Request, error: Exception) -> Response:
    status = error.status if isinstance(error, Problem) else 400
    message = str(error)
    return _told(request, status, message[:1].upper() + message[1:] + ".")


def _http_problem(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    words = {404: "There is nothing here.", 405: "This cannot be done here."}
    return _told(request, status, words.get(status, "This request cannot be served."))


def _unexpected(request: Request, error: Exception) -> Response:
    """Say nothing of the inside; the log has it."""
    _log.error("request failed: %s %s", request.method, request.url.path, exc_info=error)
    status = 503 if isinstance(error, SQLAlchemyError) else 500
    return _told(request, status, "Something went wrong here. What was shown as saved is safe; try again.")


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value / 1000:.1f} s"


def _moment(value: datetime | None) -> str:
    return "–" if value is None else value.strftime("%Y-%m-%d %H:%M")
