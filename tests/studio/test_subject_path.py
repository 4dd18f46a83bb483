"""A recruited person in Chromium: link with ids, consent, questions, practice, trials, questions, code."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import select
from studio_pages import AS_TEXT, bytes_of, comes_to, invite

from edgecritic.annotators.choice import Segment, Trial
from edgecritic.studio import experiments
from edgecritic.studio.models import Answer, Participation
from edgecritic.studio.procedure import SURROUND, Procedure
from edgecritic.studio.trials import Plan

ASKED = {
    "language": "de",
    "consent": "Sie dürfen aufhören.",
    "before": [{"key": "age", "kind": "number", "text": "Alter?", "least": 18}],
    "after": [{"key": "remarks", "kind": "long", "text": "Noch etwas?", "required": False}],
    "code": "DONE42",
    "address": "https://example.org/?cc={code}",
    "break_every": 3,
    "size": 400,
}


def make(site, trials_of, **more):
    with site.database.session() as session:
        plan, trials = trials_of(session, 1)
        asked = replace(plan, procedure=Procedure.from_dict(ASKED | more))
        return experiments.create_experiment(session, 1, asked, trials).id


def spot(page, side):
    """Return the middle of a square of the photo on the screen."""
    box = page.locator(f"#{side}").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def colours(page):
    return page.evaluate(
        """() => ["body", "#feedback"].map((name) => {
          const style = getComputedStyle(document.querySelector(name));
          return [style.backgroundColor, style.color];
        })"""
    )


def test_a_recruited_person_goes_all_the_way(site, trials_of, open_page):
    number = make(site, trials_of)
    path = site.owner.post(f"/experiments/{number}/recruit", json={"places": 2}).json()["path"]
    page = open_page(color_scheme="dark")
    page.goto(f"{site.url}{path}?PROLIFIC_PID=abc123&STUDY_ID=s1&SESSION_ID=t1")
    assert "abc123, s1, t1" in page.text_content("main")
    assert page.get_attribute("html", "lang") == "de"
    page.click("text=Ich bin einverstanden")
    page.fill("input[name=age]", "33")
    page.click("text=Weiter")
    page.click("#begin")
    done, seen = 0, set()
    while True:
        page.wait_for_selector(
            "body[data-slot], #ready:not([hidden]), #rest:not([hidden]), textarea[name=remarks]"
        )
        if page.is_visible("textarea[name=remarks]"):
            break
        for part in ("ready", "rest"):
            if page.is_visible(f"#{part}"):
                seen.add(part)
                page.keyboard.press("Enter")
        slot = page.get_attribute("body", "data-slot")
        if slot is None:
            continue
        page.wait_for_timeout(230)
        if done == 0:
            assert colours(page)[0] == ["rgb(128, 128, 128)", "rgb(0, 0, 0)"]
            assert page.locator("#photo").bounding_box()["width"] == pytest.approx(400, abs=1)
            assert page.locator("#unmarked").bounding_box()["width"] == pytest.approx(400, abs=1)
        if done % 2:
            page.keyboard.press("j")
        else:
            page.mouse.click(*spot(page, "left"))
        done += 1
        page.wait_for_function(f"document.body.dataset.slot !== '{slot}'")
    assert seen == {"ready", "rest"}
    page.fill("textarea[name=remarks]", "Nichts <b>weiter</b>")
    page.click("text=Weiter")
    assert page.text_content("#code") == "DONE42"
    assert page.get_attribute("#return", "href") == "https://example.org/?cc=DONE42"
    with site.database.reading() as session:
        said = session.scalar(select(Participation))
        answers = session.scalars(select(Answer).order_by(Answer.slot_id)).all()
    assert (said.participant, said.before, said.after) == (
        "abc123",
        {"age": 33},
        {"remarks": "Nichts <b>weiter</b>"},
    )
    assert len(answers) == done
    assert {one.display["input"] for one in answers} == {"mouse", "key"}
    first = answers[0].display
    assert (first["viewport_width"], first["viewport_height"]) == (1100, 760)
    assert (first["theme"], first["device"], first["zoom"]) == ("dark", "desktop", 1)
    assert first["scale"] == pytest.approx(400 / 80)
    assert {one.side for one in answers if one.display["input"] == "mouse"} == {"left"}


def test_squares_and_letters_are_inside_and_a_click_takes_the_nearer_one(site, open_page):
    """Segments in two corners of the photo, and two beside each other: everything is inside the frame."""
    corners = ((1, 1), (62, 78)), ((1, 40), (1, 46)), ((30, 2), (30, 9))
    trials = [
        Trial.of(
            *(
                Segment(kind=kind, centre=at, pixels=(at,))
                for kind, at in zip(("false alarm", "label"), ends, strict=True)
            ),
            "left",
            id=str(number),
            image="scene-0",
            detector="d",
            mode="hard",
        )
        for number, ends in enumerate(corners)
    ]
    with site.database.session() as session:
        plan = Plan(name="Corners", square=7, practice=0, checks=0)
        experiments.create_experiment(session, 1, plan, trials)
    [link] = invite(site, "S", experiment=1)
    page = open_page(viewport={"width": 400, "height": 720}, color_scheme="light")
    page.goto(f"{site.url}{link}")
    page.click("#begin")
    for _ in trials:
        page.wait_for_selector("body[data-slot]")
        slot = page.get_attribute("body", "data-slot")
        frame = page.locator("#photo").bounding_box()
        assert frame["x"] >= 0
        assert frame["x"] + frame["width"] <= 400
        marks = page.evaluate(
            """async () => {
              const { paintMarked, boxOf } = await import("/static/stimulus.js");
              const image = await createImageBitmap(new ImageData(80, 64));
              const canvas = document.createElement("canvas");
              const { slots } = await (await fetch("schedule")).json();
              const slot = slots.find((one) => String(one.slot) === document.body.dataset.slot);
              const boxes = paintMarked(canvas, image, slot, 7, 4, true);
              const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
              return { boxes, width: canvas.width, data: AS_TEXT(data) };
            }""".replace("AS_TEXT", AS_TEXT)
        )
        for box in marks["boxes"].values():
            assert 0 <= box["x"] <= 80 * 4 - box["width"]
            assert 0 <= box["y"] <= 64 * 4 - box["height"]
        pixels = bytes_of(marks["data"]).reshape(-1, marks["width"], 4)
        black = (pixels[..., :3] == 0).all(axis=2) & (pixels[..., 3] == 255)
        white = (pixels[..., :3] == 255).all(axis=2)
        red = (pixels[..., 0] > 200) & (pixels[..., 1] < 30)
        assert red.sum() == 2 * 4 * 4
        squares = 2 * 2 * (28 * 4 - 4 * 2)  # black lines of two pixels around two squares of 7 pixels
        assert black.sum() > squares + 2 * 150  # and two whole letters
        assert white.sum() > 100
        page.wait_for_timeout(230)
        left, right = spot(page, "left"), spot(page, "right")
        page.mouse.click(right[0] + (right[0] - left[0]) / 20, right[1] + (right[1] - left[1]) / 20)
        page.wait_for_function(f"document.body.dataset.slot !== '{slot}'")
    page.wait_for_selector("#end")
    with site.database.reading() as session:
        assert set(session.scalars(select(Answer.side))) == {"right"}


def test_a_window_that_is_too_small_waits(site, trials_of, open_page):
    make(site, trials_of, consent="", before=[], need_size=True)
    [link] = invite(site, "S", experiment=1)
    page = open_page(viewport={"width": 700, "height": 700})
    page.goto(f"{site.url}{link}")
    page.click("#begin")
    page.wait_for_selector("#small:not([hidden])")
    assert "856 × 460" in page.text_content("#small-text")
    assert page.get_attribute("body", "data-slot") is None
    page.set_viewport_size({"width": 1000, "height": 700})
    page.wait_for_selector("body[data-slot]")
    page.set_viewport_size({"width": 800, "height": 700})
    page.wait_for_selector("#small:not([hidden])")
    page.set_viewport_size({"width": 1000, "height": 700})
    page.wait_for_selector("body[data-slot]")
    page.wait_for_timeout(230)
    page.keyboard.press("f")

    def pauses():
        with site.database.reading() as session:
            return session.scalar(select(Answer.pauses))

    assert comes_to(page, pauses, 1)


def test_the_owner_edits_and_previews_what_subjects_see(site, trials_of, open_page):
    make(site, trials_of, language="en", consent="", before=[], after=[])
    page = open_page()
    page.goto(site.link())
    page.goto(f"{site.url}/experiments/1/procedure")
    page.wait_for_selector("body[data-ready=yes]")
    page.fill("textarea[name=consent]", "Do you agree?")
    page.click("button[data-preset=age]")
    page.click("button[data-preset=vision]")
    page.fill("input[name=language]", "fr")
    page.dispatch_event("input[name=language]", "change")
    page.click("button[data-preset=remarks]")
    page.check("input[name=enlarged]")
    page.click("button:has-text('Save')")
    page.wait_for_selector("#procedure-log:has-text('Saved')")
    stored = site.owner.get("/experiments/1/procedure.json").json()["procedure"]
    assert [one["key"] for one in stored["before"]] == ["age", "vision"]
    assert stored["after"][0]["text"].startswith("Voulez-vous")
    assert (stored["language"], stored["texts"], stored["enlarged"]) == ("fr", {}, True)
    page.goto(f"{site.url}/experiments/1/preview/trials")
    page.click("#begin")
    page.wait_for_selector("body[data-slot]")
    page.wait_for_timeout(230)
    page.click("[data-side=right] >> nth=1")
    page.wait_for_selector("text=/Juste|Regardez/")
    with site.database.reading() as session:
        assert session.scalars(select(Answer)).all() == []


def test_the_surround_is_the_one_that_is_exported():
    from pathlib import Path

    from edgecritic.studio import app

    style = (Path(app.__file__).parent / "static/studio.css").read_text(encoding="utf-8")
    assert f"body[data-part=trial] {{ background: {SURROUND};" in style
