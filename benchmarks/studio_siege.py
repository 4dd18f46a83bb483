"""Strangers who want to use a real studio server up: slow connections and bodies that nobody has asked for.

Everything stays on loopback in a folder of the caller and ends by itself.
"""

from __future__ import annotations

import asyncio
import http.client
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bars import surroundings
from edgecritic.studio import auth, projects
from edgecritic.studio.app import OWNER_COOKIE
from edgecritic.studio.database import open_database
from studio_server import Server

BODY = 24 * 2**20
PIECE = bytes(2**16)
LONGEST = 60.0
SLOW = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
    b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Edgecritic: 1\r\nContent-Length: 4000\r\n\r\n",
    b"POST /projects HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Edgecritic: 1\r\nContent-Length: 9999\r\n\r\n",
    b"GET /static/studio.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
)
"""How slow connections begin: a head without end, two bodies without end, and replies that nobody reads."""


@dataclass(frozen=True)
class Siege:
    """What happened: MiB more than before, seconds of the owner's slowest page, seconds to the last close."""

    memory: float
    page: float
    closed: float
    left: int


def run_siege(url: str, folder: Path, *, slow: int, large: int) -> Siege:
    """Start a server, let strangers work on it, and see what the owner sees meanwhile."""
    database = open_database(url)
    with database.session() as session:
        projects.create_project(session, "Besieged")
        secret = auth.start_session(session, None, 1)
    database.close()
    server = Server(url, folder)
    try:
        return watch(server, secret, slow, large)
    finally:
        server.stop()


def watch(server: Server, secret: str, slow: int, large: int) -> Siege:
    """Let strangers come from a process of their own; ask for the owner's page until all have gone."""
    owners_page(server.port, secret)
    most = before = memory_of(server.process.pid)
    words = [sys.executable, __file__, *map(str, (server.port, slow, large))]
    start, pages = time.monotonic(), []
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=surroundings()) as strangers:
        while strangers.poll() is None and time.monotonic() < start + LONGEST + 20:
            pages.append(owners_page(server.port, secret))
            most = max(most, memory_of(server.process.pid))
            time.sleep(0.1)
        strangers.kill()
        closed, left = strangers.stdout.read().split()
    return Siege((most - before) / 2**20, max(pages), float(closed), int(left))


async def besiege(port: int, slow: int, large: int) -> None:
    """Print the seconds until the last connection was closed, and how many never were."""
    start = time.monotonic()
    strangers = [asyncio.create_task(drip(port, SLOW[n % len(SLOW)])) for n in range(slow)]
    strangers += [asyncio.create_task(pour(port)) for _ in range(large)]
    _, left = await asyncio.wait(strangers, timeout=LONGEST)
    print(f"{time.monotonic() - start:.2f} {len(left)}")
    for one in left:
        one.cancel()


async def drip(port: int, head: bytes) -> None:
    """Begin a request and go on with a byte each second, until the server ends the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**10)
    try:
        writer.write(head)
        while not (reader.at_eof() or writer.is_closing()):
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(1)
    except OSError:
        pass
    finally:
        writer.transport.abort()


async def pour(port: int) -> None:
    """Send a body of 24 MiB to a page of the owner and wait for the end, whatever the server says."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(
            b"POST /projects/1/images?name=x HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Edgecritic: 1\r\n"
            b"Content-Length: %d\r\n\r\n" % BODY
        )
        for _ in range(BODY // len(PIECE) - 1):
            writer.write(PIECE)
            await writer.drain()
        await reader.read(2**16)
        await reader.read()
    except OSError:
        pass
    finally:
        writer.transport.abort()


def owners_page(port: int, secret: str) -> float:
    """Return the seconds of a page of the owner on a new connection."""
    start = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST)
    headers = {"cookie": f"{OWNER_COOKIE}={secret}", "accept": "text/html"}
    connection.request("GET", "/projects/1", headers=headers)
    reply = connection.getresponse()
    content = reply.read()
    connection.close()
    if reply.status != 200 or b"Besieged" not in content:
        raise RuntimeError(f"the owner got {reply.status}")
    return time.perf_counter() - start


def memory_of(process: int) -> int:
    """Return the bytes of memory that a process has now."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 2**10 for line in lines if line.startswith("VmRSS"))


if __name__ == "__main__":
    asyncio.run(besiege(*map(int, sys.argv[1:])))
