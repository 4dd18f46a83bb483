"""Routes that say who may use them and how much they take; what they say is what is enforced.

A caller is known before the body is read. A view gets a session (and the body, if there is one) and runs in a
thread; a view that is a coroutine gets the request (and the body) and opens sessions itself.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import parse_qs

from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from edgecritic.errors import InputError
from edgecritic.studio import auth
from edgecritic.studio.app import guest_cookie, guest_of, studio_of, wants_page, whole
from edgecritic.studio.guard import read_body
from edgecritic.studio.problems import Refused

__all__ = ["Body", "Rule", "RuledMount", "RuledRoute", "get", "post"]

Role = Literal["anyone", "guest", "owner"]
View = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Body:
    """What a route takes.

    Attributes
    ----------
    kind : "form", "JSON" or "file"
    most : int
        Bytes; 0 for the largest upload of the settings.
    seconds : float
        In which all of it must have come.
    """

    kind: Literal["form", "JSON", "file"]
    most: int
    seconds: float


FORM = Body("form", 16 * 2**10, 10)
LONG_FORM = Body("form", 256 * 2**10, 20)
SMALL = Body("JSON", 16 * 2**10, 10)
TEXT = Body("form", 64 * 2**10, 20)
PARAGRAPHS = Body("JSON", 64 * 2**10, 20)
NAMES = Body("JSON", 256 * 2**10, 20)
EDITS = Body("JSON", 8 * 2**20, 120)
UPLOAD = Body("file", 0, 300)


@dataclass(frozen=True, slots=True)
class Rule:
    """Who may use a route, what it takes, and what it locks.

    Attributes
    ----------
    role : "anyone", "guest" or "owner"
        A guest has opened the invitation that the path names; the owner has a guest's place in every project.
    body : Body, optional
        Nothing is read if it is not given.
    locks : str
        The row that is locked while the route writes; empty if it only reads.
    """

    role: Role
    body: Body | None = None
    locks: str = ""


class RuledRoute(Route):
    """A route with its rule."""

    def __init__(self, path: str, view: View, method: str, rule: Rule) -> None:
        endpoint = _endpoint(view, rule)
        super().__init__(path, endpoint, methods=[method])
        self.rule, self.app = rule, _replying(endpoint)


class RuledMount(Mount):
    """Everything below a path, with its rule."""

    def __init__(self, path: str, app: ASGIApp, rule: Rule) -> None:
        super().__init__(path, app)
        self.rule = rule


def get(path: str, view: View, role: Role, *, locks: str = "") -> RuledRoute:
    """Return a route that shows something."""
    return RuledRoute(path, view, "GET", Rule(role, None, locks))


def post(path: str, view: View, role: Role, body: Body, *, locks: str) -> RuledRoute:
    """Return a route that changes something."""
    return RuledRoute(path, view, "POST", Rule(role, body, locks))


def _endpoint(view: View, rule: Rule) -> Callable[[Request], Awaitable[Response]]:
    """Return what serves a route: first the caller, then the body, then the work."""
    waits = inspect.iscoroutinefunction(view)

    async def endpoint(request: Request) -> Response:
        if rule.body is None and not waits:
            return await run_in_threadpool(_admit_and_work, request, view, rule)
        if rule.role == "owner":
            await run_in_threadpool(_admit, request, rule.role)
        elif rule.role == "guest":
            await _recognise(request)
        given = () if rule.body is None else (await _content(request, rule.body),)
        if waits:
            made: Response = await view(request, *given)
            return made
        return await run_in_threadpool(_work, request, view, rule, given)

    endpoint.__name__ = view.__name__
    return endpoint


def _replying(endpoint: Callable[[Request], Awaitable[Response]]) -> ASGIApp:
    """Return an endpoint as an application; its errors go to the guard as they are."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        response = await endpoint(Request(scope, receive, send))
        await response(scope, receive, send)

    return app


def _admit_and_work(request: Request, view: View, rule: Rule) -> Response:
    """Let a caller in and run a view without a body; what only reads sees one moment in all of it."""
    if rule.locks:
        return _admit(request, rule.role) or _work(request, view, rule, ())
    with studio_of(request).database.reading() as session:
        made: Response = _refusal(request, session, rule.role) or view(request, session)
        return made


async def _recognise(request: Request) -> None:
    """Refuse who has no session of the guest of the path, before there is a body; the view does the rest."""
    guest, recent = whole(request, "guest"), studio_of(request).recent
    secret = request.cookies.get(guest_cookie(guest), "")
    if recent.has(guest, secret):
        return

    def look() -> None:
        with studio_of(request).database.reading() as session:
            found = auth.session_of(session, secret)
            if found is None or found.invitation_id != guest:
                guest_of(request, session)  # the owner in a guest's place, or nobody
                return
        recent.add(guest, secret)

    await run_in_threadpool(look)


def _admit(request: Request, role: Role) -> Response | None:
    """Let a caller in, or refuse; takes no lock."""
    with studio_of(request).database.reading() as session:
        return _refusal(request, session, role)


def _refusal(request: Request, session: Session, role: Role) -> Response | None:
    """Return nothing for who may come in; pages lead strangers to the login, others are refused."""
    if role == "guest":
        guest_of(request, session)
    elif role == "owner" and not studio_of(request).is_owner(request, session):
        if request.method == "GET" and wants_page(request):
            return RedirectResponse("/login", 303)
        raise Refused("only the owner may do this; log in first")
    return None


def _work(request: Request, view: View, rule: Rule, given: tuple[Any, ...]) -> Response:
    """Run a view. A writing session takes its lock with the first statement, not before."""
    database = studio_of(request).database

    def work(session: Session) -> Response:
        made: Response = view(request, session, *given)
        return made

    if rule.locks:
        return database.write(work)
    with database.reading() as session:
        return work(session)


async def _content(request: Request, body: Body) -> Any:
    most = body.most or studio_of(request).settings.upload_bytes
    content = await read_body(request, most, body.seconds)
    if body.kind == "JSON":
        return _parse_json(content)
    return _parse_form(content) if body.kind == "form" else content


def _parse_json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError("the request is not a JSON document") from error


def _parse_form(content: bytes) -> dict[str, str]:
    try:
        fields = parse_qs(content.decode("utf-8"), keep_blank_values=True, max_num_fields=100)
    except ValueError as error:
        raise InputError("the form could not be read") from error
    return {name: values[-1] for name, values in fields.items()}
