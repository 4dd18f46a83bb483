"""Subjects and annotators at once at a real studio server, which may be killed meanwhile.

Everything stays on loopback in a folder of the caller and ends by itself.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sqlalchemy import select

from edgecritic.annotators.choice import Segment, Trial
from edgecritic.studio import auth, experiments, labelling, projects
from edgecritic.studio.database import open_database
from edgecritic.studio.models import Answer, Event, Experiment, Slot
from edgecritic.studio.pictures import encode_png, read_photo
from edgecritic.studio.trials import Plan
from studio_server import Server

PER_SECOND = 2.0
DOUBLE_CLICKS = 0.05
LONGEST = 300.0


@dataclass(frozen=True)
class Size:
    """How many people do how much."""

    subjects: int = 200
    answers: int = 50
    labellers: int = 10
    edits: int = 60


class Person:
    """A subject or an annotator with a browser session."""

    def __init__(self, guest: int, secret: str, work: list[int]) -> None:
        self.guest, self.secret, self.work = guest, secret, work
        self.acknowledged: dict[int, str] = {}


def fill(url: str, size: Size) -> tuple[list[Person], list[Person]]:
    """Make the experiment and the people; every schedule is stored before the start."""
    database = open_database(url)
    photo = read_photo(
        encode_png(np.random.default_rng(0).integers(0, 255, (60, 80)).astype(np.uint8)), 10**6
    )
    with database.session() as session:
        project = projects.create_project(session, "Load")
        image = projects.add_image(session, project.id, "one", photo)
        plan = Plan(name="Load", practice=0, checks=0)
        places = {"false alarm": (5, 5), "label": (9, 9)}
        sides = [Segment(kind=kind, centre=at, pixels=(at,)) for kind, at in places.items()]
        trials = [
            Trial.of(*sides, "left", id=str(n), image="one", detector=f"d{n % 8}", mode="hard")
            for n in range(size.answers)
        ]
        experiment = experiments.create_experiment(session, project.id, plan, trials)
        invited = experiments.invite_subjects(session, experiment, [f"S{n}" for n in range(size.subjects)])
        slots: dict[int, list[int]] = {}
        for slot in session.scalars(select(Slot).order_by(Slot.position)):
            slots.setdefault(slot.invitation_id, []).append(slot.id)
        subjects = [Person(one.id, auth.start_session(session, one, 1), slots[one.id]) for one, _ in invited]
        labellers = []
        for number in range(size.labellers):
            one, _ = projects.invite(session, f"L{number}", project_id=project.id)
            annotation = labelling.open_annotation(session, one, image.id)
            labellers.append(Person(one.id, auth.start_session(session, one, 1), [annotation.id]))
    database.close()
    return subjects, labellers


class Connection:
    """As much HTTP as is needed: one request after the other on one connection."""

    def __init__(self, port: int, cookie: str) -> None:
        self.port, self.cookie, self.streams = port, cookie, None

    async def post(self, path: str, document: object) -> tuple[int, dict]:
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.streams
        body = json.dumps(document).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nOrigin: http://127.0.0.1:{self.port}\r\n"
            f"Cookie: {self.cookie}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        try:
            writer.write(head.encode() + body)
            answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
            length = int(answer.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            content = await asyncio.wait_for(reader.readexactly(length), 30)
        except BaseException:
            writer.close()
            self.streams = None
            raise
        return int(answer.split(b" ")[1]), json.loads(content)

    def close(self) -> None:
        if self.streams:
            self.streams[1].close()


async def persist(connection: Connection, path: str, document: object, times: list[float]) -> dict:
    """Send until it is acknowledged, as the pages do."""
    while True:
        start = time.perf_counter()
        try:
            status, reply = await connection.post(path, document)
        except (OSError, asyncio.IncompleteReadError, TimeoutError, IndexError):
            await asyncio.sleep(0.1)
            continue
        if status == 503:
            await asyncio.sleep(0.1)
            continue
        if status != 200:
            raise RuntimeError(f"{path}: {status} {reply}")
        times.append(time.perf_counter() - start)
        return reply


async def subject(person: Person, port: int, times: list[float], rng: random.Random) -> None:
    connection = Connection(port, f"edgecritic_guest_{person.guest}={person.secret}")
    await asyncio.sleep(rng.random() / PER_SECOND)
    due = time.monotonic()
    for slot in person.work:
        given = {"slot": slot, "side": rng.choice(["left", "right"]), "reaction_ms": rng.randrange(300, 3000)}
        for _ in range(2 if rng.random() < DOUBLE_CLICKS else 1):
            reply = await persist(connection, f"/g/{person.guest}/answers", given, times)
            given = {**given, "side": {"left": "right", "right": "left"}[given["side"]]}
            person.acknowledged.setdefault(slot, reply["side"])
        due += rng.uniform(0.5, 1.5) / PER_SECOND
        await asyncio.sleep(max(0.0, due - time.monotonic()))
    connection.close()


async def labeller(person: Person, port: int, edits: int, rng: random.Random) -> None:
    connection = Connection(port, f"edgecritic_guest_{person.guest}={person.secret}")
    path = f"/g/{person.guest}/annotations/{person.work[0]}/events"
    for seq in range(edits):
        points = [rng.randrange(80), rng.randrange(60), rng.randrange(80), rng.randrange(60)]
        event = {"seq": seq, "key": f"{person.guest}-{seq}", "op": "draw", "data": {"points": points}}
        await persist(connection, path, {"events": [event]}, [])
        person.acknowledged[seq] = event["key"]
        await asyncio.sleep(rng.uniform(0.2, 0.6))
    connection.close()


async def murder(server: Server, kills: int, finished: asyncio.Event) -> int:
    """Kill the server again and again while people work; return how often."""
    draw = random.Random(kills)
    for done in range(kills):
        await asyncio.sleep(draw.uniform(0.5, 1.5))
        if finished.is_set():
            return done
        server.kill()
        await asyncio.to_thread(server.start)
    return kills


async def load(
    server: Server, subjects: list[Person], labellers: list[Person], size: Size, kills: int
) -> tuple[list[float], int]:
    """Return the times of the answers, and how often the server was killed before the last one."""
    times: list[float] = []
    work = [subject(one, server.port, times, random.Random(one.guest)) for one in subjects]
    work += [labeller(one, server.port, size.edits, random.Random(one.guest)) for one in labellers]
    finished = asyncio.Event()
    async with asyncio.timeout(LONGEST):
        killer = asyncio.create_task(murder(server, kills, finished))
        await asyncio.gather(*work)
        finished.set()
        return times, await killer


def check_stored(url: str, subjects: list[Person], labellers: list[Person]) -> tuple[int, int, int]:
    """Return stored answers, stored edits, and how many acknowledged ones are missing or different."""
    database = open_database(url)
    with database.reading() as session:
        answers = {row.slot_id: row.side for row in session.execute(select(Answer.slot_id, Answer.side))}
        events = {
            (row.annotation_id, row.seq): row.key
            for row in session.execute(select(Event.annotation_id, Event.seq, Event.key))
        }
        assert session.scalar(select(Experiment.id)) == 1
    database.close()
    wrong = sum(answers.get(slot) != side for one in subjects for slot, side in one.acknowledged.items())
    wrong += sum(
        events.get((one.work[0], seq)) != key for one in labellers for seq, key in one.acknowledged.items()
    )
    return len(answers), len(events), wrong


@dataclass(frozen=True)
class Load:
    """What happened: seconds per acknowledged answer, kills, what is stored, and what of it is wrong."""

    times: list[float]
    kills: int
    stored: int
    drawn: int
    wrong: int
    expected: tuple[int, int]

    @property
    def complete(self) -> bool:
        """Whether every answer and edit is there once, as it was acknowledged."""
        return (self.stored, self.drawn, self.wrong) == (*self.expected, 0)

    @property
    def late(self) -> float:
        """95th percentile of the answers' times in milliseconds."""
        return 1000 * sorted(self.times)[int(0.95 * (len(self.times) - 1))]


def run_load(url: str, folder: Path, *, size: Size, kills: int = 0) -> Load:
    """Fill a new database, start the server, let everybody work, and look at what is stored."""
    subjects, labellers = fill(url, size)
    server = Server(url, folder)
    try:
        times, killed = asyncio.run(load(server, subjects, labellers, size, kills))
    finally:
        server.stop()
    expected = size.subjects * size.answers, size.labellers * size.edits
    return Load(times, killed, *check_stored(url, subjects, labellers), expected)
