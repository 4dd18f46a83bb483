"""The built documentation in Chromium, opened from the file system: its search, its faults, its requests.

``make docs`` builds it; .ci/run does so before the tests.
"""

from __future__ import annotations

from pathlib import Path

import pytest

SITE = Path(__file__).resolve().parents[1] / "site"
PAGES = (
    *("index.html", "tutorials/start.html", "howto/studio.html", "explanation/which-measure.html"),
    *("reference/measures/hausdorff.html", "reference/strategies/exact.html", "reference/api/matching.html"),
    "reference/command.html",
)
SIZES = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 360, "height": 740}}

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def open_page(browser):
    if not (SITE / "index.html").exists():
        pytest.skip("the documentation is not built; run make docs")
    opened = []

    def open_(name, **options):
        context = browser.new_context(**options)
        page = context.new_page()
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto((SITE / name).as_uri())
        opened.append(context)
        return page

    yield open_
    for context in opened:
        context.close()


def test_search_works_from_the_file_system(open_page):
    page = open_page("index.html", viewport=SIZES["desktop"])
    page.click(".md-search__input")
    page.keyboard.type("hausdorff", delay=20)
    page.wait_for_selector(".md-search-result__link")
    links = page.locator(".md-search-result__link").evaluate_all("all => all.map(one => one.href)")
    assert any("/reference/measures/hausdorff.html" in link for link in links)
    foreign = [address for address in page.asked if not address.startswith(("file:", "data:", "about:"))]
    assert foreign == []


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_has_a_serious_fault(open_page, axe_faults, size, theme):
    faults = []
    for name in PAGES:
        page = open_page(name, viewport=SIZES[size], color_scheme=theme, reduced_motion="reduce")
        faults += [f"{name}: {fault}" for fault in axe_faults(page)]
        if page.evaluate("() => document.documentElement.scrollWidth > window.innerWidth + 1"):
            faults.append(f"{name}: wider than the window")
        page.context.close()
    assert faults == []
