"""Somebody labels photo 103070 of BSDS500 in Chromium, action by action: a key, a click or a drag is one.

The places, in pixels of the photo, were put down once by somebody who looked at it and at what the annotators
of BSDS500 drew; a hand that drags them trembles.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright
from sqlalchemy import select

from bars import boundaries, browser_path
from edgecritic.protocols.curves import f_measure
from edgecritic.protocols.sweep import sweep_maps
from edgecritic.studio import labelling, projects
from edgecritic.studio.database import open_database
from edgecritic.studio.models import Annotation
from edgecritic.studio.pictures import read_photo
from studio_browser import FLAGS
from studio_server import Server

PHOTO = "103070"
TREMBLE = 1.5
"""Standard deviation of the hand from the way it means, in pixels of the photo."""

WHERE = """() => {
  const { canvas, x, y, scale, ratio } = window.studio.view, box = canvas.getBoundingClientRect();
  return [box.left + x / ratio, box.top + y / ratio, scale / ratio];
}"""
Way = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Action:
    """A key that is pressed, or a drag along a way."""

    key: str = ""
    way: Way = ()


def drag(places: str) -> Action:
    """Return the drag along places x,y x,y …"""
    return Action(way=tuple((int(x), int(y)) for x, y in (place.split(",") for place in places.split())))


ACTIONS = (
    Action("x"),  # remove specks
    Action("o"),  # lasso: texture of the ground, of both necks, of the rocks
    drag("0,276 60,272 118,258 168,254 192,272 280,274 335,294 480,292 480,320 0,320"),
    drag("38,130 48,114 72,114 66,130 72,148 84,160 104,182 114,205 112,228 70,240 74,210 48,190 40,160"),
    drag("206,70 216,58 236,58 232,78 246,92 244,114 256,140 246,160 224,160 214,138 204,110"),
    drag("324,110 350,100 420,116 478,150 478,224 366,226 344,268 326,240 312,200 312,140"),
    drag("0,240 50,246 84,240 96,250 60,268 0,270"),
    drag("124,186 160,192 168,210 164,240 130,242 126,210"),
    drag("372,242 478,242 478,276 372,276"),
    drag("276,196 304,190 320,262 290,262"),
    Action("l"),  # wire: along the boundaries of birds and rocks
    drag(
        "314,48 284,51 250,53 216,53 203,65 199,85 201,108 210,138 219,166 221,190 222,206 "
        "208,228 198,240 197,258 204,266 236,267 272,267 274,244 284,204 290,182 286,168 278,163 "
        "266,134 252,112 249,96 251,84 285,68 314,48"
    ),
    drag("236,58 236,70 240,82 250,84"),
    drag(
        "37,174 32,150 33,130 42,116 58,109 90,115 120,117 153,119 126,130 98,142 85,148 86,162 "
        "104,178 119,202 119,232 110,244 88,254"
    ),
    drag("82,117 72,124 70,138 78,145 86,146"),
    drag("0,166 20,168 36,174 46,194"),
    drag("0,182 34,194 64,204 71,218 64,234 36,236 12,226 0,217"),
    drag("168,108 176,140 180,164 189,172 195,164 184,136 172,108"),
    drag("189,172 176,184 171,196 180,226 192,258 198,262"),
    drag("189,172 204,170 218,172"),
    drag("64,234 88,236 110,240 119,246 150,248 164,240 170,214"),
    drag("144,194 160,190 172,190"),
    drag("124,112 123,98 140,84 166,66 190,54 215,45 256,36 300,28 345,28 370,36 388,58 400,80 414,104"),
    drag("318,100 330,94 370,94 410,106 446,122 480,138"),
    drag("318,100 308,116 304,160 300,190 314,220 324,256 336,280 346,284"),
    drag("346,284 358,262 366,234 384,231 430,232 480,233"),
    drag("346,284 360,288 400,285 440,284 480,283"),
    drag("0,22 20,30 48,34 60,50 100,52 140,56 166,66"),
    drag("200,0 230,10 232,30 216,44"),
    drag("392,0 416,16 416,44 408,62 413,100"),
)


def label_photo(url: str, folder: Path, data: Path) -> tuple[int, float, float]:
    """Do all actions; return their number, and the F of the proposal and of the map that was drawn.

    F is that of BSDS: precision by pixels that any annotator has, recall by the pixels of all.
    """
    truths = boundaries(data / "bsds500/groundTruth/val" / f"{PHOTO}.mat")
    upload = read_photo((data / "bsds500/images/val" / f"{PHOTO}.jpg").read_bytes(), 10**6)
    database = open_database(url)
    with database.session() as session:
        project = projects.create_project(session, "BSDS500")
        image = projects.add_image(session, project.id, PHOTO, upload)
        proposed = projects.levels(session, image.id) >= image.level
        _, token = projects.invite(session, "Ada", project_id=project.id)
    server = Server(url, folder)
    try:
        with sync_playwright() as driver:
            chromium = driver.chromium.launch(executable_path=browser_path(), args=FLAGS)
            page = chromium.new_page(viewport={"width": 1280, "height": 800})
            page.goto(f"http://127.0.0.1:{server.port}/i/{token}")
            page.click(".gallery a")
            page.wait_for_selector("body[data-ready=yes]")
            act(page)
            page.wait_for_selector("#state[data-kind=saved]")
            chromium.close()
    finally:
        server.stop()
    with database.reading() as session:
        drawn = labelling.map_of(session, session.scalars(select(Annotation)).one())
    database.close()
    return len(ACTIONS), f_of(proposed, truths), f_of(drawn, truths)


def act(page: Page) -> None:
    rng = np.random.default_rng(1)
    left, top, scale = page.evaluate(WHERE)  # the image stays where it is
    for action in ACTIONS:
        if action.key:
            page.keyboard.press(action.key)
            continue
        for number, place in enumerate(hand(action.way, rng)):
            page.mouse.move(left + (place[0] + 0.5) * scale, top + (place[1] + 0.5) * scale)
            if number == 0:
                page.mouse.down()
        page.mouse.up()


def hand(way: Way, rng: np.random.Generator) -> np.ndarray:
    """Return where a hand goes that means a way: every 5 pixels, off by some that change slowly."""
    corners = np.array(way, float)
    along = np.concatenate([[0], np.hypot(*np.diff(corners, axis=0).T).cumsum()])
    places = np.linspace(0, along[-1], max(2, int(along[-1] / 5)))
    meant = np.stack([np.interp(places, along, corners[:, axis]) for axis in (0, 1)], axis=1)
    off = np.zeros(meant.shape)
    for step in range(1, len(off)):
        off[step] = 0.8 * off[step - 1] + rng.normal(0, 0.6 * TREMBLE, 2)
    return meant + off


def f_of(found: np.ndarray, truths: list[np.ndarray]) -> float:
    counts = sweep_maps([found], truths).counts
    return float(f_measure(counts.recall, counts.precision)[0])
