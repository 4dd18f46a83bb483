"""Who makes a request, from which site, and how much of a body is read."""

from __future__ import annotations

import asyncio
import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request

from edgecritic.errors import InputError
from edgecritic.studio.problems import Problem
from edgecritic.studio.settings import Settings
from edgecritic.web.guard import is_loopback, names_loopback

__all__ = ["TooLarge", "TooSlow", "client_of", "is_direct", "read_body", "same_origin"]

OWN_HEADER = "x-edgecritic"
"""A header that no form of another site can send."""


class TooLarge(Problem):
    """The body of a request is too large."""

    status = 413


class TooSlow(Problem):
    """The body of a request did not come in time."""

    status = 408


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
    host = request.headers.get("host", "")
    return names_loopback(host) and request.client is not None and is_loopback(request.client.host)


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
