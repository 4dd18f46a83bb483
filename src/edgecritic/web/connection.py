"""A connection that nobody can hold open: time for the head, for the pause after a reply, and for reading it.

The server knows a time-out only for connections that are idle between two requests. A request whose head
never ends, a refused body that goes on for ever, or a reply that nobody reads would stay for good.
"""

from __future__ import annotations

import asyncio
import itertools
from contextlib import suppress
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

__all__ = [
    "Connection",
    "HEAD_BYTES",
    "HEAD_SECONDS",
    "IDLE_SECONDS",
    "REST_SECONDS",
    "STUCK_SECONDS",
    "allow_many_files",
]

HEAD_SECONDS = 10.0
"""From the connection to the end of the first head."""
HEAD_BYTES = 64 * 2**10
IDLE_SECONDS = 20.0
"""From a reply to the end of the next head."""
REST_SECONDS = 10.0
"""For the rest of a body that was refused: it is thrown away, so that a browser gets to read the refusal."""
REST_BYTES = 64 * 2**20
REST_PAUSE = 0.1
"""Between two pieces of such a rest (of some 256 KiB), so that others come first."""
STUCK_SECONDS = 20.0
"""For a caller who does not take the reply."""
MOST_CONNECTIONS = 2000

_Base: Any = AutoHTTPProtocol
_numbers = itertools.count()


class Connection(_Base):  # type: ignore[misc]
    """One connection of the server, which ends it when its time is over."""

    _ending: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None
    _unused = 0
    """Bytes that came since the last request, and are not (yet) one."""
    _waits = 0
    """A number that grows: since when it waits."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin; if there are too many connections, the one that has waited longest goes."""
        super().connection_made(transport)
        self._waits = next(_numbers)
        self._end_in(HEAD_SECONDS)
        if len(self.connections) > most_connections():
            waiting = [one for one in self.connections if not one.is_busy()]
            if waiting:
                min(waiting, key=lambda one: one._waits).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        for timer in (self._ending, self._stuck):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def is_busy(self) -> bool:
        """Tell whether a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        """Read."""
        super().data_received(data)
        if self.is_busy():
            self._unused = 0
            if self._ending is not None:
                self._ending.cancel()
            return
        self._unused += len(data)
        refused = self.cycle is not None and self.cycle.more_body
        if self._unused > (REST_BYTES if refused else HEAD_BYTES):
            self.transport.abort()
        elif refused:
            self.flow.pause_reading()
            self.loop.call_later(REST_PAUSE, self._read_on)

    def on_message_complete(self) -> None:
        """Notice the end of a body, also of one that was answered before."""
        if self.cycle is not None and self.cycle.response_complete:
            self.cycle.more_body = False
            self._unused = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request, but not for ever."""
        super().on_response_complete()
        if not self.is_busy():
            self._unused, self._waits = 0, next(_numbers)
            ends = self.cycle.more_body or self.transport.is_closing()
            self._end_in(REST_SECONDS if ends else IDLE_SECONDS)

    def pause_writing(self) -> None:
        """Notice that the caller does not read."""
        super().pause_writing()
        self._stuck = self.loop.call_later(STUCK_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Notice that the caller reads again."""
        super().resume_writing()
        if self._stuck is not None:
            self._stuck.cancel()

    def _read_on(self) -> None:
        if not self.transport.is_closing():
            self.flow.resume_reading()

    def _end_in(self, seconds: float) -> None:
        if self._ending is not None:
            self._ending.cancel()
        self._ending = self.loop.call_later(seconds, self.transport.abort)


def most_connections() -> int:
    """Return how many connections are kept: half of the files that this process may have open at most."""
    try:
        import resource
    except ImportError:  # not on Windows
        return MOST_CONNECTIONS // 4
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else min(MOST_CONNECTIONS, soft // 2)


def allow_many_files() -> None:
    """Let this process have as many connections as it needs, if the system agrees."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * MOST_CONNECTIONS
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
