"""Start the studio: check what it was given, fill an empty one, serve."""

from __future__ import annotations

import errno
import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np
import uvicorn
from numpy.typing import NDArray
from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.applications import Starlette

from edgecritic.errors import DataError, InputError
from edgecritic.studio import auth, projects
from edgecritic.studio.app import create_app
from edgecritic.studio.connection import IDLE_SECONDS, Connection, allow_many_files
from edgecritic.studio.database import Database, open_database
from edgecritic.studio.models import Project
from edgecritic.studio.pictures import make_upload
from edgecritic.studio.settings import Settings

__all__ = [
    "PASSWORD_VARIABLE",
    "Running",
    "add_example",
    "link_path",
    "listen",
    "login_path",
    "prepare",
    "serve",
    "server_config",
]

PASSWORD_VARIABLE = "EDGECRITIC_STUDIO_PASSWORD"


def prepare(settings: Settings, *, command: str, example: bool = True) -> Database:
    """Open the database and see that it may be served at this address; messages name the `command` for it.

    Raises
    ------
    DataError
        If the schema is not this version's.
    InputError
        If others could reach the studio and neither a password nor a reverse proxy guards it.
    """
    given = os.environ.get(PASSWORD_VARIABLE)
    if given:
        auth.check_length(given)
    elif settings.needs_password and settings.is_new:
        raise _open_to_all(settings, command)
    database = open_database(settings.database_url, f"{command} --migrate")
    try:
        if given:
            database.write(lambda session: _set_password(session, given))
        with database.reading() as session:
            if settings.needs_password and not auth.has_password(session):
                raise _open_to_all(settings, command)
            empty = session.scalar(select(Project.id).limit(1)) is None
        if example and empty:
            add_example(database)
    except BaseException:
        database.close()
        raise
    return database


def _set_password(session: Session, given: str) -> None:
    if not auth.check_password(session, given):
        auth.set_password(session, given)


def _open_to_all(settings: Settings, command: str) -> InputError:
    reached = (
        f"people use {settings.public_url}" if settings.public_url else f"others can reach {settings.host}"
    )
    return InputError(
        f"{reached}, so the studio needs an owner's password: set one with {command} --set-password or "
        f"{PASSWORD_VARIABLE}, or name the header of your reverse proxy with --proxy-user-header and "
        "--trusted-proxy"
    )


def login_path(settings: Settings, database: Database) -> str:
    """Return the path at which the owner begins: a link that works once; empty if there is a password."""

    def work(session: Session) -> str:
        return "" if settings.proxy_user_header or auth.has_password(session) else link_path(session)

    return database.write(work)


def link_path(session: Session) -> str:
    """Return the path of a new link of the owner."""
    return f"enter/{auth.new_link(session)}"


def add_example(database: Database, images: int = 6) -> None:
    """Add the synthetic data set as a project: photos, labels of five annotators, three detectors."""
    from edgecritic.datasets.synthetic import DETECTORS, dataset, detect

    cases = dataset(images, size=(240, 320))
    uploads = [make_upload(_as_bytes(case.image)) for case in cases]
    maps = [{name: detect(case.image, name) for name in DETECTORS} for case in cases]

    def fill(session: Session) -> None:
        project = projects.create_project(session, "Synthetic shapes")
        for case, upload, found in zip(cases, uploads, maps, strict=True):
            image = projects.add_image(session, project.id, case.id, upload)
            projects.add_maps(session, image, "label", "annotator", case.truths)
            for name, strength in found.items():
                projects.add_maps(session, image, "detector", name, [strength])

    database.write(fill)


def listen(settings: Settings) -> list[socket.socket]:
    """Return sockets for all addresses of the host; one port for all if any free one is wanted."""
    port, made, problem = settings.port, [], 0
    try:
        found = socket.getaddrinfo(settings.host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise DataError(f"cannot listen on {settings.host}: there is no such address") from error
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
    raise DataError(f"cannot listen on {settings.host}:{settings.port}", remedy=hint)


def server_config(app: Starlette, settings: Settings) -> uvicorn.Config:
    """Return how the server is run: no log of requests, no trust in proxies, no connection for ever."""
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=Connection,
        ws="none",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=int(IDLE_SECONDS),
        timeout_graceful_shutdown=5,
    )


def serve(
    settings: Settings,
    database: Database,
    ready: Callable[[str], None],
    sockets: list[socket.socket] | None = None,
) -> None:
    """Serve until interrupted, on sockets of `listen`; `ready` gets the address when it can be used."""
    sockets = listen(settings) if sockets is None else sockets
    allow_many_files()
    server = Running(server_config(create_app(settings, database), settings), settings, ready)
    try:
        with suppress(KeyboardInterrupt):
            server.run(sockets)
    finally:
        server.ended.set()


def _warm_up(ended: threading.Event) -> None:
    """Compile what maps and comparisons need, so that no request has to; one that comes earlier waits."""
    from edgecritic.annotators import strength
    from edgecritic.matching import match
    from edgecritic.run import warmup

    pair = warmup.tiny_pair(2)
    for part in (warmup.warm_edits, lambda: match(*pair), lambda: strength(pair)):
        if not ended.is_set():
            part()


class Running(uvicorn.Server):
    """A server that says when connections are taken, and then compiles in the background until it `ended`."""

    def __init__(self, config: uvicorn.Config, settings: Settings, ready: Callable[[str], None]) -> None:
        super().__init__(config)
        self._settings, self._ready = settings, ready
        self.ended = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        await super().startup(sockets)
        if self.started:
            port = self.servers[0].sockets[0].getsockname()[1]
            self._ready(replace(self._settings, port=port, public_url="").address)
            threading.Thread(target=_warm_up, args=(self.ended,), name="warm-up").start()


def _as_bytes(image: object) -> NDArray[np.uint8]:
    values: NDArray[np.uint8] = np.rint(255 * np.clip(np.asarray(image, dtype=float), 0, 1)).astype(np.uint8)
    return values
