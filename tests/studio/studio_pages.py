"""What tests do on the pages of the studio in Chromium."""

from __future__ import annotations

import numpy as np


def open_tool(page, site, link):
    page.goto(f"{site.url}{link}")
    page.click("text=scene-0")
    page.wait_for_selector("body[data-ready=yes]")


def to_screen(page, x, y):
    return page.evaluate(
        """([x, y]) => {
          const view = window.studio.view, box = view.canvas.getBoundingClientRect(), size = view.scale / view.ratio;
          return [box.left + view.x / view.ratio + (x + .5) * size, box.top + view.y / view.ratio + (y + .5) * size];
        }""",  # noqa: E501
        [x, y],
    )


def drag(page, *points):
    for number, point in enumerate(points):
        page.mouse.move(*to_screen(page, *point), steps=1 if number == 0 else 4)
        if number == 0:
            page.mouse.down()
    page.mouse.up()


def click(page, x, y):
    page.mouse.click(*to_screen(page, x, y))


def comes_to(page, look, wanted):
    """Look again until there is what is wanted, 20 s at most; return whether it came."""
    for _ in range(400):
        if look() == wanted:
            return True
        page.wait_for_timeout(50)
    return False


def saved(page):
    page.wait_for_selector("#state[data-kind=saved]")


AS_TEXT = "((values) => new TextDecoder('x-user-defined').decode(Uint8Array.from(values)))"
"""Makes a text of bytes: the driver takes a minute for a list of a million numbers."""


def bytes_of(text):
    """Return the bytes of which `AS_TEXT` made a text; those from 128 are in Unicode's private area."""
    return np.frombuffer(text.encode("utf-16-le"), "<u2").astype(np.uint8)


def shown_map(page, shape):
    return bytes_of(page.evaluate(f"{AS_TEXT}(window.studio.state.map())")).astype(bool).reshape(shape)


def invite(site, *names, experiment=None):
    """Invite people; return the paths of their links."""
    where = "/projects/1/people" if experiment is None else f"/experiments/{experiment}/subjects"
    reply = site.owner.post(where, json={"names": list(names)})
    return [one["path"] for one in reply.json()["invited"]]
