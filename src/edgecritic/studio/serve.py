"""Start the studio: check what it was given, fill an empty one, serve."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.applications import Starlette

from edgecritic.errors import InputError
from edgecritic.studio import auth, projects
from edgecritic.studio.app import create_app
from edgecritic.studio.database import Database, open_database
from edgecritic.studio.models import Project
from edgecritic.studio.pictures import make_upload
from edgecritic.studio.settings import Settings
from edgecritic.web.serving import Running, listen, run_server, server_config

__all__ = [
    "PASSWORD_VARIABLE",
    "add_example",
    "link_path",
    "login_path",
    "prepare",
    "serve",
    "server_of",
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


def serve(
    settings: Settings,
    database: Database,
    ready: Callable[[str], None],
    sockets: list[socket.socket] | None = None,
) -> None:
    """Serve until interrupted, on sockets of `listen`; `ready` gets the address when it can be used."""
    sockets = listen(settings.host, settings.port) if sockets is None else sockets
    run_server(server_of(create_app(settings, database), settings, ready), sockets)


def server_of(app: Starlette, settings: Settings, ready: Callable[[str], None]) -> Running:
    """Return the server, which compiles what maps and comparisons need while it runs.

    No request has to compile anything then; one that comes earlier waits.
    """
    return Running(server_config(app, settings.host, settings.port), ready, _to_compile())


def _to_compile() -> list[Callable[[], Any]]:
    def uploads() -> None:
        from edgecritic.studio.apart import get_ready

        get_ready()

    def maps() -> None:
        from edgecritic.run import warmup

        warmup.warm_edits()

    def comparison() -> None:
        from edgecritic.kernels._jit import always_compiled
        from edgecritic.matching import match
        from edgecritic.run import warmup

        always_compiled()
        match(*warmup.tiny_pair(2))

    def agreement() -> None:
        from edgecritic.annotators import strength
        from edgecritic.run import warmup

        strength(warmup.tiny_pair(2))

    return [uploads, maps, comparison, agreement]


def _as_bytes(image: object) -> NDArray[np.uint8]:
    values: NDArray[np.uint8] = np.rint(255 * np.clip(np.asarray(image, dtype=float), 0, 1)).astype(np.uint8)
    return values
