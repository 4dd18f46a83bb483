"""Tools that do much in one action: lasso, restoring brush, dragged wire; what hovering shows."""

from __future__ import annotations

import numpy as np
from scipy import ndimage
from studio_pages import click, drag, open_tool, saved, shown_map, to_screen

from edgecritic.maps.fold import Edit
from edgecritic.studio import labelling, projects
from edgecritic.studio.models import Annotation

SHAPE = (64, 80)


def edits_of(site):
    with site.database.reading() as session:
        work = session.get_one(Annotation, 1)
        return list(labelling.edits_of(session, work)), labelling.map_of(session, work)


def test_a_lasso_and_a_brush_that_brings_back(site, link, open_page):
    page = open_page()
    open_tool(page, site, link)
    before = shown_map(page, SHAPE)
    page.keyboard.press("o")
    drag(page, (10, 10), (60, 10), (60, 50), (10, 50))
    inside = np.zeros(SHAPE, bool)
    inside[10:51, 10:61] = True
    assert np.array_equal(shown_map(page, SHAPE), before & ~inside)
    page.keyboard.press("Control+z")
    for corner in ((10, 10), (60, 10), (60, 50), (10, 50)):
        click(page, *corner)
    page.keyboard.press("Enter")
    assert np.array_equal(shown_map(page, SHAPE), before & ~inside)
    page.keyboard.press("r")
    page.locator("#restore").fill("50")
    threshold = page.evaluate("window.studio.state.threshold")
    drag(page, (20, 30), (50, 30))
    saved(page)
    edits, folded = edits_of(site)
    assert [edit.op for edit in edits] == ["lasso", "reveal"]
    assert edits[-1].data["level"] == round(threshold / 2)
    assert np.array_equal(shown_map(page, SHAPE), folded)
    with site.database.reading() as session:
        levels = projects.levels(session, 1)
    came = folded & ~(before & ~inside)
    assert came.any()
    assert (levels[came] >= threshold / 2).all()


def test_hovering_shows_what_a_click_deletes(site, link, open_page):
    page = open_page()
    open_tool(page, site, link)
    shown = shown_map(page, SHAPE)
    pieces, _ = ndimage.label(shown, np.ones((3, 3)))
    y, x = np.argwhere(shown)[len(np.argwhere(shown)) // 2]
    page.keyboard.press("d")
    page.mouse.move(*to_screen(page, int(x), int(y)))
    doomed = page.evaluate("window.studio.tool.doomed")
    assert sorted(doomed) == np.flatnonzero(pieces == pieces[y, x]).tolist()
    click(page, int(x), int(y))
    assert np.array_equal(shown_map(page, SHAPE), shown & (pieces != pieces[y, x]))
    assert page.evaluate("window.studio.state.scratch.every((one) => one === 0)")


def test_a_dragged_wire_follows_the_edge_beside_the_hand(site, link, open_page):
    """A hand that trembles 3 pixels beside a crest gives the crest."""
    values = np.zeros(SHAPE, np.uint8)
    values[:, 40:] = 200
    values[:, 39] = 100
    with site.database.session() as session:
        from edgecritic.studio.pictures import make_upload

        projects.add_image(session, 1, "step", make_upload(values))
        crest = projects.levels(session, 4) > 0
    page = open_page()
    page.goto(f"{site.url}{link}")
    page.click("text=step")
    page.wait_for_selector("body[data-ready=yes]")
    page.evaluate("window.studio.view.zoomTo(4)")
    page.keyboard.press("l")
    drag(page, *[(39 + (2 if row % 8 else -2), row) for row in range(6, 58, 4)])
    saved(page)
    [edit], _ = edits_of(site)
    assert edit.op == "draw"
    drawn = labelling.fold(np.zeros(SHAPE, np.uint8), 1, [Edit("draw", edit.data)])
    rows = np.flatnonzero(drawn.any(axis=1))
    assert rows.min() <= 8
    assert rows.max() >= 52
    assert crest[drawn].mean() > 0.95
