"""The sections of the HTML report that hold images, failures, protocol and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from edgecritic.report.markup import TITLES, detector_cell, plural, safe, scroll_table, section
from edgecritic.report.pictures import RANKS, Picture
from edgecritic.report.view import Results, clean, pixels_text, ranked, short

__all__ = ["contents", "images", "picture_groups", "problems", "protocol", "data_files"]


PRINTED = 40
"""So many rows of the image table are printed on paper (by report.css)."""

CLASSIC_FILES = ("eval_bdry.txt", "eval_bdry_thr.txt", "eval_bdry_img.txt")
REPORT_FILES = {
    "results.json": "everything on this page, for programs",
    "table.csv": "the leaderboard for spreadsheets",
    "table.tex": "the leaderboard for LaTeX (booktabs)",
    "pr.svg": "precision-recall figure",
    "pr.pdf": "the same for papers",
    "pr.png": "the same for slides",
}

PROTOCOL_WORDS = {
    "id": "Name",
    "title": "Title",
    "relative_tolerance": "Tolerance, share of the diagonal",
    "tolerance": "Tolerance, px",
    "tolerance_pixels": "Tolerance on these images",
    "thresholds": "Thresholds",
    "threshold_floor": "Threshold floor",
    "zero_threshold": "Extra threshold 0",
    "thin": "Thinning",
    "nms": "Non-maximum suppression",
    "ap_rule": "AP rule",
    "duplicates": "Points of equal recall",
    "source": "Source",
    "notes": "Notes",
    "digest": "Digest",
}


def contents(parts: Mapping[str, str]) -> str:
    """Return the list of links to the sections that are there."""
    links = (f'<li><a href="#{key}">{TITLES[key]}</a></li>' for key, part in parts.items() if part)
    return f"<ul>{''.join(links)}</ul>"


def images(results: Results) -> str:
    """Return one row per detector and image; the script sorts and filters them."""
    order = ranked(results)
    rows = []
    for detector in order:
        cell = detector_cell(results, detector["name"])
        for image in detector["per_image"]:
            values = (image["f"], image["precision"], image["recall"], image.get("threshold"))
            annotators = image.get("annotators")
            numbers = [short(value) for value in values]
            numbers[0] = f'<span class="fbar" style="--f:{100 * image["f"]:.0f}%">{numbers[0]}</span>'
            count = "–" if annotators is None else str(annotators)
            rows.append([safe(image["id"]), cell, *numbers, count])
    if not rows:
        return ""
    heads = ["Image", "Detector", "F", "Precision", "Recall", "Threshold", "Annotators"]
    options = "".join(f"<option>{safe(detector['name'])}</option>" for detector in order)
    tools = f"""<div class="tools" id="image-tools" hidden>
<label>Find <input type="search" id="image-find" placeholder="image or detector" autocomplete="off"></label>
<label>Detector <select id="image-detector"><option value="">all</option>{options}</select></label>
<span class="count" id="image-count" role="status">{len(rows)} rows</span></div>"""
    table = scroll_table(
        "Scores of every image at its own best threshold", heads, rows, "scores sortable tall two"
    )
    lead = 'Each image at its own best threshold. <span class="on-screen">Choose a heading to sort.</span>'
    rest = f"The first {PRINTED} of {len(rows)} rows; results.json has them all."
    note = f'<p class="note on-paper">{rest}</p>' if len(rows) > PRINTED else ""
    return section("images", f"{tools}\n{table}\n{note}", lead)


def picture_groups(results: Results, pictures: Sequence[Picture]) -> str:
    """Return the best, median and worst images of each detector."""
    if not pictures:
        return ""
    places = {detector["name"]: place for place, detector in enumerate(ranked(results))}
    names = sorted(
        dict.fromkeys(one.detector for one in pictures), key=lambda name: places.get(name, 1 << 30)
    )
    groups = []
    for name in names:
        own = sorted((one for one in pictures if one.detector == name), key=lambda one: RANKS.index(one.rank))
        shown = "\n".join(_picture(one) for one in own)
        groups.append(f'<h3>{detector_cell(results, name)}</h3>\n<div class="pictures">{shown}</div>')
    legend = (
        '<ul class="keys"><li><i class="key hit"></i>hit: a detected edge that people drew</li>'
        '<li><i class="key alarm"></i>false alarm: a detected edge that nobody drew</li>'
        '<li><i class="key miss"></i>miss: the stronger the blue, the more annotators drew it</li></ul>'
    )
    close = '<button type="button" class="small" id="zoom-close">Close</button>'
    dialog = (
        '<dialog id="zoom" aria-labelledby="zoom-text"><div class="zoom-head"><p id="zoom-text"></p>'
        f'{close}</div><div class="zoom-box"><img id="zoom-picture" alt=""></div></dialog>'
    )
    return section("pictures", legend + "\n".join(groups) + dialog)


def _picture(one: Picture) -> str:
    width, height = one.size
    words = f"{one.rank} image of {clean(one.detector)}: {clean(one.id)}, F {short(one.f)}"
    return (
        f'<figure><button type="button" class="enlarge" aria-label="Enlarge {escape(words)}">'
        f'<img src="{one.data_uri}" width="{width}" height="{height}" alt="Matching on the {escape(words)}">'
        f"</button><figcaption><b>{one.rank.capitalize()}</b> {safe(one.id)}"
        f'<span class="f">F {short(one.f)}</span></figcaption></figure>'
    )


def problems(results: Results) -> str:
    """Return failures and notes in plain words."""
    failures, notes = results.get("failures") or (), results.get("notes") or ()
    parts = []
    if failures:
        words = (
            "It is left out of every score above; it does"
            if len(failures) == 1
            else ("They are left out of every score above; they do")
        )
        count = plural(len(failures), "file")
        parts.append(f'<p class="warn"><b>{count} could not be evaluated.</b> {words} not count as zero.</p>')
        rows = [
            [
                safe(one.get("id") or "–"),
                safe(one.get("detector") or "–"),
                f'<span class="long">{safe(one["message"])}</span>',
            ]
            for one in failures
        ]
        parts.append(scroll_table("Files that failed", ["Image", "Detector", "What happened"], rows, "words"))
    if notes:
        parts.append(f'<ul class="notes">{"".join(f"<li>{safe(note)}</li>" for note in notes)}</ul>')
    return section("problems", "\n".join(parts)) if parts else ""


def protocol(results: Results) -> str:
    """Return every choice that the numbers depend on."""
    record = results["protocol"]
    keys = [key for key in PROTOCOL_WORDS if record.get(key) not in (None, "")]
    keys += [key for key in record if key not in PROTOCOL_WORDS and record[key] not in (None, "")]
    items = "".join(
        f"<div><dt>{safe(PROTOCOL_WORDS.get(key, key))}</dt><dd>{_value(key, record[key])}</dd></div>"
        for key in keys
    )
    lead = "The choices these numbers depend on. Numbers of another protocol must not be mixed with them."
    return section("protocol", f'<dl class="record">{items}</dl>', lead)


def _value(key: str, value: Any) -> str:
    if key == "tolerance_pixels":
        return safe(pixels_text(value))
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list | tuple):
        return safe(", ".join(f"{item:g}" if isinstance(item, float) else str(item) for item in value))
    if isinstance(value, float):
        return f"{value:g}"
    return f'<code class="long">{safe(value)}</code>' if key == "digest" else safe(value)


def data_files(results: Results) -> str:
    """Return relative links to the files beside the report, and the versions that made them."""
    links = "".join(f'<li><a href="{name}">{name}</a> {words}</li>' for name, words in REPORT_FILES.items())
    groups = []
    for detector in ranked(results):
        folder = "./" + quote(
            str(detector.get("folder") or detector["name"]).encode("utf-8", "replace"), safe=""
        )
        found = " ".join(f'<a href="{folder}/{name}">{name}</a>' for name in CLASSIC_FILES)
        groups.append(f"<li>{detector_cell(results, detector['name'])} {found}</li>")
    classic = f'<h3>Classic text files</h3><ul class="files">{"".join(groups)}</ul>' if groups else ""
    versions = "".join(
        f"<div><dt>{safe(name)}</dt><dd>{safe(version)}</dd></div>"
        for name, version in results["versions"].items()
        if version is not None
    )
    made_by = f'<h3>Versions</h3><dl class="record versions">{versions}</dl>'
    return section("data", f'<ul class="files">{links}</ul>{classic}{made_by}')
