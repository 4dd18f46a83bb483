"""A studio for tests: data layer, pages and security run on SQLite and, where there is one, on PostgreSQL."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import httpx
import numpy as np
import pytest
import uvicorn
from sqlalchemy import create_engine, text

from edgecritic.annotators import Trial
from edgecritic.datasets.synthetic import annotators, detect, scene
from edgecritic.studio import auth, projects
from edgecritic.studio.app import OWNER_COOKIE, create_app
from edgecritic.studio.database import Database, open_database
from edgecritic.studio.models import Base
from edgecritic.studio.pictures import encode_png, read_photo
from edgecritic.studio.serve import link_path
from edgecritic.studio.settings import Settings
from edgecritic.studio.trials import Plan, draw_trials
from edgecritic.web.serving import server_config

sys.path.append(str(Path(__file__).parent))  # studio_pages
POSTGRES = os.environ.get("EDGECRITIC_TEST_PG", "")
OWN = {"x-edgecritic": "1"}


@contextmanager
def new_schema() -> Iterator[str]:
    """Make an empty schema on the PostgreSQL server and give its URL."""
    name = f"test_{secrets.token_hex(6)}"
    admin = create_engine(POSTGRES, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    mark = "&" if "?" in POSTGRES else "?"
    yield f"{POSTGRES}{mark}options=-csearch_path%3D{name}"
    with admin.connect() as connection:
        connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
    admin.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def kind(request) -> str:
    """The kind of database; PostgreSQL where there is a server."""
    if request.param == "postgresql" and not POSTGRES:
        pytest.skip("no PostgreSQL server; set EDGECRITIC_TEST_PG")
    return request.param


@pytest.fixture
def database_url(kind, tmp_path) -> Iterator[str]:
    """The URL of an empty database."""
    if kind == "sqlite":
        yield f"sqlite:///{tmp_path / 'studio.db'}"
        return
    with new_schema() as url:
        yield url


@pytest.fixture(scope="session")
def migrated(tmp_path_factory) -> Path:
    """An SQLite file with the tables, to be copied."""
    path = tmp_path_factory.mktemp("studio") / "studio.db"
    open_database(f"sqlite:///{path}").close()
    return path


@pytest.fixture(scope="session")
def migrated_schema() -> Iterator[str]:
    """The URL of a schema with the tables, to be emptied after every use: migrating takes a second."""
    with new_schema() as url:
        open_database(url).close()
        yield url


@pytest.fixture
def database(kind, request) -> Iterator[Database]:
    """A database with empty tables."""
    if kind == "sqlite":
        yield request.getfixturevalue("sqlite")
        return
    opened = open_database(request.getfixturevalue("migrated_schema"))
    yield opened
    with opened.engine.begin() as connection:
        names = ", ".join(table.name for table in Base.metadata.sorted_tables)
        connection.execute(text(f"TRUNCATE {names} RESTART IDENTITY CASCADE"))
    opened.close()


@pytest.fixture
def sqlite(tmp_path, migrated) -> Iterator[Database]:
    shutil.copy(migrated, tmp_path / "studio.db")
    opened = open_database(f"sqlite:///{tmp_path / 'studio.db'}")
    yield opened
    opened.close()


@pytest.fixture
def store(sqlite) -> Database:
    """Return the database behind a site; modules that try both databases put `database` in its place."""
    return sqlite


def photo_of(values: np.ndarray) -> bytes:
    return encode_png(np.rint(255 * np.clip(values, 0, 1)))


@pytest.fixture(scope="session")
def scenes():
    """Three small images with the labels of three people and two detectors."""
    made = []
    for seed in range(3):
        drawn = scene(seed, (64, 80), count=3, snr=14.0)
        labels = annotators(drawn.truth, 3, seed=seed, omit=0.2, add=0.2)
        maps = {name: detect(drawn.image, name, seed=seed) for name in ("good", "noisy")}
        made.append((photo_of(drawn.image), labels, maps))
    uploads = [read_photo(content, 10**6) for content, _, _ in made]
    return [(upload, *rest) for upload, (_, *rest) in zip(uploads, made, strict=True)]


@pytest.fixture(scope="session")
def compiled(scenes):
    """Compile what requests need, so that no page waits for it."""
    from edgecritic.annotators import strength, trials
    from edgecritic.matching import match
    from edgecritic.protocols.benchmark import Benchmark
    from edgecritic.protocols.sweep import candidate_at

    _, labels, maps = scenes[0]
    match(labels[0], labels[1], relative_tolerance=0.0075)
    benchmark = Benchmark("bsds")
    benchmark.update(maps["good"], labels, id="0")
    list(trials([("0", strength(labels), candidate_at(maps["good"], 0.3))], mode="hard"))


@pytest.fixture(scope="session")
def fill(scenes):
    """Return a function that makes a project with everything an experiment needs."""

    def make(database: Database) -> int:
        with database.session() as session:
            project = projects.create_project(session, "Test")
            for number, (upload, labels, maps) in enumerate(scenes):
                image = projects.add_image(session, project.id, f"scene-{number}.png", upload)
                projects.add_maps(session, image, "label", "person", labels)
                for name, strength in maps.items():
                    projects.add_maps(session, image, "detector", name, [strength])
            return project.id

    return make


@pytest.fixture(scope="session")
def trials_of():
    """Return a function that gives the plan and the trials of a test experiment, drawn once."""
    plan = Plan(name="Pilot", mode="both", seed=4, square=15, practice=2, checks=2)
    drawn: list[Trial] = []

    def make(session, project) -> tuple[Plan, list[Trial]]:
        if not drawn:
            drawn.extend(draw_trials(session, project, plan))
        return plan, drawn

    return make


class Server:
    """A studio served by a thread of this process."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self.app = create_app(settings, database)
        self.server = uvicorn.Server(server_config(self.app, settings.host, settings.port))
        sockets = [socket.create_server(("127.0.0.1", 0))]
        self.thread = threading.Thread(target=self.server.run, args=[sockets], daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.005)
        self.port = sockets[0].getsockname()[1]
        self.url = f"http://localhost:{self.port}"

    def close(self) -> None:
        self.server.should_exit = True
        self.thread.join(10)


@dataclass
class Site:
    """A served studio, a client of the owner, and as many strangers as wanted."""

    database: Database
    settings: Settings
    server: Server
    clients: list[httpx.Client] = field(default_factory=list)

    @property
    def url(self) -> str:
        return self.server.url

    def link(self) -> str:
        """Return the address that makes a browser the owner's, once."""
        with self.database.session() as session:
            return f"{self.url}/{link_path(session)}"

    def stranger(self, headers: dict[str, str] | None = None) -> httpx.Client:
        """Return a browser that has no cookies."""
        made = httpx.Client(base_url=self.url, headers=OWN if headers is None else headers, trust_env=False)
        made.timeout = httpx.Timeout(60)
        self.clients.append(made)
        return made

    def new_owner(self, headers: dict[str, str] | None = None) -> httpx.Client:
        """Return a browser that has the owner's session."""
        made = self.stranger(headers)
        with self.database.session() as session:
            made.cookies.set(OWNER_COOKIE, auth.start_session(session, None, 1))
        return made

    @cached_property
    def owner(self) -> httpx.Client:
        return self.new_owner()

    def guest(self, path: str) -> httpx.Client:
        """Return a browser that has opened an invitation."""
        client = self.stranger()
        assert client.get(path, follow_redirects=True).status_code == 200
        return client


@pytest.fixture
def serve_site(store, tmp_path) -> Iterator[Callable[..., Site]]:
    """Return a function that serves the studio with other settings."""
    made: list[Site] = []

    def serve(**more) -> Site:
        settings = Settings(data=tmp_path, **{"upload_bytes": 2**20, "upload_pixels": 10**6} | more)
        made.append(Site(store, settings, Server(settings, store)))
        return made[-1]

    yield serve
    for site in made:
        for client in site.clients:
            client.close()
        site.server.close()


@pytest.fixture
def site(serve_site, store, fill) -> Site:
    """A studio with a project, for the owner at this computer."""
    fill(store)
    return serve_site()


@pytest.fixture(scope="module")
def browser(compiled, browser):
    """Chromium, after what the server needs is compiled."""
    return browser


@pytest.fixture
def open_page(browser):
    """Return a function that opens a page in a browser of its own; errors of the page fail the test."""
    contexts, problems = [], []

    def make(**more):
        context = browser.new_context(**{"viewport": {"width": 1100, "height": 760}} | more)
        context.set_default_timeout(40_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.problems = problems
        return page

    yield make
    for context in contexts:
        context.close()
    assert [one for one in problems if "net::ERR" not in one and "Failed to load resource" not in one] == []


@pytest.fixture
def link(site):
    """The path of a link that lets Ada label."""
    return site.owner.post("/projects/1/people", json={"names": ["Ada"]}).json()["invited"][0]["path"]
