"""The viewer in Chromium: wall, sliders, comparison, links, figures; phone and desktop, light and dark."""

from __future__ import annotations

import json

import pytest

import edgecritic
from edgecritic.protocols.sweep import candidate_at
from edgecritic.view.gallery import gallery_of_runs

READY = "body[data-ready=yes]"
SIZES = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 360, "height": 740}}


def names(page):
    return page.locator("#wall-list b").all_text_contents()


def first_row(page):
    return page.locator("#numbers tbody tr").first.locator("td").all_text_contents()


def open_first(page):
    page.locator("#wall-list a").first.click()
    page.wait_for_selector("#image:not([hidden])")
    page.wait_for_selector(READY)


def settled(page):
    """Wait until the page has asked for nothing for half a second."""
    calm = 0
    while calm < 5:
        page.wait_for_timeout(100)
        calm = 0 if page.waiting else calm + 1


def set_range(page, selector, value):
    page.eval_on_selector(
        selector,
        "(one, value) => { one.value = value; one.dispatchEvent(new Event('input', { bubbles: true })); }",
        value,
    )


def test_the_wall_is_sorted_filtered_and_walked_by_keys(site, open_page):
    page = open_page(site)
    page.wait_for_selector("#wall-list img")
    page.select_option("#wall-sort", "name")
    by_name = names(page)
    assert by_name == [f"synthetic-{number}" for number in range(1, 5)]
    page.select_option("#wall-sort", "difference")
    told = [float(one) for one in page.locator("#wall-list dl div:first-child dd").all_text_contents()]
    assert told == sorted(told)
    page.click("#wall-order")
    assert names(page) == list(
        reversed([name for _, name in sorted(zip(told, names(page)[::-1], strict=True))])
    )
    page.fill("#wall-find", "-3")
    assert names(page) == ["synthetic-3"]
    page.fill("#wall-find", "")
    page.fill("#wall-low", "0.999")
    assert names(page) == []
    page.fill("#wall-low", "")
    page.locator("#wall-list a").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.querySelector('b').textContent") == names(page)[1]
    page.keyboard.press("Enter")
    page.wait_for_selector("#image:not([hidden])")
    page.wait_for_selector(READY)
    assert page.locator("#image-name").text_content() == names(page)[1]
    page.keyboard.press("Escape")
    page.wait_for_selector("#wall:not([hidden])")


def people_rows(page):
    """Return hits, false alarms and misses with every annotator, as they are told."""
    rows = page.locator("#numbers tbody tr.person").all()
    return [[int(one) for one in row.locator("td").all_text_contents()[3:]] for row in rows]


def matched_rows(case, threshold, tolerance):
    """Return the same by `edgecritic.match`."""
    candidate = candidate_at(case.load_strength(), threshold, protocol="bsds")
    found = [edgecritic.match(candidate, truth, tolerance=tolerance) for truth in case.load_truths()]
    return [[one.tp, one.fp, one.fn] for one in found]


def test_threshold_and_tolerance_move_live(site, open_page, gallery):
    page = open_page(site)
    open_first(page)
    case = next(iter(gallery.detectors.values())).cases[page.locator("#image-name").text_content()]
    set_range(page, "#thresholds input", 0.62)
    set_range(page, "#tolerance", 1.5)
    page.wait_for_function("() => document.querySelector('#tolerance-text').textContent.startsWith('1.50')")
    settled(page)
    assert people_rows(page) == matched_rows(case, 0.62, 1.5)
    told = page.locator("#numbers tbody tr.person").first.locator("td").nth(2).text_content()
    candidate = candidate_at(case.load_strength(), 0.62, protocol="bsds")
    assert float(told) == pytest.approx(
        edgecritic.match(candidate, case.load_truths()[0], tolerance=1.5).f(), abs=6e-4
    )
    assert page.locator("#chart circle:not(.of-set)").count() == page.locator("#chart .of-set").count() == 1
    assert page.locator("#chart polyline[stroke]").count() == 2


def test_the_next_step_is_fetched_before_it_is_made(site, open_page, gallery):
    page = open_page(site)
    open_first(page)
    case = next(iter(gallery.detectors.values())).cases[page.locator("#image-name").text_content()]
    set_range(page, "#tolerance", 2)
    set_range(page, "#thresholds input", 0.5)
    settled(page)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    for value in (0.51, 0.52, 0.53):
        set_range(page, "#thresholds input", value)
        assert people_rows(page) == matched_rows(case, value, 2)  # at once
        settled(page)
    steps = [url.partition("t=")[2].partition("&")[0] for url in asked if "/judge/" in url]
    assert steps == ["0.52", "0.53", "0.54"]  # the first was there already
    set_range(page, "#thresholds input", 0.2)
    settled(page)
    assert people_rows(page) == matched_rows(case, 0.2, 2)


def test_a_link_carries_everything(site, open_page):
    page = open_page(site)
    open_first(page)
    page.locator("#detectors input").nth(1).check()
    page.wait_for_function("() => document.querySelectorAll('#stages canvas').length === 2")
    page.select_option("#strategy", "eps")
    set_range(page, "#thresholds div:nth-child(2) input", 0.4)
    page.locator("#layers input[name=r]").check()
    page.locator("#people input").nth(0).uncheck()
    page.locator("#stages canvas").first.hover()
    page.mouse.wheel(0, -800)
    settled(page)
    assert "zoom=" in page.evaluate("() => location.hash")
    seen = [first_row(page), page.evaluate("() => location.hash")]
    again = open_page(page.evaluate("() => location.href"))
    again.wait_for_function("() => document.querySelectorAll('#stages canvas').length === 2")
    settled(again)
    assert [first_row(again), again.evaluate("() => location.hash")] == seen
    assert again.locator("#strategy").input_value() == "eps"
    assert again.locator("#layers input[name=r]").is_checked()
    assert not again.locator("#people input").nth(0).is_checked()


def test_detectors_blink_and_differ(site, open_page):
    page = open_page(site)
    open_first(page)
    page.locator("#detectors input").nth(1).check()
    page.wait_for_function("() => document.querySelectorAll('#stages canvas').length === 2")
    page.keyboard.press("b")
    page.wait_for_function("() => document.querySelectorAll('#stages canvas').length === 1")
    titles = set()
    for _ in range(12):
        titles.add(page.locator("#stages figcaption b").text_content())
        page.wait_for_timeout(150)
    assert titles == {"good", "noisy"}
    page.keyboard.press("d")
    page.wait_for_function("() => document.querySelector('#stages figcaption b').textContent.includes('−')")
    page.keyboard.press("]")
    page.wait_for_function("() => document.body.dataset.ready === 'yes'")
    assert page.locator("#stages canvas").count() == 1


def test_a_pixel_tells_what_it_is(site, open_page):
    page = open_page(site)
    open_first(page)
    box = page.locator("#stages canvas").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    text = page.locator("#pixel").text_content()
    assert text.startswith("row ")
    assert "strength 0." in text
    assert "drawn by" in text


def test_figures_commands_and_links_are_copied(site, open_page):
    page = open_page(site)
    open_first(page)
    page.click("#copy-svg")
    page.wait_for_function("() => document.querySelector('#message').textContent.includes('clipboard')")
    svg = page.evaluate("() => navigator.clipboard.readText()")
    assert svg.startswith("<svg xmlns=")
    assert "Protocol bsds, strategy exact" in svg
    assert 'fill="#009e73"' in svg
    page.click("#copy-command")
    page.wait_for_function("() => document.querySelector('#message').textContent.includes('command')")
    assert page.evaluate("() => navigator.clipboard.readText()").startswith("edgecritic bench good=")
    page.click("#copy-png")
    page.wait_for_function("() => document.querySelector('#message').textContent.includes('figure')")
    kinds = page.evaluate("async () => (await navigator.clipboard.read()).flatMap((one) => one.types)")
    assert kinds == ["image/png"]


def test_a_volume_has_three_planes(volumes, open_page):
    page = open_page(volumes)
    open_first(page)
    page.wait_for_function("() => document.querySelectorAll('#stages canvas').length === 3")
    assert page.locator("#planes input").count() == 3
    set_range(page, "#planes label:nth-child(1) input", 4)
    page.wait_for_function(
        "() => document.querySelector('#stages figcaption').textContent.includes('plane 4')"
    )
    canvas = page.locator("#stages canvas").nth(1)
    canvas.click(position={"x": 60, "y": 120})
    settled(page)
    assert "at=" in page.evaluate("() => location.hash")


def test_classes_are_switched(classes, open_page, class_home):
    page = open_page(classes)
    results = json.loads((class_home / "run/results.json").read_text())
    page.select_option("#wall-class", "car")
    ods = results["detectors"][0]["classes"]["car"]["ods"]["f"]
    page.wait_for_function(f"() => document.querySelector('#about').textContent.includes('{ods:.3f}')")
    page.select_option("#wall-sort", "name")
    assert page.locator("#wall-list li").last.locator("dd").first.text_content() == "F –"  # has no cars
    open_first(page)
    gallery = gallery_of_runs({"run": class_home / "run"})
    for key, group in ((None, "car"), ("}", "road"), ("{", "car"), ("{", "traffic sign")):
        if key:
            page.keyboard.press(key)
            page.wait_for_function(f"() => document.querySelector('#class').value === '{group}'")
            page.wait_for_selector(READY)
        set_range(page, "#thresholds input", 0.5)
        settled(page)
        counts = gallery.judged["good"]["im0"].counts["main"].group(group)
        found, total = counts.matched_candidate[4], counts.candidate[4]
        told = [int(one) for one in first_row(page)[3:]]
        assert told == [found, total - found, counts.truth[4] - counts.matched_truth[4]]
    assert not page.locator("#copy-command").is_visible()
    again = open_page(page.evaluate("() => location.href"))
    settled(again)
    assert again.locator("#class").input_value() == "traffic sign"
    assert first_row(again) == first_row(page)
    assert not page.locator("#people").is_visible()


def test_a_window_moves_over_a_raster(raster, open_page):
    page = open_page(raster)
    open_first(page)
    assert "rows 138 to 1161, columns 238 to 1261" in page.locator("#image-facts").text_content()
    rows = page.locator("#numbers tbody tr")
    assert rows.locator("th").all_text_contents()[0] == "mine, window"
    assert rows.locator("th").all_text_contents()[1].startswith("whole at 0.")
    of_whole, of_window = rows.nth(1).text_content(), first_row(page)
    box = page.locator("#overview canvas").bounding_box()
    page.locator("#overview canvas").click(position={"x": 4, "y": box["height"] - 4})
    page.wait_for_function("() => document.querySelector('#image-facts').textContent.includes('rows 276 to')")
    settled(page)
    assert "columns 0 to 1023" in page.locator("#image-facts").text_content()
    assert rows.nth(1).text_content() == of_whole
    assert first_row(page) != of_window
    page.locator("#stages canvas").hover()  # the middle
    assert page.locator("#pixel").text_content().startswith("row 78")
    page.locator("#overview canvas").press("ArrowUp")
    page.wait_for_function("() => document.querySelector('#image-facts').textContent.includes('rows 0 to')")
    settled(page)
    again = open_page(page.evaluate("() => location.href"))
    settled(again)
    assert first_row(again) == first_row(page)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("what", ["site", "classes", "raster"])
def test_no_page_has_a_serious_fault(request, open_page, axe_faults, size, theme, what):
    page = open_page(request.getfixturevalue(what), viewport=SIZES[size], color_scheme=theme)
    page.wait_for_selector("#wall-list img")
    faults = []
    for name in ("wall", "image"):
        if name == "image":
            open_first(page)
            settled(page)
        faults += [f"{name}: {fault}" for fault in axe_faults(page)]
        assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth + 1"), name
    assert faults == []
