"""A large image in Chromium: until it can be worked on, and frames while a brush draws."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

from bars import browser_path
from edgecritic.datasets.synthetic import scene
from edgecritic.studio import projects
from edgecritic.studio.database import open_database
from edgecritic.studio.pictures import encode_png, read_photo
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


def draw_on_large_image(url: str, folder: Path) -> tuple[list[float], list[float]]:
    """Return the seconds of three first views and the milliseconds of all frames of three strokes."""
    token = fill(url)
    server = Server(url, folder)
    try:
        with sync_playwright() as driver:
            chromium = driver.chromium.launch(executable_path=browser_path(), args=FLAGS)
            page = chromium.new_page(viewport={"width": 1280, "height": 800})
            home = f"http://127.0.0.1:{server.port}"
            page.goto(f"{home}/i/{token}")
            address = page.get_attribute(".gallery a", "href")
            views = [view(page, f"{home}{address}") for _ in range(3)]
            frames = [frame for zoom in ("0", "1", "8") for frame in stroke(page, zoom)]
            chromium.close()
    finally:
        server.stop()
    return views, frames


def fill(url: str) -> str:
    """Make a project with one image of 2000×1500 pixels; return the token of an invitation."""
    drawn = scene(3, (1500, 2000), count=60, grey=True, overlap=True, snr=20.0)
    photo = read_photo(encode_png(np.rint(255 * np.clip(drawn.image, 0, 1))), 10**7)
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
