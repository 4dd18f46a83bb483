"""What a lab can trust: nothing is shown as stored that is not, and nothing drawn is lost unasked."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select
from studio_pages import click, comes_to, invite, open_tool, saved, shown_map

from edgecritic.maps.fold import Edit, fold
from edgecritic.studio import experiments, labelling, projects
from edgecritic.studio.models import Annotation, Answer, Image, Version


@pytest.fixture
def store(database):
    return database


@pytest.fixture
def experiment(site, trials_of):
    """An experiment on the project; its number."""
    with site.database.session() as session:
        plan, trials = trials_of(session, 1)
        return experiments.create_experiment(session, 1, plan, trials).id


def answer(page, side="f"):
    """Answer the trial that is shown."""
    page.wait_for_selector("body[data-slot]")
    slot = page.get_attribute("body", "data-slot")
    page.wait_for_timeout(230)
    page.keyboard.press(side)
    page.wait_for_function(f"document.body.dataset.slot !== '{slot}'")


def begin(page, site, link, trials=0):
    """Open an experiment and answer some trials, with the practice."""
    page.goto(f"{site.url}{link}")
    page.click("#begin")
    for _ in range(trials):
        go_on(page)
        answer(page)


def go_on(page):
    """Leave the page after the practice."""
    page.wait_for_selector("body[data-slot], #ready:not([hidden])")
    if page.is_visible("#ready"):
        page.click("#ready-go")
        page.wait_for_selector("body[data-slot]")


def stored(site):
    with site.database.reading() as session:
        return session.scalar(select(func.count()).select_from(Answer))


@pytest.mark.parametrize("how", ["close", "revoke"])
def test_a_subject_sees_at_once_that_no_more_answers_are_taken(site, experiment, open_page, how):
    page = open_page()
    [link] = invite(site, "S", experiment=experiment)
    begin(page, site, link, 3)
    page.wait_for_selector("body[data-slot]")
    assert comes_to(page, lambda: stored(site), 3)
    path = f"/experiments/{experiment}/close" if how == "close" else "/invitations/1/revoke"
    page.route("**/state", lambda route: route.fulfill(status=200, json={}))  # the answer is to find it out
    assert site.owner.post(path, data={}).status_code == 303
    page.wait_for_timeout(230)
    page.keyboard.press("f")
    page.wait_for_selector("#gone:not([hidden])")
    head, text = page.text_content("#gone-head"), page.text_content("#gone-text")
    assert head == ("The experiment was closed" if how == "close" else "The invitation was taken back")
    assert "3 answers of yours are stored." in text
    assert "1 answer came too late and is not stored." in text
    page.wait_for_timeout(400)
    assert page.is_hidden("#trial")
    assert page.is_hidden("#end")
    assert stored(site) == 3
    page.reload()
    assert head in page.text_content("h1")


def test_who_only_looks_sees_that_it_is_over_too(site, experiment, open_page):
    page = open_page()
    [link] = invite(site, "S", experiment=experiment)
    begin(page, site, link, 1)
    page.click("#pause")
    page.wait_for_selector("#rest-text:has-text('Your answers are stored')")
    site.owner.post(f"/experiments/{experiment}/close", data={})
    page.wait_for_selector("#gone:not([hidden])")
    assert "1 answer of yours is stored." in page.text_content("#gone-text")
    assert "too late" not in page.text_content("#gone-text")


def test_a_photo_that_does_not_come_is_waited_for_and_no_other_is_shown(site, experiment, open_page):
    page = open_page()
    [link] = invite(site, "S", experiment=experiment)
    images = [slot["image"] for slot in site.guest(link).get("/g/1/schedule").json()["slots"]]
    place = next(number for number, image in enumerate(images) if image != images[0])
    photo = f"**/images/{images[place]}/photo"
    page.route(photo, lambda route: route.abort())
    begin(page, site, link, place)
    page.wait_for_selector("#ready:not([hidden]), #feedback:has-text('goes on by itself')")
    if page.is_visible("#ready"):
        page.click("#ready-go")
        page.wait_for_selector("#feedback:has-text('goes on by itself')")
    assert page.evaluate("getComputedStyle(document.querySelector('.trial')).visibility") == "hidden"
    assert page.text_content("#position") == ""
    assert comes_to(page, lambda: stored(site), place)
    page.keyboard.press("f")
    page.wait_for_timeout(100)
    assert stored(site) == place
    page.unroute(photo)
    answer(page)
    assert comes_to(page, lambda: stored(site), place + 1)


def test_a_break_without_a_connection_does_not_say_that_answers_are_stored(site, experiment, open_page):
    page = open_page()
    [link] = invite(site, "S", experiment=experiment)
    begin(page, site, link, 3)
    page.wait_for_selector("body[data-slot]")
    page.context.set_offline(True)
    page.wait_for_timeout(230)
    page.keyboard.press("j")
    page.click("#pause")
    page.wait_for_selector("#rest-text:has-text('not stored yet')")
    page.context.set_offline(False)
    page.wait_for_selector("#rest-text:has-text('Your answers are stored')")
    assert stored(site) == 4


def test_a_pause_is_told_with_the_answer(site, experiment, open_page):
    """The time goes on where it was, after a pause and after the page was opened anew."""
    page = open_page()
    [link] = invite(site, "S", experiment=experiment)
    begin(page, site, link)
    page.wait_for_selector("body[data-slot]")
    page.wait_for_timeout(400)
    page.keyboard.press("Escape")
    page.click("#go-on")
    page.wait_for_selector("body[data-slot]")
    page.wait_for_timeout(300)
    page.reload()
    page.click("#begin")
    answer(page)
    page.wait_for_selector("body[data-slot], #ready:not([hidden])")
    answer(page)
    assert comes_to(page, lambda: stored(site), 2)
    with site.database.reading() as session:
        first, second = session.scalars(select(Answer).order_by(Answer.slot_id)).all()
    assert first.pauses == 2
    assert first.reaction_ms >= 400 + 300 + 230
    assert second.pauses == 0
    assert len(first.visit) == 12


def edits_of(site, annotation=1):
    with site.database.reading() as session:
        return list(labelling.edits_of(session, session.get_one(Annotation, annotation)))


def line(page, *points):
    """Draw a line from corner to corner."""
    page.keyboard.press("p")
    for point in points:
        click(page, *point)
    page.keyboard.press("Enter")


MINE = Edit("draw", {"points": [5, 5, 30, 12]})
THEIRS = Edit("draw", {"points": [6, 50, 40, 60]})


def test_an_open_line_is_no_saved_edit_and_is_kept(site, link, open_page):
    page = open_page()
    open_tool(page, site, link)
    saved(page)
    page.keyboard.press("p")
    click(page, 5, 5)
    click(page, 30, 12)
    assert page.text_content("#state") == "Open line, kept here"
    page.keyboard.press("n")
    page.wait_for_url("**/label/2")
    page.wait_for_selector("body[data-ready=yes]")
    saved(page)
    assert edits_of(site) == []
    page.keyboard.press("b")
    page.wait_for_url("**/label/1")
    page.wait_for_selector("#state[data-kind=open]")
    page.reload()
    page.wait_for_selector("#state[data-kind=open]")
    page.keyboard.press("Enter")
    saved(page)
    assert edits_of(site) == [MINE]


def two_windows(site, link, open_page):
    """Edit an image without a connection in one browser and with one in another; return the first."""
    first, second = open_page(), open_page()
    for page in (first, second):
        open_tool(page, site, link)
        saved(page)
    first.context.set_offline(True)
    line(first, (5, 5), (30, 12))
    first.wait_for_selector("#state[data-kind=offline]")
    line(second, (6, 50), (40, 60))
    saved(second)
    return first


@pytest.mark.parametrize("reloaded", [False, True])
def test_edits_of_two_windows_can_be_put_together(site, link, open_page, reloaded):
    page = two_windows(site, link, open_page)
    page.context.set_offline(False)
    if reloaded:
        page.reload()
    page.wait_for_selector("#clash-dialog[open]")
    assert page.text_content("#clash-mine") == "1 edit"
    page.keyboard.press("Escape")
    assert page.is_visible("#clash-dialog")
    page.click("[data-do=clash-merge]")
    saved(page)
    assert edits_of(site) == [THEIRS, MINE]
    with site.database.reading() as session:
        stored_map = labelling.map_of(session, session.get_one(Annotation, 1))
    assert (shown_map(page, stored_map.shape) == stored_map).all()


def test_edits_of_two_windows_can_be_kept_apart(site, link, open_page):
    page = two_windows(site, link, open_page)
    page.context.set_offline(False)
    page.wait_for_selector("#clash-dialog[open]")
    page.click("[data-do=clash-keep]")
    saved(page)
    assert edits_of(site) == [THEIRS]
    with site.database.reading() as session:
        [version] = session.scalars(select(Version)).all()
    assert (version.base, [one["op"] for one in version.edits]) == (0, ["draw"])
    page.reload()
    page.wait_for_selector("#versions:not([hidden])")
    page.click("text=Take it")
    page.wait_for_selector("#edits:has-text('2 edits')")
    saved(page)
    assert edits_of(site)[-1].op == "replace"
    with site.database.reading() as session:
        levels, level = projects.levels(session, 1), session.get_one(Image, 1).level
        stored_map = labelling.map_of(session, session.get_one(Annotation, 1))
    assert (stored_map == fold(levels, level, [MINE])).all()
    page.keyboard.press("Control+z")
    saved(page)
    with site.database.reading() as session:
        stored_map = labelling.map_of(session, session.get_one(Annotation, 1))
    assert (stored_map == fold(levels, level, [THEIRS])).all()


def test_a_window_takes_over_what_another_one_has_saved(site, link, open_page):
    first, second = open_page(), open_page()
    for page in (first, second):
        open_tool(page, site, link)
        saved(page)
    line(second, (6, 50), (40, 60))
    saved(second)
    first.wait_for_selector("#edits:has-text('1 edit')")
    assert first.text_content("#edits") == "1 edit"
    line(first, (5, 5), (30, 12))
    saved(first)
    assert edits_of(site) == [THEIRS, MINE]
    second.wait_for_selector("#edits:has-text('2 edits')")
    second.keyboard.press("Control+Enter")
    second.click("[data-do=submit-yes]")
    second.wait_for_url("**/compare")
    first.wait_for_selector("#state:has-text('Submitted in another window')")
    line(first, (5, 5), (50, 12))
    assert first.text_content("#edits") == "2 edits"
