"""What every request passes: the right host, the right origin, a bounded body, strict headers."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from edgecritic.errors import InputError
from edgecritic.studio.problems import Problem
from edgecritic.studio.settings import Settings, is_loopback

__all__ = ["Guard", "TooLarge", "TooSlow", "client_of", "is_direct", "read_body", "same_origin"]

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


class TooSlow(Problem):
    """The body of a request did not come in time."""

    status = 408


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
        except ClientDisconnect:
            return
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


async def read_body(request: Request, most: int, seconds: float) -> bytes:
    """Return the body of a request; refuse it as soon as it is too large, or when it comes too slowly."""
    size = f"{most // 2**20} MiB" if most >= 2**20 else f"{most // 2**10} KiB"
    too_large = TooLarge(f"this is too large: at most {size} are taken")
    declared = request.headers.get("content-length", "0")
    if not declared.isdecimal() or len(declared) > 15:
        raise InputError("the length of the request is not a number")
    if int(declared) > most:
        raise too_large
    content = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for piece in request.stream():
                content += piece
                if len(content) > most:
                    raise too_large
    except TimeoutError as error:
        raise TooSlow(f"this took too long: all of it must come within {seconds:g} s") from error
    return bytes(content)


_PROXY_HEADERS = frozenset(
    (
        *(
            "forwarded",
            "via",
            "x-real-ip",
            "x-client-ip",
            "x-cluster-client-ip",
            "client-ip",
            "true-client-ip",
        ),
        *("cf-connecting-ip", "fastly-client-ip", "x-envoy-external-address", "x-original-host"),
        *("x-original-forwarded-for", "x-proxyuser-ip"),
    )
)


def is_direct(request: Request, settings: Settings) -> bool:
    """Tell whether a request comes from a browser on this computer, as far as that can be seen.

    A plain proxy on this computer cannot be told from a browser, so this opens nothing by itself.
    """
    if settings.public_url or not settings.local or request.scope.get("http_version") == "1.0":
        return False
    names = set(request.headers.keys())
    if names & _PROXY_HEADERS or any(name.startswith("x-forwarded") for name in names):
        return False
    named = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    return is_loopback(named) and request.client is not None and is_loopback(request.client.host)


def client_of(request: Request, settings: Settings) -> str:
    """Return whom a limit counts: the address a request comes from, as a trusted proxy tells it.

    The last address that no trusted proxy has counts, since only that was written by one of ours; of an IPv6
    address the network, since a caller has all of it.
    """
    found = request.client.host if request.client else "unknown"
    chain = ",".join(request.headers.getlist("x-forwarded-for")).split(",")
    while chain and settings.trusts(found):
        told = chain.pop().strip()
        try:
            found = str(ipaddress.ip_address(told))
        except ValueError:
            break
    if ":" in found:
        return str(ipaddress.ip_network((found.partition("%")[0], 64), strict=False))
    return found
