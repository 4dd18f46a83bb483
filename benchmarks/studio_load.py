"""Measure the studio against its bars: subjects at once, a server that is killed, a large image.

    python benchmarks/studio_load.py                     SQLite, then PostgreSQL if it can be started
    python benchmarks/studio_load.py --kills 10          kill the server with SIGKILL during the load
    python benchmarks/studio_load.py --browser           a 2000×1500 image in Chromium

Everything stays on loopback in a temporary folder and ends by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import numpy as np
from sqlalchemy import select

from edgecritic.studio import auth, experiments, labelling, projects
from edgecritic.studio.database import open_database
from edgecritic.studio.models import Answer, Event, Experiment, Slot, Trial
from edgecritic.studio.pictures import encode_png, read_photo

SUBJECTS, ANSWERS, PER_SECOND = 200, 50, 2.0
LABELLERS, EDITS = 10, 60
DOUBLE_CLICKS = 0.05
LONGEST = 300.0
HERE = Path(__file__).resolve().parents[1]


class Person:
    """A subject or an annotator with a browser session."""

    def __init__(self, guest: int, secret: str, work: list[int]) -> None:
        self.guest, self.secret, self.work = guest, secret, work
        self.acknowledged: dict[int, str] = {}


def fill(url: str) -> tuple[list[Person], list[Person]]:
    """Make the experiment and the people; every schedule is stored before the start."""
    database = open_database(url)
    photo = read_photo(
        encode_png(np.random.default_rng(0).integers(0, 255, (60, 80)).astype(np.uint8)), 10**6
    )
    with database.session() as session:
        project = projects.create_project(session, "Load")
        image = projects.add_image(session, project.id, "one", photo)
        plan = experiments.Plan(name="Load", practice=0, checks=0)
        trials = [
            Trial(
                image_id=image.id,
                part="main",
                mode="hard",
                detector=f"d{n % 8}",
                alarm=[5, 5, 5, 5],
                label=[9, 9, 9, 9],
            )
            for n in range(ANSWERS)
        ]
        experiment = experiments.create_experiment(session, project.id, plan, trials)
        invited = experiments.invite_subjects(session, experiment, [f"S{n}" for n in range(SUBJECTS)])
        slots: dict[int, list[int]] = {}
        for slot in session.scalars(select(Slot).order_by(Slot.position)):
            slots.setdefault(slot.invitation_id, []).append(slot.id)
        subjects = [Person(one.id, auth.start_session(session, one, 1), slots[one.id]) for one, _ in invited]
        labellers = []
        for number in range(LABELLERS):
            one, _ = projects.invite(session, f"L{number}", project_id=project.id)
            annotation = labelling.open_annotation(session, one, image.id)
            labellers.append(Person(one.id, auth.start_session(session, one, 1), [annotation.id]))
    database.close()
    return subjects, labellers


class Server:
    """The real command in its own process."""

    def __init__(self, url: str, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.command = [
            sys.executable,
            "-m",
            "edgecritic",
            "studio",
            "--db",
            url,
            "--port",
            str(self.port),
            "--no-example",
        ]
        self.log = (folder / "server.log").open("ab")
        self.start()

    def start(self) -> None:
        env = {**os.environ, "PYTHONPATH": str(HERE / "src")}
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log, env=env)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=1):
                    return
            except OSError:
                time.sleep(0.05)
        raise SystemExit("the server did not start; see the log")

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        self.log.close()


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
            raise SystemExit(f"{path}: {status} {reply}")
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


async def labeller(person: Person, port: int, times: list[float], rng: random.Random) -> None:
    connection = Connection(port, f"edgecritic_guest_{person.guest}={person.secret}")
    path = f"/g/{person.guest}/annotations/{person.work[0]}/events"
    for seq in range(EDITS):
        points = [rng.randrange(80), rng.randrange(60), rng.randrange(80), rng.randrange(60)]
        event = {"seq": seq, "key": f"{person.guest}-{seq}", "op": "draw", "data": {"points": points}}
        await persist(connection, path, {"events": [event]}, times)
        person.acknowledged[seq] = event["key"]
        await asyncio.sleep(rng.uniform(0.2, 0.6))
    connection.close()


async def murder(server: Server, kills: int) -> None:
    for _ in range(kills):
        await asyncio.sleep(random.Random(kills).uniform(1.0, 2.0))
        server.kill()
        await asyncio.to_thread(server.start)


async def load(
    server: Server, subjects: list[Person], labellers: list[Person], kills: int
) -> tuple[list[float], list[float]]:
    answers: list[float] = []
    edits: list[float] = []
    work = [subject(one, server.port, answers, random.Random(one.guest)) for one in subjects]
    work += [labeller(one, server.port, edits, random.Random(one.guest)) for one in labellers]
    async with asyncio.timeout(LONGEST):
        await asyncio.gather(*work, murder(server, kills))
    return answers, edits


def check(url: str, subjects: list[Person], labellers: list[Person]) -> tuple[int, int, int]:
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


def percentile(times: list[float], share: float) -> float:
    return 1000 * sorted(times)[min(len(times) - 1, int(share * len(times)))]


def measure(name: str, url: str, folder: Path, kills: int, bar: float) -> bool:
    subjects, labellers = fill(url)
    server = Server(url, folder)
    start = time.monotonic()
    answers, edits = asyncio.run(load(server, subjects, labellers, kills))
    took = time.monotonic() - start
    server.stop()
    stored, drawn, wrong = check(url, subjects, labellers)
    late = percentile(answers, 0.95)
    good = (
        stored == SUBJECTS * ANSWERS
        and drawn == LABELLERS * EDITS
        and wrong == 0
        and (kills > 0 or late <= bar)
    )
    print(
        f"{name}: {stored} answers and {drawn} edits stored, {wrong} acknowledged ones lost or changed, "
        f"{len(answers)} requests in {took:.1f} s ({len(answers) / took:.0f}/s), {kills} kills; answer ms: "
        f"median {1000 * statistics.median(answers):.1f}, 95 % {late:.1f} (bar {bar:.0f}), "
        f"99 % {percentile(answers, 0.99):.1f}, "
        f"edit 95 % {percentile(edits, 0.95):.1f}: {'good' if good else 'NOT GOOD'}",
        flush=True,
    )
    return good


def browser(folder: Path) -> bool:
    """Time the first view of a 2000×1500 image and the frames of a stroke."""
    import shutil

    from playwright.sync_api import sync_playwright

    url = f"sqlite:///{folder / 'browser.db'}"
    database = open_database(url)
    from edgecritic.datasets.synthetic import scene

    drawn = scene(3, (1500, 2000), count=60, grey=True, overlap=True, snr=20.0)
    photo = read_photo(encode_png(np.rint(255 * np.clip(drawn.image, 0, 1))), 10**7)
    with database.session() as session:
        project = projects.create_project(session, "Large")
        projects.add_image(session, project.id, "large", photo)
        _, token = projects.invite(session, "Ada", project_id=project.id)
    database.close()
    server = Server(url, folder)
    flags = [
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ]
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        page = chromium.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"http://127.0.0.1:{server.port}/i/{token}")
        address = page.get_attribute(".gallery a", "href")
        views = []
        for _ in range(3):
            start = time.perf_counter()
            page.goto(f"http://127.0.0.1:{server.port}{address}")
            page.wait_for_selector("body[data-ready=yes]")
            views.append(time.perf_counter() - start)
        frames: list[float] = []
        for zoom in ("0", "1", "8"):
            page.keyboard.press(zoom)
            page.wait_for_timeout(500)
            page.evaluate(
                """() => { window.frames_ = []; let last = performance.now(); window.on_ = true;
                const tick = (now) => {
                  window.frames_.push(now - last); last = now; if (window.on_) requestAnimationFrame(tick);
                };
                requestAnimationFrame(tick); }"""
            )
            page.mouse.move(300, 250)
            page.mouse.down()
            for step in range(60):
                page.mouse.move(300 + 9 * step, 250 + 200 * np.sin(step / 6), steps=2)
            page.mouse.up()
            frames += page.evaluate("() => { window.on_ = false; return window.frames_.slice(1); }")
        chromium.close()
    server.stop()
    good = max(views) <= 2.0 and max(frames) <= 50
    print(
        f"2000×1500 in Chromium without GPU: first view {', '.join(f'{one:.2f}' for one in views)} s "
        f"(bar 2 s); "
        f"{len(frames)} frames of three strokes: median {statistics.median(frames):.1f} ms, "
        f"longest {max(frames):.1f} ms (bar 50 ms): "
        f"{'good' if good else 'NOT GOOD'}"
    )
    return good


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=("sqlite", "postgresql"))
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--browser", action="store_true")
    args = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory(prefix="studio-load-") as name:
        folder = Path(name)
        if args.browser:
            return 0 if browser(folder) else 1
        if args.only != "postgresql":
            good &= measure("SQLite", f"sqlite:///{folder / 'studio.db'}", folder, args.kills, 600)
        if args.only != "sqlite":
            place = str(folder / "pg")
            Path(name).chmod(0o755)
            started = subprocess.run(
                [HERE / ".ci" / "postgres", "start", place], capture_output=True, text=True, check=False
            )
            if started.returncode:
                print(f"PostgreSQL could not be started: {started.stderr.strip()}")
                return 1
            try:
                good &= measure("PostgreSQL", started.stdout.strip(), folder, args.kills, 250)
            finally:
                subprocess.run([HERE / ".ci" / "postgres", "stop", place], check=False)
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
