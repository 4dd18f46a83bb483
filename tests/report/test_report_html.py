"""The HTML report as text: complete, self-contained, safe against hostile names, small."""

from __future__ import annotations

import base64
import copy
import hashlib
import io
import json
import re
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

from edgecritic.errors import DataError
from edgecritic.report.benchmark import benchmark_report
from edgecritic.report.html import json_block, report_html
from edgecritic.report.pictures import ranked_picture
from edgecritic.report.sections import Report, Section, Table
from edgecritic.report.view import View


def html_report(results, pictures=()):
    return report_html(benchmark_report(View(results, pictures)))


VOID = {"meta", "link", "img", "input", "br"}
HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "</title></style><script>alert(2)</script>",
    '" onmouseover="alert(3)" x=\'',
    "javascript:alert(4)//../..\\",
    "${style} $title %s {0} <!--",
    "a\x00b\x1b[0m\u202e\udc80\u2028",
]


class Page(HTMLParser):
    """Collects elements, texts of scripts, and checks that elements are closed in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.scripts, self.words = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        (self.scripts if self.open[-1:] == ["script"] else self.words).append(data)

    def count(self, tag):
        return sum(name == tag for name, _ in self.elements)

    def ids(self):
        return {attrs["id"] for _, attrs in self.elements if "id" in attrs}


def png(width=48, height=32, seed=0):
    noise = np.random.default_rng(seed).integers(0, 255, (height, width), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(noise).save(out, format="PNG")
    return out.getvalue()


def pictures(results):
    return [
        ranked_picture(d["name"], d["per_image"][n]["id"], 0.5, rank, png(seed=n))
        for d in results["detectors"]
        for n, rank in enumerate(("best", "median", "worst"))
    ]


def test_the_page_is_complete_and_well_formed(make_results):
    results = make_results(3, 20)
    page = Page(html_report(results, pictures(results)))
    words = " ".join(page.words)
    sections = {attrs["id"] for tag, attrs in page.elements if tag == "section"}
    assert sections == {
        "leaderboard",
        "curves",
        "crispness",
        "rules",
        "tolerance",
        "pairs",
        "images",
        "pictures",
        "problems",
        "protocol",
        "data",
    }
    assert Counter(attrs["id"] for _, attrs in page.elements if "id" in attrs).most_common(1)[0][1] == 1
    references = [a["href"][1:] for t, a in page.elements if t == "a" and a["href"].startswith("#")]
    references += [
        a[key] for _, a in page.elements for key in ("aria-labelledby", "aria-describedby") if key in a
    ]
    assert set(references) <= page.ids()
    assert page.count("h1") == 1
    assert page.count("table") == page.count("caption")
    assert page.count("figure") == 9
    assert all(attrs.get("alt") is not None for tag, attrs in page.elements if tag == "img")
    for text in ("interpolated-101", "4.34 px", "3.11.7", "42049.png: 320×481", "seed 0", "SE (published)"):
        assert text in words
    assert f"{results['detectors'][0]['ods']['f']:.3f}"[1:] in words


def test_the_page_needs_nothing_from_outside(make_results):
    results = make_results(2, 5)
    text = html_report(results, pictures(results))
    page = Page(text)
    links = [a[key] for _, a in page.elements for key in ("src", "href") if key in a]
    allowed = ("data:", "#", "./", "results.json", "report.md", "table.", "pr.")
    assert all(link.startswith(allowed) for link in links)
    assert not re.search(r"url\((?!#)|@import|https?://(?!www\.w3\.org/2000/svg)", text)
    policy = next(a["content"] for t, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    script = page.scripts[-1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


def test_hostile_names_stay_text(make_results):
    plain = make_results(6, 4)
    results = copy.deepcopy(plain)
    for number, name in enumerate(HOSTILE):
        old = results["detectors"][number]["name"]
        results["detectors"][number]["name"] = name
        results["detectors"][number]["per_image"][0]["id"] = name
        for pair in results["comparisons"]:
            for key in ("first", "second"):
                pair[key] = name if pair[key] == old else pair[key]
    for key in ("truth",):
        results[key] = HOSTILE[0]
    results["protocol"].update(title=HOSTILE[0], notes=HOSTILE[1], nms=HOSTILE[2], **{HOSTILE[2]: HOSTILE[0]})
    results["versions"]["edgecritic"] = HOSTILE[2]
    results["curves"][0]["name"] = HOSTILE[0]
    results["failures"] = [{"detector": HOSTILE[0], "id": HOSTILE[2], "message": HOSTILE[1]}]
    results["notes"] = list(HOSTILE)
    text = html_report(results, pictures(results))
    text.encode("utf-8")
    page, reference = Page(text), Page(html_report(plain, pictures(plain)))
    assert not any(key.startswith("on") for _, attrs in page.elements for key in attrs)
    assert page.count("script") == 2
    assert page.count("img") == reference.count("img")
    assert page.count("style") == 1
    data = json.loads(page.scripts[0])
    assert {one["name"] for one in data["series"]} >= set(HOSTILE[:5])
    assert page.scripts[1] == reference.scripts[1]
    links = [a["href"] for t, a in page.elements if t == "a"]
    assert all(re.fullmatch(r"[#./\w%-]+", link) for link in links)
    assert HOSTILE[4] in " ".join(page.words)


@pytest.mark.parametrize("name", HOSTILE)
def test_json_block_never_holds_markup(name):
    text = json_block({"name": name})
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"name": name}


def test_empty_results_say_so(make_results):
    results = {**make_results(1, 1), "detectors": [], "comparisons": [], "curves": [], "human": None}
    results |= {"failures": [], "notes": []}
    page = Page(html_report(results))
    assert "No detector was evaluated." in " ".join(page.words)
    assert {a["id"] for t, a in page.elements if t == "section"} == {"protocol", "data"}


def test_one_detector_without_extras(make_results):
    results = make_results(1, 2)
    detector = results["detectors"][0]
    for key in ("crispness", "ceval", "tolerances", "intervals", "ap_rules", "r50", "ap"):
        detector.pop(key)
    for key in ("human", "comparisons", "curves", "failures", "notes", "truth"):
        results.pop(key)
    page = Page(html_report(results))
    assert {a["id"] for t, a in page.elements if t == "section"} == {
        "leaderboard",
        "curves",
        "images",
        "protocol",
        "data",
    }
    assert "leads" not in " ".join(page.words)


def test_ranges_of_pixels_and_missing_values(make_results):
    results = make_results(2, 2)
    results["protocol"]["tolerance_pixels"] = [4.3, 7.731]
    for detector in results["detectors"]:
        detector["tolerances"][0]["pixels"] = [1.0, 3.0]
        detector["tolerances"][1].pop("pixels")
        detector["per_image"][0].pop("threshold")
    page = Page(html_report(results))
    words = " ".join(page.words)
    assert "4.30–7.73 px" in words
    assert "1.00–3.00 px" in words
    data = json.loads(page.scripts[0])
    assert data["tolerances"][0]["points"][0][0] == 2.0
    assert data["tolerances"][0]["points"][1][0] is None


def test_verdict_counts_significant_gaps(make_results):
    results = make_results(3, 2)
    results["human"]["f"] = results["detectors"][0]["ods"]["f"] + 0.05
    for pair, p in zip(results["comparisons"], (0.2, 0.01, 0.5), strict=True):
        pair["ods"]["p"] = p
    words = " ".join(Page(html_report(results)).words)
    assert "significantly ahead of 1 of the 2 others" in words
    assert ".050 more" in words


def test_broken_results_are_refused(make_results):
    with pytest.raises(DataError, match="schema"):
        html_report({**make_results(1, 1), "schema": 0})


def test_size_with_200_images_and_five_detectors(make_results):
    results = make_results(5, 200)
    large = png(481, 321)
    shown = [
        ranked_picture(d["name"], "1", 0.5, rank, large)
        for d in results["detectors"]
        for rank in ("best", "median", "worst")
    ]
    text = html_report(results, shown)
    assert len(text.encode()) < 10_000_000
    assert text.count("<tr>") > 1000
    assert html_report(results, shown) == text


def test_cells_of_a_column_have_the_side_that_its_letter_says():
    body = (("a", 1, "x", 2, "y"), ("b", 3, "z", 4, "w"))
    for align, sides in (("lrlr", "lrlrr"), ("l", "lllll"), ("rl", "rllll")):
        table = Table(name="t", title="T", header=tuple("ABCDE"), body=body, align=align)
        report = Report(title="R", sections=(Section(key="s", title="S", blocks=(table,)),))
        (shown,) = re.findall("<table.*?</table>", report_html(report), re.DOTALL)
        for row in re.findall("<tr>(.*?)</tr>", shown, re.DOTALL):
            cells = re.findall("<t[hd][^>]*>", row)
            assert "".join("l" if 'class="left"' in cell else "r" for cell in cells) == sides
