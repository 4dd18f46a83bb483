"""People of a lab: links issued anew, who counts as an annotator, rules of exclusion, schedules."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest
from sqlalchemy import select
from studio_pages import click, drag, invite, open_tool, saved, to_screen

from edgecritic.annotators.exclusion import Rules
from edgecritic.studio import experiments, labelling, projects
from edgecritic.studio.models import Annotation, Invitation, Trial
from edgecritic.studio.trials import Plan, draw_trials

CHECKS = select(Trial).where(Trial.part == "check")


@pytest.fixture
def store(database):
    return database


def test_a_lost_link_is_issued_anew_to_the_same_person(site):
    [path] = invite(site, "Ada")
    guest = site.guest(path)
    assert guest.get("/g/1/label/1").status_code == 200
    edit = {"seq": 0, "key": "a", "op": "draw", "data": {"points": [1, 1, 9, 9]}}
    guest.post("/g/1/annotations/1/events", json={"events": [edit]})
    site.owner.post("/invitations/1/revoke")
    [told] = site.owner.post("/invitations/1/renew", json={}).json()["invited"]
    assert told["id"] == 1
    assert guest.get("/g/1/").status_code == 404  # the browser of the old link
    assert site.stranger().get(path).status_code == 404
    again = site.guest(told["path"])
    assert again.get("/g/1/annotations/1/events").json()["count"] == 1
    assert site.owner.post("/invitations/9/renew", json={}).status_code == 404


def test_opening_an_image_makes_nobody_an_annotator(site):
    place = site.owner.post("/projects/1/label", data={"image": "1"}).headers["location"]
    assert site.owner.get(place).status_code == 200
    page = site.owner.get("/projects/1/people").text
    assert "People <small>0</small>" in page
    assert ">owner<" not in page
    assert "0 of 1 submitted" not in site.owner.get("/projects/1").text
    assert "Nobody has started" in site.owner.get("/projects/1/images/1").text
    edit = {"seq": 0, "key": "a", "op": "draw", "data": {"points": [1, 1, 9, 9]}}
    guest = place.split("/")[2]
    site.owner.post(f"/g/{guest}/annotations/1/events", json={"events": [edit]})
    assert ">owner<" in site.owner.get("/projects/1/images/1").text
    assert ">owner<" in site.owner.get("/projects/1/people").text


def test_results_are_shown_with_and_without_those_whom_the_rules_leave_out(site, trials_of):
    with site.database.session() as session:
        drawn, trials = trials_of(session, 1)
        plan = dataclasses.replace(drawn, rules=Rules(checks=None, one_side=0.9, median_ms=None))
        made = experiments.create_experiment(session, 1, plan, trials).id
    for number, (path, side) in enumerate(
        zip(invite(site, "S1", "S2", experiment=made), "lr", strict=True), 1
    ):
        guest = site.guest(path)
        for slot in guest.get(f"/g/{number}/schedule").json()["slots"]:
            chosen = "left" if side == "l" or slot["slot"] % 2 else "right"
            body = {"slot": slot["slot"], "side": chosen, "reaction_ms": 50 if side == "l" else 900}
            assert guest.post(f"/g/{number}/answers", json=body).status_code == 200
    live = site.owner.get(f"/experiments/{made}/live").json()
    assert "1" in live["left_out"]
    assert live["risks"] != live["kept"]
    assert "by the rules" in live["html"]
    document = json.loads(site.owner.get(f"/experiments/{made}/experiment.json").text)
    assert document["settings"]["rules"] == plan.rules.as_dict()
    assert "1" in document["excluded"]
    form = {"name": "x", "rule_checks": "60", "rule_side": "", "rule_ms": "250"}
    where = site.owner.post("/projects/1/experiments", data=form).headers["location"]
    text = json.loads(site.owner.get(f"{where}/experiment.json").text)["settings"]["rules"]
    assert text == {"checks": 0.6, "one_side": None, "median_ms": 250.0}


def test_subjects_get_the_checks_in_different_orders_and_no_internal_name(site):
    with site.database.session() as session:
        plan = Plan(name="Secret name", mode="both", seed=3, square=15, practice=0, checks=6)
        made = experiments.create_experiment(session, 1, plan, draw_trials(session, 1, plan))
        people = [one.id for one, _ in experiments.invite_subjects(session, made, ["Inner name", "b", "c"])]
    with site.database.reading() as session:
        orders = []
        for person in people:
            slots = experiments.schedule_for(session, session.get_one(Invitation, person))
            orders.append([str(slot["left"]) + str(slot["right"]) for slot in slots])
        checks = {str(one.alarm) for one in session.scalars(CHECKS)}
    seen = [[one for one in order if any(check in one for check in checks)] for order in orders]
    assert len(seen[0]) == 6
    mirrored = [sorted(re.findall(r"\[.*?\]", one)) for one in seen[0]]
    assert mirrored != [sorted(re.findall(r"\[.*?\]", one)) for one in seen[1]]
    [link] = invite(site, "Inner name", experiment=made.id)
    page = site.guest(link).get("/g/4/").text
    assert "Secret name" not in page
    assert "Inner name" not in page


def test_space_moves_the_image_and_settings_stay(site, link, open_page):
    page = open_page()
    open_tool(page, site, link)
    saved(page)
    page.keyboard.press("e")
    page.keyboard.press("]")
    page.click("#scope")
    page.locator("#opacity").fill("50")
    before = page.evaluate("[window.studio.view.x, window.studio.view.y]")
    x, y = to_screen(page, 30, 30)
    page.mouse.move(x, y)
    page.keyboard.down("Space")
    page.mouse.down()
    page.mouse.move(x + 40, y + 30, steps=3)
    page.mouse.up()
    page.keyboard.up("Space")
    after = page.evaluate("[window.studio.view.x, window.studio.view.y]")
    assert after == pytest.approx([before[0] + 40, before[1] + 30], abs=2)
    assert page.text_content("#edits") == "0 edits"
    drag(page, (10, 10), (20, 20))
    saved(page)
    assert page.text_content("#edits") == "1 edit"
    page.keyboard.press("n")
    page.wait_for_url("**/label/2")
    page.wait_for_selector("body[data-ready=yes]")
    assert page.get_attribute("[data-tool=erase]", "aria-pressed") == "true"
    assert page.text_content("#radius-text") == "15 px"
    assert page.is_checked("#scope")
    assert page.input_value("#opacity") == "50"


def test_arrow_keys_choose_in_lists_and_go_along_toolbars(site, link, open_page):
    page = open_page()
    open_tool(page, site, link)
    page.locator("#colours").focus()
    page.keyboard.press("ArrowDown")
    assert page.input_value("#colours") == "orange"
    page.locator("[data-tool=erase]").focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.tool") == "lasso"


def test_anchors_of_the_wire_lie_on_edges(site, link, open_page):
    """Presses beside an edge make no spurs: the path begins and ends on it."""
    page = open_page()
    open_tool(page, site, link)
    with site.database.reading() as session:
        levels = projects.levels(session, 1)
    page.keyboard.press("1")
    page.keyboard.press("l")
    for point in ((12, 20), (50, 44)):
        click(page, *point)
    page.keyboard.press("Enter")
    saved(page)
    with site.database.reading() as session:
        [edit] = labelling.edits_of(session, session.get_one(Annotation, 1))
    points = edit.data["points"]
    for x, y in (points[:2], points[-2:]):
        assert levels[y, x] > 0


def test_files_that_were_taken_are_shown_though_others_were_not(site, open_page, tmp_path):
    page = open_page()
    page.goto(site.link())
    page.goto(f"{site.url}/projects/1")
    photo = tmp_path / "new.png"
    photo.write_bytes(site.owner.get("/projects/1/images/1/photo").content)
    wrong = tmp_path / "wrong.png"
    wrong.write_bytes(b"no picture")
    page.set_input_files("input[data-upload$=images]", [photo, wrong])
    page.wait_for_selector("#image-log:has-text('1 of 2 taken, 1 not')")
    page.wait_for_selector("#gallery b:has-text('new')")
    assert "wrong.png" in page.text_content("#image-log")
    assert page.is_visible("text=Try this file again")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/projects/1",
        "/projects/1/people",
        "/projects/1/experiments",
        "/projects/1/images/1",
        "GUEST",
        "LABEL",
        "/experiments/1",
        "/experiments/1/procedure",
    ],
)
def test_no_page_is_wider_than_a_phone(site, link, open_page, trials_of, path):
    with site.database.session() as session:
        experiments.create_experiment(session, 1, *trials_of(session, 1))
    page = open_page(viewport={"width": 360, "height": 720}, has_touch=True, is_mobile=True)
    page.goto(site.link())
    page.goto(f"{site.url}{link}")
    where = {"GUEST": "/g/1/", "LABEL": "/g/1/label/1"}.get(path, path)
    page.goto(f"{site.url}{where}")
    if path == "LABEL":
        page.wait_for_selector("body[data-ready=yes]")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
