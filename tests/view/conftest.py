"""A viewer for tests: a small run of two detectors, and clients of it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
import uvicorn
from PIL import Image

from edgecritic.cli.main import main
from edgecritic.datasets.synthetic import write
from edgecritic.maps.classes import class_boundaries
from edgecritic.view.app import create_app
from edgecritic.view.gallery import Gallery, gallery_of_runs
from edgecritic.web.serving import server_config


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """Synthetic data, and a run of two detectors on it."""
    place = tmp_path_factory.mktemp("view")
    data = write(place / "data", 4)
    names = ("good", "noisy")
    words = [f"{name}={data / 'predictions' / name}" for name in names]
    more = ["--truth", data / "truth", "--images", data / "images", "--bootstrap", "0", "-j", "1", "-q"]
    assert main(["bench", *words, *map(str, more), "-o", str(place / "run")]) == 0
    return place


@pytest.fixture(scope="session")
def gallery(home) -> Gallery:
    return gallery_of_runs({"run": home / "run"})


class Server:
    """A viewer served by a thread of this process."""

    def __init__(self, gallery: Gallery) -> None:
        self.server = uvicorn.Server(server_config(create_app(gallery), "127.0.0.1", 0))
        sockets = [socket.create_server(("127.0.0.1", 0))]
        self.thread = threading.Thread(target=self.server.run, args=[sockets], daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.005)
        self.url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}/"

    def close(self) -> None:
        self.server.should_exit = True
        self.thread.join(10)


@pytest.fixture(scope="session")
def client_of() -> Iterator[Callable[[Gallery], httpx.Client]]:
    """Return a function that serves a gallery and returns a client of it."""
    made: list[tuple[httpx.Client, Server]] = []

    def serve(gallery: Gallery) -> httpx.Client:
        server = Server(gallery)
        made.append((httpx.Client(base_url=server.url, trust_env=False, timeout=60), server))
        return made[-1][0]

    yield serve
    for client, server in made:
        client.close()
        server.close()


@pytest.fixture(scope="session")
def client(client_of, gallery) -> httpx.Client:
    """A client of the viewer of the run."""
    return client_of(gallery)


@pytest.fixture(scope="module")
def site(gallery) -> Iterator[str]:
    server = Server(gallery)
    yield server.url
    server.close()


@pytest.fixture(scope="module")
def volumes(tmp_path_factory) -> Iterator[str]:
    """The address of a viewer of one small volume."""
    from edgecritic.protocols.presets import get_protocol
    from edgecritic.run.sources import Sources
    from edgecritic.view.gallery import gallery_of_folders

    place = tmp_path_factory.mktemp("volume")
    box = np.zeros((10, 24, 30), bool)
    box[2:8, 5:19, 6:25] = True
    for folder, values in (("found", np.roll(box, 1, axis=2).astype(np.float32)), ("truth", box)):
        (place / folder).mkdir()
        np.save(place / folder / "box.npy", values)
    sources = Sources(detectors={"found": str(place / "found")}, truth=str(place / "truth"))
    gallery = gallery_of_folders(sources, get_protocol("volume(tolerance=1)"))
    gallery.judge_rest()
    server = Server(gallery)
    yield server.url
    server.close()


CLASSES = """
id = "blocks"
tolerance = 2.0
thresholds = 9
[classes]
names = ["road", "traffic sign", "car"]
others = [0]
radius = 1
thin = true
crop = 2
internal = "remove"
"""


@pytest.fixture(scope="session")
def class_home(tmp_path_factory):
    """Labels of three images, the third without cars, two with photos; and a run of two detectors on them."""
    place = tmp_path_factory.mktemp("classes")
    (place / "blocks.toml").write_text(CLASSES)
    for folder in ("truth", "poor", "photos"):
        (place / folder).mkdir()
    for seed in range(3):
        rng = np.random.default_rng(seed)
        blocks = rng.integers(0, 3 if seed == 2 else 4, (4, 5))
        labels = np.kron(blocks, np.ones((10, 10), np.uint8)).astype(np.uint8)
        Image.fromarray(labels).save(place / f"truth/im{seed}.png")
        truth = class_boundaries(labels, [1, 2, 3], radius=1, thin=True)
        noise = (rng.random(truth.shape) < 0.05) & truth.any(axis=(1, 2), keepdims=True)
        for number, one in enumerate(np.roll(truth, 1, axis=1) | noise, start=1):
            folder = place / f"good/class_{number:03d}"
            folder.mkdir(parents=True, exist_ok=True)
            Image.fromarray(np.rint(one * rng.integers(50, 256, one.shape)).astype(np.uint8)).save(
                folder / f"im{seed}.png"
            )
        np.save(place / f"poor/im{seed}.npy", (rng.random(truth.shape) * (truth | noise)).astype(np.float32))
        if seed < 2:
            Image.fromarray(rng.integers(0, 256, (80, 100, 3), np.uint8)).save(place / f"photos/im{seed}.png")
    words = [f"{name}={place / name}" for name in ("good", "poor")]
    more = ["--truth", place / "truth", "--images", place / "photos", "--protocol", place / "blocks.toml"]
    assert main(["bench", *words, *map(str, more), "--bootstrap", "0", "-q", "-o", str(place / "run")]) == 0
    return place


@pytest.fixture(scope="module")
def classes(class_home) -> Iterator[str]:
    """The address of a viewer of a run of classes."""
    server = Server(gallery_of_runs({"run": class_home / "run"}))
    yield server.url
    server.close()


@pytest.fixture(scope="module")
def raster_home(tmp_path_factory) -> Iterator[Path]:
    """A map that counts as too large for memory, and a run on it."""
    place = tmp_path_factory.mktemp("raster")
    rng = np.random.default_rng(2)
    truth = np.zeros((1300, 1500), bool)
    truth[::40], truth[:, ::60] = True, True
    found = np.roll(truth, 1, axis=0) | (rng.random(truth.shape) < 0.003)
    np.save(place / "truth.npy", truth)
    np.save(place / "found.npy", found * rng.integers(60, 256, truth.shape, np.uint8))
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr("edgecritic.datasets.rasters.PIXEL_LIMIT", 10**6)
        words = [f"mine={place / 'found.npy'}", "--truth", place / "truth.npy", "--also", "none", "-q"]
        more = ["--protocol", "bsds(tolerance=2,thresholds=9)", "--bootstrap", "0", "-o", place / "run"]
        assert main(["bench", *map(str, (*words, *more))]) == 0
        yield place


@pytest.fixture(scope="module")
def raster(raster_home) -> Iterator[str]:
    """The address of a viewer of a raster that was judged in tiles."""
    server = Server(gallery_of_runs({"run": raster_home / "run"}))
    yield server.url
    server.close()


@pytest.fixture
def open_page(browser):
    """Return a function that opens a page; errors of the page and requests to elsewhere fail the test."""
    contexts, problems, asked = [], [], set()

    def make(address, **more):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}} | more)
        context.set_default_timeout(40_000)
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=address)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: asked.add(request.url.split("/")[2]))
        page.waiting = waiting = set()  # requests without an answer
        page.on("request", lambda request: waiting.add(request))
        page.on("requestfinished", lambda request: waiting.discard(request))
        page.on("requestfailed", lambda request: waiting.discard(request))
        page.goto(address)
        page.wait_for_selector("body[data-ready=yes]")
        return page

    yield make
    for context in contexts:
        context.close()
    assert problems == []
    assert all(host.startswith("127.0.0.1") for host in asked)
