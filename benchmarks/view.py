"""The viewer on 200 photos of 481×321 with five annotators: first view, steps, memory, hostile requests."""

from __future__ import annotations

import http.client
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote

from bars import Figure, Given, MissingError, browser_path, check, child, surroundings

PART = "view"
DETECTORS = ("sobel", "prewitt", "roberts")
_kept: list[tempfile.TemporaryDirectory[str]] = []


@cache
def runs_of(data: Path, images: int) -> Path:
    """Detect edges of BSDS500 training photos three times and judge them; return the folder of the runs."""
    _kept.append(tempfile.TemporaryDirectory(prefix="view-"))
    home = Path(_kept[-1].name)
    photos, truths = data / "bsds500/images/train", data / "bsds500/groundTruth/train"
    for kind, source, suffix in (("photos", photos, "jpg"), ("truths", truths, "mat")):
        (home / kind).mkdir()
        for file in sorted(source.glob(f"*.{suffix}"))[:images]:
            (home / kind / file.name).write_bytes(file.read_bytes())
    for name in DETECTORS:
        child("-m", "edgecritic", "detect", name, str(home / "photos"), "-o", str(home / name))
        words = [f"{name}={home / name}", "--truth", str(home / "truths"), "--images", str(home / "photos")]
        child(
            "-m", "edgecritic", "bench", *words, "--bootstrap", "100", "-q", "-o", str(home / f"run-{name}")
        )
    return home


class Viewing:
    """``edgecritic view`` in its own process."""

    def __init__(self, *runs: Path) -> None:
        words = ["-m", "edgecritic", "view", *map(str, runs), "--port", "0", "--no-browser"]
        self.process = subprocess.Popen(
            [sys.executable, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=surroundings(),
            text=True,
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().split()[-1]
        self.host = self.url.split("/")[2]
        self.line = http.client.HTTPConnection(self.host, timeout=60)
        time.sleep(3)  # compiles, or reads what was compiled
        self.gallery = json.loads(self.get("/gallery"))

    def get(self, path: str) -> bytes:
        self.line.request("GET", path)
        reply = self.line.getresponse()
        content = reply.read()
        if reply.status != 200:
            raise RuntimeError(f"{path}: {reply.status}")
        return content

    def memory(self) -> float:
        """Return the largest memory of the process so far, in MiB."""
        try:
            text = Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError as error:
            raise MissingError("no /proc here") from error
        return int(text.split("VmHWM:")[1].split()[0]) / 1024

    def stop(self) -> None:
        self.line.close()
        self.process.terminate()
        self.process.wait(20)


@contextmanager
def viewing(given: Given, several: bool = True) -> Iterator[Viewing]:
    assert given.data is not None
    home = runs_of(given.data, given.size(20, 200))
    made = Viewing(*(home / f"run-{name}" for name in (DETECTORS if several else DETECTORS[:1])))
    try:
        yield made
    finally:
        made.stop()


def late(times: list[float]) -> float:
    """Return the 95th percentile, in milliseconds."""
    return 1000 * sorted(times)[int(0.95 * (len(times) - 1))]


def timed(call: object) -> float:
    start = time.perf_counter()
    call()  # type: ignore[operator]
    return time.perf_counter() - start


@check(PART, ("report of three runs of 200 images", "≤ 5 s"), needs=("bsds500",))
def report(given: Given) -> Iterator[Figure]:
    home = runs_of(given.data, given.size(20, 200))
    words = [str(home / f"run-{name}") for name in DETECTORS]
    took = min(child("-m", "edgecritic", "report", *words, "-o", str(home / "joined"))[0] for _ in range(3))
    yield Figure(f"{took:.1f} s", took <= 5)


@check(
    PART,
    ("a threshold step in the server, 5 annotators", "95 % ≤ 30 ms"),
    ("a tolerance step in the server", "95 % ≤ 150 ms"),
    needs=("bsds500",),
)
def steps(given: Given) -> Iterator[Figure]:
    rng = random.Random(1)
    with viewing(given, several=False) as server:
        detector = server.gallery["detectors"][0]
        images = rng.sample(server.gallery["images"], min(20, len(server.gallery["images"])))
        for name, limit in (("t", 30), ("tol", 150)):
            times = []
            for image in images:
                path = f"/judge/{image['id']}/{detector['id']}"
                server.get(f"{path}?t={detector['threshold']}")
                for _ in range(10):
                    spread = rng.uniform(-0.15, 0.15)
                    threshold = max(0.02, detector["threshold"] + (spread if name == "t" else 0))
                    more = "" if name == "t" else f"&tol={rng.uniform(1, 9)}"
                    times.append(timed(lambda p=path, t=threshold, m=more: server.get(f"{p}?t={t}{m}")))
            text = f"median {1000 * median(times):.1f} ms, 95 % within {late(times):.1f} ms"
            yield Figure(text, late(times) <= limit)


def shown_after(page: Any, thresholds: Sequence[float]) -> list[float]:
    """Move the slider of the threshold and return how long each took to be on the screen, in seconds."""
    page.evaluate("() => performance.clearMeasures('step')")
    for value in thresholds:
        page.evaluate(
            "(value) => { const one = document.querySelector('#thresholds input'); one.value = value;"
            " one.dispatchEvent(new Event('input', { bubbles: true })); }",
            value,
        )
        page.wait_for_timeout(120)
    found: list[float] = page.evaluate(
        "() => performance.getEntriesByName('step').map((one) => one.duration / 1000)"
    )
    return found


@check(
    PART,
    ("first view of a run of 200 images, in Chromium", "≤ 1.5 s"),
    ("opening an image", "≤ 300 ms"),
    ("a threshold step, to the screen", "95 % ≤ 60 ms"),
    ("a threshold far from the last one, to the screen", "95 % ≤ 80 ms"),
    needs=("bsds500", "chromium", "playwright"),
)
def screen(given: Given) -> Iterator[Figure]:
    from playwright.sync_api import sync_playwright

    from studio_browser import FLAGS

    with viewing(given, several=False) as server, sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=browser_path(), args=FLAGS)
        page = chromium.new_page(viewport={"width": 1280, "height": 800})
        seen = []
        for _ in range(3):
            page.goto("about:blank")
            start = time.perf_counter()
            page.goto(server.url)
            page.wait_for_function(
                "() => { const all = [...document.querySelectorAll('#wall-list img')].slice(0, 12);"
                " return all.length && all.every((one) => one.complete && one.naturalWidth); }"
            )
            seen.append(time.perf_counter() - start)
        yield Figure(
            f"{max(seen):.2f} s with the first twelve pictures, median {median(seen):.2f} s", max(seen) <= 1.5
        )
        for place in range(12):
            page.goto(f"{server.url}#i={server.gallery['images'][place]['id']}")
            page.wait_for_function(f"() => performance.getEntriesByName('open').length > {place}")
        opened = page.evaluate(
            "() => performance.getEntriesByName('open').slice(1).map((one) => one.duration)"
        )
        yield Figure(f"median {median(opened):.0f} ms, at most {max(opened):.0f} ms", max(opened) <= 300)
        walk = [round(0.05 + 0.01 * number, 2) for number in range(60)]
        for values, limit in ((walk, 60), (random.Random(4).sample(walk, len(walk)), 80)):
            times = shown_after(page, values)
            text = f"median {1000 * median(times):.0f} ms, 95 % within {late(times):.0f} ms of {len(times)}"
            yield Figure(text, late(times) <= limit)
        chromium.close()


@check(PART, ("memory of the server after 200 images × 20 steps", "≤ 600 MiB"), needs=("bsds500",))
def memory(given: Given) -> Iterator[Figure]:
    rng = random.Random(2)
    with viewing(given) as server:
        for image in server.gallery["images"]:
            server.get(f"/thumb/{image['id']}")
            server.get(f"/photo/{image['id']}/0/0")
            for _ in range(20):
                detector = rng.choice(server.gallery["detectors"])["id"]
                path = f"{image['id']}/{detector}"
                server.get(f"/judge/{path}?t={rng.uniform(0.05, 0.9):.2f}&tol={rng.uniform(0.5, 9):.1f}")
            server.get(f"/curve/{path}")
        found = server.memory()
    yield Figure(f"{found:.0f} MiB at most", found <= 600)


PARTS = [
    *(
        "..",
        "%2e%2e",
        "..%2f..%2f",
        "%00",
        "etc/passwd",
        "//",
        "%5c",
        "0",
        "-1",
        "9" * 40,
        "é",
        "%ff",
        "static",
    ),
    *(
        "gallery",
        "thumb",
        "small",
        "photo",
        "judge",
        "open",
        "curve",
        "truths",
        "strength",
        "app.py",
        "page.html",
        "a b",
    ),
]
VALUES = [
    "nan",
    "inf",
    "-1",
    "1e999",
    "",
    "exact",
    "area",
    "run",
    "x" * 2000,
    "exact(tolerance=1e9)",
    "0.5",
    "3",
]


@check(PART, ("10,000 fuzzed requests, foreign hosts among them", "nothing read, no 5xx"), needs=("bsds500",))
def fuzz(given: Given) -> Iterator[Figure]:
    rng = random.Random(3)
    count, bad = given.size(1000, 10_000), 0
    with viewing(given, several=False) as server:
        known = [one["id"] for one in (*server.gallery["images"], *server.gallery["detectors"])]
        for _ in range(count):
            parts = [rng.choice(PARTS if rng.random() < 0.5 else known) for _ in range(rng.randint(0, 6))]
            query = "&".join(
                f"{rng.choice(['t', 'tol', 's', 'p', 'c', 'w'])}={rng.choice(VALUES)}"
                for _ in range(rng.randint(0, 3))
            )
            path = "/" + "/".join(parts) + (f"?{query}" if query else "")
            method = rng.choice(["GET", "GET", "GET", "POST", "HEAD", "PUT", "OPTIONS"])
            host = rng.choice([server.host, server.host, "evil.example", "", "[", "127.0.0.1.evil.example"])
            line = http.client.HTTPConnection(server.host, timeout=30)
            line.putrequest(method, quote(path, safe="/%?=&().,;:@!$'*+~-_<>[]{}|^`\\\""), skip_host=True)
            line.putheader("Host", host)
            line.endheaders()
            reply = line.getresponse()
            content = reply.read()
            good = reply.status < 500 and b"root:" not in content and b"Traceback" not in content
            foreign = host != server.host and reply.status not in (400, 421)
            bad += not good or foreign
            line.close()
        server.line.close()  # it has rested too long, and the server ended it
        alive = json.loads(server.get("/gallery"))["title"]
    yield Figure(f"{bad} of {count:,} not as they should be; still serving {alive}", bad == 0)
