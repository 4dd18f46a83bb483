"""A large image in Chromium: until it can be worked on, and frames while a brush draws."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from bars import browser_path
from edgecritic.datasets.synthetic import scene
from edgecritic.detectors.proposals import propose
from edgecritic.studio import auth, projects
from edgecritic.studio.app import OWNER_COOKIE
from edgecritic.studio.database import open_database
from edgecritic.studio.large import tiles_of
from edgecritic.studio.pictures import Upload, encode_png, read_photo, thumbnail
from studio_server import Server

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
WATCH = """() => { window.frames_ = []; let last = performance.now(); window.on_ = true;
    const tick = (now) => {
      window.frames_.push(now - last); last = now; if (window.on_) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick); }"""


STEP = """async () => { const slider = document.getElementById("threshold"), times = [];
    const drawn = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    for (let n = 0; n < 20; n++) {
      await drawn();
      const start = performance.now();
      slider.value = 20 + 10 * (n % 20); slider.dispatchEvent(new Event("input"));
      await drawn();
      times.push(performance.now() - start);
    }
    slider.dispatchEvent(new Event("change"));
    return times; }"""


@dataclass(frozen=True)
class Times:
    """Seconds of three first views; milliseconds of all frames of three strokes and of 40 threshold steps."""

    views: list[float]
    frames: list[float]
    steps: list[float]


def draw_on_large_image(url: str, folder: Path, upload: Upload) -> Times:
    """Open an image, draw on it and move the threshold, in Chromium without GPU."""
    token = fill(url, upload)
    server = Server(url, folder)
    try:
        with sync_playwright() as driver:
            chromium = driver.chromium.launch(executable_path=browser_path(), args=FLAGS)
            page = chromium.new_page(viewport={"width": 1280, "height": 800})
            home = f"http://127.0.0.1:{server.port}"
            page.goto(f"{home}/i/{token}")
            address = page.get_attribute(".gallery a", "href")
            views = [view(page, f"{home}{address}") for _ in range(3)]
            page.wait_for_selector("#count:has-text(' px')", timeout=300_000)
            frames = [frame for zoom in ("0", "1", "8") for frame in stroke(page, zoom)]
            steps: list[float] = []
            for zoom in ("0", "1"):
                page.keyboard.press(zoom)
                steps += page.evaluate(STEP)
            chromium.close()
    finally:
        server.stop()
    return Times(views, frames, steps)


def page_of_many(url: str, folder: Path, images: int) -> list[tuple[float, float]]:
    """Open the owner's page of a project of many images four times, each time with nothing kept.

    Return megabytes and seconds of each; the first is that of a server that was started this moment and is
    still compiling.
    """
    database = open_database(url)
    drawn = scene(3, (321, 481), count=20, grey=True, overlap=True, snr=20.0)
    upload = read_photo(encode_png(np.rint(255 * np.clip(drawn.image, 0, 1))), 10**7)
    with database.session() as session:
        projects.create_project(session, "Many")
        for n in range(images):
            projects.add_image(session, 1, f"n{n:03d}", upload)
        secret = auth.start_session(session, None, 1)
    database.close()
    server = Server(url, folder)
    try:
        with sync_playwright() as driver:
            chromium = driver.chromium.launch(executable_path=browser_path(), args=FLAGS)
            home = f"http://127.0.0.1:{server.port}"
            found = [first_view(chromium, home, secret)]
            time.sleep(10)
            found += [first_view(chromium, home, secret) for _ in range(3)]
            chromium.close()
    finally:
        server.stop()
    return found


def first_view(chromium: Browser, home: str, secret: str) -> tuple[float, float]:
    """Load the page of project 1 with nothing kept from before; return megabytes and seconds."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    context.add_cookies([{"name": OWNER_COOKIE, "value": secret, "url": home}])
    page = context.new_page()
    sizes: list[int] = []
    page.on("requestfinished", lambda request: sizes.append(request.sizes()["responseBodySize"]))
    start = time.perf_counter()
    page.goto(f"{home}/projects/1", wait_until="load")
    seconds = time.perf_counter() - start
    page.wait_for_load_state("networkidle")
    context.close()
    return sum(sizes) / 1e6, seconds


def three_megapixels() -> Upload:
    """Return a photo of 2000×1500 pixels."""
    drawn = scene(3, (1500, 2000), count=60, grey=True, overlap=True, snr=20.0)
    return read_photo(encode_png(np.rint(255 * np.clip(drawn.image, 0, 1))), 10**7)


def hundred_megapixels() -> Upload:
    """Return a photo of 10,000×10,000 pixels: one of 1,250×1,250, again and again."""
    drawn = scene(3, (1250, 1250), count=40, grey=True, overlap=True, snr=20.0)
    part = np.rint(255 * np.clip(drawn.image, 0, 1)).astype(np.uint8)
    found = propose(part)
    photo, levels, gradient = (np.tile(one, (8, 8)) for one in (part, found.levels, found.gradient))
    return Upload(
        width=10_000,
        height=10_000,
        level=found.level,
        photo=encode_png(photo),
        media_type="image/png",
        proposal=encode_png(levels),
        gradient=encode_png(gradient),
        thumb=thumbnail(photo),
        tiles=tuple(tiles_of(photo, levels, gradient)),
    )


def fill(url: str, photo: Upload) -> str:
    """Make a project with one image; return the token of an invitation."""
    database = open_database(url)
    with database.session() as session:
        project = projects.create_project(session, "Large")
        projects.add_image(session, project.id, "large", photo)
        _, token = projects.invite(session, "Ada", project_id=project.id)
    database.close()
    return token


def view(page: Page, address: str) -> float:
    start = time.perf_counter()
    page.goto(address)
    page.wait_for_selector("body[data-ready=yes]")
    return time.perf_counter() - start


def stroke(page: Page, zoom: str) -> list[float]:
    """Draw a wave with the brush at a zoom (the key of it); return the times of the frames."""
    page.keyboard.press(zoom)
    page.wait_for_timeout(500)
    page.evaluate(WATCH)
    page.mouse.move(300, 250)
    page.mouse.down()
    for step in range(60):
        page.mouse.move(300 + 9 * step, 250 + 200 * np.sin(step / 6), steps=2)
    page.mouse.up()
    frames: list[float] = page.evaluate("() => { window.on_ = false; return window.frames_.slice(1); }")
    return frames
