"""Start the studio: check what it was given, fill an empty one, serve."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import uvicorn
from numpy.typing import NDArray
from sqlalchemy import select

from edgecritic.errors import DataError, InputError
from edgecritic.studio import auth, projects
from edgecritic.studio.app import create_app
from edgecritic.studio.database import Database, open_database
from edgecritic.studio.models import Project
from edgecritic.studio.pictures import make_upload
from edgecritic.studio.settings import Settings

__all__ = ["PASSWORD_VARIABLE", "add_example", "prepare", "serve"]

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
    database = open_database(settings.database_url, f"{command} --migrate")
    try:
        with database.session() as session:
            given = os.environ.get(PASSWORD_VARIABLE)
            if given and not auth.check_password(session, given):
                auth.set_password(session, given)
            if not (settings.local or settings.proxy_user_header or auth.has_password(session)):
                raise InputError(
                    f"others can reach {settings.host}, so the studio needs an owner's password: set one "
                    f"with {command} --set-password or {PASSWORD_VARIABLE}, or name the header of "
                    "your reverse proxy with --proxy-user-header"
                )
            empty = session.scalar(select(Project.id).limit(1)) is None
        if example and empty:
            add_example(database)
    except BaseException:
        database.close()
        raise
    return database


def add_example(database: Database, images: int = 6) -> None:
    """Add the synthetic data set as a project: photos, labels of five annotators, three detectors."""
    from edgecritic.datasets.synthetic import DETECTORS, dataset, detect

    cases = dataset(images, size=(240, 320))
    uploads = [make_upload(_as_bytes(case.image)) for case in cases]
    maps = [{name: detect(case.image, name) for name in DETECTORS} for case in cases]
    with database.session() as session:
        project = projects.create_project(session, "Synthetic shapes")
        for case, upload, found in zip(cases, uploads, maps, strict=True):
            image = projects.add_image(session, project.id, case.id, upload)
            projects.add_maps(session, image, "label", "annotator", case.truths)
            for name, strength in found.items():
                projects.add_maps(session, image, "detector", name, [strength])


def serve(settings: Settings, database: Database, ready: Callable[[str], None]) -> None:
    """Serve until interrupted; `ready` gets the address when connections are taken."""
    app = create_app(settings, database)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=5,
    )
    server = _Server(config, ready)
    with suppress(KeyboardInterrupt, SystemExit):  # the second: uvicorn could not listen
        server.run()
    if not server.started:
        raise DataError(f"cannot listen on {settings.host}:{settings.port}; is another program using it?")


class _Server(uvicorn.Server):
    """A server that says when connections are taken."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[str], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        await super().startup(sockets)
        if self.started:
            port = self.servers[0].sockets[0].getsockname()[1]
            host = self.config.host
            self._ready(f"http://{f'[{host}]' if ':' in host else host}:{port}/")


def _as_bytes(image: object) -> NDArray[np.uint8]:
    values: NDArray[np.uint8] = np.rint(255 * np.clip(np.asarray(image, dtype=float), 0, 1)).astype(np.uint8)
    return values
