"""Maps over the photo: no pixel is dropped at any zoom, and each person's map can be switched."""

from __future__ import annotations

import numpy as np
from studio_pages import comes_to, invite

from edgecritic.annotators import strength
from edgecritic.studio import labelling

PAINTED = """() => {
  const viewer = document.querySelector("[data-viewer]").viewer, { width } = viewer.canvas;
  viewer.draw();
  const screen = new Uint32Array(viewer.over.data.buffer);
  return [viewer.scale, viewer.x, viewer.y, width, Array.from(screen.keys()).filter((at) => screen[at])];
}"""


def labels(site):
    with site.database.reading() as session:
        return {one.key: one.map for one in labelling.labels_of(session, 1)}


def test_the_owner_sees_every_pixel_of_every_person(site, open_page):
    page = open_page()
    page.goto(site.link())
    page.goto(f"{site.url}/projects/1/images/1")
    page.wait_for_selector("[data-viewer][data-ready=yes]")
    page.evaluate("() => document.querySelector('[data-viewer]').viewer.zoom(0.03)")
    maps = labels(site)
    scale, x, y, width, painted = page.evaluate(PAINTED)
    assert scale < 0.5
    assert set(painted) == screen_of(np.max(list(maps.values()), axis=0), scale, x, y, width)
    page.uncheck("text=all, the darker")
    page.check("text=person 2 (imported)")
    one = next(map_ for key, map_ in maps.items() if key == "imported-2")

    def is_shown():
        *view, painted = page.evaluate(PAINTED)
        return set(painted) == screen_of(one, *view)

    assert comes_to(page, is_shown, True)


def screen_of(mask, scale, x, y, width):
    """Return the places of the screen that the pixels of a map fall on."""
    rows, columns = np.nonzero(mask)
    return {
        int(width * np.floor(y + row * scale) + np.floor(x + column * scale))
        for row, column in zip(rows, columns, strict=True)
    }


def test_layers_are_the_labels_and_their_agreement(site):
    maps = list(labels(site).values())
    words = np.frombuffer(site.owner.get("/projects/1/images/1/layers/agreement").content, "<u4")
    people = np.zeros(maps[0].size, int)
    people[words & 0xFFFFFFF] = words >> 28
    expected = np.rint(3 * np.max(strength(maps).strengths, axis=0)).astype(int)
    assert np.array_equal(people.reshape(maps[0].shape), expected)
    assert site.owner.get("/projects/1/images/1/layers/imported-99").status_code == 404


def test_a_guest_compares_after_submitting(site):
    [path] = invite(site, "Ada")
    guest = site.guest(path)
    guest.get("/g/1/label/1")
    assert guest.get("/g/1/annotations/1/layers/imported-1").status_code == 403
    guest.post("/g/1/annotations/1/submit", json={"count": 0})
    words = np.frombuffer(guest.get("/g/1/annotations/1/layers/imported-1").content, "<u4")
    with site.database.reading() as session:
        [score] = labelling.scores_of(mine(session), labelling.labels_of(session, 1)[1:2])
        total = int(mine(session).sum())
    kinds = np.bincount(words >> 28, minlength=4)
    assert kinds[1] + kinds[2] == total
    assert kinds[1] / total == score.precision


def mine(session):
    return labelling.labels_of(session, 1)[0].map
