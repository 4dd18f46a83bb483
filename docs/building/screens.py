"""Take the pictures of the first page anew: report, viewer and studio in Chromium (``make screens``).

Everything shown is generated; Chromium and the group ``test`` are needed.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from edgecritic.cli.main import main as command
from edgecritic.datasets import synthetic

HERE = Path(__file__).resolve().parents[1] / "gallery"
VIEW = {"width": 1200, "height": 900}
WIDTH = 960
INVITE = """async () => {
  const headers = { "content-type": "application/json", "x-edgecritic": "1" };
  const sent = await fetch("/projects/1/people", { method: "POST", headers, body: '{"names": ["Ada"]}' });
  return (await sent.json()).invited[0].path;
}"""
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def report(page: Any, work: Path) -> None:
    """The leaderboard and the curves of a benchmark."""
    page.goto((work / "run/report.html").as_uri())
    page.wait_for_timeout(500)


def viewer(page: Any, work: Path) -> None:
    """One image of that run."""
    with _served("view", str(work / "run")) as address:
        page.goto(address)
        page.wait_for_selector("#wall-list img")
        page.locator("#wall-list a").nth(1).click()
        page.wait_for_selector("#image:not([hidden])")
        page.wait_for_selector("body[data-ready=yes]")
        page.wait_for_timeout(1500)
        _keep(page, "viewer")


def studio(page: Any, work: Path) -> None:
    """The desk of an annotator."""
    with _served("studio", "--data", str(work / "studio")) as address:
        page.goto(address)
        invited = page.evaluate(INVITE)
        page.goto(page.evaluate("() => location.origin") + invited)
        page.goto(page.evaluate("() => location.origin") + "/g/1/label/1")
        page.wait_for_selector("body[data-ready=yes]", timeout=120_000)
        page.wait_for_timeout(1500)
        _keep(page, "studio")


@contextmanager
def _served(*words: str) -> Iterator[str]:
    """Start a server of the command and give the address that it prints."""
    program = [sys.executable, "-m", "edgecritic", *words, "--port", "0", "--no-browser"]
    told = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    alone = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(program, env=alone, **told) as server:
        try:
            for line in server.stdout or ():
                found = re.search(r"http://\S+", line)
                if found:
                    yield found[0].rstrip(".,")
                    break
        finally:
            server.terminate()


def _keep(page: Any, name: str) -> None:
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    small = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.Resampling.LANCZOS)
    small.save(HERE / f"{name}.webp", quality=82, method=6)


def main() -> None:
    """Take all pictures."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        work = Path(folder)
        data = synthetic.write(work / "data", 6)
        names = [f"{name}={data / 'predictions' / name}" for name in synthetic.DETECTORS]
        more = ["--truth", str(data / "truth"), "--images", str(data / "images"), "--out", str(work / "run")]
        if command(["bench", *names, *more]) != 0:
            raise SystemExit("edgecritic bench failed")
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport=VIEW, color_scheme="light")
        report(page, work)
        _keep(page, "report")
        viewer(page, work)
        studio(page, work)
        browser.close()


if __name__ == "__main__":
    main()
