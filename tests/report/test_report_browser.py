"""The HTML report in a real browser: no errors, no requests, and everything that moves."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from edgecritic.report.benchmark import benchmark_report
from edgecritic.report.html import report_html
from edgecritic.report.pictures import matching_picture, ranked_picture
from edgecritic.report.view import View

pytestmark = pytest.mark.browser

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def page_of(results, pictures=()):
    return report_html(benchmark_report(View(results, pictures)))


def find_chromium():
    places = (os.environ.get("EDGECRITIC_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    return next((found for place in places if place and (found := shutil.which(place))), None)


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api")
    program = find_chromium()
    if program is None:
        pytest.skip("Chromium not found")
    with api.sync_playwright() as play:
        running = play.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield running
        running.close()


def small_pictures(results):
    rng = np.random.default_rng(3)
    for detector in results["detectors"]:
        for row, rank in zip(detector["per_image"], ("best", "median", "worst"), strict=False):
            candidate, truth = rng.random((2, 60, 90)) < 0.05
            matched = candidate & (rng.random((60, 90)) < 0.7)
            data = matching_picture(candidate, matched, [truth, truth], [truth, truth & ~candidate])
            yield ranked_picture(detector["name"], row["id"], row["f"], rank, data)


@pytest.fixture(scope="module")
def report(make_results, tmp_path_factory):
    results = make_results(3, 100)
    results["detectors"][2]["name"] = "</script><img src=x onerror=document.title='broken'>"
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(page_of(results, list(small_pictures(results))), encoding="utf-8")
    return file, results


@pytest.fixture
def open_page(browser, report):
    contexts, problems, requests, opened_files = [], [], [], set()

    def opened(file: Path | None = None, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        context.set_default_timeout(5000)
        page = context.new_page()
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        opened_files.add((file or report[0]).as_uri())
        page.goto((file or report[0]).as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert problems == []
    assert [url for url in requests if not url.startswith(("file://", "data:"))] == []
    assert {url for url in requests if url.startswith("file://")} == opened_files


def column(page, place):
    """Return the texts of a column, after scrolling until all rows are there."""
    total = int(page.locator("#images table").get_attribute("aria-rowcount")) - 1
    page.wait_for_function(
        """total => {
            const box = document.querySelector("#images .box");
            box.scrollTop = box.scrollHeight;
            return document.querySelectorAll("#images tbody tr").length === total;
        }""",
        arg=total,
    )
    return page.locator(f"#images tbody tr > :nth-child({place})").all_text_contents()


def test_opens_quietly_and_draws(open_page, report):
    page = open_page()
    assert "broken" not in page.title()
    assert page.locator("#pr-chart path.line").count() == 4
    assert page.locator("#pr-chart path.iso").count() == 9
    assert page.locator("#pr-chart circle.human").count() == 1
    assert page.locator("#tolerance-chart path.line").count() == 6
    assert page.locator("img").count() == page.locator(".enlarge img").count() + 1 == 10


def test_sorting(open_page, report):
    page = open_page()
    scores = sorted(f"{row['f']:.3f}"[1:] for d in report[1]["detectors"] for row in d["per_image"])
    head = page.locator("#images th", has_text="Precision").first
    page.get_by_role("button", name="F", exact=True).click()
    assert column(page, 3) == scores[::-1]
    assert page.locator("#images thead th[aria-sort=descending]").text_content() == "F"
    page.get_by_role("button", name="F", exact=True).press("Enter")
    assert column(page, 3) == scores
    assert head.get_attribute("aria-sort") == "none"
    page.get_by_role("button", name="Image", exact=True).click()
    numbers = [int(text) for text in column(page, 1)]
    assert numbers == sorted(numbers)


def test_filtering(open_page, report):
    page = open_page()
    name = report[1]["detectors"][1]["name"]
    page.locator("#images-pick").select_option(name)
    assert set(column(page, 2)) == {name}
    assert page.locator("#images-count").text_content() == "100 of 300 rows"
    wanted = report[1]["detectors"][0]["per_image"][7]["id"]
    page.locator("#images-find").fill(wanted)
    assert column(page, 1) == [wanted]
    page.locator("#images-pick").select_option("")
    assert column(page, 1) == [wanted] * 3
    page.locator("#images-find").fill("nothing like it")
    assert column(page, 1) == []
    page.locator("#images-find").fill("")
    assert len(column(page, 1)) == 300


def test_filtering_by_class(open_page, make_results, tmp_path):
    results = make_results(2, 4)
    names = ("road", "<b>car</b>", "sky")
    for detector in results["detectors"]:
        scores = {key: detector[key] for key in ("ods", "ois", "ap", "r50", "images")}
        detector["classes"] = {name: {**scores, "folder": f"class_{k}"} for k, name in enumerate(names)}
    file = tmp_path / "classes.html"
    file.write_text(page_of(results), encoding="utf-8")
    page = open_page(file)
    rows = page.locator("table[data-name=class-scores] tbody tr")
    assert rows.count() == 6
    page.locator("#class-scores-pick").select_option("<b>car</b>")
    assert rows.count() == 2
    assert set(rows.locator("td").first.all_text_contents()) == {"<b>car</b>"}
    assert page.locator("#class-scores-count").text_content() == "2 of 6 rows"
    assert page.locator("#images-count").text_content() == "8 rows"
    page.locator("#images-find").fill("nothing like it")
    assert rows.count() == 2


def place_on_page(page, recall, precision):
    """Return where a point of the plot is, read from the plot's own frame."""
    frame = page.locator("#pr-chart rect.axis").bounding_box()
    return frame["x"] + recall * frame["width"], frame["y"] + (1 - precision) * frame["height"]


def test_hover_shows_the_values_of_the_nearest_point(open_page, report):
    page = open_page()
    page.locator("#pr-chart").scroll_into_view_if_needed()
    curve = report[1]["detectors"][0]["curve"]
    page.mouse.move(*place_on_page(page, curve["recall"][40], curve["precision"][40]))
    tip = page.locator(".tip")
    assert tip.is_visible()
    words = tip.text_content()
    for key in ("threshold", "precision", "recall", "f"):
        assert f"{curve[key][40]:.3f}"[1:] in words
    assert report[1]["detectors"][0]["name"] in words
    page.mouse.move(5, 5)
    assert tip.is_hidden()


def test_keyboard_and_legend(open_page, report):
    page = open_page()
    chart, readout = page.locator("#pr-chart"), page.locator("#pr-readout")
    chart.focus()
    first = readout.text_content()
    assert first.startswith(report[1]["detectors"][0]["name"])
    assert f"F {report[1]['detectors'][0]['ods']['f']:.3f}".replace("0.", ".") in first
    page.keyboard.press("ArrowRight")
    assert readout.text_content() != first
    page.keyboard.press("ArrowDown")
    assert readout.text_content().startswith(report[1]["detectors"][1]["name"])
    button = page.locator(".legend [data-series='0']")
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert page.locator("#pr-chart path.line").count() == 3
    button.click()
    assert page.locator("#pr-chart path.line").count() == 4
    page.locator("#pr-zoom").click()
    assert page.locator("#pr-chart text", has_text="Recall").count() == 1


def background(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_dark_and_light(open_page):
    page = open_page()
    light = background(page)
    page.locator("#theme").click()
    dark = background(page)
    assert dark != light
    page.reload()
    assert background(page) == dark
    page.locator("#theme").click()
    assert background(page) == light
    assert background(open_page(color_scheme="dark")) == dark


def test_no_width_overflows(open_page):
    page = open_page()
    page.locator("summary").click()
    for width in (1280, 820, 390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_touch_shows_values(open_page):
    page = open_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page.locator("#pr-chart").scroll_into_view_if_needed()
    page.touchscreen.tap(*place_on_page(page, 0.7, 0.8))
    assert page.locator(".tip").is_visible()


def test_pictures_enlarge_by_a_whole_factor(open_page):
    page = open_page()
    page.locator(".enlarge").first.click()
    box = page.locator("#zoom-picture").bounding_box()
    assert box["width"] % 90 == 0
    assert box["width"] > 90
    assert (
        page.evaluate("getComputedStyle(document.getElementById('zoom-picture')).imageRendering")
        == "pixelated"
    )
    page.keyboard.press("Escape")
    assert page.locator("#zoom").is_hidden()


def test_empty_and_smallest_reports_open(open_page, make_results, tmp_path):
    full = make_results(1, 1)
    keep = ("name", "images", "ods", "ois", "curve", "per_image")
    least = {key: full[key] for key in ("schema", "protocol", "versions")}
    for number, detectors in enumerate(([], [{key: full["detectors"][0][key] for key in keep}])):
        file = tmp_path / f"{number}.html"
        file.write_text(page_of({**least, "detectors": detectors}), encoding="utf-8")
        page = open_page(file)
        assert page.locator("h1").count() == 1
