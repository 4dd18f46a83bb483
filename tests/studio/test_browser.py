"""Both tools end to end in Chromium."""

from __future__ import annotations

import io
import json
import random
import re
from pathlib import Path

import numpy as np
from PIL import Image as Picture
from studio_pages import click, drag, open_tool, saved, shown_map, to_screen

from edgecritic import studio
from edgecritic.maps.fold import Edit, counting, fold, fold_layers
from edgecritic.studio import labelling, projects
from edgecritic.studio.models import Annotation
from edgecritic.studio.pictures import encode_png, read_photo

ROOT = Path(__file__).resolve().parents[2]


def test_labelling_from_threshold_to_export(browser, site, link, open_page):
    page = open_page()
    open_tool(page, site, link)
    with site.database.reading() as session:
        levels = projects.levels(session, 1)
    shape = levels.shape
    start = shown_map(page, shape)

    page.locator("#threshold").focus()
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("x")
    page.keyboard.press("e")
    page.keyboard.press("[")
    drag(page, (10, 10), (30, 14), (34, 40))
    after_erase = shown_map(page, shape)
    page.keyboard.press("d")
    y, x = np.argwhere(after_erase)[-1]
    click(page, int(x), int(y))
    after_delete = shown_map(page, shape)
    assert not after_delete[y, x]

    page.keyboard.press("p")
    for point in ((5, 50), (25, 58), (40, 50)):
        click(page, *point)
    page.keyboard.press("Enter")
    after_line = shown_map(page, shape)
    drawn = fold(np.zeros_like(levels), 1, [Edit("draw", {"points": [5, 50, 25, 58, 40, 50]})])
    assert np.array_equal(after_line, after_delete | drawn)

    page.keyboard.press("l")
    crest = np.argwhere(levels >= 150)
    y, x = crest[0]
    near = crest[(abs(crest - crest[0]).max(axis=1) > 5) & (abs(crest - crest[0]).max(axis=1) < 12)][0]
    click(page, int(x), int(y))
    page.mouse.move(*to_screen(page, int(near[1]), int(near[0])), steps=3)
    click(page, int(near[1]), int(near[0]))
    page.keyboard.press("Enter")
    after_wire = shown_map(page, shape)
    assert after_wire[y, x]
    assert after_wire[near[0], near[1]]

    page.keyboard.press("Control+z")
    assert np.array_equal(shown_map(page, shape), after_line)
    page.keyboard.press("Control+y")
    assert np.array_equal(shown_map(page, shape), after_wire)
    for _ in range(30):
        page.keyboard.press("Control+z")
    assert np.array_equal(shown_map(page, shape), start)
    for _ in range(30):
        page.keyboard.press("Control+y")
    assert np.array_equal(shown_map(page, shape), after_wire)
    saved(page)

    with site.database.reading() as session:
        work = session.get_one(Annotation, 1)
        done = {json.loads(edit)["op"] for edit in labelling.event_page(session, work)}
        assert done == {"threshold", "despeckle", "erase", "delete", "draw", "undo", "redo"}
        folded = labelling.map_of(session, work)
    assert np.array_equal(folded, after_wire)
    content = page.evaluate(
        """async () => {
          const reply = await fetch(document.querySelector('a[href$="map.png"]').href);
          return Array.from(new Uint8Array(await reply.arrayBuffer()));
        }"""
    )
    exported = np.array(Picture.open(io.BytesIO(bytes(content)))) > 0
    assert np.array_equal(exported, after_wire)

    page.reload()
    page.wait_for_selector("body[data-ready=yes]")
    assert np.array_equal(shown_map(page, shape), after_wire)
    page.keyboard.press("Control+Enter")
    page.click("text=Submit >> nth=-1")
    page.wait_for_url("**/compare")
    assert "person 1 (imported)" in page.content()


def test_the_keyboard_alone_is_enough(browser, site, link, open_page):
    page = open_page()
    open_tool(page, site, link)
    page.keyboard.press("8")
    assert page.text_content("#zoom") == "800 %"
    page.keyboard.press("p")
    page.evaluate("window.studio.view.fit()")
    page.keyboard.press("ArrowRight")
    before = page.text_content("#place")
    for key in ("Space", *["Shift+ArrowLeft"] * 2, "ArrowUp", "Space", "Enter"):
        page.keyboard.press(key)
    saved(page)
    x, y = map(int, before.split(", "))
    with site.database.reading() as session:
        edits = list(labelling.edits_of(session, session.get_one(Annotation, 1)))
    assert edits == [Edit("draw", {"points": [x, y, x - 20, y - 1]})]
    page.keyboard.press("?")
    assert page.is_visible("#help")


def answer_with(page, path, script):
    """Let a script of the studio be another one."""
    page.route(f"**/static/{path}", lambda route: route.fulfill(body=script, content_type="text/javascript"))


def test_a_new_tool_is_a_file_and_a_line(browser, site, link, open_page):
    """The example of CONTRIBUTING.md: its button, key, hint and help are there, and it works."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    example = next(part for part in re.findall(r"```js\n(.*?)```", text, re.DOTALL) if "extends Tool" in part)
    listed = (Path(studio.__file__).parent / "static" / "tools.js").read_text(encoding="utf-8")
    listed = 'import { frame } from "./tools/frame.js";\n' + listed.replace(
        "move, specks]", "move, specks, frame]"
    )
    page = open_page()
    answer_with(page, "tools/frame.js", example)
    answer_with(page, "tools.js", listed)
    open_tool(page, site, link)
    page.keyboard.press("f")
    assert page.get_attribute("[data-tool=frame]", "aria-pressed") == "true"
    assert page.text_content("#hint") == "Drag from corner to corner."
    drag(page, (5, 6), (20, 16))
    saved(page)
    with site.database.reading() as session:
        edits = list(labelling.edits_of(session, session.get_one(Annotation, 1)))
    assert edits == [Edit("draw", {"points": [5, 6, 20, 6, 20, 16, 5, 16, 5, 6]})]
    page.keyboard.press("?")
    assert "frame" in page.text_content("#keys dd")


def test_every_tool_has_a_file_and_a_line():
    static = Path(studio.__file__).parent / "static"
    files = {path.stem for path in (static / "tools").iterdir()}
    listed = re.findall(r'from "./tools/(\w+).js"', (static / "tools.js").read_text(encoding="utf-8"))
    assert files == set(listed)


def test_the_last_step_of_a_wire_is_taken_back(browser, site, link, open_page):
    page = open_page()
    open_tool(page, site, link)
    page.keyboard.press("l")
    for point in ((10, 10), (30, 20), (60, 50)):
        click(page, *point)
    page.keyboard.press("Backspace")
    page.keyboard.press("Enter")
    saved(page)
    with site.database.reading() as session:
        [edit] = labelling.edits_of(session, session.get_one(Annotation, 1))
    points = edit.data["points"]
    with site.database.reading() as session:
        levels = projects.levels(session, 1)
    for (x, y), (near_x, near_y) in zip((points[:2], points[-2:]), ((10, 10), (30, 20)), strict=True):
        assert max(abs(x - near_x), abs(y - near_y)) <= 1  # at 900 % anchors snap to the next pixel at most
        around = levels[near_y - 1 : near_y + 2, near_x - 1 : near_x + 2]
        assert levels[y, x] or not around.any()


def test_fingers_draw_and_pinch(browser, site, link, open_page):
    page = open_page(has_touch=True)
    open_tool(page, site, link)
    page.tap("[data-tool=delete]")
    with site.database.reading() as session:
        before = labelling.map_of(session, session.get_one(Annotation, 1))
    y, x = np.argwhere(before)[0]
    page.touchscreen.tap(*to_screen(page, int(x), int(y)))
    saved(page)
    with site.database.reading() as session:
        after = labelling.map_of(session, session.get_one(Annotation, 1))
    assert after.sum() < before.sum()
    scale = page.evaluate("window.studio.view.scale")
    touch = page.context.new_cdp_session(page)
    cx, cy = to_screen(page, 40, 32)
    for kind, gap in (("touchStart", 40), ("touchMove", 80), ("touchMove", 120)):
        points = [{"x": cx - gap, "y": cy, "id": 0}, {"x": cx + gap, "y": cy, "id": 1}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert page.evaluate("window.studio.view.scale") > 2 * scale
    with site.database.reading() as session:
        assert labelling.count_events(session, session.get_one(Annotation, 1)) == 1


def test_nothing_is_lost_without_a_connection(browser, site, link, open_page):
    page = open_page()
    open_tool(page, site, link)
    saved(page)
    page.context.set_offline(True)
    page.keyboard.press("e")
    drag(page, (10, 10), (40, 40))
    page.wait_for_selector("#state[data-kind=offline]")
    mine = shown_map(page, (64, 80))
    page.context.set_offline(False)
    page.reload()
    page.wait_for_selector("body[data-ready=yes]")
    assert np.array_equal(shown_map(page, (64, 80)), mine)
    saved(page)
    with site.database.reading() as session:
        assert np.array_equal(labelling.map_of(session, session.get_one(Annotation, 1)), mine)


def random_edit(draw, path):
    return draw.choice(
        [
            Edit("threshold", {"level": draw.randrange(1, 257)}),
            Edit("draw", {"points": path(draw.randrange(1, 5))}),
            Edit("erase", {"radius": draw.randrange(0, 9), "points": path(draw.randrange(1, 4))}),
            Edit(
                "reveal", {"radius": draw.randrange(0, 9), "points": path(2), "level": draw.randrange(1, 257)}
            ),
            Edit("lasso", {"points": path(draw.randrange(1, 9))}),
            Edit(
                "paint",
                {"radius": 4, "points": path(3), "class": draw.randrange(1, 9), "on": draw.random() < 0.8},
            ),
            Edit("delete", {"at": path(1), "scope": "component"}),
            Edit("delete", {"at": path(1), "scope": "segment"}),
            Edit("despeckle", {"size": draw.randrange(2, 12)}),
            Edit("undo"),
            Edit("redo"),
            Edit("replace", {"runs": [3, 40, 100, 7, 300, 500]}),
        ]
    )


def test_both_folds_make_the_same_pixels(browser, site, open_page):
    """Random edits, folded by Python and by the browser."""
    page = open_page()
    page.goto(f"{site.url}/login")
    rng = np.random.default_rng(5)
    draw = random.Random(5)
    height, width = 40, 55

    def path(count):
        return [value for _ in range(count) for value in (draw.randrange(width), draw.randrange(height))]

    for _ in range(12):
        levels = (rng.integers(0, 256, (height, width)) * (rng.random((height, width)) < 0.4)).astype(
            np.uint8
        )
        steps = [random_edit(draw, path) for _ in range(25)]
        theirs = page.evaluate(
            """async ([levels, width, height, steps]) => {
              const { LabelState, History } = await import("/static/fold.js");
              const state = new LabelState(Uint8Array.from(levels), width, height, 64);
              const history = new History(state);
              for (const step of steps) history.push(step);
              const map = state.map();
              return [Array.from(map), Array.from(map, (on, at) => (on ? state.layers?.[at] ?? 0 : 0))];
            }""",
            [levels.ravel().tolist(), width, height, [{"op": e.op, "data": dict(e.data)} for e in steps]],
        )
        ours = fold_layers(levels, 64, [steps[place] for place in counting([step.op for step in steps])])
        assert np.array_equal(np.array(theirs).reshape(2, height, width), ours)


def test_an_experiment_with_two_subjects(browser, site, open_page):
    owner = open_page()
    owner.goto(site.link())
    owner.goto(f"{site.url}/projects/1/experiments")
    owner.fill("form.grid-form input[name=name]", "Pilot")
    owner.fill("input[name=practice]", "1")
    owner.fill("input[name=checks]", "1")
    owner.click("text=Make an experiment")
    owner.fill("input[name=names]", "S1, S2")
    owner.click("button:has-text('Invite')")
    owner.wait_for_selector("#links li:nth-child(2) input")
    links = [field.input_value() for field in owner.query_selector_all("#links input")]
    for number, address in enumerate(links):
        page = open_page()
        page.goto(address)
        page.click("#begin")
        done = 0
        while True:
            page.wait_for_selector("body[data-slot], #ready:not([hidden]), #end:not([hidden])")
            if page.is_visible("#end"):
                break
            if page.is_visible("#ready"):
                page.keyboard.press("Enter")
                continue
            if done == 3 and number == 0:
                page.close()
                page = open_page()
                page.goto(address)
                assert "Welcome back" in page.text_content("h1")
                page.click("#begin")
                page.wait_for_selector("body[data-slot]")
            slot = page.get_attribute("body", "data-slot")
            page.wait_for_timeout(230)
            if done % 2:
                page.keyboard.press("f")
            else:
                page.click("#right")
            done += 1
            page.wait_for_function(f"document.body.dataset.slot !== '{slot}'")
    live = site.owner.get("/experiments/1/live").json()
    assert live["answered"] == live["total"] > 8
    owner.wait_for_selector("text=95 % interval") if live["risks"] else None
    table = site.owner.get("/experiments/1/answers.csv").text
    assert table.count("\n") == live["total"] + 1
    assert owner.text_content("#progress").count("S1") >= 1


def test_a_large_image(browser, site, open_page):
    """A stroke on a 2000×1500 photo gives the same pixels on both sides; how fast, the benchmark says."""
    rng = np.random.default_rng(0)
    blocks = np.kron(rng.integers(0, 255, (60, 80)), np.ones((25, 25))).astype(np.uint8)
    with site.database.session() as session:
        projects.add_image(session, 1, "large", read_photo(encode_png(blocks), 10**7))
    link = site.owner.post("/projects/1/people", json={"names": ["Ada"]}).json()["invited"][0]["path"]
    page = open_page()
    page.goto(f"{site.url}{link}")
    page.click("text=large")
    page.wait_for_selector("body[data-ready=yes]")
    page.keyboard.press("e")
    drag(page, (100, 100), (900, 700), (1500, 300), (1800, 1400))
    saved(page)
    mine = page.evaluate("window.studio.state.count()")
    with site.database.reading() as session:
        assert int(labelling.map_of(session, session.get_one(Annotation, 1)).sum()) == mine
