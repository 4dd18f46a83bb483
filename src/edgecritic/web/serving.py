"""How an application of this package is served: sockets, connections, and when it can be used."""

from __future__ import annotations

import errno
import os
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import uvicorn

from edgecritic.errors import DataError
from edgecritic.web.connection import IDLE_SECONDS, Connection, allow_many_files

__all__ = ["Running", "address_of", "listen", "open_browser", "run_server", "server_config"]

TURN = 0.0005
"""Seconds that work in the background may compute while a request waits; several turns make one request."""


def listen(host: str, port: int) -> list[socket.socket]:
    """Return sockets for all addresses of the host; one port for all if any free one is wanted."""
    made: list[socket.socket] = []
    wanted, problem = port, 0
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise DataError(f"cannot listen on {host}: there is no such address") from error
    for family, _, _, _, address in dict.fromkeys(found):
        try:
            made.append(socket.create_server((address[0], port), family=family, backlog=2048))
        except OSError as error:
            problem = error.errno or 0
            if problem == errno.EADDRINUSE:
                break
        else:
            port = made[-1].getsockname()[1]
    else:
        if made:
            return made
    for one in made:
        one.close()
    hint = "is another program using it?" if problem == errno.EADDRINUSE else os.strerror(problem)
    raise DataError(f"cannot listen on {host}:{wanted}", remedy=hint)


def address_of(host: str, port: int) -> str:
    """Return the address of a server.

    Examples
    --------
    >>> address_of("::1", 8600)
    'http://[::1]:8600/'
    """
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def server_config(app: Any, host: str, port: int) -> uvicorn.Config:
    """Return how the server is run: no log of requests, no trust in proxies, no connection for ever."""
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http=Connection,
        ws="none",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=int(IDLE_SECONDS),
        timeout_graceful_shutdown=5,
    )


class Running(uvicorn.Server):
    """A server that says when connections are taken, and then works in the background until it `ended`.

    Parameters
    ----------
    config : uvicorn.Config
    ready : callable
        Gets the address once connections are taken.
    background : sequence of callable
        Called one after the other in a thread of their own, as long as the server has not ended. Threads take
        short turns meanwhile, and only then, since requests among themselves are slower with them.
    """

    def __init__(
        self, config: uvicorn.Config, ready: Callable[[str], None], background: Sequence[Callable[[], Any]]
    ) -> None:
        super().__init__(config)
        self._ready, self._background = ready, background
        self.ended = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        await super().startup(sockets)
        if self.started:
            port = self.servers[0].sockets[0].getsockname()[1]
            self._ready(address_of(self.config.host, port))
            threading.Thread(target=self._work, name="background").start()

    def _work(self) -> None:
        usual = sys.getswitchinterval()
        sys.setswitchinterval(TURN)
        try:
            for part in self._background:
                if self.ended.is_set():
                    return
                part()
        finally:
            sys.setswitchinterval(usual)


def run_server(server: Running, sockets: list[socket.socket]) -> None:
    """Serve until interrupted, on sockets of `listen`."""
    allow_many_files()
    try:
        with suppress(KeyboardInterrupt):
            server.run(sockets)
    finally:
        server.ended.set()


def open_browser(address: str) -> None:
    """Open an address in the browser of whoever sits before this computer, if somebody does."""
    if _has_desktop():
        import webbrowser

        webbrowser.open(address)


def _has_desktop() -> bool:
    """Tell whether a person sits before this computer: a terminal, and windows to open."""
    if not sys.stdout.isatty() or "SSH_CONNECTION" in os.environ:
        return False
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
