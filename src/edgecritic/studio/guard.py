"""What every request passes: the right host, the right origin, a bounded body, strict headers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from edgecritic.errors import InputError
from edgecritic.studio.problems import Problem
from edgecritic.studio.settings import Settings

__all__ = ["Guard", "TooLarge", "read_body", "same_origin"]

_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
OWN_HEADER = "x-edgecritic"
"""A header that no form of another site can send."""


class TooLarge(Problem):
    """The body of a request is too large."""

    status = 413


class Guard:
    """Refuse foreign hosts and cross-site requests; add the headers; turn faults into a plain reply.

    Parameters
    ----------
    app : the application
    settings : Settings
    on_fault : callable
        Makes the reply to a request that has failed unexpectedly.
    """

    def __init__(
        self, app: ASGIApp, settings: Settings, on_fault: Callable[[Request, Exception], Response]
    ) -> None:
        self.app, self.settings, self.on_fault = app, settings, on_fault

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            started = True
            if message["type"] == "http.response.start":
                given = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    given.setdefault(name, value)
                given.setdefault("cache-control", "no-store")
            await send(message)

        problem = self._problem(scope, headers)
        if problem is not None:
            await problem(scope, receive, send_with_headers)
            return
        try:
            await self.app(scope, receive, send_with_headers)
        except Exception as error:
            if started:
                raise
            await self.on_fault(Request(scope), error)(scope, receive, send_with_headers)

    def _problem(self, scope: Scope, headers: Headers) -> PlainTextResponse | None:
        host = headers.get("host", "")
        try:
            known = self.settings.allows_host(host)
        except ValueError:
            known = False
        if not known:
            return PlainTextResponse("This server has another name.", 421)
        if scope["method"] not in ("GET", "HEAD", "OPTIONS") and not same_origin(headers, self.settings):
            return PlainTextResponse("This request came from another site and was refused.", 403)
        return None


def same_origin(headers: Headers, settings: Settings) -> bool:
    """Tell whether a request was made by one of our own pages."""
    site = headers.get("sec-fetch-site")
    if site is not None and site != "same-origin":
        return False
    origin = headers.get("origin")
    if origin is None:
        return site == "same-origin" or OWN_HEADER in headers
    try:
        parts = urlsplit(origin)
        known = {headers.get("host", ""), urlsplit(settings.public_url).netloc} - {""}
        return parts.scheme in ("http", "https") and parts.netloc in known
    except ValueError:
        return False


async def read_body(request: Request, most: int) -> bytes:
    """Return the body of a request; refuse it as soon as it is too large."""
    declared = request.headers.get("content-length", "0")
    if not declared.isdecimal() or len(declared) > 15:
        raise InputError("the length of the request is not a number")
    if int(declared) > most:
        raise TooLarge(f"this is too large: at most {most // 2**20} MiB are taken")
    content = bytearray()
    async for piece in request.stream():
        content += piece
        if len(content) > most:
            raise TooLarge(f"this is too large: at most {most // 2**20} MiB are taken")
    return bytes(content)


def client_of(request: Request, settings: Settings) -> str:
    """Return the address a request comes from, as the trusted proxy tells it if there is one."""
    peer = request.client.host if request.client else "unknown"
    if settings.proxy_user_header and peer == settings.proxy_address:
        chain: Any = request.headers.get("x-forwarded-for", "")
        return str(chain).split(",")[-1].strip() or peer
    return peer
