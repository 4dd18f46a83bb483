"""All writing routes of the studio under contention: clients meet, write to the same rows at the same
moment, and what is stored in the end is compared with what each of them was told.

A contest is a set of routes that write to the same rows; ``studio_contests.py`` has them all.
"""

from __future__ import annotations

import random
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np
from sqlalchemy.orm import Session

from edgecritic.annotators.choice import Segment, Trial
from edgecritic.studio import auth, experiments, projects
from edgecritic.studio.database import Database
from edgecritic.studio.pictures import encode_png, read_photo
from edgecritic.studio.trials import Plan

PASSWORD = "correct horse battery"
SHAPE = (48, 64)
LONGEST = 240.0
"""Seconds for one reply: the first experiment of a new server compiles kernels."""


class World:
    """What all contests use: the database, the owner's session, a photo, a project with labels."""

    def __init__(self, database: Database, seed: int) -> None:
        self.database, self.rng = database, random.Random(seed)
        noise = np.random.default_rng(seed).integers(0, 60, SHAPE)
        noise[10:38, 12:50] += 120
        self.photo = encode_png(noise.astype(np.uint8))
        self.upload = read_photo(self.photo, 10**6)
        with database.session() as session:
            auth.set_password(session, PASSWORD)
            self.owner = auth.start_session(session, None, 1)
            self.project = projects.create_project(session, "Material").id
            image = projects.add_image(session, self.project, "one", self.upload)
            self.image = image.id
            for number in range(2):
                projects.add_maps(session, image, "label", f"person {number}", [frame(number)])
            projects.add_maps(session, image, "detector", "some", [noise / 255])

    def guest(self, session: Session, **where: int) -> Guest:
        """Invite a person who has a browser."""
        person, token = projects.invite(session, "Ada", **where)
        return Guest(person.id, token, auth.start_session(session, person, 1))

    def experiment(self, session: Session) -> int:
        """Make an experiment of simple trials."""
        plan = Plan(name="Race", seed=3, practice=0, checks=0)
        places = {"false alarm": (5, 5), "label": (9, 9)}
        sides = [Segment(kind=kind, centre=at, pixels=(at,)) for kind, at in places.items()]
        about = {"image": "one", "detector": "some", "mode": "hard"}
        trials = [Trial.of(*sides, "left", id=str(n), **about) for n in range(12)]
        return experiments.create_experiment(session, self.project, plan, trials).id


@dataclass(frozen=True)
class Guest:
    """An invited person with a browser session."""

    id: int
    token: str
    secret: str

    @property
    def cookie(self) -> str:
        return f"edgecritic_guest_{self.id}={self.secret}"


def frame(number: int) -> np.ndarray:
    """Return a label map that no other number has."""
    mask = np.zeros(SHAPE, bool)
    mask[10, 12:50] = mask[37, 12:50] = True
    mask[2, number] = True
    return mask


def uses(route: str) -> Callable[[Any], Any]:
    """Say which route the operation of a contest uses."""

    def mark(method: Any) -> Any:
        method.route = route
        return method

    return mark


class Client:
    """A browser, and its number among the clients.

    Each has an address of its own where the system allows it, as people have: the studio limits how many of
    one address may join an experiment in a minute, and that is not what is tried here.
    """

    def __init__(self, address: str, number: int) -> None:
        own = f"127.0.0.{number + 2}" if sys.platform == "linux" else None
        way = httpx.HTTPTransport(local_address=own, verify=False)
        self.browser = httpx.Client(base_url=address, transport=way, trust_env=False, timeout=LONGEST)
        self.number = number


class Contest:
    """One meeting of all clients. Each does one operation, by its number; then the rows must agree."""

    turns: tuple[str, ...] = ()
    """The method of each client's operation, over and over."""

    def __init__(self, world: World) -> None:
        self.world, self.told, self.wrong = world, [], []
        with world.database.session() as session:
            self.prepare(session)

    @classmethod
    def routes(cls) -> set[str]:
        """Return the routes that are used."""
        return {method.route for name in dir(cls) if hasattr(method := getattr(cls, name), "route")}

    def prepare(self, session: Session) -> None:
        """Make what the clients will write to."""

    def act(self, client: Client) -> str:
        """Do the operation of one client; return its route."""
        method = getattr(self, self.turns[client.number % len(self.turns)])
        method(client)
        route: str = method.route
        return route

    def problems(self, session: Session) -> Iterator[str]:
        """Yield what does not hold."""
        raise NotImplementedError

    def send(
        self,
        client: Client,
        path: str,
        *allowed: int,
        cookie: str = "",
        method: str = "POST",
        **body: Any,
    ) -> httpx.Response:
        """Send a request, by default the owner's; a reply of another status is a problem."""
        headers = {"cookie": cookie or f"edgecritic_owner={self.world.owner}", "x-edgecritic": "1"}
        reply = client.browser.request(method, path, headers=headers, **body)
        client.browser.cookies.clear()
        if reply.status_code not in allowed:
            self.wrong.append(f"{method} {path} answered {reply.status_code}: {reply.text[:200]}")
        return reply

    def expect(self, holds: object, what: str) -> Iterator[str]:
        if not holds:
            yield f"{type(self).__name__}: {what}"


@dataclass(frozen=True)
class Outcome:
    """What happened: how many operations on each route, and everything that does not hold."""

    operations: Counter[str]
    problems: list[str]


def compete(
    address: str,
    database: Database,
    contests: tuple[type[Contest], ...],
    *,
    clients: int = 8,
    rounds: int = 200,
    seed: int = 0,
) -> Outcome:
    """Let clients meet in `rounds` contests at a served studio; look at the database in the end."""
    world = World(database, seed)
    chosen = [contests[number % len(contests)] for number in range(rounds)]
    world.rng.shuffle(chosen)
    operations: Counter[str] = Counter()
    problems: list[str] = []
    held: list[Contest] = []
    meeting = threading.Barrier(clients)
    callers = [Client(address, number) for number in range(clients)]

    def operate(contest: Contest, client: Client) -> str:
        meeting.wait(LONGEST)
        return contest.act(client)

    with ThreadPoolExecutor(clients) as pool:
        for kind in chosen:
            contest = kind(world)
            held.append(contest)
            for done in [pool.submit(operate, contest, client) for client in callers]:
                try:
                    operations[done.result(2 * LONGEST)] += 1
                except Exception as error:  # noqa: BLE001 - a client without a reply is a problem to report
                    problems.append(f"{kind.__name__}: {type(error).__name__}: {error}")
    for client in callers:
        client.browser.close()
    with database.reading() as session:
        for contest in held:
            problems += contest.wrong + list(contest.problems(session))
    return Outcome(operations, problems)
