"""axe-core finds nothing serious on any page, light and dark, on a phone and on a desktop."""

from __future__ import annotations

from dataclasses import replace

import pytest
from studio_pages import invite

from edgecritic.studio import experiments
from edgecritic.studio.procedure import Procedure

PROCEDURE = {
    "consent": "You may stop at any time.",
    "enlarged": True,
    "code": "C1",
    "address": "https://example.org/?cc={code}",
    "after": [
        {"key": "age", "kind": "number", "text": "How old are you?"},
        {"key": "vision", "kind": "choice", "text": "How is your vision?", "options": ["good", "bad"]},
        {"key": "remarks", "kind": "long", "text": "Anything else?", "required": False},
    ],
}
SIZES = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 360, "height": 720}}


def work(site, link, plan):
    """Submit a map and make an experiment with a subject; return the subject's link."""
    guest = site.guest(link)
    guest.get("/g/1/label/1")
    edit = {"seq": 0, "key": "a", "op": "draw", "data": {"points": [1, 1, 60, 50]}}
    guest.post("/g/1/annotations/1/events", json={"events": [edit]})
    guest.post("/g/1/annotations/1/submit", json={"count": 1})
    site.owner.post("/annotations/1/comments", json={"x": 5, "y": 5, "text": "Here"})
    site.owner.post("/projects/1/guideline", data={"text": "Outlines only."})
    site.owner.post("/projects/1/classes", data={"names": "road\ncar"})
    with site.database.session() as session:
        usual, trials = plan(session, 1)
        asked = replace(usual, procedure=Procedure.from_dict(PROCEDURE))
        experiments.create_experiment(session, 1, asked, trials)
    return invite(site, "S1", experiment=1)[0]


def steps(page, site, subject):
    """Go from page to page; yield the name of each."""
    for path in ("/login", "/nothing", "/i/wrong"):
        page.goto(f"{site.url}{path}")
        yield path
    page.goto(site.link())
    parts = ("/projects/1", "/projects/1/people", "/projects/1/experiments")
    subjects = [f"/experiments/1/preview/{part}" for part in ("consent", "after", "end")]
    pages = ("/projects/1/images/1", "/annotations/1/review", "/experiments/1")
    for path in ("/", *parts, *pages, *subjects):
        page.goto(f"{site.url}{path}")
        page.wait_for_load_state("networkidle")
        yield path
    for path in ("/g/1/", "/g/1/annotations/1/compare"):
        page.goto(f"{site.url}{path}")
        page.wait_for_load_state("networkidle")
        yield path
    for path in ("/g/1/label/2", "/g/1/label/1"):
        page.goto(f"{site.url}{path}")
        page.wait_for_selector("body[data-ready=yes]")
        yield path
    for dialog in ("help", "submit-dialog", "clash-dialog", "guideline"):
        page.evaluate(f"document.getElementById('{dialog}').showModal()")
        yield dialog
        page.evaluate(f"document.getElementById('{dialog}').close()")
    page.goto(f"{site.url}/experiments/1/procedure")
    page.wait_for_selector("body[data-ready=yes]")
    page.evaluate("document.querySelector('details').open = true")
    yield "procedure"
    page.goto(f"{site.url}{subject}")
    page.click("button.main")
    page.wait_for_selector("body[data-ready=yes]")
    yield "judge: intro"
    page.click("#begin")
    page.wait_for_selector("body[data-slot]")
    yield "judge: trial"
    for part in ("ready", "rest", "small", "sending", "gone"):
        page.evaluate(
            f"document.querySelectorAll('main > section').forEach((s) => s.hidden = s.id !== '{part}');"
            f"document.body.dataset.part = '{part}'"
        )
        yield f"judge: {part}"


@pytest.mark.parametrize("size", SIZES)
def test_no_page_has_a_serious_fault(site, link, open_page, trials_of, axe_faults, size):
    subject = work(site, link, trials_of)
    page = open_page(viewport=SIZES[size])
    page.goto(f"{site.url}{link}")
    faults = []
    for name in steps(page, site, subject):
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            faults += [f"{name}, {theme}: {fault}" for fault in axe_faults(page)]
    assert faults == []
